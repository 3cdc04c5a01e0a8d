//! Rules as a DBA writes them: a pattern of SQL with metavariables, guards, and the text that takes its place.
//!
//! `$x` stands for one expression, name or item, `$$x` for a list of them, `[…]` for a part that comes and goes on both
//! sides. A pattern that begins with SELECT is matched against the whole statement, any other one against every condition
//! of WHERE and ON and the operands of AND and OR in it. It is matched on the tree, never on text; what takes its place is
//! spliced from the statement's own units.

mod compile;
mod matching;
mod replace;
mod site;
pub(crate) mod when;

use std::sync::Arc;

pub(crate) use compile::{Source as PatternSource, compile};

use crate::guard::{self, Draft, Proposal, Refusal, Subject};
use crate::scope::Scope;
use crate::shape::node::Node;
use crate::shape::{self, Query};
use crate::splice::Edit;
use compile::Variant;
use matching::Bindings;
use site::Site;
use when::{Facts, When};

/// A rule's pattern, guards and replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Each way in which the pattern can be written: alternatives, with and without optional parts.
    variants: Arc<[Variant]>,
    /// What the rule file says.
    source: Arc<PatternSource>,
}

impl Pattern {
    /// The patterns as they are written, each with what takes its place.
    pub fn written(&self) -> impl Iterator<Item = (&str, &str)> {
        let PatternSource { matches, rewrites, .. } = self.source.as_ref();
        matches.iter().enumerate().filter_map(|(at, pattern)| {
            let rewrite = rewrites.get(at).or(rewrites.first())?;
            Some((pattern.as_str(), rewrite.as_str()))
        })
    }

    /// The guards as they are written.
    pub fn guards(&self) -> impl Iterator<Item = &str> {
        self.source.when.iter().map(When::text)
    }
}

/// Tries a pattern on a statement: on the whole, or on every condition in it.
pub(crate) fn propose(pattern: &Pattern, subject: &Subject<'_>) -> Proposal {
    let root = shape::statement::query(&subject.source, subject.query, subject.context.flavor.mode);
    let mut edits: Vec<Edit> = Vec::new();
    let mut preconditions = Vec::new();
    let mut refused = None;
    for site in site::sites(&root) {
        // What was replaced, or holds something that was, is left for the next pass.
        if edits.iter().any(|edit| edit.at.start < site.node.range.end && site.node.range.start < edit.at.end)
        {
            continue;
        }
        match at(pattern, subject, &site) {
            Ok(Some((edit, conditions))) => {
                edits.push(edit);
                preconditions.extend(conditions);
            }
            Ok(None) => {}
            Err(refusal) => refused = refused.or(Some(refusal)),
        }
    }
    if edits.is_empty() {
        return match refused {
            Some(refusal) => Proposal::Refused(refusal),
            None => Proposal::NotMatched("nothing in the statement is of the pattern"),
        };
    }
    let note = match edits.len() {
        1 => "one place rewritten".to_owned(),
        places => format!("{places} places rewritten"),
    };
    Proposal::Fires(Draft { edits, preconditions, note })
}

/// The change at one site: `None` where nothing matches there, the first refusal where something does but is not proven.
fn at(
    pattern: &Pattern,
    subject: &Subject<'_>,
    site: &Site<'_>,
) -> Result<Option<(Edit, Vec<sql::Precondition>)>, Refusal> {
    let mut refused = None;
    for variant in pattern.variants.iter().filter(|variant| variant.whole == site.whole()) {
        for bindings in matching::matches(variant, &subject.source, site.node) {
            match prove(pattern, subject, site, &bindings) {
                Ok(mut conditions) => {
                    conditions.extend(bindings.preconditions.iter().cloned());
                    let with = replace::pieces(variant, &bindings, site);
                    return Ok(Some((Edit::replace(site.node.range.clone(), with), conditions)));
                }
                Err(refusal) => refused = refused.or(Some(refusal)),
            }
        }
    }
    refused.map_or(Ok(None), Err)
}

fn prove(
    pattern: &Pattern,
    subject: &Subject<'_>,
    site: &Site<'_>,
    bindings: &Bindings<'_>,
) -> Result<Vec<sql::Precondition>, Refusal> {
    guard::plain(subject.statement.facts, subject.context)?;
    let from = site.from.map(|from| from.range.clone());
    let scope = Scope::of_from(&subject.source, from.as_ref(), subject.context)?;
    let facts = Facts { subject, scope: &scope, bindings };
    let mut conditions = Vec::new();
    for when in &pattern.source.when {
        conditions.extend(when.prove(&facts)?);
    }
    Ok(conditions)
}

/// The output columns are as many as before, and named alike.
pub(crate) fn verify(
    before: (&shape::Source<'_>, &Query),
    after: (&shape::Source<'_>, &Query),
) -> Result<(), String> {
    let names = |(source, query): (&shape::Source<'_>, &Query)| -> Vec<String> {
        let mut term = &query.first;
        let block = loop {
            match term {
                shape::Term::Block(block) => break block,
                shape::Term::Nested(query) => term = &query.first,
            }
        };
        let name = |item: &shape::Item| match item.alias {
            Some(alias) => shape::name(source, alias).unwrap_or_default(),
            None => source.whole(&item.value),
        };
        block.items.iter().map(name).collect()
    };
    if names(before) == names(after) { Ok(()) } else { Err("the output columns changed".to_owned()) }
}

/// The name of a metavariable, without its signs, and whether it stands for a list.
fn metavariable<'t>(source: &shape::Source<'t>, node: &Node) -> Option<(&'t str, bool)> {
    if node.range.end - node.range.start != 1 {
        return None;
    }
    let text = std::str::from_utf8(source.bytes(node.range.start)).ok()?;
    variable(text)
}

fn variable(text: &str) -> Option<(&str, bool)> {
    let name = text.strip_prefix('$')?;
    match name.strip_prefix('$') {
        Some(list) => Some((list, true)),
        None => Some((name, false)),
    }
    .filter(|(name, _)| !name.is_empty())
}

#[cfg(test)]
mod tests;
