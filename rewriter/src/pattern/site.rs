//! Where in a statement a pattern is tried.

use crate::shape::node::{Node, Tag};

/// A node that a pattern may replace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site<'n> {
    pub(super) node: &'n Node,
    /// What it stands in: the clause, AND or OR.
    pub(super) parent: Option<&'n Node>,
    /// FROM of the block that it belongs to.
    pub(super) from: Option<&'n Node>,
}

impl Site<'_> {
    /// Whether it is the whole statement.
    pub(super) fn whole(&self) -> bool {
        self.parent.is_none()
    }
}

/// The statement itself, then every condition in it, outer ones first.
pub(super) fn sites(root: &Node) -> Vec<Site<'_>> {
    let mut sites = vec![Site { node: root, parent: None, from: block_from(root) }];
    visit(root, None, &mut sites);
    sites
}

/// FROM of a query of a single block.
fn block_from(query: &Node) -> Option<&Node> {
    query.child(&Tag::Block)?.child(&Tag::From)
}

fn visit<'n>(node: &'n Node, from: Option<&'n Node>, sites: &mut Vec<Site<'n>>) {
    let from = if node.tag == Tag::Block { node.child(&Tag::From) } else { from };
    for child in &node.children {
        if matches!(node.tag, Tag::Where | Tag::On) {
            condition(child, node, from, sites);
        }
        visit(child, from, sites);
    }
}

/// A condition and the operands of AND and OR in it.
fn condition<'n>(node: &'n Node, parent: &'n Node, from: Option<&'n Node>, sites: &mut Vec<Site<'n>>) {
    sites.push(Site { node, parent: Some(parent), from });
    if matches!(node.tag, Tag::And | Tag::Or | Tag::Paren) {
        for child in &node.children {
            condition(child, node, from, sites);
        }
    }
}
