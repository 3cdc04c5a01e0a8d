//! Where the files of one bundled server lie, its Unix socket included.

use super::error::Error;
use std::path::{Path, PathBuf};

/// Longest path of a Unix socket in bytes: `sun_path` holds 108 on Linux and 104 on macOS, one of them NUL.
pub(crate) const SOCKET_PATH_MAX: usize = if cfg!(target_os = "macos") { 103 } else { 107 };

/// The paths of one server; all absolute, UTF-8, without control characters and backslashes.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// The backend's name, `s1`.
    pub(crate) name: String,
    /// The whole: `data/s1`.
    pub(crate) folder: PathBuf,
    /// The server's Unix socket, inside the folder unless its path would be too long.
    pub(crate) socket: PathBuf,
}

/// Names of the entries that this module makes in a server's folder; each may end in `.tmp` while it is written.
pub(crate) mod entry {
    /// Lock file: held by the Shuntyard process that owns the folder, its pid inside.
    pub(crate) const LOCK: &str = "lock";
    /// Says that the folder is ours and complete; written last.
    pub(crate) const MARKER: &str = "shuntyard-server";
    /// Says that initialisation began; removed after the marker is there.
    pub(crate) const UNFINISHED: &str = "unfinished";
    /// MariaDB's own data folder.
    pub(crate) const DATA: &str = "data";
    /// The server's temporary files.
    pub(crate) const TMP: &str = "tmp";
    /// The only folder that the server's file functions may read and write.
    pub(crate) const FILES: &str = "files";
    /// The server's option file.
    pub(crate) const OPTIONS: &str = "server.cnf";
    /// Statements that the server runs at each start: the account.
    pub(crate) const INIT: &str = "init.sql";
    /// Option file for the command-line client.
    pub(crate) const CLIENT: &str = "client.cnf";
    /// The account's password.
    pub(crate) const PASSWORD: &str = "password";
    /// The server's log; locked by the server process as long as it lives.
    pub(crate) const LOG: &str = "server.log";
    /// The log before the present one.
    pub(crate) const OLD_LOG: &str = "server.log.1";
    /// The server's pid.
    pub(crate) const PID: &str = "server.pid";
    /// The server's Unix socket.
    pub(crate) const SOCKET: &str = "sock";

    /// All of them.
    pub(crate) const ALL: &[&str] = &[
        LOCK, MARKER, UNFINISHED, DATA, TMP, FILES, OPTIONS, INIT, CLIENT, PASSWORD, LOG, OLD_LOG, PID,
        SOCKET,
    ];
}

impl Layout {
    /// The layout of server `name` in `folder` (absolute). `runtime` are folders for a socket whose
    /// path in `folder` would be too long, the first that fits is taken.
    pub(crate) fn new(name: &str, folder: &Path, runtime: &[PathBuf]) -> Result<Self, Error> {
        let name_ok = !name.is_empty()
            && !name.starts_with('.')
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b));
        if !name_ok {
            return Err(Error::Name(name.to_owned()));
        }
        let clean = folder.to_str().is_some_and(|s| !s.chars().any(|c| c.is_control() || c == '\\'));
        if !clean {
            return Err(Error::Path(folder.to_owned()));
        }
        Ok(Self {
            name: name.to_owned(),
            folder: folder.to_owned(),
            socket: socket(folder, runtime).ok_or_else(|| Error::SocketPath(folder.join(entry::SOCKET)))?,
        })
    }

    /// The path of one entry.
    pub(crate) fn path(&self, entry: &str) -> PathBuf {
        self.folder.join(entry)
    }
}

fn fits(path: &Path) -> bool {
    path.as_os_str().len() <= SOCKET_PATH_MAX && path.to_str().is_some()
}

/// Inside the folder when the path fits; else under a short folder, named by a hash of the long path
/// so that two servers never share one and a restart finds the same again.
fn socket(folder: &Path, runtime: &[PathBuf]) -> Option<PathBuf> {
    let inside = folder.join(entry::SOCKET);
    if fits(&inside) {
        return Some(inside);
    }
    let name = format!("{:016x}.sock", fnv1a(folder.as_os_str().as_encoded_bytes()));
    runtime.iter().map(|dir| dir.join(&name)).find(|path| fits(path))
}

/// FNV-1a, 64 bits: stable between versions of the compiler, which `std`'s hasher is not.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests;
