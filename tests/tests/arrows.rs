//! The arrows between the crates, and who may know Tokio and sqlparser.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value as Json;
use shuntyard_tests::machine;

/// Which of the project's crates a crate may depend on, in whatever role.
const ALLOWED: &[(&str, &[&str])] = &[
    ("wire", &[]),
    ("sql", &[]),
    ("rewriter", &["sql"]),
    ("router", &["sql", "wire"]),
    ("backend", &["wire", "sql"]),
    ("shuntyard", &["rewriter", "router", "backend", "wire", "sql"]),
    ("shuntyard-tests", &["rewriter", "router", "backend", "wire", "sql", "shuntyard"]),
];

/// Who knows Tokio, directly.
const TOKIO: &[&str] = &["backend", "shuntyard", "shuntyard-tests"];

/// Names of the direct dependencies of every package of the workspace, of all kinds.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(machine::root());
    let out = command.output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let metadata: Json = serde_json::from_slice(&out.stdout).unwrap();
    let packages = metadata.get("packages").and_then(Json::as_array).unwrap();
    let name = |json: &Json| json.get("name").and_then(Json::as_str).unwrap().to_owned();
    packages
        .iter()
        .map(|package| {
            let all = package.get("dependencies").and_then(Json::as_array).unwrap();
            (name(package), all.iter().map(&name).collect())
        })
        .collect()
}

#[test]
fn only_the_allowed_arrows() {
    let found = dependencies();
    let known: BTreeSet<&str> = ALLOWED.iter().map(|(name, _)| *name).collect();
    let packages: BTreeSet<&str> = found.keys().map(String::as_str).collect();
    assert_eq!(packages, known, "a new crate needs its arrows here and in ARCHITECTURE.md");
    for (name, allowed) in ALLOWED {
        for dependency in found.get(*name).unwrap().iter().filter(|d| known.contains(d.as_str())) {
            assert!(allowed.contains(&dependency.as_str()), "{name} must not depend on {dependency}");
        }
    }
}

#[test]
fn only_those_that_do_io_know_tokio() {
    for (name, dependencies) in dependencies() {
        let knows: Vec<&String> =
            dependencies.iter().filter(|d| d.contains("tokio") || *d == "mysql_async").collect();
        assert!(knows.is_empty() || TOKIO.contains(&name.as_str()), "{name} depends on {knows:?}");
    }
}

#[test]
fn only_the_tree_names_sqlparser() {
    for (name, dependencies) in dependencies() {
        assert!(name == "sql" || !dependencies.contains("sqlparser"), "{name} depends on sqlparser");
    }
    let tree = machine::project("rewriter/sql/src/tree");
    for file in sources(&machine::root()) {
        let own = file.starts_with(&tree) || file == tree.with_extension("rs") || file.ends_with("arrows.rs");
        let names = std::fs::read_to_string(&file).unwrap().lines().any(|line| {
            let code = line.trim_start();
            code.contains("sqlparser::") && !code.starts_with("//")
        });
        assert!(own || !names, "{} names sqlparser", file.display());
    }
}

/// The project's Rust files.
fn sources(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') && name != "target" {
            found.extend(sources(&path));
        } else if name.ends_with(".rs") {
            found.push(path);
        }
    }
    found
}
