//! The program `shuntyard`: a proxy for MySQL and MariaDB.

mod admin;
mod backends;
mod cli;
mod commands;
mod config;
mod cores;
mod demo;
mod descriptors;
mod explain;
mod http;
mod listener;
mod login;
mod observe;
mod planner;
mod reload;
mod serve;
mod session;
mod shared;
mod stats;
mod tls;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    commands::run(cli::Cli::parse())
}
