//! The program `shuntyard`.

mod admin;
mod stats;

fn main() {}
