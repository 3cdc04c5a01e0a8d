//! `derived_merge`: a derived table that only selects is merged into the query around it.
//!
//! **What it does.**
//!
//! ```sql
//! SELECT a.name, a.last FROM (SELECT name, (SELECT MAX(at) FROM login l WHERE l.user_id = u.id) AS last
//!     FROM user u WHERE city = 5) AS a WHERE a.name > 'k' ORDER BY a.last
//! -- becomes
//! SELECT name, (SELECT MAX(at) FROM login l WHERE l.user_id = u.id) AS last
//!     FROM user u WHERE (city = 5) AND (name > 'k') ORDER BY 2
//! ```
//!
//! **Why it matters.** A server that materialises the derived table (old ones, or `derived_merge=off`) computes every
//! column of every row before it filters and sorts; subqueries of unused columns are dropped here.
//!
//! **Why it is the same query.** Selection and projection commute with a filter over plain columns. Columns that are
//! computed are only ever put out as they are, never compared or computed with: a temporary table rounds decimals that
//! a merged expression keeps; and only those whose type is the same in a temporary table. Under LIMIT the order must be total. Output names are kept by aliases.

use std::ops::Range;

use sql::catalog::BaseType;
use sql::digest::LiteralKind;
use sql::source::Faults;
use sql::yaml::Node;
use sql::{Keyword, Piece, Product, UnitKind};

use super::Pass;
use super::expression;
use crate::guard::{self, Draft, Guard, Proposal, Refusal, Subject, refuse};
use crate::scope::Scope;
use crate::shape::{
    self, Block, FactorKind, ItemKind, Met, Query, Reference, Source, Term, Walk, from, name, names_equal,
};
use crate::splice::Edit;

pub(super) fn options(node: Option<&Node>, faults: &Faults) -> Option<Pass> {
    if let Some(node) = node {
        node.fields("options of derived_merge, which has none", faults)?.finish();
    }
    Some(Pass::DerivedMerge)
}

/// The parts of the pattern.
struct Pattern<'q> {
    outer: &'q Block,
    inner: Block,
    alias: String,
    /// From the derived table's opening parenthesis to its alias.
    factor: Range<u32>,
}

/// One column of the derived table.
struct Derived {
    name: String,
    /// The unit of its alias, where it has one.
    alias: Option<u32>,
    value: DerivedValue,
}

#[derive(Clone)]
enum DerivedValue {
    /// From a star: the unit of the table's qualifier.
    Star(u32),
    /// A plain column.
    Column(Reference),
    /// Anything else: its units.
    Computed(Range<u32>),
}

pub(super) fn propose(subject: &Subject<'_>) -> Proposal {
    let source = &subject.source;
    let Term::Block(outer) = &subject.query.first else {
        return Proposal::NotMatched("a query in parentheses");
    };
    if !subject.query.rest.is_empty() {
        return Proposal::NotMatched("a UNION");
    }
    let Some(range) = &outer.from else {
        return Proposal::NotMatched("no FROM");
    };
    let Ok(factors) = from::read(source, range) else {
        return Proposal::NotMatched("FROM is not a single derived table");
    };
    let [factor] = factors.as_slice() else {
        return Proposal::NotMatched("FROM is not a single derived table");
    };
    let FactorKind::Derived(parentheses) = &factor.kind else {
        return Proposal::NotMatched("FROM is not a derived table");
    };
    let merged = inner(source, parentheses).and_then(|inner| {
        let Some(alias) = factor.alias.and_then(|alias| name(source, alias)) else {
            return refuse(Guard::Derived, "the derived table has no alias");
        };
        merge(subject, &Pattern { outer, inner, alias, factor: factor.range.clone() })
    });
    match merged {
        Ok(draft) => Proposal::Fires(draft),
        Err(refusal) => Proposal::Refused(refusal),
    }
}

/// The derived table as one block that only selects.
fn inner(source: &Source<'_>, parentheses: &Range<u32>) -> Result<Block, Refusal> {
    let query = shape::read_at(*source, parentheses.start + 1).map_err(Refusal::of(Guard::Readable))?;
    if query.range.end + 1 != parentheses.end {
        return refuse(Guard::Readable, "the derived table does not end at its parenthesis");
    }
    if !query.rest.is_empty() {
        return refuse(Guard::Derived, "the derived table is a UNION");
    }
    if query.limit.is_some() {
        return refuse(Guard::Derived, "the derived table has LIMIT");
    }
    if query.order.is_some() {
        return refuse(Guard::Derived, "the derived table has ORDER BY");
    }
    let Term::Block(block) = query.first else {
        return refuse(Guard::Derived, "the derived table is in further parentheses");
    };
    selects_only(&block, "the derived table")?;
    if block.from.is_none() {
        return refuse(Guard::Derived, "the derived table reads no table");
    }
    Ok(block)
}

