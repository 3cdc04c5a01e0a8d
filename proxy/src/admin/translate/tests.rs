//! MySQL text in, the evaluator's text out.
#![expect(clippy::unwrap_used, reason = "tests")]

use sql::{Flavor, Lexer};

use super::*;

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let tokens = Lexer::new(text.as_bytes(), Flavor::MARIADB);
    tokens
        .map(|token| Piece {
            kind: token.kind,
            text: text.get(token.start as usize..token.end as usize).unwrap(),
        })
        .collect()
}

fn translated(text: &str) -> String {
    translate(&pieces(text), true).unwrap()
}

#[test]
fn identifiers_stay_identifiers_and_strings_strings() {
    assert_eq!(
        translated("SELECT `a``b`, \"x'y\", 'it\\'s', N'é'"),
        "SELECT `a``b` , 'x''y' , 'it''s' , 'é'"
    );
    assert_eq!(
        translated("select q.count from shuntyard.queries q;"),
        "select q.`count` from shuntyard.`queries` q"
    );
}

#[test]
fn like_keeps_its_escape_character() {
    assert_eq!(translated("a LIKE 'x\\_y%'"), "a LIKE 'x\\_y%' ESCAPE '\\'");
    assert_eq!(translated("a LIKE 'x|_y' ESCAPE '|'"), "a LIKE 'x|_y' ESCAPE '|'");
    assert_eq!(translated("a LIKE b"), "a LIKE b");
    assert_eq!(translate(&pieces("a LIKE 'x'"), false).unwrap(), "a LIKE 'x'");
}

#[test]
fn operators_have_their_meaning() {
    assert_eq!(translated("a <=> NULL && !b || c <> 1.5e3"), "a IS NULL AND NOT b OR c <> 1.5e3");
}

#[test]
fn what_has_no_counterpart_is_a_syntax_error() {
    for text in [
        "@a",
        "@@version",
        "?",
        "a := 1",
        "a ^ b",
        "x'41'",
        "_utf8mb4'a'",
        "a; b",
        "{d '2020-01-01'}",
        "'a\\0b'",
        "/*!1*/",
    ] {
        assert_eq!(translate(&pieces(text), true).unwrap_err().code, 1064, "{text}");
    }
}
