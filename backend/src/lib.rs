//! Servers: connecting, pooling, bundled servers, catalogs and accounts.

pub mod accounts;
pub mod address;
pub mod buffer;
pub mod bundled;
pub mod catalog;
pub mod connect;
pub mod connection;
pub mod control;
pub mod exchange;
pub mod health;
pub mod pool;
pub mod profile;
pub mod statements;
pub mod stream;
pub mod tls;
