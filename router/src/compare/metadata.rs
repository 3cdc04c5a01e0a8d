//! Column definitions, field by field and flag by flag.

use super::verdict::{Differences, Place};
use super::{Column, Metadata, ResultSet};

/// Column flags by bit, as `include/mysql_com.h` names them.
const FLAGS: [&str; 16] = [
    "NOT_NULL",
    "PRI_KEY",
    "UNIQUE_KEY",
    "MULTIPLE_KEY",
    "BLOB",
    "UNSIGNED",
    "ZEROFILL",
    "BINARY",
    "ENUM",
    "AUTO_INCREMENT",
    "TIMESTAMP",
    "SET",
    "NO_DEFAULT_VALUE",
    "ON_UPDATE_NOW",
    "PART_KEY",
    "NUM",
];

pub(super) fn compare(
    result: usize,
    left: &ResultSet,
    right: &ResultSet,
    terms: Metadata,
    found: &mut Differences,
) {
    let (l, r) = (&left.columns, &right.columns);
    if l.len() != r.len() {
        found.add(Place::Result { result }, names(l), names(r));
        return;
    }
    if terms == Metadata::Count {
        return;
    }
    for (index, (l, r)) in l.iter().zip(r).enumerate() {
        let mut field = |field: &'static str, left: String, right: String| {
            if left != right {
                found.add(Place::Column { result, column: index, field }, left, right);
            }
        };
        field("name", l.name.clone(), r.name.clone());
        field("type", type_name(l.kind), type_name(r.kind));
        if terms == Metadata::NamesAndTypes {
            // UNSIGNED and BINARY decide how an application reads the value.
            field("flags", flags(l.flags & SIGN_AND_BINARY), flags(r.flags & SIGN_AND_BINARY));
            continue;
        }
        field("org_name", l.org_name.clone(), r.org_name.clone());
        field("table", l.table.clone(), r.table.clone());
        field("org_table", l.org_table.clone(), r.org_table.clone());
        field("schema", l.schema.clone(), r.schema.clone());
        field("length", l.length.to_string(), r.length.to_string());
        field("flags", flags(l.flags), flags(r.flags));
        field("decimals", l.decimals.to_string(), r.decimals.to_string());
        field("charset", l.charset.to_string(), r.charset.to_string());
    }
}

const SIGN_AND_BINARY: u16 = 32 | 128;

fn names(columns: &[Column]) -> String {
    let names: Vec<&str> = columns.iter().take(12).map(|c| c.name.as_str()).collect();
    format!("{} columns ({})", columns.len(), names.join(", "))
}

fn flags(bits: u16) -> String {
    let set: Vec<&str> =
        FLAGS.iter().enumerate().filter(|(bit, _)| bits & (1 << bit) != 0).map(|(_, name)| *name).collect();
    if set.is_empty() { "none".to_owned() } else { set.join("|") }
}

/// `MYSQL_TYPE_*` of the protocol's column types.
fn type_name(kind: u8) -> String {
    let name = match kind {
        0 => "DECIMAL",
        1 => "TINY",
        2 => "SHORT",
        3 => "LONG",
        4 => "FLOAT",
        5 => "DOUBLE",
        6 => "NULL",
        7 => "TIMESTAMP",
        8 => "LONGLONG",
        9 => "INT24",
        10 => "DATE",
        11 => "TIME",
        12 => "DATETIME",
        13 => "YEAR",
        15 => "VARCHAR",
        16 => "BIT",
        242 => "VECTOR",
        245 => "JSON",
        246 => "NEWDECIMAL",
        247 => "ENUM",
        248 => "SET",
        249 => "TINY_BLOB",
        250 => "MEDIUM_BLOB",
        251 => "LONG_BLOB",
        252 => "BLOB",
        253 => "VAR_STRING",
        254 => "STRING",
        255 => "GEOMETRY",
        other => return format!("type {other}"),
    };
    name.to_owned()
}
