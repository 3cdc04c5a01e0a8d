//! Tokens as the servers cut them: each row was tried on MariaDB 10.11 and MySQL 9.7.

use super::*;
use crate::flavor::Flavor;

fn cut(text: &str, flavor: Flavor) -> Vec<(TokenKind, &str)> {
    Lexer::new(text.as_bytes(), flavor)
        .map(|token| {
            let source = text.get(token.start as usize..token.end as usize).unwrap_or("not at a character");
            (token.kind, source)
        })
        .collect()
}

fn kinds(text: &str) -> Vec<TokenKind> {
    cut(text, Flavor::MARIADB).into_iter().map(|(kind, _)| kind).collect()
}

fn sources(text: &str) -> Vec<&str> {
    cut(text, Flavor::MARIADB).into_iter().map(|(_, source)| source).collect()
}

#[test]
fn numbers() {
    use TokenKind as T;
    for (text, kind) in [
        ("1", T::Int),
        ("007", T::Int),
        ("1.5", T::Decimal),
        (".5", T::Decimal),
        ("1.", T::Decimal),
        ("1e5", T::Float),
        ("1.e5", T::Float),
        ("1E+5", T::Float),
        ("1.5e-3", T::Float),
        (".5e3", T::Float),
        ("0x1F", T::Hex),
        ("x'1F'", T::Hex),
        ("X'1F'", T::Hex),
        ("x''", T::Hex),
        ("0b01", T::Bit),
        ("b'01'", T::Bit),
        ("1a", T::Ident),
        ("1e", T::Ident),
        ("1ex", T::Ident),
        ("0xABCg", T::Ident),
        ("0x", T::Ident),
        ("0X1", T::Ident),
        ("0b2", T::Ident),
    ] {
        assert_eq!(kinds(text), [kind], "{text}");
    }
    assert_eq!(sources("1e5abc"), ["1e5", "abc"]);
    assert_eq!(sources("1.a"), ["1.", "a"]);
    assert_eq!(sources("1--1"), ["1", "-", "-", "1"]);
    assert_eq!(kinds("1.e"), [T::Error]);
    assert_eq!(kinds("x'1'").first(), Some(&T::Error));
    assert_eq!(kinds("x'1g'").first(), Some(&T::Error));
    assert_eq!(kinds("b'2'").first(), Some(&T::Error));
}

#[test]
fn words_beside_dots_are_names() {
    use TokenKind as T;
    assert_eq!(kinds("t.select"), [T::Ident, T::Punct(b'.'), T::Ident]);
    assert_eq!(kinds("t.1a"), [T::Ident, T::Punct(b'.'), T::Ident]);
    assert_eq!(kinds("t.1"), [T::Ident, T::Punct(b'.'), T::Ident]);
    assert_eq!(kinds("s.t.1e5"), [T::Ident, T::Punct(b'.'), T::Ident, T::Punct(b'.'), T::Ident]);
    assert_eq!(kinds("select.a"), [T::Ident, T::Punct(b'.'), T::Ident]);
    assert_eq!(kinds("t .select"), [T::Word, T::Punct(b'.'), T::Ident]);
    assert_eq!(kinds("t. select"), [T::Word, T::Punct(b'.'), T::Word]);
    // Behind a quoted name or a space a dot and a digit are a number.
    assert_eq!(kinds("`t`.1a"), [T::QuotedIdent, T::Decimal, T::Word]);
    assert_eq!(kinds("t .1a"), [T::Word, T::Decimal, T::Word]);
}

