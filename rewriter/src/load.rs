//! Reads rule files: every fault at once, each with its line and column.

use std::collections::HashMap;
use std::sync::Arc;

use sql::source::{Fault, Faults};
use sql::yaml::{self, Fields, Node};

use crate::passes::Pass;
use crate::pattern::{self, PatternSource};
use crate::rule::{Effect, Expect, Mode, Rule, RuleId, RuleTest, Scope, ServerScope};
use crate::selftest;

/// The rules in force, in the order in which they are tried.
#[derive(Clone, Debug, Default)]
pub struct RuleSet {
    rules: Vec<Arc<Rule>>,
}

impl RuleSet {
    /// Reads rule files, given as (name, text). A rule of a later file replaces one of the same id from an earlier file;
    /// the same id twice in one file is a fault. Every rule's own tests are run through the engine, against the catalog
    /// that its `given` describes: a test that does not hold is a fault too.
    ///
    /// # Errors
    /// All faults of all files, sorted; none of the rules is to be used then.
    pub fn load(files: &[(String, String)]) -> Result<RuleSet, Vec<Fault>> {
        let mut all = Vec::new();
        let mut rules: HashMap<RuleId, Arc<Rule>> = HashMap::new();
        for (name, text) in files {
            let faults = Faults::new(name.as_str());
            let read = file(text, &faults);
            if faults.is_empty() {
                for rule in &read {
                    selftest::check(rule, &faults);
                }
            }
            all.extend(faults.into_sorted());
            rules.extend(read.into_iter().map(|rule| (rule.id.clone(), Arc::new(rule))));
        }
        if !all.is_empty() {
            all.sort();
            return Err(all);
        }
        let mut rules: Vec<_> = rules.into_values().collect();
        rules.sort_by(|a, b| b.priority.cmp(&a.priority).then_with(|| a.id.cmp(&b.id)));
        Ok(RuleSet { rules })
    }

    /// A set of rules that were made otherwise, for tests.
    pub(crate) fn of(rule: &Rule) -> RuleSet {
        RuleSet { rules: vec![Arc::new(rule.clone())] }
    }

    /// The rules in the order in which they are tried.
    pub fn rules(&self) -> &[Arc<Rule>] {
        &self.rules
    }

    /// Whether any rule may change what is served.
    pub fn any_enabled(&self) -> bool {
        self.rules.iter().any(|rule| rule.mode == Mode::Enabled)
    }
}

fn file(text: &str, faults: &Faults) -> Vec<Rule> {
    let Some(root) = yaml::parse(text, faults) else {
        return Vec::new();
    };
    if root.is_null() {
        return Vec::new();
    }
    let items = root.list("rules", faults).unwrap_or_default();
    let mut rules: Vec<Rule> = Vec::new();
    for node in items {
        let Some(rule) = rule(node, faults) else { continue };
        if let Some(first) = rules.iter().find(|other| other.id == rule.id) {
            let line = first.span.line;
            faults.add(rule.span, format!("the rule `{}` stands twice, first at line {line}", rule.id));
            continue;
        }
        rules.push(rule);
    }
    rules
}

const MODES: [(&str, Mode); 4] = [
    ("disabled", Mode::Disabled),
    ("explain", Mode::Explain),
    ("shadow", Mode::Shadow),
    ("enabled", Mode::Enabled),
];
const EFFECTS: [(&str, Effect); 3] =
    [("same_order", Effect::SameOrder), ("same_rows", Effect::SameRows), ("lossy", Effect::Lossy)];
const EXPECTATIONS: [(&str, Expect); 2] =
    [("rewritten", Expect::Rewritten), ("unchanged", Expect::Unchanged)];

