//! One value against another, knowing its column's type and the tolerance.

use std::cmp::Ordering;

use super::{Key, Ties};
use crate::compare::{Column, Floats, Value};

/// Protocol types FLOAT and DOUBLE.
const FLOAT: u8 = 4;
const DOUBLE: u8 = 5;

/// How the cells of a result are compared.
pub(super) struct Cells {
    /// Columns whose values have a tolerance.
    loose: Vec<bool>,
    floats: Floats,
}

impl Cells {
    pub(super) fn new(columns: &[Column], floats: Floats) -> Cells {
        let tolerant = floats != Floats::Exact;
        let loose = columns.iter().map(|c| tolerant && matches!(c.kind, FLOAT | DOUBLE)).collect();
        Cells { loose, floats }
    }

    pub(super) fn is_loose(&self, column: usize) -> bool {
        self.loose.get(column).copied().unwrap_or(false)
    }

    /// The columns with a tolerance.
    pub(super) fn loose(&self) -> impl Iterator<Item = usize> + '_ {
        self.loose.iter().enumerate().filter(|(_, loose)| **loose).map(|(i, _)| i)
    }

    pub(super) fn same(&self, column: usize, left: &Value, right: &Value) -> bool {
        if compare(left, right) == Ordering::Equal {
            return true;
        }
        match (self.is_loose(column), number(left), number(right)) {
            (true, Some(l), Some(r)) => self.near(l, r),
            _ => false,
        }
    }

    pub(super) fn near(&self, left: f64, right: f64) -> bool {
        match self.floats {
            Floats::Exact => left.to_bits() == right.to_bits(),
            Floats::Relative(most) => (left - right).abs() <= most * left.abs().max(right.abs()),
        }
    }

    pub(super) fn same_row(&self, left: &[Value], right: &[Value]) -> bool {
        left.len() == right.len()
            && left.iter().zip(right).enumerate().all(|(column, (l, r))| self.same(column, l, r))
    }

    /// Whether two rows tie in one key. A key outside the row ties never, so that it shows.
    pub(super) fn ties(&self, key: Key, left: &[Value], right: &[Value]) -> bool {
        let (Some(l), Some(r)) = (left.get(key.column), right.get(key.column)) else { return false };
        match (key.ties, l, r) {
            (Ties::Folded, Value::Bytes(l), Value::Bytes(r)) => fold(l) == fold(r),
            _ => self.same(key.column, l, r),
        }
    }
}

/// A total order of values: equal only if identical (floats by their bits).
pub(super) fn compare(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Null, Value::Null) => Ordering::Equal,
        (Value::Bytes(l), Value::Bytes(r)) => l.cmp(r),
        (Value::Int(l), Value::Int(r)) => l.cmp(r),
        (Value::Double(l), Value::Double(r)) => l.total_cmp(r),
        (Value::Typed { kind: lk, text: lt }, Value::Typed { kind: rk, text: rt }) => (lk, lt).cmp(&(rk, rt)),
        _ => rank(left).cmp(&rank(right)),
    }
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Int(_) => 1,
        Value::Double(_) => 2,
        Value::Bytes(_) => 3,
        Value::Typed { .. } => 4,
    }
}

/// The value of a FLOAT or DOUBLE column as a number.
pub(super) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Double(d) => Some(*d),
        Value::Bytes(bytes) => std::str::from_utf8(bytes).ok()?.parse().ok(),
        Value::Int(_) | Value::Null | Value::Typed { .. } => None,
    }
}

fn fold(text: &[u8]) -> String {
    String::from_utf8_lossy(text).trim_end_matches(' ').to_lowercase()
}
