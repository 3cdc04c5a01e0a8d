//! The proxy's own HTTP: console and metrics for people and Prometheus, the control socket for the command line.
//!
//! Both are the same small server on the control runtime, never on a session's core. The console only reads; what
//! changes anything is on the Unix socket, which only the owner of the data folder can open.

mod bounded;
mod client;
mod console;
mod control;
mod metrics;
mod page;
mod sparkline;

pub(crate) use client::call;
pub(crate) use console::serve as serve_console;
pub(crate) use control::{Control, Explain, Reloaded, Socket, Task, listed, serve as serve_control};

/// The control socket's name in the data folder.
pub(crate) const SOCKET: &str = "control.sock";
