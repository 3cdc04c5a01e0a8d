//! What is known of the servers' schemas: tables, columns, keys.

use std::collections::HashMap;

/// How a server compares the names of schemas and tables: `@@lower_case_table_names`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TableNames {
    /// 0: as written, compared byte by byte.
    #[default]
    CaseSensitive,
    /// 1 and 2: compared without regard to case.
    CaseInsensitive,
}

/// All tables that one account may see, as of one reading.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// Grows with every change; plans made under another generation are stale.
    pub generation: u64,
    names: TableNames,
    tables: HashMap<String, HashMap<String, Table>>,
}

impl Catalog {
    /// An empty catalog.
    pub fn new(generation: u64, names: TableNames) -> Catalog {
        Catalog { generation, names, tables: HashMap::new() }
    }

    /// Adds or replaces a table.
    pub fn insert(&mut self, table: Table) {
        let schema = self.key(&table.schema).into_owned();
        let name = self.key(&table.name).into_owned();
        self.tables.entry(schema).or_default().insert(name, table);
    }

    /// Forgets a table; whether it was known.
    pub fn remove(&mut self, schema: &str, name: &str) -> bool {
        let name = self.key(name).into_owned();
        let schema = self.key(schema).into_owned();
        self.tables.get_mut(&schema).and_then(|tables| tables.remove(&name)).is_some()
    }

    /// The table of that name, as the server would find it. `None` says nothing about its existence.
    pub fn table(&self, schema: &str, name: &str) -> Option<&Table> {
        self.tables.get(self.key(schema).as_ref())?.get(self.key(name).as_ref())
    }

    /// All tables, in no order.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.tables.values().flat_map(HashMap::values)
    }

    /// How the server compares names of schemas and tables.
    pub fn table_names(&self) -> TableNames {
        self.names
    }

    fn key<'n>(&self, name: &'n str) -> std::borrow::Cow<'n, str> {
        match self.names {
            TableNames::CaseSensitive => name.into(),
            TableNames::CaseInsensitive => name.to_lowercase().into(),
        }
    }
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TableKind {
    /// A base table.
    Base,
    /// A view.
    View,
    /// A table of `information_schema` and the like.
    System,
    /// A base table that is system-versioned (MariaDB).
    Versioned,
    /// A sequence (MariaDB).
    Sequence,
}

/// A table or view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its schema, as the server writes it.
    pub schema: String,
    /// Its name, as the server writes it.
    pub name: String,
    /// Table or view.
    pub kind: TableKind,
    /// `InnoDB`, `MyISAM`, …; none for views.
    pub engine: Option<String>,
    /// In order of position.
    pub columns: Vec<Column>,
    /// The primary key first.
    pub keys: Vec<Key>,
}

impl Table {
    /// The column of that name; names of columns are compared without regard to case.
    pub fn column(&self, name: &str) -> Option<&Column> {
        let lower = name.to_lowercase();
        self.columns.iter().find(|column| column.name.to_lowercase() == lower)
    }

    /// The primary key.
    pub fn primary_key(&self) -> Option<&Key> {
        self.keys.iter().find(|key| key.kind == KeyKind::Primary)
    }

    /// Whether rows are kept by InnoDB.
    pub fn is_innodb(&self) -> bool {
        self.engine.as_deref().is_some_and(|engine| engine.eq_ignore_ascii_case("innodb"))
    }
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: ColumnType,
    /// Whether NULL may be stored.
    pub nullable: bool,
    /// The character set of strings.
    pub charset: Option<String>,
    /// The collation of strings.
    pub collation: Option<String>,
    /// Whether its value is computed.
    pub generated: Generated,
    /// Whether `SELECT *` leaves it out.
    pub invisible: bool,
    /// Whether it is AUTO_INCREMENT.
    pub auto_increment: bool,
}

/// Whether a column's value is computed from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Generated {
    /// An ordinary column.
    No,
    /// Computed when read.
    Virtual,
    /// Computed when written.
    Stored,
}

/// A column's type, as in `information_schema.COLUMNS.COLUMN_TYPE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnType {
    /// The type without its arguments.
    pub base: BaseType,
    /// Characters, bytes, bits or digits: the argument, or `CHARACTER_MAXIMUM_LENGTH` of strings.
    pub length: Option<u64>,
    /// Digits after the point of numbers, of the second for times.
    pub scale: Option<u8>,
    /// Whether negative values are refused.
    pub unsigned: bool,
    /// Whether the value is padded with zeros.
    pub zerofill: bool,
    /// The whole text, for comparing two types for identity: `int(10) unsigned`, `enum('a','b')`.
    pub text: String,
}

/// A type without its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each variant is the SQL type it names")]
pub enum BaseType {
    TinyInt,
    SmallInt,
    MediumInt,
    Int,
    BigInt,
    Decimal,
    Float,
    Double,
    Bit,
    Year,
    Date,
    Time,
    DateTime,
    Timestamp,
    Char,
    VarChar,
    Binary,
    VarBinary,
    TinyText,
    Text,
    MediumText,
    LongText,
    TinyBlob,
    Blob,
    MediumBlob,
    LongBlob,
    Enum,
    Set,
    Json,
    Uuid,
    Inet4,
    Inet6,
    Vector,
    /// GEOMETRY and its kin.
    Geometry,
    /// A type not known here.
    Other,
}

impl BaseType {
    /// Whether values are whole numbers.
    pub fn is_integer(self) -> bool {
        matches!(
            self,
            BaseType::TinyInt | BaseType::SmallInt | BaseType::MediumInt | BaseType::Int | BaseType::BigInt
        )
    }

