//! A catalog from `CREATE TABLE` statements, for the tests that rules carry.
//!
//! It reads columns, types, NOT NULL, character sets and keys, and takes MySQL's defaults for the rest: InnoDB, utf8mb4.
//! What it does not know in a column or table it passes over, as a test's table may well have a DEFAULT or a COMMENT.

use std::ops::Range;

use sql::catalog::{
    BaseType, Catalog, Column, ColumnType, Generated, Key, KeyKind, KeyPart, Table, TableKind, TableNames,
};
use sql::digest::Scanner;
use sql::{Flavor, Keyword, Product, UnitKind};

use crate::shape::{Source, is_identifier, name};

/// The schema in which the tables of rules' tests stand.
pub const SCHEMA: &str = "rule_test";

/// Reads `CREATE TABLE` statements. `Err` says which one is not understood, and why.
pub fn catalog(statements: &[String], flavor: Flavor) -> Result<Catalog, String> {
    let mut catalog = Catalog::new(0, TableNames::CaseSensitive);
    for statement in statements {
        let mut scanner = Scanner::new();
        let scan = scanner.scan(statement.as_bytes(), flavor);
        let source = Source { text: statement.as_bytes(), units: scan.units };
        let table = table(&source).map_err(|reason| {
            let short: String = statement.chars().take(40).collect();
            format!("`{short}…` is not understood: {reason}")
        })?;
        catalog.insert(table);
    }
    Ok(catalog)
}

fn table(source: &Source<'_>) -> Result<Table, String> {
    let mut at = 0;
    for word in [Keyword::Create, Keyword::Table] {
        if !source.is(at, word) {
            return Err(format!("expected {}", word.text()));
        }
        at += 1;
    }
    let table_name =
        name(source, at).filter(|_| is_identifier(source.kind(at))).ok_or("expected a table's name")?;
    let open = at + 1;
    if !source.is_punct(open, b'(') {
        return Err("expected ( after the table's name".to_owned());
    }
    let after = source.after_parenthesis(open).ok_or("the parenthesis does not close")?;
    let options = Options::read(source, after, source.len());
    let mut table = Table {
        schema: SCHEMA.to_owned(),
        name: table_name,
        kind: TableKind::Base,
        engine: Some(options.engine.unwrap_or_else(|| "InnoDB".to_owned())),
        columns: Vec::new(),
        keys: Vec::new(),
    };
    for part in parts(source, open + 1..after - 1) {
        if !key(source, &part, &mut table)? {
            column(source, &part, options.collation.as_deref(), &mut table)?;
        }
    }
    // The columns of the primary key are NOT NULL without saying so.
    for part in table.primary_key().map(|key| key.parts.clone()).unwrap_or_default() {
        for column in table.columns.iter_mut().filter(|column| Some(&column.name) == part.column.as_ref()) {
            column.nullable = false;
        }
    }
    table.keys.sort_by_key(|key| key.kind != KeyKind::Primary);
    Ok(table)
}

struct Options {
    engine: Option<String>,
    collation: Option<String>,
}

impl Options {
    /// `ENGINE=…`, `COLLATE=…` behind the columns.
    fn read(source: &Source<'_>, start: u32, end: u32) -> Options {
        let value = |at: u32| {
            let at = if matches!(source.kind(at), Some(UnitKind::Op(sql::Op::Eq))) { at + 1 } else { at };
            name(source, at)
        };
        let mut options = Options { engine: None, collation: None };
        for at in start..end {
            let word = String::from_utf8_lossy(source.bytes(at)).to_ascii_uppercase();
            match word.as_str() {
                "ENGINE" => options.engine = value(at + 1),
                "COLLATE" => options.collation = value(at + 1),
                _ => {}
            }
        }
        options
    }
}

/// The parts between commas.
fn parts(source: &Source<'_>, range: Range<u32>) -> Vec<Range<u32>> {
    let mut parts = Vec::new();
    let (mut start, mut at) = (range.start, range.start);
    while at < range.end {
        if source.is_punct(at, b'(') {
            at = source.after_parenthesis(at).unwrap_or(range.end);
            continue;
        }
        if source.is_punct(at, b',') {
            parts.push(start..at);
            start = at + 1;
        }
        at += 1;
    }
    parts.push(start..range.end);
    parts
}

