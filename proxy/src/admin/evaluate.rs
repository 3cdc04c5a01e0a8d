//! Answers a reading admin statement with an in-memory SQLite database filled for it alone.
//!
//! The statement is somebody's text: an authorizer lets it read our tables and call listed functions and nothing else,
//! and time, memory, rows and bytes are bounded. Blocks its thread for up to [`TIME`]: not for a session's own core.

mod lock;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, Error, ErrorCode, ToSql, params_from_iter};
use wire::SqlError;

use super::statement::{Query, no_table};
use super::{Cell, SCHEMA, Source, TABLES, Table, syntax};
use lock::{Denied, Lock};

/// The longest time that one statement may take.
pub(super) const TIME: Duration = Duration::from_secs(2);
/// The most rows of an answer.
pub(super) const ROWS: usize = 100_000;
/// The most bytes of an answer.
pub(super) const BYTES: usize = 32 << 20;

/// A column's type in the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// BIGINT.
    Int,
    /// DOUBLE.
    Float,
    /// Text in utf8mb4.
    Text,
}

impl Kind {
    /// Its name in MySQL.
    #[must_use]
    pub(crate) fn sql_type(self) -> &'static str {
        match self {
            Self::Int => "bigint",
            Self::Float => "double",
            Self::Text => "text",
        }
    }

    fn declared(self) -> &'static str {
        match self {
            Self::Int => "INTEGER",
            Self::Float => "REAL",
            Self::Text => "TEXT COLLATE NOCASE",
        }
    }
}

/// A result set: values as the text protocol writes them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    /// Name and type of each column.
    pub(crate) columns: Vec<(String, Kind)>,
    /// The rows, one value for each column, `None` for NULL.
    pub(crate) rows: Vec<Vec<Option<String>>>,
}

/// Runs a statement over the rows of this moment.
///
/// # Errors
/// As a server would say it: 1064, 1146, 1054, 1052, 1305; 1317 where a bound was reached.
pub(crate) fn execute(query: &Query, source: &dyn Source) -> Result<Answer, SqlError> {
    run(query, source, TIME)
}

fn run(query: &Query, source: &dyn Source, time: Duration) -> Result<Answer, SqlError> {
    let db = create().map_err(internal)?;
    let lock = Arc::new(Mutex::new(Lock::default()));
    // Prepared once against empty tables to learn which of them must be filled.
    lock::close(&db, &lock).map_err(internal)?;
    db.prepare(&query.sql).map_err(|error| explain(&error, &lock))?;
    let read: BTreeSet<&'static str> =
        lock.lock().unwrap_or_else(PoisonError::into_inner).read.iter().copied().collect();
    lock::open(&db).map_err(internal)?;
    for table in TABLES.iter().filter(|table| read.contains(table.name)) {
        fill(&db, table, source).map_err(internal)?;
    }
    lock::close(&db, &lock).map_err(internal)?;
    let deadline = Instant::now() + time;
    db.progress_handler(1_000, Some(move || Instant::now() >= deadline)).map_err(internal)?;
    collect(&db, &query.sql, &lock)
}

fn create() -> rusqlite::Result<Connection> {
    let db = Connection::open_in_memory()?;
    let mut script = format!("PRAGMA hard_heap_limit = {}; ATTACH ':memory:' AS {SCHEMA};", lock::HEAP);
    for table in TABLES {
        let columns: Vec<String> = table
            .columns
            .iter()
            .map(|column| format!("`{}` {}", column.name, column.kind.declared()))
            .collect();
        script.push_str(&format!("CREATE TABLE {SCHEMA}.{} ({});", table.name, columns.join(",")));
    }
    db.execute_batch(&script)?;
    lock::limit(&db)?;
    Ok(db)
}

fn fill(db: &Connection, table: &Table, source: &dyn Source) -> rusqlite::Result<()> {
    let places = vec!["?"; table.columns.len()].join(",");
    db.execute_batch("BEGIN")?;
    let mut insert = db.prepare(&format!("INSERT INTO {SCHEMA}.{} VALUES ({places})", table.name))?;
    for row in (table.rows)(source) {
        insert.execute(params_from_iter(row.iter()))?;
    }
    db.execute_batch("COMMIT")
}

impl ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Null => ToSqlOutput::Borrowed(ValueRef::Null),
            Self::Int(number) => ToSqlOutput::Borrowed(ValueRef::Integer(*number)),
            Self::Float(number) => ToSqlOutput::Borrowed(ValueRef::Real(*number)),
            Self::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
        })
    }
}

