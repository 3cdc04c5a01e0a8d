//! Tests of `greeting`.
