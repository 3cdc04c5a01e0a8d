//! Tests of version texts as servers and files write them.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::Release;

#[test]
fn reads_what_servers_write() {
    let r = Release::parse("10.11.19-MariaDB").unwrap();
    assert_eq!((r.major, r.minor, r.patch), (10, 11, 19));
    assert_eq!(r.to_string(), "10.11.19");
    assert_eq!(Release::parse("11.8.2\n").unwrap().series(), (11, 8));
    for bad in ["", "10", "10.11", "x10.11.1", "10.11.", "10..1", "99999.1.1", "10.11.x"] {
        assert_eq!(Release::parse(bad), None, "{bad}");
    }
}

#[test]
fn tells_mariadb_from_mysql() {
    let maria = "mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)";
    assert_eq!(Release::of_banner(maria).unwrap().to_string(), "10.11.19");
    let mysql = "/usr/sbin/mysqld  Ver 9.7.4 for Linux on x86_64 (Source distribution)";
    assert_eq!(Release::of_banner(mysql), None);
}

#[test]
fn orders_by_number_not_by_text() {
    assert!(Release::parse("10.11.9") < Release::parse("10.11.19"));
    assert!(Release::parse("10.6.30") < Release::parse("10.11.1"));
}
