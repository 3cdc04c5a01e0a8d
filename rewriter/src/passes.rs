//! The built-in passes: one file for each, one line for each in the registry.

mod derived_merge;
mod expression;
mod union_limit;

use sql::source::Faults;
use sql::yaml::Node;

use crate::guard::{Proposal, Subject};
use crate::shape::Query;

/// A built-in pass with its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pass {
    /// ORDER BY and LIMIT of a UNION ALL copied into its branches.
    UnionLimit(union_limit::Options),
    /// A derived table that only selects, merged into the query around it.
    DerivedMerge,
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
        }
    }

    /// Whether the new text has the shape that the pass meant it to have.
    pub(crate) fn verify(&self, before: &Query, after: &Query) -> Result<(), String> {
        match self {
            Pass::UnionLimit(_) => union_limit::verify(before, after),
            Pass::DerivedMerge => derived_merge::verify(before, after),
        }
    }
}
