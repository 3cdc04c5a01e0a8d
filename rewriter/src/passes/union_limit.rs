//! `union_limit`: ORDER BY and LIMIT of a UNION ALL are copied into its branches.
//!
//! **What it does.** Each branch returns only the rows that can be among the first n:
//!
//! ```sql
//! SELECT id, ts FROM ord UNION ALL SELECT id, ts FROM ord_archive ORDER BY ts DESC LIMIT 20 OFFSET 40
//! -- becomes
//! (SELECT id, ts FROM ord ORDER BY 2 DESC LIMIT 60) UNION ALL
//! (SELECT id, ts FROM ord_archive ORDER BY 2 DESC LIMIT 60) ORDER BY ts DESC LIMIT 20 OFFSET 40
//! ```
//!
//! **Why it matters.** The servers materialise and sort the whole union before they cut it; with an index on the sort key
//! each branch now reads 60 rows.
//!
//! **Why it is the same query.** A row among the first n+m of the union is among the first n+m of its branch, if branch and
//! union compare the sort keys alike: hence one type and collation in every branch. Ties may be cut elsewhere, as the
//! server itself may. Keys are copied as positions, which unlike names cannot mean an alias here and a column there; only
//! the columns of a star are named, with their table.
//!
//! **Options.** `max_rows` (default 10000): the largest n+m; beyond it the branches' sorts cost what they save.

use sql::catalog::{BaseType, Column};
use sql::digest::LiteralKind;
use sql::source::Faults;
use sql::yaml::Node;
use sql::{Flavor, Keyword, Piece, Precondition, Product, UnitKind, Version};

use super::Pass;
use crate::guard::{self, Draft, Guard, Proposal, Refusal, Subject, refuse};
use crate::scope::{Output, Scope, same_type};
use crate::shape::{Block, ItemKind, Limit, Order, Query, SetOp, Source, Term, name, names_equal};
use crate::splice::Edit;

/// Options in the rule file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The largest sum of LIMIT and OFFSET.
    pub max_rows: u64,
}

const DEFAULT_MAX_ROWS: u64 = 10_000;

pub(super) fn options(node: Option<&Node>, faults: &Faults) -> Option<Pass> {
    let mut options = Options { max_rows: DEFAULT_MAX_ROWS };
    if let Some(node) = node {
        let fields = node.fields("options of union_limit", faults)?;
        if let Some(node) = fields.optional("max_rows") {
            options.max_rows = node.integer(1..=1_000_000_000, faults)?;
        }
        fields.finish();
    }
    Some(Pass::UnionLimit(options))
}

pub(super) fn propose(options: &Options, subject: &Subject<'_>) -> Proposal {
    let query = subject.query;
    if query.rest.is_empty() {
        return Proposal::NotMatched("not a UNION");
    }
    let (Some(order), Some(limit)) = (&query.order, &query.limit) else {
        return Proposal::NotMatched("a UNION without ORDER BY and LIMIT");
    };
    match rewrite(options, subject, order, limit) {
        Ok(Some(draft)) => Proposal::Fires(draft),
        Ok(None) => Proposal::NotMatched("every branch has its own LIMIT or a single row"),
        Err(refusal) => Proposal::Refused(refusal),
    }
}

/// A branch with what is known of it.
struct Branch<'q> {
    block: &'q Block,
    /// The unit after the branch's last one, where it stands in parentheses.
    parenthesis: Option<u32>,
    /// Whether it has its own ORDER BY or LIMIT, or no table: it stays as it is.
    stays: bool,
    outputs: Vec<Output>,
}

fn rewrite(
    options: &Options,
    subject: &Subject<'_>,
    order: &Order,
    limit: &Limit,
) -> Result<Option<Draft>, Refusal> {
    let query = subject.query;
    if query.rest.iter().any(|(op, _)| *op != SetOp::UnionAll) {
        return refuse(Guard::Union, "the branches are not joined by UNION ALL alone");
    }
    // Before anything is resolved: the facts know tables in subqueries too.
    guard::plain(subject.statement.facts, subject.context)?;
    guard::innodb(subject.statement.facts, subject.context)?;
    let mut branches = Vec::new();
    for term in std::iter::once(&query.first).chain(query.rest.iter().map(|(_, term)| term)) {
        branches.push(branch(subject, term, branches.len() + 1)?);
    }
    let keys = keys(subject, order, &branches)?;
    let (rows, preconditions) = rows(options, &subject.source, limit)?;

    let mut edits = Vec::new();
    for branch in branches.iter().filter(|branch| !branch.stays) {
        let mut tail = clause(&keys, order, branch)?;
        tail.push(rows.clone());
        match branch.parenthesis {
            Some(close) => edits.push(Edit::insert(close, tail)),
            None => {
                tail.push(Piece::Text(")".to_owned()));
                edits.push(Edit::insert(branch.block.range.start, vec![Piece::Text("(".to_owned())]));
                edits.push(Edit::insert(branch.block.range.end, tail));
            }
        }
    }
    if edits.is_empty() {
        return Ok(None);
    }
    let limited = branches.iter().filter(|branch| !branch.stays).count();
    let note = format!("ORDER BY and LIMIT copied into {limited} of {} branches", branches.len());
    Ok(Some(Draft { edits, preconditions, note }))
}

