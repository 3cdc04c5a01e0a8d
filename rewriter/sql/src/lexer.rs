//! Cuts MySQL text into tokens, byte by byte, exactly where the servers' own lexers cut it.

mod class;
mod comment;
mod literal;
mod number;
mod quoted;

pub use literal::{decode_identifier, decode_string, integer};

use memchr::memchr;

use crate::flavor::{Flavor, Product, SqlMode};
use class::{DIGIT, IDENT, SPACE, is};

/// An operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Op {
    /// `=`
    Eq,
    /// `<=>`
    NullSafeEq,
    /// `<>` and `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`, also the star of a select list
    Star,
    /// `/`
    Slash,
    /// `%`
    Percent,
    /// `&`
    Amp,
    /// `|`
    Pipe,
    /// `^`
    Caret,
    /// `~`
    Tilde,
    /// `!`
    Bang,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
    /// `&&`
    AndAnd,
    /// `||`
    OrOr,
    /// `:=`
    Assign,
    /// `->`
    Arrow,
    /// `->>`
    LongArrow,
    /// `:` of a label
    Colon,
}

/// What a token is. Whitespace is between tokens and never one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// An unquoted word that may be a keyword.
    Word,
    /// An unquoted identifier that cannot be a keyword: it stands directly beside a dot or begins with a digit.
    Ident,
    /// `` `…` ``, and `"…"` under ANSI_QUOTES; quotes included.
    QuotedIdent,
    /// `'…'`, and `"…"` without ANSI_QUOTES; quotes included.
    String,
    /// `N'…'`.
    NString,
    /// `_utf8mb4`, `_binary`, …: the word before a string, hex or bit literal.
    Introducer,
    /// `x'…'` or `0x…`.
    Hex,
    /// `b'…'` or `0b…`.
    Bit,
    /// Digits.
    Int,
    /// `1.5`, `.5`, `1.`.
    Decimal,
    /// `1e5`, `1.5e-3`.
    Float,
    /// `?`.
    Param,
    /// `@a`, `` @`a` ``, `@'a'`; also the host of an account name.
    UserVar,
    /// `@@a`, `@@global.a`.
    SysVar,
    /// An operator.
    Op(Op),
    /// `(`, `)`, `,`, `;`, `.`, `{`, `}`.
    Punct(u8),
    /// `/*+ … */` after SELECT, INSERT, REPLACE, UPDATE or DELETE.
    Hint,
    /// `/*! … */` or `/*M! … */`: text that a server executes.
    ExecutableComment,
    /// `-- …`, `# …` or `/* … */`.
    Comment,
    /// A byte or an unclosed string or comment that no server accepts; reaches at least one byte.
    Error,
}

/// A piece of text: bytes `start..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Its first byte.
    pub start: u32,
    /// One past its last byte.
    pub end: u32,
}

/// An iterator over the tokens of a text; copying it remembers a position.
///
/// Text beyond `u32::MAX` bytes is not read (a packet's text is at most 1 GB). Sources of the rules: `sql_lex.cc` of
/// MariaDB 10.11 and `sql_lexer.cc` of MySQL 9.7, tried on both servers.
#[derive(Clone, Copy, Debug)]
pub struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
    previous: Previous,
    ansi_quotes: bool,
    backslash: bool,
    product: Product,
}

/// What the token before the current position allows here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Previous {
    /// Nothing special.
    Other,
    /// A word, from this byte to the end of the token: `/*+` may be a hint.
    Word(usize, usize),
    /// An unquoted identifier after which a dot and another identifier stand directly.
    Ident,
    /// That dot, or any dot directly before an identifier.
    Dot,
}

impl<'a> Lexer<'a> {
    /// A lexer at the head of a text. The caller has made sure that the charset is not `Unsafe`.
    pub fn new(text: &'a [u8], flavor: Flavor) -> Lexer<'a> {
        Lexer {
            text: text.get(..text.len().min(u32::MAX as usize)).unwrap_or_default(),
            at: 0,
            previous: Previous::Other,
            ansi_quotes: flavor.mode.contains(SqlMode::ANSI_QUOTES),
            backslash: !flavor.mode.contains(SqlMode::NO_BACKSLASH_ESCAPES),
            product: flavor.product,
        }
    }

    /// The byte there, or 0 beyond the end; NUL itself never continues a token outside of strings.
    #[inline]
    fn byte(&self, at: usize) -> u8 {
        self.text.get(at).copied().unwrap_or(0)
    }

    #[inline]
    fn run(&self, mut at: usize, class: u8) -> usize {
        while is(self.byte(at), class) {
            at += 1;
        }
        at
    }

    fn rest(&self, at: usize) -> &'a [u8] {
        self.text.get(at..).unwrap_or_default()
    }

    fn word(&mut self, at: usize) -> (TokenKind, usize) {
        let end = self.run(at, IDENT);
        if self.byte(end) == b'.' && is(self.byte(end + 1), IDENT) {
            self.previous = Previous::Ident;
            return (TokenKind::Ident, end);
        }
        // MySQL 8.0.32 and later: $$ … $$ and $tag$ … $tag$ quote the source of routines.
        if self.byte(at) == b'$' && self.product == Product::MySql {
            let dollar = memchr(b'$', self.text.get(at + 1..end).unwrap_or_default());
            if dollar.is_some() {
                return (TokenKind::Error, self.text.len());
            }
        }
        self.previous = Previous::Word(at, end);
        let word = self.text.get(at..end).unwrap_or_default();
        if word.first() == Some(&b'_') && literal::is_charset(word.get(1..).unwrap_or_default()) {
            return (TokenKind::Introducer, end);
        }
        (TokenKind::Word, end)
    }

