//! Tests of `packet`.
