//! The tables that names in one block can mean, and the columns behind them.

use std::ops::Range;

use sql::catalog::{Column, ColumnType, Table, TableNames};

use crate::engine::Context;
use crate::guard::{Guard, Refusal, base_table, refuse};
use crate::shape::{
    Block, Factor, FactorKind, ItemKind, JoinKind, Reference, Source, from, name, names_equal,
};

/// One table in reach of a block.
pub(crate) struct Visible<'c> {
    /// Its alias, or its name.
    pub(crate) qualifier: String,
    /// The units that write this qualifier, where they are plain enough to be copied.
    pub(crate) qualifier_unit: u32,
    /// The schema, for `schema.table.column`; none where an alias hides it.
    schema: Option<String>,
    /// The catalog's entry.
    pub(crate) table: &'c Table,
    join: JoinKind,
}

/// The tables of a FROM, in order.
pub(crate) struct Scope<'c> {
    pub(crate) tables: Vec<Visible<'c>>,
    names: TableNames,
}

/// One output column of a block.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    /// Its name; none where it cannot be read.
    pub(crate) name: Option<String>,
    /// The catalog's column where it is one as it is.
    pub(crate) column: Option<Column>,
    /// The unit of the table's qualifier, where the column comes from a star.
    pub(crate) star: Option<u32>,
}

impl<'c> Scope<'c> {
    /// Reads the FROM of a block. Derived tables and joins with merged columns are refused.
    pub(crate) fn of(
        source: &Source<'_>,
        block: &Block,
        context: &Context<'c>,
    ) -> Result<Scope<'c>, Refusal> {
        Scope::of_from(source, block.from.as_ref(), context)
    }

    /// Reads the units after FROM.
    pub(crate) fn of_from(
        source: &Source<'_>,
        from: Option<&Range<u32>>,
        context: &Context<'c>,
    ) -> Result<Scope<'c>, Refusal> {
        let names = context.catalog.table_names();
        let Some(range) = from else {
            return Ok(Scope { tables: Vec::new(), names });
        };
        if range.end - range.start == 1 && source.is(range.start, sql::Keyword::Dual) {
            return Ok(Scope { tables: Vec::new(), names });
        }
        let factors = from::read(source, range).map_err(Refusal::of(Guard::Readable))?;
        let mut tables = Vec::new();
        for factor in &factors {
            tables.push(visible(source, factor, context)?);
        }
        Ok(Scope { tables, names })
    }

    /// Whether a row of the table may be missing, so that all of its columns are NULL.
    pub(crate) fn may_be_absent(&self, visible: &Visible<'_>) -> bool {
        let at = self.tables.iter().position(|table| std::ptr::eq(table, visible));
        let after = at.map_or(&[][..], |at| self.tables.get(at + 1..).unwrap_or_default());
        visible.join == JoinKind::Left || after.iter().any(|table| table.join == JoinKind::Right)
    }

    fn same_table_name(&self, a: &str, b: &str) -> bool {
        match self.names {
            TableNames::CaseSensitive => a == b,
            TableNames::CaseInsensitive => names_equal(a, b),
        }
    }

    /// The table and column that a reference means.
    pub(crate) fn resolve(
        &self,
        source: &Source<'_>,
        reference: &Reference,
    ) -> Result<(&Visible<'c>, &'c Column), Refusal> {
        let shown = source.show(&reference.range());
        let Some(names) = reference.names(source) else {
            return refuse(Guard::Columns, format!("the name {shown} is not UTF-8"));
        };
        let mut found = None;
        for visible in &self.tables {
            if let Some(qualifier) = names.get(1)
                && !self.same_table_name(qualifier, &visible.qualifier)
            {
                continue;
            }
            if let Some(schema) = names.get(2)
                && !visible.schema.as_ref().is_some_and(|own| self.same_table_name(schema, own))
            {
                continue;
            }
            let Some(column) = names.first().and_then(|name| visible.table.column(name)) else {
                continue;
            };
            if found.replace((visible, column)).is_some() {
                return refuse(Guard::Columns, format!("the column {shown} is ambiguous"));
            }
        }
        match found {
            Some(found) => Ok(found),
            None => refuse(Guard::Columns, format!("the catalog does not know the column {shown}")),
        }
    }

    /// The output columns of a block, stars expanded.
    pub(crate) fn outputs(&self, source: &Source<'_>, block: &Block) -> Result<Vec<Output>, Refusal> {
        let mut outputs = Vec::new();
        for (index, item) in block.items.iter().enumerate() {
            match &item.kind {
                ItemKind::Star => {
                    if self.tables.iter().any(|table| table.join == JoinKind::Right) {
                        return refuse(Guard::Columns, "* over a RIGHT JOIN");
                    }
                    if self.tables.is_empty() || index > 0 {
                        return refuse(Guard::Columns, "* without a table or behind another column");
                    }
                    for visible in &self.tables {
                        expand(visible, &mut outputs);
                    }
                }
                ItemKind::QualifiedStar(reference) => {
                    let names = reference.names(source).unwrap_or_default();
                    let found = self.tables.iter().find(|visible| {
                        names.first().is_some_and(|name| self.same_table_name(name, &visible.qualifier))
                    });
                    match found {
                        Some(visible) if names.len() == 1 => expand(visible, &mut outputs),
                        _ => {
                            let shown = source.show(&item.range);
                            return refuse(Guard::Columns, format!("no single table is meant by {shown}"));
                        }
                    }
                }
                ItemKind::Column(reference) => {
                    let (_, column) = self.resolve(source, reference)?;
                    let named = item.alias.unwrap_or_else(|| reference.last());
                    outputs.push(Output {
                        name: name(source, named),
                        column: Some(column.clone()),
                        star: None,
                    });
                }
                // Without an alias the name is the text; of a string, what stands in its quotes.
                ItemKind::Literal | ItemKind::Null | ItemKind::Expression => {
                    let single = item.value.end - item.value.start == 1;
                    let named = item.alias.or_else(|| single.then_some(item.value.start));
                    let name = named.and_then(|unit| name(source, unit));
                    let name = name.or_else(|| item.alias.is_none().then(|| source.whole(&item.value)));
                    outputs.push(Output { name, column: None, star: None });
                }
            }
        }
        Ok(outputs)
    }
}

