//! Prepares a statement on the connection where it is to run, and closes there what nobody has any more.

use std::sync::Arc;

use backend::exchange::{ExchangeError, prepare};
use backend::pool::{Lease, Pool};
use backend::statements::{Registry, Statement};
use wire::{Command, packet};

use super::attach::{Purpose, Unusable, bring};
use super::patch::lost_state;
use super::server::{Sharing, Warnings};

/// A statement that a connection is to have.
#[derive(Debug)]
pub(super) struct Placing<'a> {
    pub(super) statement: &'a Arc<Statement>,
    /// What it was before.
    pub(super) former: Option<&'a Arc<Statement>>,
    pub(super) purpose: Purpose,
}

/// Closes on a connection what nobody has prepared any more, and prepares a statement there if it is not yet.
pub(super) async fn place(
    statement: Option<Placing<'_>>,
    sharing: &mut Sharing,
    lease: &mut Lease,
    pool: &Pool,
) -> Result<(), Unusable> {
    let registry = pool.statements();
    tidy(lease, registry).await?;
    let Some(Placing { statement, former, purpose }) = statement else { return Ok(()) };
    if let Some(former) = former {
        lease.statements.turn(former, statement);
    }
    if let Some(entry) = lease.statements.find(statement) {
        // MySQL (9.7, tried) answers a statement that was executed with a cursor before without its rows.
        if purpose != Purpose::Rows || !entry.opened {
            entry.opened |= purpose == Purpose::Cursor;
            return Ok(());
        }
        lease.statements.discard(statement);
    }
    let Some((text, origin)) = statement.origin() else { return Err(lost_state().into()) };
    let current = sharing.know_profile(lease, pool).await?;
    let Some(current) = current else { return Err(lost_state().into()) };
    // Warnings and counts do not survive it.
    sharing.save(lease).await?;
    sharing.take_over();
    let elsewhere = !Arc::ptr_eq(&current, origin);
    if elsewhere {
        bring(lease, &current, origin).await?;
    }
    let prepared = prepare(lease, text).await;
    if elsewhere {
        bring(lease, origin, &current).await?;
    }
    if let Err(ExchangeError::Server(_)) = &prepared {
        // The client is told this error, and may ask for it again.
        sharing.warnings = if elsewhere { Warnings::Lost } else { Warnings::Held };
        sharing.warning_count = 1;
        sharing.counts.rows = -1;
    }
    lease.statements.put(statement, prepared?, registry);
    if let Some(entry) = lease.statements.find(statement) {
        entry.opened = purpose == Purpose::Cursor;
    }
    Ok(tidy(lease, registry).await?)
}

/// Closes what nobody has any more.
async fn tidy(lease: &mut Lease, registry: &Registry) -> Result<(), ExchangeError> {
    if !lease.statements.is_untidy(registry) {
        return Ok(());
    }
    let closing = lease.statements.to_close(registry);
    if closing.is_empty() {
        return Ok(());
    }
    let mut out = Vec::new();
    for id in closing {
        let mut seq = 0;
        packet::build(&mut out, &mut seq, |out| Command::StmtClose(id).write(lease.capabilities, out));
    }
    Ok(lease.stream.write_all(&out).await?)
}
