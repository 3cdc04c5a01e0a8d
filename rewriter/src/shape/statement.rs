//! The positioned tree of a query: clauses as nodes, expressions below them.

use std::ops::Range;

use sql::SqlMode;

use super::from::{self, Factor, FactorKind};
use super::node::{Node, Tag};
use super::{Block, Item, ItemKind, Odd, Query, Source, Term, expression, read_at};

/// The tree of a query of plain shape.
pub(crate) fn query(source: &Source<'_>, query: &Query, mode: SqlMode) -> Node {
    Builder { source, mode, depth: 0 }.query(query)
}

/// The tree of the query that begins at `start`, for subqueries.
pub(super) fn query_at(source: &Source<'_>, start: u32, mode: SqlMode, depth: u32) -> Result<Node, Odd> {
    let query = read_at(*source, start)?;
    Ok(Builder { source, mode, depth }.query(&query))
}

struct Builder<'a, 's> {
    source: &'a Source<'s>,
    mode: SqlMode,
    depth: u32,
}

fn span(nodes: &[Node], empty: u32) -> Range<u32> {
    let start = nodes.first().map_or(empty, |node| node.range.start);
    let end = nodes.last().map_or(start, |node| node.range.end);
    start..end
}

fn clause(tag: Tag, children: Vec<Node>) -> Node {
    let range = span(&children, 0);
    Node::new(tag, range, children)
}

impl Builder<'_, '_> {
    fn query(&self, query: &Query) -> Node {
        let mut children = vec![self.term(&query.first)];
        for (op, term) in &query.rest {
            children.push(clause(Tag::Set(*op == super::SetOp::UnionAll), vec![self.term(term)]));
        }
        if let Some(order) = &query.order {
            let keys = order.keys.iter().map(|key| {
                let value = self.expr(&key.value);
                Node::new(Tag::Key(key.descending), key.range.clone(), vec![value])
            });
            children.push(clause(Tag::OrderBy, keys.collect()));
        }
        if let Some(limit) = &query.limit {
            let literal = |at: u32| Node::leaf(Tag::Literal, at..at + 1);
            let numbers = std::iter::once(limit.count).chain(limit.offset).map(literal).collect();
            children.push(clause(Tag::Limit, numbers));
        }
        Node::new(Tag::Query, query.range.clone(), children)
    }

    fn term(&self, term: &Term) -> Node {
        match term {
            Term::Block(block) => self.block(block),
            Term::Nested(query) => {
                let inner = self.query(query);
                Node::new(Tag::Paren, inner.range.start - 1..inner.range.end + 1, vec![inner])
            }
        }
    }

    fn block(&self, block: &Block) -> Node {
        let mut children = Vec::new();
        if !block.modifiers.is_empty() {
            let at = block.range.start + 1;
            let end = at + u32::try_from(block.modifiers.len()).unwrap_or(0);
            children.push(Node::leaf(Tag::Modifiers(block.modifiers.clone()), at..end));
        }
        children.push(clause(Tag::Items, block.items.iter().map(|item| self.item(item)).collect()));
        if let Some(range) = &block.from {
            children.push(match from::read(self.source, range) {
                Ok(factors) => clause(Tag::From, factors.iter().map(|factor| self.factor(factor)).collect()),
                Err(_) => clause(Tag::From, vec![Node::leaf(Tag::Opaque, range.clone())]),
            });
        }
        if let Some(condition) = &block.condition {
            children.push(clause(Tag::Where, vec![self.expr(condition)]));
        }
        if !block.group.is_empty() {
            children.push(clause(Tag::GroupBy, block.group.iter().map(|key| self.expr(key)).collect()));
        }
        if block.rollup {
            children.push(Node::leaf(Tag::Rollup, block.range.end..block.range.end));
        }
        if let Some(having) = &block.having {
            children.push(clause(Tag::Having, vec![self.expr(having)]));
        }
        Node::new(Tag::Block, block.range.clone(), children)
    }

    fn item(&self, item: &Item) -> Node {
        let value = match item.kind {
            ItemKind::Star => Node::leaf(Tag::Star, item.value.clone()),
            ItemKind::QualifiedStar(_) => Node::leaf(Tag::QualifiedStar, item.value.clone()),
            ItemKind::Column(_) | ItemKind::Literal | ItemKind::Null | ItemKind::Expression => {
                self.expr(&item.value)
            }
        };
        let name = item.alias.map(|at| Node::leaf(Tag::Name, at..at + 1));
        Node::new(Tag::Item, item.range.clone(), std::iter::once(value).chain(name).collect())
    }

    fn factor(&self, factor: &Factor) -> Node {
        let mut children = match &factor.kind {
            FactorKind::Table(reference) => vec![Node::leaf(Tag::Column, reference.range())],
            FactorKind::Derived(range) => {
                let query = query_at(self.source, range.start + 1, self.mode, self.depth + 1);
                query.into_iter().filter(|query| query.range.end + 1 == range.end).collect()
            }
        };
        children.extend(factor.alias.map(|at| Node::leaf(Tag::Name, at..at + 1)));
        let tag = match factor.kind {
            FactorKind::Table(_) => Tag::Table,
            FactorKind::Derived(_) => Tag::Derived,
        };
        let node = Node::new(tag, factor.range.clone(), children);
        if factor.join == super::JoinKind::First {
            return node;
        }
        let on = factor.on.as_ref().map(|range| clause(Tag::On, vec![self.expr(range)]));
        clause(Tag::Joined(factor.join), std::iter::once(node).chain(on).collect())
    }

    /// An expression; opaque where it is not understood.
    fn expr(&self, range: &Range<u32>) -> Node {
        expression(self.source, range, self.mode, self.depth)
            .unwrap_or_else(|_| Node::leaf(Tag::Opaque, range.clone()))
    }
}
