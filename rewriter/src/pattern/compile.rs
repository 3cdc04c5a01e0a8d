//! Reads patterns and their replacements: optional parts become variants, text becomes trees.

use std::collections::BTreeSet;
use std::sync::Arc;

use sql::digest::Scanner;
use sql::{Flavor, Marks, Unit, UnitKind};

use super::when::When;
use super::{Pattern, metavariable, variable};
use crate::shape::node::{Node, Tag};
use crate::shape::{self, Source as Units};

/// More optional parts than this in one pattern are refused: each doubles the variants.
const MAX_OPTIONAL: usize = 5;

/// What a rule file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    /// `match`: alternatives.
    pub(crate) matches: Vec<String>,
    /// `rewrite`: one for all alternatives, or one for each.
    pub(crate) rewrites: Vec<String>,
    /// `when`, read already.
    pub(crate) when: Vec<When>,
}

/// One way in which a pattern can be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Variant {
    text: String,
    units: Vec<Unit>,
    /// The pattern's tree.
    pub(super) root: Node,
    /// Whether it stands for the whole statement.
    pub(super) whole: bool,
    /// The replacement, in order.
    pub(super) parts: Vec<Part>,
    /// What the replacement is: how loosely it binds.
    pub(super) top: Tag,
}

/// A piece of a replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The rule's own text.
    Text(String),
    /// What a metavariable stands for.
    Variable {
        /// Its name.
        name: String,
        /// Whether it stands between commas, clause words or parentheses: then it needs none of its own.
        delimited: bool,
        /// What stands between the items of a list.
        separator: &'static str,
    },
}

impl Variant {
    pub(super) fn source(&self) -> Units<'_> {
        Units { text: self.text.as_bytes(), units: &self.units }
    }
}

/// Reads a pattern and its replacement. The errors say what is wrong, each for itself.
pub(crate) fn compile(source: Source) -> Result<Pattern, Vec<String>> {
    let Source { matches, rewrites, when } = &source;
    let mut faults = Vec::new();
    if rewrites.len() != 1 && rewrites.len() != matches.len() {
        faults.push(format!(
            "{} patterns and {} replacements: write one `rewrite` for all of them, or one for each",
            matches.len(),
            rewrites.len()
        ));
        return Err(faults);
    }
    let mut variants = Vec::new();
    for (number, pattern) in matches.iter().enumerate() {
        let rewrite = rewrites.get(number).or_else(|| rewrites.first()).map_or("", String::as_str);
        match alternative(pattern, rewrite) {
            Ok(read) => variants.extend(read),
            Err(fault) => faults.push(fault),
        }
    }
    for when in when {
        for name in when.variables() {
            let known = |variant: &Variant| variables(&variant.source(), &variant.root).contains(name);
            if !variants.is_empty() && !variants.iter().any(known) {
                faults.push(format!("`when` asks for ${name}, which `match` does not have"));
            }
        }
    }
    if faults.is_empty() {
        Ok(Pattern { variants: variants.into(), source: Arc::new(source) })
    } else {
        Err(faults)
    }
}

fn alternative(pattern: &str, rewrite: &str) -> Result<Vec<Variant>, String> {
    let (pattern, rewrite) = (segments(pattern)?, segments(rewrite)?);
    let optional: Vec<usize> =
        pattern.iter().enumerate().filter(|(_, (_, optional))| *optional).map(|(at, _)| at).collect();
    if optional.len() > MAX_OPTIONAL {
        return Err(format!("more than {MAX_OPTIONAL} optional parts"));
    }
    let mut variants = Vec::new();
    for choice in 0..1_u32 << optional.len() {
        let there = |at: &usize| {
            optional.iter().position(|optional| optional == at).is_none_or(|bit| choice & (1 << bit) != 0)
        };
        let text: String = pattern
            .iter()
            .enumerate()
            .filter(|(at, _)| there(at))
            .map(|(_, (text, _))| text.as_str())
            .collect();
        let bound = names_in(&text);
        let unbound = |text: &str| names_in(text).iter().any(|name| !bound.contains(name));
        let new: String = rewrite
            .iter()
            .filter(|(text, optional)| !optional || !unbound(text))
            .map(|(text, _)| text.as_str())
            .collect();
        variants.push(variant(text, &new)?);
    }
    Ok(variants)
}

/// The text cut at `[` and `]`, and whether each part is optional.
fn segments(text: &str) -> Result<Vec<(String, bool)>, String> {
    let mut segments = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find(['[', ']']) {
        let close = rest.get(open..).and_then(|tail| tail.find(']')).map(|at| open + at);
        let (Some(before), Some(close)) = (rest.get(..open), close.filter(|close| *close > open)) else {
            return Err(format!("`{text}`: [ and ] do not match"));
        };
        let inner = rest.get(open + 1..close).unwrap_or_default();
        if inner.contains('[') {
            return Err(format!("`{text}`: an optional part inside another one"));
        }
        segments.push((before.to_owned(), false));
        segments.push((format!(" {inner} "), true));
        rest = rest.get(close + 1..).unwrap_or_default();
    }
    segments.push((rest.to_owned(), false));
    Ok(segments)
}

