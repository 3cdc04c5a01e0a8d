//! The guards that hold for every rule: each proves one thing or refuses with its reason.
//!
//! Guards are three-valued. *Proven* lets a rule go on; *disproven* and *not known* refuse alike, and the reason says which.

use std::fmt;

use sql::catalog::{Table, TableKind};
use sql::facts::{Facts, Purity};
use sql::{Marks, Precondition, SqlMode, Verb};

use crate::engine::{Context, Statement};
use crate::shape::{Odd, Query, Source};
use crate::splice::Edit;

/// The name of a guard, stable, for explanations and statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Guard {
    /// The rule's scope by server, schema, user.
    Scope,
    /// The statement's comment `shuntyard: rewrite=off`.
    Pragma,
    /// The text can be read in full: no executable comments, no hints, one statement, a plain shape.
    Readable,
    /// `sql_mode` and character set are ones whose meaning is known.
    Session,
    /// No user variables, no system variables.
    Variables,
    /// No function that is random, of the session, with effects, or unknown.
    Functions,
    /// No locking read, no INTO, no SQL_CALC_FOUND_ROWS.
    PlainRead,
    /// Every table is a base table that the catalog knows.
    Tables,
    /// Every table read under LIMIT is kept by InnoDB.
    Engine,
    /// Columns are known and unambiguous.
    Columns,
    /// Sort keys have one type and collation in every branch.
    Types,
    /// ORDER BY is on output columns.
    OrderBy,
    /// LIMIT is made of literals within bounds.
    Limit,
    /// Set operations are UNION ALL alone.
    Union,
    /// The derived table only selects, projects and filters.
    Derived,
    /// Output columns keep their names.
    Names,
    /// The order is total, so that LIMIT has one answer.
    TotalOrder,
    /// A parameter stays where it is.
    Parameters,
    /// A guard that the rule itself names under `when`.
    When,
    /// The new text was read again and found to be what was meant.
    Verified,
}

impl Guard {
    /// The guard's name in explanations: `total_order`.
    pub fn name(self) -> &'static str {
        match self {
            Guard::Scope => "scope",
            Guard::Pragma => "pragma",
            Guard::Readable => "readable",
            Guard::Session => "session",
            Guard::Variables => "variables",
            Guard::Functions => "functions",
            Guard::PlainRead => "plain_read",
            Guard::Tables => "tables",
            Guard::Engine => "engine",
            Guard::Columns => "columns",
            Guard::Types => "types",
            Guard::OrderBy => "order_by",
            Guard::Limit => "limit",
            Guard::Union => "union",
            Guard::Derived => "derived",
            Guard::Names => "names",
            Guard::TotalOrder => "total_order",
            Guard::Parameters => "parameters",
            Guard::When => "when",
            Guard::Verified => "verified",
        }
    }
}

impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A guard that could not prove what it guards, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The guard.
    pub guard: Guard,
    /// Why, in a sentence without a full stop: "the catalog does not know the table shop.x".
    pub reason: String,
}

/// A refusal.
pub(crate) fn refuse<T>(guard: Guard, reason: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal { guard, reason: reason.into() })
}

impl Refusal {
    pub(crate) fn of(guard: Guard) -> impl Fn(Odd) -> Refusal {
        move |odd| Refusal { guard, reason: odd.0 }
    }
}

/// What a pass looks at: a statement of plain shape that passed the guards of this file.
pub(crate) struct Subject<'a> {
    pub(crate) source: Source<'a>,
    pub(crate) statement: &'a Statement<'a>,
    pub(crate) query: &'a Query,
    pub(crate) context: &'a Context<'a>,
}

