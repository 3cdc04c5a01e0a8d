//! What can be wrong with a bundled server, each in one sentence that says what to do.

use super::folder::Refusal;
use std::io;
use std::path::PathBuf;

/// Why a bundled server cannot be prepared, started or stopped.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The backend's name cannot name a folder.
    #[error("bundled server name {0:?}: use letters, digits, '_', '-' and '.', not starting with '.'")]
    Name(String),
    /// The data folder's path is one that MariaDB's option files or tools cannot take.
    #[error(
        "bundled server data folder {0:?}: the path must be UTF-8 without control characters and backslashes: MariaDB's option files and tools get others wrong"
    )]
    Path(PathBuf),
    /// No place for the Unix socket.
    #[error(
        "bundled server socket {0:?}: longer than the {max} bytes that the system allows, and so is every other place for it: name a shorter data folder",
        max = super::layout::SOCKET_PATH_MAX
    )]
    SocketPath(PathBuf),
    /// An extra setting cannot be written in an option file.
    #[error(
        "bundled server setting {0:?}: not a server option's name, or its value holds a control character"
    )]
    Setting(String),
    /// There is no MariaDB server on this machine.
    #[error(
        "no MariaDB server (mariadbd) found in .deps/mariadb, PATH or the usual folders: run `make deps`, or set SHUNTYARD_MARIADB to its path"
    )]
    NoServer,
    /// The path that was given for the server leads to none.
    #[error("{origin} says {path:?}, but there is no MariaDB server (mariadbd) there")]
    NoServerThere {
        /// Who gave the path.
        origin: &'static str,
        /// The path as given.
        path: PathBuf,
    },
    /// The program found is not a MariaDB server, or does not run.
    #[error("{program:?} is not a MariaDB server that runs here: {said}")]
    NotMariaDb {
        /// The program that was tried.
        program: PathBuf,
        /// What it printed.
        said: String,
    },
    /// The installation lacks the files that a new data folder is made from.
    #[error(
        "MariaDB server {program:?} comes without its system tables' SQL ({wanted} in share/mysql or share/mariadb): install the package mariadb-server-core, or run `make deps`"
    )]
    NoSystemTables {
        /// The server's program.
        program: PathBuf,
        /// The first file that is missing.
        wanted: String,
    },
    /// The data folder must not be used.
    #[error("bundled server data folder {folder:?}: {refusal}")]
    Refused {
        /// The folder.
        folder: PathBuf,
        /// Why.
        refusal: Refusal,
    },
    /// The data folder could not be made from nothing.
    #[error("bundled server {name}: initialising its data folder failed ({status}); {log}")]
    Init {
        /// The backend's name.
        name: String,
        /// How the server process ended.
        status: String,
        /// The end of its log.
        log: String,
    },
    /// The server ended before it was ready for the first time. It is being tried again.
    #[error("bundled server {name} does not start: {reason}")]
    NotReady {
        /// The backend's name.
        name: String,
        /// How it ended, with the end of its log.
        reason: String,
    },
    /// The operating system refused something.
    #[error("bundled server {name}: cannot {what}: {source}")]
    Io {
        /// The backend's name.
        name: String,
        /// What was tried.
        what: String,
        /// The system's error.
        source: io::Error,
    },
}

impl Error {
    /// Turns a system error into one that says what was tried for which server.
    pub(crate) fn io(name: &str, what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let (name, what) = (name.to_owned(), what.into());
        move |source| Self::Io { name, what, source }
    }
}
