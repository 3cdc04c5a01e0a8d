//! What would happen to a statement, and why: the sessions' own judgement, put into words.

use router::plan::Plan;
use router::route::route;
use serde::Serialize;
use sql::{Scanner, digest};

use crate::planner::{Question, judge, leans};
use crate::shared::Shared;

/// An explanation, as it is printed and as JSON.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Explanation {
    /// The statement's digest, 32 hexadecimal digits.
    pub(crate) digest: String,
    /// Its text without literals.
    pub(crate) normalized: String,
    /// `forward`, `rewritten`, `local` or `refused`.
    pub(crate) plan: &'static str,
    /// The backend that it goes to; none where the proxy answers.
    pub(crate) backend: Option<String>,
    /// Why it goes on as it came, if it does.
    pub(crate) reason: Option<String>,
    /// What each rule said.
    pub(crate) rules: Vec<RuleVerdict>,
    /// The text that the backend gets, if it is another one.
    pub(crate) rewritten: Option<String>,
}

/// What one rule said.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct RuleVerdict {
    /// Its id.
    pub(crate) rule: String,
    /// Its mode.
    pub(crate) mode: &'static str,
    /// What became of it: fired, refused by which guard and why, not matched.
    pub(crate) verdict: String,
}

/// Explains a statement. Changes nothing and counts nothing.
pub(crate) fn explain(shared: &Shared, question: &Question<'_>) -> Explanation {
    let mut scanner = Scanner::new();
    let scan = scanner.scan(question.text, question.flavor);
    let rules = shared.rules.load();
    let topology = shared.topology.load();
    let tables = shared.home().catalog.current();
    let known_tables = tables.is_some();
    let judged = judge(&rules, &tables.unwrap_or_default(), question, &scan);
    if judged.outcome.iter().flat_map(|outcome| &outcome.explain).any(leans) {
        shared.home().catalog.need();
    }
    let plan = route(judged.known, &topology);
    let verdicts = judged.outcome.iter().flat_map(|outcome| &outcome.explain);
    let rules = verdicts
        .map(|verdict| {
            let text = verdict.to_string();
            let prefix = format!("{}: ", verdict.rule);
            RuleVerdict {
                rule: verdict.rule.to_string(),
                mode: verdict.mode.name(),
                verdict: text.strip_prefix(&prefix).unwrap_or(&text).to_owned(),
            }
        })
        .collect();
    let mut explanation = Explanation {
        digest: scan.digest.to_string(),
        normalized: digest::normalize(question.text, question.flavor),
        plan: "forward",
        backend: None,
        reason: None,
        rules,
        rewritten: None,
    };
    match plan {
        Plan::Forward(forward) => {
            explanation.backend = topology.name(forward.to).map(str::to_owned);
            explanation.reason = Some(forward.why.text().to_owned());
        }
        Plan::Rewritten(plan) => {
            explanation.backend = topology.name(plan.to).map(str::to_owned);
            let mut new = Vec::new();
            if plan.render(question.text, &scan, &mut new) {
                explanation.plan = "rewritten";
                explanation.rewritten = Some(String::from_utf8_lossy(&new).into_owned());
            } else {
                explanation.reason = Some("a rule fits, but not with these literals".to_owned());
            }
        }
        Plan::Local => explanation.plan = "local",
        Plan::Refused(error) => {
            explanation.plan = "refused";
            explanation.reason = Some(error.to_string());
        }
    }
    if !known_tables {
        let note = "the catalog is being read: rules that need it do not fire meanwhile";
        let reason =
            explanation.reason.take().map_or_else(|| note.to_owned(), |reason| format!("{reason}; {note}"));
        explanation.reason = Some(reason);
    }
    explanation
}

impl Explanation {
    /// As lines of what and its value.
    pub(crate) fn lines(&self) -> Vec<(String, String)> {
        let mut lines = vec![
            ("digest".to_owned(), self.digest.clone()),
            ("normalized".to_owned(), self.normalized.clone()),
            ("plan".to_owned(), self.plan.to_owned()),
        ];
        let optional = [("backend", &self.backend), ("reason", &self.reason)];
        lines.extend(
            optional.iter().filter_map(|(name, value)| Some(((*name).to_owned(), (*value).clone()?))),
        );
        for rule in &self.rules {
            lines.push((format!("rule {} ({})", rule.rule, rule.mode), rule.verdict.clone()));
        }
        lines.extend(self.rewritten.clone().map(|text| ("rewritten".to_owned(), text)));
        lines
    }
}
