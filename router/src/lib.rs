//! Where a statement goes: topology, plans, and the comparison of answers.

pub mod compare;
pub mod plan;
pub mod route;
pub mod topology;
