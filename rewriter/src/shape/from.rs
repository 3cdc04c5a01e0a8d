//! The tables of a FROM and how they are joined.

use std::ops::Range;

use sql::{Keyword, UnitKind};

use super::expr::Reference;
use super::{Odd, Source, is_identifier};

/// One table of a FROM.
#[derive(Clone, Debug)]
pub(crate) struct Factor {
    /// What it is.
    pub(crate) kind: FactorKind,
    /// The unit of its alias.
    pub(crate) alias: Option<u32>,
    /// How it is joined to those before it.
    pub(crate) join: JoinKind,
    /// All units of the factor with its alias and hints, without its ON.
    pub(crate) range: Range<u32>,
    /// The expression after ON.
    pub(crate) on: Option<Range<u32>>,
}

/// What a factor is.
#[derive(Clone, Debug)]
pub(crate) enum FactorKind {
    /// `t`, `s.t`
    Table(Reference),
    /// `(SELECT …)`: from the opening parenthesis to the closing one.
    Derived(Range<u32>),
}

/// How a factor is joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JoinKind {
    /// The first one.
    First,
    /// `,`, JOIN, INNER JOIN, CROSS JOIN, STRAIGHT_JOIN
    Inner,
    /// LEFT JOIN
    Left,
    /// RIGHT JOIN
    Right,
}

/// Reads the units after FROM. NATURAL, USING, PARTITION and nested joins are odd.
pub(crate) fn read(source: &Source<'_>, range: &Range<u32>) -> Result<Vec<Factor>, Odd> {
    let mut reader = Reader { source, at: range.start, end: range.end };
    let mut factors = vec![reader.factor(JoinKind::First)?];
    while reader.at < reader.end {
        let join = reader.join()?;
        let mut factor = reader.factor(join)?;
        factor.on = reader.condition()?;
        factors.push(factor);
    }
    Ok(factors)
}

struct Reader<'a, 's> {
    source: &'a Source<'s>,
    at: u32,
    end: u32,
}

impl Reader<'_, '_> {
    fn odd(&self) -> Odd {
        let end = (self.at + 1).min(self.end);
        Odd(format!("`{}` in FROM", self.source.show(&(self.at..end))))
    }

    fn take(&mut self, keyword: Keyword) -> bool {
        let found = self.at < self.end && self.source.is(self.at, keyword);
        self.at += u32::from(found);
        found
    }

    fn join(&mut self) -> Result<JoinKind, Odd> {
        if self.source.is_punct(self.at, b',') {
            self.at += 1;
            return Ok(JoinKind::Inner);
        }
        let kind = if self.take(Keyword::Left) {
            self.take(Keyword::Outer);
            JoinKind::Left
        } else if self.take(Keyword::Right) {
            self.take(Keyword::Outer);
            JoinKind::Right
        } else if self.take(Keyword::StraightJoin) {
            return Ok(JoinKind::Inner);
        } else {
            let _ = self.take(Keyword::Inner) || self.take(Keyword::Cross);
            JoinKind::Inner
        };
        if self.take(Keyword::Join) { Ok(kind) } else { Err(self.odd()) }
    }

    fn factor(&mut self, join: JoinKind) -> Result<Factor, Odd> {
        let start = self.at;
        let kind = if self.source.is_punct(start, b'(') {
            if !self.source.is(start + 1, Keyword::Select) {
                return Err(self.odd());
            }
            let after = self.source.after_parenthesis(start).filter(|after| *after <= self.end);
            let after = after.ok_or_else(|| self.odd())?;
            self.at = after;
            FactorKind::Derived(start..after)
        } else {
            let reference = Reference::at(self.source, start, self.end).filter(|r| r.parts.len() <= 2);
            let reference = reference.ok_or_else(|| self.odd())?;
            self.at = reference.range().end;
            FactorKind::Table(reference)
        };
        let explicit = self.take(Keyword::As);
        let mut alias = None;
        if self.at < self.end && is_identifier(self.source.kind(self.at)) {
            alias = Some(self.at);
            self.at += 1;
        } else if explicit {
            return Err(self.odd());
        }
        while self.at < self.end
            && matches!(
                self.source.kind(self.at),
                Some(UnitKind::Keyword(Keyword::Use | Keyword::Force | Keyword::Ignore))
            )
        {
            self.at += 1;
            if !(self.take(Keyword::Index) || self.take(Keyword::Key)) {
                return Err(self.odd());
            }
            if !self.source.is_punct(self.at, b'(') {
                return Err(self.odd());
            }
            let after = self.source.after_parenthesis(self.at).filter(|after| *after <= self.end);
            self.at = after.ok_or_else(|| self.odd())?;
        }
        if self.at < self.end && self.source.is_punct(self.at, b'(') {
            return Err(self.odd());
        }
        Ok(Factor { kind, alias, join, range: start..self.at, on: None })
    }

    /// The expression after ON, where there is one.
    fn condition(&mut self) -> Result<Option<Range<u32>>, Odd> {
        if !self.take(Keyword::On) {
            return Ok(None);
        }
        let start = self.at;
        while self.at < self.end {
            match self.source.kind(self.at) {
                Some(UnitKind::Punct(b'(')) => {
                    let after = self.source.after_parenthesis(self.at).filter(|after| *after <= self.end);
                    self.at = after.ok_or_else(|| self.odd())?;
                    continue;
                }
                Some(UnitKind::Punct(b',')) => break,
                Some(UnitKind::Keyword(
                    Keyword::Join | Keyword::Inner | Keyword::Cross | Keyword::StraightJoin,
                )) => break,
                Some(UnitKind::Keyword(Keyword::Left | Keyword::Right))
                    if !self.source.is_punct(self.at + 1, b'(') =>
                {
                    break;
                }
                Some(UnitKind::Keyword(Keyword::Natural | Keyword::Using | Keyword::On)) => {
                    return Err(self.odd());
                }
                _ => {}
            }
            self.at += 1;
        }
        if self.at == start { Err(self.odd()) } else { Ok(Some(start..self.at)) }
    }
}
