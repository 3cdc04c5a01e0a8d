//! Random conditions that hide a column from its key, and near misses of them.

use super::{Promise, Random, Statement};

/// `CREATE TABLE` statements for [`statement`].
pub(super) fn tables() -> Vec<String> {
    vec![
        "CREATE TABLE h (id INT NOT NULL PRIMARY KEY, ts DATETIME, micro DATETIME(6) NOT NULL, day DATE NOT NULL, \
         n INT, u INT UNSIGNED, s SMALLINT NOT NULL, b BIGINT, c VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, \
         ci VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, \
         KEY (ts), KEY (micro), KEY (day), KEY (n), KEY (u), KEY (s, id), KEY (b), KEY (c), KEY (ci))"
            .to_owned(),
        "CREATE TABLE l (id INT NOT NULL PRIMARY KEY, h_id INT, w INT NOT NULL, at DATETIME NOT NULL, KEY (h_id), KEY (at))"
            .to_owned(),
    ]
}

pub(super) fn statement(random: &mut Random) -> Statement {
    let alias = *random.pick(&["h", "h", "x"]);
    let named = if alias == "h" { "h".to_owned() } else { format!("h {alias}") };
    let from = match random.below(8) {
        0 => format!("{named} JOIN l ON l.h_id = {alias}.id"),
        1 => format!("{named} LEFT JOIN l ON l.h_id = {alias}.id AND {}", moment(random, "l.at")),
        2 => format!("l RIGHT JOIN {named} ON l.h_id = {alias}.id"),
        _ => named,
    };
    let joined = from.contains("JOIN");
    let condition = boolean(random, alias, joined, 2);
    if random.chance(15) {
        return grouped(random, alias, &from, &condition);
    }
    let list = match random.below(4) {
        0 => format!("{alias}.id, {alias}.n AS number, {alias}.c"),
        1 if !joined => "*".to_owned(),
        2 => "COUNT(*)".to_owned(),
        _ => format!("{alias}.id"),
    };
    let ordered = !joined && list != "COUNT(*)" && random.chance(40);
    let order =
        if ordered { format!(" ORDER BY {alias}.id LIMIT {}", 1 + random.below(20)) } else { String::new() };
    let promise = if ordered { Promise::Total } else { Promise::Keys(Vec::new()) };
    Statement { sql: format!("SELECT {list} FROM {from} WHERE {condition}{order}"), promise }
}

/// Conditions of groups, on their keys and on their sums.
fn grouped(random: &mut Random, alias: &str, from: &str, condition: &str) -> Statement {
    // Of strings that are equal under their collation any one may stand for the group.
    let key = *random.pick(&["s", "n", "day", "u"]);
    let having = match random.below(6) {
        0 => format!("COUNT(*) > {}", random.below(3)),
        1 => format!("{alias}.day > '2003-01-01'"),
        2 => format!("{key} = {} AND COUNT(*) >= 1", random.below(8)),
        3 => format!("{} < {alias}.{key}", random.below(8)),
        4 => format!("m > 1 AND {alias}.{key} = {}", random.below(8)),
        _ => format!("{alias}.{key} = {}", random.below(8)),
    };
    let other =
        if having.contains(".day") && key != "day" { format!(", {alias}.day") } else { String::new() };
    let list = *random.pick(&[
        "K, COUNT(*) AS m",
        "COUNT(*) AS m, K",
        "K AS k, MAX(X.id) AS m",
        "MIN(X.id) AS s, K, COUNT(*) AS m",
    ]);
    let list = list.replace('K', &format!("{alias}.{key}")).replace('X', alias);
    let whole = if random.chance(60) { format!(" WHERE {condition}") } else { String::new() };
    Statement {
        sql: format!("SELECT {list} FROM {from}{whole} GROUP BY {alias}.{key}{other} HAVING {having}"),
        promise: Promise::Keys(Vec::new()),
    }
}

fn boolean(random: &mut Random, alias: &str, joined: bool, depth: usize) -> String {
    if depth == 0 || random.chance(45) {
        return leaf(random, alias, joined);
    }
    let (left, right) =
        (boolean(random, alias, joined, depth - 1), boolean(random, alias, joined, depth - 1));
    match random.below(7) {
        0 => format!("NOT ({left})"),
        1 => format!("({left}) OR {right}"),
        2 => format!("{left} OR {right}"),
        3 => format!("({left} OR {right})"),
        4 => format!("{left} XOR {right}"),
        _ => format!("{left} AND {right}"),
    }
}

