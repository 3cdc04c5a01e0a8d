//! Comments, hints and executable comments.

use memchr::{memchr2, memmem};

use super::{Lexer, Previous, TokenKind};

impl Lexer<'_> {
    pub(super) fn line_comment(&self, at: usize) -> (TokenKind, usize) {
        let rest = self.rest(at);
        // A NUL ends the comment for the server, which then stumbles: not followed here.
        match memchr2(b'\n', 0, rest) {
            Some(found) if self.byte(at + found) == 0 => (TokenKind::Error, self.text.len()),
            Some(found) => (TokenKind::Comment, at + found + 1),
            None => (TokenKind::Comment, self.text.len()),
        }
    }

    pub(super) fn block_comment(&self, at: usize) -> (TokenKind, usize) {
        let Some(close) = memmem::find(self.rest(at + 2), b"*/") else {
            return (TokenKind::Error, self.text.len());
        };
        let end = at + 2 + close + 2;
        let kind = match (self.byte(at + 2), self.byte(at + 3)) {
            (b'!', _) | (b'M', b'!') => TokenKind::ExecutableComment,
            (b'+', _) if self.after_hintable() => TokenKind::Hint,
            _ => TokenKind::Comment,
        };
        (kind, end)
    }

    pub(super) fn after_hintable(&self) -> bool {
        let Previous::Word(start, end) = self.previous else {
            return false;
        };
        let word = self.text.get(start..end).unwrap_or_default();
        ["SELECT", "INSERT", "REPLACE", "UPDATE", "DELETE"]
            .iter()
            .any(|known| known.as_bytes().eq_ignore_ascii_case(word))
    }

    /// `--` begins a comment only before white space, a control character or the end.
    pub(super) fn ends_dashes(&self, at: usize) -> bool {
        let byte = self.byte(at);
        byte <= b' ' || byte == 0x7f
    }
}
