//! Tests of values and rows.
