//! Peers that break the protocol, by mistake or on purpose: the proxy lives, others notice nothing, and nothing is left behind.

mod clients;
mod logins;
mod mutations;
mod servers;
mod watch;
