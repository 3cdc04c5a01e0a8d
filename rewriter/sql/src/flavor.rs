//! What the meaning of SQL text depends on before a single byte of it is read: product, version, `sql_mode`, character set.

use bitflags::bitflags;

/// The server family behind a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Product {
    /// MariaDB Server.
    MariaDb,
    /// MySQL Server (Oracle, Percona).
    MySql,
}

/// A server version: major, minor, patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub u8, pub u8, pub u16);

impl Version {
    /// Reads product and version from the text of a greeting or of `VERSION()`:
    /// `9.7.4`, `10.11.6-MariaDB-0+deb12u1`, `5.5.5-10.11.6-MariaDB` (the prefix that old replicas needed).
    pub fn parse(text: &str) -> Option<(Product, Version)> {
        let product =
            if text.to_ascii_lowercase().contains("mariadb") { Product::MariaDb } else { Product::MySql };
        let text = match product {
            Product::MariaDb => text.strip_prefix("5.5.5-").unwrap_or(text),
            Product::MySql => text,
        };
        let mut parts = text.splitn(3, '.');
        let major = parts.next()?.parse().ok()?;
        let minor = parts.next()?.parse().ok()?;
        let patch = parts.next().unwrap_or("0");
        let digits = patch.find(|c: char| !c.is_ascii_digit()).unwrap_or(patch.len());
        let patch = patch.get(..digits)?.parse().ok()?;
        Some((product, Version(major, minor, patch)))
    }
}

bitflags! {
    /// The flags of `sql_mode` that the lexer, the tree or a guard asks about.
    ///
    /// MySQL: <https://dev.mysql.com/doc/refman/8.4/en/sql-mode.html>,
    /// MariaDB: <https://mariadb.com/docs/server/server-management/variables-and-modes/sql_mode>.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct SqlMode: u64 {
        /// `FLOAT` is a synonym of `REAL`'s single precision.
        const REAL_AS_FLOAT = 1;
        /// `||` concatenates and binds tighter than `^`.
        const PIPES_AS_CONCAT = 1 << 1;
        /// `"` quotes identifiers.
        const ANSI_QUOTES = 1 << 2;
        /// A built-in function's name may be followed by spaces before `(`.
        const IGNORE_SPACE = 1 << 3;
        /// Selected columns must depend on the grouping.
        const ONLY_FULL_GROUP_BY = 1 << 5;
        /// Unsigned subtraction yields a signed value.
        const NO_UNSIGNED_SUBTRACTION = 1 << 6;
        /// `CREATE TABLE` ignores directory options.
        const NO_DIR_IN_CREATE = 1 << 7;
        /// MariaDB: Oracle's grammar and `||` as concatenation.
        const ORACLE = 1 << 9;
        /// `0` is stored as it is in AUTO_INCREMENT columns.
        const NO_AUTO_VALUE_ON_ZERO = 1 << 19;
        /// `\` is an ordinary character.
        const NO_BACKSLASH_ESCAPES = 1 << 20;
        /// Strict for transactional tables.
        const STRICT_TRANS_TABLES = 1 << 21;
        /// Strict for all tables.
        const STRICT_ALL_TABLES = 1 << 22;
        /// Dates with a zero month or day are refused.
        const NO_ZERO_IN_DATE = 1 << 23;
        /// `0000-00-00` is refused.
        const NO_ZERO_DATE = 1 << 24;
        /// `2023-02-31` is accepted.
        const ALLOW_INVALID_DATES = 1 << 25;
        /// Division by zero is an error.
        const ERROR_FOR_DIVISION_BY_ZERO = 1 << 26;
        /// The shorthand of the stricter flags.
        const TRADITIONAL = 1 << 27;
        /// GRANT creates no accounts.
        const NO_AUTO_CREATE_USER = 1 << 28;
        /// `NOT a BETWEEN …` negates `a`.
        const HIGH_NOT_PRECEDENCE = 1 << 29;
        /// No silent replacement of a storage engine.
        const NO_ENGINE_SUBSTITUTION = 1 << 30;
        /// CHAR values are read with their padding.
        const PAD_CHAR_TO_FULL_LENGTH = 1 << 31;
        /// MariaDB: `''` is NULL.
        const EMPTY_STRING_IS_NULL = 1 << 32;
        /// MariaDB: SET assigns all columns at once.
        const SIMULTANEOUS_ASSIGNMENT = 1 << 33;
        /// Fractions of seconds are rounded (MariaDB) or truncated (MySQL: TIME_TRUNCATE_FRACTIONAL).
        const TIME_FRACTION = 1 << 34;
        /// The shorthand `ANSI` itself, which also changes how outer references resolve.
        const ANSI = 1 << 35;
    }
}

impl SqlMode {
    /// Flags that change how text is cut into tokens or made into a tree.
    pub const LEXICAL: SqlMode = SqlMode::PIPES_AS_CONCAT
        .union(SqlMode::ANSI_QUOTES)
        .union(SqlMode::IGNORE_SPACE)
        .union(SqlMode::NO_BACKSLASH_ESCAPES)
        .union(SqlMode::HIGH_NOT_PRECEDENCE)
        .union(SqlMode::ORACLE);