/// One rule. `None` when a fault was noted that leaves nothing to work with.
fn rule(node: &Node, faults: &Faults) -> Option<Rule> {
    let fields = node.fields("a rule", faults)?;
    let before = faults.len();
    let id = fields.required("id").and_then(|node| id(node, faults));
    let about = fields.optional("about").and_then(|node| node.text("what the rule does", faults));
    let about = about.map(|text| text.trim().to_owned());
    let mode = fields.required("mode").and_then(|node| node.choice(&MODES, faults));
    let pass = pass(&fields, faults);
    let scope = Scope {
        servers: words(fields.optional("server"), "a server", faults, ServerScope::parse),
        schemas: words(fields.optional("schema"), "a schema", faults, |word| Ok(word.to_owned())),
        users: words(fields.optional("user"), "a user", faults, |word| Ok(word.to_owned())),
    };
    let priority = match fields.optional("priority") {
        Some(node) => node.integer(-1_000_000..=1_000_000, faults).unwrap_or(0),
        None => 0,
    };
    let effect = fields.required("effect").and_then(|node| node.choice(&EFFECTS, faults));
    let given =
        words(fields.optional("given"), "CREATE TABLE statements", faults, |word| Ok(word.to_owned()));
    let tests = match fields.optional("tests") {
        Some(node) => node.list("tests", faults).unwrap_or_default(),
        None => &[],
    };
    let tests: Vec<_> = tests.iter().filter_map(|node| test(node, faults)).collect();
    for later in ["let", "action", "fingerprint"] {
        if let Some(entry) = fields.entry(later) {
            faults.add(entry.key_span, format!("`{later}`: not in this version; see docs/rules.md"));
        }
    }
    let file = Arc::clone(faults.file());
    fields.finish();
    let (Some(id), Some(mode), Some(pass), Some(effect)) = (id, mode, pass, effect) else {
        return None;
    };
    if mode == Mode::Enabled && faults.len() == before {
        for (expect, what) in [
            (Expect::Rewritten, "a test that expects `rewritten`"),
            (Expect::Unchanged, "a near miss: a test that expects `unchanged`"),
        ] {
            if !tests.iter().any(|test| test.expect == expect) {
                faults.add(node.span, format!("the rule `{id}` is enabled without {what}"));
            }
        }
    }
    Some(Rule { id, about, mode, pass, scope, priority, effect, given, tests, file, span: node.span })
}

/// What the rule does: `pass` with its `options`, or `match`, `when` and `rewrite`.
fn pass(fields: &Fields<'_>, faults: &Faults) -> Option<Pass> {
    let options = fields.optional("options");
    let (pass, matches) = (fields.optional("pass"), fields.optional("match"));
    let (when, rewrite) = (fields.optional("when"), fields.optional("rewrite"));
    match (pass, matches) {
        (Some(pass), None) => {
            for (key, node) in [("when", when), ("rewrite", rewrite)] {
                if let Some(node) = node {
                    faults.add(node.span, format!("`{key}` goes with `match`, and this rule has a `pass`"));
                }
            }
            Pass::read(pass, options, faults)
        }
        (None, Some(matches)) => {
            if let Some(options) = options {
                faults.add(options.span, "`options` goes with `pass`, and this rule has a `match`");
            }
            let text = |word: &str| Ok(word.to_owned());
            let source = PatternSource {
                matches: words(Some(matches), "patterns", faults, text),
                rewrites: words(Some(fields.required("rewrite")?), "replacements", faults, text),
                when: words(when, "guards", faults, pattern::when::read),
            };
            if source.matches.is_empty() || source.rewrites.is_empty() {
                return None;
            }
            match pattern::compile(source) {
                Ok(pattern) => Some(Pass::Pattern(pattern)),
                Err(reasons) => {
                    reasons.into_iter().for_each(|reason| faults.add(matches.span, reason));
                    None
                }
            }
        }
        _ => {
            faults.add(fields.span(), "a rule has either `pass` (a built-in one) or `match` (a pattern)");
            None
        }
    }
}

fn id(node: &Node, faults: &Faults) -> Option<RuleId> {
    let text = node.text("a rule's id", faults)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if text.len() > 64 || !text.chars().all(plain) {
        faults.add(node.span, "an id is up to 64 letters, digits, `-`, `_` and `.`");
        return None;
    }
    Some(RuleId::new(text))
}

/// One word or a list of them, each read by `read`.
fn words<T>(
    node: Option<&Node>,
    what: &str,
    faults: &Faults,
    read: impl Fn(&str) -> Result<T, String>,
) -> Vec<T> {
    let Some(nodes) = node.and_then(|node| node.one_or_list(what, faults)) else {
        return Vec::new();
    };
    if nodes.is_empty()
        && let Some(node) = node
    {
        faults.add(node.span, format!("an empty list: leave the key out, or name {what}"));
    }
    let mut read_all = Vec::new();
    for node in nodes {
        let Some(text) = node.text(what, faults) else { continue };
        match read(text) {
            Ok(value) => read_all.push(value),
            Err(reason) => faults.add(node.span, reason),
        }
    }
    read_all
}

fn test(node: &Node, faults: &Faults) -> Option<RuleTest> {
    let fields = node.fields("a test", faults)?;
    let sql = fields.required("sql").and_then(|node| node.text("a statement", faults));
    let expect = fields.required("expect").and_then(|node| node.choice(&EXPECTATIONS, faults));
    fields.finish();
    Some(RuleTest { sql: sql?.to_owned(), expect: expect?, span: node.span })
}

#[cfg(test)]
mod tests;
