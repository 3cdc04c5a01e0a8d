//! Tests of `login`.
