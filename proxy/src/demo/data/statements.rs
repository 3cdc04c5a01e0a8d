//! Statements to try on the sample shop, with and without the rules.

/// One statement and what it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Statement {
    /// The rule that makes it fast.
    pub rule: &'static str,
    /// One line for the reader.
    pub about: &'static str,
    /// To be run before it on the same connection.
    pub before: Option<&'static str>,
    /// The statement, on one line, for the schema `shop`.
    pub sql: &'static str,
}

/// The three statements that `demo` prints.
pub(crate) const STATEMENTS: [Statement; 3] = [
    Statement {
        rule: "union-limit",
        about: "the newest orders, archived ones included: 20 rows of each table are enough, the server sorts 1.3 million",
        before: None,
        sql: "SELECT id, customer_id, created_at, amount, note FROM orders UNION ALL SELECT id, customer_id, created_at, amount, note FROM orders_archive ORDER BY created_at DESC, id DESC LIMIT 20",
    },
    Statement {
        rule: "derived-merge",
        about: "the case of 2011: a derived table with a subquery is built for all orders of a quarter to show 20 of them (servers merge it by themselves today, so it is switched off first)",
        before: Some("SET SESSION optimizer_switch = 'derived_merge=off'"),
        sql: "SELECT id, created_at, amount, customer FROM (SELECT o.id, o.created_at, o.amount, (SELECT c.name FROM customers c WHERE c.id = o.customer_id) AS customer FROM orders o WHERE o.created_at >= '2025-10-01') AS a ORDER BY created_at DESC, id DESC LIMIT 20",
    },
    Statement {
        rule: "union-limit",
        about: "page 11 of the returned orders: LIMIT and OFFSET are added up and copied into both branches",
        before: None,
        sql: "SELECT id, created_at, status, amount FROM orders WHERE status = 'returned' UNION ALL SELECT id, created_at, status, amount FROM orders_archive WHERE status = 'returned' ORDER BY created_at DESC, id DESC LIMIT 20 OFFSET 200",
    },
];
