//! End to end against real servers.
