//! End to end against real servers: what starts them, the proxy and the drivers, and reads their answers.
//!
//! Everything started here listens on loopback, keeps its data in its own temporary folder, and ends with the test
//! process, however that ends.

pub mod client;
pub mod drivers;
pub mod generator;
pub mod http;
pub mod interposer;
pub mod login;
pub mod machine;
pub mod mariadb;
pub mod mysql;
pub mod process;
pub mod proxy;
pub mod raw;
pub mod report;
pub mod script;
pub mod statistics;
pub mod table;