    /// Reads a value of `@@sql_mode`; the second part says that a name in it is not known here.
    ///
    /// Servers expand shorthands in `@@sql_mode`, but a client may write them, so they are expanded here as well.
    pub fn parse(text: &str) -> (SqlMode, bool) {
        let mut mode = SqlMode::empty();
        let mut unknown = false;
        for name in text.split(',') {
            let name = name.trim().to_ascii_uppercase();
            mode |= match name.as_str() {
                "" => SqlMode::empty(),
                "ANSI" => {
                    SqlMode::ANSI
                        | SqlMode::REAL_AS_FLOAT
                        | SqlMode::PIPES_AS_CONCAT
                        | SqlMode::ANSI_QUOTES
                        | SqlMode::IGNORE_SPACE
                        | SqlMode::ONLY_FULL_GROUP_BY
                }
                "TRADITIONAL" => {
                    SqlMode::TRADITIONAL
                        | SqlMode::STRICT_TRANS_TABLES
                        | SqlMode::STRICT_ALL_TABLES
                        | SqlMode::NO_ZERO_IN_DATE
                        | SqlMode::NO_ZERO_DATE
                        | SqlMode::ERROR_FOR_DIVISION_BY_ZERO
                        | SqlMode::NO_ENGINE_SUBSTITUTION
                }
                "ORACLE" => {
                    SqlMode::ORACLE | SqlMode::PIPES_AS_CONCAT | SqlMode::ANSI_QUOTES | SqlMode::IGNORE_SPACE
                }
                "TIME_ROUND_FRACTIONAL" | "TIME_TRUNCATE_FRACTIONAL" => SqlMode::TIME_FRACTION,
                other => match SqlMode::from_name(other) {
                    Some(flag) => flag,
                    None => {
                        unknown = true;
                        SqlMode::empty()
                    }
                },
            };
        }
        (mode, unknown)
    }
}

/// What a character set means to a reader of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CharsetClass {
    /// utf8mb3 and utf8mb4: a byte below 0x80 is always that ASCII character.
    Utf8,
    /// One byte per character, ASCII below 0x80 (latin1, ascii, binary, cp1251, …).
    SingleByte,
    /// sjis, gbk, big5, gb18030, cp932, ucs2, …: a character may hold ASCII bytes. Never lexed, forwarded.
    Unsafe,
}

impl CharsetClass {
    /// The class of a character set by its name, as in `@@character_set_client`; an unknown name is unsafe.
    pub fn of_charset(name: &str) -> CharsetClass {
        const SINGLE: &[&str] = &[
            "latin1", "latin2", "latin5", "latin7", "ascii", "binary", "cp1250", "cp1251", "cp1256",
            "cp1257", "cp850", "cp852", "cp866", "greek", "hebrew", "koi8r", "koi8u", "macce", "macroman",
            "armscii8", "geostd8", "keybcs2", "tis620", "dec8", "hp8",
        ];
        let name = name.to_ascii_lowercase();
        match name.as_str() {
            "utf8" | "utf8mb3" | "utf8mb4" => CharsetClass::Utf8,
            other if SINGLE.contains(&other) => CharsetClass::SingleByte,
            _ => CharsetClass::Unsafe,
        }
    }

    /// The class of a collation by its number, as sent in the handshake; an unknown number is unsafe.
    ///
    /// Numbers from `information_schema.COLLATIONS` of MariaDB 10.11 and MySQL 9.7.
    pub fn of_collation(id: u16) -> CharsetClass {
        match id {
            33
            | 45
            | 46
            | 76
            | 83
            | 192..=215
            | 223..=247
            | 255..=271
            | 273..=275
            | 277..=294
            | 296..=298
            | 300
            | 303..=323 => CharsetClass::Utf8,
            // MariaDB: Croatian and Myanmar, NOPAD twins (the padded one's number plus 1024), uca1400.
            576..=578
            | 608..=610
            | 1057
            | 1069
            | 1070
            | 1107
            | 1216
            | 1238
            | 1248
            | 1270
            | 2048..=2215
            | 2232..=2247
            | 2304..=2471
            | 2488..=2503 => CharsetClass::Utf8,
            2..=9
            | 11
            | 14..=16
            | 18
            | 20..=23
            | 25..=27
            | 29..=32
            | 34
            | 36..=44
            | 47..=53
            | 57..=59
            | 63..=75
            | 77..=81
            | 89
            | 92..=94
            | 99 => CharsetClass::SingleByte,
            1027
            | 1028
            | 1030..=1033
            | 1035
            | 1040
            | 1042
            | 1046
            | 1049
            | 1050
            | 1054
            | 1056
            | 1060..=1065
            | 1067
            | 1071
            | 1074
            | 1075
            | 1077
            | 1081..=1083
            | 1088..=1099
            | 1101..=1105
            | 1113
            | 1116
            | 1117 => CharsetClass::SingleByte,
            _ => CharsetClass::Unsafe,
        }
    }
}

/// What lexing and the tree depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flavor {
    /// The server family.
    pub product: Product,
    /// Its version.
    pub version: Version,
    /// The session's `sql_mode`.
    pub mode: SqlMode,
    /// The class of the session's `character_set_client`.
    pub charset: CharsetClass,
}

impl Flavor {
    /// MariaDB 10.11 with the lexical modes off and utf8mb4.
    pub const MARIADB: Flavor = Flavor {
        product: Product::MariaDb,
        version: Version(10, 11, 0),
        mode: SqlMode::empty(),
        charset: CharsetClass::Utf8,
    };

    /// MySQL 9.7 with the lexical modes off and utf8mb4.
    pub const MYSQL: Flavor = Flavor {
        product: Product::MySql,
        version: Version(9, 7, 0),
        mode: SqlMode::empty(),
        charset: CharsetClass::Utf8,
    };

    /// The same with another `sql_mode`.
    pub const fn with_mode(self, mode: SqlMode) -> Flavor {
        Flavor { mode, ..self }
    }
}

#[cfg(test)]
mod tests;
