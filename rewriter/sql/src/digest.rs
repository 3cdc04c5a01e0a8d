//! Reduces a text to what a plan may depend on: a digest over its units, and the literals apart as slots.

mod encode;
mod list;
mod normalize;
mod scanner;
mod words;

use bitflags::bitflags;

pub use normalize::normalize;
pub use scanner::Scanner;

use crate::keyword::Keyword;
use crate::lexer::{Op, TokenKind, integer};
use crate::verb::Verb;

/// The identity of a statement without its literals: xxh3-128 over the units.
///
/// Two texts with equal digest under the same [`SqlMode::LEXICAL`](crate::SqlMode::LEXICAL) flags, product and charset class may be served by one plan
/// that differs only in slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest(pub u128);

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

bitflags! {
    /// What a text holds that the proxy must know before it looks at a plan.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Marks: u16 {
        /// More units follow a `;`: several statements, or the body of a routine (see `COMPOUND`).
        const MULTI = 1;
        /// `/*! … */` or `/*M! … */`.
        const EXECUTABLE_COMMENT = 1 << 1;
        /// `/*+ … */`.
        const HINT = 1 << 2;
        /// A comment `shuntyard: rewrite=off`.
        const PRAGMA_OFF = 1 << 3;
        /// `@a`, also the host of an account name.
        const USER_VAR = 1 << 4;
        /// `@@a`.
        const SYS_VAR = 1 << 5;
        /// A `?` parameter.
        const PARAM = 1 << 6;
        /// Something no server lexes; whatever follows is guessed.
        const ERROR = 1 << 7;
        /// `:=`.
        const ASSIGN = 1 << 8;
        /// `CREATE … PROCEDURE|FUNCTION|TRIGGER|EVENT|PACKAGE`, or a compound statement: `;` may belong to a body.
        const COMPOUND = 1 << 9;
        /// More units than [`MAX_UNITS`]: the digest covers them all, the lists of units and slots do not.
        const LONG = 1 << 10;
        /// INTO at any place: INSERT INTO as well as SELECT … INTO OUTFILE.
        const INTO = 1 << 11;
        /// FOR UPDATE, FOR SHARE, LOCK IN SHARE MODE.
        const LOCKING = 1 << 12;
        /// SQL_CALC_FOUND_ROWS.
        const CALC_FOUND_ROWS = 1 << 13;
    }
}

impl Marks {
    /// Marks under which a text is only ever forwarded.
    pub const OPAQUE: Marks = Marks::EXECUTABLE_COMMENT.union(Marks::ERROR).union(Marks::LONG);
}

/// How many units are kept; a longer text is marked [`Marks::LONG`].
pub const MAX_UNITS: usize = 1 << 16;

/// The kind of a literal, which is part of the digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum LiteralKind {
    /// Digits up to 9223372036854775807.
    Int,
    /// Digits up to 18446744073709551615.
    UInt,
    /// With a point, or digits beyond 64 bits.
    Decimal,
    /// With an exponent.
    Float,
    /// `'…'`; an introducer before it is a unit of its own.
    String,
    /// `N'…'`.
    NString,
    /// `x'…'`, `0x…`.
    Hex,
    /// `b'…'`, `0b…`.
    Bit,
    /// `?`.
    Param,
}

bitflags! {
    /// Which kinds of literals a collapsed list holds.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Kinds: u16 {
        /// [`LiteralKind::Int`]
        const INT = 1;
        /// [`LiteralKind::UInt`]
        const UINT = 1 << 1;
        /// [`LiteralKind::Decimal`]
        const DECIMAL = 1 << 2;
        /// [`LiteralKind::Float`]
        const FLOAT = 1 << 3;
        /// [`LiteralKind::String`]
        const STRING = 1 << 4;
        /// [`LiteralKind::NString`]
        const NSTRING = 1 << 5;
        /// [`LiteralKind::Hex`]
        const HEX = 1 << 6;
        /// [`LiteralKind::Bit`]
        const BIT = 1 << 7;
        /// `-5`: a number of any of these kinds behind a sign.
        const SIGNED = 1 << 8;
        /// NULL
        const NULL = 1 << 9;
        /// TRUE or FALSE
        const BOOL = 1 << 10;
        /// DEFAULT
        const DEFAULT = 1 << 11;
    }
}

impl Kinds {
    pub(crate) fn of(kind: LiteralKind) -> Kinds {
        match kind {
            LiteralKind::Int => Kinds::INT,
            LiteralKind::UInt => Kinds::UINT,
            LiteralKind::Decimal => Kinds::DECIMAL,
            LiteralKind::Float => Kinds::FLOAT,
            LiteralKind::String => Kinds::STRING,
            LiteralKind::NString => Kinds::NSTRING,
            LiteralKind::Hex => Kinds::HEX,
            LiteralKind::Bit => Kinds::BIT,
            LiteralKind::Param => Kinds::empty(),
        }
    }
}

