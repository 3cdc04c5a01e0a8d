//! The verb of a statement from its first units.

use super::{Unit, UnitKind};
use crate::keyword::Keyword as K;
use crate::verb::Verb;

fn keyword(unit: Option<&Unit>) -> Option<K> {
    match unit?.kind {
        UnitKind::Keyword(keyword) => Some(keyword),
        _ => None,
    }
}

/// The verb, and whether a `;` may belong to a body.
pub(super) fn classify(units: &[Unit], text: &[u8]) -> (Verb, bool) {
    let first = units.iter().position(|unit| !unit.is_punct(b'('));
    let Some(first) = first else {
        return (if units.is_empty() { Verb::Empty } else { Verb::Other }, false);
    };
    let units = units.get(first..).unwrap_or_default();
    let Some(word) = keyword(units.first()) else {
        return (Verb::Other, units.get(1).is_some_and(label));
    };
    let second = keyword(units.get(1));
    let verb = match word {
        K::Select => Verb::Select,
        K::With => behind_with(units),
        K::Values => Verb::Values,
        K::Table => Verb::Table,
        K::Insert => Verb::Insert,
        K::Replace => Verb::Replace,
        K::Update => Verb::Update,
        K::Delete => Verb::Delete,
        K::Set if second == Some(K::Statement) => Verb::SetStatement,
        K::Set => Verb::Set,
        K::Use => Verb::Use,
        K::Show => Verb::Show,
        K::Explain | K::Describe | K::Desc => Verb::Explain,
        K::Analyze => match second {
            Some(K::Table | K::Local) => Verb::Maintenance,
            _ => Verb::Explain,
        },
        K::Begin if second == Some(K::Not) => return (Verb::Other, true),
        K::Begin => Verb::Begin,
        K::Start if second == Some(K::Transaction) => Verb::Begin,
        K::Commit => Verb::Commit,
        K::Rollback => rollback(units),
        K::Savepoint => Verb::Savepoint,
        K::Release => Verb::Release,
        K::Call => Verb::Call,
        K::Do => Verb::Do,
        K::Kill => Verb::Kill,
        K::Prepare => Verb::Prepare,
        K::Execute => Verb::Execute,
        K::Deallocate => Verb::Deallocate,
        K::Drop if second == Some(K::Prepare) => Verb::Deallocate,
        K::Handler => Verb::Handler,
        K::Lock => Verb::Lock,
        K::Unlock => Verb::Unlock,
        K::Load => Verb::Load,
        K::Xa => Verb::Xa,
        K::Grant | K::Revoke => Verb::Account,
        K::Create | K::Alter | K::Drop | K::Rename => return ddl(units, text),
        K::Truncate => Verb::Ddl,
        K::Check
        | K::Checksum
        | K::Optimize
        | K::Repair
        | K::Flush
        | K::Reset
        | K::Purge
        | K::Change
        | K::Start
        | K::Stop
        | K::Cache => Verb::Maintenance,
        K::Shuntyard => Verb::Shuntyard,
        K::If | K::Case | K::While | K::Repeat | K::For | K::Declare => {
            return (Verb::Other, true);
        }
        _ => Verb::Other,
    };
    (verb, false)
}

/// `name: BEGIN …`, MariaDB's labelled compound statement.
fn label(unit: &Unit) -> bool {
    unit.kind == UnitKind::Op(crate::lexer::Op::Colon)
}

fn rollback(units: &[Unit]) -> Verb {
    let to = units.iter().take(3).any(|unit| unit.is(K::To));
    if to { Verb::RollbackTo } else { Verb::Rollback }
}

fn behind_with(units: &[Unit]) -> Verb {
    let mut depth = 0u32;
    for unit in units {
        match unit.kind {
            UnitKind::Punct(b'(') => depth += 1,
            UnitKind::Punct(b')') => depth = depth.saturating_sub(1),
            UnitKind::Punct(b';') => break,
            UnitKind::Keyword(keyword) if depth == 0 => match keyword {
                K::Select => return Verb::Select,
                K::Values => return Verb::Values,
                K::Update => return Verb::Update,
                K::Delete => return Verb::Delete,
                K::Insert => return Verb::Insert,
                K::Replace => return Verb::Replace,
                _ => {}
            },
            _ => {}
        }
    }
    // WITH … (SELECT …): what is behind the last parenthesis can only be a query.
    Verb::Select
}

fn ddl(units: &[Unit], text: &[u8]) -> (Verb, bool) {
    let mut verb = Verb::Ddl;
    // CREATE [OR REPLACE] [DEFINER = u@h] … <what>: the thing stands within the first words.
    for unit in units.iter().skip(1).take(16) {
        match unit.kind {
            UnitKind::Keyword(K::Procedure | K::Function | K::Trigger | K::Event | K::Package) => {
                return (verb, true);
            }
            UnitKind::Keyword(K::Role) => verb = Verb::Account,
            UnitKind::Word if unit.of(text).eq_ignore_ascii_case(b"USER") => {
                verb = Verb::Account;
            }
            UnitKind::Keyword(K::Table | K::View | K::Index | K::Database | K::Schema)
            | UnitKind::Punct(_) => break,
            _ => {}
        }
    }
    (verb, false)
}
