//! Walks the units of an expression: references to columns, calls, subqueries.

use std::ops::Range;

use sql::{Keyword, UnitKind};

use super::{Source, is_identifier, name};

/// A possibly qualified name: the units of its parts, the column (or table, before `.*`) last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    /// One to three units.
    pub(crate) parts: Vec<u32>,
}

/// Words that look like columns and are calls without parentheses.
const NILADIC: [&str; 6] = ["CURRENT_ROLE", "ROWNUM", "SYSDATE", "SESSION_USER", "SYSTEM_USER", "LOCALTIME"];

impl Reference {
    /// A reference that is the whole of `range`.
    pub(crate) fn read(source: &Source<'_>, range: &Range<u32>) -> Option<Reference> {
        let reference = Reference::at(source, range.start, range.end)?;
        (reference.range().end == range.end).then_some(reference)
    }

    /// The longest reference that begins at `start`.
    pub(crate) fn at(source: &Source<'_>, start: u32, end: u32) -> Option<Reference> {
        if start >= end || !is_identifier(source.kind(start)) {
            return None;
        }
        let mut parts = vec![start];
        let mut at = start + 1;
        while at + 1 < end && source.is_punct(at, b'.') && is_identifier(source.kind(at + 1)) {
            parts.push(at + 1);
            at += 2;
        }
        if parts.len() == 1 && source.kind(start) == Some(UnitKind::Word) {
            let word = name(source, start)?.to_ascii_uppercase();
            if NILADIC.contains(&word.as_str()) {
                return None;
            }
        }
        (parts.len() <= 3).then_some(Reference { parts })
    }

    /// The unit of the last part.
    pub(crate) fn last(&self) -> u32 {
        self.parts.last().copied().unwrap_or_default()
    }

    /// All units, dots included.
    pub(crate) fn range(&self) -> Range<u32> {
        self.parts.first().copied().unwrap_or_default()..self.last() + 1
    }

    /// The parts' names, the last one first.
    pub(crate) fn names(&self, source: &Source<'_>) -> Option<Vec<String>> {
        self.parts.iter().rev().map(|unit| name(source, *unit)).collect()
    }
}

/// What a walk meets, in order of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Met {
    /// A column.
    Column(Reference),
    /// A call: the unit of its name (its parenthesis follows).
    Call(u32),
    /// A subquery: the unit of its opening parenthesis. Its units are skipped.
    Subquery(Range<u32>),
    /// Anything else, one unit.
    Other(u32),
}

/// Walks a range. Words that follow other words directly (units of INTERVAL, character sets, types) are met as columns:
/// whoever asks must refuse a column that does not exist.
pub(crate) struct Walk<'a, 's> {
    source: &'a Source<'s>,
    at: u32,
    end: u32,
}

impl<'a, 's> Walk<'a, 's> {
    /// A walk over `range`.
    pub(crate) fn new(source: &'a Source<'s>, range: &Range<u32>) -> Walk<'a, 's> {
        Walk { source, at: range.start, end: range.end }
    }

    /// Whether a call begins at `at`: a word before a parenthesis, also a reserved one that is a function's name.
    fn call(&self, at: u32) -> bool {
        if !self.source.is_punct(at + 1, b'(') || at + 1 >= self.end {
            return false;
        }
        match self.source.kind(at) {
            Some(UnitKind::Word | UnitKind::QuotedIdent) => true,
            Some(UnitKind::Keyword(word)) => !matches!(
                word,
                Keyword::And
                    | Keyword::Or
                    | Keyword::Xor
                    | Keyword::Not
                    | Keyword::In
                    | Keyword::Exists
                    | Keyword::Between
                    | Keyword::Like
                    | Keyword::Regexp
                    | Keyword::Rlike
                    | Keyword::Is
                    | Keyword::Div
                    | Keyword::Case
                    | Keyword::When
                    | Keyword::Then
                    | Keyword::Else
                    | Keyword::Any
                    | Keyword::All
                    | Keyword::Some
                    | Keyword::Binary
                    | Keyword::Select
                    | Keyword::Distinct
                    | Keyword::On
                    | Keyword::Over
                    | Keyword::By
                    | Keyword::As
                    | Keyword::Interval
            ),
            _ => false,
        }
    }
}

impl Iterator for Walk<'_, '_> {
    type Item = Met;

    fn next(&mut self) -> Option<Met> {
        let at = self.at;
        if at >= self.end {
            return None;
        }
        if self.source.is_punct(at, b'(')
            && (self.source.is(at + 1, Keyword::Select) || self.source.is(at + 1, Keyword::With))
        {
            let after = self.source.after_parenthesis(at).unwrap_or(self.end).min(self.end);
            self.at = after;
            return Some(Met::Subquery(at..after));
        }
        if self.call(at) {
            self.at = at + 1;
            return Some(Met::Call(at));
        }
        if let Some(reference) = Reference::at(self.source, at, self.end) {
            self.at = reference.range().end;
            // `schema.function(` is a stored function.
            if self.source.is_punct(self.at, b'(') && self.at < self.end {
                return Some(Met::Call(reference.last()));
            }
            return Some(Met::Column(reference));
        }
        self.at = at + 1;
        Some(Met::Other(at))
    }
}