/// The kind of a token that is a literal.
pub(crate) fn literal_kind(kind: TokenKind, bytes: &[u8]) -> Option<LiteralKind> {
    Some(match kind {
        TokenKind::Int => match integer(bytes) {
            Some(value) if i64::try_from(value).is_ok() => LiteralKind::Int,
            Some(_) => LiteralKind::UInt,
            None => LiteralKind::Decimal,
        },
        TokenKind::Decimal => LiteralKind::Decimal,
        TokenKind::Float => LiteralKind::Float,
        TokenKind::String => LiteralKind::String,
        TokenKind::NString => LiteralKind::NString,
        TokenKind::Hex => LiteralKind::Hex,
        TokenKind::Bit => LiteralKind::Bit,
        TokenKind::Param => LiteralKind::Param,
        _ => return None,
    })
}

/// What one unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitKind {
    /// A keyword of ours, not beside a dot.
    Keyword(Keyword),
    /// Any other unquoted word.
    Word,
    /// A quoted identifier, quotes included.
    QuotedIdent,
    /// A literal. It is a slot unless its text was hashed (a position, an output column's name, …).
    Literal {
        /// Its kind.
        kind: LiteralKind,
        /// Its number in [`Scan::slots`], where it is one.
        slot: Option<u32>,
    },
    /// The whole parenthesis of an IN list of literals: `(1, 2, 3)`.
    List(Kinds),
    /// One or more consecutive rows of literals of one shape: `(1,'a'),(2,'b')`.
    Rows {
        /// How many columns each row has.
        columns: u32,
    },
    /// `_utf8mb4` and the like.
    Introducer,
    /// `@a`.
    UserVar,
    /// `@@a`.
    SysVar,
    /// An operator.
    Op(Op),
    /// `(`, `)`, `,`, `;`, `.`, `{`, `}`.
    Punct(u8),
    /// `/*+ … */`.
    Hint,
    /// `/*! … */`.
    ExecutableComment,
    /// Unlexable.
    Error,
}

/// One hashed piece of the text: bytes `start..end`.
///
/// There is one for each token, except that comments have none, a collapsed list is one, and a `;` at the very end has
/// none. Texts with equal digest have as many units, and unit *i* of one corresponds to unit *i* of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Its first byte.
    pub start: u32,
    /// One past its last byte.
    pub end: u32,
    /// What it is.
    pub kind: UnitKind,
}

impl Unit {
    /// The unit's bytes in its own text.
    pub fn of<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    /// Whether the unit is this keyword.
    pub fn is(&self, keyword: Keyword) -> bool {
        self.kind == UnitKind::Keyword(keyword)
    }

    /// Whether the unit is this punctuation.
    pub fn is_punct(&self, byte: u8) -> bool {
        self.kind == UnitKind::Punct(byte)
    }
}

/// A literal that may differ between texts of one digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The unit that holds it.
    pub unit: u32,
    /// Its kind, equal in all texts of one digest.
    pub kind: LiteralKind,
}

/// What a scan found; borrows the scanner's buffers.
#[derive(Clone, Copy, Debug)]
pub struct Scan<'a> {
    /// The statement's identity.
    pub digest: Digest,
    /// What kind of statement it is.
    pub verb: Verb,
    /// What must be known of it.
    pub marks: Marks,
    /// What was hashed, in order.
    pub units: &'a [Unit],
    /// The literals that are not part of the digest, in order.
    pub slots: &'a [Slot],
}

impl Scan<'_> {
    /// The bytes of a slot in its own text.
    pub fn slot<'t>(&self, text: &'t [u8], slot: u32) -> Option<&'t [u8]> {
        let slot = self.slots.get(slot as usize)?;
        let unit = self.units.get(slot.unit as usize)?;
        text.get(unit.start as usize..unit.end as usize)
    }

    /// A copy that outlives the scanner.
    pub fn to_owned(&self) -> OwnedScan {
        OwnedScan {
            digest: self.digest,
            verb: self.verb,
            marks: self.marks,
            units: self.units.to_vec(),
            slots: self.slots.to_vec(),
        }
    }
}

/// A [`Scan`] that owns its lists.
#[derive(Clone, Debug)]
pub struct OwnedScan {
    /// The statement's identity.
    pub digest: Digest,
    /// What kind of statement it is.
    pub verb: Verb,
    /// What must be known of it.
    pub marks: Marks,
    /// What was hashed, in order.
    pub units: Vec<Unit>,
    /// The literals that are not part of the digest, in order.
    pub slots: Vec<Slot>,
}

impl OwnedScan {
    /// The borrowed form.
    pub fn as_scan(&self) -> Scan<'_> {
        Scan {
            digest: self.digest,
            verb: self.verb,
            marks: self.marks,
            units: &self.units,
            slots: &self.slots,
        }
    }
}

#[cfg(test)]
mod tests;
