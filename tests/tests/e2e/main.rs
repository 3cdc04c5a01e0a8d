//! The proxy in front of real servers, from the outside.
#![expect(clippy::unwrap_used, reason = "tests")]

mod accounts;
mod admin;
mod backend_loss;
mod cases;
mod client_loss;
mod compression;
mod config;
mod demo;
mod drain;
mod drivers;
mod hostile;
mod infile;
mod kill;
mod login;
mod pooling;
mod prepared;
mod protocol;
mod reload;
mod rewriting;
mod rules;
mod tls;
mod tracking;
