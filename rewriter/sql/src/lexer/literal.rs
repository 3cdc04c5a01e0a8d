//! The values that literal tokens stand for.

/// The value of an integer literal: digits alone, up to 64 bits.
pub fn integer(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0u64, |value, byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

/// The value of a string token, quotes and an `N` before them included in `token`.
///
/// With `backslash` (NO_BACKSLASH_ESCAPES off) the escapes are MySQL's: `\0 \b \n \r \t \Z`, `\%` and `\_` kept as
/// they are, any other character by itself. `None` where the token is not a closed string.
pub fn decode_string(token: &[u8], backslash: bool) -> Option<Vec<u8>> {
    let token = match token {
        [b'n' | b'N', rest @ ..] => rest,
        other => other,
    };
    let (quote, body) = match token {
        [quote @ (b'\'' | b'"'), body @ .., last] if last == quote => (*quote, body),
        _ => return None,
    };
    let mut out = Vec::with_capacity(body.len());
    let mut bytes = body.iter().copied();
    while let Some(byte) = bytes.next() {
        if byte == b'\\' && backslash {
            match bytes.next()? {
                b'0' => out.push(0),
                b'b' => out.push(8),
                b'n' => out.push(b'\n'),
                b'r' => out.push(b'\r'),
                b't' => out.push(b'\t'),
                b'Z' => out.push(0x1a),
                kept @ (b'%' | b'_') => out.extend([b'\\', kept]),
                other => out.push(other),
            }
        } else if byte == quote {
            out.push(byte);
            if bytes.next()? != quote {
                return None;
            }
        } else {
            out.push(byte);
        }
    }
    Some(out)
}

/// The name of an identifier token, its quotes and doubled quotes removed.
pub fn decode_identifier(token: &[u8]) -> Vec<u8> {
    match token {
        [quote @ (b'`' | b'"'), body @ .., last] if last == quote => {
            let mut out = Vec::with_capacity(body.len());
            let mut bytes = body.iter().copied();
            while let Some(byte) = bytes.next() {
                out.push(byte);
                if byte == *quote {
                    bytes.next();
                }
            }
            out
        }
        other => other.to_vec(),
    }
}

/// Whether an introducer without its `_` names a character set of MariaDB 10.11 or MySQL 9.7.
pub(super) fn is_charset(name: &[u8]) -> bool {
    const NAMES: &[&str] = &[
        "armscii8", "ascii", "big5", "binary", "cp1250", "cp1251", "cp1256", "cp1257", "cp850", "cp852",
        "cp866", "cp932", "dec8", "eucjpms", "euckr", "gb18030", "gb2312", "gbk", "geostd8", "greek",
        "hebrew", "hp8", "keybcs2", "koi8r", "koi8u", "latin1", "latin2", "latin5", "latin7", "macce",
        "macroman", "sjis", "swe7", "tis620", "ucs2", "ujis", "utf16", "utf16le", "utf32", "utf8", "utf8mb3",
        "utf8mb4",
    ];
    NAMES.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(name))
}
