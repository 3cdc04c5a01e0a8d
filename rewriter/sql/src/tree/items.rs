//! The literals inside a collapsed list or row.

use super::ParseError;
use crate::digest::{Kinds, LiteralKind};
use crate::flavor::Flavor;
use crate::keyword::Keyword;
use crate::lexer::{Lexer, Op, TokenKind};

/// One literal of a list.
pub(super) struct Item<'t> {
    pub(super) sign: Option<Op>,
    /// None for NULL, TRUE, FALSE, DEFAULT.
    pub(super) literal: Option<LiteralKind>,
    pub(super) kinds: Kinds,
    pub(super) source: &'t str,
}

/// Where the first row of a run ends.
pub(super) fn first_row(source: &str, flavor: Flavor) -> Option<usize> {
    Lexer::new(source.as_bytes(), flavor)
        .find(|token| token.kind == TokenKind::Punct(b')'))
        .map(|token| token.end as usize)
}

/// The items of `(1, -2, 'a')`; of adjacent strings the first stands for all.
pub(super) fn items(source: &str, flavor: Flavor) -> Result<Vec<Item<'_>>, ParseError> {
    let mut items: Vec<Item<'_>> = Vec::new();
    let mut sign = None;
    let mut string_before = false;
    for token in Lexer::new(source.as_bytes(), flavor) {
        let text = source.get(token.start as usize..token.end as usize).unwrap_or_default();
        match token.kind {
            TokenKind::Punct(_) => string_before = false,
            TokenKind::Comment => {}
            TokenKind::Op(op @ (Op::Minus | Op::Plus)) => sign = Some(op),
            TokenKind::String if string_before => {}
            kind => {
                let literal = crate::digest::literal_kind(kind, text.as_bytes());
                string_before = literal == Some(LiteralKind::String);
                let kinds = match literal {
                    Some(kind) => Kinds::of(kind),
                    None => match Keyword::of(text.as_bytes()) {
                        Some(Keyword::Null) => Kinds::NULL,
                        Some(Keyword::Default) => Kinds::DEFAULT,
                        Some(Keyword::True | Keyword::False) => Kinds::BOOL,
                        _ => return Err(ParseError::NotCovered("an item of a list")),
                    },
                };
                let sign = sign.take();
                let kinds = if sign.is_some() { kinds | Kinds::SIGNED } else { kinds };
                items.push(Item { sign, literal, kinds, source: text });
            }
        }
    }
    Ok(items)
}
