//! An error as a server reports it, with the codes that the proxy itself uses.

use crate::Capabilities;
use crate::reply::ErrPacket;

/// An error with its code, SQLSTATE and text: what an ERR packet says.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("ERROR {code} ({}): {message}", String::from_utf8_lossy(.state))]
pub struct SqlError {
    /// The server's error code.
    pub code: u16,
    /// SQLSTATE.
    pub state: [u8; 5],
    /// The text.
    pub message: String,
}

impl SqlError {
    /// An error with the SQLSTATE that belongs to its code.
    #[must_use]
    pub fn new(code: u16, message: impl Into<String>) -> Self {
        Self { code, state: *code::state(code), message: message.into() }
    }

    /// Appends the ERR packet's payload.
    pub fn write(&self, capabilities: Capabilities, out: &mut Vec<u8>) {
        ErrPacket { code: self.code, state: Some(self.state), message: self.message.as_bytes() }
            .write(capabilities, out);
    }
}

/// Error codes, by the servers' own names.
pub mod code {
    /// Too many connections.
    pub const CON_COUNT: u16 = 1040;
    /// Cannot get hostname or the connection failed on the way.
    pub const BAD_HOST: u16 = 1042;
    /// Bad handshake.
    pub const HANDSHAKE: u16 = 1043;
    /// Access denied for user to schema.
    pub const DBACCESS_DENIED: u16 = 1044;
    /// Access denied for user.
    pub const ACCESS_DENIED: u16 = 1045;
    /// No schema selected.
    pub const NO_DB: u16 = 1046;
    /// Unknown command.
    pub const UNKNOWN_COM: u16 = 1047;
    /// Unknown schema.
    pub const BAD_DB: u16 = 1049;
    /// Server shutdown in progress: drivers reconnect.
    pub const SERVER_SHUTDOWN: u16 = 1053;
    /// Unknown column.
    pub const BAD_FIELD: u16 = 1054;
    /// Syntax error.
    pub const PARSE: u16 = 1064;
    /// Empty query.
    pub const EMPTY_QUERY: u16 = 1065;
    /// Unknown thread id.
    pub const NO_SUCH_THREAD: u16 = 1094;
    /// Not owner of the thread.
    pub const KILL_DENIED: u16 = 1095;
    /// Unknown error.
    pub const UNKNOWN: u16 = 1105;
    /// Unknown character set.
    pub const UNKNOWN_CHARACTER_SET: u16 = 1115;
    /// Statement is not allowed for this version or state.
    pub const NOT_ALLOWED_COMMAND: u16 = 1148;
    /// Packet larger than `max_allowed_packet`.
    pub const NET_PACKET_TOO_LARGE: u16 = 1153;
    /// Packets out of order.
    pub const NET_PACKETS_OUT_OF_ORDER: u16 = 1156;
    /// Error reading communication packets.
    pub const NET_READ: u16 = 1158;
    /// Lock wait timeout.
    pub const LOCK_WAIT_TIMEOUT: u16 = 1205;
    /// Wrong arguments.
    pub const WRONG_ARGUMENTS: u16 = 1210;
    /// Deadlock.
    pub const LOCK_DEADLOCK: u16 = 1213;
    /// A privilege is missing.
    pub const SPECIFIC_ACCESS_DENIED: u16 = 1227;
    /// Unsupported client authentication.
    pub const NOT_SUPPORTED_AUTH_MODE: u16 = 1251;
    /// Feature is not supported yet.
    pub const NOT_SUPPORTED_YET: u16 = 1235;
    /// Unknown prepared statement.
    pub const UNKNOWN_STMT_HANDLER: u16 = 1243;
    /// Query interrupted.
    pub const QUERY_INTERRUPTED: u16 = 1317;
    /// The password is expired: it must be changed before anything else.
    pub const MUST_CHANGE_PASSWORD: u16 = 1820;
    /// Malformed packet (`ER_MALFORMED_PACKET`).
    pub const MALFORMED_PACKET: u16 = 1835;
    /// Statement took longer than `max_statement_time` (MariaDB).
    pub const STATEMENT_TIMEOUT: u16 = 1969;
    /// Query exceeded `max_execution_time` (MySQL).
    pub const QUERY_TIMEOUT: u16 = 3024;
    /// Connection requires TLS.
    pub const SECURE_TRANSPORT_REQUIRED: u16 = 3159;
    /// Connection killed by idle timeout (MySQL 8).
    pub const CLIENT_INTERACTION_TIMEOUT: u16 = 4031;
    /// Of client libraries: cannot connect. Codes from 2000 to 2999 are for messages of our own only: libmariadb takes one
    /// that a server sends for its own and reports a malformed packet.
    pub const CR_CONN_HOST: u16 = 2003;
    /// Of client libraries: server has gone away. Not to be sent.
    pub const CR_SERVER_GONE: u16 = 2006;
    /// Of client libraries: lost connection during query. Not to be sent.
    pub const CR_SERVER_LOST: u16 = 2013;

    /// The SQLSTATE that the servers give with a code; `HY000` where they have none of their own.
    #[must_use]
    pub fn state(code: u16) -> &'static [u8; 5] {
        match code {
            CON_COUNT | NOT_SUPPORTED_AUTH_MODE => b"08004",
            BAD_HOST
            | HANDSHAKE
            | UNKNOWN_COM
            | SERVER_SHUTDOWN
            | NET_PACKET_TOO_LARGE
            | NET_PACKETS_OUT_OF_ORDER
            | NET_READ => b"08S01",
            DBACCESS_DENIED
            | BAD_DB
            | PARSE
            | EMPTY_QUERY
            | NOT_ALLOWED_COMMAND
            | NOT_SUPPORTED_YET
            | SPECIFIC_ACCESS_DENIED => b"42000",
            ACCESS_DENIED => b"28000",
            NO_DB => b"3D000",
            BAD_FIELD => b"42S22",
            LOCK_DEADLOCK => b"40001",
            QUERY_INTERRUPTED | STATEMENT_TIMEOUT => b"70100",
            _ => b"HY000",
        }
    }
}
