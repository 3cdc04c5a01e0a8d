use super::{quote_name, quote_text};

#[test]
fn names_and_texts_are_quoted() {
    assert_eq!(quote_name("a`b"), "`a``b`");
    assert_eq!(quote_text(r"it's a\b"), r"'it\'s a\\b'");
    assert_eq!(quote_text("a\0b"), "'a\\0b'");
}
