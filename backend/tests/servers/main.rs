//! What the proxy asks on its own account, against real servers.
#![expect(clippy::unwrap_used, reason = "tests")]

mod accounts;
mod catalog;
mod control;
mod health;
mod machine;
