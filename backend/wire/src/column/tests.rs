//! Tests of column definitions.
