//! What is remembered, and for how long.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;

fn password() -> Password {
    Password::new(b"pw")
}

#[test]
fn another_stored_text_is_another_password() {
    let known = Known::default();
    assert!(known.recall("app@%", b"one").is_none());
    let kept = known.remember("app@%", b"one", password());
    assert_eq!(known.recall("app@%", b"one").unwrap().1, Some(kept));
    assert!(known.recall("app@%", b"two").is_none());
    assert!(known.recall("app@localhost", b"one").is_none());
}

#[test]
fn a_password_lasts_as_long_as_a_session_keeps_it() {
    let known = Known::default();
    let first = known.remember("app@%", b"one", password());
    let second = known.remember("app@%", b"one", password());
    drop(first);
    assert!(known.recall("app@%", b"one").unwrap().1.is_some(), "the sessions share one copy");
    drop(second);
    let (_, kept) = known.recall("app@%", b"one").unwrap();
    assert_eq!(kept, None);
}

#[test]
fn an_empty_password_is_not_remembered() {
    let known = Known::default();
    known.remember("app@%", b"", Password::new(b""));
    assert!(known.recall("app@%", b"").is_none());
}
