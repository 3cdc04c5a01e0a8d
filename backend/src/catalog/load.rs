//! Reading all tables of a server from `information_schema`, row by row.

use std::collections::HashMap;
use std::time::Duration;

use mysql_async::{Row, Value};
use sql::Product;
use sql::catalog::{
    BaseType, Catalog, Column, ColumnType, Generated, Key, KeyKind, KeyPart, Table, TableKind,
};

use crate::control::{Control, ControlError, ServerFacts, quote_text};

/// Schemas that are not in the catalog: the servers' own, and the proxy's own.
pub const SYSTEM_SCHEMAS: [&str; 5] =
    ["information_schema", "mysql", "performance_schema", "sys", "_shuntyard"];

pub(super) fn system_list() -> String {
    SYSTEM_SCHEMAS.map(quote_text).join(", ")
}

/// What is read of one table before it is whole.
struct Draft {
    table: Table,
    columns: Vec<(u64, Column)>,
    keys: Vec<Key>,
}

type Drafts = HashMap<(String, String), Draft>;

/// Reads all tables that the proxy's account may see. Views come without columns: nothing tells cheaply whether
/// those are still the same. A table of which the account may see some columns only is left out.
///
/// # Errors
/// The connection's loss, or a statement that took longer than `limit`.
pub async fn load(
    control: &mut Control,
    facts: &ServerFacts,
    limit: Duration,
) -> Result<Catalog, ControlError> {
    let mut drafts = Drafts::new();
    control.each(limit, &tables_sql(), |row| add_table(&mut drafts, Fields::of(row))).await?;
    control.each(limit, &columns_sql(), |row| add_column(&mut drafts, Fields::of(row))).await?;
    control.each(limit, &keys_sql(facts), |row| add_key_part(&mut drafts, Fields::of(row))).await?;
    control
        .each(limit, &partial_sql(&facts.current_user), |row| {
            let mut fields = Fields::of(row);
            drafts.remove(&(fields.text(), fields.text()));
        })
        .await?;

    let mut catalog = Catalog::new(0, facts.table_names);
    for draft in drafts.into_values() {
        if let Some(table) = finish(draft) {
            catalog.insert(table);
        }
    }
    Ok(catalog)
}

fn tables_sql() -> String {
    format!(
        "SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, ENGINE FROM information_schema.TABLES \
         WHERE TABLE_SCHEMA NOT IN ({})",
        system_list()
    )
}

fn columns_sql() -> String {
    format!(
        "SELECT TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, \
         CHARACTER_MAXIMUM_LENGTH, CHARACTER_SET_NAME, COLLATION_NAME, EXTRA FROM information_schema.COLUMNS \
         WHERE TABLE_SCHEMA NOT IN ({})",
        system_list()
    )
}

fn keys_sql(facts: &ServerFacts) -> String {
    let (visible, expression) = match (facts.product, facts.version) {
        (Product::MySql, version) if version.0 >= 8 => ("IS_VISIBLE = 'YES'", "EXPRESSION"),
        (Product::MariaDb, version) if (version.0, version.1) >= (10, 6) => ("IGNORED <> 'YES'", "NULL"),
        _ => ("1", "NULL"),
    };
    format!(
        "SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX, NON_UNIQUE, COLUMN_NAME, SUB_PART, COLLATION, \
         INDEX_TYPE, {visible}, {expression} FROM information_schema.STATISTICS \
         WHERE TABLE_SCHEMA NOT IN ({})",
        system_list()
    )
}

/// Tables on which the account holds privileges for single columns: `COLUMNS` hides the others.
fn partial_sql(current_user: &str) -> String {
    let (user, host) = current_user.rsplit_once('@').unwrap_or((current_user, "%"));
    let grantee = quote_text(&format!("'{user}'@'{host}'"));
    format!(
        "SELECT DISTINCT TABLE_SCHEMA, TABLE_NAME FROM information_schema.COLUMN_PRIVILEGES \
         WHERE GRANTEE = {grantee}"
    )
}

fn add_table(drafts: &mut Drafts, mut fields: Fields) {
    let (schema, name) = (fields.text(), fields.text());
    let kind = match fields.text().as_str() {
        "BASE TABLE" => TableKind::Base,
        "VIEW" => TableKind::View,
        "SYSTEM VERSIONED" => TableKind::Versioned,
        "SEQUENCE" => TableKind::Sequence,
        "SYSTEM VIEW" => TableKind::System,
        // Temporary tables of this very session (MariaDB 11), and what later versions invent.
        _ => return,
    };
    let engine = fields.maybe();
    let table =
        Table { schema: schema.clone(), name: name.clone(), kind, engine, columns: vec![], keys: vec![] };
    drafts.insert((schema, name), Draft { table, columns: vec![], keys: vec![] });
}

