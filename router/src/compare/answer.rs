//! The answer to one statement as a value, whichever driver, protocol or file it came from.

use std::fmt;

use super::Messages;

/// Everything a client is told in answer to one command: its results in order, then what SHOW WARNINGS says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// One entry per result: more than one for a multi-statement or a CALL.
    pub results: Vec<Outcome>,
    /// The warnings behind it, where they were asked for.
    pub warnings: Vec<Warning>,
}

/// One result.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Columns and rows.
    Rows(ResultSet),
    /// An OK packet.
    Done(Done),
    /// An ERR packet.
    Failed(Failure),
}

/// A result set.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ResultSet {
    /// Column definitions in order.
    pub columns: Vec<Column>,
    /// Rows; each has as many values as there are columns.
    pub rows: Vec<Vec<Value>>,
    /// Status flags of the packet that ends the rows, where the source tells them.
    pub status: Option<u16>,
    /// Warning count of the packet that ends the rows, where the source tells it.
    pub warnings: Option<u16>,
}

/// A column definition (Protocol::ColumnDefinition41). A source that does not tell a field leaves it at its default.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Column {
    /// Name as shown: the alias.
    pub name: String,
    /// Name in the table.
    pub org_name: String,
    /// Table as named in the statement.
    pub table: String,
    /// Table.
    pub org_table: String,
    /// Schema.
    pub schema: String,
    /// Protocol type (MYSQL_TYPE_*).
    pub kind: u8,
    /// Greatest length in bytes.
    pub length: u32,
    /// Column flags (NOT_NULL 1, PRI_KEY 2, UNIQUE_KEY 4, …, UNSIGNED 32, …).
    pub flags: u16,
    /// Digits after the point; 31 or 39 means not fixed.
    pub decimals: u8,
    /// Collation id.
    pub charset: u16,
}

/// One value of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// NULL.
    Null,
    /// Raw bytes: what the text protocol carries for every type, and strings of the binary one.
    Bytes(Vec<u8>),
    /// An integer of the binary protocol.
    Int(i128),
    /// A DOUBLE, or a FLOAT widened.
    Double(f64),
    /// A value that the source shows in a form of its own: a driver's date type, say.
    Typed {
        /// The source's name of the type.
        kind: String,
        /// The value in text; equal values have equal text.
        text: String,
    },
}

/// The fields of an OK packet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Done {
    /// Affected rows.
    pub affected: u64,
    /// Last insert id.
    pub insert_id: u64,
    /// Human-readable info ("Records: 3  Duplicates: 0  Warnings: 0").
    pub info: String,
    /// Warning count.
    pub warnings: u16,
    /// Status flags, where the source tells them.
    pub status: Option<u16>,
}

/// The fields of an ERR packet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Failure {
    /// Error code.
    pub code: u16,
    /// SQLSTATE, five characters.
    pub state: String,
    /// Message.
    pub message: String,
}

/// One line of SHOW WARNINGS.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Warning {
    /// Note, Warning or Error.
    pub level: String,
    /// Code.
    pub code: u16,
    /// Message.
    pub message: String,
}

impl Outcome {
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Outcome::Rows(_) => "rows",
            Outcome::Done(_) => "OK",
            Outcome::Failed(_) => "error",
        }
    }
}

impl Failure {
    pub(super) fn same(&self, other: &Failure, messages: Messages) -> bool {
        self.code == other.code
            && self.state == other.state
            && (messages == Messages::CodesOnly || self.message == other.message)
    }
}

impl Warning {
    pub(super) fn same(&self, other: &Warning, messages: Messages) -> bool {
        self.level == other.level
            && self.code == other.code
            && (messages == Messages::CodesOnly || self.message == other.message)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Rows(set) => write!(f, "{} rows of {} columns", set.rows.len(), set.columns.len()),
            Outcome::Done(ok) => {
                write!(
                    f,
                    "OK, {} affected, insert id {}, {} warnings",
                    ok.affected, ok.insert_id, ok.warnings
                )?;
                if let Some(status) = ok.status {
                    write!(f, ", status {status:#06x}")?;
                }
                if ok.info.is_empty() { Ok(()) } else { write!(f, ", info {:?}", ok.info) }
            }
            Outcome::Failed(e) => write!(f, "error {} ({}): {}", e.code, e.state, e.message),
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.level, self.code, self.message)
    }
}

/// A value in a message: long ones are cut.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 60;
        match self {
            Value::Null => f.write_str("NULL"),
            Value::Int(i) => write!(f, "{i}"),
            Value::Double(d) => write!(f, "{d:?}"),
            Value::Typed { kind, text } => write!(f, "{kind} {text}"),
            Value::Bytes(bytes) => {
                let head = bytes.get(..SHOWN).unwrap_or(bytes);
                match std::str::from_utf8(head) {
                    Ok(text) => write!(f, "{text:?}")?,
                    Err(_) => write!(f, "b\"{}\"", head.escape_ascii())?,
                }
                if bytes.len() > SHOWN { write!(f, "… ({} bytes)", bytes.len()) } else { Ok(()) }
            }
        }
    }
}
