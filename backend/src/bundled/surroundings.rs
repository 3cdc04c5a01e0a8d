//! What a bundled server depends on outside its options: the process's environment, read here only.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Names a MariaDB server program or a folder that holds an installation.
pub const SERVER_VARIABLE: &str = "SHUNTYARD_MARIADB";

/// The part of the process's environment that decides which server runs and where its socket lies.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// `SHUNTYARD_MARIADB`.
    pub server: Option<PathBuf>,
    /// Folders that may hold `.deps/mariadb`: the working folder, and those above our own program.
    pub projects: Vec<PathBuf>,
    /// The folders of `PATH`.
    pub path: Vec<PathBuf>,
    /// Folders for a socket whose path would be too long elsewhere, best first.
    pub runtime: Vec<PathBuf>,
    /// `LD_LIBRARY_PATH` as it is.
    pub libraries: Option<OsString>,
}

impl Surroundings {
    /// Those of this process.
    #[must_use]
    pub fn of_process() -> Self {
        let uid = rustix::process::geteuid().as_raw();
        let program = std::env::current_exe().unwrap_or_default();
        let above = program.ancestors().skip(1).map(Path::to_owned);
        let xdg = std::env::var_os("XDG_RUNTIME_DIR")
            .map(PathBuf::from)
            .filter(|dir| dir.is_absolute())
            .map(|dir| dir.join("shuntyard"));
        Self {
            server: std::env::var_os(SERVER_VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from),
            projects: std::env::current_dir().into_iter().chain(above).collect(),
            path: std::env::var_os("PATH")
                .map(|value| std::env::split_paths(&value).collect())
                .unwrap_or_default(),
            runtime: xdg.into_iter().chain([PathBuf::from(format!("/tmp/shuntyard-{uid}"))]).collect(),
            libraries: std::env::var_os("LD_LIBRARY_PATH"),
        }
    }
}
