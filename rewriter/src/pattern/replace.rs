//! What takes a match's place: the rule's text with the statement's own units in it.

use sql::Piece;

use super::compile::{Part, Variant};
use super::matching::Bindings;
use super::site::Site;
use crate::shape::node::{Node, Tag};

/// The pieces of a replacement.
pub(super) fn pieces(variant: &Variant, bindings: &Bindings<'_>, site: &Site<'_>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let around = needs_parentheses(variant, site);
    if around {
        pieces.push(Piece::Text("(".to_owned()));
    }
    for part in &variant.parts {
        match part {
            Part::Text(text) => pieces.push(Piece::Text(text.clone())),
            Part::Variable { name, delimited, separator } => {
                for (number, node) in bindings.all(name).iter().enumerate() {
                    if number > 0 {
                        pieces.push(Piece::Text((*separator).to_owned()));
                    }
                    operand(node, *delimited, &mut pieces);
                }
            }
        }
    }
    if around {
        pieces.push(Piece::Text(")".to_owned()));
    }
    pieces
}

/// Sites stand in clauses, AND and OR: only what binds looser than these needs parentheses.
fn needs_parentheses(variant: &Variant, site: &Site<'_>) -> bool {
    match (&variant.top, site.parent.map(|parent| &parent.tag)) {
        (_, None | Some(Tag::Where | Tag::On | Tag::Paren)) => false,
        (Tag::Or | Tag::Xor, _) => true,
        _ => false,
    }
}

fn operand(node: &Node, delimited: bool, pieces: &mut Vec<Piece>) {
    let whole = Piece::Source(node.range.clone());
    if delimited || node.is_closed() {
        pieces.push(whole);
    } else {
        pieces.push(Piece::Text("(".to_owned()));
        pieces.push(whole);
        pieces.push(Piece::Text(")".to_owned()));
    }
}
