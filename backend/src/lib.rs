//! Servers: connecting, pooling, bundled servers, catalogs and accounts.

pub mod bundled;
pub mod address;
pub mod buffer;
pub mod connection;
pub mod exchange;
pub mod stream;
pub mod tls;
pub mod connect;
pub mod pool;
pub mod accounts;
pub mod catalog;
pub mod control;
pub mod health;