#[test]
fn strings() {
    use TokenKind as T;
    assert_eq!(kinds("''''"), [T::String]);
    assert_eq!(kinds("'a''b'"), [T::String]);
    assert_eq!(sources("'a' 'b'"), ["'a'", "'b'"]);
    assert_eq!(sources(r"'C:\\new' x"), [r"'C:\\new'", "x"]);
    assert_eq!(sources(r"'a\'b' x"), [r"'a\'b'", "x"]);
    assert_eq!(sources("'LIMIT 5 OFFSET 9' x"), ["'LIMIT 5 OFFSET 9'", "x"]);
    assert_eq!(kinds("N'x'"), [T::NString]);
    assert_eq!(kinds("N 'x'"), [T::Word, T::String]);
    assert_eq!(kinds("_utf8mb4'x'"), [T::Introducer, T::String]);
    assert_eq!(kinds("_utf8mb4 0x41"), [T::Introducer, T::Hex]);
    assert_eq!(kinds("_mine'x'"), [T::Word, T::String]);
    assert_eq!(kinds("\"a\"\"b\""), [T::String]);
    assert_eq!(kinds("'open"), [T::Error]);
    assert_eq!(kinds(r"'open\'"), [T::Error]);
    assert_eq!(kinds("`a``b`"), [T::QuotedIdent]);
    assert_eq!(kinds("`open"), [T::Error]);
    let ansi = Flavor::MARIADB.with_mode(SqlMode::ANSI_QUOTES);
    assert_eq!(cut("\"a\"\"b\"", ansi), [(T::QuotedIdent, "\"a\"\"b\"")]);
    let plain = Flavor::MARIADB.with_mode(SqlMode::NO_BACKSLASH_ESCAPES);
    assert_eq!(cut(r"'a\' x", plain), [(T::String, r"'a\'"), (T::Word, "x")]);
    // A backslash is nothing special in a quoted name.
    assert_eq!(sources(r"`a\` x"), [r"`a\`", "x"]);
}

#[test]
fn comments() {
    use TokenKind as T;
    assert_eq!(kinds("1 -- x"), [T::Int, T::Comment]);
    assert_eq!(kinds("1 --"), [T::Int, T::Comment]);
    assert_eq!(kinds("1 --\n2"), [T::Int, T::Comment, T::Int]);
    assert_eq!(kinds("1 # x\n2"), [T::Int, T::Comment, T::Int]);
    assert_eq!(kinds("/**/ 1"), [T::Comment, T::Int]);
    assert_eq!(kinds("/*/ 1"), [T::Error]);
    assert_eq!(kinds("/* /* */ 1"), [T::Comment, T::Int]);
    assert_eq!(kinds("/*! 1 */"), [T::ExecutableComment]);
    assert_eq!(kinds("/*!50000 1 */ 2"), [T::ExecutableComment, T::Int]);
    assert_eq!(kinds("/*M! 1 */"), [T::ExecutableComment]);
    assert_eq!(kinds("select /*+ x */ 1"), [T::Word, T::Hint, T::Int]);
    assert_eq!(kinds("select 1 /*+ x */"), [T::Word, T::Int, T::Comment]);
    assert_eq!(kinds("/*+ x */ select"), [T::Comment, T::Word]);
    assert_eq!(kinds("# a\0b"), [T::Error]);
}

#[test]
fn variables() {
    use TokenKind as T;
    for text in ["@a", "@a.b", "@`x y`", "@'x y'", "@\"x\"", "@$a"] {
        assert_eq!(kinds(text), [T::UserVar], "{text}");
    }
    for text in ["@@x", "@@global.x", "@@`x`", "@@session.`x`"] {
        assert_eq!(kinds(text), [T::SysVar], "{text}");
    }
    assert_eq!(kinds("@@session . x"), [T::SysVar, T::Punct(b'.'), T::Word]);
    assert_eq!(kinds("@"), [T::Error]);
    assert_eq!(kinds("@@"), [T::Error]);
    assert_eq!(kinds("'u'@'h'"), [T::String, T::UserVar]);
}

#[test]
fn operators() {
    let text = "= <=> <> != < <= > >= + - * / % & | ^ ~ ! << >> && || := -> ->> :";
    let found: Vec<&str> = sources(text);
    assert_eq!(found, text.split(' ').collect::<Vec<_>>());
    assert!(kinds(text).iter().all(|kind| matches!(kind, TokenKind::Op(_))));
    assert_eq!(sources("1=!1"), ["1", "=", "!", "1"]);
    assert_eq!(sources("1=-1"), ["1", "=", "-", "1"]);
    assert_eq!(kinds("\\N"), [TokenKind::Error, TokenKind::Word]);
    assert_eq!(kinds("\0"), [TokenKind::Error]);
    assert_eq!(kinds("[1]"), [TokenKind::Error, TokenKind::Int, TokenKind::Error]);
}

