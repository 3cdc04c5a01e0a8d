//! The only file that names `sqlparser`: a text becomes a tree with MySQL's own precedence, beside its units.

mod check;
mod dialect;
mod items;
mod layout;
mod tokens;
mod words;

pub(crate) use words::TOUCHING;

use std::ops::Range;

use thiserror::Error;

use crate::digest::{Marks, OwnedScan, Scanner, Unit, UnitKind};
use crate::flavor::{CharsetClass, Flavor, SqlMode};
use crate::verb::Verb;
use layout::Layout;

/// The tree's types. Spans in them are not lines and columns but units: see [`Statement::unit_range_of`].
pub mod ast {
    pub use sqlparser::ast::*;
    pub use sqlparser::tokenizer::Span;
}

/// What the files of this folder use of the library.
mod engine {
    pub(super) use sqlparser::dialect::{Dialect, MySqlDialect, Precedence};
    pub(super) use sqlparser::keywords::{Keyword as Word, RESERVED_FOR_TABLE_ALIAS};
    pub(super) use sqlparser::parser::{Parser, ParserError};
    pub(super) use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan, Word as WordToken};
}

/// Parentheses nested deeper than this are not parsed.
pub const MAX_DEPTH: u32 = 64;
/// Statements with more operators than this are not parsed: chains make trees as deep as they are long.
pub const MAX_OPERATORS: usize = 1000;
/// Statements with more units than this are not parsed. Lists of literals count as one.
pub const MAX_TREE_UNITS: usize = 20_000;

/// Why a text has no tree. The statement is then forwarded as it is.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ParseError {
    /// The character set may hide ASCII bytes in characters, or `sql_mode` changes the grammar (MariaDB's ORACLE).
    #[error("the session's character set or sql_mode is not covered")]
    Session,
    /// Executable comments, unlexable text, or more than `MAX_UNITS` units.
    #[error("the text holds what is not looked into: {0:?}")]
    Opaque(Marks),
    /// More than one statement.
    #[error("the text holds several statements")]
    Multi,
    /// A kind of statement that has no tree here.
    #[error("statements of this kind are not parsed")]
    Verb(Verb),
    /// Nested deeper than [`MAX_DEPTH`], or beyond the other bounds.
    #[error("the statement is too large or too deep")]
    Bounds,
    /// Not understood.
    #[error("{0}")]
    Syntax(String),
    /// Understood by the library, but not known to mean the same to the servers.
    #[error("{0} is not covered")]
    NotCovered(&'static str),
}

/// A parsed statement: the tree for meaning, the units for positions.
#[derive(Clone, Debug)]
pub struct Statement {
    text: String,
    flavor: Flavor,
    scan: OwnedScan,
    tree: ast::Statement,
    layout: Layout,
}

/// Parses a text of one SELECT, INSERT, REPLACE, UPDATE or DELETE.
///
/// In the tree string values are decoded (escapes and doubled quotes gone), adjacent strings are one, `||` is `Or` or
/// `StringConcat` as `sql_mode` says, `DIV` and `SOUNDS LIKE` are [`ast::BinaryOperator::Custom`], user and system
/// variables are identifiers that begin with `@`, hints are left out, and a collapsed list or run of rows appears with
/// one item for each kind of literal and one row for each run: **what the digest does not tell apart must not decide**.
pub fn parse(text: &str, flavor: Flavor) -> Result<Statement, ParseError> {
    if flavor.charset == CharsetClass::Unsafe || flavor.mode.contains(SqlMode::ORACLE) {
        return Err(ParseError::Session);
    }
    let scan = Scanner::new().scan(text.as_bytes(), flavor).to_owned();
    let opaque = scan.marks & Marks::OPAQUE;
    if !opaque.is_empty() {
        return Err(ParseError::Opaque(opaque));
    }
    if scan.marks.intersects(Marks::MULTI | Marks::COMPOUND) {
        return Err(ParseError::Multi);
    }
    match scan.verb {
        Verb::Select | Verb::Insert | Verb::Replace | Verb::Update | Verb::Delete => {}
        verb => return Err(ParseError::Verb(verb)),
    }
    if scan.units.len() > MAX_TREE_UNITS {
        return Err(ParseError::Bounds);
    }
    let layout =
        Layout::of(&scan.units).ok_or(ParseError::Syntax("the parentheses do not match".to_owned()))?;
    if layout.deepest() > MAX_DEPTH {
        return Err(ParseError::Bounds);
    }
    let tokens = tokens::tokens(text, &scan.units, flavor)?;
    let dialect = dialect::MySql::new(flavor);
    let mut parser = engine::Parser::new(&dialect)
        .with_recursion_limit(MAX_DEPTH as usize * 4)
        .with_tokens_with_locations(tokens);
    let tree = parser.parse_statement().map_err(syntax)?;
    if parser.peek_token_ref().token != engine::Token::EOF {
        return Err(ParseError::Syntax(format!("not understood from {} on", parser.peek_token_ref().token)));
    }
    check::covered(&tree)?;
    Ok(Statement { text: text.to_owned(), flavor, scan, tree, layout })
}

fn syntax(error: engine::ParserError) -> ParseError {
    match error {
        engine::ParserError::RecursionLimitExceeded => ParseError::Bounds,
        engine::ParserError::TokenizerError(text) | engine::ParserError::ParserError(text) => {
            ParseError::Syntax(text)
        }
    }
}

impl Statement {
    /// The original text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What the text was read under.
    pub fn flavor(&self) -> Flavor {
        self.flavor
    }

    /// Digest, verb, marks, units, slots.
    pub fn scan(&self) -> &OwnedScan {
        &self.scan
    }

    /// The units, in order.
    pub fn units(&self) -> &[Unit] {
        &self.scan.units
    }

    /// The tree.
    pub fn tree(&self) -> &ast::Statement {
        &self.tree
    }

    /// The tree of a SELECT.
    pub fn query(&self) -> Option<&ast::Query> {
        match &self.tree {
            ast::Statement::Query(query) => Some(query),
            _ => None,
        }
    }

    /// The units that a node of the tree was made of. Parentheses around the node may be missing from the range, and
    /// trailing words of some nodes as well (ASC, modifiers): ask the units for those.
    pub fn unit_range_of(&self, node: &impl ast::Spanned) -> Option<Range<u32>> {
        self.unit_range(node.span())
    }

    /// The units of a span; `None` for nodes that the library gives no position.
    pub fn unit_range(&self, span: ast::Span) -> Option<Range<u32>> {
        let start = u32::try_from(span.start.column).ok()?.checked_sub(1)?;
        let end = u32::try_from(span.end.column).ok()?.checked_sub(1)?;
        (start < end && end as usize <= self.scan.units.len()).then_some(start..end)
    }

    /// The original text of a range of units.
    pub fn source(&self, range: Range<u32>) -> &str {
        let units = self.scan.units.get(range.start as usize..range.end as usize).unwrap_or_default();
        match (units.first(), units.last()) {
            (Some(first), Some(last)) => {
                self.text.get(first.start as usize..last.end as usize).unwrap_or_default()
            }
            _ => "",
        }
    }

    /// The slot of an expression that is one literal and nothing else.
    pub fn slot_of(&self, expr: &ast::Expr) -> Option<u32> {
        let ast::Expr::Value(value) = expr else {
            return None;
        };
        let range = self.unit_range(value.span)?;
        if range.end - range.start != 1 {
            return None;
        }
        match self.scan.units.get(range.start as usize)?.kind {
            UnitKind::Literal { slot, .. } => slot,
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
