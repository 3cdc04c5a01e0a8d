//! The tree is the servers': every pair of operators as both of them read it.
#![expect(clippy::unwrap_used, reason = "tests")]

use sql::digest::Scanner;
use sql::{Flavor, SqlMode};

use super::*;

/// The structure without parentheses; opaque nodes show their text without space.
fn structure(source: &Source<'_>, node: &Node) -> String {
    let node = node.bare();
    if node.children.is_empty() {
        return source.whole(&node.range).replace(['(', ')', ' '], "");
    }
    let children: Vec<_> = node.children.iter().map(|child| structure(source, child)).collect();
    format!("{:?}[{}]", node.tag, children.join(" "))
}

fn read(text: &str, flavor: Flavor) -> Result<String, Odd> {
    let mut scanner = Scanner::new();
    let text = format!("SELECT {text} FROM t");
    let scan = scanner.scan(text.as_bytes(), flavor);
    let source = Source { text: text.as_bytes(), units: scan.units };
    let node = expression(&source, &(1..source.len() - 2), flavor.mode, 0)?;
    Ok(structure(&source, &node))
}

fn compare(fixture: &str, product: Flavor) {
    let (mut agreed, mut refused) = (0, 0);
    for line in fixture.lines().filter(|line| !line.starts_with('#')) {
        let mut fields = line.split('\t');
        let (mode, bare, full) = (fields.next().unwrap(), fields.next().unwrap(), fields.next().unwrap());
        if full == "error" || full == "unclear" {
            continue;
        }
        let flavor = product.with_mode(SqlMode::parse(mode).0);
        match (read(bare, flavor), read(full, flavor)) {
            (Ok(found), Ok(wanted)) => {
                assert_eq!(found, wanted, "{mode}: {bare} is {full}");
                agreed += 1;
            }
            _ => refused += 1,
        }
    }
    assert!(agreed > 2500 && refused < agreed / 10, "{agreed} agreed, {refused} refused");
}

#[test]
fn every_pair_of_operators_on_mariadb() {
    compare(include_str!("../../../sql/tests/fixtures/precedence-mariadb.txt"), Flavor::MARIADB);
}

#[test]
fn every_pair_of_operators_on_mysql() {
    compare(include_str!("../../../sql/tests/fixtures/precedence-mysql.txt"), Flavor::MYSQL);
}

#[test]
fn what_is_not_understood_is_odd_or_opaque() {
    for odd in
        ["a +", "a b", "INTERVAL 1 DAY + a", "@x", "a = ", "foo 'x'", "a NOT b", "(a", "a LIKE b NOT LIKE c"]
    {
        assert!(read(odd, Flavor::MYSQL).is_err(), "{odd}");
    }
    for (text, wanted) in [
        (
            "CASE a WHEN 1 THEN CASE b WHEN 2 THEN 3 END END = 4",
            "Binary(Eq)[CASEaWHEN1THENCASEbWHEN2THEN3ENDEND 4]",
        ),
        ("CAST(a AS CHAR) = b", "Binary(Eq)[CASTaASCHAR b]"),
        ("a COLLATE utf8mb4_bin = b", "Binary(Eq)[aCOLLATEutf8mb4_bin b]"),
        ("SUM(a) OVER (PARTITION BY b) > 1", "Binary(Gt)[SUMaOVERPARTITIONBYb 1]"),
        (
            "YEAR(t.ts) = 2023 AND NOT x",
            "And[Binary(Eq)[Call { name: \"YEAR\", distinct: false }[t.ts] 2023] Not[x]]",
        ),
    ] {
        assert_eq!(read(text, Flavor::MYSQL).unwrap(), wanted);
    }
}