fn add_column(drafts: &mut Drafts, mut fields: Fields) {
    let Some(draft) = drafts.get_mut(&(fields.text(), fields.text())) else { return };
    if draft.table.kind == TableKind::View {
        return;
    }
    let position = fields.number().unwrap_or(0);
    let name = fields.text();
    let mut kind = ColumnType::parse(&fields.text());
    let nullable = fields.text() != "NO";
    let longest = fields.number();
    if kind.length.is_none() && (kind.base.is_character() || kind.base.is_large()) {
        kind.length = longest;
    }
    let (charset, collation) = (fields.maybe(), fields.maybe());
    let extra = fields.text().to_ascii_uppercase();
    let generated = match () {
        () if extra.contains("VIRTUAL GENERATED") => Generated::Virtual,
        () if extra.contains("STORED GENERATED") || extra.contains("PERSISTENT") => Generated::Stored,
        () => Generated::No,
    };
    let column = Column {
        name,
        nullable,
        // ENUM and SET take part in comparisons by their collation; binary types have none.
        charset: charset.filter(|_| kind.base != BaseType::Other),
        collation,
        generated,
        invisible: extra.contains("INVISIBLE"),
        auto_increment: extra.contains("AUTO_INCREMENT"),
        kind,
    };
    draft.columns.push((position, column));
}

fn add_key_part(drafts: &mut Drafts, mut fields: Fields) {
    let Some(draft) = drafts.get_mut(&(fields.text(), fields.text())) else { return };
    let name = fields.text();
    let position = fields.number().unwrap_or(0);
    let unique = fields.number() == Some(0);
    let column = fields.maybe();
    let prefix = fields.number().and_then(|n| u32::try_from(n).ok());
    let descending = fields.text() == "D";
    let kind = match fields.text().as_str() {
        "FULLTEXT" => KeyKind::FullText,
        "SPATIAL" | "RTREE" | "VECTOR" => KeyKind::Spatial,
        _ if name == "PRIMARY" => KeyKind::Primary,
        _ if unique => KeyKind::Unique,
        _ => KeyKind::Index,
    };
    let visible = fields.number() != Some(0);
    let functional = fields.maybe().is_some();
    let part = KeyPart { column: column.filter(|_| !functional), prefix, descending };
    // Parts of one key come in order (both servers list a table's keys one after the other).
    match draft.keys.iter_mut().find(|key| key.name == name) {
        Some(key) if key.parts.len() as u64 + 1 == position => key.parts.push(part),
        // Out of order: a part without a column proves nothing.
        Some(key) => key.parts.push(KeyPart { column: None, ..part }),
        None => draft.keys.push(Key { name, kind, parts: vec![part], visible }),
    }
}

/// The whole table; `None` when columns are missing, which means that the account may not see them.
fn finish(draft: Draft) -> Option<Table> {
    let Draft { mut table, mut columns, mut keys } = draft;
    columns.sort_by_key(|(position, _)| *position);
    let whole = columns.iter().zip(1_u64..).all(|((position, _), expected)| *position == expected);
    if !whole || (columns.is_empty() && table.kind != TableKind::View) {
        return None;
    }
    keys.sort_by_key(|key| key.kind != KeyKind::Primary);
    table.columns = columns.into_iter().map(|(_, column)| column).collect();
    table.keys = keys;
    Some(table)
}

/// The fields of a row, one after the other.
struct Fields(std::vec::IntoIter<Value>);

impl Fields {
    fn of(row: Row) -> Self {
        Self(row.unwrap().into_iter())
    }

    /// NULL and what is missing are `None`.
    fn maybe(&mut self) -> Option<String> {
        match self.0.next()? {
            Value::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
            Value::Int(number) => Some(number.to_string()),
            Value::UInt(number) => Some(number.to_string()),
            _ => None,
        }
    }

    fn text(&mut self) -> String {
        self.maybe().unwrap_or_default()
    }

    fn number(&mut self) -> Option<u64> {
        self.maybe()?.parse().ok()
    }
}