/// ORDER BY of one branch, up to LIMIT. Keys are positions; where a star decides what stands at a position they are
/// qualified names, which still mean the same column when the table has got another one since the catalog was read.
fn clause(keys: &[usize], order: &Order, branch: &Branch<'_>) -> Result<Vec<Piece>, Refusal> {
    let mut pieces = Vec::new();
    let mut text = "ORDER BY".to_owned();
    for (number, (position, key)) in keys.iter().zip(&order.keys).enumerate() {
        text.push_str(if number > 0 { ", " } else { " " });
        let output = branch.outputs.get(*position);
        match output.and_then(|output| output.star) {
            None => text.push_str(&(position + 1).to_string()),
            Some(qualifier) => {
                let name = output.and_then(|output| output.name.as_deref()).unwrap_or_default();
                if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
                    return refuse(
                        Guard::Names,
                        format!("the column `{name}` of a star has an unusual name"),
                    );
                }
                pieces.push(Piece::Text(std::mem::take(&mut text)));
                pieces.push(Piece::Source(qualifier..qualifier + 1));
                text = format!(".`{name}`");
            }
        }
        text.push_str(if key.descending { " DESC" } else { "" });
    }
    text.push_str(" LIMIT");
    pieces.push(Piece::Text(text));
    Ok(pieces)
}

fn branch<'q>(subject: &Subject<'_>, term: &'q Term, number: usize) -> Result<Branch<'q>, Refusal> {
    let (block, parenthesis, own) = match term {
        Term::Block(block) => (block, None, false),
        Term::Nested(query) => match &query.first {
            Term::Block(block) if query.rest.is_empty() => {
                (block, Some(query.range.end), query.order.is_some() || query.limit.is_some())
            }
            _ => return refuse(Guard::Union, format!("branch {number} is a query of several")),
        },
    };
    for modifier in &block.modifiers {
        if !matches!(modifier, Keyword::All | Keyword::SqlNoCache | Keyword::SqlCache) {
            return refuse(Guard::Union, format!("branch {number} has {}", modifier.text()));
        }
    }
    if block.grouped() {
        return refuse(Guard::Union, format!("branch {number} groups"));
    }
    let source = &subject.source;
    let scope = Scope::of(source, block, subject.context)?;
    for item in &block.items {
        match item.kind {
            // Without a look at errors and warnings that an expression may raise, only these are computed for fewer rows.
            ItemKind::Expression => {
                let shown = source.show(&item.range);
                return refuse(Guard::Columns, format!("branch {number} computes {shown}"));
            }
            ItemKind::Star
            | ItemKind::QualifiedStar(_)
            | ItemKind::Column(_)
            | ItemKind::Literal
            | ItemKind::Null => {}
        }
    }
    let outputs = scope.outputs(source, block)?;
    let stays = own || scope.tables.is_empty();
    Ok(Branch { block, parenthesis, stays, outputs })
}

/// The output columns, from 0, that the union sorts by.
fn keys(subject: &Subject<'_>, order: &Order, branches: &[Branch<'_>]) -> Result<Vec<usize>, Refusal> {
    let source = &subject.source;
    let width = branches.first().map_or(0, |branch| branch.outputs.len());
    if branches.iter().any(|branch| branch.outputs.len() != width) {
        return refuse(Guard::Columns, "the branches have different numbers of columns");
    }
    let mut keys = Vec::new();
    for key in &order.keys {
        let shown = source.show(&key.value);
        let single = key.value.end - key.value.start == 1;
        let position = match source.kind(key.value.start) {
            // A position is part of the digest, never a slot: else another text could sort by another column.
            Some(UnitKind::Literal { kind: LiteralKind::Int, slot: None }) if single => {
                let text = source.whole(&key.value);
                let position = text.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
                position.filter(|position| *position < width)
            }
            kind if single && crate::shape::is_identifier(kind) => {
                named(source, key.value.start, branches.first().map_or(&[], |branch| &branch.outputs))?
            }
            _ => return refuse(Guard::OrderBy, format!("ORDER BY {shown} is not an output column")),
        };
        let Some(position) = position else {
            return refuse(Guard::OrderBy, format!("ORDER BY {shown} is not an output column"));
        };
        same_everywhere(&shown, position, branches, subject.context.flavor)?;
        keys.push(position);
    }
    Ok(keys)
}

/// The one output column of the first branch that has this name.
fn named(source: &Source<'_>, unit: u32, outputs: &[Output]) -> Result<Option<usize>, Refusal> {
    let Some(wanted) = name(source, unit) else {
        return Ok(None);
    };
    let mut found = None;
    for (index, output) in outputs.iter().enumerate() {
        let Some(own) = &output.name else {
            return refuse(Guard::Names, "an output column whose name cannot be read");
        };
        if names_equal(own, &wanted) && found.replace(index).is_some() {
            return refuse(Guard::OrderBy, format!("two output columns are named {wanted}"));
        }
    }
    Ok(found)
}

