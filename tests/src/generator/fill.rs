//! Rows for the tables of a rule's own tests: every value of a column is another one, so that every order is total.

use sql::catalog::{BaseType, Catalog, Column};

/// How many rows each table gets.
const ROWS: usize = 30;

/// INSERT statements for every table of a catalog; the tables' values alternate, so that a UNION of them mixes.
pub fn distinct(catalog: &Catalog) -> Vec<String> {
    let mut tables: Vec<_> = catalog.tables().collect();
    tables.sort_by(|a, b| a.name.cmp(&b.name));
    let count = tables.len();
    let mut statements = Vec::new();
    for (offset, table) in tables.iter().enumerate() {
        let rows: Vec<String> = (0..ROWS)
            .map(|row| {
                // Neither ascending nor descending along the primary key.
                let n = (row * 7 % ROWS) * count + offset;
                let values: Vec<String> = table.columns.iter().map(|column| value(column, n)).collect();
                format!("({})", values.join(", "))
            })
            .collect();
        statements.push(format!("INSERT INTO `{}` VALUES {}", table.name, rows.join(", ")));
    }
    statements
}

fn value(column: &Column, n: usize) -> String {
    match column.kind.base {
        BaseType::Date => format!("'20{:02}-{:02}-{:02}'", 10 + n / 336 % 80, 1 + n / 28 % 12, 1 + n % 28),
        BaseType::DateTime | BaseType::Timestamp => {
            format!("'2024-{:02}-{:02} 12:00:00'", 1 + n / 28 % 12, 1 + n % 28)
        }
        BaseType::Enum | BaseType::Set => {
            column.kind.text.split('\'').nth(1).map_or("NULL".to_owned(), |member| format!("'{member}'"))
        }
        base if base.is_character() => format!("'v{n:03}'"),
        BaseType::Decimal | BaseType::Float | BaseType::Double => format!("{n}.25"),
        _ => n.to_string(),
    }
}
