//! Tests of the generated account.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::Account;

#[test]
fn passwords_differ_and_come_back_from_their_file() {
    let one = Account::generate().unwrap();
    let other = Account::generate().unwrap();
    assert_ne!(*one.password, *other.password);
    let back = Account::parse(&format!("{}\n", one.password.as_str())).unwrap();
    assert_eq!(*back.password, *one.password);
    for bad in ["", "abc", &"g".repeat(40), &"a".repeat(41), "' OR 1 --"] {
        assert!(Account::parse(bad).is_none(), "{bad}");
    }
}

#[test]
fn the_password_does_not_show_in_debug_output() {
    let account = Account::generate().unwrap();
    assert!(!format!("{account:?}").contains(account.password.as_str()));
}
