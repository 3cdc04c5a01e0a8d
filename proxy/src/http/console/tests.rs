//! A real server on a port of its own, asked over TCP.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use super::*;
use crate::admin::tests::Fixture;
use crate::admin::{BackendRow, RuleRow};
use crate::stats::Registry;

async fn start(source: Arc<dyn Source>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve(listener, source, std::future::pending()));
    address
}

/// Head and body of the answer.
async fn ask(address: SocketAddr, method: &str, target: &str, host: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_lowercase(), body.to_owned())
}

fn status(head: &str) -> u16 {
    head.split(' ').nth(1).unwrap().parse().unwrap()
}

#[tokio::test]
async fn every_path_answers_with_safe_headers() {
    let address = start(Arc::new(Fixture::new())).await;
    for (target, kind) in [
        ("/", "text/html; charset=utf-8"),
        ("/console.css", "text/css; charset=utf-8"),
        ("/metrics", "application/openmetrics-text"),
        ("/livez", "text/plain"),
        ("/readyz", "text/plain"),
    ] {
        let (head, body) = ask(address, "GET", target, "127.0.0.1:4380").await;
        assert_eq!(status(&head), 200, "{target}: {head}");
        assert!(head.contains(&format!("content-type: {kind}")), "{target}: {head}");
        for header in
            ["content-security-policy: default-src 'none'", "nosniff", "x-frame-options: deny", "no-store"]
        {
            assert!(head.contains(header), "{target} without {header}: {head}");
        }
        assert!(!body.is_empty(), "{target}");
        let (head, body) = ask(address, "HEAD", target, "localhost").await;
        assert_eq!((status(&head), body.as_str()), (200, ""), "{target}");
        for method in ["POST", "PUT", "DELETE"] {
            assert_eq!(status(&ask(address, method, target, "localhost").await.0), 405, "{method} {target}");
        }
    }
    assert_eq!(status(&ask(address, "GET", "/../etc/passwd", "localhost").await.0), 404);
}

#[tokio::test]
async fn a_foreign_host_cannot_read_the_console() {
    let address = start(Arc::new(Fixture::new())).await;
    for host in [
        "evil.example",
        "evil.example:4380",
        "127.0.0.1.evil.example",
        "localhost.evil.example:80",
        "",
        "[::1",
    ] {
        let (head, body) = ask(address, "GET", "/", host).await;
        assert_ne!(status(&head), 200, "{host}");
        assert!(!body.contains("orders"), "{host}");
    }
    for host in ["127.0.0.1", "localhost:4380", "[::1]:4380", "10.1.2.3:80", "LOCALHOST"] {
        assert_eq!(status(&ask(address, "GET", "/", host).await.0), 200, "{host}");
    }
    assert_eq!(status(&ask(address, "GET", "/metrics", "shuntyard:4380").await.0), 200);
}

#[tokio::test]
async fn the_page_says_what_is_going_on_and_escapes_it() {
    let address = start(Arc::new(Fixture::new())).await;
    let (_, page) = ask(address, "GET", "/", "localhost").await;
    for part in [
        "SELECT ? FROM `orders`",
        "union-limit",
        "1 of 2 backends up",
        "<meta http-equiv=\"refresh\"",
        "<svg",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(page.contains("connection refused &lt;script&gt;") && !page.contains("<script"), "{page}");
    assert!(!page.contains(" style=") && !page.contains(" onload="));
    let (_, page) = ask(address, "GET", "/?refresh=off", "localhost").await;
    assert!(!page.contains("http-equiv"));
}

#[tokio::test]
async fn the_metrics_are_what_prometheus_reads() {
    let address = start(Arc::new(Fixture::new())).await;
    let (_, text) = ask(address, "GET", "/metrics", "localhost").await;
    for line in [
        "shuntyard_queries_total 3",
        "shuntyard_connected 2",
        "shuntyard_backend_up{backend=\"s1\"} 1",
        "shuntyard_backend_up{backend=\"s2\"} 0",
        "shuntyard_backend_failures_total{backend=\"s2\"} 3",
        "shuntyard_rule_fired_total{rule=\"union-limit\",mode=\"enabled\"} 41",
        "shuntyard_latency_seconds_bucket{le=\"0.0001\"} 0",
        "shuntyard_latency_seconds_bucket{le=\"0.0005\"} 3",
        "shuntyard_latency_seconds_bucket{le=\"+Inf\"} 3",
        "shuntyard_latency_seconds_count 3",
        "# TYPE shuntyard_latency_seconds histogram",
        "# EOF",
    ] {
        assert!(text.lines().any(|found| found.trim_end_matches(".0") == line), "{line} is not in\n{text}");
    }
    assert!(!text.contains("orders"), "no statement is a label");
    let mut names: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    let families = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), families, "two families of one name");
}

/// The fixture with another state.
struct Other {
    inner: Fixture,
    up: bool,
    draining: bool,
}

impl Source for Other {
    fn registry(&self) -> &Registry {
        self.inner.registry()
    }

    fn backends(&self) -> Vec<BackendRow> {
        self.inner.backends().into_iter().filter(|row| self.up || row.state != "up").collect()
    }

    fn rules(&self) -> Vec<RuleRow> {
        Vec::new()
    }

    fn rules_on(&self) -> bool {
        false
    }

    fn draining(&self) -> bool {
        self.draining
    }

    fn status(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}

#[tokio::test]
async fn ready_is_with_a_backend_and_not_draining() {
    for (up, draining, expected) in [(true, false, 200), (false, false, 503), (true, true, 503)] {
        let address = start(Arc::new(Other { inner: Fixture::new(), up, draining })).await;
        assert_eq!(status(&ask(address, "GET", "/readyz", "shuntyard").await.0), expected);
        assert_eq!(status(&ask(address, "GET", "/livez", "shuntyard").await.0), 200);
        let (_, page) = ask(address, "GET", "/", "localhost").await;
        assert!(page.contains("rules off") && page.contains("No rules are loaded."));
        assert_eq!(page.contains("draining"), draining);
    }
}

#[tokio::test]
async fn an_idle_peer_is_thrown_out_and_cannot_take_all_places() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let bounded = Bounded::new(listener, 2, Duration::from_millis(200));
    let (_stop, stopped) = oneshot::channel::<()>();
    let served = axum::serve(bounded, router(Arc::new(Fixture::new())));
    tokio::spawn(served.with_graceful_shutdown(async { drop(stopped.await) }).into_future());
    let mut idle = Vec::new();
    for _ in 0..2 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"GET / HTT").await.unwrap();
        idle.push(stream);
    }
    // Answered once an idle connection has reached its end.
    assert_eq!(status(&ask(address, "GET", "/livez", "localhost").await.0), 200);
    for mut stream in idle {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest).await;
        assert!(!String::from_utf8_lossy(&rest).contains(" 200 "));
    }
}
