//! What the proxy knows of a session's state on its server: what lexing and planning depend on.

use sql::{CharsetClass, Flavor, SqlMode};
use wire::track::Record;
use xxhash_rust::xxh3::Xxh3;

use crate::planner::Question;

/// Whether the server may have changed the state without saying so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Certainty {
    /// Everything that the server reported was followed.
    Sure,
    /// After an ERR, MariaDB holds pending changes back until the next tracked change, MySQL until the next PING: ask
    /// before a plan that depends on the state is used.
    Ask,
    /// The client took the tracking over (`SET session_track_…`): nothing is known any more, everything is forwarded.
    Lost,
}

/// A session's state, as far as plans depend on it.
#[derive(Debug, Clone)]
pub(super) struct View {
    /// What lexing depends on.
    pub(super) flavor: Flavor,
    /// The default schema.
    pub(super) schema: Option<String>,
    /// The user's name.
    pub(super) user: String,
    /// Every name in `sql_mode` is known.
    pub(super) sql_mode_known: bool,
    /// There may be temporary tables.
    pub(super) may_shadow: bool,
    /// How sure all this is.
    pub(super) certainty: Certainty,
    key: u128,
}

impl View {
    pub(super) fn new(flavor: Flavor, user: &str, schema: Option<String>) -> Self {
        let mut view = Self {
            flavor,
            schema,
            user: user.to_owned(),
            sql_mode_known: true,
            may_shadow: false,
            certainty: Certainty::Sure,
            key: 0,
        };
        view.rekey();
        view
    }

    /// Takes in what the server reported. Returns whether anything that plans depend on has changed.
    pub(super) fn apply(&mut self, record: &Record<'_>) -> bool {
        let changed = match record {
            Record::Schema(name) => {
                self.schema =
                    if name.is_empty() { None } else { Some(String::from_utf8_lossy(name).into_owned()) };
                true
            }
            Record::SystemVariable { name: b"sql_mode", value } => {
                self.set_mode(&String::from_utf8_lossy(value));
                true
            }
            Record::SystemVariable { name: b"character_set_client", value } => {
                self.flavor.charset = CharsetClass::of_charset(&String::from_utf8_lossy(value));
                true
            }
            _ => false,
        };
        if changed {
            self.rekey();
        }
        changed
    }

    /// Takes in what the server answered when it was asked.
    pub(super) fn set(&mut self, sql_mode: &str, charset_client: &str, schema: Option<String>) {
        self.set_mode(sql_mode);
        self.flavor.charset = CharsetClass::of_charset(charset_client);
        self.schema = schema;
        self.rekey();
    }

    /// A statement may have made a temporary table, which would stand before a table of the catalog.
    pub(super) fn shadow(&mut self) {
        if !self.may_shadow {
            self.may_shadow = true;
            self.rekey();
        }
    }

    /// What a plan for a text depends on.
    pub(super) fn question<'a>(&'a self, text: &'a [u8]) -> Question<'a> {
        Question {
            text,
            flavor: self.flavor,
            view: self.key,
            schema: self.schema.as_deref(),
            user: &self.user,
            sql_mode_known: self.sql_mode_known,
            may_shadow: self.may_shadow,
        }
    }

    fn set_mode(&mut self, text: &str) {
        let (mode, unknown) = SqlMode::parse(text);
        self.flavor.mode = mode;
        self.sql_mode_known = !unknown;
    }

    fn rekey(&mut self) {
        let mut hash = Xxh3::new();
        hash.update(&self.flavor.mode.bits().to_le_bytes());
        hash.update(&[
            self.flavor.charset as u8,
            u8::from(self.schema.is_some()),
            u8::from(self.sql_mode_known),
            u8::from(self.may_shadow),
        ]);
        // Lengths before contents, so that no two pairs of names run together to the same bytes.
        for name in [self.schema.as_deref().unwrap_or_default(), &self.user] {
            hash.update(&(name.len() as u64).to_le_bytes());
            hash.update(name.as_bytes());
        }
        self.key = hash.digest128();
    }
}