/// A key, if the part is one.
fn key(source: &Source<'_>, part: &Range<u32>, table: &mut Table) -> Result<bool, String> {
    let mut at = part.start;
    let kind = match source.kind(at) {
        Some(UnitKind::Keyword(Keyword::Primary)) => KeyKind::Primary,
        Some(UnitKind::Keyword(Keyword::Unique)) => KeyKind::Unique,
        Some(UnitKind::Keyword(Keyword::Fulltext)) => KeyKind::FullText,
        Some(UnitKind::Keyword(Keyword::Key | Keyword::Index)) => KeyKind::Index,
        Some(UnitKind::Keyword(Keyword::Constraint | Keyword::Foreign | Keyword::Check)) => return Ok(true),
        _ => return Ok(false),
    };
    while at < part.end && !source.is_punct(at, b'(') {
        at += 1;
    }
    let named = name(source, at - 1).filter(|_| is_identifier(source.kind(at - 1)));
    let after =
        source.after_parenthesis(at).filter(|after| *after <= part.end).ok_or("a key without columns")?;
    let columns = parts(source, at + 1..after - 1).into_iter().map(|part| KeyPart {
        column: name(source, part.start),
        prefix: source.is_punct(part.start + 1, b'(').then_some(1),
        descending: source.is(part.end - 1, Keyword::Desc),
    });
    let fallback = if kind == KeyKind::Primary { "PRIMARY" } else { "key" };
    table.keys.push(Key {
        name: named.unwrap_or_else(|| fallback.to_owned()),
        kind,
        parts: columns.collect(),
        visible: true,
    });
    Ok(true)
}

fn column(
    source: &Source<'_>,
    part: &Range<u32>,
    table_collation: Option<&str>,
    table: &mut Table,
) -> Result<(), String> {
    let column_name = name(source, part.start).ok_or("expected a column's name")?;
    let start = part.start + 1;
    let mut end = start + 1;
    if source.is_punct(end, b'(') {
        end = source.after_parenthesis(end).ok_or("a type's parenthesis does not close")?;
    }
    // `ENUM ('a','b')` and `INT (10)` may come as one collapsed unit.
    if matches!(source.kind(end), Some(UnitKind::Rows { .. } | UnitKind::List(_))) {
        end += 1;
    }
    let words = |at: u32| String::from_utf8_lossy(source.bytes(at)).to_ascii_uppercase();
    while end < part.end && matches!(words(end).as_str(), "UNSIGNED" | "SIGNED" | "ZEROFILL" | "PRECISION") {
        end += 1;
    }
    let kind = ColumnType::parse(&source.whole(&(start..end)));
    if kind.base == BaseType::Other {
        return Err(format!("the type {}", source.whole(&(start..end))));
    }
    let text = kind.base.is_character();
    let mut column = Column {
        name: column_name.clone(),
        kind,
        nullable: true,
        charset: text.then(|| "utf8mb4".to_owned()),
        collation: text.then(|| table_collation.unwrap_or("utf8mb4_general_ci").to_owned()),
        generated: Generated::No,
        invisible: false,
        auto_increment: false,
    };
    for at in end..part.end {
        match words(at).as_str() {
            "NULL" if source.is(at - 1, Keyword::Not) => column.nullable = false,
            "COLLATE" if text => column.collation = name(source, at + 1),
            "SET" if text && source.is(at - 1, Keyword::Character) => {
                column.charset = name(source, at + 1);
                column.collation = column.charset.as_ref().map(|charset| format!("{charset}_default"));
            }
            "AUTO_INCREMENT" => column.auto_increment = true,
            "INVISIBLE" => column.invisible = true,
            "VIRTUAL" => column.generated = Generated::Virtual,
            "STORED" | "PERSISTENT" => column.generated = Generated::Stored,
            word @ ("KEY" | "UNIQUE") => {
                let kind = if word == "UNIQUE" { KeyKind::Unique } else { KeyKind::Primary };
                let part = KeyPart { column: Some(column_name.clone()), prefix: None, descending: false };
                table.keys.push(Key { name: "PRIMARY".to_owned(), kind, parts: vec![part], visible: true });
            }
            _ => {}
        }
    }
    table.columns.push(column);
    Ok(())
}

/// The flavor under which a rule's tests are read: a server of this product with the `sql_mode` that it comes with.
pub fn flavor(product: Product) -> Flavor {
    let (text, mode) = match product {
        Product::MariaDb => (
            "10.11.6-MariaDB",
            "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION",
        ),
        Product::MySql => (
            "8.4.0",
            "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION",
        ),
    };
    let version = sql::Version::parse(text).map_or(sql::Version(8, 4, 0), |(_, version)| version);
    Flavor { product, version, mode: sql::SqlMode::parse(mode).0, charset: sql::CharsetClass::Utf8 }
}

#[cfg(test)]
mod tests;
