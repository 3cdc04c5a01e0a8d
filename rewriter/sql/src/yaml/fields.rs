//! Walks a map with fixed keys, noting what is missing and what nobody asked for.

use std::cell::RefCell;

use super::{Entry, Node};
use crate::source::{Faults, Span, closest};

/// The walker. Ask for every key that is allowed, then call [`Fields::finish`], which reports the others.
#[derive(Debug)]
#[must_use = "finish() reports the unknown keys"]
pub struct Fields<'n> {
    span: Span,
    entries: &'n [Entry],
    what: String,
    faults: &'n Faults,
    asked: RefCell<Vec<&'static str>>,
}

impl<'n> Fields<'n> {
    pub(super) fn new(span: Span, entries: &'n [Entry], what: &str, faults: &'n Faults) -> Self {
        Self { span, entries, what: what.to_owned(), faults, asked: RefCell::new(Vec::new()) }
    }

    /// Where the map begins.
    #[must_use]
    pub fn span(&self) -> Span {
        self.span
    }

    /// The collection that faults go to.
    #[must_use]
    pub fn faults(&self) -> &'n Faults {
        self.faults
    }

    /// The value of `key`, if the key is there. A key without a value counts as there.
    pub fn optional(&self, key: &'static str) -> Option<&'n Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The entry of `key`, if it is there.
    pub fn entry(&self, key: &'static str) -> Option<&'n Entry> {
        self.asked.borrow_mut().push(key);
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// The value of `key`; its absence is a fault at the map's place.
    pub fn required(&self, key: &'static str) -> Option<&'n Node> {
        let node = self.optional(key);
        if node.is_none() {
            self.faults.add(self.span, format!("{} without `{key}`", self.what));
        }
        node
    }

    /// Reports every key that nobody asked for, with the nearest known one.
    pub fn finish(self) {
        let asked = self.asked.borrow();
        for entry in self.entries.iter().filter(|entry| !asked.contains(&entry.key.as_str())) {
            let hint = match closest(&entry.key, asked.iter().copied()) {
                Some(name) => format!(", did you mean `{name}`?"),
                None if asked.is_empty() => String::new(),
                None => format!("; known: {}", asked.join(", ")),
            };
            let shown: String = entry.key.chars().take(60).collect();
            self.faults.add(entry.key_span, format!("unknown key `{shown}` in {}{hint}", self.what));
        }
    }
}
