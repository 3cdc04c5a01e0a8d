//! The MySQL and MariaDB client/server protocol as values and states, both sides, no I/O.
//!
//! Bytes go in as slices, values borrow from them; what is written is appended to a `Vec<u8>`. Payloads are the bodies of
//! logical packets (without the 4-byte header); [`packet`] puts them into physical packets and takes them out again, and
//! [`follow::Follower`] relays a reply without taking them out at all.
//!
//! The source of every layout is the protocol chapter of the MySQL source documentation
//! (<https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_PROTOCOL.html>) and MariaDB's
//! (<https://mariadb.com/kb/en/clientserver-protocol/>), checked against MySQL 9.7 and MariaDB 10.11.

pub mod auth;
mod capability;
pub mod codec;
mod column;
mod column_type;
mod command;
pub mod compress;
mod error;
pub mod execute;
pub mod follow;
mod greeting;
mod login;
pub mod packet;
pub mod reply;
mod sql_error;
pub mod track;
pub mod value;

pub use capability::{Capabilities, Status};
pub use column::{ColumnDef, ColumnFlags, DefaultValue};
pub use column_type::{ColumnType, Shape};
pub use command::{ChangeUser, Command, Query, StmtExecute};
pub use error::ProtocolError;
pub use greeting::{Greeting, SCRAMBLE};
pub use login::{HandshakeResponse, SslRequest};
pub use reply::{EofPacket, ErrPacket, OkPacket};
pub use sql_error::{SqlError, code};
pub use value::Value;
