//! Finding a MariaDB server on the machine, with the files that it needs beside it.

use super::error::Error;
use super::option_file::Places;
use super::release::Release;
use super::surroundings::{SERVER_VARIABLE, Surroundings};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where a server's program may lie below the folder of an installation.
const BELOW: &[&str] = &["", "sbin", "bin", "libexec", "usr/sbin", "usr/bin", "usr/libexec"];
/// Names of the program; the second is MariaDB's old one, which may also be MySQL's.
const PROGRAMS: &[&str] = &["mariadbd", "mysqld"];
/// Folders that are looked through after `PATH`.
const USUAL: &[&str] = &[
    "/usr/sbin",
    "/usr/local/sbin",
    "/usr/libexec",
    "/opt/homebrew/opt/mariadb/bin",
    "/usr/local/opt/mariadb/bin",
    "/home/linuxbrew/.linuxbrew/opt/mariadb/bin",
];
/// SQL files that a new data folder is made from, in order; each is prefixed by `mysql_` until
/// MariaDB 10.x and may be by `mariadb_` later. The second value says whether a server needs it.
const SYSTEM_TABLES: &[(&str, bool)] = &[
    ("?system_tables.sql", true),
    ("?performance_tables.sql", true),
    ("?system_tables_data.sql", true),
    ("fill_help_tables.sql", false),
    ("maria_add_gis_sp_bootstrap.sql", false),
    ("?sys_schema.sql", false),
];

/// A MariaDB server that runs on this machine.
#[derive(Clone, Debug)]
pub struct Installation {
    /// The server's program, absolute, links resolved.
    pub program: PathBuf,
    /// Its version.
    pub release: Release,
    basedir: Option<PathBuf>,
    share: Option<PathBuf>,
    plugins: Option<PathBuf>,
    libraries: Option<OsString>,
}

/// One place to look, and whether to go on when nothing is there.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// Somebody named it: nothing else is tried.
    Named { origin: &'static str, path: PathBuf },
    /// A folder that may hold an installation.
    Tree(PathBuf),
    /// A folder that may hold the program itself.
    Folder(PathBuf),
}

/// Where to look, in order.
fn places(configured: Option<&Path>, around: &Surroundings) -> Vec<Place> {
    let named = |origin, path: &Path| Place::Named { origin, path: path.to_owned() };
    if let Some(path) = configured {
        return vec![named("the configuration", path)];
    }
    if let Some(path) = &around.server {
        return vec![named(SERVER_VARIABLE, path)];
    }
    let own = around.projects.iter().map(|dir| Place::Tree(dir.join(".deps/mariadb")));
    let path = around.path.iter().cloned().map(Place::Folder);
    let usual = USUAL.iter().map(|dir| Place::Folder(PathBuf::from(dir)));
    own.chain(path).chain(usual).collect()
}

/// The first server program in or below `dir`.
fn program_in(dir: &Path, below: &[&str]) -> Option<PathBuf> {
    below
        .iter()
        .flat_map(|sub| PROGRAMS.iter().map(move |name| dir.join(sub).join(name)))
        .find(|path| path.is_file())
}

/// Finds the server to use: what the configuration names, what `SHUNTYARD_MARIADB` names, the
/// project's own `.deps/mariadb`, `PATH`, the usual folders. Blocking.
///
/// # Errors
/// When there is none, or the one that was named is none.
pub fn find(configured: Option<&Path>, around: &Surroundings) -> Result<Installation, Error> {
    for place in places(configured, around) {
        match place {
            Place::Named { origin, path } => {
                let program = if path.is_file() { Some(path.clone()) } else { program_in(&path, BELOW) };
                let program = program.ok_or(Error::NoServerThere { origin, path })?;
                return Installation::open(&program, around);
            }
            Place::Tree(dir) => {
                if let Some(program) = program_in(&dir, BELOW) {
                    return Installation::open(&program, around);
                }
            }
            // In PATH a `mysqld` may be MySQL's: not an error, only not what is looked for.
            Place::Folder(dir) => {
                let found = program_in(&dir, &[""]).map(|p| Installation::open(&p, around));
                match found {
                    Some(Err(Error::NotMariaDb { program, said })) => {
                        tracing::debug!(?program, said, "not a MariaDB server");
                    }
                    Some(result) => return result,
                    None => {}
                }
            }
        }
    }
    Err(Error::NoServer)
}

