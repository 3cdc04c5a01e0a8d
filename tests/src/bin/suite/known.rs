//! Files that name tests: those that cannot pass proxied, and those that passed before.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use shuntyard_tests::machine;

use crate::trial::Trial;

/// Tests that cannot pass through a proxy, with what they look at.
pub(crate) type Exceptions = BTreeMap<String, String>;

/// The project's list: `name: what it looks at`, one a line.
pub(crate) fn exceptions() -> Exceptions {
    let text = read(&machine::project("tests/suite/exceptions.txt"));
    let line = |line: &str| {
        let (name, reason) =
            line.split_once(':').expect("tests/suite/exceptions.txt: `name: reason` on every line");
        (name.trim().to_owned(), reason.trim().to_owned())
    };
    lines(&text).map(line).collect()
}

/// The names in a file, one a line.
pub(crate) fn names(file: &Path) -> BTreeSet<String> {
    lines(&read(file)).map(str::to_owned).collect()
}

/// What the direct runs gave in a file that `--json` has written.
pub(crate) fn passed(file: &Path) -> BTreeMap<String, Trial> {
    let rows: BTreeMap<String, BTreeMap<String, Option<Trial>>> =
        serde_json::from_str(&read(file)).expect("--known takes a file that --json has written");
    rows.into_iter().filter_map(|(name, mut row)| Some((name, row.remove("direct")??))).collect()
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}
