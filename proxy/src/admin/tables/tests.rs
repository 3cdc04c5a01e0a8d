//! The documentation says what the tables have.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;

/// The section on tables of `docs/admin.md`, written from the tables themselves.
fn documented() -> String {
    let mut out = String::new();
    for table in TABLES {
        out.push_str(&format!("### `shuntyard.{}`\n\n{}", table.name, table.help));
        out.push_str(&format!(
            " `LIKE` compares `{}`.\n\n| column | type | what it says |\n| --- | --- | --- |\n",
            table.like
        ));
        for column in table.columns {
            out.push_str(&format!("| `{}` | {} | {} |\n", column.name, column.kind.sql_type(), column.help));
        }
        out.push('\n');
    }
    out
}

#[test]
fn the_documentation_lists_every_table_and_column() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/admin.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (start, end) = ("<!-- tables: written from proxy/src/admin/tables -->\n\n", "<!-- end of tables -->");
    let section =
        page.split_once(start).and_then(|(_, rest)| rest.split_once(end)).map(|(section, _)| section);
    assert!(section == Some(documented().as_str()), "docs/admin.md should read:\n{}", documented());
}

#[test]
fn every_table_compares_a_column_that_it_has() {
    for table in TABLES {
        assert!(table.columns.iter().any(|column| column.name == table.like), "{}", table.name);
        assert!(Table::named(&table.name.to_uppercase()).is_some());
    }
}
