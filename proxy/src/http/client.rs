//! The command line's side of the control socket: one HTTP/1.1 request over a Unix socket.
//!
//! Blocking and small on purpose: it speaks to our own server only, which answers with `Content-Length` or closes.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

/// The largest answer, in bytes.
const ANSWER_MAX: u64 = 64 << 20;
/// How long the proxy may take: a reload reads files, an explain may ask a server.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the proxy answered.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reply {
    /// The HTTP status.
    pub(crate) status: u16,
    /// The body.
    pub(crate) body: Value,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    /// Nothing listens there.
    #[error("no Shuntyard runs with this data folder: {} ({source})", path.display())]
    NotRunning {
        /// The socket.
        path: PathBuf,
        /// What connecting said.
        source: io::Error,
    },
    /// The socket belongs to somebody else.
    #[error("{} may only be opened by the user who runs Shuntyard", path.display())]
    NotAllowed {
        /// The socket.
        path: PathBuf,
    },
    /// The connection broke or took too long.
    #[error("the running Shuntyard did not answer: {0}")]
    Io(#[from] io::Error),
    /// The answer is no HTTP with JSON.
    #[error("the running Shuntyard answered with something else than JSON: {0}")]
    Answer(&'static str),
}

/// Asks the proxy that runs with this data folder; with a body it is a POST, `GET` is for `/status`.
///
/// # Errors
/// See [`CallError`]. A status other than 200 is none: its body says what was wrong.
pub(crate) fn call(
    data: &Path,
    method: &str,
    target: &str,
    body: Option<&Value>,
) -> Result<Reply, CallError> {
    let path = data.join(super::SOCKET);
    let mut stream = UnixStream::connect(&path).map_err(|source| match source.kind() {
        io::ErrorKind::PermissionDenied => CallError::NotAllowed { path },
        _ => CallError::NotRunning { path, source },
    })?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let body = body.map(Value::to_string).unwrap_or_default();
    let head = format!(
        "{method} {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())?;
    let mut answer = Vec::new();
    stream.take(ANSWER_MAX).read_to_end(&mut answer)?;
    read(&answer)
}

fn read(answer: &[u8]) -> Result<Reply, CallError> {
    let at = memchr::memmem::find(answer, b"\r\n\r\n").ok_or(CallError::Answer("no head"))?;
    let (head, rest) = answer.split_at_checked(at).ok_or(CallError::Answer("no head"))?;
    let head = std::str::from_utf8(head).map_err(|_| CallError::Answer("a head that is not text"))?;
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.strip_prefix("HTTP/1.1 ")).and_then(|line| line.get(..3));
    let status = status.and_then(|code| code.parse().ok()).ok_or(CallError::Answer("no status"))?;
    let length = lines.filter_map(|line| line.split_once(':')).find_map(|(name, value)| {
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())
    });
    let body = rest.get(4..).unwrap_or_default();
    let body = match length {
        Some(Some(length)) => body.get(..length).ok_or(CallError::Answer("a body that was cut short"))?,
        Some(None) => return Err(CallError::Answer("a length that is no number")),
        None => body,
    };
    if body.is_empty() {
        return Ok(Reply { status, body: Value::Null });
    }
    match serde_json::from_slice(body) {
        Ok(body) => Ok(Reply { status, body }),
        // axum's own refusals are plain text.
        Err(_) if status != 200 => {
            let text = String::from_utf8_lossy(body).trim().to_owned();
            Ok(Reply { status, body: serde_json::json!({"error": text}) })
        }
        Err(_) => Err(CallError::Answer("a body that is not JSON")),
    }
}

#[cfg(test)]
mod tests;