fn selects_only(block: &Block, what: &str) -> Result<(), Refusal> {
    if let Some(modifier) = block.modifiers.iter().find(|modifier| **modifier != Keyword::All) {
        return refuse(Guard::Derived, format!("{what} has {}", modifier.text()));
    }
    if block.grouped() {
        return refuse(Guard::Derived, format!("{what} groups"));
    }
    Ok(())
}

fn merge(subject: &Subject<'_>, pattern: &Pattern<'_>) -> Result<Draft, Refusal> {
    let source = &subject.source;
    let facts = subject.statement.facts;
    let Pattern { outer, inner, .. } = pattern;
    selects_only(outer, "the query")?;
    guard::plain(facts, subject.context)?;
    if facts.any_limit {
        guard::innodb(facts, subject.context)?;
    }
    for item in &inner.items {
        expression::rows_one_by_one(source, &item.value, subject.context)?;
    }
    let has_parameter = |mut range: Range<u32>| {
        range.any(|at| matches!(source.kind(at), Some(UnitKind::Literal { kind: LiteralKind::Param, .. })))
    };
    if has_parameter(inner.list()) {
        return refuse(Guard::Parameters, "a parameter in the derived table's select list would move");
    }
    let columns = columns(subject, inner)?;
    let mut merge = Merge { subject, pattern, columns, used: Vec::new(), edits: Vec::new(), scope: None };
    let names = merge.items()?;
    merge.condition()?;
    merge.order(&names)?;
    merge.frame();
    let columns = merge.columns.len();
    let used = merge.used.len();
    let note = format!("the derived table {} merged, {used} of its {columns} columns used", pattern.alias);
    Ok(Draft { edits: merge.edits, preconditions: Vec::new(), note })
}

/// The derived table's columns, each with a name of its own.
fn columns(subject: &Subject<'_>, inner: &Block) -> Result<Vec<Derived>, Refusal> {
    let source = &subject.source;
    let mut columns: Vec<Derived> = Vec::new();
    for item in &inner.items {
        match &item.kind {
            ItemKind::Star | ItemKind::QualifiedStar(_) => {
                let scope = Scope::of(source, inner, subject.context)?;
                let single = Block { items: vec![item.clone()], ..inner.clone() };
                for output in scope.outputs(source, &single)? {
                    let (Some(name), Some(qualifier)) = (output.name, output.star) else {
                        return refuse(Guard::Columns, "a star of an unknown table");
                    };
                    columns.push(Derived { name, alias: None, value: DerivedValue::Star(qualifier) });
                }
            }
            ItemKind::Column(reference) => {
                let unit = item.alias.unwrap_or_else(|| reference.last());
                let Some(name) = name(source, unit) else {
                    return refuse(Guard::Names, "a column's name is not UTF-8");
                };
                let value = DerivedValue::Column(reference.clone());
                columns.push(Derived { name, alias: item.alias, value });
            }
            ItemKind::Null => {
                return refuse(Guard::Types, "a NULL column has another type in a derived table");
            }
            ItemKind::Literal | ItemKind::Expression => {
                let shown = source.show(&item.range);
                let Some(alias) = item.alias else {
                    return refuse(Guard::Names, format!("the column {shown} has no alias"));
                };
                let Some(name) = name(source, alias) else {
                    return refuse(Guard::Names, format!("the alias of {shown} cannot be read"));
                };
                let value = DerivedValue::Computed(item.value.clone());
                columns.push(Derived { name, alias: Some(alias), value });
            }
        }
    }
    for (index, column) in columns.iter().enumerate() {
        if columns.iter().skip(index + 1).any(|other| names_equal(&other.name, &column.name)) {
            return refuse(Guard::Names, format!("the derived table has two columns named {}", column.name));
        }
    }
    aliases_inside(source, inner, &columns)?;
    Ok(columns)
}

