//! The script that every driver runs (`drivers/script.json`), read for the drivers that live here.

use std::path::{Path, PathBuf};

use mysql_async::Value;
use router::compare::Metadata;
use serde_json::Value as Json;

use crate::machine;

#[cfg(test)]
mod tests;

/// The whole script.
#[derive(Debug, Clone)]
pub struct Script {
    /// The schema that it works in.
    pub schema: String,
    /// Its cases.
    pub cases: Vec<Case>,
    /// Files of the client by name.
    files: Vec<(String, String)>,
}

/// One case: a connection of its own.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// The only product that it is for, if any.
    on: Option<String>,
    not_for: Vec<String>,
    /// What of the columns counts.
    pub metadata: Metadata,
    /// How to connect.
    pub connect: Connect,
    /// What to do.
    pub steps: Vec<Step>,
}

/// How a case connects.
#[derive(Debug, Clone)]
pub struct Connect {
    /// Default schema.
    pub schema: Option<String>,
    /// Character set of the session.
    pub charset: String,
    /// CLIENT_FOUND_ROWS.
    pub found_rows: bool,
    /// Several statements in one text.
    pub multi: bool,
    /// LOAD DATA LOCAL is allowed.
    pub local_infile: bool,
}

/// One step.
#[derive(Debug, Clone)]
pub struct Step {
    /// Which of the case's connections it is for; each is opened at its first step.
    pub session: String,
    not_for: Vec<String>,
    /// What is done there.
    pub action: Action,
}

/// What a step does.
#[derive(Debug, Clone)]
pub enum Action {
    /// Runs a statement.
    Run(Statement),
    /// A command of its own: `ping`, `reset`, `change_user`, or `use` with a schema.
    Do {
        /// Which.
        what: String,
        /// The schema of `use`.
        schema: String,
    },
    /// Closes the prepared statement with this handle; nothing for drivers that keep none.
    Close(String),
}

/// A statement of the script.
#[derive(Debug, Clone)]
pub struct Statement {
    /// Its text with templates.
    pub sql: String,
    /// Parameters; none for a statement without any.
    pub params: Option<Vec<Json>>,
    /// Whether it may be prepared.
    pub preparable: bool,
    /// A name under which a driver that prepares keeps it, for later steps with the same name and text.
    pub handle: Option<String>,
}

impl Script {
    /// Reads the script.
    ///
    /// # Panics
    /// When it is not well-formed.
    pub fn load() -> Script {
        let text = std::fs::read_to_string(path()).expect("the script is there");
        let json: Json = serde_json::from_str(&text).expect("the script is JSON");
        let schema = string(&json, "schema").expect("the script names its schema");
        let cases = array(&json, "cases").iter().map(|case| Case::read(case, &schema)).collect();
        let files = json.get("files").and_then(Json::as_object).into_iter().flatten();
        let files =
            files.map(|(name, text)| (name.clone(), text.as_str().unwrap_or_default().to_owned())).collect();
        Script { schema, cases, files }
    }

    /// What of the columns counts in a case.
    pub fn metadata(&self, case: &str) -> Metadata {
        self.cases.iter().find(|c| c.name == case).map_or(Metadata::Exact, |c| c.metadata)
    }

    /// Writes the client's files into a folder.
    ///
    /// # Panics
    /// When it is not writable.
    pub fn write_files(&self, dir: &Path) {
        for (name, text) in &self.files {
            std::fs::write(dir.join(name), text).expect("the folder is writable");
        }
    }

    /// The client's files in a folder.
    pub fn file_paths(&self, dir: &Path) -> Vec<PathBuf> {
        self.files.iter().map(|(name, _)| dir.join(name)).collect()
    }
}

/// Where the script is.
pub fn path() -> PathBuf {
    machine::project("tests/drivers/script.json")
}

impl Case {
    fn read(json: &Json, schema: &str) -> Case {
        let connect = json.get("connect").cloned().unwrap_or(Json::Null);
        let schema = match connect.get("schema") {
            Some(Json::Null) => None,
            _ => Some(schema.to_owned()),
        };
        let flag = |key: &str| connect.get(key).and_then(Json::as_bool).unwrap_or(false);
        Case {
            name: string(json, "name").expect("a case has a name"),
            on: string(json, "on"),
            metadata: match string(json, "metadata").as_deref() {
                None => Metadata::Exact,
                Some("names and types") => Metadata::NamesAndTypes,
                Some(other) => panic!("no metadata: {other}"),
            },
            not_for: not_for(json),
            connect: Connect {
                schema,
                charset: string(&connect, "charset").unwrap_or_else(|| "utf8mb4".to_owned()),
                found_rows: flag("found_rows"),
                multi: flag("multi"),
                local_infile: flag("local_infile"),
            },
            steps: array(json, "steps").iter().map(Step::read).collect(),
        }
    }

    /// Whether a driver with any of these names runs it against a product (`mariadb`, `mysql`).
    pub fn is_for(&self, product: &str, driver: &[&str]) -> bool {
        self.on.as_deref().is_none_or(|on| on == product) && !names(&self.not_for, driver)
    }
}