/// What a pass makes of a statement.
pub(crate) enum Proposal {
    /// Not the pass's pattern; why.
    NotMatched(&'static str),
    /// The pattern, but a guard did not hold.
    Refused(Refusal),
    /// A new text.
    Fires(Draft),
}

/// A new text before it was verified.
pub(crate) struct Draft {
    /// Changes to the old text.
    pub(crate) edits: Vec<Edit>,
    /// What must hold of the literals at each execution.
    pub(crate) preconditions: Vec<Precondition>,
    /// What was done, for people: "2 of 2 branches limited".
    pub(crate) note: String,
}

/// The guards on session and text, cheapest first.
pub(crate) fn readable(statement: &Statement<'_>, context: &Context<'_>) -> Result<(), Refusal> {
    let marks = statement.scan.marks;
    if marks.contains(Marks::PRAGMA_OFF) {
        return refuse(Guard::Pragma, "the statement's own comment switches rewriting off");
    }
    if context.flavor.charset == sql::CharsetClass::Unsafe {
        return refuse(Guard::Session, "the session's character set may hide ASCII bytes in its characters");
    }
    if !context.sql_mode_known {
        return refuse(Guard::Session, "the session's sql_mode is not known");
    }
    if context.flavor.mode.contains(SqlMode::ORACLE) {
        return refuse(Guard::Session, "sql_mode ORACLE changes the grammar");
    }
    for (mark, what) in [
        (Marks::EXECUTABLE_COMMENT, "an executable comment /*! */"),
        (Marks::ERROR, "text that no server reads"),
        (Marks::LONG, "more units than are kept"),
        (Marks::MULTI, "several statements"),
        (Marks::COMPOUND, "a compound statement"),
        (Marks::HINT, "an optimizer hint"),
    ] {
        if marks.contains(mark) {
            return refuse(Guard::Readable, format!("the text holds {what}"));
        }
    }
    if marks.intersects(Marks::USER_VAR | Marks::ASSIGN) {
        return refuse(Guard::Variables, "the statement uses user variables");
    }
    if marks.contains(Marks::SYS_VAR) {
        return refuse(Guard::Variables, "the statement reads system variables");
    }
    for (mark, what) in [
        (Marks::LOCKING, "locks rows"),
        (Marks::INTO, "has INTO"),
        (Marks::CALC_FOUND_ROWS, "asks for SQL_CALC_FOUND_ROWS"),
    ] {
        if marks.contains(mark) {
            return refuse(Guard::PlainRead, format!("the statement {what}"));
        }
    }
    Ok(())
}

/// The guards on what the statement does, from its facts and the catalog.
pub(crate) fn plain(facts: &Facts, context: &Context<'_>) -> Result<(), Refusal> {
    if facts.verb != Verb::Select {
        return refuse(Guard::PlainRead, "not a SELECT");
    }
    if facts.locking || facts.into || facts.calc_found_rows {
        return refuse(
            Guard::PlainRead,
            "the statement locks rows, has INTO or asks for SQL_CALC_FOUND_ROWS",
        );
    }
    if facts.user_variables || facts.system_variables {
        return refuse(Guard::Variables, "the statement uses variables");
    }
    if facts.full_text {
        return refuse(Guard::Functions, "scores of MATCH … AGAINST depend on the plan");
    }
    for function in &facts.functions {
        let why = match function.purity {
            Purity::Pure | Purity::Statement => continue,
            Purity::Session => "depends on the session",
            Purity::Volatile => "gives another value at each call",
            Purity::Effect => "has effects",
            Purity::Unknown => "is not a built-in function known here",
        };
        return refuse(Guard::Functions, format!("{}() {why}", function.name));
    }
    if !facts.deterministic.is_yes() || !matches!(facts.purity, Purity::Pure | Purity::Statement) {
        return refuse(Guard::Functions, "the statement is not proven deterministic");
    }
    if context.session_may_shadow && !facts.tables.is_empty() {
        return refuse(Guard::Tables, "a temporary table of the session may stand behind a name");
    }
    for table in &facts.tables {
        base_table(table.schema.as_deref(), &table.name, context)?;
    }
    Ok(())
}

/// The catalog's entry of a base table.
pub(crate) fn base_table<'c>(
    schema: Option<&str>,
    name: &str,
    context: &Context<'c>,
) -> Result<&'c Table, Refusal> {
    let Some(schema) = schema.or(context.schema) else {
        return refuse(Guard::Tables, format!("the table {name} has no schema"));
    };
    let Some(table) = context.catalog.table(schema, name) else {
        return refuse(Guard::Tables, format!("the catalog does not know the table {schema}.{name}"));
    };
    let what = match table.kind {
        TableKind::Base => return Ok(table),
        TableKind::View => "a view",
        TableKind::System => "a system table",
        TableKind::Versioned => "system-versioned",
        TableKind::Sequence => "a sequence",
    };
    refuse(Guard::Tables, format!("{schema}.{name} is {what}"))
}

/// Under LIMIT another plan may pick other rows of the same right answers; only InnoDB's order of equal rows is known.
pub(crate) fn innodb(facts: &Facts, context: &Context<'_>) -> Result<(), Refusal> {
    for used in &facts.tables {
        let table = base_table(used.schema.as_deref(), &used.name, context)?;
        if !table.is_innodb() {
            let engine = table.engine.as_deref().unwrap_or("an unknown engine");
            return refuse(Guard::Engine, format!("{} is kept by {engine}", table.name));
        }
    }
    Ok(())
}
