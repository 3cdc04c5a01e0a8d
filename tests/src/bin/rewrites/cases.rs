//! The statements: one or two for each shipped rule.

/// A rule and a statement that it is for; `%m` stands for the middle of the orders' ids.
pub(crate) struct Case {
    pub(crate) rule: &'static str,
    pub(crate) sql: &'static str,
}

const fn case(rule: &'static str, sql: &'static str) -> Case {
    Case { rule, sql }
}

pub(crate) const CASES: &[Case] = &[
    case(
        "union-limit",
        "SELECT id, cust_id, ts FROM ord UNION ALL SELECT id, cust_id, ts FROM arc ORDER BY ts DESC LIMIT 20",
    ),
    case(
        "having-where",
        "SELECT cust_id, COUNT(*) AS n, SUM(amount) AS total FROM ord GROUP BY cust_id HAVING cust_id = 4711",
    ),
    case("sargable.ifnull", "SELECT id, amount FROM ord WHERE IFNULL(cust_id, 0) = 5"),
    case("sargable.plus", "SELECT id, amount FROM ord WHERE id + 10 = 500"),
    case("sargable.minus", "SELECT id, amount FROM ord WHERE cust_id - 10 = 500"),
    case("sargable.year", "SELECT COUNT(*), SUM(amount) FROM ord WHERE YEAR(ts) = 2014"),
    case("sargable.year-mysql", "SELECT COUNT(*), SUM(amount) FROM ord WHERE YEAR(ts) = 2014"),
    case("sargable.date", "SELECT id, amount FROM ord WHERE DATE(ts) = '2018-05-17'"),
    case(
        "sargable.month",
        "SELECT COUNT(*), SUM(amount) FROM ord WHERE DATE_FORMAT(ts, '%Y-%m') = '2018-05'",
    ),
    case(
        "sargable.month-mysql",
        "SELECT COUNT(*), SUM(amount) FROM ord WHERE DATE_FORMAT(ts, '%Y-%m') = '2018-05'",
    ),
    case(
        "sargable.row-constructor",
        "SELECT id, ts FROM ord WHERE (ts, id) > ('2020-06-30 00:00:00', 5) ORDER BY ts, id LIMIT 20",
    ),
    case("sargable.left", "SELECT COUNT(*), MAX(id) FROM ord WHERE LEFT(code, 3) = 'R77'"),
    case(
        "count-exists",
        "SELECT id, name FROM cust c WHERE (SELECT COUNT(*) FROM ord o WHERE o.cust_id = c.id) > 0",
    ),
    case(
        "derived-merge",
        "SELECT a.id, a.name, a.last FROM (SELECT id, name, city, (SELECT MAX(o.ts) FROM ord o WHERE o.cust_id = c.id) AS last \
         FROM cust c) AS a WHERE a.id <= 50 ORDER BY a.id",
    ),
];
