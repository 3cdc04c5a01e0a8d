//! What is done with a statement.

use std::sync::Arc;

use sql::Scan;
use sql::edit::{Precondition, Template};
use wire::SqlError;

use crate::topology::BackendId;

/// What is done with every statement of one digest, schema, session class and generation of rules, catalog and
/// topology. Later kinds of answers (lookups, scatters, gathers) are further variants.
#[derive(Debug, Clone)]
pub enum Plan {
    /// The client's own bytes go to this backend, untouched.
    Forward(Forward),
    /// Another text goes to this backend, if the preconditions hold for the statement's literals.
    Rewritten(Rewritten),
    /// The proxy answers: the statement is about the proxy itself.
    Local,
    /// The client gets this error.
    Refused(SqlError),
}

/// A statement that goes on as it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forward {
    /// Where to.
    pub to: BackendId,
    /// Why nothing more was done with it.
    pub why: Untouched,
}

/// Why a statement goes on as it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Untouched {
    /// It was understood, and no rule had anything to offer.
    NoRule,
    /// It is of a kind that is never rewritten: not a single SELECT.
    NotASelect,
    /// It asked for that with a comment, or rules are off.
    SwitchedOff,
    /// It holds something that the proxy does not look into: an executable comment, several statements, text that
    /// does not parse, a character set whose bytes cannot be told apart.
    NotUnderstood,
}

impl Untouched {
    /// The reason in words, for `explain`.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::NoRule => "no rule applies",
            Self::NotASelect => "not a single SELECT",
            Self::SwitchedOff => "rewriting is switched off",
            Self::NotUnderstood => "not fully understood",
        }
    }
}

/// A rewritten statement: a template over the original's units.
#[derive(Debug, Clone)]
pub struct Rewritten {
    /// Where to.
    pub to: BackendId,
    /// The new text, with places for the original's parts.
    pub template: Template,
    /// What must hold for the literals of a statement; the original goes if one does not.
    pub preconditions: Vec<Precondition>,
    /// The rules that made it, in the order in which they fired.
    pub rules: Vec<Arc<str>>,
}

impl Rewritten {
    /// Appends the new text for one statement of the digest; `false`, with `out` of no use, where the preconditions do
    /// not hold for its literals.
    #[must_use]
    pub fn render(&self, text: &[u8], scan: &Scan<'_>, out: &mut Vec<u8>) -> bool {
        self.preconditions.iter().all(|condition| condition.holds(text, scan))
            && self.template.render(text, scan, out).is_ok()
    }
}

/// A proposed rewriting, as the rewriter gives it.
#[derive(Debug, Clone)]
pub struct Proposal {
    /// The new text.
    pub template: Template,
    /// What must hold for the literals.
    pub preconditions: Vec<Precondition>,
    /// The rules that made it.
    pub rules: Vec<Arc<str>>,
}