impl Installation {
    fn open(program: &Path, around: &Surroundings) -> Result<Self, Error> {
        let not_maria = |said: String| Error::NotMariaDb { program: program.to_owned(), said };
        let program = program.canonicalize().map_err(|error| not_maria(error.to_string()))?;
        let basedir = program
            .parent()
            .filter(|dir| {
                dir.file_name().is_some_and(|name| ["bin", "sbin", "libexec"].iter().any(|n| name == *n))
            })
            .and_then(Path::parent)
            .map(Path::to_owned);
        let first =
            |dirs: Vec<PathBuf>, holds: &dyn Fn(&Path) -> bool| dirs.into_iter().find(|dir| holds(dir));
        let below = |subs: &[&str]| -> Vec<PathBuf> {
            basedir.iter().flat_map(|base| subs.iter().map(|sub| base.join(sub))).collect()
        };
        let share = first(below(&["share/mariadb", "share/mysql", "share"]), &|dir| {
            dir.join("english/errmsg.sys").is_file()
        });
        let plugins = first(
            below(&[
                "lib/mysql/plugin",
                "lib/mariadb/plugin",
                "lib64/mysql/plugin",
                "lib64/mariadb/plugin",
                "lib/plugin",
            ]),
            &|dir| dir.is_dir(),
        );
        let libraries = basedir.as_deref().and_then(|base| libraries(base, around.libraries.as_ref()));
        let mut command = Command::new(&program);
        clean(&mut command, libraries.as_ref());
        let output = command
            .args(["--no-defaults", "--version"])
            .output()
            .map_err(|error| not_maria(error.to_string()))?;
        let banner = String::from_utf8_lossy(&output.stdout);
        let release = Release::of_banner(&banner).ok_or_else(|| {
            let errors = String::from_utf8_lossy(&output.stderr);
            not_maria(format!("{} {}", banner.trim(), errors.trim()).trim().to_owned())
        })?;
        Ok(Self { program, release, basedir, share, plugins, libraries })
    }

    /// Sets the environment of a command that runs one of the installation's programs.
    pub(crate) fn clean(&self, command: &mut Command) {
        clean(command, self.libraries.as_ref());
    }

    /// The folders to tell the server.
    pub(crate) fn places(&self) -> Places<'_> {
        Places {
            basedir: self.basedir.as_deref(),
            share: self.share.as_deref(),
            plugins: self.plugins.as_deref(),
        }
    }

    /// A program beside the server's own, in `bin` or `sbin`.
    pub(crate) fn sibling(&self, names: &[&str]) -> Option<PathBuf> {
        let dirs = self.basedir.iter().flat_map(|b| [b.join("bin"), b.join("sbin")]);
        dirs.flat_map(|dir| names.iter().map(move |name| dir.join(name))).find(|path| path.is_file())
    }

    /// The SQL files that a new data folder is made from, in order.
    pub(crate) fn system_tables(&self) -> Result<Vec<PathBuf>, Error> {
        let missing = |wanted: &str| Error::NoSystemTables {
            program: self.program.clone(),
            wanted: wanted.replace('?', "mysql_"),
        };
        let dirs: Vec<PathBuf> = self
            .basedir
            .iter()
            .flat_map(|base| ["share/mariadb", "share/mysql", "share"].map(|sub| base.join(sub)))
            .collect();
        let mut files = Vec::new();
        for (pattern, needed) in SYSTEM_TABLES {
            let names = [pattern.replace('?', "mariadb_"), pattern.replace('?', "mysql_")];
            let file = dirs
                .iter()
                .flat_map(|dir| names.iter().map(move |name| dir.join(name)))
                .find(|path| path.is_file());
            match file {
                Some(file) => files.push(file),
                None if *needed => return Err(missing(pattern)),
                None => {}
            }
        }
        Ok(files)
    }
}

/// Sets a command's environment: locale and MariaDB's own variables must not matter.
fn clean(command: &mut Command, libraries: Option<&OsString>) {
    for name in [
        "MYSQL_HOME",
        "MARIADB_HOME",
        "MYSQL_GROUP_SUFFIX",
        "MARIADB_GROUP_SUFFIX",
        "MYSQL_TCP_PORT",
        "MYSQL_UNIX_PORT",
        "MYSQL_PWD",
        "UMASK",
        "UMASK_DIR",
        "NOTIFY_SOCKET",
        "LISTEN_FDS",
        "LISTEN_PID",
    ] {
        command.env_remove(name);
    }
    command.env("LC_ALL", "C");
    if let Some(libraries) = libraries {
        command.env("LD_LIBRARY_PATH", libraries);
    }
}

/// What `LD_LIBRARY_PATH` must say for an installation outside the system's own folders: its shared
/// libraries first, then what it said before.
fn libraries(basedir: &Path, before: Option<&OsString>) -> Option<OsString> {
    if ["/usr", "/usr/local", "/"].iter().any(|dir| basedir == Path::new(dir)) {
        return None;
    }
    let mut dirs = Vec::new();
    for lib in [basedir.join("lib"), basedir.join("lib64"), basedir.join("../lib")] {
        let inside = std::fs::read_dir(&lib).into_iter().flatten().flatten();
        dirs.extend(
            inside
                .map(|entry| entry.path())
                .filter(|path| path.to_string_lossy().ends_with("-linux-gnu") && path.is_dir()),
        );
        if lib.is_dir() {
            dirs.push(lib);
        }
    }
    if let Some(before) = before {
        dirs.extend(std::env::split_paths(before));
    }
    std::env::join_paths(dirs).ok().filter(|joined| !joined.is_empty())
}

#[cfg(test)]
mod tests;
