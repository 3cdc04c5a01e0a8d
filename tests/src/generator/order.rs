//! A statement's promise as the comparator understands it.

use router::compare::{Cut, Key, Order, Ties};

use super::{Promise, SortKey, Statement};

impl Statement {
    /// The order under which two answers of `rows` rows are compared.
    pub fn order(&self, rows: usize) -> Order {
        match &self.promise {
            Promise::Total => Order::Ordered,
            Promise::Keys(keys) if keys.is_empty() => Order::Bag,
            Promise::Keys(keys) => Order::Ties { keys: self::keys(keys), cut: Cut::Nowhere },
            Promise::Cut { keys, offset, limit } => Order::limited(self::keys(keys), *offset, *limit, rows),
        }
    }
}

fn keys(keys: &[SortKey]) -> Vec<Key> {
    let ties = |key: &SortKey| if key.folded { Ties::Folded } else { Ties::Bytes };
    keys.iter().map(|key| Key { column: key.column, ties: ties(key) }).collect()
}