#[test]
fn names_beyond_ascii() {
    assert_eq!(kinds("größe"), [TokenKind::Word]);
    let latin = Flavor { charset: crate::flavor::CharsetClass::SingleByte, ..Flavor::MARIADB };
    let kinds: Vec<_> = Lexer::new(b"gr\xf6\xdfe", latin).map(|token| token.kind).collect();
    assert_eq!(kinds, [TokenKind::Word]);
}

#[test]
fn dollar_quoted_source_is_not_read_on_mysql() {
    let kinds: Vec<_> = cut("$$ a ' b $$", Flavor::MYSQL);
    assert_eq!(kinds.first().map(|(kind, _)| *kind), Some(TokenKind::Error));
    assert_eq!(cut("$$", Flavor::MARIADB), [(TokenKind::Word, "$$")]);
}

#[test]
fn values_of_literals() {
    assert_eq!(integer(b"18446744073709551615"), Some(u64::MAX));
    assert_eq!(integer(b"18446744073709551616"), None);
    assert_eq!(integer(b""), None);
    assert_eq!(integer(b"1a"), None);
    let decode = |text: &str, backslash| {
        decode_string(text.as_bytes(), backslash).map(|v| String::from_utf8(v).unwrap_or_default())
    };
    assert_eq!(decode("'a''b'", true).as_deref(), Some("a'b"));
    assert_eq!(decode(r"'C:\\new'", true).as_deref(), Some(r"C:\new"));
    assert_eq!(decode(r"'C:\\new'", false).as_deref(), Some(r"C:\\new"));
    assert_eq!(decode(r"'\%\_\q\n'", true).as_deref(), Some("\\%\\_q\n"));
    assert_eq!(decode("\"a\"\"b'c\"", true).as_deref(), Some("a\"b'c"));
    assert_eq!(decode("N'x'", true).as_deref(), Some("x"));
    assert_eq!(decode("'x", true), None);
    assert_eq!(decode_identifier(b"`a``b`"), b"a`b");
    assert_eq!(decode_identifier(b"ab"), b"ab");
}

/// Every byte belongs to exactly one token, or is white space between two.
fn tiles(text: &[u8], flavor: Flavor) {
    let mut at = 0;
    for token in Lexer::new(text, flavor) {
        let (start, end) = (token.start as usize, token.end as usize);
        assert!(start < end && end <= text.len(), "{token:?}");
        assert!(text[at..start].iter().all(|byte| is(*byte, SPACE)), "{token:?}");
        at = end;
    }
    assert!(text[at..].iter().all(|byte| is(*byte, SPACE)));
}

#[test]
fn fuzz_lexer() {
    bolero::check!().for_each(|bytes: &[u8]| {
        for mode in [SqlMode::empty(), SqlMode::ANSI_QUOTES | SqlMode::NO_BACKSLASH_ESCAPES] {
            tiles(bytes, Flavor::MARIADB.with_mode(mode));
            tiles(bytes, Flavor::MYSQL.with_mode(mode));
        }
    });
}

proptest::proptest! {
    /// Text made of what lexers stumble over, cut anywhere.
    #[test]
    fn tokens_tile_hostile_text(parts in proptest::collection::vec(proptest::sample::select(vec![
        "'", "\"", "`", "\\", "/*", "*/", "--", "-- ", "#", "\n", "\0", "@", "@@", "a", "1", "e", ".", "x'", "b'", "N'", "0x",
        "_utf8mb4", "/*!", "/*+", "select", "(", ")", ",", ";", "?", ":=", "->", "<", "=", ">", "!", "|", "&", "ä", "$$", " ",
    ]), 0..24)) {
        let text = parts.concat();
        tiles(text.as_bytes(), Flavor::MARIADB);
        tiles(text.as_bytes(), Flavor::MYSQL.with_mode(SqlMode::ANSI_QUOTES));
    }
}
