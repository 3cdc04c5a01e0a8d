//! Recognises administrators' statements in MySQL text.
//!
//! A SELECT is ours only where every table that it reads is one of the schema `shuntyard`, so nothing an application
//! asks its server is ever answered here by accident.

mod refs;

use memchr::memchr2_iter;
use sql::{Flavor, Lexer, TokenKind};
use wire::SqlError;

use super::translate::{Piece, like, quote, translate};
use super::{SCHEMA, TABLES, Table, syntax};

/// A statement that the proxy answers itself, for admins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Statement<'t> {
    /// Answered by [`super::execute`].
    Read(Query),
    /// `SHUNTYARD RELOAD`: read configuration and rules again.
    Reload,
    /// `SHUNTYARD SET <switch> = ON | OFF`.
    Set {
        /// What is switched.
        switch: Switch,
        /// To which side.
        on: bool,
    },
    /// `EXPLAIN SHUNTYARD <statement>`, with the statement's text.
    Explain(&'t [u8]),
}

/// What `SHUNTYARD SET` can switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Switch {
    /// Whether rules are applied.
    Rules,
}

/// A reading statement in the evaluator's dialect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Query {
    pub(super) sql: String,
}

/// `None` for what is not ours. An error is a statement of ours that is written wrongly.
///
/// Costs one search for the word `shuntyard` where it does not occur; still, ask only when a plan is made.
#[must_use]
pub(crate) fn parse(text: &[u8], flavor: Flavor) -> Option<Result<Statement<'_>, SqlError>> {
    if !mentions(text) {
        return None;
    }
    let whole = std::str::from_utf8(text).ok()?;
    let mut lexer =
        Lexer::new(text, flavor).filter(|token| !matches!(token.kind, TokenKind::Comment | TokenKind::Hint));
    let piece = |token: sql::Token| Piece { kind: token.kind, text: slice(whole, &token) };
    let first = lexer.next().map(piece)?;
    let rest = || lexer.clone().map(piece).collect::<Vec<_>>();
    let backslash = !flavor.mode.contains(sql::SqlMode::NO_BACKSLASH_ESCAPES);
    if first.is("SHUNTYARD") {
        return Some(command(&rest()));
    }
    if first.is("EXPLAIN") {
        let mut after = lexer.clone();
        if !after.next().map(piece)?.is("SHUNTYARD") {
            return None;
        }
        let from = after.next().map_or(text.len(), |token| token.start as usize);
        let statement = text.get(from..).unwrap_or_default();
        let missing = || syntax("EXPLAIN SHUNTYARD wants a statement to explain");
        return Some(if statement.is_empty() { Err(missing()) } else { Ok(Statement::Explain(statement)) });
    }
    if first.is("SHOW") {
        return show(&rest(), backslash).map(|query| query.map(Statement::Read));
    }
    if first.is("DESCRIBE") || first.is("DESC") {
        let rest = rest();
        let (table, rest) = own_table(&rest)?;
        return Some(described(&table, rest).map(Statement::Read));
    }
    if first.is("SELECT") || first.is("WITH") || first.is_punct(b'(') {
        let mut all = vec![first];
        all.extend(rest());
        if !refs::only_own(&all) {
            return None;
        }
        return Some(translate(&all, backslash).map(|sql| Statement::Read(Query { sql })));
    }
    None
}

/// Whether the word occurs anywhere; found by its rarest letter.
fn mentions(text: &[u8]) -> bool {
    const BEFORE: usize = 5;
    memchr2_iter(b'y', b'Y', text).any(|at| {
        let word = at.checked_sub(BEFORE).and_then(|from| text.get(from..from.checked_add(SCHEMA.len())?));
        word.is_some_and(|word| word.eq_ignore_ascii_case(SCHEMA.as_bytes()))
    })
}

fn slice<'t>(whole: &'t str, token: &sql::Token) -> &'t str {
    whole.get(token.start as usize..token.end as usize).unwrap_or_default()
}

fn command(rest: &[Piece<'_>]) -> Result<Statement<'static>, SqlError> {
    let words: Vec<&str> = without_semicolon(rest).iter().map(|piece| piece.text).collect();
    let is = |at: usize, word: &str| words.get(at).is_some_and(|found| found.eq_ignore_ascii_case(word));
    if is(0, "RELOAD") && words.len() == 1 {
        return Ok(Statement::Reload);
    }
    if is(0, "SET") && is(2, "=") && words.len() == 4 {
        if !is(1, "rules") {
            return Err(syntax("SHUNTYARD SET knows the switch `rules`"));
        }
        let on = ["ON", "TRUE", "1"].iter().any(|word| is(3, word));
        let off = ["OFF", "FALSE", "0"].iter().any(|word| is(3, word));
        return match (on, off) {
            (false, false) => Err(syntax("SHUNTYARD SET rules = ON | OFF")),
            (on, _) => Ok(Statement::Set { switch: Switch::Rules, on }),
        };
    }
    Err(syntax("known are SHUNTYARD RELOAD and SHUNTYARD SET rules = ON | OFF"))
}

fn without_semicolon<'p, 't>(pieces: &'p [Piece<'t>]) -> &'p [Piece<'t>] {
    match pieces {
        [rest @ .., last] if last.is_punct(b';') => rest,
        all => all,
    }
}

