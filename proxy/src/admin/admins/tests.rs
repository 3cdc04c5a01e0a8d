//! Patterns of accounts.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;

fn matches(pattern: &str, user: &str, from: &str) -> bool {
    let from = (from != "unix").then(|| from.parse().unwrap());
    Admins::new(vec![Pattern::parse(pattern).unwrap()]).contains(user, from)
}

#[test]
fn a_bare_name_is_every_host() {
    assert!(matches("app", "app", "10.0.0.1"));
    assert!(matches("app", "app", "unix"));
    assert!(!matches("app", "App", "10.0.0.1"));
    assert!(!matches("app", "application", "10.0.0.1"));
}

#[test]
fn a_host_pattern_is_compared_with_the_address() {
    assert!(matches("ops@10.%", "ops", "10.2.3.4"));
    assert!(!matches("ops@10.%", "ops", "110.2.3.4"));
    assert!(!matches("ops@10.%", "ops", "unix"));
    assert!(!matches("ops@10.%", "app", "10.2.3.4"));
    assert!(matches("ops@192.168.1._", "ops", "192.168.1.7"));
    assert!(!matches("ops@192.168.1._", "ops", "192.168.1.70"));
    assert!(matches("ops@%.7", "ops", "192.7.1.7"));
    assert!(matches("ops@fe80::%", "ops", "fe80::1"));
    assert!(matches("ops@10.%", "ops", "::ffff:10.1.1.1"), "an IPv4 client on an IPv6 socket");
}

#[test]
fn localhost_is_the_socket_and_the_loopback_interface() {
    assert!(matches("root@localhost", "root", "unix"));
    assert!(matches("root@localhost", "root", "127.0.0.1"));
    assert!(matches("root@LOCALHOST", "root", "::1"));
    assert!(!matches("root@localhost", "root", "10.0.0.1"));
}

#[test]
fn a_name_may_hold_an_at_sign() {
    assert!(matches("a@b@10.%", "a@b", "10.0.0.1"));
}

#[test]
fn what_is_no_pattern_is_refused() {
    for wrong in ["", "ops@", "ops@10.0.0.0/8"] {
        assert!(Pattern::parse(wrong).is_err(), "{wrong}");
    }
    assert!(!Admins::default().contains("root", None));
}

#[test]
fn a_hostile_pattern_is_not_slow() {
    let pattern = "%a".repeat(200) + "b";
    assert!(!wildcard(pattern.as_bytes(), "a".repeat(400).as_bytes(), b'%', b'_'));
}
