//! Source positions and the faults that point at them.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

/// A place in a text file: line and column, both counted from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl Span {
    /// The first character of a file: where faults of the file as a whole are put.
    pub const START: Self = Self { line: 1, column: 1 };

    /// The place of the byte `offset` of `text`; past the end it is the place after the last character.
    #[must_use]
    pub fn at(text: &str, offset: usize) -> Self {
        let mut span = Self::START;
        for (start, c) in text.char_indices() {
            if start >= offset {
                break;
            }
            if c == '\n' {
                span.line = span.line.saturating_add(1);
                span.column = 1;
            } else {
                span.column = span.column.saturating_add(1);
            }
        }
        span
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Something wrong in a file that a person wrote. Ordered by file, then place, then message.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
#[error("{file}:{span}: {message}")]
pub struct Fault {
    /// The file's name as it was given to the reader.
    pub file: Arc<str>,
    /// Where in the file.
    pub span: Span,
    /// What is wrong and what would be right, in one sentence without a full stop.
    pub message: String,
}

impl Fault {
    /// A fault in `file` at `span`.
    pub fn new(file: impl Into<Arc<str>>, span: Span, message: impl Into<String>) -> Self {
        Self { file: file.into(), span, message: message.into() }
    }
}

/// Collects the faults of one file, so that all of them are reported at once.
///
/// Shared by reference while a tree is walked; hence the interior mutability.
#[derive(Debug)]
pub struct Faults {
    file: Arc<str>,
    list: RefCell<Vec<Fault>>,
}

impl Faults {
    /// An empty collection for `file`.
    pub fn new(file: impl Into<Arc<str>>) -> Self {
        Self { file: file.into(), list: RefCell::new(Vec::new()) }
    }

    /// The file's name.
    #[must_use]
    pub fn file(&self) -> &Arc<str> {
        &self.file
    }

    /// Notes a fault.
    pub fn add(&self, span: Span, message: impl Into<String>) {
        let fault = Fault { file: Arc::clone(&self.file), span, message: message.into() };
        self.list.borrow_mut().push(fault);
    }

    /// How many faults were noted so far. Comparing two counts tells whether a step went well.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.borrow().len()
    }

    /// Whether nothing was wrong so far.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.borrow().is_empty()
    }

    /// The faults, sorted by place, each once.
    #[must_use]
    pub fn into_sorted(self) -> Vec<Fault> {
        let mut list = self.list.into_inner();
        list.sort();
        list.dedup();
        list
    }

    /// `value` when nothing was wrong, otherwise every fault, sorted.
    ///
    /// # Errors
    /// The sorted faults, never an empty list.
    pub fn into_result<T>(self, value: T) -> Result<T, Vec<Fault>> {
        if self.is_empty() { Ok(value) } else { Err(self.into_sorted()) }
    }
}

/// The name in `known` that `word` most likely was meant to be, for "did you mean".
#[must_use]
pub fn closest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    // Longer words are not typing errors, and the distance is quadratic in their length.
    if word.len() > 64 {
        return None;
    }
    let lower = word.to_ascii_lowercase();
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&lower, &name.to_ascii_lowercase()), name))
        .filter(|(distance, name)| *distance <= (name.len().max(lower.len()) / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests;
