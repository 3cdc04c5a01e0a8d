//! Random UNION ALLs.

use super::schema::COLUMNS;
use super::{Promise, Random, SortKey, Statement};

/// One output column: which column each branch puts there.
struct Position {
    columns: Vec<String>,
    alias: Option<&'static str>,
    folded: bool,
}

pub(super) fn statement(random: &mut Random) -> Statement {
    let count = 2 + random.below(3);
    let tables: Vec<&str> =
        (0..count).map(|_| if random.chance(8) { "g3" } else { *random.pick(&["g1", "g2"]) }).collect();
    let star = random.chance(12);
    let positions = if star { all() } else { list(random, count) };
    let mut keys = Vec::new();
    let mut order = Vec::new();
    for _ in 0..=random.below(3) {
        let column = random.below(positions.len());
        let Some(position) = positions.get(column) else { continue };
        keys.push(SortKey { column, folded: position.folded });
        let name = match position.alias {
            Some(alias) => alias.to_owned(),
            None => position.columns.first().cloned().unwrap_or_default(),
        };
        let key = if random.chance(30) { (column + 1).to_string() } else { name };
        let direction = *random.pick(&["", "", " DESC", " ASC"]);
        order.push(format!("{key}{direction}"));
    }
    let mut branches = Vec::new();
    for (number, table) in tables.iter().enumerate() {
        branches.push(branch(random, number, table, &positions, star));
    }
    let limit = random.below(30);
    let offset = if random.chance(40) { random.below(20) } else { 0 };
    let clause = match (offset, random.below(2)) {
        (0, _) => format!("LIMIT {limit}"),
        (_, 0) => format!("LIMIT {offset}, {limit}"),
        _ => format!("LIMIT {limit} OFFSET {offset}"),
    };
    let glue = if random.chance(5) { " UNION " } else { " UNION ALL " };
    // The last branch's own tail would be the union's.
    let sql = format!("{} ORDER BY {} {clause}", branches.join(glue), order.join(", "));
    Statement { sql, promise: Promise::Cut { keys, offset: offset as u64, limit: limit as u64 } }
}

fn all() -> Vec<Position> {
    COLUMNS
        .iter()
        .map(|column| Position { columns: vec![column.name.to_owned()], alias: None, folded: column.folded })
        .collect()
}

fn list(random: &mut Random, branches: usize) -> Vec<Position> {
    (0..1 + random.below(4))
        .map(|_| {
            let column = random.pick(COLUMNS);
            let columns = (0..branches)
                .map(|_| match random.below(40) {
                    0 => "NULL".to_owned(),
                    1 => "'x'".to_owned(),
                    2 => random.pick(COLUMNS).name.to_owned(),
                    3 => "n + 1".to_owned(),
                    _ => column.name.to_owned(),
                })
                .collect();
            // Aliases that are names of other columns are where names turn into something else.
            let alias = random.chance(25).then(|| *random.pick(&["id", "n", "s", "z"]));
            Position { columns, alias, folded: column.folded }
        })
        .collect()
}

fn branch(random: &mut Random, number: usize, table: &str, positions: &[Position], star: bool) -> String {
    let qualified = random.chance(20);
    let items: Vec<_> = positions
        .iter()
        .map(|position| {
            let column =
                position.columns.get(number).or(position.columns.first()).cloned().unwrap_or_default();
            let plain = column.chars().all(|c| c.is_ascii_lowercase());
            let column = if qualified && plain { format!("q.{column}") } else { column };
            match position.alias {
                Some(alias) if number == 0 => format!("{column} AS {alias}"),
                _ if random.chance(10) && !column.contains(' ') => format!("{column} AS other"),
                _ => column,
            }
        })
        .collect();
    // Names of output columns are the first branch's: an alias of chance there would hide the column's own name.
    let items = if star { "*".to_owned() } else { items.join(", ") };
    let items = if number == 0 { items.replace(" AS other", "") } else { items };
    let from = if qualified { format!("{table} q") } else { table.to_owned() };
    let condition = match random.below(4) {
        0 => {
            let column = random.pick(COLUMNS);
            let operator = *random.pick(&["<", ">=", "=", "<>"]);
            format!(" WHERE {} {operator} {}", column.name, random.pick(column.literals))
        }
        1 => " WHERE id IN (SELECT g_id FROM look WHERE v > 1)".to_owned(),
        _ => String::new(),
    };
    let text = format!("SELECT {items} FROM {from}{condition}");
    match random.below(8) {
        0 => format!("({text} ORDER BY id LIMIT {})", random.below(10)),
        1..=3 => format!("({text})"),
        _ => text,
    }
}