/// A subquery of the select list could mean another column's alias, which is not there after merging.
fn aliases_inside(source: &Source<'_>, inner: &Block, columns: &[Derived]) -> Result<(), Refusal> {
    let computed: Vec<_> = columns
        .iter()
        .filter(|column| match &column.value {
            DerivedValue::Star(_) => false,
            DerivedValue::Computed(_) => true,
            DerivedValue::Column(reference) => {
                !name(source, reference.last()).is_some_and(|own| names_equal(&own, &column.name))
            }
        })
        .collect();
    for item in &inner.items {
        for met in Walk::new(source, &item.value) {
            let Met::Subquery(range) = met else { continue };
            for at in range {
                let word = shape::is_identifier(source.kind(at)).then(|| name(source, at)).flatten();
                let beside_dot = at > 0 && source.is_punct(at - 1, b'.');
                if let Some(word) = word
                    && !beside_dot
                    && let Some(column) = computed.iter().find(|column| names_equal(&column.name, &word))
                {
                    let name = &column.name;
                    return refuse(Guard::Names, format!("a subquery may mean the alias {name}"));
                }
            }
        }
    }
    Ok(())
}

struct Merge<'a, 's> {
    subject: &'a Subject<'s>,
    pattern: &'a Pattern<'a>,
    columns: Vec<Derived>,
    /// Columns of the derived table that the query refers to; computed ones at most once.
    used: Vec<usize>,
    edits: Vec<Edit>,
    scope: Option<Scope<'s>>,
}

impl<'a, 's> Merge<'a, 's> {
    fn source(&self) -> &'a Source<'s> {
        &self.subject.source
    }

    fn is_alias(&self, qualifier: &str) -> bool {
        match self.subject.context.catalog.table_names() {
            sql::catalog::TableNames::CaseSensitive => qualifier == self.pattern.alias,
            sql::catalog::TableNames::CaseInsensitive => names_equal(qualifier, &self.pattern.alias),
        }
    }

    /// The derived table's column that a reference of the outer query means.
    fn find(&self, reference: &Reference) -> Result<usize, Refusal> {
        let source = self.source();
        let shown = source.show(&reference.range());
        let names = reference.names(source).unwrap_or_default();
        let qualified = match names.get(1) {
            Some(qualifier) => names.len() == 2 && self.is_alias(qualifier),
            None => true,
        };
        let found = names
            .first()
            .and_then(|name| self.columns.iter().position(|column| names_equal(&column.name, name)));
        match found {
            Some(index) if qualified => Ok(index),
            _ => refuse(Guard::Columns, format!("the derived table has no column {shown}")),
        }
    }

