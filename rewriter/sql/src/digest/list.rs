//! Lists of literals, which collapse to one unit however long they are.

use super::{Kinds, LiteralKind, literal_kind};
use crate::keyword::Keyword;
use crate::lexer::{Lexer, Op, Token, TokenKind};

/// What a look ahead found: where the list ends and the lexer behind it.
pub(super) struct Found<'a> {
    pub(super) lexer: Lexer<'a>,
    pub(super) end: u32,
    pub(super) pragma: bool,
}

/// Whether a comment is the pragma that turns rewriting off for its statement.
pub(super) fn is_pragma(comment: &[u8]) -> bool {
    let body = match comment {
        [b'/', b'*', body @ .., b'*', b'/'] | [b'-', b'-', body @ ..] | [b'#', body @ ..] => body,
        other => other,
    };
    let body = body.trim_ascii();
    match body.strip_prefix(b"shuntyard:") {
        Some(rest) => rest.trim_ascii() == b"rewrite=off",
        None => false,
    }
}

fn next<'a>(text: &[u8], lexer: &mut Lexer<'a>, pragma: &mut bool) -> Option<Token> {
    loop {
        let token = lexer.next()?;
        if token.kind != TokenKind::Comment {
            return Some(token);
        }
        *pragma |= is_pragma(bytes(text, token));
    }
}

fn bytes(text: &[u8], token: Token) -> &[u8] {
    text.get(token.start as usize..token.end as usize).unwrap_or_default()
}

/// One item of a list, the token behind it, and its kinds; `None` where it is not a literal alone.
fn item(text: &[u8], lexer: &mut Lexer<'_>, pragma: &mut bool) -> Option<(Kinds, Token)> {
    let mut kinds = Kinds::empty();
    let mut token = next(text, lexer, pragma)?;
    while let TokenKind::Op(Op::Minus | Op::Plus) = token.kind {
        // Two signs are an expression, and so is a sign before a string.
        if kinds.contains(Kinds::SIGNED) {
            return None;
        }
        kinds |= Kinds::SIGNED;
        token = next(text, lexer, pragma)?;
    }
    let kind = match token.kind {
        TokenKind::Word => match Keyword::of(bytes(text, token))? {
            Keyword::Null => Kinds::NULL,
            Keyword::True | Keyword::False => Kinds::BOOL,
            Keyword::Default => Kinds::DEFAULT,
            _ => return None,
        },
        kind => match literal_kind(kind, bytes(text, token))? {
            LiteralKind::Param => return None,
            kind => Kinds::of(kind),
        },
    };
    let number = Kinds::INT | Kinds::UINT | Kinds::DECIMAL | Kinds::FLOAT;
    if kinds.contains(Kinds::SIGNED) && !number.contains(kind) {
        return None;
    }
    kinds |= kind;
    let mut behind = next(text, lexer, pragma)?;
    // 'a' 'b' is one string.
    while kind == Kinds::STRING && behind.kind == TokenKind::String {
        behind = next(text, lexer, pragma)?;
    }
    Some((kinds, behind))
}

/// Reads `1, 2, 3)` behind an opening parenthesis.
pub(super) fn list<'a>(text: &[u8], mut lexer: Lexer<'a>) -> Option<(Kinds, Found<'a>)> {
    let mut kinds = Kinds::empty();
    let mut pragma = false;
    loop {
        let (found, behind) = item(text, &mut lexer, &mut pragma)?;
        kinds |= found;
        match behind.kind {
            TokenKind::Punct(b',') => {}
            TokenKind::Punct(b')') => {
                let end = behind.end;
                return Some((kinds, Found { lexer, end, pragma }));
            }
            _ => return None,
        }
    }
}

/// Reads one row behind its opening parenthesis into `shape`.
fn row<'a>(
    text: &[u8],
    mut lexer: Lexer<'a>,
    pragma: &mut bool,
    mut each: impl FnMut(usize, Kinds) -> bool,
) -> Option<(Lexer<'a>, u32, usize)> {
    let mut columns = 0;
    loop {
        let (kinds, behind) = item(text, &mut lexer, pragma)?;
        if !each(columns, kinds) {
            return None;
        }
        columns += 1;
        match behind.kind {
            TokenKind::Punct(b',') => {}
            TokenKind::Punct(b')') => return Some((lexer, behind.end, columns)),
            _ => return None,
        }
    }
}

/// Reads `1, 'a'), (2, 'b')` behind an opening parenthesis, as far as the rows have the kinds of the first.
pub(super) fn rows<'a>(text: &[u8], lexer: Lexer<'a>, shape: &mut Vec<Kinds>) -> Option<Found<'a>> {
    shape.clear();
    let mut pragma = false;
    let (mut lexer, mut end, _) = row(text, lexer, &mut pragma, |_, kinds| {
        shape.push(kinds);
        true
    })?;
    loop {
        let mut ahead = lexer;
        let mut pragma_ahead = pragma;
        let comma = next(text, &mut ahead, &mut pragma_ahead);
        if comma.is_none_or(|token| token.kind != TokenKind::Punct(b',')) {
            break;
        }
        let open = next(text, &mut ahead, &mut pragma_ahead);
        if open.is_none_or(|token| token.kind != TokenKind::Punct(b'(')) {
            break;
        }
        let read = row(text, ahead, &mut pragma_ahead, |column, kinds| shape.get(column) == Some(&kinds));
        match read {
            Some((behind, row_end, columns)) if columns == shape.len() => {
                lexer = behind;
                end = row_end;
                pragma = pragma_ahead;
            }
            _ => break,
        }
    }
    Some(Found { lexer, end, pragma })
}
