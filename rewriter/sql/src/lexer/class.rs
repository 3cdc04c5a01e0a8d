//! What each byte may begin or continue.

/// The byte may be part of an unquoted identifier: letters, digits, `_`, `$` and everything from 0x80.
pub(super) const IDENT: u8 = 1;
/// White space as the servers see it: space, tab, line feed, vertical tab, form feed, carriage return.
pub(super) const SPACE: u8 = 2;
/// A decimal digit.
pub(super) const DIGIT: u8 = 4;
/// A hexadecimal digit.
pub(super) const HEX: u8 = 8;

static CLASS: [u8; 256] = {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        let byte = i as u8;
        if byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80 {
            table[i] |= IDENT;
        }
        if matches!(byte, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r') {
            table[i] |= SPACE;
        }
        if byte.is_ascii_digit() {
            table[i] |= DIGIT;
        }
        if byte.is_ascii_hexdigit() {
            table[i] |= HEX;
        }
        i += 1;
    }
    table
};

/// Whether the byte is of one of these classes.
#[inline]
pub(super) fn is(byte: u8, class: u8) -> bool {
    CLASS.get(usize::from(byte)).is_some_and(|found| found & class != 0)
}
