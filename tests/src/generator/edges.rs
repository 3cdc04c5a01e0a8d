//! Rows at the edges of what rules tell apart: NULLs, ties, first and last moments, values equal only under a collation.

use sql::Product;
use sql::catalog::{BaseType, Catalog, Column};

/// Moments around the bounds of days, months and years.
const MOMENTS: [&str; 16] = [
    "2003-01-01 00:00:00",
    "2002-12-31 23:59:59.999999",
    "2003-12-31 23:59:59.999999",
    "2004-01-01 00:00:00",
    "2003-02-01 00:00:00",
    "2003-02-01 23:59:59.999999",
    "2003-02-02 00:00:00",
    "2003-02-28 23:59:59",
    "2003-03-01 00:00:00",
    "0000-00-00 00:00:00",
    "9999-12-31 23:59:59",
    "1000-01-01 00:00:00",
    "2023-05-17 12:00:00",
    "2023-05-31 23:59:59.999999",
    "2003-02-01 12:30:00",
    "2003-02-01 12:30:00",
];

/// Dates of which a part is zero: written only where rules promise to find them.
const PARTIAL: [&str; 4] =
    ["2003-00-00 00:00:00", "2003-02-00 10:00:00", "2003-00-01 00:00:00", "2003-05-00 23:59:59"];

const STRINGS: [&str; 16] = [
    "R1", "r1", "R1x", "R1 ", "R 1", "R", "", "ann", "Ann", "ann ", "R%1", "R_1", "v", "V", "a\u{df}",
    "R1\u{e9}",
];

const NUMBERS: [&str; 12] = ["0", "1", "-1", "5", "5", "7", "3", "10", "17", "-10", "127", "2"];

fn value(column: &Column, row: usize, product: Product) -> String {
    let pick =
        |values: &[&str]| values.get(row * 7 % values.len()).map_or("0".to_owned(), |v| (*v).to_owned());
    if column.nullable && row % 9 == 4 {
        return "NULL".to_owned();
    }
    match column.kind.base {
        base if base.is_integer() => match pick(&NUMBERS) {
            text if column.kind.unsigned => text.trim_start_matches('-').to_owned(),
            text => text,
        },
        BaseType::Date | BaseType::DateTime => {
            let partial = product == Product::MariaDb && row % 8 == 3;
            format!("'{}'", if partial { pick(&PARTIAL) } else { pick(&MOMENTS) })
        }
        BaseType::Timestamp => "'2023-05-17 12:00:00'".to_owned(),
        BaseType::Time => "'12:00:00'".to_owned(),
        base if base.is_character() => format!("'{}'", pick(&STRINGS)),
        _ => pick(&NUMBERS),
    }
}

/// Statements that fill every table of a catalog. Rows that a key refuses are left out.
pub fn edges(catalog: &Catalog, product: Product) -> Vec<String> {
    let mut statements = vec!["SET @mode = @@sql_mode, sql_mode = ''".to_owned()];
    for table in catalog.tables() {
        let key =
            table.primary_key().and_then(|key| key.parts.first()).and_then(|part| part.column.as_deref());
        for row in 0..144 {
            let mut seed = row;
            let values = table.columns.iter().map(|column| {
                seed = seed * 5 + 3;
                if key == Some(column.name.as_str()) { row.to_string() } else { value(column, seed, product) }
            });
            let values: Vec<_> = values.collect();
            statements.push(format!("INSERT IGNORE INTO `{}` VALUES ({})", table.name, values.join(", ")));
        }
    }
    statements.push("SET sql_mode = @mode".to_owned());
    statements
}
