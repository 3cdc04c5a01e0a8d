//! A statement as people read it: without literals, with single spaces.

use super::{Scanner, Unit, UnitKind};
use crate::flavor::Flavor;

/// The text of a digest: `?` for literals, `(...)` for lists of them, reserved words in upper case, comments gone.
///
/// No literal survives, nor anything else that is quoted like one: hints, executable comments and whatever cannot be
/// lexed are named, not shown. Bytes that are not UTF-8 are replaced.
pub fn normalize(text: &[u8], flavor: Flavor) -> String {
    let mut scanner = Scanner::new();
    let scan = scanner.scan(text, flavor);
    let mut out = String::with_capacity(text.len().min(1024));
    let mut before: Option<&Unit> = None;
    for unit in scan.units {
        if before.is_some_and(|before| spaced(before, unit)) {
            out.push(' ');
        }
        print(unit, text, &mut out);
        before = Some(unit);
    }
    if scan.units.is_empty() && scan.marks.contains(super::Marks::ERROR) {
        out.push_str("(not readable in this character set)");
    } else if scan.marks.contains(super::Marks::LONG) {
        out.push_str(" ...");
    }
    out
}

fn spaced(before: &Unit, unit: &Unit) -> bool {
    match (before.kind, unit.kind) {
        (UnitKind::Punct(b'(' | b'.'), _) | (_, UnitKind::Punct(b')' | b',' | b'.' | b';')) => false,
        (UnitKind::Word | UnitKind::Keyword(_), UnitKind::Punct(b'(')) => before.end != unit.start,
        // 'user'@'host'
        (UnitKind::Literal { .. } | UnitKind::QuotedIdent | UnitKind::Word, UnitKind::UserVar) => {
            before.end != unit.start
        }
        _ => true,
    }
}

fn print(unit: &Unit, text: &[u8], out: &mut String) {
    match unit.kind {
        UnitKind::Keyword(keyword) if keyword.reserved() => out.push_str(keyword.text()),
        UnitKind::Literal { .. } => out.push('?'),
        UnitKind::List(_) | UnitKind::Rows { .. } => out.push_str("(...)"),
        UnitKind::Hint => out.push_str("/*+ ... */"),
        UnitKind::ExecutableComment => out.push_str("/*! ... */"),
        UnitKind::Error => out.push_str("<?>"),
        UnitKind::UserVar if matches!(unit.of(text).get(1), Some(b'\'' | b'"')) => {
            out.push_str("@?");
        }
        _ => out.push_str(&String::from_utf8_lossy(unit.of(text))),
    }
}
