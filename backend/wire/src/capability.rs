//! Capability and status flags as the servers name them.

use bitflags::bitflags;

bitflags! {
    /// Capabilities of one side of a connection; in force is the intersection of both sides.
    ///
    /// The low 32 bits are MySQL's `CLIENT_*` flags, the high 32 bits MariaDB's extended `MARIADB_CLIENT_*` flags, which
    /// travel in bytes that MySQL leaves zero and only between peers that both leave [`Capabilities::LONG_PASSWORD`] out
    /// (MariaDB calls that bit `CLIENT_MYSQL`).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Capabilities: u64 {
        /// `CLIENT_LONG_PASSWORD` of MySQL, `CLIENT_MYSQL` of MariaDB: set by whoever does not speak MariaDB's extensions.
        const LONG_PASSWORD = 1;
        /// Affected rows are the rows found, not the rows changed.
        const FOUND_ROWS = 1 << 1;
        /// Column flags have two bytes.
        const LONG_FLAG = 1 << 2;
        /// The handshake response names a schema.
        const CONNECT_WITH_DB = 1 << 3;
        /// `database.table.column` is refused.
        const NO_SCHEMA = 1 << 4;
        /// zlib compression.
        const COMPRESS = 1 << 5;
        /// No effect since 3.22.
        const ODBC = 1 << 6;
        /// `LOAD DATA LOCAL` is possible.
        const LOCAL_FILES = 1 << 7;
        /// Spaces before `(` are ignored.
        const IGNORE_SPACE = 1 << 8;
        /// The protocol of 4.1 and later.
        const PROTOCOL_41 = 1 << 9;
        /// `interactive_timeout` instead of `wait_timeout`.
        const INTERACTIVE = 1 << 10;
        /// TLS follows after an `SslRequest`.
        const SSL = 1 << 11;
        /// Only of the client's library.
        const IGNORE_SIGPIPE = 1 << 12;
        /// Status flags are understood.
        const TRANSACTIONS = 1 << 13;
        /// Formerly the flag of the 4.1 protocol.
        const RESERVED = 1 << 14;
        /// 20-byte scrambles (`CLIENT_RESERVED2` of MySQL 8).
        const SECURE_CONNECTION = 1 << 15;
        /// Several statements in one `COM_QUERY`.
        const MULTI_STATEMENTS = 1 << 16;
        /// Several results of one `COM_QUERY`.
        const MULTI_RESULTS = 1 << 17;
        /// Several results of one `COM_STMT_EXECUTE`.
        const PS_MULTI_RESULTS = 1 << 18;
        /// Authentication by named plugins.
        const PLUGIN_AUTH = 1 << 19;
        /// Connection attributes in the handshake response.
        const CONNECT_ATTRS = 1 << 20;
        /// The authentication response has a length-encoded length.
        const PLUGIN_AUTH_LENENC_CLIENT_DATA = 1 << 21;
        /// An expired password leaves a restricted session.
        const CAN_HANDLE_EXPIRED_PASSWORDS = 1 << 22;
        /// OK packets carry session state changes.
        const SESSION_TRACK = 1 << 23;
        /// OK packets with header 0xFE instead of EOF packets, and none after column definitions.
        const DEPRECATE_EOF = 1 << 24;
        /// Column definitions may be left out (MySQL).
        const OPTIONAL_RESULTSET_METADATA = 1 << 25;
        /// zstd compression.
        const ZSTD_COMPRESSION_ALGORITHM = 1 << 26;
        /// `COM_QUERY` and `COM_STMT_EXECUTE` carry attributes (MySQL).
        const QUERY_ATTRIBUTES = 1 << 27;
        /// More than one authentication factor (MySQL).
        const MULTI_FACTOR_AUTHENTICATION = 1 << 28;
        /// Progress reports, of MariaDB before it had extended flags.
        const PROGRESS_OBSOLETE = 1 << 29;
        /// Only of the client's library.
        const SSL_VERIFY_SERVER_CERT = 1 << 30;
        /// Only of the client's library.
        const REMEMBER_OPTIONS = 1 << 31;

        /// Progress reports as ERR packets of code 0xFFFF.
        const MARIADB_PROGRESS = 1 << 32;
        /// Formerly `COM_MULTI`.
        const MARIADB_RESERVED_1 = 1 << 33;
        /// `COM_STMT_BULK_EXECUTE`.
        const MARIADB_STMT_BULK_OPERATIONS = 1 << 34;
        /// Column definitions carry an extended type and format.
        const MARIADB_EXTENDED_METADATA = 1 << 35;
        /// Unchanged column definitions are not sent again at `COM_STMT_EXECUTE`.
        const MARIADB_CACHE_METADATA = 1 << 36;
        /// One result for each unit of a bulk.
        const MARIADB_BULK_UNIT_RESULTS = 1 << 37;

        const _ = !0;
    }
}

impl Capabilities {
    /// The flags from MySQL's and MariaDB's halves.
    #[must_use]
    pub fn from_halves(mysql: u32, mariadb: u32) -> Self {
        Self::from_bits_retain(u64::from(mysql) | u64::from(mariadb) << 32)
    }

    /// MySQL's half.
    #[must_use]
    pub fn low(self) -> u32 {
        (self.bits() & 0xFFFF_FFFF) as u32
    }

    /// MariaDB's half as it goes over the wire: zero when [`Capabilities::LONG_PASSWORD`] says that the sender is no
    /// MariaDB.
    #[must_use]
    pub fn high(self) -> u32 {
        if self.contains(Self::LONG_PASSWORD) { 0 } else { (self.bits() >> 32) as u32 }
    }
}

bitflags! {
    /// `SERVER_STATUS_*` flags of OK and EOF packets.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Status: u16 {
        /// A transaction is open.
        const IN_TRANS = 0x0001;
        /// `autocommit` is on.
        const AUTOCOMMIT = 0x0002;
        /// Another result follows this one.
        const MORE_RESULTS_EXISTS = 0x0008;
        /// No good index was used.
        const NO_GOOD_INDEX_USED = 0x0010;
        /// No index was used.
        const NO_INDEX_USED = 0x0020;
        /// A cursor was opened: rows come by `COM_STMT_FETCH` only.
        const CURSOR_EXISTS = 0x0040;
        /// The cursor is exhausted.
        const LAST_ROW_SENT = 0x0080;
        /// A schema was dropped.
        const DB_DROPPED = 0x0100;
        /// `NO_BACKSLASH_ESCAPES` is in force.
        const NO_BACKSLASH_ESCAPES = 0x0200;
        /// A statement was prepared again and its columns changed.
        const METADATA_CHANGED = 0x0400;
        /// The statement took longer than `long_query_time`.
        const QUERY_WAS_SLOW = 0x0800;
        /// This result holds OUT parameters.
        const PS_OUT_PARAMS = 0x1000;
        /// The open transaction is read only.
        const IN_TRANS_READONLY = 0x2000;
        /// The OK packet carries session state changes.
        const SESSION_STATE_CHANGED = 0x4000;
        /// `ANSI_QUOTES` is in force (MariaDB).
        const ANSI_QUOTES = 0x8000;

        const _ = !0;
    }
}
