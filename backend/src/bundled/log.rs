//! A bundled server's log file, which is also the proof that the server lives.
//!
//! The server process holds the log as its standard output and error for its whole life, and a lock
//! on an open file goes with it to the process. So whoever cannot lock the log knows that a server
//! still runs, whatever became of the Shuntyard that started it; no pid can be mistaken.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

/// A log larger than this, in bytes, is put aside when the server is started.
const ROTATE: u64 = 16 * 1024 * 1024;
/// How much of the log's end is looked at for an error message, in bytes.
const TAIL: u64 = 8 * 1024;
/// How many of its lines are quoted.
const LINES: usize = 6;

/// Opens the log for appending and locks it; `None` while a server holds it. `old` takes a log that
/// has grown large.
pub(crate) fn open(path: &Path, old: &Path) -> io::Result<Option<File>> {
    let Some(file) = lock(path)? else {
        return Ok(None);
    };
    if file.metadata()?.len() < ROTATE {
        return Ok(Some(file));
    }
    std::fs::rename(path, old)?;
    lock(path)
}

fn lock(path: &Path) -> io::Result<Option<File>> {
    let file = OpenOptions::new().create(true).append(true).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Reads what was written from byte `from` on, at most the last [`TAIL`] bytes of it.
pub(crate) fn read_end(path: &Path, from: u64) -> io::Result<String> {
    let mut file = File::open(path)?;
    let end = file.metadata()?.len();
    file.seek(SeekFrom::Start(from.max(end.saturating_sub(TAIL))))?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The lines of a log's end that say what is wrong: its errors, or where there are none its last lines.
pub(crate) fn quote(end: &str) -> String {
    let errors: Vec<&str> = end.lines().filter(|l| l.contains("[ERROR]")).collect();
    let all: Vec<&str> = end.lines().filter(|l| !l.trim().is_empty()).collect();
    let lines = if errors.is_empty() { all } else { errors };
    let skip = lines.len().saturating_sub(LINES);
    lines.into_iter().skip(skip).collect::<Vec<_>>().join("\n")
}

/// One text for an error message: where the log is, and its end from byte `from` on.
pub(crate) fn describe(path: &Path, from: u64) -> String {
    match read_end(path, from).map(|end| quote(&end)) {
        Ok(lines) if lines.is_empty() => format!("its log {} says nothing", path.display()),
        Ok(lines) => format!("its log {} ends:\n{lines}", path.display()),
        Err(error) => format!("its log {} cannot be read: {error}", path.display()),
    }
}

#[cfg(test)]
mod tests;
