//! Tests of `codec`.
