//! The statements that a client has prepared, by the ids that it knows.

use std::collections::HashMap;
use std::sync::Arc;

use backend::profile::Profile;
use backend::statements::{COPIES, Registry, Statement};
use wire::execute::{self, Kind, NO_KIND, Types};
use wire::{Capabilities, SqlError};

use crate::planner::Planned;

/// How many statements one client may have prepared at once: the servers' usual `max_prepared_stmt_count`.
pub(super) const MOST: usize = 16_382;
/// MariaDB's clients name the statement prepared last so, before they know its id.
pub(super) const LAST: u32 = u32::MAX;

/// The first id that a session gives of its own: far from those that servers give, who count from 1.
const FIRST: u32 = 1 << 30;

/// What keeps a session on the connection where a statement is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hold {
    Nothing,
    /// Parts of a parameter's value were sent.
    LongData,
    /// It was executed with a cursor that has rows left.
    Cursor,
}

/// A statement that the client prepared.
#[derive(Debug)]
pub(super) struct Prepared {
    /// What is counted for its executions; nothing where no text is looked at.
    pub(super) planned: Option<Arc<Planned>>,
    /// How it moves between connections; `None` where ids are the server's.
    pub(super) moving: Option<Moving>,
}

/// A statement of a session that shares connections.
#[derive(Debug)]
pub(super) struct Moving {
    pub(super) statement: Arc<Statement>,
    /// What it was before its parameters were of these kinds.
    former: Option<Arc<Statement>>,
    /// Number of parameters.
    pub(super) params: u16,
    /// Their types as the client sent them last.
    pub(super) types: Vec<u8>,
    pub(super) hold: Hold,
    /// Its parameters changed their kinds, by which MySQL goes on with the first ones where it can: what has them is here.
    own: bool,
    /// It was executed with long data and kinds that were not known: nobody else is to execute what the server has.
    pub(super) mixed: bool,
    /// What went wrong with long data, which is not answered: told at the next execution.
    pub(super) owed: Option<SqlError>,
}

impl Moving {
    /// A statement that has just been prepared.
    pub(super) const fn new(statement: Arc<Statement>, params: u16) -> Self {
        Self {
            statement,
            former: None,
            params,
            types: Vec::new(),
            hold: Hold::Nothing,
            own: false,
            mixed: false,
            owed: None,
        }
    }

    /// An execution with parameters of kinds that were not known before is one of another statement; with other kinds than
    /// before, of one that nobody else has. Long data is at the server's already, with the statement that it was sent for,
    /// which must not be another one's that is there too.
    fn follow_kinds(&mut self, payload: &[u8], capabilities: Capabilities, registry: &Registry) {
        if self.own {
            return;
        }
        let types = match execute::types(payload, self.params, capabilities) {
            Ok(Types::Sent(types)) => types,
            Ok(Types::Omitted(_)) => &self.types,
            Ok(Types::None) | Err(_) => return,
        };
        let known = self.statement.kinds();
        let before = |at: usize| known.get(at).copied().unwrap_or(NO_KIND);
        let kinds = || execute::kinds(payload, types, self.params, capabilities);
        if kinds().enumerate().all(|(at, kind)| kind == NO_KIND || kind == before(at)) {
            return;
        }
        let changes = |(at, kind)| kind != NO_KIND && before(at) != NO_KIND && kind != before(at);
        let next = if kinds().enumerate().any(changes) {
            registry.own(&self.statement)
        } else if self.hold == Hold::LongData {
            self.mixed = true;
            return;
        } else {
            // What is NULL now stays what it was.
            let now = |(at, kind)| if kind == NO_KIND { before(at) } else { kind };
            registry.of_kinds(&self.statement, kinds().enumerate().map(now).collect::<Arc<[Kind]>>())
        };
        let Some(next) = next else { return };
        self.own = next.kinds().is_empty();
        self.former = Some(std::mem::replace(&mut self.statement, next));
    }

    /// It was prepared without a default schema, to which no connection can be taken back that has one.
    fn is_schemaless(&self) -> bool {
        self.statement.origin().is_some_and(|(_, profile)| profile.schema().is_none())
    }
}

/// All of a session's.
#[derive(Debug, Default)]
pub(super) struct Statements {
    list: HashMap<u32, Prepared>,
    /// The id given last, by a session that gives its own.
    given: u32,
    /// What [`LAST`] means.
    last: Option<u32>,
    /// Statements that hold their connection.
    holding: usize,
    /// Statements that were prepared without a default schema.
    schemaless: usize,
    /// Statements whose parameters changed their kinds.
    own: usize,
}

