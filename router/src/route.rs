//! Where a statement goes: facts and layout in, plan out.

use crate::plan::{Forward, Plan, Proposal, Rewritten, Untouched};
use crate::topology::{BackendId, Topology};

/// What is known of a statement when it is routed.
#[derive(Debug)]
pub enum Known {
    /// A statement about the proxy itself.
    Local,
    /// Nothing more than that it goes on as it came.
    Untouched(Untouched),
    /// The rewriter's proposal.
    Proposed(Proposal),
}

/// Decides what is done with a statement. Pure: `explain` and the sessions call the same function.
///
/// Every schema lives on the home backend in this version, so the topology gives the one place that there is.
#[must_use]
pub fn route(known: Known, _topology: &Topology) -> Plan {
    let to = BackendId::HOME;
    match known {
        Known::Local => Plan::Local,
        Known::Untouched(why) => Plan::Forward(Forward { to, why }),
        Known::Proposed(Proposal { template, preconditions, rules }) => {
            Plan::Rewritten(Rewritten { to, template, preconditions, rules })
        }
    }
}
