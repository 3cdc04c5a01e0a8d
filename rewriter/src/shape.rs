//! The shape of a query over its units: which units are a select list, a FROM, a branch of a UNION.
//!
//! The tree says what a statement means but not where its parts stand; splices need the places. So the shape is read from
//! the units themselves, for queries alone, and everything that is not plainly one of the forms below is `Odd`: a
//! statement with an odd shape is never rewritten. The engine asks the tree as a second witness.
//!
//! Clause words are found at the depth of their query only. They are reserved on both products, so at that depth they
//! cannot be names; the exceptions (`INDEX FOR ORDER BY`, `WINDOW`, `OFFSET … FETCH`) are odd.

mod expr;
mod expression;
pub(crate) mod from;
mod names;
pub(crate) mod node;
pub(crate) mod statement;

pub(crate) use expr::{Met, Reference, Walk};
pub(crate) use expression::expression;
pub(crate) use from::{Factor, FactorKind, JoinKind};
pub(crate) use names::{is_identifier, name, names_equal};

use std::ops::Range;

use sql::digest::LiteralKind;
use sql::{Keyword, Op, Unit, UnitKind};

/// Units and the text that they stand in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'s> {
    pub(crate) text: &'s [u8],
    pub(crate) units: &'s [Unit],
}

impl<'s> Source<'s> {
    pub(crate) fn kind(&self, at: u32) -> Option<UnitKind> {
        self.units.get(at as usize).map(|unit| unit.kind)
    }

    pub(crate) fn bytes(&self, at: u32) -> &'s [u8] {
        self.units.get(at as usize).map(|unit| unit.of(self.text)).unwrap_or_default()
    }

    pub(crate) fn is(&self, at: u32, keyword: Keyword) -> bool {
        self.kind(at) == Some(UnitKind::Keyword(keyword))
    }

    pub(crate) fn is_punct(&self, at: u32, byte: u8) -> bool {
        self.kind(at) == Some(UnitKind::Punct(byte))
    }

    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.units.len()).unwrap_or(u32::MAX)
    }

    /// The text of a range, for messages.
    pub(crate) fn show(&self, range: &Range<u32>) -> String {
        let text = self.whole(range);
        let short: String = text.chars().take(60).collect();
        if short.len() < text.len() { format!("{short}…") } else { short }
    }

    /// The text of a range.
    pub(crate) fn whole(&self, range: &Range<u32>) -> String {
        let start = self.units.get(range.start as usize).map(|unit| unit.start as usize);
        let end = self.units.get((range.end as usize).saturating_sub(1)).map(|unit| unit.end as usize);
        let bytes = match (start, end) {
            (Some(start), Some(end)) => self.text.get(start..end).unwrap_or_default(),
            _ => &[],
        };
        String::from_utf8_lossy(bytes).into_owned()
    }

    /// The unit after the parenthesis that opens at `open`.
    pub(crate) fn after_parenthesis(&self, open: u32) -> Option<u32> {
        let mut depth = 0_u32;
        for at in open..self.len() {
            if self.is_punct(at, b'(') {
                depth += 1;
            } else if self.is_punct(at, b')') {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
        }
        None
    }
}

/// Why a text has no plain shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Odd(pub(crate) String);

/// A query: blocks joined by set operations, then ORDER BY and LIMIT of the whole.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    /// Units of the query, without parentheses around it.
    pub(crate) range: Range<u32>,
    /// The first operand.
    pub(crate) first: Term,
    /// The others, each with the operation before it.
    pub(crate) rest: Vec<(SetOp, Term)>,
    /// ORDER BY of the whole.
    pub(crate) order: Option<Order>,
    /// LIMIT of the whole.
    pub(crate) limit: Option<Limit>,
}

/// How an operand is combined with those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SetOp {
    /// UNION ALL.
    UnionAll,
    /// UNION, EXCEPT, INTERSECT: with or without ALL or DISTINCT.
    Other,
}

