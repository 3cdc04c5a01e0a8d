//! Answers as they may arrive.
#![expect(clippy::unwrap_used, reason = "tests")]

use serde_json::json;

use super::*;

#[test]
fn an_answer_has_a_status_and_a_body() {
    let reply = read(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n{\"a\":1}").unwrap();
    assert_eq!(reply, Reply { status: 200, body: json!({"a": 1}) });
    let reply = read(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n").unwrap();
    assert_eq!(reply, Reply { status: 404, body: Value::Null });
    let reply = read(b"HTTP/1.1 415 No\r\n\r\nwrong type\n").unwrap();
    assert_eq!(reply.body, json!({"error": "wrong type"}));
}

#[test]
fn what_is_no_answer_is_an_error_at_every_cut() {
    let whole = b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n{\"a\":1}";
    for end in 0..whole.len() {
        assert!(read(&whole[..end]).is_err(), "{end}");
    }
    for wrong in [
        &b"HTTP/1.0 200 OK\r\n\r\n"[..],
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n<p>",
        b"\xff\r\n\r\n",
    ] {
        assert!(read(wrong).is_err());
    }
}

#[test]
fn nobody_there_is_said_so() {
    let folder = tempfile::tempdir().unwrap();
    let error = call(folder.path(), "GET", "/status", None).unwrap_err();
    assert!(matches!(error, CallError::NotRunning { .. }), "{error}");
}
