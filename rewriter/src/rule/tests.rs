//! Scopes by server.
#![expect(clippy::unwrap_used, reason = "tests")]

use sql::{Product, Version};

use super::ServerScope;

#[test]
fn a_server_scope_compares_versions() {
    let scope = ServerScope::parse("mariadb >= 10.6 < 11").unwrap();
    assert!(scope.covers(Product::MariaDb, Version(10, 11, 19)));
    assert!(scope.covers(Product::MariaDb, Version(10, 6, 0)));
    assert!(!scope.covers(Product::MariaDb, Version(10, 5, 99)));
    assert!(!scope.covers(Product::MariaDb, Version(11, 0, 0)));
    assert!(!scope.covers(Product::MySql, Version(10, 11, 0)));
    assert!(ServerScope::parse("mysql").unwrap().covers(Product::MySql, Version(5, 7, 1)));
}

#[test]
fn a_wrong_server_scope_is_explained() {
    for (text, reason) in [
        ("", "expected mariadb or mysql"),
        ("percona", "expected mariadb or mysql"),
        ("mysql = 8", "expected >= or <"),
        ("mysql >= eight", "expected a version"),
        ("mysql >= 8.0.1.2", "expected a version"),
        ("mysql >=", "expected a version"),
    ] {
        let error = ServerScope::parse(text).unwrap_err();
        assert!(error.contains(reason), "{text}: {error}");
    }
}
