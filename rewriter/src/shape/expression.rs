//! Expressions over units, with MySQL's precedence (`sql_yacc.yy` of MariaDB 10.11 and MySQL 9.7; every pair of operators
//! is compared with both servers' own reading in a test).
//!
//! What is not understood is either `Opaque`, where its end is certain, or `Odd`.

use std::ops::Range;

use sql::digest::LiteralKind;
use sql::{Keyword, Op, SqlMode, UnitKind};

use super::node::{Node, Tag};
use super::{Odd, Reference, Source, is_identifier};

const OR: u8 = 10;
const XOR: u8 = 20;
const AND: u8 = 30;
const NOT: u8 = 40;
const COMPARE: u8 = 50;
const PREDICATE: u8 = 60;
const BIT_OR: u8 = 70;
const BIT_AND: u8 = 80;
const SHIFT: u8 = 90;
const SUM: u8 = 100;
const PRODUCT: u8 = 110;
const BIT_XOR: u8 = 120;
const CONCAT: u8 = 130;
const SIGN: u8 = 140;
const BANG: u8 = 150;

/// Deeper nesting is odd.
const MAX_DEPTH: u32 = 64;

/// Reads all units of a range as one expression.
pub(crate) fn expression(
    source: &Source<'_>,
    range: &Range<u32>,
    mode: SqlMode,
    depth: u32,
) -> Result<Node, Odd> {
    let mut parser = Parser { source, at: range.start, end: range.end, mode, depth };
    let node = parser.expr(0)?;
    if parser.at < range.end {
        return Err(parser.odd());
    }
    Ok(node)
}

struct Parser<'a, 's> {
    source: &'a Source<'s>,
    at: u32,
    end: u32,
    mode: SqlMode,
    depth: u32,
}

/// An operator behind an operand.
enum Infix {
    Chain(Tag),
    Binary(Tag),
    Is,
    Negatable(Keyword, bool),
}

impl Parser<'_, '_> {
    fn odd(&self) -> Odd {
        let end = (self.at + 1).min(self.end);
        if self.at >= end {
            return Odd("an expression ends too early".to_owned());
        }
        Odd(format!("`{}` in an expression", self.source.show(&(self.at..end))))
    }

    fn kind(&self, at: u32) -> Option<UnitKind> {
        if at < self.end { self.source.kind(at) } else { None }
    }

    fn is(&self, keyword: Keyword) -> bool {
        self.kind(self.at) == Some(UnitKind::Keyword(keyword))
    }

    fn is_punct(&self, byte: u8) -> bool {
        self.kind(self.at) == Some(UnitKind::Punct(byte))
    }

    fn take(&mut self, keyword: Keyword) -> bool {
        let found = self.is(keyword);
        self.at += u32::from(found);
        found
    }

    fn list(&mut self) -> Result<Vec<Node>, Odd> {
        let mut nodes = vec![self.expr(0)?];
        while self.is_punct(b',') {
            self.at += 1;
            nodes.push(self.expr(0)?);
        }
        if self.at < self.end { Err(self.odd()) } else { Ok(nodes) }
    }

