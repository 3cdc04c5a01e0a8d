//! The program `shuntyard`.
fn main() {}
