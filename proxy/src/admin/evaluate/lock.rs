//! What a stranger's SELECT may do inside SQLite: read our tables, call harmless functions, within limits.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;

use super::super::{SCHEMA, Table};

/// Bytes that SQLite may hold in this process; nothing else here uses it.
pub(super) const HEAP: u32 = 256 << 20;

/// Functions of known cost that neither touch files nor change anything.
const FUNCTIONS: &[&str] = &[
    "abs",
    "avg",
    "ceil",
    "ceiling",
    "char",
    "coalesce",
    "concat",
    "concat_ws",
    "count",
    "cume_dist",
    "date",
    "datetime",
    "dense_rank",
    "exp",
    "first_value",
    "floor",
    "format",
    "glob",
    "group_concat",
    "hex",
    "if",
    "ifnull",
    "iif",
    "instr",
    "julianday",
    "lag",
    "last_value",
    "lead",
    "length",
    "like",
    "ln",
    "log",
    "log10",
    "log2",
    "lower",
    "ltrim",
    "max",
    "min",
    "mod",
    "nth_value",
    "ntile",
    "nullif",
    "percent_rank",
    "pow",
    "power",
    "printf",
    "quote",
    "rank",
    "replace",
    "round",
    "row_number",
    "rtrim",
    "sign",
    "sqrt",
    "strftime",
    "string_agg",
    "substr",
    "substring",
    "sum",
    "time",
    "total",
    "trim",
    "trunc",
    "typeof",
    "unicode",
    "unixepoch",
    "upper",
];

/// Sizes of statements and values, see <https://www.sqlite.org/limits.html>.
const LIMITS: &[(Limit, i32)] = &[
    (Limit::SQLITE_LIMIT_LENGTH, 1 << 20),
    (Limit::SQLITE_LIMIT_SQL_LENGTH, 64 << 10),
    (Limit::SQLITE_LIMIT_COLUMN, 200),
    (Limit::SQLITE_LIMIT_EXPR_DEPTH, 100),
    (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 20),
    (Limit::SQLITE_LIMIT_VDBE_OP, 50_000),
    (Limit::SQLITE_LIMIT_FUNCTION_ARG, 32),
    (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1_000),
    (Limit::SQLITE_LIMIT_VARIABLE_NUMBER, 200),
    (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 0),
    (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
    (Limit::SQLITE_LIMIT_ATTACHED, 1),
];

/// What the authorizer saw.
#[derive(Debug, Default)]
pub(super) struct Lock {
    /// Our tables that are read.
    pub(super) read: BTreeSet<&'static str>,
    /// The first thing that was refused.
    pub(super) denied: Option<Denied>,
}

/// Why a statement was refused.
#[derive(Debug)]
pub(super) enum Denied {
    Function(String),
    Table(String),
    Other,
}

/// Applies the size limits.
pub(super) fn limit(db: &Connection) -> rusqlite::Result<()> {
    LIMITS.iter().try_for_each(|(limit, value)| db.set_limit(*limit, *value).map(drop))
}

/// From here on only reading is allowed.
pub(super) fn close(db: &Connection, lock: &Arc<Mutex<Lock>>) -> rusqlite::Result<()> {
    let lock = Arc::clone(lock);
    db.authorizer(Some(move |context: AuthContext<'_>| {
        let mut lock = lock.lock().unwrap_or_else(PoisonError::into_inner);
        match judge(&context) {
            Ok(table) => {
                lock.read.extend(table);
                Authorization::Allow
            }
            Err(denied) => {
                lock.denied.get_or_insert(denied);
                Authorization::Deny
            }
        }
    }))
}

/// Lifts what [`close`] did, to fill the tables.
pub(super) fn open(db: &Connection) -> rusqlite::Result<()> {
    db.authorizer(None::<fn(AuthContext<'_>) -> Authorization>)
}

fn judge(context: &AuthContext<'_>) -> Result<Option<&'static str>, Denied> {
    match &context.action {
        AuthAction::Select => Ok(None),
        AuthAction::Read { table_name, .. } => {
            let own = context.database_name.is_some_and(|name| name.eq_ignore_ascii_case(SCHEMA));
            match (context.database_name, Table::named(table_name)) {
                (Some(_), Some(table)) if own => Ok(Some(table.name)),
                (Some(_), _) => Err(Denied::Table((*table_name).to_owned())),
                // A subquery or common table expression, perhaps named like a table of ours.
                (None, table) => Ok(table.map(|table| table.name)),
            }
        }
        AuthAction::Function { function_name }
            if FUNCTIONS.iter().any(|name| name.eq_ignore_ascii_case(function_name)) =>
        {
            Ok(None)
        }
        AuthAction::Function { function_name } => Err(Denied::Function((*function_name).to_owned())),
        _ => Err(Denied::Other),
    }
}