/// One type and collation in every branch, and one that a union keeps.
fn same_everywhere(
    shown: &str,
    position: usize,
    branches: &[Branch<'_>],
    flavor: Flavor,
) -> Result<(), Refusal> {
    let mut first: Option<&Column> = None;
    for (number, branch) in branches.iter().enumerate() {
        let number = number + 1;
        let column = branch.outputs.get(position).and_then(|output| output.column.as_ref());
        let Some(column) = column else {
            return refuse(
                Guard::Types,
                format!("the sort key {shown} is not a plain column in branch {number}"),
            );
        };
        if !keeps_its_order(column.kind.base, flavor) {
            let kind = &column.kind.text;
            return refuse(
                Guard::Types,
                format!("the sort key {shown} has type {kind}, which a UNION may sort otherwise"),
            );
        }
        match first {
            None => first = Some(column),
            Some(first) if same_type(first, column) => {}
            Some(first) => {
                let describe = |column: &Column| match &column.collation {
                    Some(collation) => format!("{} {collation}", column.kind.text),
                    None => column.kind.text.clone(),
                };
                return refuse(
                    Guard::Types,
                    format!(
                        "the sort key {shown} is {} in branch 1 and {} in branch {number}",
                        describe(first),
                        describe(column)
                    ),
                );
            }
        }
    }
    Ok(())
}

/// Types that keep their order in the temporary table of a UNION of equal ones. ENUM and SET sort by index in a table and
/// by text in a union. TIMESTAMP sorts by UTC in a table; in a union MariaDB 10.11 does so too, but MySQL 9.7 sorts by local
/// time, which puts 02:10 after the end of summer time before 02:50 of the hour before. The others were not tried.
fn keeps_its_order(base: BaseType, flavor: Flavor) -> bool {
    let utc = flavor.product == Product::MariaDb && flavor.version >= Version(10, 11, 0);
    base.is_integer()
        || (base == BaseType::Timestamp && utc)
        || matches!(
            base,
            BaseType::Decimal
                | BaseType::Float
                | BaseType::Double
                | BaseType::Year
                | BaseType::Date
                | BaseType::Time
                | BaseType::DateTime
                | BaseType::Char
                | BaseType::VarChar
                | BaseType::Binary
                | BaseType::VarBinary
                | BaseType::TinyText
                | BaseType::Text
                | BaseType::MediumText
                | BaseType::LongText
                | BaseType::TinyBlob
                | BaseType::Blob
                | BaseType::MediumBlob
                | BaseType::LongBlob
        )
}

/// The branches' LIMIT, and what must hold of the literals.
fn rows(
    options: &Options,
    source: &Source<'_>,
    limit: &Limit,
) -> Result<(Piece, Vec<Precondition>), Refusal> {
    let slot = |unit: u32| match source.kind(unit) {
        Some(UnitKind::Literal { kind: LiteralKind::Param, .. }) => {
            refuse(Guard::Parameters, "LIMIT is a parameter, which cannot be copied")
        }
        Some(UnitKind::Literal { kind: LiteralKind::Int | LiteralKind::UInt, slot: Some(slot) }) => Ok(slot),
        _ => refuse(Guard::Limit, "LIMIT is not a literal"),
    };
    let count = slot(limit.count)?;
    let Some(offset) = limit.offset else {
        let conditions = vec![Precondition::IntAtMost { slot: count, max: options.max_rows }];
        return Ok((Piece::Source(limit.count..limit.count + 1), conditions));
    };
    let offset = slot(offset)?;
    let conditions = vec![Precondition::SumAtMost { left: count, right: offset, max: options.max_rows }];
    Ok((Piece::Sum(count, offset), conditions))
}

/// As many branches as before, each with as many columns, the whole still ordered and limited.
pub(super) fn verify(before: &Query, after: &Query) -> Result<(), String> {
    if before.rest.len() != after.rest.len() || after.rest.iter().any(|(op, _)| *op != SetOp::UnionAll) {
        return Err("the new text has other branches".to_owned());
    }
    if after.order.is_none() || after.limit.is_none() {
        return Err("the new text lost its ORDER BY or LIMIT".to_owned());
    }
    let lengths = |query: &Query| -> Vec<Option<usize>> {
        std::iter::once(&query.first)
            .chain(query.rest.iter().map(|(_, term)| term))
            .map(|term| match term {
                Term::Block(block) => Some(block.items.len()),
                Term::Nested(query) => match &query.first {
                    Term::Block(block) if query.rest.is_empty() => Some(block.items.len()),
                    Term::Block(_) | Term::Nested(..) => None,
                },
            })
            .collect()
    };
    if lengths(after) == lengths(before) { Ok(()) } else { Err("a branch changed".to_owned()) }
}

#[cfg(test)]
mod tests;
