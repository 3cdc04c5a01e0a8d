//! After a statement: what it left behind is noted, and a session that shares parks its connection.

use backend::pool::{Legacy, Note};
use sql::Product;
use sql::traces::{Changes, List, Pin, Soft};
use wire::Status;
use wire::follow::Expect;

use super::relay::Answer;
use super::server::{Counts, Found, InsertId, Parked, Warnings};
use super::view::Certainty;
use super::{End, Session};

/// ER_PARSE_ERROR: nothing was executed.
const PARSE_ERROR: u16 = 1064;

/// No session has this number.
const NOBODY: u32 = 0;

impl Session {
    /// Notes what the statement left on the connection, by its form and by what the server said.
    pub(super) fn note(&mut self, expect: Expect, answer: &Answer) {
        let Some(sharing) = &mut self.server.sharing else { return };
        let traces = self.traces;
        let refused = answer.code == Some(PARSE_ERROR);
        if let Some(pin) = traces.pin
            && !refused
        {
            sharing.pin.get_or_insert(pin);
        }
        // The second witness.
        if answer.state_changed && traces.changes.is_empty() {
            sharing.pin.get_or_insert(Pin::Reported);
        }
        if self.view.certainty == Certainty::Lost {
            sharing.pin.get_or_insert(Pin::Variable);
        }
        if traces.changes.intersects(Changes::VARIABLES | Changes::SCHEMA) {
            sharing.profile = None;
        }
        let begins = traces.changes.is_empty() && traces.list != List::Quiet;
        if self.status.contains(Status::AUTOCOMMIT) || traces.ends && !answer.error {
            sharing.begun = false;
        } else {
            sharing.begun |= begins;
        }
        // A statement that fails may have set it before.
        let failed = answer.error && traces.inserts;
        if answer.insert_id || traces.sets.contains(Soft::INSERT_ID) || failed {
            sharing.insert_id = InsertId::Held;
            sharing.here = None;
        }
        if traces.changes.contains(Changes::VARIABLES) && matches!(sharing.warnings, Warnings::Gone(_)) {
            // They were saved in a character set that may be another one now.
            sharing.warnings = Warnings::Lost;
        }
        let asked = matches!(traces.list, List::Asked);
        let keeps = match self.view.flavor.product {
            Product::MariaDb => traces.list,
            Product::MySql if asked || traces.list == List::Quiet => traces.list,
            Product::MySql => List::New,
        };
        sharing.warnings = match (keeps, std::mem::replace(&mut sharing.warnings, Warnings::None)) {
            (List::Asked, warnings) => warnings,
            // What a quiet command tells is the length of the list that is there.
            (List::Quiet, warnings) if !answer.error => warnings,
            // Its error is added to the list, which is on another connection.
            (List::Quiet, Warnings::Gone(_) | Warnings::Lost) => Warnings::Lost,
            _ if answer.error || answer.warnings > 0 => Warnings::Held,
            (List::New, _) => Warnings::None,
            (List::Unsure, Warnings::Gone(_)) => Warnings::Lost,
            (List::Kept | List::Unsure | List::Quiet, warnings) => warnings,
        };
        sharing.warnings_reset &= keeps == List::Quiet;
        if keeps == List::Quiet {
            sharing.warning_count = sharing.warning_count.saturating_add(u16::from(answer.error));
        } else if keeps != List::Asked {
            let count = answer.warnings.max(u16::from(answer.error));
            let none = matches!(sharing.warnings, Warnings::None | Warnings::Foreign) || count > 0;
            sharing.warning_count = if none { count } else { sharing.warning_count };
        }
        sharing.wants_counts |= (traces.reads | traces.sets).contains(Soft::COUNTS);
        // Commands that run nothing leave FOUND_ROWS() as it is.
        match expect {
            Expect::Prepare if answer.error => sharing.counts.rows = -1,
            Expect::Prepare => {}
            _ if traces.list == List::Quiet => sharing.counts.rows = answer.row_count,
            _ => sharing.counts = Counts { rows: answer.row_count, found: Found::Held },
        }
    }

    /// Parks the connection if nothing speaks against it.
    pub(super) async fn release(&mut self) -> Result<(), End> {
        let (Some(sharing), Some(lease)) = (&mut self.server.sharing, &mut self.server.link) else {
            return Ok(());
        };
        if self.member.is_killed() {
            return Err(End::Killed);
        }
        if let Some(pin) = sharing.pin {
            lease.keep();
            self.member.set_pin(pin.text());
            return Ok(());
        }
        if self.status.intersects(Status::IN_TRANS | Status::MORE_RESULTS_EXISTS) || sharing.begun {
            return Ok(());
        }
        let mut overwritten = matches!(sharing.counts.found, Found::Known(_));
        overwritten |= sharing.profile.is_none();
        let Some(profile) = sharing.know_profile(lease, &self.shared.home().pool).await? else {
            sharing.pin = Some(Pin::Variable);
            lease.keep();
            self.member.set_pin(Pin::Variable.text());
            return Ok(());
        };
        if let Some(why) = self.statements.keeps(profile.schema()) {
            lease.keep();
            self.member.set_pin(why);
            return Ok(());
        }
        if !lease.is_shared() {
            // It was kept for statements that are closed now.
            self.member.set_pin("");
        }
        // It is about to be closed; or the session has no claim on it, and would wait for ever for others to save what is there.
        if !self.shared.home().pool.has_room_for(lease) || overwritten {
            sharing.save(lease).await?;
            overwritten = true;
        }
        let held = sharing.held();
        let legacy = (!held.is_empty()).then(|| Legacy::new(held));
        let counts = matches!(sharing.counts.found, Found::Held);
        sharing.part_with(legacy.as_ref());
        let left = legacy.as_ref().map(Legacy::left);
        sharing.parked = Parked { legacy, counts };
        // Whose state was overwritten has no claim on the connection.
        let session = if overwritten { NOBODY } else { self.member.id() };
        let note = Note {
            key: sharing.key.clone(),
            profile,
            session,
            lane: crate::stats::core(),
            insert_id: sharing.here,
            legacy: left,
        };
        // A KILL that is on its way to this connection must not meet somebody else's statement.
        self.member.leave_thread().await;
        if self.member.is_killed() {
            return Err(End::Killed);
        }
        if let Some(mut lease) = self.server.link.take() {
            lease.input.release();
            self.shared.home().pool.park(lease, note);
        }
        Ok(())
    }
}
