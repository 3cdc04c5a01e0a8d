//! The program `shuntyard`.

mod admin;
mod config;
mod stats;

fn main() {}
