//! The tables, and rows full of NULLs, ties, duplicates and values that only a collation holds equal.

use super::Random;

/// A column of the tables: its name, whether its ties are folded, and literals to compare it with.
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) folded: bool,
    pub(super) literals: &'static [&'static str],
}

const STRINGS: &[&str] = &["'ann'", "'Ann'", "'ANN '", "'bob'", "''", "'zoe'", "'a LIMIT 1'", "'it''s'"];

/// Columns of `g1`, `g2` and, with other types, `g3`.
pub(super) const COLUMNS: &[Column] = &[
    Column { name: "id", folded: false, literals: &["0", "3", "7", "12", "40"] },
    Column { name: "n", folded: false, literals: &["-5", "0", "1", "2"] },
    Column { name: "big", folded: false, literals: &["-9223372036854775808", "0", "9223372036854775807"] },
    Column { name: "s", folded: true, literals: STRINGS },
    Column { name: "bin", folded: false, literals: &["'ann'", "'Ann'", "'bob'", "''"] },
    Column { name: "d", folded: false, literals: &["-1.50", "0.00", "0.33", "10.00"] },
    Column { name: "f", folded: false, literals: &["-0.5", "0", "1e10", "2.25"] },
    Column {
        name: "ts",
        folded: false,
        literals: &["'2023-03-26 02:30:00.000'", "'2024-02-29 00:00:00.123'"],
    },
    Column { name: "e", folded: false, literals: &["'small'", "'large'"] },
    Column { name: "c", folded: true, literals: STRINGS },
    Column { name: "tx", folded: true, literals: STRINGS },
];

/// How many rows the two main tables have.
const ROWS: usize = 40;

/// CREATE TABLE statements: `g1` and `g2` of the same columns, `g3` of other types, `look` for lookups.
pub fn tables() -> Vec<String> {
    let same = "(id INT NOT NULL PRIMARY KEY, n INT, big BIGINT, s VARCHAR(20) COLLATE utf8mb4_general_ci, \
                bin VARCHAR(20) COLLATE utf8mb4_bin, d DECIMAL(10,2), f DOUBLE, ts DATETIME(3) NOT NULL, \
                e ENUM('small','medium','large'), c CHAR(10) COLLATE utf8mb4_general_ci, \
                tx TEXT COLLATE utf8mb4_general_ci, KEY (n), KEY (s), KEY (ts, id)) DEFAULT CHARSET=utf8mb4";
    let other = "(id VARCHAR(10) COLLATE utf8mb4_bin NOT NULL PRIMARY KEY, n BIGINT, big INT UNSIGNED, \
                 s VARCHAR(20) COLLATE utf8mb4_bin, bin VARCHAR(20) COLLATE utf8mb4_general_ci, d DECIMAL(12,3), \
                 f FLOAT, ts DATETIME NOT NULL, e ENUM('large','small'), c VARCHAR(10) COLLATE utf8mb4_bin, \
                 tx VARCHAR(50) COLLATE utf8mb4_bin) DEFAULT CHARSET=utf8mb4";
    vec![
        format!("CREATE TABLE g1 {same}"),
        format!("CREATE TABLE g2 {same}"),
        format!("CREATE TABLE g3 {other}"),
        "CREATE TABLE look (id INT NOT NULL PRIMARY KEY, g_id INT NOT NULL, v INT, KEY (g_id))".to_owned(),
    ]
}

/// INSERT statements for all tables.
pub fn rows(random: &mut Random) -> Vec<String> {
    let mut statements = Vec::new();
    for (table, id_step) in [("g1", 1), ("g2", 2)] {
        let rows: Vec<_> =
            (0..ROWS).map(|row| self::row(random, &(row * id_step).to_string(), false)).collect();
        statements.push(format!("INSERT INTO {table} VALUES {}", rows.join(", ")));
    }
    let rows: Vec<_> =
        ["'1'", "'01'", "'10'", "'100'", "'x'"].iter().map(|id| row(random, id, true)).collect();
    statements.push(format!("INSERT INTO g3 VALUES {}", rows.join(", ")));
    let rows: Vec<_> = (0..30)
        .map(|id| {
            let v = if random.chance(20) { "NULL".to_owned() } else { random.below(5).to_string() };
            format!("({id}, {}, {v})", random.below(15))
        })
        .collect();
    statements.push(format!("INSERT INTO look VALUES {}", rows.join(", ")));
    statements
}

fn row(random: &mut Random, id: &str, other: bool) -> String {
    let mut values = vec![id.to_owned()];
    for column in COLUMNS.iter().skip(1) {
        let value = match column.name {
            "ts" if other => "'2024-01-01 00:00:00'".to_owned(),
            "big" if other => random.below(3).to_string(),
            "ts" => (*random.pick(column.literals)).to_owned(),
            _ if random.chance(20) => "NULL".to_owned(),
            _ => (*random.pick(column.literals)).to_owned(),
        };
        values.push(value);
    }
    format!("({})", values.join(", "))
}