    fn scope(&mut self) -> Result<&Scope<'s>, Refusal> {
        if self.scope.is_none() {
            self.scope = Some(Scope::of(self.source(), &self.pattern.inner, self.subject.context)?);
        }
        match &self.scope {
            Some(scope) => Ok(scope),
            None => refuse(Guard::Tables, "no tables"),
        }
    }

    /// A plain column of the derived table in place of a reference; never a computed one.
    fn plain(&mut self, reference: &Reference, place: &str) -> Result<(usize, Vec<Piece>), Refusal> {
        let index = self.find(reference)?;
        self.mark(index);
        let shown = self.source().show(&reference.range());
        let pieces = match self.columns.get(index).map(|column| &column.value) {
            Some(DerivedValue::Star(qualifier)) => vec![
                Piece::Source(*qualifier..*qualifier + 1),
                Piece::Text(".".to_owned()),
                Piece::Source(reference.last()..reference.last() + 1),
            ],
            Some(DerivedValue::Column(own)) => vec![Piece::Source(own.range())],
            _ => {
                return refuse(
                    Guard::Derived,
                    format!("{place} uses {shown}, which is computed and may be rounded in a derived table"),
                );
            }
        };
        Ok((index, pieces))
    }

    fn mark(&mut self, index: usize) {
        if !self.used.contains(&index) {
            self.used.push(index);
        }
    }

    /// The select list; returns the output names in order.
    fn items(&mut self) -> Result<Vec<String>, Refusal> {
        let source = self.source();
        let mut names = Vec::new();
        for item in &self.pattern.outer.items {
            let shown = source.show(&item.range);
            match &item.kind {
                ItemKind::Star => self.star(&item.range, &mut names)?,
                ItemKind::QualifiedStar(reference) => {
                    let qualifier = reference.names(source).unwrap_or_default();
                    if !matches!(qualifier.as_slice(), [only] if self.is_alias(only)) {
                        return refuse(Guard::Columns, format!("{shown} is not the derived table"));
                    }
                    self.star(&item.range, &mut names)?;
                }
                ItemKind::Column(reference) => {
                    self.column(reference, item.alias)?;
                    let unit = item.alias.unwrap_or_else(|| reference.last());
                    names.push(name(source, unit).unwrap_or_default());
                }
                ItemKind::Literal | ItemKind::Null => {
                    names.push(item.alias.and_then(|alias| name(source, alias)).unwrap_or(shown));
                }
                ItemKind::Expression => {
                    let Some(alias) = item.alias else {
                        return refuse(Guard::Names, format!("the column {shown} has no alias"));
                    };
                    self.computed(&item.value)?;
                    names.push(name(source, alias).unwrap_or_default());
                }
            }
        }
        Ok(names)
    }

    /// `*`: the derived table's own select list, as it stands.
    fn star(&mut self, at: &Range<u32>, names: &mut Vec<String>) -> Result<(), Refusal> {
        for index in 0..self.columns.len() {
            self.put_out(index)?;
        }
        names.extend(self.columns.iter().map(|column| column.name.clone()));
        let stars = |item: &shape::Item| matches!(item.kind, ItemKind::Star);
        if self.pattern.outer.items.len() > 1 && self.pattern.inner.items.iter().any(stars) {
            return refuse(Guard::Columns, "a bare * would take in more beside other columns");
        }
        self.edits.push(Edit::replace(at.clone(), vec![Piece::Source(self.pattern.inner.list())]));
        Ok(())
    }

    /// A column of the derived table becomes an output column: its type must stay, and a computed one is put out once,
    /// as a second time would compute it twice.
    fn put_out(&mut self, index: usize) -> Result<(), Refusal> {
        let source = self.source();
        let context = self.subject.context;
        let Some(Derived { name, value, .. }) = self.columns.get(index) else {
            return refuse(Guard::Columns, "no such column");
        };
        match value {
            DerivedValue::Computed(_) if self.used.contains(&index) => {
                return refuse(Guard::Derived, format!("the computed column {name} is used twice"));
            }
            DerivedValue::Computed(range) => expression::type_is_kept(source, range, name, context)?,
            // MySQL's JSON columns have another character set behind a derived table. Where the inner table is a derived
            // one itself, the next pass asks this of its own columns.
            _ if context.flavor.product == Product::MySql => {
                let name = name.clone();
                if self.base(index) == Some(BaseType::Json) {
                    return refuse(Guard::Types, format!("{name} is JSON, whose character set would change"));
                }
            }
            _ => {}
        }
        self.mark(index);
        Ok(())
    }

    /// The type of one of the derived table's plain columns; `None` where its table is not known or a derived one itself.
    fn base(&mut self, index: usize) -> Option<BaseType> {
        let Derived { name, value, .. } = self.columns.get(index)?;
        let (name, value) = (name.clone(), value.clone());
        let source = self.source();
        let scope = self.scope().ok()?;
        match value {
            DerivedValue::Column(own) => Some(scope.resolve(source, &own).ok()?.1.kind.base),
            DerivedValue::Star(unit) => scope
                .tables
                .iter()
                .filter(|visible| visible.qualifier_unit == unit)
                .find_map(|visible| visible.table.column(&name))
                .map(|column| column.kind.base),
            DerivedValue::Computed(_) => None,
        }
    }

    /// An expression of the select list. A sorted join may go through a temporary table, where MariaDB tells VARCHAR of
    /// what is computed from CHAR; a sorted derived table does not, and tells CHAR.
    fn computed(&mut self, range: &Range<u32>) -> Result<(), Refusal> {
        self.expression(range, "the select list")?;
        if self.subject.query.order.is_none() || self.scope().is_ok_and(|scope| scope.tables.len() < 2) {
            return Ok(());
        }
        for reference in expression::references(self.source(), range, "the select list")? {
            let index = self.find(&reference)?;
            if matches!(
                self.base(index),
                Some(BaseType::Char | BaseType::Binary | BaseType::Enum | BaseType::Set)
            ) {
                let shown = self.source().show(range);
                return refuse(
                    Guard::Types,
                    format!("{shown} may be told as VARCHAR where a join is sorted"),
                );
            }
        }
        Ok(())
    }

    /// One column of the derived table, put out as it is under its old name.
    fn column(&mut self, reference: &Reference, alias: Option<u32>) -> Result<(), Refusal> {
        let source = self.source();
        let index = self.find(reference)?;
        self.put_out(index)?;
        let shown = source.show(&reference.range());
        let wanted = reference.last();
        let unquoted_after_dot =
            reference.parts.len() > 1 && source.kind(wanted) != Some(UnitKind::QuotedIdent);
        let own_alias = self.columns.get(index).and_then(|column| column.alias);
        let (mut pieces, own_name) = match self.columns.get(index).map(|column| &column.value) {
            Some(DerivedValue::Computed(range)) => (vec![Piece::Source(range.clone())], None),
            Some(DerivedValue::Column(own)) => (vec![Piece::Source(own.range())], Some(own.last())),
            _ => (self.plain(reference, "the select list")?.1, Some(wanted)),
        };
        let named = own_name.is_some_and(|unit| source.bytes(unit) == source.bytes(wanted));
        if alias.is_none() && !named {
            // The name goes on as it was written. Behind a dot it may be a reserved word, which an alias must not be.
            let same = own_alias.filter(|unit| source.bytes(*unit) == source.bytes(wanted));
            let unit = match same {
                Some(unit) => unit,
                None if unquoted_after_dot => {
                    return refuse(Guard::Names, format!("the name of {shown} cannot be kept as an alias"));
                }
                None => wanted,
            };
            pieces.push(Piece::Text("AS".to_owned()));
            pieces.push(Piece::Source(unit..unit + 1));
        }
        self.edits.push(Edit::replace(reference.range(), pieces));
        Ok(())
    }

    /// An expression over plain columns of the derived table.
    fn expression(&mut self, range: &Range<u32>, place: &str) -> Result<(), Refusal> {
        for reference in expression::references(self.source(), range, place)? {
            let (_, pieces) = self.plain(&reference, place)?;
            self.edits.push(Edit::replace(reference.range(), pieces));
        }
        Ok(())
    }

    fn condition(&mut self) -> Result<(), Refusal> {
        match &self.pattern.outer.condition {
            Some(range) => self.expression(range, "WHERE"),
            None => Ok(()),
        }
    }

    /// ORDER BY: output columns become positions, others are qualified, so that no alias can step in.
    fn order(&mut self, names: &[String]) -> Result<(), Refusal> {
        let source = self.source();
        let limited = self.subject.query.limit.is_some();
        // Columns of the derived table that the order is by; none for a key that is not a plain one.
        let mut by: Vec<Option<usize>> = Vec::new();
        let keys = self.subject.query.order.as_ref().map_or(&[][..], |order| &order.keys);
        for key in keys {
            let shown = source.show(&key.value);
            let single = key.value.end - key.value.start == 1;
            if single
                && let Some(UnitKind::Literal { kind: LiteralKind::Int, slot: None }) =
                    source.kind(key.value.start)
            {
                let position = source.whole(&key.value).parse::<usize>().ok().and_then(|n| n.checked_sub(1));
                by.push(position.and_then(|position| self.output(position)));
                continue;
            }
            let Some(reference) = Reference::read(source, &key.value) else {
                return refuse(Guard::OrderBy, format!("ORDER BY {shown} is not a column"));
            };
            let written = name(source, reference.last()).unwrap_or_default();
            let outputs: Vec<_> = (0..names.len())
                .filter(|at| names.get(*at).is_some_and(|own| names_equal(own, &written)))
                .collect();
            match (reference.parts.len(), outputs.as_slice()) {
                (1, [position]) => {
                    by.push(self.output(*position));
                    let text = (position + 1).to_string();
                    self.edits.push(Edit::replace(key.value.clone(), vec![Piece::Text(text)]));
                }
                (1, [_, _, ..]) => {
                    return refuse(Guard::OrderBy, format!("two output columns are named {written}"));
                }
                _ => {
                    let (index, pieces) = self.qualified(&reference)?;
                    by.push(Some(index));
                    self.edits.push(Edit::replace(key.value.clone(), pieces));
                }
            }
        }
        if limited { self.total(&by) } else { Ok(()) }
    }

    /// The derived table's column that is put out at a position.
    fn output(&self, position: usize) -> Option<usize> {
        let mut at = 0;
        for item in &self.pattern.outer.items {
            match &item.kind {
                ItemKind::Star | ItemKind::QualifiedStar(_) => {
                    if position < at + self.columns.len() {
                        return Some(position - at);
                    }
                    at += self.columns.len();
                }
                ItemKind::Column(reference) if position == at => return self.find(reference).ok(),
                _ => at += 1,
            }
        }
        None
    }

    /// A plain column in ORDER BY, with its table's name before it.
    fn qualified(&mut self, reference: &Reference) -> Result<(usize, Vec<Piece>), Refusal> {
        let (index, mut pieces) = self.plain(reference, "ORDER BY")?;
        let source = self.source();
        if let Some(DerivedValue::Column(own)) = self.columns.get(index).map(|column| &column.value)
            && own.parts.len() == 1
        {
            let own = own.clone();
            let (visible, _) = self.scope()?.resolve(source, &own)?;
            let qualifier = visible.qualifier_unit;
            pieces.insert(0, Piece::Text(".".to_owned()));
            pieces.insert(0, Piece::Source(qualifier..qualifier + 1));
        }
        Ok((index, pieces))
    }

    /// Under LIMIT: one table, and the keys hold all of a unique key without NULL.
    fn total(&mut self, by: &[Option<usize>]) -> Result<(), Refusal> {
        let source = self.source();
        let references: Vec<Option<Reference>> = by
            .iter()
            .map(|index| match self.columns.get((*index)?).map(|column| &column.value)? {
                DerivedValue::Column(reference) => Some(reference.clone()),
                DerivedValue::Star(_) | DerivedValue::Computed(_) => None,
            })
            .collect();
        let starred: Vec<Option<String>> = by
            .iter()
            .map(|index| {
                let column = self.columns.get((*index)?)?;
                matches!(column.value, DerivedValue::Star(_)).then(|| column.name.clone())
            })
            .collect();
        let scope = self.scope()?;
        let [visible] = scope.tables.as_slice() else {
            return refuse(Guard::TotalOrder, "LIMIT over a join: the order is not proven total");
        };
        let mut sorted: Vec<String> = Vec::new();
        for (reference, star) in references.iter().zip(starred) {
            match (reference, star) {
                (Some(reference), _) => sorted.push(scope.resolve(source, reference)?.1.name.clone()),
                (None, Some(name)) => sorted.push(name),
                (None, None) => return refuse(Guard::TotalOrder, "LIMIT under a computed sort key"),
            }
        }
        let covered = visible.table.keys.iter().any(|key| {
            key.is_unique_not_null(visible.table)
                && key.parts.iter().all(|part| {
                    part.column.as_ref().is_some_and(|own| sorted.iter().any(|name| names_equal(name, own)))
                })
        });
        if covered {
            Ok(())
        } else {
            refuse(
                Guard::TotalOrder,
                "LIMIT without a unique key in ORDER BY: ties admit several right answers",
            )
        }
    }

    /// Takes the derived table's frame away and joins the conditions.
    fn frame(&mut self) {
        let Pattern { outer, inner, factor, .. } = self.pattern;
        let text = |text: &str| vec![Piece::Text(text.to_owned())];
        if let Some(from) = &inner.from {
            self.edits.push(Edit::replace(factor.start..from.start, Vec::new()));
        }
        let end = inner.range.end;
        match (&inner.condition, &outer.condition) {
            (Some(inside), Some(outside)) => {
                self.edits.push(Edit::insert(inside.start, text("(")));
                self.edits.push(Edit::replace(end..outside.start, text(") AND (")));
                self.edits.push(Edit::insert(outside.end, text(")")));
            }
            (None, Some(outside)) => {
                self.edits.push(Edit::replace(end..outside.start, text("WHERE")));
            }
            (_, None) => self.edits.push(Edit::replace(end..factor.end, Vec::new())),
        }
    }
}

/// One block again, ordered and limited as before.
pub(super) fn verify(before: &Query, after: &Query) -> Result<(), String> {
    let Term::Block(_) = &after.first else {
        return Err("the new text is not one SELECT".to_owned());
    };
    let keys = |query: &Query| query.order.as_ref().map(|order| order.keys.len());
    if !after.rest.is_empty()
        || keys(before) != keys(after)
        || before.limit.is_some() != after.limit.is_some()
    {
        return Err("the new text has another frame".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests;
