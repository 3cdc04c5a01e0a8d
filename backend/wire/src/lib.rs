//! The MySQL protocol as values and states, both sides, no I/O.
