//! The table finds every word and nothing else.

use super::*;

#[test]
fn every_word_in_any_case() {
    for (keyword, text) in ALL.iter().zip(TEXTS) {
        assert_eq!(Keyword::of(text.as_bytes()), Some(*keyword));
        assert_eq!(Keyword::of(text.to_ascii_lowercase().as_bytes()), Some(*keyword));
        assert_eq!(keyword.text(), *text);
        assert!(text.len() <= LONGEST);
    }
}

#[test]
fn other_words_are_none() {
    for word in ["", "a", "selec", "selects", "SQL_CALC_FOUND_ROWSX", "größe", "order_by"] {
        assert_eq!(Keyword::of(word.as_bytes()), None, "{word}");
    }
}

#[test]
fn only_reserved_words_fold() {
    assert!(Keyword::Select.reserved());
    assert!(Keyword::Limit.reserved());
    // A name on MySQL, reserved on MariaDB only.
    assert!(!Keyword::Offset.reserved());
    assert!(!Keyword::Value.reserved());
}

/// Words that no server takes as a bare column name; the fixture holds those that both refuse.
#[test]
fn folded_words_are_reserved_on_both_servers() {
    let reserved = include_str!("../../tests/fixtures/reserved.txt");
    let words: Vec<&str> = reserved.lines().filter(|line| !line.starts_with('#')).collect();
    for (keyword, text) in ALL.iter().zip(TEXTS) {
        if keyword.reserved() {
            assert!(words.contains(text), "{text}");
        }
    }
}
