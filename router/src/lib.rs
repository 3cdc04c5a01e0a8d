//! Where a statement goes: topology, plans, and the comparison of answers.
