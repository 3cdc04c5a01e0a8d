//! Types as `COLUMN_TYPE` writes them, and names as servers compare them.

use super::*;

#[test]
fn column_types() {
    let parse = |text| {
        let found = ColumnType::parse(text);
        (found.base, found.length, found.scale, found.unsigned)
    };
    assert_eq!(parse("int(10) unsigned"), (BaseType::Int, Some(10), None, true));
    assert_eq!(parse("int"), (BaseType::Int, None, None, false));
    assert_eq!(parse("bigint(20) unsigned zerofill"), (BaseType::BigInt, Some(20), None, true));
    assert_eq!(parse("decimal(10,2)"), (BaseType::Decimal, Some(10), Some(2), false));
    assert_eq!(parse("varchar(300)"), (BaseType::VarChar, Some(300), None, false));
    assert_eq!(parse("datetime(6)"), (BaseType::DateTime, None, Some(6), false));
    assert_eq!(parse("datetime"), (BaseType::DateTime, None, Some(0), false));
    assert_eq!(parse("enum('unsigned )','b')"), (BaseType::Enum, None, None, false));
    assert_eq!(parse("frob(3)"), (BaseType::Other, Some(3), None, false));
    assert_eq!(ColumnType::parse("enum('A')").text, "enum('A')");
}

fn table(name: &str) -> Table {
    Table {
        schema: "Shop".into(),
        name: name.into(),
        kind: TableKind::Base,
        engine: Some("InnoDB".into()),
        columns: ["Id", "note"]
            .map(|column| Column {
                name: column.into(),
                kind: ColumnType::parse("int"),
                nullable: column == "note",
                charset: None,
                collation: None,
                generated: Generated::No,
                invisible: false,
                auto_increment: false,
            })
            .to_vec(),
        keys: ["Id", "note"]
            .map(|column| Key {
                name: column.into(),
                kind: KeyKind::Unique,
                parts: vec![KeyPart { column: Some(column.into()), prefix: None, descending: false }],
                visible: true,
            })
            .to_vec(),
    }
}

#[test]
fn names_of_tables() {
    let mut exact = Catalog::new(1, TableNames::CaseSensitive);
    exact.insert(table("Orders"));
    assert!(exact.table("Shop", "Orders").is_some());
    assert!(exact.table("shop", "Orders").is_none() && exact.table("Shop", "orders").is_none());
    let mut folded = Catalog::new(1, TableNames::CaseInsensitive);
    folded.insert(table("Orders"));
    assert!(folded.table("SHOP", "orders").is_some());
    assert!(folded.remove("shop", "ORDERS") && !folded.remove("shop", "ORDERS"));
    assert_eq!(folded.tables().count(), 0);
}

#[test]
fn unique_keys_with_null_are_not_unique() {
    let table = table("t");
    let unique: Vec<bool> = table.keys.iter().map(|key| key.is_unique_not_null(&table)).collect();
    assert_eq!(unique, [true, false]);
    assert!(table.column("ID").is_some() && table.is_innodb() && table.primary_key().is_none());
}