    /// An identifier that stands directly after a dot: never a keyword, may begin with a digit.
    fn after_dot(&mut self, at: usize) -> (TokenKind, usize) {
        let end = self.run(at, IDENT);
        if self.byte(end) == b'.' && is(self.byte(end + 1), IDENT) {
            self.previous = Previous::Ident;
        }
        (TokenKind::Ident, end)
    }

    /// The operator at `at` and its length, or an error for a combination that the servers read as one token and
    /// then refuse.
    fn operator(&self, at: usize) -> (TokenKind, usize) {
        let (second, third) = (self.byte(at + 1), self.byte(at + 2));
        let (op, len) = match (self.byte(at), second, third) {
            (b'<', b'=', b'>') => (Op::NullSafeEq, 3),
            (b'<', b'=', _) => (Op::Le, 2),
            (b'<', b'>', _) => (Op::Ne, 2),
            (b'<', b'<', _) => (Op::ShiftLeft, 2),
            (b'<', _, _) => (Op::Lt, 1),
            (b'>', b'=', _) => (Op::Ge, 2),
            (b'>', b'>', _) => (Op::ShiftRight, 2),
            (b'>', _, _) => (Op::Gt, 1),
            (b'!', b'=', _) => (Op::Ne, 2),
            (b'!', _, _) => (Op::Bang, 1),
            (b'=', _, _) => (Op::Eq, 1),
            (b'&', b'&', _) => (Op::AndAnd, 2),
            (b'&', _, _) => (Op::Amp, 1),
            (b'|', b'|', _) => (Op::OrOr, 2),
            (b'|', _, _) => (Op::Pipe, 1),
            (b':', b'=', _) => (Op::Assign, 2),
            (b':', _, _) => (Op::Colon, 1),
            (b'-', b'>', b'>') => (Op::LongArrow, 3),
            (b'-', b'>', _) => (Op::Arrow, 2),
            (b'-', _, _) => (Op::Minus, 1),
            (b'+', _, _) => (Op::Plus, 1),
            (b'*', _, _) => (Op::Star, 1),
            (b'/', _, _) => (Op::Slash, 1),
            (b'%', _, _) => (Op::Percent, 1),
            (b'^', _, _) => (Op::Caret, 1),
            (b'~', _, _) => (Op::Tilde, 1),
            _ => return (TokenKind::Error, at + 1),
        };
        (TokenKind::Op(op), at + len)
    }

    fn token(&mut self, at: usize) -> (TokenKind, usize) {
        let previous = self.previous;
        let byte = self.byte(at);
        if previous == Previous::Dot && is(byte, IDENT) {
            self.previous = Previous::Other;
            return self.after_dot(at);
        }
        if byte == b'/' && self.byte(at + 1) == b'*' {
            // A comment leaves `previous` as it is: /*+ … */ may follow it.
            return self.block_comment(at);
        }
        if byte == b'#' || (byte == b'-' && self.byte(at + 1) == b'-' && self.ends_dashes(at + 2)) {
            return self.line_comment(at);
        }
        self.previous = Previous::Other;
        match byte {
            b'0'..=b'9' => self.number(at),
            b'\'' => self.string(at, at, TokenKind::String),
            b'"' if self.ansi_quotes => self.quoted(at, at, TokenKind::QuotedIdent),
            b'"' => self.string(at, at, TokenKind::String),
            b'`' => self.quoted(at, at, TokenKind::QuotedIdent),
            b'n' | b'N' if self.byte(at + 1) == b'\'' => self.string(at, at + 1, TokenKind::NString),
            b'x' | b'X' if self.byte(at + 1) == b'\'' => self.digits(at, TokenKind::Hex),
            b'b' | b'B' if self.byte(at + 1) == b'\'' => self.digits(at, TokenKind::Bit),
            b'?' => (TokenKind::Param, at + 1),
            b'@' => self.at_sign(at),
            b'.' => {
                if previous != Previous::Ident && is(self.byte(at + 1), DIGIT) {
                    return self.real(at + 1);
                }
                if is(self.byte(at + 1), IDENT) {
                    self.previous = Previous::Dot;
                }
                (TokenKind::Punct(b'.'), at + 1)
            }
            b'(' | b')' | b',' | b';' | b'{' | b'}' => (TokenKind::Punct(byte), at + 1),
            _ if is(byte, IDENT) => self.word(at),
            _ => self.operator(at),
        }
    }
}

impl Iterator for Lexer<'_> {
    type Item = Token;

    #[inline]
    fn next(&mut self) -> Option<Token> {
        let start = self.run(self.at, SPACE);
        if start >= self.text.len() {
            self.at = start;
            return None;
        }
        let (kind, end) = self.token(start);
        self.at = end;
        Some(Token { kind, start: start as u32, end: end as u32 })
    }
}

#[cfg(test)]
mod tests;
