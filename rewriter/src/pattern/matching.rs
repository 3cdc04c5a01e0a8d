//! Matches a pattern's tree against a statement's.

use std::collections::BTreeMap;

use sql::{Op, Precondition, UnitKind};

use super::compile::Variant;
use super::metavariable;
use crate::shape::node::{Node, Tag};
use crate::shape::{Reference, Source, names_equal};

/// What the metavariables stand for.
#[derive(Clone, Debug, Default)]
pub(super) struct Bindings<'n> {
    pub(super) bound: BTreeMap<String, Vec<&'n Node>>,
    /// Literals that the pattern names: they must be these at each execution.
    pub(super) preconditions: Vec<Precondition>,
}

impl<'n> Bindings<'n> {
    /// What a metavariable for one thing stands for.
    pub(super) fn one(&self, name: &str) -> Option<&'n Node> {
        match self.bound.get(name)?.as_slice() {
            [node] => Some(node),
            _ => None,
        }
    }

    /// What a metavariable stands for.
    pub(super) fn all(&self, name: &str) -> &[&'n Node] {
        self.bound.get(name).map_or(&[], Vec::as_slice)
    }
}

/// How many ways to match are followed at once.
const MAX_WAYS: usize = 64;

/// Every way in which a pattern matches a node.
pub(super) fn matches<'n>(variant: &Variant, source: &Source<'_>, node: &'n Node) -> Vec<Bindings<'n>> {
    let matcher = Matcher { pattern: variant.source(), subject: source };
    matcher.node(&variant.root, node, Bindings::default())
}

struct Matcher<'p, 's> {
    pattern: Source<'p>,
    subject: &'p Source<'s>,
}

impl Matcher<'_, '_> {
    fn node<'n>(&self, pattern: &Node, node: &'n Node, with: Bindings<'n>) -> Vec<Bindings<'n>> {
        if let Some(name) = self.stands_for(pattern) {
            return self.bind(name, vec![node], with);
        }
        let (pattern, node) = (pattern.bare(), node.bare());
        match (&pattern.tag, &node.tag) {
            (Tag::Opaque, _) | (_, Tag::Opaque) => Vec::new(),
            (Tag::And, _) => self.chain(pattern, &Tag::And, node, with),
            (Tag::Or, _) => self.chain(pattern, &Tag::Or, node, with),
            (Tag::Literal, Tag::Literal) => self.literal(pattern, node, with),
            (Tag::Column, Tag::Column) => self.column(pattern, node, with),
            (Tag::Binary(left), Tag::Binary(right)) => {
                let mut ways = Vec::new();
                if left == right {
                    ways = self.children(&pattern.children, &node.children, with.clone());
                }
                if turned(*left) == Some(*right)
                    && let [a, b] = node.children.as_slice()
                    && let [p, q] = pattern.children.as_slice()
                {
                    for way in self.node(p, b, with) {
                        ways.extend(self.node(q, a, way));
                    }
                }
                ways.truncate(MAX_WAYS);
                ways
            }
            (a, b) if a == b => self.children(&pattern.children, &node.children, with),
            _ => Vec::new(),
        }
    }

    /// The metavariable that a pattern's node is, through the nodes that wrap a single name.
    fn stands_for(&self, pattern: &Node) -> Option<(String, bool)> {
        let inner = match (&pattern.tag, pattern.children.as_slice()) {
            (Tag::Item | Tag::Table | Tag::Key(false), [inner]) => inner,
            (Tag::Column | Tag::Literal, []) => pattern,
            _ => return None,
        };
        metavariable(&self.pattern, inner).map(|(name, list)| (name.to_owned(), list))
    }