fn moment(random: &mut Random, column: &str) -> String {
    let year = *random.pick(&["2003", "2002", "2004", "2023", "1000", "0", "9999", "'2003'"]);
    let day = *random.pick(&[
        "'2003-02-01'",
        "'2003-12-31'",
        "'2003-01-01'",
        "'2003-02-28'",
        "'2003-2-1'",
        "'2023-05-31'",
        "'1000-01-01'",
        "'2003-02-02'",
    ]);
    let month = *random.pick(&["'2003-02'", "'2003-12'", "'2003-01'", "'2023-05'", "'2003-2'", "'1000-01'"]);
    let (left, right) = match random.below(3) {
        0 => (format!("YEAR({column})"), year),
        1 => (format!("DATE({column})"), day),
        _ => (format!("DATE_FORMAT({column}, '%Y-%m')"), month),
    };
    turned(random, &left, "=", right)
}

/// The comparison, now and then with its sides turned round.
fn turned(random: &mut Random, left: &str, operator: &str, right: &str) -> String {
    if random.chance(70) {
        return format!("{left} {operator} {right}");
    }
    let operator = match operator {
        "<" => ">",
        ">" => "<",
        "<=" => ">=",
        ">=" => "<=",
        other => other,
    };
    format!("{right} {operator} {left}")
}

fn leaf(random: &mut Random, alias: &str, joined: bool) -> String {
    let qualified = joined || random.chance(60);
    let column = |name: &str| if qualified { format!("{alias}.{name}") } else { name.to_owned() };
    let operator = *random.pick(&["=", "<", "<=", ">", ">=", "=", "<>"]);
    let numbers = ["n", "s", "id", "b", "u"];
    let (k, v) = (random.below(12).to_string(), random.below(20).to_string());
    match random.below(10) {
        0..=2 => {
            let name = *random.pick(&["ts", "micro", "day"]);
            moment(random, &column(name))
        }
        3 => {
            let number = column(one_of(random, &numbers));
            let left = match random.below(3) {
                0 => format!("{k} + {number}"),
                // An UNSIGNED or BIGINT minus something may be an error.
                1 => format!("{} - {k}", column(one_of(random, &["n", "s", "id"]))),
                _ => format!("{number} + {k}"),
            };
            turned(random, &left, operator, &v)
        }
        4 => {
            let function = *random.pick(&["IFNULL", "COALESCE"]);
            let left = format!("{function}({}, {k})", column(one_of(random, &numbers)));
            turned(random, &left, "=", &v)
        }
        5 => {
            let operator = *random.pick(&["<", "<=", ">", ">="]);
            let (a, b) = (column(one_of(random, &["s", "id", "n"])), column(one_of(random, &["id", "s"])));
            turned(random, &format!("({a}, {b})"), operator, &format!("({k}, {v})"))
        }
        6 => {
            let day = column(one_of(random, &["day", "micro"]));
            let bound = *random.pick(&[
                "'2003-02-01'",
                "'2003-01-01'",
                "'2003-02-01 23:59:59'",
                "'2003-02-01 00:00:00'",
            ]);
            let operator = *random.pick(&["<", "<=", ">", ">="]);
            format!("({day}, {}) {operator} ({bound}, {v})", column("id"))
        }
        7 => {
            let text = column(one_of(random, &["c", "ci", "c"]));
            let start = *random.pick(&["'R'", "'R1'", "'r'", "'ann'", "'R%'", "'R '", "'v'"]);
            let length = 1 + random.below(3);
            let left = match random.below(3) {
                0 => format!("SUBSTRING({text}, 1, {length})"),
                _ => format!("LEFT({text}, {length})"),
            };
            turned(random, &left, "=", start)
        }
        8 => {
            let count = format!("(SELECT COUNT(*) FROM l i WHERE i.h_id = {alias}.id AND i.w > {k})");
            let (operator, bound) = *random.pick(&[(">", "0"), (">=", "1"), ("=", "0"), (">", "1")]);
            turned(random, &count, operator, bound)
        }
        _ => format!("{} {operator} {v}", column(one_of(random, &numbers))),
    }
}

fn one_of<'l>(random: &mut Random, list: &[&'l str]) -> &'l str {
    let one: &&str = random.pick(list);
    one
}