    fn expr(&mut self, least: u8) -> Result<Node, Odd> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Odd("an expression nested too deeply".to_owned()));
        }
        let mut left = self.prefix()?;
        while let Some((infix, precedence)) = self.infix() {
            if precedence <= least {
                break;
            }
            left = self.extend(left, infix, precedence)?;
        }
        self.depth -= 1;
        Ok(left)
    }

    fn infix(&self) -> Option<(Infix, u8)> {
        Some(match self.kind(self.at)? {
            UnitKind::Keyword(word) => match word {
                Keyword::Or => (Infix::Chain(Tag::Or), OR),
                Keyword::Xor => (Infix::Binary(Tag::Xor), XOR),
                Keyword::And => (Infix::Chain(Tag::And), AND),
                Keyword::Is => (Infix::Is, COMPARE),
                Keyword::Between | Keyword::In | Keyword::Like | Keyword::Regexp | Keyword::Rlike => {
                    (Infix::Negatable(word, false), PREDICATE)
                }
                Keyword::Not => match self.kind(self.at + 1)? {
                    UnitKind::Keyword(
                        word @ (Keyword::Between
                        | Keyword::In
                        | Keyword::Like
                        | Keyword::Regexp
                        | Keyword::Rlike),
                    ) => (Infix::Negatable(word, true), PREDICATE),
                    _ => return None,
                },
                Keyword::Div => (Infix::Binary(Tag::Div), PRODUCT),
                Keyword::Mod => (Infix::Binary(Tag::Binary(Op::Percent)), PRODUCT),
                _ => return None,
            },
            UnitKind::Op(op) => match op {
                Op::OrOr if self.mode.contains(SqlMode::PIPES_AS_CONCAT) => {
                    (Infix::Binary(Tag::Concat), CONCAT)
                }
                Op::OrOr => (Infix::Chain(Tag::Or), OR),
                Op::AndAnd => (Infix::Chain(Tag::And), AND),
                Op::Eq | Op::NullSafeEq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge => {
                    (Infix::Binary(Tag::Binary(op)), COMPARE)
                }
                Op::Pipe => (Infix::Binary(Tag::Binary(op)), BIT_OR),
                Op::Amp => (Infix::Binary(Tag::Binary(op)), BIT_AND),
                Op::ShiftLeft | Op::ShiftRight => (Infix::Binary(Tag::Binary(op)), SHIFT),
                Op::Plus | Op::Minus => (Infix::Binary(Tag::Binary(op)), SUM),
                Op::Star | Op::Slash | Op::Percent => (Infix::Binary(Tag::Binary(op)), PRODUCT),
                Op::Caret => (Infix::Binary(Tag::Binary(op)), BIT_XOR),
                Op::Tilde | Op::Bang | Op::Assign | Op::Arrow | Op::LongArrow | Op::Colon => return None,
            },
            _ => return None,
        })
    }

    fn extend(&mut self, left: Node, infix: Infix, precedence: u8) -> Result<Node, Odd> {
        self.at += 1;
        let start = left.range.start;
        match infix {
            Infix::Chain(tag) => {
                let right = self.expr(precedence)?;
                let end = right.range.end;
                if left.tag == tag {
                    let mut chain = left;
                    chain.children.push(right);
                    chain.range.end = end;
                    return Ok(chain);
                }
                Ok(Node::new(tag, start..end, vec![left, right]))
            }
            Infix::Binary(tag) => {
                let additive = matches!(tag, Tag::Binary(Op::Plus | Op::Minus));
                // Nothing binds to an interval: `a + INTERVAL 1 DAY * 2` is `(a + INTERVAL 1 DAY) * 2`.
                let right = if additive && self.is(Keyword::Interval) {
                    self.interval()?
                } else if matches!(tag, Tag::Binary(Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge))
                    && matches!(
                        self.kind(self.at),
                        Some(UnitKind::Keyword(Keyword::Any | Keyword::All | Keyword::Some))
                    )
                {
                    self.at += 1;
                    let range = self.parenthesis()?;
                    return Ok(Node::leaf(Tag::Opaque, start..range.end));
                } else {
                    self.expr(precedence)?
                };
                Ok(Node::new(tag, start..right.range.end, vec![left, right]))
            }
            Infix::Is => {
                let negated = self.take(Keyword::Not);
                let Some(UnitKind::Keyword(
                    what @ (Keyword::Null | Keyword::True | Keyword::False | Keyword::Unknown),
                )) = self.kind(self.at)
                else {
                    return Err(self.odd());
                };
                self.at += 1;
                Ok(Node::new(Tag::Is { what, negated }, start..self.at, vec![left]))
            }
            Infix::Negatable(word, negated) => {
                // `a LIKE b NOT LIKE c` is read otherwise by each product.
                if negated && matches!(left.tag, Tag::Like { .. } | Tag::Regexp { .. }) {
                    return Err(self.odd());
                }
                self.at += u32::from(negated);
                self.predicate(left, word, negated)
            }
        }
    }

    fn predicate(&mut self, left: Node, word: Keyword, negated: bool) -> Result<Node, Odd> {
        let start = left.range.start;
        match word {
            Keyword::Between => {
                let low = self.expr(PREDICATE)?;
                if !self.take(Keyword::And) {
                    return Err(self.odd());
                }
                // The upper bound is a predicate itself: `a BETWEEN b AND c LIKE d`.
                let high = self.expr(PREDICATE - 1)?;
                Ok(Node::new(Tag::Between { negated }, start..high.range.end, vec![left, low, high]))
            }
            Keyword::In => {
                if matches!(self.kind(self.at), Some(UnitKind::List(_))) {
                    let list = Node::leaf(Tag::List, self.at..self.at + 1);
                    self.at += 1;
                    return Ok(Node::new(Tag::In { negated }, start..self.at, vec![left, list]));
                }
                let range = self.parenthesis()?;
                let mut children = vec![left];
                if self.is_query(range.start + 1) {
                    children.push(self.subquery(&range)?);
                } else {
                    children.extend(self.nested(range.start + 1..range.end - 1)?.list()?);
                }
                Ok(Node::new(Tag::In { negated }, start..range.end, children))
            }
            Keyword::Like => {
                let pattern = self.expr(PREDICATE)?;
                let mut children = vec![left, pattern];
                if self.take(Keyword::Escape) {
                    children.push(self.expr(PREDICATE)?);
                }
                Ok(Node::new(Tag::Like { negated }, start..self.at, children))
            }
            _ => {
                let pattern = self.expr(PREDICATE)?;
                Ok(Node::new(Tag::Regexp { negated }, start..pattern.range.end, vec![left, pattern]))
            }
        }
    }

    fn nested(&self, range: Range<u32>) -> Result<Parser<'_, '_>, Odd> {
        if self.depth >= MAX_DEPTH {
            return Err(Odd("an expression nested too deeply".to_owned()));
        }
        Ok(Parser {
            source: self.source,
            at: range.start,
            end: range.end,
            mode: self.mode,
            depth: self.depth + 1,
        })
    }

    /// The parenthesis that opens here, with both of its units; the parser stands behind it.
    fn parenthesis(&mut self) -> Result<Range<u32>, Odd> {
        if !self.is_punct(b'(') {
            return Err(self.odd());
        }
        let after = self.source.after_parenthesis(self.at).filter(|after| *after <= self.end);
        let after = after.ok_or_else(|| self.odd())?;
        let range = self.at..after;
        self.at = after;
        Ok(range)
    }

    fn is_query(&self, at: u32) -> bool {
        matches!(self.kind(at), Some(UnitKind::Keyword(Keyword::Select | Keyword::With)))
    }

    /// A query in parentheses: looked into where its shape is plain.
    fn subquery(&self, range: &Range<u32>) -> Result<Node, Odd> {
        if self.depth >= MAX_DEPTH {
            return Err(Odd("an expression nested too deeply".to_owned()));
        }
        let inner = range.start + 1..range.end - 1;
        let query = super::statement::query_at(self.source, inner.start, self.mode, self.depth + 1);
        let children = query.into_iter().filter(|query| query.range.end == inner.end).collect();
        Ok(Node::new(Tag::Subquery, range.clone(), children))
    }

    fn unary(&mut self, tag: Tag, precedence: u8) -> Result<Node, Odd> {
        let start = self.at;
        self.at += 1;
        let operand = self.expr(precedence)?;
        Ok(Node::new(tag, start..operand.range.end, vec![operand]))
    }

    fn prefix(&mut self) -> Result<Node, Odd> {
        let mut node = self.primary()?;
        // COLLATE binds closest of all, but to what a sign stands before as well: those are not looked into.
        while self.is(Keyword::Collate) {
            if !is_identifier(self.kind(self.at + 1))
                && !matches!(self.kind(self.at + 1), Some(UnitKind::Keyword(Keyword::Binary)))
            {
                return Err(self.odd());
            }
            self.at += 2;
            node = Node::leaf(Tag::Opaque, node.range.start..self.at);
        }
        Ok(node)
    }

    fn primary(&mut self) -> Result<Node, Odd> {
        let start = self.at;
        let kind = self.kind(start).ok_or_else(|| self.odd())?;
        match kind {
            UnitKind::Op(op @ (Op::Minus | Op::Plus | Op::Tilde)) => self.unary(Tag::Unary(op), SIGN),
            UnitKind::Op(Op::Bang) => self.unary(Tag::Not, BANG),
            UnitKind::Op(Op::Star) => {
                self.at += 1;
                Ok(Node::leaf(Tag::Star, start..self.at))
            }
            UnitKind::Literal { kind, .. } => {
                self.at += 1;
                let string = matches!(kind, LiteralKind::String | LiteralKind::NString);
                // Adjacent strings are one.
                let mut adjacent = false;
                while string
                    && matches!(self.kind(self.at), Some(UnitKind::Literal { kind: LiteralKind::String, .. }))
                {
                    self.at += 1;
                    adjacent = true;
                }
                let tag = if adjacent { Tag::Opaque } else { Tag::Literal };
                Ok(Node::leaf(tag, start..self.at))
            }
            UnitKind::Introducer => {
                self.at += 1;
                if !matches!(self.kind(self.at), Some(UnitKind::Literal { .. })) {
                    return Err(self.odd());
                }
                self.at += 1;
                Ok(Node::leaf(Tag::Opaque, start..self.at))
            }
            UnitKind::Punct(b'(') => {
                let range = self.parenthesis()?;
                if self.is_query(range.start + 1) {
                    return self.subquery(&range);
                }
                let mut inner = self.nested(range.start + 1..range.end - 1)?.list()?;
                let tag = if inner.len() > 1 { Tag::Row } else { Tag::Paren };
                Ok(Node::new(tag, range, std::mem::take(&mut inner)))
            }
            // A list of literals that is not behind IN is a row constructor in odd company.
            UnitKind::Keyword(word) => self.word(word),
            UnitKind::Word | UnitKind::QuotedIdent => self.name(),
            _ => Err(self.odd()),
        }
    }

    fn word(&mut self, word: Keyword) -> Result<Node, Odd> {
        let start = self.at;
        let called = self.kind(start + 1) == Some(UnitKind::Punct(b'('));
        match word {
            Keyword::Not if self.mode.contains(SqlMode::HIGH_NOT_PRECEDENCE) => self.unary(Tag::Not, BANG),
            Keyword::Not => self.unary(Tag::Not, NOT),
            Keyword::Binary => {
                self.at += 1;
                let operand = self.expr(BANG)?;
                Ok(Node::leaf(Tag::Opaque, start..operand.range.end))
            }
            Keyword::Null | Keyword::True | Keyword::False | Keyword::Default if !called => {
                self.at += 1;
                Ok(Node::leaf(Tag::Word(word), start..self.at))
            }
            Keyword::Exists => {
                self.at += 1;
                let range = self.parenthesis()?;
                if !self.is_query(range.start + 1) {
                    return Err(self.odd());
                }
                let query = self.subquery(&range)?;
                Ok(Node::new(Tag::Exists, start..range.end, vec![query]))
            }
            Keyword::Case => self.case(),
            // An interval in front: MariaDB reads `INTERVAL 1 DAY + a = b` otherwise than MySQL; INTERVAL(…) is a function.
            Keyword::Interval => Err(self.odd()),
            Keyword::Row if called => {
                self.at += 1;
                let range = self.parenthesis()?;
                let inner = self.nested(range.start + 1..range.end - 1)?.list()?;
                Ok(Node::new(Tag::Row, start..range.end, inner))
            }
            _ if called && !word.reserved() => self.call(start),
            Keyword::If
            | Keyword::Left
            | Keyword::Right
            | Keyword::Replace
            | Keyword::Mod
            | Keyword::Insert
            | Keyword::Repeat
            | Keyword::Char
            | Keyword::Convert
            | Keyword::Match
            | Keyword::Values
            | Keyword::CurrentDate
            | Keyword::CurrentTime
            | Keyword::CurrentTimestamp
            | Keyword::CurrentUser
            | Keyword::Localtime
            | Keyword::Localtimestamp
            | Keyword::UtcDate
            | Keyword::UtcTime
            | Keyword::UtcTimestamp
                if called =>
            {
                self.call(start)
            }
            Keyword::CurrentDate
            | Keyword::CurrentTime
            | Keyword::CurrentTimestamp
            | Keyword::CurrentUser
            | Keyword::Localtime
            | Keyword::Localtimestamp
            | Keyword::UtcDate
            | Keyword::UtcTime
            | Keyword::UtcTimestamp => {
                self.at += 1;
                let name = word.text().to_owned();
                Ok(Node::leaf(Tag::Call { name, distinct: false }, start..self.at))
            }
            _ if !word.reserved() => self.name(),
            _ => Err(self.odd()),
        }
    }

    /// A column, a call, or a typed literal (`DATE '2020-01-01'`).
    fn name(&mut self) -> Result<Node, Odd> {
        let start = self.at;
        if self.kind(start + 1) == Some(UnitKind::Punct(b'(')) {
            return self.call(start);
        }
        if matches!(self.kind(start + 1), Some(UnitKind::Literal { .. })) {
            // DATE'…', TIME'…', TIMESTAMP'…'; any other word before a literal is not understood.
            let word = String::from_utf8_lossy(self.source.bytes(start)).to_ascii_uppercase();
            if matches!(word.as_str(), "DATE" | "TIME" | "TIMESTAMP") {
                self.at += 2;
                return Ok(Node::leaf(Tag::Opaque, start..self.at));
            }
            return Err(self.odd());
        }
        let mut last = start;
        let mut parts = 1;
        while self.kind(last + 1) == Some(UnitKind::Punct(b'.')) {
            match self.kind(last + 2) {
                Some(UnitKind::Op(Op::Star)) => {
                    self.at = last + 3;
                    return Ok(Node::leaf(Tag::QualifiedStar, start..self.at));
                }
                kind if is_identifier(kind) || matches!(kind, Some(UnitKind::Keyword(_))) => last += 2,
                _ => return Err(self.odd()),
            }
            parts += 1;
        }
        self.at = last + 1;
        if parts > 1 && self.kind(self.at) == Some(UnitKind::Punct(b'(')) {
            // `schema.function(…)`
            let range = self.parenthesis()?;
            return Ok(Node::leaf(Tag::Opaque, start..range.end));
        }
        if Reference::read(self.source, &(start..self.at)).is_none() {
            return Ok(Node::leaf(Tag::Opaque, start..self.at));
        }
        if matches!(self.kind(self.at), Some(UnitKind::Op(Op::Arrow | Op::LongArrow))) {
            self.at += 2;
            return Ok(Node::leaf(Tag::Opaque, start..self.at.min(self.end)));
        }
        Ok(Node::leaf(Tag::Column, start..self.at))
    }

    fn call(&mut self, start: u32) -> Result<Node, Odd> {
        let quoted = self.kind(start) == Some(UnitKind::QuotedIdent);
        let name = String::from_utf8_lossy(self.source.bytes(start)).to_ascii_uppercase();
        self.at = start + 1;
        let range = self.parenthesis()?;
        let inner = range.start + 1..range.end - 1;
        let over = matches!(self.kind(self.at), Some(UnitKind::Keyword(Keyword::Over)));
        if over {
            self.at += 1;
            if self.is_punct(b'(') {
                self.parenthesis()?;
            } else if is_identifier(self.kind(self.at)) {
                self.at += 1;
            } else {
                return Err(self.odd());
            }
        }
        // MATCH (…) AGAINST (…)
        if name == "MATCH" {
            let against = String::from_utf8_lossy(self.source.bytes(self.at)).to_ascii_uppercase();
            if against != "AGAINST" {
                return Err(self.odd());
            }
            self.at += 1;
            self.parenthesis()?;
        }
        let opaque = Node::leaf(Tag::Opaque, start..self.at);
        if over || quoted || name == "MATCH" || name == "CONVERT" || name == "VALUES" {
            return Ok(opaque);
        }
        if inner.is_empty() {
            return Ok(Node::leaf(Tag::Call { name, distinct: false }, start..self.at));
        }
        let distinct = self.source.is(inner.start, Keyword::Distinct);
        // Arguments with words of their own (CAST, TRIM, GROUP_CONCAT …) are not looked into.
        match self.nested(inner.start + u32::from(distinct)..inner.end)?.list() {
            Ok(arguments) => Ok(Node::new(Tag::Call { name, distinct }, start..self.at, arguments)),
            Err(_) if self.is_query(inner.start) => Err(self.odd()),
            Err(_) => Ok(opaque),
        }
    }

    fn case(&mut self) -> Result<Node, Odd> {
        let start = self.at;
        let mut open = 0_u32;
        while self.at < self.end {
            match self.kind(self.at) {
                Some(UnitKind::Keyword(Keyword::Case)) => open += 1,
                Some(UnitKind::Keyword(Keyword::End))
                    if !self.source.is_punct(self.at.saturating_sub(1), b'.') =>
                {
                    open -= 1;
                    if open == 0 {
                        self.at += 1;
                        return Ok(Node::leaf(Tag::Opaque, start..self.at));
                    }
                }
                _ => {}
            }
            self.at += 1;
        }
        Err(self.odd())
    }

    fn interval(&mut self) -> Result<Node, Odd> {
        let start = self.at;
        self.at += 1;
        let value = self.expr(0)?;
        if !is_identifier(self.kind(self.at)) && !matches!(self.kind(self.at), Some(UnitKind::Keyword(_))) {
            return Err(self.odd());
        }
        let unit = String::from_utf8_lossy(self.source.bytes(self.at)).to_ascii_uppercase();
        self.at += 1;
        Ok(Node::new(Tag::Interval(unit), start..self.at, vec![value]))
    }
}

#[cfg(test)]
mod tests;
