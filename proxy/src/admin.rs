//! What an administrator may ask through an ordinary MySQL connection: `SHOW SHUNTYARD …`, the tables of the schema
//! `shuntyard`, `SHUNTYARD …` commands.
//!
//! [`parse`] decides whether a statement is one of ours; [`execute`] answers those that read. Reading is done by an
//! in-memory SQLite database that is filled with the rows of the moment and thrown away, so that WHERE, ORDER BY, GROUP
//! BY, joins and LIMIT mean what everybody expects and none of it is written here a second time. Adding a table is one
//! file in `tables/` and one line in its registry.

mod admins;
mod evaluate;
mod source;
mod statement;
mod tables;
mod translate;

pub(crate) use admins::{Admins, Pattern, wildcard};
pub(crate) use evaluate::{Answer, Kind, execute};
pub(crate) use source::{BackendRow, RuleRow, Source};
pub(crate) use statement::{Statement, Switch, parse};
pub(crate) use tables::{Cell, Column, TABLES, Table};

use wire::SqlError;

/// The schema whose tables are answered here. Applications must not have one of that name.
pub(crate) const SCHEMA: &str = "shuntyard";

/// The answer to an admin statement from somebody who is no admin: 1227, as for any missing privilege.
#[must_use]
pub(crate) fn not_an_admin() -> SqlError {
    SqlError {
        code: 1227,
        state: *b"42000",
        message: "Access denied; this needs an account listed under `admins` in Shuntyard's configuration"
            .into(),
    }
}

/// 1064, as the server answers what it cannot read.
fn syntax(message: impl Into<String>) -> SqlError {
    SqlError { code: 1064, state: *b"42000", message: message.into() }
}

#[cfg(test)]
pub(crate) mod tests;
