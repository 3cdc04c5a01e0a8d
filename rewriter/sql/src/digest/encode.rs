//! The bytes that are hashed: each unit as a tag, with lengths before everything of variable length, so that no two
//! sequences of units encode alike.

use super::{Digest, Kinds, LiteralKind};
use crate::keyword::Keyword;
use crate::lexer::Op;

const WORD: u8 = 1;
const KEYWORD: u8 = 2;
const SLOT: u8 = 3;
const TEXT: u8 = 4;
const OP: u8 = 5;
const PUNCT: u8 = 6;
const CALL: u8 = 7;
const GAP: u8 = 8;
const LIST: u8 = 9;
const ROWS: u8 = 10;
const RAW: u8 = 11;

/// A buffer of encoded units.
#[derive(Debug, Default)]
pub(super) struct Encoder(Vec<u8>);

impl Encoder {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Gives memory back that a giant statement left.
    pub(super) fn shrink(&mut self, capacity: usize) {
        if self.0.capacity() > capacity {
            self.0.clear();
            self.0.shrink_to(capacity);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    pub(super) fn digest(&self) -> Digest {
        Digest(xxhash_rust::xxh3::xxh3_128(&self.0))
    }

    #[inline]
    fn bytes(&mut self, tag: u8, bytes: &[u8]) {
        match u8::try_from(bytes.len()) {
            Ok(len) if len < u8::MAX => self.0.extend_from_slice(&[tag, len]),
            _ => {
                self.0.extend_from_slice(&[tag, u8::MAX]);
                self.0.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
            }
        }
        self.0.extend_from_slice(bytes);
    }

    /// A word or quoted identifier, by its bytes.
    #[inline]
    pub(super) fn word(&mut self, bytes: &[u8]) {
        self.bytes(WORD, bytes);
    }

    /// Variables, hints, introducers, whatever else counts by its bytes.
    #[inline]
    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.bytes(RAW, bytes);
    }

    /// A reserved word, whatever its case.
    #[inline]
    pub(super) fn keyword(&mut self, keyword: Keyword) {
        self.0.push(KEYWORD);
        self.0.extend_from_slice(&(keyword as u16).to_le_bytes());
    }

    /// A literal that may differ.
    #[inline]
    pub(super) fn slot(&mut self, kind: LiteralKind) {
        self.0.extend_from_slice(&[SLOT, kind as u8]);
    }

    /// A literal that may not.
    pub(super) fn text(&mut self, kind: LiteralKind, bytes: &[u8]) {
        self.0.push(kind as u8);
        self.bytes(TEXT, bytes);
    }

    #[inline]
    pub(super) fn op(&mut self, op: Op) {
        self.0.extend_from_slice(&[OP, op as u8]);
    }

    #[inline]
    pub(super) fn punct(&mut self, byte: u8) {
        self.0.extend_from_slice(&[PUNCT, byte]);
    }

    /// A parenthesis that opens directly behind a word: without IGNORE_SPACE `COUNT(` is not `COUNT (`.
    pub(super) fn call(&mut self) {
        self.0.push(CALL);
    }

    /// What stands between two units whose spelling names an output column.
    #[inline]
    pub(super) fn gap(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.bytes(GAP, bytes);
        }
    }

    pub(super) fn list(&mut self, kinds: Kinds) {
        self.0.push(LIST);
        self.0.extend(kinds.bits().to_le_bytes());
    }

    /// A run of rows of one shape.
    pub(super) fn rows(&mut self, shape: &[Kinds]) {
        self.0.push(ROWS);
        self.0.extend((shape.len() as u64).to_le_bytes());
        for kinds in shape {
            self.0.extend(kinds.bits().to_le_bytes());
        }
    }
}
