//! SET: which variables it sets, and whether their values can be replayed.

use super::{Changes, Pin, Traces, Walk, is};
use crate::digest::{Unit, UnitKind};
use crate::keyword::Keyword as K;
use crate::lexer::Op;

/// Variables of a session whose values are read from one connection and set on another. Names that a server does not know
/// are left out by it. Sorted.
///
/// Not among them, so that a session that sets them keeps its connection: what holds for one statement or changes by itself
/// (`timestamp`, `insert_id`, `last_insert_id`, `rand_seed1`), and whatever is not listed.
pub const REPLAYED: &[&str] = &[
    "auto_increment_increment",
    "auto_increment_offset",
    "autocommit",
    "big_tables",
    "block_encryption_mode",
    "character_set_client",
    "character_set_connection",
    "character_set_results",
    "collation_connection",
    "cte_max_recursion_depth",
    "default_storage_engine",
    "default_week_format",
    "div_precision_increment",
    "eq_range_index_dive_limit",
    "foreign_key_checks",
    "group_concat_max_len",
    "information_schema_stats_expiry",
    "innodb_lock_wait_timeout",
    "interactive_timeout",
    "join_buffer_size",
    "lc_messages",
    "lc_time_names",
    "lock_wait_timeout",
    "long_query_time",
    "low_priority_updates",
    "max_execution_time",
    "max_heap_table_size",
    "max_join_size",
    "max_length_for_sort_data",
    "max_recursive_iterations",
    "max_sort_length",
    "max_statement_time",
    "net_read_timeout",
    "net_write_timeout",
    "old_alter_table",
    "optimizer_search_depth",
    "optimizer_switch",
    "range_optimizer_max_mem_size",
    "read_buffer_size",
    "read_rnd_buffer_size",
    "sort_buffer_size",
    "sql_big_selects",
    "sql_buffer_result",
    "sql_mode",
    "sql_notes",
    "sql_quote_show_create",
    "sql_safe_updates",
    "sql_select_limit",
    "sql_warnings",
    "time_zone",
    "tmp_table_size",
    "transaction_isolation",
    "transaction_read_only",
    "tx_isolation",
    "tx_read_only",
    "unique_checks",
    "updatable_views_with_limit",
    "wait_timeout",
];

/// Set without a scope (`SET @@tx_isolation = …`), these hold for one transaction.
const ONE_TRANSACTION: &[&str] =
    &["transaction_isolation", "transaction_read_only", "tx_isolation", "tx_read_only"];

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    None,
    Session,
    Global,
}

/// The scope and the name of `@@name`, `@@session.name`, `@@global.name`.
pub(super) fn scoped(bytes: &[u8]) -> (Scope, &[u8]) {
    let name = bytes.strip_prefix(b"@@").unwrap_or(bytes);
    let mut parts = name.splitn(2, |byte| *byte == b'.');
    let (first, rest) = (parts.next().unwrap_or_default().trim_ascii(), parts.next());
    match rest.map(<[u8]>::trim_ascii) {
        Some(rest) if is(&["session", "local"])(first) => (Scope::Session, rest),
        Some(rest) if is(&["global", "persist", "persist_only"])(first) => (Scope::Global, rest),
        Some(_) => (Scope::None, name),
        None => (Scope::None, first),
    }
}

pub(super) fn judge(walk: &Walk<'_>, traces: &mut Traces) -> Result<(), Pin> {
    let units = walk.units.get(1..).unwrap_or_default();
    if walk.marks.contains(crate::Marks::USER_VAR) {
        return Err(Pin::UserVariable);
    }
    let mut depth = 0u32;
    let items = units.split(|unit| {
        match unit.kind {
            UnitKind::Punct(b'(') => depth += 1,
            UnitKind::Punct(b')') => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && unit.is_punct(b',')
    });
    for item in items {
        one(walk, item, traces)?;
    }
    Ok(())
}

fn one(walk: &Walk<'_>, item: &[Unit], traces: &mut Traces) -> Result<(), Pin> {
    let word = |at: usize| item.get(at).map_or(&b""[..], |unit| walk.bytes(unit));
    let head = item.first().ok_or(Pin::NotUnderstood)?;
    let (scope, name_at) = match head.kind {
        UnitKind::Keyword(K::Global) => (Scope::Global, 1),
        UnitKind::Keyword(K::Session | K::Local) => (Scope::Session, 1),
        UnitKind::Word if is(&["PERSIST", "PERSIST_ONLY"])(word(0)) => (Scope::Global, 1),
        _ => (Scope::None, 0),
    };
    let names = item.get(name_at).is_some_and(|unit| unit.is(K::Names));
    let charset = is(&["CHARSET"])(word(name_at))
        || is(&["CHARACTER", "CHAR"])(word(name_at)) && is(&["SET"])(word(name_at + 1));
    if scope == Scope::None && (names || charset) {
        traces.changes |= Changes::VARIABLES;
        return Ok(());
    }
    if item.get(name_at).is_some_and(|unit| unit.is(K::Transaction)) {
        match scope {
            Scope::None => return Err(Pin::NextTransaction),
            Scope::Session => traces.changes |= Changes::VARIABLES,
            Scope::Global => {}
        }
        return Ok(());
    }
    let equals =
        |at: usize| item.get(at).is_some_and(|unit| matches!(unit.kind, UnitKind::Op(Op::Eq | Op::Assign)));
    let target = item.get(name_at).ok_or(Pin::NotUnderstood)?;
    let (scope, name) = match target.kind {
        UnitKind::SysVar if name_at == 0 => match scoped(walk.bytes(target)) {
            (Scope::None, name) if is(ONE_TRANSACTION)(name) => return Err(Pin::NextTransaction),
            scoped => scoped,
        },
        UnitKind::Word | UnitKind::Keyword(_) => (scope, walk.bytes(target)),
        UnitKind::QuotedIdent => return Err(Pin::Variable),
        _ => return Err(Pin::NotUnderstood),
    };
    if !equals(name_at + 1) {
        // SET ROLE, SET PASSWORD, SET DEFAULT ROLE, SET RESOURCE GROUP, a key cache's variable.
        return Err(Pin::Account);
    }
    walk.functions(item.get(name_at + 2..).unwrap_or_default(), traces)?;
    match scope {
        Scope::Global => {}
        _ if is(REPLAYED)(name) => traces.changes |= Changes::VARIABLES,
        _ if is(&["password"])(name) => return Err(Pin::Account),
        _ => return Err(Pin::Variable),
    }
    Ok(())
}