impl Statements {
    /// All are gone.
    pub(super) fn clear(&mut self) {
        // Ids are not given twice.
        *self = Self { given: self.given, ..Self::default() };
    }

    /// Why the session must keep the connection that it has, being in a state with this default schema.
    pub(super) fn keeps(&self, schema: Option<&str>) -> Option<&'static str> {
        if self.holding > 0 {
            return Some("a cursor, or parts of a parameter's value");
        }
        if self.own > 0 {
            return Some("a statement whose parameters changed their types");
        }
        (self.schemaless > 0 && schema.is_some())
            .then_some("a statement that was prepared without a default schema")
    }

    /// The id that a client means.
    pub(super) fn meant(&self, id: u32) -> u32 {
        if id == LAST { self.last.unwrap_or(id) } else { id }
    }

    /// A statement.
    pub(super) fn get(&self, id: u32) -> Option<&Prepared> {
        self.list.get(&id)
    }

    /// What is counted for executions.
    pub(super) fn planned(&self, id: u32) -> Option<&Arc<Planned>> {
        self.list.get(&id)?.planned.as_ref()
    }

    /// A statement that moves between connections.
    pub(super) fn moving(&self, id: u32) -> Option<&Moving> {
        self.list.get(&id)?.moving.as_ref()
    }

    pub(super) fn moving_mut(&mut self, id: u32) -> Option<&mut Moving> {
        self.list.get_mut(&id)?.moving.as_mut()
    }

    /// The statement behind an id.
    pub(super) fn statement(&self, id: u32) -> Option<&Arc<Statement>> {
        self.moving(id).map(|moving| &moving.statement)
    }

    /// The statement behind an id, and what it was before.
    pub(super) fn placing(&self, id: u32) -> Option<(&Arc<Statement>, Option<&Arc<Statement>>)> {
        self.moving(id).map(|moving| (&moving.statement, moving.former.as_ref()))
    }

    pub(super) fn remove(&mut self, id: u32) {
        self.hold(id, Hold::Nothing);
        if let Some(Prepared { moving: Some(moving), .. }) = self.list.remove(&id) {
            self.schemaless -= usize::from(moving.is_schemaless());
            self.own -= usize::from(moving.own);
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// What the client had prepared last is not what it will mean by [`LAST`].
    pub(super) const fn forget_last(&mut self) {
        self.last = None;
    }

    /// An id that no statement of the session has.
    pub(super) fn next_id(&mut self) -> u32 {
        loop {
            self.given = FIRST | self.given.wrapping_add(1) & (FIRST - 1);
            if !self.list.contains_key(&self.given) {
                return self.given;
            }
        }
    }

    /// Notes what a statement's id stands for.
    pub(super) fn insert(&mut self, id: u32, prepared: Prepared) {
        self.remove(id);
        self.schemaless += usize::from(prepared.moving.as_ref().is_some_and(Moving::is_schemaless));
        self.list.insert(id, prepared);
        self.last = Some(id);
    }

    /// Before an execution at MySQL: see [`Moving::follow_kinds`].
    pub(super) fn follow_kinds(
        &mut self,
        id: u32,
        payload: &[u8],
        capabilities: Capabilities,
        registry: &Registry,
    ) {
        let Some(moving) = self.moving_mut(id) else { return };
        let before = moving.own;
        moving.follow_kinds(payload, capabilities, registry);
        let became = moving.own && !before;
        self.own += usize::from(became);
    }

    pub(super) fn hold(&mut self, id: u32, hold: Hold) {
        let Some(moving) = self.moving_mut(id) else { return };
        let before = std::mem::replace(&mut moving.hold, hold);
        self.holding += usize::from(hold != Hold::Nothing);
        self.holding -= usize::from(before != Hold::Nothing);
    }

    /// The statement for a text that is to be prepared in a state, other than those that the session has of the same.
    pub(super) fn intern(&self, registry: &Registry, text: &[u8], profile: &Arc<Profile>) -> Arc<Statement> {
        let own = |copy: u8| {
            let mut statements = self.list.values().filter_map(|prepared| prepared.moving.as_ref());
            statements.any(|moving| moving.statement.is(text, profile, copy))
        };
        let copy = (0..COPIES).find(|copy| !own(*copy)).unwrap_or(COPIES);
        registry.intern(&text.into(), profile, copy)
    }
}
