//! Tests of `follow`.
