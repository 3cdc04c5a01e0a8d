//! Strings, quoted identifiers and variables.

use memchr::{memchr, memchr2};

use super::class::{IDENT, is};
use super::{Lexer, TokenKind};

impl Lexer<'_> {
    /// One past the closing quote of a string that opens at `at`.
    pub(super) fn string_end(&self, at: usize, quote: u8) -> Option<usize> {
        let mut at = at + 1;
        loop {
            let found = if self.backslash {
                memchr2(quote, b'\\', self.rest(at))?
            } else {
                memchr(quote, self.rest(at))?
            };
            at += found;
            if self.byte(at) == b'\\' && self.backslash {
                at += 2;
                if at > self.text.len() {
                    return None;
                }
            } else if self.byte(at + 1) == quote {
                at += 2;
            } else {
                return Some(at + 1);
            }
        }
    }

    /// One past the closing quote of an identifier that opens at `at`.
    pub(super) fn quoted_end(&self, at: usize, quote: u8) -> Option<usize> {
        let mut at = at + 1;
        loop {
            at += memchr(quote, self.rest(at))?;
            if self.byte(at + 1) == quote {
                at += 2;
            } else {
                return Some(at + 1);
            }
        }
    }

    pub(super) fn string(&self, at: usize, open: usize, kind: TokenKind) -> (TokenKind, usize) {
        match self.string_end(open, self.byte(open)) {
            Some(end) => (kind, end),
            None => (TokenKind::Error, self.text.len().max(at + 1)),
        }
    }

    pub(super) fn quoted(&self, at: usize, open: usize, kind: TokenKind) -> (TokenKind, usize) {
        match self.quoted_end(open, self.byte(open)) {
            Some(end) => (kind, end),
            None => (TokenKind::Error, self.text.len().max(at + 1)),
        }
    }

    pub(super) fn at_sign(&self, at: usize) -> (TokenKind, usize) {
        match self.byte(at + 1) {
            b'@' => self.system_variable(at),
            b'\'' => self.string(at, at + 1, TokenKind::UserVar),
            b'"' if self.ansi_quotes => self.quoted(at, at + 1, TokenKind::UserVar),
            b'"' => self.string(at, at + 1, TokenKind::UserVar),
            b'`' => self.quoted(at, at + 1, TokenKind::UserVar),
            _ => {
                let mut end = at + 1;
                while is(self.byte(end), IDENT) || self.byte(end) == b'.' {
                    end += 1;
                }
                let kind = if end > at + 1 { TokenKind::UserVar } else { TokenKind::Error };
                (kind, end)
            }
        }
    }

    pub(super) fn system_variable(&self, at: usize) -> (TokenKind, usize) {
        let mut part = at + 2;
        loop {
            let end = if self.byte(part) == b'`' {
                match self.quoted_end(part, b'`') {
                    Some(end) => end,
                    None => return (TokenKind::Error, self.text.len()),
                }
            } else {
                self.run(part, IDENT)
            };
            if end == part {
                return (TokenKind::Error, end.min(self.text.len()));
            }
            let next = self.byte(end + 1);
            if self.byte(end) == b'.' && (is(next, IDENT) || next == b'`') {
                part = end + 1;
            } else {
                return (TokenKind::SysVar, end);
            }
        }
    }
}
