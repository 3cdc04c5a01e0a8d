//! Builds the node tree from the parser's events, without recursion and within limits.

use std::collections::HashMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle};

use super::{Entry, MAX_BYTES, MAX_DEPTH, MAX_NODES, Node, Scalar, Style, Value};
use crate::source::{Faults, Span};

/// Reads one file. What is wrong goes to `faults`; the tree comes back when the text could be read to its end.
///
/// An empty file is an empty plain scalar (see [`Node::is_null`]).
pub fn parse(text: &str, faults: &Faults) -> Option<Node> {
    if text.len() > MAX_BYTES {
        faults.add(Span::START, format!("the file is larger than {} MiB", MAX_BYTES >> 20));
        return None;
    }
    // The scanner takes a NUL for the end of the file and would ignore the rest.
    if let Some(offset) = text.find('\0') {
        faults.add(Span::at(text, offset), "a NUL character");
        return None;
    }
    let mut builder = Builder::new(faults);
    for event in Parser::new_from_str(text) {
        match event {
            Ok((event, span)) => builder.event(event, place(&span.start))?,
            Err(error) => {
                faults.add(place(error.marker()), reason(text, &error));
                return None;
            }
        }
    }
    Some(builder.root.unwrap_or(Node { span: Span::START, value: empty() }))
}

/// The scanner's message, with a hint where its words are known to puzzle.
fn reason(text: &str, error: &saphyr_parser::ScanError) -> String {
    let line = text.lines().nth(error.marker().line().saturating_sub(1)).unwrap_or("");
    let indent = line.len() - line.trim_start().len();
    if line.get(..indent).is_some_and(|white| white.contains('\t')) {
        return format!("{} (a tab in the indentation: YAML allows spaces only)", error.info());
    }
    error.info().to_owned()
}

fn place(marker: &Marker) -> Span {
    let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Span { line: narrow(marker.line().max(1)), column: narrow(marker.col().saturating_add(1)) }
}

fn empty() -> Value {
    Value::Scalar(Scalar { text: String::new(), style: Style::Plain })
}

/// A list or map whose end has not been read.
enum Open {
    Seq { span: Span, anchor: usize, items: Vec<Node> },
    Map { span: Span, anchor: usize, entries: Vec<Entry>, seen: HashMap<String, Span>, key: Option<Key> },
}

/// A key that waits for its value.
enum Key {
    Named(String, Span),
    /// A duplicate or a key that is not a scalar, already reported: its value is dropped.
    Faulty,
}

struct Builder<'f> {
    faults: &'f Faults,
    open: Vec<Open>,
    root: Option<Node>,
    documents: usize,
    /// Finished anchored nodes by the parser's id, with the number of nodes in each.
    anchors: HashMap<usize, (Node, usize)>,
    nodes: usize,
}

impl<'f> Builder<'f> {
    fn new(faults: &'f Faults) -> Self {
        Self { faults, open: Vec::new(), root: None, documents: 0, anchors: HashMap::new(), nodes: 0 }
    }

    /// `None` stops the reading: a limit was passed or a second document began.
    fn event(&mut self, event: Event<'_>, span: Span) -> Option<()> {
        match event {
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    self.faults.add(span, "a second document: one file holds one document");
                    return None;
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.tag(tag.as_deref(), span);
                self.count(1, span)?;
                let style = match style {
                    ScalarStyle::Plain => Style::Plain,
                    ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => Style::Quoted,
                    ScalarStyle::Literal | ScalarStyle::Folded => Style::Block,
                };
                let value = Value::Scalar(Scalar { text: text.into_owned(), style });
                self.close(Node { span, value }, anchor);
            }
            Event::Alias(id) => self.alias(id, span)?,
            Event::SequenceStart(anchor, tag) => {
                self.tag(tag.as_deref(), span);
                self.push(Open::Seq { span, anchor, items: Vec::new() }, span)?;
            }
            Event::MappingStart(anchor, tag) => {
                self.tag(tag.as_deref(), span);
                let open = Open::Map { span, anchor, entries: Vec::new(), seen: HashMap::new(), key: None };
                self.push(open, span)?;
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open::Seq { span, anchor, items }) => {
                    self.close(Node { span, value: Value::Seq(items) }, anchor)
                }
                Some(Open::Map { span, anchor, entries, .. }) => {
                    self.close(Node { span, value: Value::Map(entries) }, anchor);
                }
                None => {}
            },
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
        }
        Some(())
    }

    fn tag(&self, tag: Option<&saphyr_parser::Tag>, span: Span) {
        if let Some(tag) = tag {
            self.faults.add(span, format!("the tag `{tag}`: tags are not used here"));
        }
    }

    fn count(&mut self, more: usize, span: Span) -> Option<()> {
        self.nodes = self.nodes.saturating_add(more);
        if self.nodes > MAX_NODES {
            self.faults.add(span, format!("the file holds more than {MAX_NODES} values, aliases copied out"));
            return None;
        }
        Some(())
    }

    fn push(&mut self, open: Open, span: Span) -> Option<()> {
        self.count(1, span)?;
        if self.open.len() >= MAX_DEPTH {
            self.faults.add(span, format!("nested deeper than {MAX_DEPTH} levels"));
            return None;
        }
        self.open.push(open);
        Some(())
    }

    fn alias(&mut self, id: usize, span: Span) -> Option<()> {
        let Some((node, size)) = self.anchors.get(&id) else {
            self.faults.add(span, "an alias inside the value that it names");
            return None;
        };
        let size = *size;
        // Counted before it is copied, so that a chain of aliases cannot grow beyond the limit even once.
        if self.open.len() + depth(node) > MAX_DEPTH {
            self.faults.add(span, format!("nested deeper than {MAX_DEPTH} levels through an alias"));
            return None;
        }
        let node = Node { span, value: node.value.clone() };
        self.count(size, span)?;
        self.close(node, 0);
        Some(())
    }

    /// Puts a finished node where it belongs.
    fn close(&mut self, node: Node, anchor: usize) {
        if anchor > 0 {
            self.anchors.insert(anchor, (node.clone(), size(&node)));
        }
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::Seq { items, .. }) => items.push(node),
            Some(Open::Map { entries, seen, key, .. }) => match key.take() {
                None => *key = Some(take_key(node, seen, self.faults)),
                Some(Key::Faulty) => {}
                Some(Key::Named(key, key_span)) => entries.push(Entry { key, key_span, value: node }),
            },
        }
    }
}

fn take_key(node: Node, seen: &mut HashMap<String, Span>, faults: &Faults) -> Key {
    let Value::Scalar(scalar) = node.value else {
        faults.add(node.span, "a key must be a word");
        return Key::Faulty;
    };
    if let Some(first) = seen.get(&scalar.text) {
        faults
            .add(node.span, format!("the key `{}` stands twice, first at line {}", scalar.text, first.line));
        return Key::Faulty;
    }
    seen.insert(scalar.text.clone(), node.span);
    Key::Named(scalar.text, node.span)
}

/// Nodes in the tree, itself included. Recursion is bounded by [`MAX_DEPTH`].
fn size(node: &Node) -> usize {
    match &node.value {
        Value::Scalar(_) => 1,
        Value::Seq(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Map(entries) => 1 + entries.iter().map(|entry| size(&entry.value)).sum::<usize>(),
    }
}

fn depth(node: &Node) -> usize {
    match &node.value {
        Value::Scalar(_) => 0,
        Value::Seq(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Map(entries) => 1 + entries.iter().map(|entry| depth(&entry.value)).max().unwrap_or(0),
    }
}
