//! Writes MySQL tokens down again as the evaluator's dialect of SQL.
//!
//! Identifiers stay in backquotes, which never fall back to strings; strings lose their escapes; `LIKE` gets MySQL's
//! default escape character. What has no counterpart is a syntax error.

use sql::lexer::{decode_identifier, decode_string};
use sql::{Op, TokenKind};
use wire::SqlError;

use super::syntax;

/// A token with its text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece<'t> {
    pub(super) kind: TokenKind,
    pub(super) text: &'t str,
}

impl Piece<'_> {
    /// Whether it is this keyword, unquoted.
    pub(super) fn is(&self, word: &str) -> bool {
        self.kind == TokenKind::Word && self.text.eq_ignore_ascii_case(word)
    }

    /// Whether it is this punctuation.
    pub(super) fn is_punct(&self, byte: u8) -> bool {
        self.kind == TokenKind::Punct(byte)
    }

    /// Its name, where it is an identifier.
    pub(super) fn name(&self) -> Option<String> {
        match self.kind {
            TokenKind::Word | TokenKind::Ident => Some(self.text.to_owned()),
            TokenKind::QuotedIdent => String::from_utf8(decode_identifier(self.text.as_bytes())).ok(),
            _ => None,
        }
    }

    /// Whether it is an identifier of this name, in any case.
    pub(super) fn names(&self, name: &str) -> bool {
        self.name().is_some_and(|own| own.eq_ignore_ascii_case(name))
    }

    fn string(&self, backslash: bool) -> Option<String> {
        match self.kind {
            TokenKind::String | TokenKind::NString => {
                let text = String::from_utf8(decode_string(self.text.as_bytes(), backslash)?).ok()?;
                (!text.contains('\0')).then_some(text)
            }
            _ => None,
        }
    }
}

/// A string literal.
pub(super) fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// `LIKE <pattern>` with MySQL's escape character; `None` where the pattern is no string.
pub(super) fn like(pattern: &Piece<'_>, backslash: bool) -> Option<String> {
    let pattern = pattern.string(backslash)?;
    Some(format!("LIKE {}{}", quote(&pattern), if backslash { " ESCAPE '\\'" } else { "" }))
}

/// One statement; a semicolon may end it.
pub(super) fn translate(pieces: &[Piece<'_>], backslash: bool) -> Result<String, SqlError> {
    let mut sql = String::new();
    let mut pieces = pieces.iter().peekable();
    while let Some(piece) = pieces.next() {
        if piece.is_punct(b';') {
            match pieces.next() {
                None => break,
                Some(more) => return Err(refused(more, "one statement at a time")),
            }
        }
        if !sql.is_empty() && !piece.is_punct(b'.') && !sql.ends_with('.') && !piece.is_punct(b'(') {
            sql.push(' ');
        }
        if piece.is("LIKE")
            && let Some(pattern) = pieces.peek()
            && let Some(text) = like(pattern, backslash)
        {
            let pattern = pieces.next().and_then(|pattern| pattern.string(backslash)).unwrap_or_default();
            if pieces.peek().is_some_and(|next| next.is("ESCAPE")) {
                sql.push_str("LIKE ");
                sql.push_str(&quote(&pattern));
            } else {
                sql.push_str(&text);
            }
            continue;
        }
        write(piece, backslash, &mut sql)?;
    }
    Ok(sql)
}

fn write(piece: &Piece<'_>, backslash: bool, sql: &mut String) -> Result<(), SqlError> {
    let text = match piece.kind {
        // Behind a dot every word is a name, also one that only the evaluator takes for a keyword.
        TokenKind::Word | TokenKind::Ident if sql.ends_with('.') => {
            sql.push('`');
            sql.push_str(piece.text);
            sql.push('`');
            return Ok(());
        }
        TokenKind::Word | TokenKind::Ident | TokenKind::Int | TokenKind::Decimal | TokenKind::Float => {
            piece.text
        }
        TokenKind::QuotedIdent => {
            let name =
                piece.name().filter(|name| !name.contains('\0')).ok_or_else(|| refused(piece, "near"))?;
            sql.push('`');
            sql.push_str(&name.replace('`', "``"));
            sql.push('`');
            return Ok(());
        }
        TokenKind::String | TokenKind::NString => {
            let text = piece.string(backslash).ok_or_else(|| refused(piece, "near"))?;
            sql.push_str(&quote(&text));
            return Ok(());
        }
        TokenKind::Punct(b'(' | b')' | b',' | b'.') => piece.text,
        TokenKind::Op(Op::NullSafeEq) => "IS",
        TokenKind::Op(Op::Bang) => "NOT",
        TokenKind::Op(Op::AndAnd) => "AND",
        TokenKind::Op(Op::OrOr) => "OR",
        TokenKind::Op(Op::Caret | Op::Assign | Op::Arrow | Op::LongArrow | Op::Colon) => {
            return Err(refused(piece, "not available on these tables"));
        }
        TokenKind::Op(_) => piece.text,
        _ => return Err(refused(piece, "not available on these tables")),
    };
    sql.push_str(text);
    Ok(())
}

fn refused(piece: &Piece<'_>, why: &str) -> SqlError {
    let shown: String = piece.text.chars().take(80).collect();
    syntax(format!("You have an error in your SQL syntax: {why} '{shown}'"))
}

#[cfg(test)]
mod tests;
