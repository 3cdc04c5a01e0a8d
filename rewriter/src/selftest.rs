//! The tests that rules carry: run here through the engine alone, and handed out for real servers.

use sql::Product;
use sql::source::Faults;

use crate::engine::{Context, Outcome, Read, rewrite};
use crate::fixture::{self, SCHEMA};
use crate::load::RuleSet;
use crate::rule::{Expect, Mode, Rule, RuleId};

/// One statement of a rule's tests, ready for a real server: create `given` in a schema of its own, fill it, and run both
/// texts there. They must give the same rows (in the same order where the statement orders them), names and types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The rule.
    pub rule: RuleId,
    /// Statements that create its tables.
    pub given: Vec<String>,
    /// The statement.
    pub original: String,
    /// The rewritten one; none where the rule left it alone.
    pub rewritten: Option<String>,
    /// What its author expects.
    pub expect: Expect,
}

/// All tests of a set of rules as they come out on a server of this product. Rules out of scope there are left out.
pub fn cases(rules: &RuleSet, product: Product) -> Vec<Case> {
    let flavor = fixture::flavor(product);
    let mut cases = Vec::new();
    for rule in rules.rules() {
        let scope = &rule.scope.servers;
        if !scope.is_empty() && !scope.iter().any(|server| server.covers(product, flavor.version)) {
            continue;
        }
        let alone = alone(rule);
        for test in &rule.tests {
            let rewritten = run(&alone, &test.sql, &rule.given, product).ok().and_then(|(text, _)| text);
            cases.push(Case {
                rule: rule.id.clone(),
                given: rule.given.clone(),
                original: test.sql.clone(),
                rewritten,
                expect: test.expect,
            });
        }
    }
    cases
}

/// The rule as if it were enabled everywhere.
fn alone(rule: &Rule) -> RuleSet {
    let mut rule = rule.clone();
    rule.mode = Mode::Enabled;
    rule.scope.schemas.clear();
    rule.scope.users.clear();
    rule.scope.servers.clear();
    RuleSet::of(&rule)
}

/// Runs a statement over the catalog of `given`: the new text, if there is one, and the outcome. `Err` says what of the
/// rule's test cannot be read.
pub fn run(
    rules: &RuleSet,
    sql: &str,
    given: &[String],
    product: Product,
) -> Result<(Option<String>, Outcome), String> {
    let flavor = fixture::flavor(product);
    let catalog = fixture::catalog(given, flavor)?;
    let Some(read) = Read::of(sql.as_bytes().to_vec(), flavor) else {
        return Err("the statement cannot be read".to_owned());
    };
    let context = Context {
        flavor,
        sql_mode_known: true,
        schema: Some(SCHEMA),
        user: "rule_test",
        catalog: &catalog,
        session_may_shadow: false,
    };
    let statement = read.statement();
    let outcome = rewrite(rules, &statement, &context);
    let mut text = Vec::new();
    let rewritten = outcome.render(statement.text, &statement.scan, &mut text);
    let text = rewritten.then(|| String::from_utf8_lossy(&text).into_owned());
    Ok((text, outcome))
}

/// Runs a rule's own tests, on each product that it is for; a test that does not hold is a fault at its place.
pub(crate) fn check(rule: &Rule, faults: &Faults) {
    let alone = alone(rule);
    for product in [Product::MariaDb, Product::MySql] {
        let scope = &rule.scope.servers;
        if !scope.is_empty() && !scope.iter().any(|server| server.product == product) {
            continue;
        }
        if let Err(reason) = fixture::catalog(&rule.given, fixture::flavor(product)) {
            faults.add(rule.span, format!("`given` of the rule `{}`: {reason}", rule.id));
            return;
        }
        for test in &rule.tests {
            match run(&alone, &test.sql, &rule.given, product) {
                Err(reason) => faults.add(test.span, format!("a test of the rule `{}`: {reason}", rule.id)),
                Ok((text, outcome)) => {
                    let found = if text.is_some() { Expect::Rewritten } else { Expect::Unchanged };
                    if found != test.expect {
                        let why = outcome.explain.first().map(ToString::to_string).unwrap_or_default();
                        let word = match test.expect {
                            Expect::Rewritten => "expected rewritten, it stays unchanged",
                            Expect::Unchanged => "expected unchanged, it is rewritten",
                        };
                        faults.add(test.span, format!("a test does not hold: {word} ({why})"));
                    }
                }
            }
        }
    }
}