/// One operand.
#[derive(Clone, Debug)]
pub(crate) enum Term {
    /// SELECT …
    Block(Block),
    /// ( query )
    Nested(Box<Query>),
}

/// SELECT … FROM … WHERE …, up to the end or to what belongs to the query around it.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// From SELECT to the last unit of its last clause.
    pub(crate) range: Range<u32>,
    /// ALL, DISTINCT, STRAIGHT_JOIN, SQL_… between SELECT and the list.
    pub(crate) modifiers: Vec<Keyword>,
    /// The select list.
    pub(crate) items: Vec<Item>,
    /// What stands after FROM.
    pub(crate) from: Option<Range<u32>>,
    /// The condition after WHERE.
    pub(crate) condition: Option<Range<u32>>,
    /// The keys after GROUP BY.
    pub(crate) group: Vec<Range<u32>>,
    /// WITH ROLLUP
    pub(crate) rollup: bool,
    /// The condition after HAVING.
    pub(crate) having: Option<Range<u32>>,
}

impl Block {
    /// Whether GROUP BY or HAVING is there.
    pub(crate) fn grouped(&self) -> bool {
        !self.group.is_empty() || self.having.is_some()
    }

    /// The units of the whole select list.
    pub(crate) fn list(&self) -> Range<u32> {
        let start = self.items.first().map_or(self.range.end, |item| item.range.start);
        let end = self.items.last().map_or(start, |item| item.range.end);
        start..end
    }
}

/// One item of a select list.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    /// The whole item.
    pub(crate) range: Range<u32>,
    /// The expression without its alias.
    pub(crate) value: Range<u32>,
    /// The unit of the alias.
    pub(crate) alias: Option<u32>,
    /// What kind of expression it is.
    pub(crate) kind: ItemKind,
}

/// What an item of a select list is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ItemKind {
    /// `*`
    Star,
    /// `t.*`, `s.t.*`
    QualifiedStar(Reference),
    /// `c`, `t.c`, `s.t.c`
    Column(Reference),
    /// One literal, with or without a sign; NULL is not among them.
    Literal,
    /// NULL
    Null,
    /// Anything else.
    Expression,
}

/// ORDER BY.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// Its keys.
    pub(crate) keys: Vec<OrderKey>,
}

/// One key of ORDER BY.
#[derive(Clone, Debug)]
pub(crate) struct OrderKey {
    /// All of its units.
    pub(crate) range: Range<u32>,
    /// The expression without its direction.
    pub(crate) value: Range<u32>,
    /// Whether DESC stands behind it.
    pub(crate) descending: bool,
}

/// LIMIT with literals.
#[derive(Clone, Debug)]
pub(crate) struct Limit {
    /// The unit of the number of rows.
    pub(crate) count: u32,
    /// The unit of the number of rows to skip.
    pub(crate) offset: Option<u32>,
}

/// Reads the whole text as one query.
pub(crate) fn read(source: Source<'_>) -> Result<Query, Odd> {
    let mut reader = Reader { source, at: 0, depth: 0 };
    let query = reader.query()?;
    if reader.at < source.len() {
        return Err(reader.odd("at the end of the query"));
    }
    Ok(query)
}

/// Reads a query that begins at `start` and reaches to a closing parenthesis or the end; for subqueries.
pub(crate) fn read_at(source: Source<'_>, start: u32) -> Result<Query, Odd> {
    Reader { source, at: start, depth: 0 }.query()
}

/// Parentheses around parentheses are followed this deep.
const MAX_DEPTH: u32 = 32;

struct Reader<'s> {
    source: Source<'s>,
    at: u32,
    depth: u32,
}