    fn bind<'n>(
        &self,
        (name, _): (String, bool),
        nodes: Vec<&'n Node>,
        mut with: Bindings<'n>,
    ) -> Vec<Bindings<'n>> {
        if let Some(known) = with.bound.get(&name) {
            let same = known.len() == nodes.len()
                && known.iter().zip(&nodes).all(|(a, b)| alike(self.subject, a, b));
            return if same { vec![with] } else { Vec::new() };
        }
        with.bound.insert(name, nodes);
        vec![with]
    }

    fn column<'n>(&self, pattern: &Node, node: &'n Node, with: Bindings<'n>) -> Vec<Bindings<'n>> {
        if same_names(&self.pattern, pattern, self.subject, node) { vec![with] } else { Vec::new() }
    }

    fn literal<'n>(&self, pattern: &Node, node: &'n Node, mut with: Bindings<'n>) -> Vec<Bindings<'n>> {
        let (own, found) = (self.pattern.kind(pattern.range.start), self.subject.kind(node.range.start));
        let (Some(UnitKind::Literal { kind, .. }), Some(UnitKind::Literal { kind: other, slot })) =
            (own, found)
        else {
            return Vec::new();
        };
        let text = self.subject.bytes(node.range.start);
        if kind != other || self.pattern.bytes(pattern.range.start) != text {
            return Vec::new();
        }
        with.preconditions.extend(slot.map(|slot| Precondition::Exactly { slot, text: text.to_vec() }));
        vec![with]
    }

    /// Operands in order; a list's metavariable takes those that are left over for it.
    fn children<'n>(&self, patterns: &[Node], nodes: &'n [Node], with: Bindings<'n>) -> Vec<Bindings<'n>> {
        let Some((pattern, rest)) = patterns.split_first() else {
            return if nodes.is_empty() { vec![with] } else { Vec::new() };
        };
        let mut ways = Vec::new();
        if let Some((name, true)) = self.stands_for(pattern) {
            // At least one, and what is left must be enough for the patterns behind it.
            for taken in 1..=nodes.len().saturating_sub(rest.len()) {
                let (own, others) = nodes.split_at(taken);
                for way in self.bind((name.clone(), true), own.iter().collect(), with.clone()) {
                    ways.extend(self.children(rest, others, way));
                }
                if ways.len() >= MAX_WAYS {
                    break;
                }
            }
        } else if let Some((node, others)) = nodes.split_first() {
            for way in self.node(pattern, node, with) {
                ways.extend(self.children(rest, others, way));
            }
        }
        ways.truncate(MAX_WAYS);
        ways
    }

    /// AND and OR: operands in any order; a list's metavariable takes all that no other operand of the pattern took.
    fn chain<'n>(&self, pattern: &Node, tag: &Tag, node: &'n Node, with: Bindings<'n>) -> Vec<Bindings<'n>> {
        let mut operands = Vec::new();
        flatten(node, tag, &mut operands);
        let mut single = Vec::new();
        let mut list = None;
        for operand in &pattern.children {
            match self.stands_for(operand) {
                Some((name, true)) => list = Some(name),
                _ => single.push(operand),
            }
        }
        let enough = match list {
            Some(_) => operands.len() > single.len(),
            None => operands.len() == single.len(),
        };
        if !enough {
            return Vec::new();
        }
        let mut ways = vec![(with, operands)];
        for operand in single {
            let mut next = Vec::new();
            for (with, left) in ways {
                for (at, candidate) in left.iter().enumerate() {
                    for way in self.node(operand, candidate, with.clone()) {
                        let mut others = left.clone();
                        others.remove(at);
                        next.push((way, others));
                    }
                }
            }
            next.truncate(MAX_WAYS);
            ways = next;
        }
        let close = |(with, left): (Bindings<'n>, Vec<&'n Node>)| match &list {
            Some(name) => self.bind((name.clone(), true), left, with),
            None => vec![with],
        };
        ways.into_iter().flat_map(close).collect()
    }
}

/// Whether two nodes of a statement surely mean the same.
pub(super) fn alike(source: &Source<'_>, a: &Node, b: &Node) -> bool {
    let (a, b) = (a.bare(), b.bare());
    match (&a.tag, &b.tag) {
        (Tag::Opaque | Tag::Literal | Tag::List | Tag::Subquery, _) => false,
        (Tag::Column, Tag::Column) => same_names(source, a, source, b),
        (left, right) => {
            left == right
                && a.children.len() == b.children.len()
                && a.children.iter().zip(&b.children).all(|(a, b)| alike(source, a, b))
        }
    }
}

/// The operands of a chain, also of chains in parentheses in it.
fn flatten<'n>(node: &'n Node, tag: &Tag, operands: &mut Vec<&'n Node>) {
    let bare = node.bare();
    if bare.tag == *tag {
        for child in &bare.children {
            flatten(child, tag, operands);
        }
    } else {
        operands.push(node);
    }
}

/// The operator that says the same with its operands turned round.
fn turned(op: Op) -> Option<Op> {
    Some(match op {
        Op::Eq | Op::NullSafeEq | Op::Ne | Op::Plus | Op::Star => op,
        Op::Lt => Op::Gt,
        Op::Gt => Op::Lt,
        Op::Le => Op::Ge,
        Op::Ge => Op::Le,
        _ => return None,
    })
}

fn same_names(a: &Source<'_>, left: &Node, b: &Source<'_>, right: &Node) -> bool {
    let names = |source: &Source<'_>, node: &Node| Reference::read(source, &node.range)?.names(source);
    match (names(a, left), names(b, right)) {
        (Some(left), Some(right)) => {
            left.len() == right.len() && left.iter().zip(&right).all(|(a, b)| names_equal(a, b))
        }
        _ => false,
    }
}
