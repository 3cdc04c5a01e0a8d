//! What reading a configuration needs besides the text: its folder, the environment, who else can read it.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use sql::source::Faults;
use sql::yaml::Node;

/// Passed to every part of the reading.
pub(super) struct Reader<'f> {
    pub(super) faults: &'f Faults,
    /// Relative paths start here.
    pub(super) folder: &'f Path,
    /// Everybody on this machine may read the file.
    pub(super) exposed: bool,
    /// The value of an environment variable.
    pub(super) environment: &'f dyn Fn(&str) -> Option<String>,
}

impl Reader<'_> {
    /// A path, relative ones joined to the configuration's folder; it need not exist.
    pub(super) fn path(&self, node: &Node, what: &str) -> Option<PathBuf> {
        let text = node.text(what, self.faults)?;
        if text.is_empty() {
            self.faults.add(node.span, format!("expected {what}, found an empty text"));
            return None;
        }
        Some(self.resolve(text))
    }

    /// As [`Self::path`], of a file that can be opened.
    pub(super) fn file(&self, node: &Node, what: &str) -> Option<PathBuf> {
        let path = self.path(node, what)?;
        match File::open(&path).and_then(|file| file.metadata()) {
            Ok(known) if known.is_file() => Some(path),
            Ok(_) => {
                self.faults.add(node.span, format!("{} is not a file", path.display()));
                None
            }
            Err(error) => {
                self.faults.add(node.span, format!("{} cannot be read: {error}", path.display()));
                None
            }
        }
    }

    pub(super) fn resolve(&self, text: &str) -> PathBuf {
        self.folder.join(text.strip_prefix("./").unwrap_or(text))
    }
}

/// A text file of at most `max` bytes.
pub(super) fn text(path: &Path, max: u64) -> io::Result<String> {
    let mut text = String::new();
    let read = File::open(path)?.take(max.saturating_add(1)).read_to_string(&mut text)?;
    if read as u64 > max {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {max} bytes")));
    }
    Ok(text)
}

/// Whether users other than its owner and group may read a file; not where it cannot be told.
pub(super) fn world_readable(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o004 != 0)
}
