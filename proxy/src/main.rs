//! The program `shuntyard`.

mod admin;
mod config;
mod http;
mod stats;

fn main() {}