/// The metavariables of a text.
fn names_in(text: &str) -> BTreeSet<String> {
    let word = |c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '$');
    text.split(word).filter_map(variable).map(|(name, _)| name.to_owned()).collect()
}

/// The metavariables of a tree.
fn variables(source: &Units<'_>, root: &Node) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    root.walk(&mut |node| {
        if node.children.is_empty()
            && let Some((name, _)) = metavariable(source, node)
        {
            names.insert(name.to_owned());
        }
    });
    names
}

fn scan(text: &str) -> Result<Vec<Unit>, String> {
    let mut scanner = Scanner::new();
    let scan = scanner.scan(text.as_bytes(), Flavor::MARIADB);
    if scan.marks.intersects(Marks::OPAQUE | Marks::MULTI | Marks::USER_VAR | Marks::PARAM) {
        return Err(format!("`{text}` holds what a pattern cannot: {:?}", scan.marks));
    }
    Ok(scan.units.to_vec())
}

/// The tree of a pattern or of a replacement, and whether it is a whole statement.
fn tree(text: &str, units: &[Unit]) -> Result<(Node, bool), String> {
    let source = Units { text: text.as_bytes(), units };
    let mode = Flavor::MARIADB.mode;
    let odd = |odd: shape::Odd| format!("`{}` is not understood: {}", text.trim(), odd.0);
    let whole = source.is(0, sql::Keyword::Select);
    let root = if whole {
        let query = shape::read(source).map_err(odd)?;
        shape::statement::query(&source, &query, mode)
    } else {
        shape::expression(&source, &(0..source.len()), mode, 0).map_err(odd)?
    };
    let mut opaque = None;
    root.walk(&mut |node| {
        if node.tag == Tag::Opaque {
            opaque = opaque.take().or(Some(source.show(&node.range)));
        }
    });
    match opaque {
        Some(what) => Err(format!("`{}`: {what} cannot stand in a pattern", text.trim())),
        None => Ok((root, whole)),
    }
}

fn variant(text: String, rewrite: &str) -> Result<Variant, String> {
    let units = scan(&text)?;
    let (root, whole) = tree(&text, &units)?;
    let source = Units { text: text.as_bytes(), units: &units };
    let bound = variables(&source, &root);
    let new_units = scan(rewrite)?;
    let (new, new_whole) = tree(rewrite, &new_units)?;
    if whole != new_whole {
        return Err("`match` and `rewrite` must both be a SELECT, or both a condition".to_owned());
    }
    let new_source = Units { text: rewrite.as_bytes(), units: &new_units };
    if let Some(unbound) = variables(&new_source, &new).difference(&bound).next() {
        return Err(format!("`rewrite` uses ${unbound}, which `match` does not have"));
    }
    let parts = parts(&new_source, &new);
    let top = new.bare().tag.clone();
    Ok(Variant { text, units, root, whole, parts, top })
}

/// The replacement's text cut at its metavariables.
fn parts(source: &Units<'_>, root: &Node) -> Vec<Part> {
    let mut places = Vec::new();
    place(source, root, None, &mut places);
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut before: Option<&Unit> = None;
    for (at, unit) in source.units.iter().enumerate() {
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        let word = std::str::from_utf8(unit.of(source.text)).unwrap_or_default();
        if let (UnitKind::Word, Some((name, _))) = (unit.kind, variable(word)) {
            if !text.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut text)));
            }
            let (delimited, separator) =
                places.iter().find(|place| place.0 == at).map_or((false, ", "), |place| (place.1, place.2));
            parts.push(Part::Variable { name: name.to_owned(), delimited, separator });
        } else {
            if !text.is_empty() && before.is_some_and(|before| before.end < unit.start) {
                text.push(' ');
            }
            text.push_str(word);
        }
        before = Some(unit);
    }
    if !text.is_empty() {
        parts.push(Part::Text(text));
    }
    parts
}

/// Where each metavariable stands: its unit, whether that is a delimited place, and what joins a list there.
fn place(source: &Units<'_>, node: &Node, parent: Option<&Tag>, places: &mut Vec<(u32, bool, &'static str)>) {
    if node.children.is_empty() && metavariable(source, node).is_some() {
        let operand = matches!(
            parent,
            Some(
                Tag::And
                    | Tag::Or
                    | Tag::Xor
                    | Tag::Not
                    | Tag::Unary(_)
                    | Tag::Binary(_)
                    | Tag::Div
                    | Tag::Concat
                    | Tag::Is { .. }
                    | Tag::Between { .. }
                    | Tag::In { .. }
                    | Tag::Like { .. }
                    | Tag::Regexp { .. }
                    | Tag::Interval(_)
            )
        );
        let separator = match parent {
            Some(Tag::And) => "AND",
            Some(Tag::Or) => "OR",
            _ => ",",
        };
        places.push((node.range.start, !operand, separator));
    }
    for child in &node.children {
        place(source, child, Some(&node.tag), places);
    }
}
