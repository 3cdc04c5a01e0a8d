use std::net::IpAddr;

use super::{HostPattern, Order, like};

fn v4(text: &str) -> Option<IpAddr> {
    text.parse().ok()
}

#[test]
fn patterns_match_as_like_does() {
    let table: [(&str, &str, bool); 12] = [
        ("%", "", true),
        ("%", "10.0.0.1", true),
        ("10.0.0.%", "10.0.0.1", true),
        ("10.0.0.%", "10.0.1.1", false),
        ("10.0.0._", "10.0.0.1", true),
        ("10.0.0._", "10.0.0.12", false),
        ("%.example.com", "db.EXAMPLE.com", true),
        ("%a%b", "xxaxxb", true),
        ("%a%b", "xxaxxbx", false),
        (r"a\_b", "a_b", true),
        (r"a\_b", "axb", false),
        ("localhost", "LocalHost", true),
    ];
    for (pattern, text, expected) in table {
        assert_eq!(like(pattern.as_bytes(), text.as_bytes()), expected, "{pattern} {text}");
    }
}

#[test]
fn networks_match_addresses_only() {
    let network = HostPattern::parse("192.168.4.0/255.255.252.0");
    assert!(network.matches(v4("192.168.7.1"), None));
    assert!(!network.matches(v4("192.168.8.1"), None));
    assert!(!network.matches(None, Some("localhost")));
    assert!(!HostPattern::parse("192.168.4.9/255.255.255.0").matches(v4("192.168.4.9"), None));
    assert!(HostPattern::parse("10.0.0.0/8").matches(v4("10.9.9.9"), None));
    assert!(HostPattern::parse("0.0.0.0/0").matches(v4("10.9.9.9"), None));
    assert!(!HostPattern::parse("10.0.0.0/33").matches(v4("10.9.9.9"), None));
}

#[test]
fn ipv6_is_compared_as_text() {
    assert!(HostPattern::parse("::1").matches(v4("::1"), None));
    assert!(HostPattern::parse("fe80::%").matches(v4("fe80::7"), None));
}

fn ordered(order: Order, texts: &[&str]) {
    for pair in texts.windows(2) {
        let [first, second] = pair else { continue };
        assert!(
            HostPattern::parse(first).rank(order) < HostPattern::parse(second).rank(order),
            "{first} {second}"
        );
    }
}

#[test]
fn mariadb_tries_first_what_matches_least() {
    let order = Order::FewestMatches;
    ordered(order, &["10.0.0.1", "10.0.0._", "10.0.0.__", "%.0.0.100", "10.0.0.%", "10.0.%", "1%", "%"]);
    let rank = |text: &str| HostPattern::parse(text).rank(order);
    assert_eq!(rank("localhost"), rank("10.0.0.0/255.0.0.0"));
    assert_eq!(rank(r"a\%b"), rank("x"));
    assert_eq!(rank("a%%"), rank("a%"));
}

#[test]
fn mysql_tries_networks_first_and_then_long_prefixes() {
    let order = Order::NetworksThenPrefix;
    ordered(
        order,
        &["10.0.0.1", "10.0.0.0/24", "10.0.0.0/255.0.0.0", "host", "10.0.0.%", "10.0.%", "1%", "%", ""],
    );
    assert_eq!(HostPattern::parse("10.%").rank(order), HostPattern::parse("10._").rank(order));
}
