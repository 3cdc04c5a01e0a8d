//! Versions, modes and charsets as servers write them.

use super::*;

#[test]
fn versions() {
    for (text, wanted) in [
        ("9.7.4", Some((Product::MySql, Version(9, 7, 4)))),
        ("9.7.4-2", Some((Product::MySql, Version(9, 7, 4)))),
        ("8.0.36-28-log", Some((Product::MySql, Version(8, 0, 36)))),
        ("10.11.19-MariaDB-0+deb12u1", Some((Product::MariaDb, Version(10, 11, 19)))),
        ("5.5.5-10.11.6-MariaDB", Some((Product::MariaDb, Version(10, 11, 6)))),
        ("", None),
        ("x.y", None),
        ("300.1.1", None),
    ] {
        assert_eq!(Version::parse(text), wanted, "{text}");
    }
}

#[test]
fn modes() {
    let (mode, unknown) = SqlMode::parse("STRICT_TRANS_TABLES,ANSI_QUOTES,no_backslash_escapes");
    assert!(!unknown);
    assert_eq!(mode & SqlMode::LEXICAL, SqlMode::ANSI_QUOTES | SqlMode::NO_BACKSLASH_ESCAPES);
    assert!(SqlMode::parse("ANSI").0.contains(SqlMode::PIPES_AS_CONCAT | SqlMode::ANSI_QUOTES));
    assert_eq!(SqlMode::parse("NO_SUCH_MODE"), (SqlMode::empty(), true));
    assert_eq!(SqlMode::parse(""), (SqlMode::empty(), false));
}

#[test]
fn charsets() {
    assert_eq!(CharsetClass::of_charset("utf8mb4"), CharsetClass::Utf8);
    assert_eq!(CharsetClass::of_charset("LATIN1"), CharsetClass::SingleByte);
    for name in ["sjis", "gbk", "big5", "gb18030", "cp932", "ucs2", "swe7", "new"] {
        assert_eq!(CharsetClass::of_charset(name), CharsetClass::Unsafe, "{name}");
    }
}

/// `SELECT ID, CHARACTER_SET_NAME` of both servers' collations: the class by number is never safer than that by name.
#[test]
fn collation_numbers_agree_with_names() {
    let listed = include_str!("../../tests/fixtures/collations.txt");
    let mut seen = 0;
    for line in listed.lines().filter(|line| !line.starts_with('#')) {
        let (id, charset) = line.split_once('\t').unwrap_or_default();
        let by_name = CharsetClass::of_charset(charset);
        let by_id = CharsetClass::of_collation(id.parse().unwrap_or(0));
        assert!(by_id == by_name || by_id == CharsetClass::Unsafe, "{line}: {by_id:?}");
        seen += usize::from(by_id == by_name);
    }
    assert!(seen > 1000, "{seen}");
    assert_eq!(CharsetClass::of_collation(45), CharsetClass::Utf8);
    assert_eq!(CharsetClass::of_collation(255), CharsetClass::Utf8);
    assert_eq!(CharsetClass::of_collation(8), CharsetClass::SingleByte);
}