fn collect(db: &Connection, sql: &str, lock: &Arc<Mutex<Lock>>) -> Result<Answer, SqlError> {
    let mut statement = db.prepare(sql).map_err(|error| explain(&error, lock))?;
    let width = statement.column_count();
    let mut kinds: Vec<Option<Kind>> =
        statement.columns().iter().map(|column| declared(column.decl_type())).collect();
    let fixed: Vec<bool> = kinds.iter().map(Option::is_some).collect();
    let names: Vec<String> = statement.column_names().into_iter().map(str::to_owned).collect();
    let mut rows = Vec::new();
    let mut bytes = 0_usize;
    let mut found = statement.query([]).map_err(|error| explain(&error, lock))?;
    while let Some(row) = found.next().map_err(|error| explain(&error, lock))? {
        let mut line = Vec::with_capacity(width);
        for at in 0..width {
            let (text, kind) = value(row.get_ref(at).map_err(internal)?);
            if let (Some(seen), Some(false)) = (kinds.get_mut(at), fixed.get(at)) {
                *seen = wider(*seen, kind);
            }
            bytes = bytes.saturating_add(text.as_ref().map_or(1, |text| text.len().saturating_add(9)));
            line.push(text);
        }
        rows.push(line);
        if rows.len() > ROWS || bytes > BYTES {
            return Err(bound(&format!("more than {ROWS} rows or {} MiB", BYTES >> 20)));
        }
    }
    let columns =
        names.into_iter().zip(kinds).map(|(name, kind)| (name, kind.unwrap_or(Kind::Text))).collect();
    Ok(Answer { columns, rows })
}

fn declared(name: Option<&str>) -> Option<Kind> {
    match name? {
        "INTEGER" => Some(Kind::Int),
        "REAL" => Some(Kind::Float),
        "TEXT" => Some(Kind::Text),
        _ => None,
    }
}

fn value(value: ValueRef<'_>) -> (Option<String>, Option<Kind>) {
    match value {
        ValueRef::Null => (None, None),
        ValueRef::Integer(number) => (Some(number.to_string()), Some(Kind::Int)),
        ValueRef::Real(number) => (Some(number.to_string()), Some(Kind::Float)),
        ValueRef::Text(text) | ValueRef::Blob(text) => {
            (Some(String::from_utf8_lossy(text).into_owned()), Some(Kind::Text))
        }
    }
}

/// The narrowest kind that holds both.
fn wider(one: Option<Kind>, other: Option<Kind>) -> Option<Kind> {
    match (one, other) {
        (None, kind) | (kind, None) => kind,
        (Some(one), Some(other)) if one == other => Some(one),
        (Some(Kind::Text), _) | (_, Some(Kind::Text)) => Some(Kind::Text),
        _ => Some(Kind::Float),
    }
}

/// An error of the evaluator in the words and numbers of a server.
fn explain(error: &Error, lock: &Arc<Mutex<Lock>>) -> SqlError {
    match error.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => {
            return bound(&format!("more than {} s of work", TIME.as_secs()));
        }
        Some(ErrorCode::OutOfMemory | ErrorCode::TooBig | ErrorCode::DiskFull) => {
            return bound("more memory than an admin statement may use");
        }
        _ => {}
    }
    let denied = lock.lock().unwrap_or_else(PoisonError::into_inner).denied.take();
    match denied {
        Some(Denied::Function(name)) => return no_function(&name),
        Some(Denied::Table(name)) => return no_table(&name),
        Some(Denied::Other) => return syntax("only SELECT is available on these tables"),
        None => {}
    }
    let text = match error {
        Error::SqlInputError { msg, .. } | Error::SqliteFailure(_, Some(msg)) => msg.clone(),
        other => other.to_string(),
    };
    let after = |prefix: &str| text.strip_prefix(prefix).map(|rest| rest.trim().to_owned());
    if let Some(table) = after("no such table: ") {
        return no_table(table.strip_prefix("shuntyard.").unwrap_or(&table));
    }
    if let Some(column) = after("no such column: ") {
        return SqlError { code: 1054, state: *b"42S22", message: format!("Unknown column '{column}'") };
    }
    if let Some(column) = after("ambiguous column name: ") {
        return SqlError { code: 1052, state: *b"23000", message: format!("Column '{column}' is ambiguous") };
    }
    if let Some(name) = after("no such function: ") {
        return no_function(&name);
    }
    syntax(format!("You have an error in your SQL syntax: {text}"))
}

fn no_function(name: &str) -> SqlError {
    let message = format!("FUNCTION {name} does not exist on the tables of {SCHEMA}");
    SqlError { code: 1305, state: *b"42000", message }
}

fn bound(what: &str) -> SqlError {
    SqlError { code: 1317, state: *b"70100", message: format!("Query execution was interrupted: {what}") }
}

fn internal(error: Error) -> SqlError {
    SqlError {
        code: 1105,
        state: *b"HY000",
        message: format!("the admin tables could not be built: {error}"),
    }
}

#[cfg(test)]
mod tests;
