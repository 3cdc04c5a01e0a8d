//! Names as they are written, and the items of a select list.

use std::ops::Range;

use sql::{Keyword, UnitKind};

use super::expr::Reference;
use super::{Item, ItemKind, Source, is_star};

/// Whether a unit can be a name: a plain or quoted identifier, or a word that no server reserves.
pub(crate) fn is_identifier(kind: Option<UnitKind>) -> bool {
    match kind {
        Some(UnitKind::Word | UnitKind::QuotedIdent) => true,
        Some(UnitKind::Keyword(word)) => !word.reserved(),
        _ => false,
    }
}

/// A name without its quotes. `None` where its bytes are not UTF-8: such a name is never compared.
pub(crate) fn name(source: &Source<'_>, unit: u32) -> Option<String> {
    let bytes = source.bytes(unit);
    let text = std::str::from_utf8(bytes).ok()?;
    match source.kind(unit)? {
        UnitKind::Word | UnitKind::Keyword(_) => Some(text.to_owned()),
        UnitKind::QuotedIdent => {
            let quote = text.chars().next()?;
            let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
            let doubled: String = [quote, quote].iter().collect();
            Some(inner.replace(&doubled, quote.encode_utf8(&mut [0; 4])))
        }
        // An alias in quotes of a string. Escapes are not resolved, so such a name equals nothing that has one.
        UnitKind::Literal { .. } => {
            let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
            let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
            (!inner.contains([quote, '\\'])).then(|| inner.to_owned())
        }
        _ => None,
    }
}

/// Whether two names of columns are the same to the server: without regard to case.
pub(crate) fn names_equal(a: &str, b: &str) -> bool {
    a == b || a.to_lowercase() == b.to_lowercase()
}

/// Reads one item: its value, its alias, its kind.
pub(super) fn item(source: &Source<'_>, range: Range<u32>) -> Item {
    let (value, alias) = split_alias(source, &range);
    let kind = kind(source, &value);
    Item { range, value, alias, kind }
}

/// `expr AS name`, `expr name`, `expr 'name'`.
fn split_alias(source: &Source<'_>, range: &Range<u32>) -> (Range<u32>, Option<u32>) {
    let last = range.end - 1;
    let whole = (range.clone(), None);
    if range.end - range.start < 2 {
        return whole;
    }
    let quoted = matches!(source.kind(last), Some(UnitKind::Literal { .. })) && {
        let bytes = source.bytes(last);
        matches!(bytes.first(), Some(b'\'' | b'"'))
    };
    if source.is(last - 1, Keyword::As) && last - 1 > range.start {
        if is_identifier(source.kind(last)) || quoted {
            return (range.start..last - 1, Some(last));
        }
        return whole;
    }
    if !is_identifier(source.kind(last)) && !quoted {
        return whole;
    }
    // Without AS: the unit before ends an expression exactly when nothing more must follow it.
    let ends = match source.kind(last - 1) {
        Some(UnitKind::Punct(b')') | UnitKind::Word | UnitKind::QuotedIdent) => true,
        Some(UnitKind::Literal { .. }) => !quoted,
        Some(UnitKind::List(_) | UnitKind::Rows { .. } | UnitKind::SysVar | UnitKind::UserVar) => true,
        Some(UnitKind::Keyword(word)) => {
            !word.reserved() || matches!(word, Keyword::Null | Keyword::True | Keyword::False)
        }
        _ => false,
    };
    if ends { (range.start..last, Some(last)) } else { whole }
}

fn kind(source: &Source<'_>, value: &Range<u32>) -> ItemKind {
    let length = value.end - value.start;
    if length == 1 && is_star(source.kind(value.start)) {
        return ItemKind::Star;
    }
    if length >= 3 && is_star(source.kind(value.end - 1)) && source.is_punct(value.end - 2, b'.') {
        return match Reference::read(source, &(value.start..value.end - 2)) {
            Some(reference) => ItemKind::QualifiedStar(reference),
            None => ItemKind::Expression,
        };
    }
    if let Some(reference) = Reference::read(source, value) {
        return ItemKind::Column(reference);
    }
    if length == 1 && source.is(value.start, Keyword::Null) {
        return ItemKind::Null;
    }
    let literal = |at: u32| match source.kind(at) {
        Some(UnitKind::Literal { kind, .. }) => kind != sql::digest::LiteralKind::Param,
        Some(UnitKind::Keyword(word)) => matches!(word, Keyword::True | Keyword::False),
        _ => false,
    };
    let sign = |at: u32| matches!(source.kind(at), Some(UnitKind::Op(sql::Op::Minus)));
    if (length == 1 && literal(value.start)) || (length == 2 && sign(value.start) && literal(value.start + 1))
    {
        return ItemKind::Literal;
    }
    ItemKind::Expression
}
