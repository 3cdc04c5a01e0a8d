//! Which of MariaDB's regression tests can run on a server with one fixed set of options.

use std::path::{Path, PathBuf};

/// Where Debian's package mariadb-test has them.
const FOLDERS: [&str; 2] = ["/usr/share/mysql/mysql-test", "/usr/share/mariadb/mariadb-test"];

/// Files beside a test that ask for a server with options of its own.
const OPTIONS: [&str; 6] = ["opt", "cnf", "combinations", "-master.opt", "-master.sh", "-slave.opt"];

/// What tests include that want another build of the server, or a server that they start and stop themselves.
const UNFIT: [&str; 9] = [
    "have_debug",
    "big_test",
    "windows.inc",
    "restart_mysqld",
    "start_mysqld",
    "shutdown_mysqld",
    "shutdown_server",
    "kill_mysqld",
    "master-slave",
];

/// One test.
#[derive(Debug, Clone)]
pub(crate) struct Test {
    /// Its file's name, without `.test`.
    pub(crate) name: String,
    /// What mysqltest reads.
    pub(crate) script: PathBuf,
    /// What its output is compared with.
    pub(crate) expected: PathBuf,
}

/// The folder of the tests, if they are installed.
pub(crate) fn folder() -> Option<&'static Path> {
    FOLDERS.iter().map(Path::new).find(|folder| folder.join("main").is_dir())
}

/// The tests of the suite `main`, by name; `None` where they are not installed.
pub(crate) fn all() -> Option<Vec<Test>> {
    let main = folder()?.join("main");
    let files = std::fs::read_dir(&main).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let scripts = files.filter(|path| path.extension().is_some_and(|extension| extension == "test"));
    let mut tests: Vec<Test> = scripts.filter_map(fit).collect();
    tests.sort_by(|a, b| a.name.cmp(&b.name));
    Some(tests)
}

fn fit(script: PathBuf) -> Option<Test> {
    let name = script.file_stem()?.to_str()?.to_owned();
    let expected = script.with_extension("result");
    let beside = |ending: &&str| match ending.strip_prefix('-') {
        Some(_) => script.with_file_name(format!("{name}{ending}")).exists(),
        None => script.with_extension(ending).exists(),
    };
    if !expected.exists() || OPTIONS.iter().any(beside) {
        return None;
    }
    let text = String::from_utf8_lossy(&std::fs::read(&script).ok()?).to_ascii_lowercase();
    let fits = !UNFIT.iter().any(|include| text.contains(include));
    fits.then_some(Test { name, script, expected })
}