    /// Whether values are compared by a collation.
    pub fn is_character(self) -> bool {
        matches!(
            self,
            BaseType::Char
                | BaseType::VarChar
                | BaseType::TinyText
                | BaseType::Text
                | BaseType::MediumText
                | BaseType::LongText
                | BaseType::Enum
                | BaseType::Set
        )
    }

    /// Whether values are kept outside the row and make temporary tables wide.
    pub fn is_large(self) -> bool {
        matches!(
            self,
            BaseType::TinyText
                | BaseType::Text
                | BaseType::MediumText
                | BaseType::LongText
                | BaseType::TinyBlob
                | BaseType::Blob
                | BaseType::MediumBlob
                | BaseType::LongBlob
                | BaseType::Json
                | BaseType::Geometry
        )
    }
}

impl ColumnType {
    /// Reads `COLUMN_TYPE`: `int(10) unsigned zerofill`, `decimal(10,2)`, `varchar(20)`, `enum('a','b')`.
    pub fn parse(text: &str) -> ColumnType {
        let lower = text.to_ascii_lowercase();
        let head = lower.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(lower.len());
        let (name, rest) = lower.split_at(head);
        let base = match name {
            "tinyint" => BaseType::TinyInt,
            "smallint" => BaseType::SmallInt,
            "mediumint" => BaseType::MediumInt,
            "int" | "integer" => BaseType::Int,
            "bigint" => BaseType::BigInt,
            "decimal" | "numeric" => BaseType::Decimal,
            "float" => BaseType::Float,
            "double" | "real" => BaseType::Double,
            "bit" => BaseType::Bit,
            "year" => BaseType::Year,
            "date" => BaseType::Date,
            "time" => BaseType::Time,
            "datetime" => BaseType::DateTime,
            "timestamp" => BaseType::Timestamp,
            "char" => BaseType::Char,
            "varchar" => BaseType::VarChar,
            "binary" => BaseType::Binary,
            "varbinary" => BaseType::VarBinary,
            "tinytext" => BaseType::TinyText,
            "text" => BaseType::Text,
            "mediumtext" => BaseType::MediumText,
            "longtext" => BaseType::LongText,
            "tinyblob" => BaseType::TinyBlob,
            "blob" => BaseType::Blob,
            "mediumblob" => BaseType::MediumBlob,
            "longblob" => BaseType::LongBlob,
            "enum" => BaseType::Enum,
            "set" => BaseType::Set,
            "json" => BaseType::Json,
            "uuid" => BaseType::Uuid,
            "inet4" => BaseType::Inet4,
            "inet6" => BaseType::Inet6,
            "vector" => BaseType::Vector,
            "geometry" | "point" | "linestring" | "polygon" | "multipoint" | "multilinestring"
            | "multipolygon" | "geometrycollection" | "geomcollection" => BaseType::Geometry,
            _ => BaseType::Other,
        };
        let arguments = match base {
            BaseType::Enum | BaseType::Set => None,
            _ => rest.strip_prefix('(').and_then(|rest| rest.split_once(')')),
        };
        let (arguments, attributes) = match arguments {
            Some((arguments, attributes)) => (arguments, attributes),
            None => ("", rest),
        };
        let mut numbers = arguments.split(',').map(str::trim);
        let first: Option<u64> = numbers.next().and_then(|n| n.parse().ok());
        let second: Option<u8> = numbers.next().and_then(|n| n.parse().ok());
        let (length, scale) = match base {
            BaseType::Time | BaseType::DateTime | BaseType::Timestamp => {
                (None, Some(first.and_then(|n| u8::try_from(n).ok()).unwrap_or(0)))
            }
            _ => (first, second),
        };
        let word = |wanted: &str| {
            !matches!(base, BaseType::Enum | BaseType::Set)
                && attributes.split_whitespace().any(|word| word == wanted)
        };
        ColumnType {
            base,
            length,
            scale,
            unsigned: word("unsigned") || word("zerofill"),
            zerofill: word("zerofill"),
            text: text.to_owned(),
        }
    }
}

/// What a key promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// Unique, no NULL.
    Primary,
    /// Unique among rows without NULL in it.
    Unique,
    /// An ordinary index.
    Index,
    /// FULLTEXT.
    FullText,
    /// SPATIAL.
    Spatial,
}

/// A key of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// `PRIMARY` or its name.
    pub name: String,
    /// What it promises.
    pub kind: KeyKind,
    /// In order.
    pub parts: Vec<KeyPart>,
    /// Whether the optimizer may use it.
    pub visible: bool,
}

/// One part of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPart {
    /// The column; none for a functional part (MySQL 8).
    pub column: Option<String>,
    /// Characters or bytes that are indexed, where that is not the whole value.
    pub prefix: Option<u32>,
    /// Whether it descends.
    pub descending: bool,
}

impl Key {
    /// Whether no two rows agree on it: unique over whole values and, judged by `table`, without NULL.
    pub fn is_unique_not_null(&self, table: &Table) -> bool {
        matches!(self.kind, KeyKind::Primary | KeyKind::Unique)
            && !self.parts.is_empty()
            && self.parts.iter().all(|part| {
                part.prefix.is_none()
                    && part
                        .column
                        .as_deref()
                        .and_then(|name| table.column(name))
                        .is_some_and(|column| !column.nullable)
            })
    }
}

#[cfg(test)]
mod tests;
