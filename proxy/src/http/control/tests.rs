//! A real socket, asked by the real client.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use sql::source::Span;
use tokio::sync::oneshot;

use super::super::client::Reply;
use super::super::{SOCKET, call};
use super::*;
use crate::admin::tests::Fixture;

struct Proxy {
    source: Fixture,
    faulty: bool,
    drained: AtomicBool,
}

impl Control for Proxy {
    fn source(&self) -> &dyn Source {
        &self.source
    }

    fn reload(&self) -> Task<'_, Result<Reloaded, Vec<Fault>>> {
        Box::pin(async {
            if self.faulty {
                return Err(vec![Fault::new("rules/a.yaml", Span { line: 3, column: 7 }, "no such pass")]);
            }
            Ok(Reloaded { rules: 2, needs_restart: vec!["listen"] })
        })
    }

    fn drain(&self) {
        self.drained.store(true, SeqCst);
    }

    fn explain(&self, request: Explain) -> Task<'_, Result<Value, String>> {
        Box::pin(async move {
            match request.sql.as_str() {
                "" => Err("nothing to explain".into()),
                sql => Ok(json!({"sql": sql, "schema": request.schema})),
            }
        })
    }
}

struct Running {
    folder: tempfile::TempDir,
    proxy: Arc<Proxy>,
    stop: oneshot::Sender<()>,
    task: tokio::task::JoinHandle<io::Result<()>>,
}

impl Running {
    fn start(faulty: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let proxy = Arc::new(Proxy { source: Fixture::new(), faulty, drained: AtomicBool::new(false) });
        let socket = Socket::bind(folder.path()).unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let control: Arc<dyn Control> = proxy.clone();
        let task = tokio::spawn(serve(socket, control, async { drop(stopped.await) }));
        Self { folder, proxy, stop, task }
    }

    async fn ask(&self, method: &'static str, target: &'static str, body: Option<Value>) -> Reply {
        let data = self.folder.path().to_owned();
        tokio::task::spawn_blocking(move || call(&data, method, target, body.as_ref()).unwrap())
            .await
            .unwrap()
    }
}

#[tokio::test]
async fn the_command_line_is_answered() {
    let running = Running::start(false);
    let status = running.ask("GET", "/status", None).await;
    assert_eq!(status.status, 200);
    assert_eq!(status.body.pointer("/status/rules"), Some(&json!("ON")));
    assert_eq!(status.body.pointer("/backends/0/name"), Some(&json!("s1")));
    assert_eq!(status.body.pointer("/backends/1/server_version"), Some(&Value::Null));
    assert_eq!(status.body.pointer("/rules/0/fired"), Some(&json!(41)));
    let reload = running.ask("POST", "/reload", None).await;
    assert_eq!(reload, Reply { status: 200, body: json!({"rules": 2, "needs_restart": ["listen"]}) });
    let explain = running.ask("POST", "/explain", Some(json!({"sql": "SELECT 'é'", "schema": "shop"}))).await;
    assert_eq!(explain.body, json!({"sql": "SELECT 'é'", "schema": "shop"}));
    assert!(!running.proxy.drained.load(SeqCst));
    let drain = running.ask("POST", "/drain", None).await;
    assert_eq!(drain.body, json!({"draining": true, "sessions": 1}));
    assert!(running.proxy.drained.load(SeqCst));
}

#[tokio::test]
async fn what_is_wrong_is_told() {
    let running = Running::start(true);
    let reload = running.ask("POST", "/reload", None).await;
    assert_eq!(reload.status, 422);
    let fault = json!({"file": "rules/a.yaml", "line": 3, "column": 7, "message": "no such pass"});
    assert_eq!(reload.body, json!({"faults": [fault]}));
    let empty = running.ask("POST", "/explain", Some(json!({"sql": ""}))).await;
    assert_eq!(empty, Reply { status: 422, body: json!({"error": "nothing to explain"}) });
    for (method, target, body, status) in [
        ("GET", "/reload", None, 405),
        ("POST", "/explain", Some(json!({"text": ""})), 422),
        ("POST", "/explain", None, 400),
        ("GET", "/", None, 404),
    ] {
        assert_eq!(running.ask(method, target, body).await.status, status, "{method} {target}");
    }
}

#[tokio::test]
async fn a_long_statement_is_explained() {
    let running = Running::start(false);
    let sql = "SELECT 1 /* ".to_owned() + &"x".repeat(8 << 20) + "*/";
    let explain = running.ask("POST", "/explain", Some(json!({"sql": sql}))).await;
    assert_eq!(explain.body.pointer("/sql").unwrap().as_str().unwrap().len(), sql.len());
}

#[tokio::test]
async fn the_socket_is_its_owners_alone_and_goes_with_the_proxy() {
    let running = Running::start(false);
    let path = running.folder.path().join(SOCKET);
    let metadata = fs::metadata(&path).unwrap();
    assert!(metadata.file_type().is_socket());
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    let names: Vec<_> =
        fs::read_dir(running.folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, [SOCKET]);
    let again = Socket::bind(running.folder.path()).unwrap_err();
    assert_eq!(again.kind(), io::ErrorKind::AddrInUse);
    running.stop.send(()).unwrap();
    running.task.await.unwrap().unwrap();
    assert!(!path.exists());
}

#[tokio::test]
async fn what_a_killed_proxy_left_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    drop(UnixListener::bind(folder.path().join(SOCKET)).unwrap());
    let socket = Socket::bind(folder.path()).unwrap();
    let path = folder.path().join(SOCKET);
    // A newer proxy's file is not removed by the older one.
    fs::remove_file(&path).unwrap();
    fs::write(&path, "somebody else's").unwrap();
    drop(socket);
    assert!(path.exists());
    assert!(Socket::bind(Path::new("/nonexistent/folder")).is_err());
}