fn visible<'c>(source: &Source<'_>, factor: &Factor, context: &Context<'c>) -> Result<Visible<'c>, Refusal> {
    let FactorKind::Table(reference) = &factor.kind else {
        return refuse(Guard::Tables, "a derived table in FROM");
    };
    let Some(names) = reference.names(source) else {
        return refuse(Guard::Tables, "a table's name is not UTF-8");
    };
    let table_name = names.first().map(String::as_str).unwrap_or_default();
    let table = base_table(names.get(1).map(String::as_str), table_name, context)?;
    let qualifier_unit = factor.alias.unwrap_or_else(|| reference.last());
    let Some(qualifier) = name(source, qualifier_unit) else {
        return refuse(Guard::Tables, "a table's alias is not UTF-8");
    };
    let schema = factor.alias.is_none().then(|| table.schema.clone());
    Ok(Visible { qualifier, qualifier_unit, schema, table, join: factor.join })
}

fn expand(visible: &Visible<'_>, outputs: &mut Vec<Output>) {
    outputs.extend(visible.table.columns.iter().filter(|column| !column.invisible).map(|column| Output {
        name: Some(column.name.clone()),
        column: Some(column.clone()),
        star: Some(visible.qualifier_unit),
    }));
}

/// Whether two columns have the same type and collation, so that a UNION of them sorts as each of them does.
pub(crate) fn same_type(a: &Column, b: &Column) -> bool {
    a.charset == b.charset && a.collation == b.collation && same_column_type(&a.kind, &b.kind)
}

fn same_column_type(a: &ColumnType, b: &ColumnType) -> bool {
    if a.base.is_integer() {
        // The display width decides nothing.
        return a.base == b.base && a.unsigned == b.unsigned && a.zerofill == b.zerofill;
    }
    a.base == b.base
        && a.length == b.length
        && a.scale == b.scale
        && a.unsigned == b.unsigned
        && a.zerofill == b.zerofill
        && a.text.eq_ignore_ascii_case(&b.text)
}
