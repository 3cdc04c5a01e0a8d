//! `shuntyard rules`: the rules in a list, and in words.

use std::process::ExitCode;

use rewriter::{Rule, RuleSet, describe};
use serde_json::{Value, json};
use sql::source::Fault;

use super::{failed, faulty, print};
use crate::cli::{RulesArgs, RulesCommand};
use crate::config::{Config, RuleFiles};
use crate::reload;

pub(super) fn run(command: &RulesCommand) -> ExitCode {
    let (RulesCommand::List(args) | RulesCommand::Show { rules: args, .. }) = command;
    let rules = match load(args) {
        Ok(rules) => rules,
        Err(faults) => return faulty(&faults, args.json),
    };
    match command {
        RulesCommand::List(_) => list(&rules, args.json),
        RulesCommand::Show { id, .. } => return show(&rules, id.as_deref(), args.json),
    }
    ExitCode::SUCCESS
}

fn load(args: &RulesArgs) -> Result<RuleSet, Vec<Fault>> {
    match &args.config {
        Some(file) => reload::rules(&Config::load(file)?),
        None => RuleSet::load(&RuleFiles::builtin().read()?),
    }
}

fn list(rules: &RuleSet, json: bool) {
    if json {
        let rows: Vec<Value> = rules.rules().iter().map(|rule| row(rule)).collect();
        return print(&Value::from(rows).to_string());
    }
    let longest = rules.rules().iter().map(|rule| rule.id.as_str().len()).max().unwrap_or(0);
    for rule in rules.rules() {
        let id = rule.id.as_str();
        print(&format!(
            "{id:<longest$}  {:<8}  {:<10}  {:<24}  {}:{}",
            rule.mode.name(),
            rule.effect.name(),
            servers(rule),
            rule.file,
            rule.span.line
        ));
    }
}

fn servers(rule: &Rule) -> String {
    let servers: Vec<String> = rule.scope.servers.iter().map(ToString::to_string).collect();
    if servers.is_empty() { "all servers".to_owned() } else { servers.join(", ") }
}

fn row(rule: &Rule) -> Value {
    json!({
        "id": rule.id.as_str(),
        "about": rule.about,
        "mode": rule.mode.name(),
        "effect": rule.effect.name(),
        "does": rule.pass.name(),
        "servers": rule.scope.servers.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "priority": rule.priority,
        "tests": rule.tests.len(),
        "file": rule.file.as_ref(),
        "line": rule.span.line,
    })
}

fn show(rules: &RuleSet, id: Option<&str>, json: bool) -> ExitCode {
    let wanted = |rule: &Rule| id.is_none_or(|id| rule.id.as_str() == id);
    let found: Vec<&Rule> = rules.rules().iter().map(AsRef::as_ref).filter(|rule| wanted(rule)).collect();
    if found.is_empty() {
        let id = id.unwrap_or_default();
        return failed(&format!("there is no rule `{id}`: `shuntyard rules list` has them all"));
    }
    if json {
        print(&found.iter().map(|rule| row(rule)).collect::<Value>().to_string());
        return ExitCode::SUCCESS;
    }
    for rule in found {
        print(&describe(rule));
    }
    ExitCode::SUCCESS
}