impl Reader<'_> {
    fn odd(&self, place: &str) -> Odd {
        let end = (self.at + 1).min(self.source.len());
        if self.at >= end {
            return Odd(format!("the text ends {place}"));
        }
        Odd(format!("`{}` {place}", self.source.show(&(self.at..end))))
    }

    fn take(&mut self, keyword: Keyword) -> bool {
        let found = self.source.is(self.at, keyword);
        self.at += u32::from(found);
        found
    }

    fn expect(&mut self, keyword: Keyword) -> Result<(), Odd> {
        if self.take(keyword) {
            Ok(())
        } else {
            Err(self.odd(&format!("where {} is expected", keyword.text())))
        }
    }

    fn query(&mut self) -> Result<Query, Odd> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Odd("parentheses nested too deeply".to_owned()));
        }
        let start = self.at;
        let first = self.term()?;
        let mut rest = Vec::new();
        while let Some(op) = self.set_operation() {
            rest.push((op, self.term()?));
        }
        let order = self.order()?;
        let limit = self.limit()?;
        self.depth -= 1;
        if self.at < self.source.len() && !self.source.is_punct(self.at, b')') {
            return Err(self.odd("after the query"));
        }
        Ok(Query { range: start..self.at, first, rest, order, limit })
    }

    fn set_operation(&mut self) -> Option<SetOp> {
        let UnitKind::Keyword(word) = self.source.kind(self.at)? else {
            return None;
        };
        if !matches!(word, Keyword::Union | Keyword::Except | Keyword::Intersect) {
            return None;
        }
        self.at += 1;
        let all = self.take(Keyword::All);
        if !all {
            self.take(Keyword::Distinct);
        }
        Some(if word == Keyword::Union && all { SetOp::UnionAll } else { SetOp::Other })
    }

    fn term(&mut self) -> Result<Term, Odd> {
        if self.source.is_punct(self.at, b'(') {
            self.at += 1;
            let query = self.query()?;
            if !self.source.is_punct(self.at, b')') {
                return Err(self.odd("where a parenthesis should close"));
            }
            self.at += 1;
            return Ok(Term::Nested(Box::new(query)));
        }
        self.block().map(Term::Block)
    }

    fn block(&mut self) -> Result<Block, Odd> {
        let start = self.at;
        self.expect(Keyword::Select)?;
        let mut modifiers = Vec::new();
        while let Some(UnitKind::Keyword(word)) = self.source.kind(self.at) {
            let modifier = matches!(
                word,
                Keyword::All
                    | Keyword::Distinct
                    | Keyword::Distinctrow
                    | Keyword::HighPriority
                    | Keyword::StraightJoin
                    | Keyword::SqlBigResult
                    | Keyword::SqlSmallResult
                    | Keyword::SqlBufferResult
                    | Keyword::SqlCache
                    | Keyword::SqlNoCache
                    | Keyword::SqlCalcFoundRows
            );
            if !modifier {
                break;
            }
            modifiers.push(word);
            self.at += 1;
        }
        let mut items = Vec::new();
        loop {
            items.push(self.item()?);
            if !self.source.is_punct(self.at, b',') {
                break;
            }
            self.at += 1;
        }
        let from = self.take(Keyword::From).then(|| self.clause(false)).transpose()?;
        let condition = self.take(Keyword::Where).then(|| self.clause(false)).transpose()?;
        let (group, rollup) = self.group()?;
        let having = self.take(Keyword::Having).then(|| self.clause(false)).transpose()?;
        Ok(Block { range: start..self.at, modifiers, items, from, condition, group, rollup, having })
    }

    fn group(&mut self) -> Result<(Vec<Range<u32>>, bool), Odd> {
        let mut keys = Vec::new();
        if !self.take(Keyword::Group) {
            return Ok((keys, false));
        }
        self.expect(Keyword::By)?;
        loop {
            keys.push(self.clause(true)?);
            if !self.source.is_punct(self.at, b',') {
                break;
            }
            self.at += 1;
        }
        let rollup = self.take(Keyword::With);
        if rollup {
            self.expect(Keyword::Rollup)?;
        }
        Ok((keys, rollup))
    }

    fn item(&mut self) -> Result<Item, Odd> {
        let range = self.clause(true)?;
        Ok(names::item(&self.source, range))
    }

    /// Units up to the next clause word or closing parenthesis at this depth, and up to a comma if `list`.
    fn clause(&mut self, list: bool) -> Result<Range<u32>, Odd> {
        let start = self.at;
        let mut depth = 0_u32;
        while let Some(kind) = self.source.kind(self.at) {
            match kind {
                UnitKind::Punct(b'(') => depth += 1,
                UnitKind::Punct(b')') if depth == 0 => break,
                UnitKind::Punct(b')') => depth -= 1,
                UnitKind::Punct(b',') if depth == 0 && list => break,
                UnitKind::Punct(b';' | b'{' | b'}') => return Err(self.odd("in a query")),
                UnitKind::Hint | UnitKind::ExecutableComment | UnitKind::Error => {
                    return Err(self.odd("in a query"));
                }
                UnitKind::Keyword(word) if depth == 0 => match word {
                    Keyword::From
                    | Keyword::Where
                    | Keyword::Group
                    | Keyword::Having
                    | Keyword::Order
                    | Keyword::Limit
                    | Keyword::Union
                    | Keyword::Except
                    | Keyword::Intersect
                    | Keyword::With => break,
                    Keyword::Select
                    | Keyword::For
                    | Keyword::Lock
                    | Keyword::Into
                    | Keyword::Procedure
                    | Keyword::Fetch
                    | Keyword::Window
                    | Keyword::Lateral => return Err(self.odd("in a query")),
                    _ => {}
                },
                _ => {}
            }
            self.at += 1;
        }
        if depth > 0 {
            return Err(self.odd("inside a parenthesis"));
        }
        if self.at == start {
            return Err(self.odd("where a clause should have content"));
        }
        Ok(start..self.at)
    }

    fn order(&mut self) -> Result<Option<Order>, Odd> {
        if !self.take(Keyword::Order) {
            return Ok(None);
        }
        self.expect(Keyword::By)?;
        let mut keys = Vec::new();
        loop {
            let range = self.clause(true)?;
            let mut value = range.clone();
            let last = value.end - 1;
            let descending = self.source.is(last, Keyword::Desc);
            if descending || self.source.is(last, Keyword::Asc) {
                value.end = last;
            }
            if value.is_empty() {
                return Err(self.odd("after ORDER BY without a key"));
            }
            keys.push(OrderKey { range, value, descending });
            if !self.source.is_punct(self.at, b',') {
                break;
            }
            self.at += 1;
        }
        Ok(Some(Order { keys }))
    }

    fn limit(&mut self) -> Result<Option<Limit>, Odd> {
        if !self.take(Keyword::Limit) {
            return Ok(None);
        }
        let first = self.number()?;
        if self.source.is_punct(self.at, b',') {
            self.at += 1;
            let count = self.number()?;
            return Ok(Some(Limit { count, offset: Some(first) }));
        }
        if self.take(Keyword::Offset) {
            let offset = self.number()?;
            return Ok(Some(Limit { count: first, offset: Some(offset) }));
        }
        Ok(Some(Limit { count: first, offset: None }))
    }

    fn number(&mut self) -> Result<u32, Odd> {
        match self.source.kind(self.at) {
            Some(UnitKind::Literal {
                kind: LiteralKind::Int | LiteralKind::UInt | LiteralKind::Param,
                ..
            }) => {
                self.at += 1;
                Ok(self.at - 1)
            }
            // A metavariable of a pattern. No server takes a name here in a statement of its own.
            Some(UnitKind::Word) if self.source.bytes(self.at).starts_with(b"$") => {
                self.at += 1;
                Ok(self.at - 1)
            }
            _ => Err(self.odd("in LIMIT")),
        }
    }
}

/// Whether a unit is `*` as an operator or star.
pub(crate) fn is_star(kind: Option<UnitKind>) -> bool {
    kind == Some(UnitKind::Op(Op::Star))
}

#[cfg(test)]
mod tests;
