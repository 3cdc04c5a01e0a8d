//! What a driver reports: the script's cases and, for each step, its answer.

use router::compare::{Answer, Column, Done, Failure, Outcome, ResultSet, Terms, Value, Warning, compare};
use serde_json::Value as Json;

use crate::script::Script;

/// A driver's run of the script.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The cases that it ran.
    pub cases: Vec<Case>,
}

/// One case.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// Its steps.
    pub steps: Vec<Step>,
}

/// One step.
#[derive(Debug, Clone)]
pub struct Step {
    /// What was run, shortened.
    pub sql: String,
    /// What came back.
    pub answer: Answer,
}

impl Report {
    /// Reads the JSON of a Python driver (`tests/drivers/common.py`).
    ///
    /// # Panics
    /// When it is not that.
    pub fn parse(json: &str) -> Report {
        let json: Json = serde_json::from_str(json).unwrap_or_else(|e| panic!("a driver's report: {e}"));
        let cases = list(&json, "cases").iter().map(|case| Case {
            name: text(case, "name"),
            steps: list(case, "steps")
                .iter()
                .map(|step| Step {
                    sql: text(step, "sql"),
                    answer: answer(step.get("answer").unwrap_or(&Json::Null)),
                })
                .collect(),
        });
        Report { cases: cases.collect() }
    }

    /// How many steps were run.
    pub fn steps(&self) -> usize {
        self.cases.iter().map(|case| case.steps.len()).sum()
    }

    /// Where two runs of the script differ, in words; empty if nowhere.
    pub fn differences(&self, other: &Report, script: &Script) -> Vec<String> {
        let mut found = Vec::new();
        let names = |r: &Report| r.cases.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
        if names(self) != names(other) {
            found.push(format!("cases: {:?} ≠ {:?}", names(self), names(other)));
        }
        for (left, right) in self.cases.iter().zip(&other.cases) {
            let terms = Terms { metadata: script.metadata(&left.name), ..Terms::exact() };
            if left.steps.len() != right.steps.len() {
                found.push(format!("{}: {} steps ≠ {}", left.name, left.steps.len(), right.steps.len()));
            }
            for (number, (l, r)) in left.steps.iter().zip(&right.steps).enumerate() {
                let verdict = compare(&l.answer, &r.answer, &terms);
                if !verdict.is_same() {
                    let sql = l.sql.chars().take(160).collect::<String>();
                    found.push(format!(
                        "{}, step {}: {sql}\n    {}",
                        left.name,
                        number + 1,
                        indented(&verdict.to_string())
                    ));
                }
            }
        }
        found
    }
}

fn indented(text: &str) -> String {
    let lines: Vec<&str> = text.lines().take(6).collect();
    lines.join("\n    ")
}

fn list<'a>(json: &'a Json, key: &str) -> &'a [Json] {
    json.get(key).and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn text(json: &Json, key: &str) -> String {
    match json.get(key) {
        Some(Json::String(s)) => s.clone(),
        Some(Json::Null) | None => String::new(),
        Some(other) => other.to_string(),
    }
}

fn number<T: TryFrom<u64>>(json: &Json, key: &str) -> Option<T> {
    json.get(key).and_then(Json::as_u64).and_then(|n| T::try_from(n).ok())
}

/// The answer to one step, as drivers in other languages report it.
pub(crate) fn answer(json: &Json) -> Answer {
    let warning = |w: &Json| Warning {
        level: w.get(0).and_then(Json::as_str).unwrap_or_default().to_owned(),
        code: w.get(1).and_then(Json::as_u64).and_then(|n| u16::try_from(n).ok()).unwrap_or(0),
        message: w.get(2).and_then(Json::as_str).unwrap_or_default().to_owned(),
    };
    Answer {
        results: list(json, "results").iter().map(outcome).collect(),
        warnings: list(json, "warnings").iter().map(warning).collect(),
    }
}

fn outcome(json: &Json) -> Outcome {
    if let Some(error) = json.get("error") {
        Outcome::Failed(Failure {
            code: number(error, "code").unwrap_or(0),
            state: text(error, "state"),
            message: text(error, "message"),
        })
    } else if json.get("rows").is_some() {
        Outcome::Rows(ResultSet {
            columns: list(json, "columns").iter().map(column).collect(),
            rows: list(json, "rows")
                .iter()
                .map(|row| row.as_array().into_iter().flatten().map(value).collect())
                .collect(),
            status: number(json, "status"),
            warnings: number(json, "warnings"),
        })
    } else {
        Outcome::Done(Done {
            affected: number(json, "affected").unwrap_or(0),
            insert_id: number(json, "insert_id").unwrap_or(0),
            info: text(json, "info"),
            warnings: number(json, "warnings").unwrap_or(0),
            status: number(json, "status"),
        })
    }
}

fn column(json: &Json) -> Column {
    Column {
        name: text(json, "name"),
        org_name: text(json, "org_name"),
        table: text(json, "table"),
        org_table: text(json, "org_table"),
        schema: text(json, "schema"),
        kind: number(json, "type").unwrap_or(0),
        length: number(json, "length").unwrap_or(0),
        flags: number(json, "flags").unwrap_or(0),
        decimals: number(json, "decimals").unwrap_or(0),
        charset: number(json, "charset").unwrap_or(0),
    }
}

fn value(json: &Json) -> Value {
    if json.is_null() {
        return Value::Null;
    }
    let parsed = |key: &str| json.get(key).and_then(Json::as_str).map(str::to_owned);
    if let Some(int) = parsed("int").and_then(|i| i.parse().ok()) {
        return Value::Int(int);
    }
    if let Some(double) = parsed("double").and_then(|d| d.parse().ok()) {
        return Value::Double(double);
    }
    if let Some(hex) = parsed("bytes") {
        let digit = |at: usize| hex.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
        return Value::Bytes((0..hex.len()).step_by(2).filter_map(digit).collect());
    }
    let kind = text(json, "kind");
    assert!(!kind.is_empty(), "not a value of a report: {json}");
    Value::Typed { kind, text: text(json, "text") }
}
