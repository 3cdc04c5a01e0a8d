//! KILL, CONNECTION_ID and the processlist speak of the client's own session; timeouts end statements.

use std::time::{Duration, Instant};

use mysql_async::Error;
use mysql_async::prelude::Queryable;
use shuntyard_tests::client::Server;
use shuntyard_tests::mariadb::MariaDb;
use shuntyard_tests::mysql::MySql;
use shuntyard_tests::proxy::{Proxy, Setup};
use shuntyard_tests::raw;
use tokio::time::timeout;
use wire::Command;

/// Runs for hours. (BENCHMARK and SLEEP answer 0 or 1 in place of an error when they are killed.)
const BUSY: &str = "SELECT COUNT(*) FROM mysql.seq_1_to_100000000 a, mysql.seq_1_to_1000000 b";

const SOON: Duration = Duration::from_secs(10);

fn start(lines: &[&str]) -> Option<Proxy> {
    let server = MariaDb::shared()?;
    Some(lines.iter().fold(Setup::mariadb(server.port()), |setup, line| setup.line(line)).start())
}

fn code(result: Result<(), Error>) -> u16 {
    match result {
        Ok(()) => 0,
        Err(Error::Server(e)) => e.code,
        Err(other) => panic!("{other}"),
    }
}

/// The id that statements of a connection know it by.
async fn id(conn: &mut mysql_async::Conn) -> u64 {
    conn.query_first("SELECT CONNECTION_ID()").await.unwrap().unwrap()
}

/// CONNECTION_ID() is the backend's own number in this version: a KILL understands both.
#[tokio::test]
async fn kill_understands_the_greetings_id_and_connection_id() {
    let Some(proxy) = start(&[]) else { return };
    let mut killer = proxy.server().connect().await;
    let mut victim = proxy.server().connect().await;
    let greeted = u64::from(victim.id());
    let mut other = proxy.server().connect().await;
    let backends = id(&mut other).await;
    for (id, victim) in [(greeted, &mut victim), (backends, &mut other)] {
        killer.query_drop(format!("KILL {id}")).await.unwrap();
        assert!(timeout(SOON, victim.query_drop("SELECT 1")).await.expect("no hang").is_err());
    }
}

async fn kill_query(server: Server) {
    let mut victim = server.connect().await;
    let target = victim.id();
    let running = tokio::spawn(async move {
        let from = Instant::now();
        let result =
            victim.query_first::<u64, _>("SELECT SLEEP(30) + COUNT(*) FROM information_schema.tables").await;
        (victim, result.is_err(), from.elapsed())
    });
    tokio::time::sleep(Duration::from_millis(500)).await;
    let mut killer = server.connect().await;
    killer.query_drop(format!("KILL QUERY {target}")).await.unwrap();
    let (mut victim, failed, took) = timeout(SOON, running).await.expect("the statement ends").unwrap();
    assert!(took < Duration::from_secs(5), "{took:?}");
    let _ = failed;
    assert_eq!(victim.query_first::<u8, _>("SELECT 7").await.unwrap(), Some(7), "the session lives");
}

#[tokio::test]
async fn kill_query_ends_the_statement_and_not_the_session() {
    let Some(proxy) = start(&[]) else { return };
    kill_query(proxy.server()).await;
}

#[tokio::test]
async fn kill_query_at_mysql() {
    let Some(server) = MySql::shared().await else { return };
    let proxy = Setup::mysql(server.port()).start();
    kill_query(proxy.server()).await;
}

#[tokio::test]
async fn kill_query_is_error_1317_for_the_killed() {
    let Some(proxy) = start(&[]) else { return };
    let mut victim = proxy.server().connect().await;
    let target = victim.id();
    let running = tokio::spawn(async move { victim.query_drop(BUSY).await });
    tokio::time::sleep(Duration::from_millis(500)).await;
    proxy.server().connect().await.query_drop(format!("KILL QUERY {target}")).await.unwrap();
    assert_eq!(code(timeout(SOON, running).await.expect("no hang").unwrap()), 1317);
}

#[tokio::test]
async fn kill_connection_ends_the_session() {
    let Some(proxy) = start(&[]) else { return };
    for form in ["KILL", "KILL CONNECTION", "/* a comment */ kill hard connection"] {
        let mut victim = proxy.server().connect().await;
        victim.query_drop("SELECT 1").await.unwrap();
        let target = id(&mut victim).await;
        proxy.server().connect().await.query_drop(format!("{form} {target}")).await.unwrap();
        tokio::time::sleep(Duration::from_millis(200)).await;
        let after = timeout(SOON, victim.query_drop("SELECT 1")).await.expect("no hang");
        assert!(after.is_err(), "{form}");
    }
}

#[tokio::test]
async fn com_process_kill_kills() {
    let Some(proxy) = start(&[]) else { return };
    let mut victim = proxy.server().connect().await;
    let target = victim.id();
    let server = proxy.server();
    tokio::task::spawn_blocking(move || {
        let mut killer = raw::Client::login(&server, None, raw::modern()).unwrap();
        killer.run(&Command::ProcessKill(target)).unwrap();
    })
    .await
    .unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(timeout(SOON, victim.query_drop("SELECT 1")).await.expect("no hang").is_err());
}

