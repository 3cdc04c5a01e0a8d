//! A rule in words, for `shuntyard rules show` and the documentation: made from the rule itself and its own tests.

use std::fmt::Write;

use sql::Product;

use crate::load::RuleSet;
use crate::rule::{Expect, Rule};
use crate::selftest;

/// The rule as Markdown: what it does, before and after, guards, near misses.
pub fn describe(rule: &Rule) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write_rule(&mut out, rule);
    out
}

fn write_rule(out: &mut String, rule: &Rule) -> std::fmt::Result {
    writeln!(out, "### {}\n", rule.id)?;
    if let Some(about) = &rule.about {
        writeln!(out, "{about}\n")?;
    }
    writeln!(out, "| | |\n| --- | --- |")?;
    let servers: Vec<_> = rule.scope.servers.iter().map(ToString::to_string).collect();
    let servers = if servers.is_empty() { "all".to_owned() } else { servers.join(", ") };
    writeln!(out, "| servers | {servers} |")?;
    writeln!(out, "| mode, keeps | `{}`, `{}` |", rule.mode.name(), rule.effect.name())?;
    match rule.pass.pattern() {
        None => writeln!(out, "| built-in pass | `{}` |", rule.pass.name())?,
        Some(pattern) => {
            for (from, to) in pattern.written() {
                writeln!(out, "| pattern | `{}` → `{}` |", cell(from), cell(to))?;
            }
            for guard in pattern.guards() {
                writeln!(out, "| when | `{}` |", cell(guard))?;
            }
        }
    }
    if let Some((before, after)) = example(rule) {
        writeln!(out, "\n```sql\n{before}\n-- becomes\n{after}\n```")?;
    }
    let misses: Vec<_> = rule.tests.iter().filter(|test| test.expect == Expect::Unchanged).collect();
    if !misses.is_empty() {
        writeln!(out, "\nStays as it is, for one:\n\n```sql")?;
        for test in misses.iter().take(4) {
            writeln!(out, "{}", test.sql)?;
        }
        writeln!(out, "```")?;
    }
    Ok(())
}

/// Text in a table's cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// The first test that is rewritten, before and after, on the first product that the rule is for.
fn example(rule: &Rule) -> Option<(String, String)> {
    let rules = RuleSet::of(rule);
    let product = [Product::MariaDb, Product::MySql]
        .into_iter()
        .find(|product| selftest::cases(&rules, *product).iter().any(|case| case.rewritten.is_some()))?;
    let case = selftest::cases(&rules, product).into_iter().find(|case| case.rewritten.is_some())?;
    Some((case.original, case.rewritten?))
}
