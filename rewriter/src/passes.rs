//! What rules do: the built-in passes, one file and one line of the registry for each, and patterns.

mod derived_merge;
mod expression;
mod union_limit;

use sql::source::Faults;
use sql::yaml::Node;

use crate::guard::{Proposal, Subject};
use crate::pattern::{self, Pattern};
use crate::shape::{Query, Source};

/// A built-in pass with its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pass {
    /// ORDER BY and LIMIT of a UNION ALL copied into its branches.
    UnionLimit(union_limit::Options),
    /// A derived table that only selects, merged into the query around it.
    DerivedMerge,
    /// A pattern of a rule file.
    Pattern(Pattern),
}

/// How a pass's `options` are read.
type ReadOptions = fn(Option<&Node>, &Faults) -> Option<Pass>;

/// The registry: the name in a rule file, and how its `options` are read.
const PASSES: [(&str, ReadOptions); 2] =
    [("union_limit", union_limit::options), ("derived_merge", derived_merge::options)];

impl Pass {
    /// The name in a rule file.
    pub fn name(&self) -> &'static str {
        match self {
            Pass::UnionLimit(_) => "union_limit",
            Pass::DerivedMerge => "derived_merge",
            Pass::Pattern(_) => "pattern",
        }
    }

    /// The pattern of a rule file, where it is one.
    pub fn pattern(&self) -> Option<&Pattern> {
        match self {
            Pass::Pattern(pattern) => Some(pattern),
            _ => None,
        }
    }

    /// Reads `pass:` and `options:` of a rule.
    pub(crate) fn read(name: &Node, options: Option<&Node>, faults: &Faults) -> Option<Pass> {
        let choices = PASSES.map(|(name, read)| (name, read));
        let read = name.choice(&choices, faults)?;
        read(options, faults)
    }

    /// Tries the pass on a statement.
    pub(crate) fn propose(&self, subject: &Subject<'_>) -> Proposal {
        match self {
            Pass::UnionLimit(options) => union_limit::propose(options, subject),
            Pass::DerivedMerge => derived_merge::propose(subject),
            Pass::Pattern(pattern) => pattern::propose(pattern, subject),
        }
    }

    /// Whether the new text has the shape that the pass meant it to have.
    pub(crate) fn verify(
        &self,
        before: (&Source<'_>, &Query),
        after: (&Source<'_>, &Query),
    ) -> Result<(), String> {
        match self {
            Pass::UnionLimit(_) => union_limit::verify(before.1, after.1),
            Pass::DerivedMerge => derived_merge::verify(before.1, after.1),
            Pass::Pattern(_) => pattern::verify(before, after),
        }
    }
}