fn show(rest: &[Piece<'_>], backslash: bool) -> Option<Result<Query, SqlError>> {
    let rest = match rest {
        [full, rest @ ..] if full.is("FULL") => rest,
        all => all,
    };
    match rest {
        [own, rest @ ..] if own.is("SHUNTYARD") => Some(show_table(rest, backslash)),
        [tables, from, schema, rest @ ..]
            if tables.is("TABLES") && (from.is("FROM") || from.is("IN")) && schema.names(SCHEMA) =>
        {
            let names: Vec<String> = TABLES.iter().map(|table| format!("({})", quote(table.name))).collect();
            let list = format!(
                "SELECT * FROM (SELECT column1 AS `Tables_in_{SCHEMA}` FROM (VALUES {}))",
                names.join(",")
            );
            Some(clauses(&list, &format!("Tables_in_{SCHEMA}"), rest, backslash))
        }
        [columns, from, rest @ ..]
            if (columns.is("COLUMNS") || columns.is("FIELDS")) && (from.is("FROM") || from.is("IN")) =>
        {
            let (table, rest) = own_table(rest)?;
            Some(described(&table, rest))
        }
        _ => None,
    }
}

fn show_table(rest: &[Piece<'_>], backslash: bool) -> Result<Query, SqlError> {
    let known = || TABLES.iter().map(|table| table.name.to_ascii_uppercase()).collect::<Vec<_>>().join(" | ");
    let table = rest.first().and_then(|name| Table::named(name.text));
    let (Some(table), Some(rest)) = (table, rest.get(1..)) else {
        return Err(syntax(format!("SHOW SHUNTYARD {}", known())));
    };
    clauses(&format!("SELECT * FROM {SCHEMA}.{}", table.name), table.like, rest, backslash)
}

/// `[LIKE 'p' | WHERE expr] [ORDER BY …] [LIMIT …]` behind a SELECT without clauses.
fn clauses(select: &str, column: &str, rest: &[Piece<'_>], backslash: bool) -> Result<Query, SqlError> {
    let (condition, rest) = match rest {
        [word, pattern, rest @ ..] if word.is("LIKE") => {
            let condition =
                like(pattern, backslash).ok_or_else(|| syntax("LIKE wants a pattern in quotes"))?;
            (format!(" WHERE `{column}` {condition}"), rest)
        }
        all => (String::new(), all),
    };
    let follows = ["WHERE", "ORDER", "LIMIT"];
    match rest.first() {
        Some(next) if !next.is_punct(b';') && !follows.iter().any(|word| next.is(word)) => Err(near(next)),
        Some(next) if next.is("WHERE") && !condition.is_empty() => Err(near(next)),
        _ => Ok(Query { sql: format!("{select}{condition} {}", translate(rest, backslash)?) }),
    }
}

fn near(piece: &Piece<'_>) -> SqlError {
    syntax(format!("You have an error in your SQL syntax near '{}'", piece.text))
}

/// `shuntyard.<table>` at the head of the pieces.
fn own_table<'p, 't>(pieces: &'p [Piece<'t>]) -> Option<(String, &'p [Piece<'t>])> {
    match pieces {
        [schema, dot, table, rest @ ..] if schema.names(SCHEMA) && dot.is_punct(b'.') => {
            Some((table.name()?, rest))
        }
        _ => None,
    }
}

fn described(table: &str, rest: &[Piece<'_>]) -> Result<Query, SqlError> {
    if let Some(more) = without_semicolon(rest).first() {
        return Err(near(more));
    }
    let table = Table::named(table).ok_or_else(|| no_table(table))?;
    let line = |column: &super::Column| format!("({},{})", quote(column.name), quote(column.kind.sql_type()));
    let lines: Vec<String> = table.columns.iter().map(line).collect();
    let sql = format!(
        "SELECT column1 AS Field, column2 AS Type, 'YES' AS `Null`, '' AS `Key`, NULL AS `Default`, '' AS Extra \
         FROM (VALUES {})",
        lines.join(",")
    );
    Ok(Query { sql })
}

/// 1146, as the server says it.
pub(super) fn no_table(name: &str) -> SqlError {
    let message = format!("Table '{SCHEMA}.{name}' doesn't exist");
    SqlError { code: 1146, state: *b"42S02", message }
}

#[cfg(test)]
mod tests;
