//! Tests of `reply`.
