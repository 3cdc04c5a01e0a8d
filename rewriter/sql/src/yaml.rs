//! A YAML file as a tree of nodes that know where they stand.
//!
//! The tree is built from the parser's events in one loop: depth, number of nodes and size are bounded, so neither
//! nesting nor aliases that repeat aliases can exhaust the stack or memory. What YAML allows and a configuration does not
//! need (several documents, tags, keys that are not plain words) is a fault with its place, not a surprise.

mod build;
mod fields;
mod scalar;

pub use build::parse;
pub use fields::Fields;

use crate::source::{Faults, Span};

/// The largest file that is read, in bytes.
pub const MAX_BYTES: usize = 4 << 20;
/// The deepest nesting.
pub const MAX_DEPTH: usize = 64;
/// The most nodes of one file, counted after aliases are copied out.
pub const MAX_NODES: usize = 200_000;

/// One value of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Where its first character stands. A node that came through an alias stands where the alias is.
    pub span: Span,
    /// What it is.
    pub value: Value,
}

/// The three shapes of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A single word, number or text.
    Scalar(Scalar),
    /// A list.
    Seq(Vec<Node>),
    /// Keys and values in the order of the file; no key stands twice.
    Map(Vec<Entry>),
}

/// A single value as text; what it means is decided by who asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// The text with quotes and escapes resolved.
    pub text: String,
    /// How it was written.
    pub style: Style,
}

/// How a scalar was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Bare: may mean a number, a truth value or nothing at all.
    Plain,
    /// In single or double quotes: always text.
    Quoted,
    /// A block after `|` or `>`: always text.
    Block,
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key's text.
    pub key: String,
    /// Where the key stands.
    pub key_span: Span,
    /// The value; an empty plain scalar where none was written.
    pub value: Node,
}

impl Node {
    /// Whether nothing was written: an empty plain scalar, `~` or `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(&self.value, Value::Scalar(Scalar { text, style: Style::Plain })
            if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }

    /// What the node is, for messages: "a list", "the text `x`".
    #[must_use]
    pub fn describe(&self) -> String {
        match &self.value {
            _ if self.is_null() => "nothing".to_owned(),
            Value::Scalar(scalar) => {
                let shown: String = scalar.text.chars().take(40).collect();
                let more = if scalar.text.chars().nth(40).is_some() { "…" } else { "" };
                format!("`{}{more}`", shown.replace('\n', "\\n"))
            }
            Value::Seq(_) => "a list".to_owned(),
            Value::Map(_) => "a map".to_owned(),
        }
    }

    /// The items of a list; anything else is a fault ("expected a list of `what`").
    pub fn list<'n>(&'n self, what: &str, faults: &Faults) -> Option<&'n [Node]> {
        match &self.value {
            Value::Seq(items) => Some(items),
            _ => {
                faults.add(self.span, format!("expected a list of {what}, found {}", self.describe()));
                None
            }
        }
    }

    /// The items of a list, or the single value as a list of one. Nothing at all is a fault.
    pub fn one_or_list<'n>(&'n self, what: &str, faults: &Faults) -> Option<&'n [Node]> {
        match &self.value {
            Value::Seq(items) => Some(items),
            _ if self.is_null() => {
                faults.add(self.span, format!("expected {what} or a list of them, found nothing"));
                None
            }
            _ => Some(std::slice::from_ref(self)),
        }
    }

    /// The entries of a map whose keys are names chosen by the user; anything else is a fault.
    pub fn entries<'n>(&'n self, what: &str, faults: &Faults) -> Option<&'n [Entry]> {
        match &self.value {
            Value::Map(entries) => Some(entries),
            _ => {
                faults.add(self.span, format!("expected a map of {what}, found {}", self.describe()));
                None
            }
        }
    }

    /// A walker over a map with fixed keys; anything else is a fault.
    pub fn fields<'n>(&'n self, what: &str, faults: &'n Faults) -> Option<Fields<'n>> {
        self.entries(what, faults).map(|entries| Fields::new(self.span, entries, what, faults))
    }
}

#[cfg(test)]
mod tests;
