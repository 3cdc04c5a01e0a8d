//! What a server's data folder is, decided from what lies in it.

use super::layout::entry;
use super::release::Release;
use std::fmt;

/// What the marker file says: written last when a folder is made, so a folder with one is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marker {
    /// The newest server that has run on the folder.
    pub(crate) release: Release,
    /// The server's id in binary logs, made up once for each folder.
    pub(crate) server_id: u32,
}

impl Marker {
    /// The marker's text.
    pub(crate) fn text(self) -> String {
        format!(
            "# A MariaDB data folder that Shuntyard made and runs a server on. Do not edit.\nformat=1\nversion={}\nserver_id={}\n",
            self.release, self.server_id
        )
    }

    /// Reads [`Marker::text`] back; `None` for anything else, other formats included.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        if value("format")? != "1" {
            return None;
        }
        Some(Self {
            release: Release::parse(value("version")?)?,
            server_id: value("server_id")?.parse().ok()?,
        })
    }
}

/// What was seen in a folder.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Names of the folder's entries.
    pub(crate) entries: Vec<String>,
    /// The marker's text.
    pub(crate) marker: Option<String>,
    /// Names of the folders inside MariaDB's data folder: its schemas, and `mysql`.
    pub(crate) schemas: Vec<String>,
    /// The server version that MariaDB's own upgrade record names.
    pub(crate) upgraded_to: Option<Release>,
}

/// What to do with a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Empty or absent: make it.
    Fresh,
    /// An initialisation of ours that did not come to its end, and nothing else: make it again.
    Leftovers,
    /// Ours and complete, last used by this release.
    Ours(Marker),
    /// Not to be used.
    Refused(Refusal),
}

/// Why a data folder is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It holds something, but was not made by Shuntyard.
    NotOurs {
        /// One of the entries that are not ours.
        entry: String,
    },
    /// It says that it is ours and complete, but its content does not fit.
    Damaged(String),
    /// A newer server has run on it.
    Newer {
        /// The release that has run on it.
        data: Release,
        /// The release found on this machine.
        server: Release,
    },
    /// Another Shuntyard process uses it.
    InUse {
        /// That process, where it could be read.
        pid: Option<u32>,
    },
    /// A server of an earlier run still runs on it.
    StillRunning {
        /// That server, where it could be read.
        pid: Option<u32>,
    },
}

/// [`entry::UNFINISHED`] before it is renamed into place.
const UNFINISHED_TMP: &str = "unfinished.tmp";

/// Schemas that an initialisation makes; any other folder there is somebody's data.
const INITIAL: &[&str] = &["mysql", "performance_schema", "sys", "test", "#rocksdb", "#innodb_redo"];

impl Verdict {
    /// Decides from what was `seen` whether `server` may run there.
    pub(crate) fn of(seen: &Seen, server: Release) -> Self {
        if let Some(text) = &seen.marker {
            return Self::of_marked(seen, text, server);
        }
        let has = |name: &str| seen.entries.iter().any(|e| e == name);
        let name = |e: &str| e.strip_suffix(".tmp").unwrap_or(e).to_owned();
        // What a start that was refused or killed at once leaves behind: less than an initialisation.
        let before = [entry::LOCK, entry::LOG, UNFINISHED_TMP];
        let untouched = has(entry::LOCK) || seen.entries.is_empty();
        if untouched && seen.entries.iter().all(|e| before.contains(&e.as_str())) {
            return Self::Fresh;
        }
        let begun = has(entry::UNFINISHED);
        let foreign = seen.entries.iter().find(|e| !begun || !entry::ALL.contains(&name(e).as_str()));
        let data = seen.schemas.iter().find(|s| !INITIAL.contains(&s.as_str()));
        match foreign.or(data) {
            Some(entry) => Self::Refused(Refusal::NotOurs { entry: entry.clone() }),
            None => Self::Leftovers,
        }
    }

    fn of_marked(seen: &Seen, text: &str, server: Release) -> Self {
        let Some(mut marker) = Marker::parse(text) else {
            return Self::Refused(Refusal::Damaged(format!(
                "its file {} is not readable to this version of Shuntyard",
                entry::MARKER
            )));
        };
        if !seen.schemas.iter().any(|s| s == "mysql") {
            return Self::Refused(Refusal::Damaged(format!("{}/mysql is missing", entry::DATA)));
        }
        // Whoever ran another server on the folder by hand left that server's record.
        if let Some(by_hand) = seen.upgraded_to {
            marker.release = marker.release.max(by_hand);
        }
        if marker.release.series() > server.series() {
            return Self::Refused(Refusal::Newer { data: marker.release, server });
        }
        Self::Ours(marker)
    }
}

fn process(pid: Option<u32>) -> String {
    pid.map_or_else(String::new, |pid| format!(" (process {pid})"))
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOurs { entry } => write!(
                f,
                "it is not empty ({entry:?} lies in it) and was not made by Shuntyard: name another folder"
            ),
            Self::Damaged(what) => write!(
                f,
                "{what}: put it back from a backup, or move the folder away to start with an empty server"
            ),
            Self::Newer { data, server } => write!(
                f,
                "MariaDB {data} has run on it and this machine's server is MariaDB {server}, which cannot read a newer one's data: install MariaDB {}.{} or newer, or name another folder",
                data.major, data.minor
            ),
            Self::InUse { pid } => {
                write!(f, "another Shuntyard{} uses it: stop that one, or name another folder", process(*pid))
            }
            Self::StillRunning { pid } => {
                write!(f, "a MariaDB server{} of an earlier run still runs on it", process(*pid))?;
                match pid {
                    Some(pid) => write!(f, ": stop it with `kill {pid}`"),
                    None => write!(f, ": stop it"),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
