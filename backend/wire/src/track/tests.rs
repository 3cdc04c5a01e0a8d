//! Tests of session state changes.
