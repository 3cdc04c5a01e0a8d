//! Numbers, and identifiers that begin like one.

use super::class::{DIGIT, HEX, IDENT, is};
use super::{Lexer, TokenKind};

impl Lexer<'_> {
    pub(super) fn number(&mut self, at: usize) -> (TokenKind, usize) {
        if self.byte(at) == b'0' {
            match self.byte(at + 1) {
                b'x' => {
                    let end = self.run(at + 2, HEX);
                    if end > at + 2 && !is(self.byte(end), IDENT) {
                        return (TokenKind::Hex, end);
                    }
                    return self.digit_ident(at);
                }
                b'b' => {
                    let digits = self.rest(at + 2);
                    let end = at + 2 + digits.iter().take_while(|b| matches!(b, b'0' | b'1')).count();
                    if end > at + 2 && !is(self.byte(end), IDENT) {
                        return (TokenKind::Bit, end);
                    }
                    return self.digit_ident(at);
                }
                _ => {}
            }
        }
        let end = self.run(at, DIGIT);
        let next = self.byte(end);
        if next == b'.' {
            return self.real(end + 1);
        }
        if !is(next, IDENT) {
            return (TokenKind::Int, end);
        }
        if matches!(next, b'e' | b'E') {
            let sign = usize::from(matches!(self.byte(end + 1), b'+' | b'-'));
            if is(self.byte(end + 1 + sign), DIGIT) {
                return (TokenKind::Float, self.run(end + 1 + sign, DIGIT));
            }
        }
        self.digit_ident(at)
    }

    pub(super) fn digit_ident(&mut self, at: usize) -> (TokenKind, usize) {
        self.after_dot(at)
    }

    /// What follows the point of a number.
    pub(super) fn real(&self, at: usize) -> (TokenKind, usize) {
        let end = self.run(at, DIGIT);
        if !matches!(self.byte(end), b'e' | b'E') {
            return (TokenKind::Decimal, end);
        }
        let sign = usize::from(matches!(self.byte(end + 1), b'+' | b'-'));
        if is(self.byte(end + 1 + sign), DIGIT) {
            (TokenKind::Float, self.run(end + 1 + sign, DIGIT))
        } else {
            (TokenKind::Error, end + 1)
        }
    }

    /// `x'…'` and `b'…'`: even hex digits, binary digits.
    pub(super) fn digits(&self, at: usize, kind: TokenKind) -> (TokenKind, usize) {
        let open = at + 2;
        let close = match kind {
            TokenKind::Hex => self.run(open, HEX),
            _ => open + self.rest(open).iter().take_while(|b| matches!(b, b'0' | b'1')).count(),
        };
        let whole = kind != TokenKind::Hex || (close - open).is_multiple_of(2);
        if self.byte(close) == b'\'' && whole {
            (kind, close + 1)
        } else {
            (TokenKind::Error, close.min(self.text.len()))
        }
    }
}