#[tokio::test]
async fn killing_nobody_oneself_or_somebody_elses() {
    let Some(proxy) = start(&[]) else { return };
    let mut conn = proxy.server().connect().await;
    assert_eq!(code(conn.query_drop("KILL 4294967290").await), 1094, "no such thread");
    let mut reader = proxy.server().as_user("reader", "reader").connect().await;
    assert_eq!(code(reader.query_drop(format!("KILL {}", conn.id())).await), 1095, "not the owner");
    conn.query_drop("SELECT 'unharmed'").await.unwrap();
    let own = conn.id();
    let killed = conn.query_drop(format!("KILL {own}")).await;
    assert!(killed.is_err(), "killing oneself ends the session: {killed:?}");
}

#[tokio::test]
async fn a_statement_timeout_ends_the_statement() {
    let Some(proxy) = start(&["timeouts: {statement: 1s}"]) else { return };
    let mut conn = proxy.server().connect().await;
    let from = Instant::now();
    let result = timeout(SOON, conn.query_drop(BUSY)).await.expect("no hang");
    assert!(result.is_err());
    assert!(from.elapsed() < Duration::from_secs(4), "{:?}", from.elapsed());
    assert_eq!(conn.query_first::<u8, _>("SELECT 1").await.unwrap(), Some(1), "the session lives");
}

#[tokio::test]
async fn an_idle_session_is_closed() {
    let Some(proxy) = start(&["timeouts: {idle: 1s}"]) else { return };
    let mut conn = proxy.server().connect().await;
    conn.query_drop("SELECT 1").await.unwrap();
    tokio::time::sleep(Duration::from_millis(2500)).await;
    assert!(conn.query_drop("SELECT 1").await.is_err());
}

/// What a client reads after a KILL of its session while it waited for nothing, and while a statement ran.
fn killed(server: &Server, running: bool) -> Vec<String> {
    let mut victim = raw::Client::login(server, None, raw::modern()).unwrap();
    let mut killer = raw::Client::login(server, None, raw::modern()).unwrap();
    victim.stream().set_read_timeout(Some(SOON)).unwrap();
    victim.query(b"SELECT 1").unwrap();
    let id = victim.thread_id();
    if running {
        victim.send(&Command::Query(wire::Query::new(b"SELECT SLEEP(30) FROM DUAL"))).unwrap();
        std::thread::sleep(Duration::from_millis(500));
    }
    killer.query(format!("KILL {id}").as_bytes()).unwrap();
    let mut said = Vec::new();
    while let Ok(packet) = victim.packet() {
        said.push(packet.escape_ascii().to_string());
    }
    said
}

#[tokio::test]
async fn the_killed_are_told_what_a_server_tells() {
    let mut places = Vec::new();
    if let Some(server) = MariaDb::shared() {
        places.push((server.server(), Setup::mariadb(server.port())));
    }
    if let Some(server) = MySql::shared().await {
        places.push((server.server(), Setup::mysql(server.port())));
    }
    for (straight, setup) in places {
        for pooling in ["session", "transaction"] {
            let proxy = setup.clone().line(&format!("pooling: {pooling}")).start();
            let (straight, proxied) = (straight.clone(), proxy.server());
            tokio::task::spawn_blocking(move || {
                for running in [false, true] {
                    assert_eq!(killed(&straight, running), killed(&proxied, running), "{pooling} {running}");
                }
            })
            .await
            .unwrap();
        }
    }
}

/// Sessions that hold no connection belong to their user as well.
#[tokio::test]
async fn kill_user_ends_sessions_without_a_connection() {
    let Some(server) = MariaDb::shared() else { return };
    let Some(proxy) = start(&["pooling: transaction"]) else { return };
    let mut root = server.server().connect().await;
    root.query_drop("CREATE OR REPLACE USER k_one@'%' IDENTIFIED BY 'k', k_two@'%' IDENTIFIED BY 'k'")
        .await
        .unwrap();
    let (one, two) = (proxy.server().as_user("k_one", "k"), proxy.server().as_user("k_two", "k"));
    let (mut victim, mut other) = (one.connect().await, two.connect().await);
    let mut killer = proxy.server().connect().await;
    for (statement, lives) in [
        ("KILL QUERY USER k_one", true),
        ("KILL USER k_one@nohost", true),
        ("KILL HARD CONNECTION USER k_one@localhost", false),
    ] {
        for conn in [&mut victim, &mut other] {
            conn.query_drop("SELECT 1").await.unwrap();
        }
        killer.query_drop(statement).await.unwrap();
        tokio::time::sleep(Duration::from_millis(300)).await;
        let after = timeout(SOON, victim.query_drop("SELECT 1")).await.expect("no hang");
        assert_eq!(after.is_ok(), lives, "{statement}: {after:?}");
        other.query_drop("SELECT 1").await.unwrap();
    }
    // Whose right it is: a user without privileges ends sessions of its own only.
    let mut victim = one.connect().await;
    victim.query_drop("SELECT 1").await.unwrap();
    let _ = other.query_drop("KILL USER k_one").await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    victim.query_drop("SELECT 1").await.unwrap();
    root.query_drop("DROP USER k_one@'%', k_two@'%'").await.unwrap();
}
