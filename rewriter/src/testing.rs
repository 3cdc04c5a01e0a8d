//! What the unit tests of this crate share.
#![expect(clippy::unwrap_used, reason = "tests")]

use sql::{Flavor, Product};

use crate::engine::{Context, Outcome, Read, VerdictKind, rewrite};
use crate::fixture;
use crate::load::RuleSet;
use crate::rule::Mode;

/// One enabled rule for a pass, without tests of its own.
pub(crate) fn rule(pass: &str) -> RuleSet {
    let text = format!("- {{id: r, mode: explain, pass: {pass}, effect: same_rows}}");
    let loaded = RuleSet::load(&[("r.yaml".to_owned(), text)]).unwrap();
    let mut rule = loaded.rules()[0].as_ref().clone();
    rule.mode = Mode::Enabled;
    RuleSet::of(&rule)
}

/// A session over the tables of `given`.
pub(crate) struct Session {
    pub(crate) flavor: Flavor,
    pub(crate) catalog: sql::catalog::Catalog,
}

impl Session {
    pub(crate) fn new(given: &[&str]) -> Session {
        let flavor = fixture::flavor(Product::MariaDb);
        let given: Vec<_> = given.iter().map(|&text| text.to_owned()).collect();
        Session { flavor, catalog: fixture::catalog(&given, flavor).unwrap() }
    }

    pub(crate) fn context(&self) -> Context<'_> {
        Context {
            flavor: self.flavor,
            sql_mode_known: true,
            schema: Some(fixture::SCHEMA),
            user: "app",
            catalog: &self.catalog,
            session_may_shadow: false,
        }
    }

    pub(crate) fn outcome(&self, rules: &RuleSet, text: &str) -> (Read, Outcome) {
        let read =
            Read::of(text.as_bytes().to_vec(), self.flavor).unwrap_or_else(|| panic!("unreadable: {text}"));
        let outcome = rewrite(rules, &read.statement(), &self.context());
        (read, outcome)
    }

    /// The new text, or the only rule's verdict where there is none.
    pub(crate) fn run(&self, rules: &RuleSet, text: &str) -> Result<String, String> {
        let (read, outcome) = self.outcome(rules, text);
        let mut out = Vec::new();
        if outcome.render(&read.text, &read.scan.as_scan(), &mut out) {
            return Ok(String::from_utf8(out).unwrap());
        }
        Err(match &outcome.explain[0].result {
            VerdictKind::Refused(refusal) => format!("{}: {}", refusal.guard, refusal.reason),
            other => format!("{other:?}"),
        })
    }
}
