//! What the lexer and the digest cost on every statement.

use divan::{Bencher, black_box};
use sql::{Flavor, Lexer, Scanner};

fn main() {
    divan::main();
}

const TEXTS: &[(&str, &str)] = &[
    ("point", "SELECT c FROM sbtest1 WHERE id=5012"),
    ("range", "SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN 4978 AND 5077 ORDER BY c"),
    (
        "insert",
        "INSERT INTO sbtest1 (id, k, c, pad) VALUES (5012, 4912, '68487932199-96439406143-93774651418', '67847967377-48000963322')",
    ),
    (
        "named",
        "SELECT o.id, c.name, o.total + 5 AS total FROM orders o JOIN customers c ON c.id = o.customer_id \
         WHERE o.status IN ('paid', 'sent', 'done') AND o.ts >= '2024-01-01' ORDER BY o.ts DESC, o.id LIMIT 20 OFFSET 40",
    ),
];

#[divan::bench(args = TEXTS.iter().map(|(name, _)| *name))]
fn lex(bencher: Bencher<'_, '_>, name: &str) {
    let text = text(name);
    bencher.bench(|| Lexer::new(black_box(text.as_bytes()), Flavor::MARIADB).count());
}

#[divan::bench(args = TEXTS.iter().map(|(name, _)| *name))]
fn scan(bencher: Bencher<'_, '_>, name: &str) {
    let text = text(name);
    let mut scanner = Scanner::new();
    bencher.bench_local(|| scanner.scan(black_box(text.as_bytes()), Flavor::MARIADB).digest);
}

#[divan::bench]
fn scan_list_of_100_000(bencher: Bencher<'_, '_>) {
    let text = format!("SELECT c FROM t WHERE id IN ({})", vec!["12345"; 100_000].join(","));
    let mut scanner = Scanner::new();
    bencher.bench_local(|| scanner.scan(black_box(text.as_bytes()), Flavor::MARIADB).digest);
}

#[divan::bench(args = TEXTS.iter().map(|(name, _)| *name))]
fn parse(bencher: Bencher<'_, '_>, name: &str) {
    let text = text(name);
    bencher.bench(|| sql::tree::parse(black_box(text), Flavor::MARIADB).is_ok());
}

fn text(name: &str) -> &'static str {
    TEXTS.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text)
}