impl Step {
    fn read(json: &Json) -> Step {
        let session = string(json, "as").unwrap_or_default();
        Step { session, not_for: not_for(json), action: Action::read(json) }
    }

    /// Whether a driver with any of these names takes it.
    pub fn is_for(&self, driver: &[&str]) -> bool {
        !names(&self.not_for, driver)
    }

    /// What is shown of it in reports.
    pub fn shown(&self) -> String {
        match &self.action {
            Action::Run(statement) => statement.sql.chars().take(200).collect(),
            Action::Do { what, .. } => what.clone(),
            Action::Close(handle) => format!("close {handle}"),
        }
    }
}

impl Action {
    fn read(json: &Json) -> Action {
        let handle = string(json, "handle");
        match (string(json, "do"), handle) {
            (Some(what), Some(handle)) if what == "close" => Action::Close(handle),
            (Some(what), _) => Action::Do { what, schema: string(json, "schema").unwrap_or_default() },
            (None, handle) => Action::Run(Statement {
                sql: json.as_str().map(str::to_owned).or(string(json, "sql")).expect("a step has SQL"),
                params: json.get("params").and_then(Json::as_array).cloned(),
                preparable: json.get("protocol").is_none(),
                handle,
            }),
        }
    }
}

/// Text with its templates filled in: `{{x*5}}`, `{{hex:BF5C}}`, `{{file:NAME}}`.
pub fn expand(sql: &str, files: &Path) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = sql;
    while let Some((before, after)) = rest.split_once("{{") {
        out.extend_from_slice(before.as_bytes());
        let (template, tail) = after.split_once("}}").expect("a template ends");
        if let Some(hex) = template.strip_prefix("hex:") {
            out.extend(bytes(hex));
        } else if let Some(name) = template.strip_prefix("file:") {
            out.extend_from_slice(files.join(name).display().to_string().as_bytes());
        } else {
            let (unit, times) = template.split_once('*').expect("a template is known");
            out.extend_from_slice(unit.repeat(times.parse().expect("a number of times")).as_bytes());
        }
        rest = tail;
    }
    out.extend_from_slice(rest.as_bytes());
    out
}

fn bytes(hex: &str) -> Vec<u8> {
    let pair = |at: usize| hex.get(at..at + 2).and_then(|p| u8::from_str_radix(p, 16).ok());
    (0..hex.len()).step_by(2).map(|at| pair(at).expect("pairs of hexadecimal digits")).collect()
}

/// A parameter as `mysql_async` sends it.
///
/// # Panics
/// When the script means none.
pub fn parameter(json: &Json) -> Value {
    match json {
        Json::Null => Value::NULL,
        Json::String(s) => Value::Bytes(s.clone().into_bytes()),
        Json::Number(n) => match (n.as_i64(), n.as_u64(), n.as_f64()) {
            (Some(i), _, _) => Value::Int(i),
            (_, Some(u), _) => Value::UInt(u),
            (_, _, f) => Value::Double(f.expect("a number")),
        },
        Json::Object(_) => object(json),
        other => panic!("no parameter: {other}"),
    }
}

fn object(json: &Json) -> Value {
    if let Some(unit) = string(json, "repeat").or(string(json, "stream")) {
        let times = json.get("times").and_then(Json::as_u64).and_then(|n| usize::try_from(n).ok());
        return Value::Bytes(unit.repeat(times.expect("a number of times")).into_bytes());
    }
    if let Some(hex) = string(json, "bytes") {
        return Value::Bytes(bytes(&hex));
    }
    if let Some(decimal) = string(json, "decimal") {
        return Value::Bytes(decimal.into_bytes());
    }
    let text = ["date", "datetime", "time"].iter().find_map(|k| Some((*k, string(json, k)?)));
    let (kind, text) = text.expect("a kind of parameter");
    let digits: Vec<u32> = text
        .split(|c: char| !c.is_ascii_digit())
        .filter(|s| !s.is_empty())
        .map(|s| s.parse().unwrap_or(0))
        .collect();
    let at = |i: usize| digits.get(i).copied().unwrap_or(0);
    let small = |i: usize| u8::try_from(at(i)).expect("a part of a date");
    if kind == "time" {
        let days = at(0) / 24;
        let hours = u8::try_from(at(0) % 24).expect("hours of a day");
        return Value::Time(text.starts_with('-'), days, hours, small(1), small(2), at(3));
    }
    let year = u16::try_from(at(0)).expect("a year");
    Value::Date(year, small(1), small(2), small(3), small(4), small(5), at(6))
}

fn not_for(json: &Json) -> Vec<String> {
    array(json, "not_for").iter().filter_map(|n| n.as_str().map(str::to_owned)).collect()
}

fn names(not_for: &[String], driver: &[&str]) -> bool {
    not_for.iter().any(|d| driver.contains(&d.as_str()))
}

fn string(json: &Json, key: &str) -> Option<String> {
    json.get(key).and_then(Json::as_str).map(str::to_owned)
}

fn array<'a>(json: &'a Json, key: &str) -> &'a [Json] {
    json.get(key).and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default()
}
