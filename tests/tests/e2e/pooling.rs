//! Transaction pooling that nobody can see: every session answers as if it had a connection of its own.
//!
//! The oracle is a second server of the same kind with the same content, where each client has a connection of its own. The
//! proxy's clients share one connection or two.

mod cases;
mod hunt;
mod statements;
mod world;

use std::time::Duration;

use mysql_async::prelude::Queryable;
use shuntyard_tests::mariadb::MariaDb;
use shuntyard_tests::proxy::{Setup, eventually};

/// One client in a transaction holds the only connection: another one waits, and is told so in the end.
#[tokio::test]
async fn who_finds_no_connection_waits_and_is_told() {
    let Some(server) = MariaDb::shared() else { return };
    let proxy = Setup::mariadb(server.port()).sharing(1).line("timeouts: {wait: 1s}").start();
    let mut holder = proxy.server().connect().await;
    let mut other = proxy.server().connect().await;
    holder.query_drop("BEGIN").await.unwrap();
    let error = other.query_drop("SELECT 1").await.unwrap_err().to_string();
    assert!(error.contains("1040") && error.contains("limits.statements_per_backend"), "{error}");
    holder.query_drop("COMMIT").await.unwrap();
    other.query_drop("SELECT 1").await.unwrap();
    // A transaction that ends while somebody waits hands its connection on.
    holder.query_drop("BEGIN").await.unwrap();
    let waiting = tokio::spawn(async move { other.query_first::<u8, _>("SELECT 7").await.unwrap() });
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    holder.query_drop("ROLLBACK").await.unwrap();
    assert_eq!(waiting.await.unwrap(), Some(7));
}

/// Drivers that turn autocommit off share connections too, between their transactions.
#[tokio::test]
async fn sessions_without_autocommit_share_between_transactions() {
    let Some(server) = MariaDb::shared() else { return };
    let proxy = Setup::mariadb(server.port()).sharing(1).line("timeouts: {wait: 1s}").start();
    let mut straight = server.server().connect().await;
    straight.query_drop("CREATE DATABASE IF NOT EXISTS lazy").await.unwrap();
    straight.query_drop("CREATE OR REPLACE TABLE lazy.t (v INT)").await.unwrap();
    straight.query_drop("CREATE OR REPLACE TABLE lazy.m (v INT) ENGINE=MyISAM").await.unwrap();
    let mut clients = Vec::new();
    for _ in 0..4 {
        let mut conn = proxy.server().connect().await;
        conn.query_drop("SET autocommit = 0").await.unwrap();
        clients.push(conn);
    }
    for (n, conn) in clients.iter_mut().enumerate() {
        conn.query_drop(format!("INSERT INTO lazy.t VALUES ({n})")).await.unwrap();
        if n % 2 == 0 {
            conn.query_drop("COMMIT").await.unwrap()
        } else {
            conn.query_drop("ROLLBACK").await.unwrap()
        }
    }
    let rows: Vec<u8> = straight.query("SELECT v FROM lazy.t ORDER BY v").await.unwrap();
    assert_eq!(rows, [0, 2]);
    // A table without transactions is locked until the end as well, which the server does not tell.
    clients[0].query_drop("SELECT v FROM lazy.m").await.unwrap();
    let error = clients[1].query_drop("SELECT v FROM lazy.t").await.unwrap_err().to_string();
    assert!(error.contains("1040"), "{error}");
    clients[0].query_drop("COMMIT").await.unwrap();
    clients[1].query_drop("SELECT v FROM lazy.t").await.unwrap();
    straight.query_drop("ALTER TABLE lazy.m ADD COLUMN w INT").await.unwrap();
    clients[1].query_drop("ROLLBACK").await.unwrap();
    let mut fresh = proxy.server().connect().await;
    let on: u8 = fresh.query_first("SELECT @@autocommit").await.unwrap().unwrap();
    assert_eq!(on, 1);
    fresh.query_drop("INSERT INTO lazy.t VALUES (9)").await.unwrap();
    let rows: Vec<u8> = straight.query("SELECT v FROM lazy.t ORDER BY v").await.unwrap();
    assert_eq!(rows, [0, 2, 9]);
}

/// Nobody waits in a queue that is full.
/// Statements that only wait: the more run at once the more get done, until nobody waits any more.
#[tokio::test]
async fn the_number_of_connections_is_found_by_itself() {
    const CLIENTS: usize = 64;
    let Some(server) = MariaDb::shared() else { return };
    let proxy = Setup::mariadb(server.port()).line("pooling: transaction").start();
    let limit = async |conn: &mut mysql_async::Conn| -> usize {
        conn.query_first("SELECT statements_limit FROM shuntyard.backends").await.unwrap().unwrap()
    };
    let mut admin = proxy.server().connect().await;
    let first = limit(&mut admin).await;
    assert!(first < CLIENTS / 2, "{first}");
    let mut working = tokio::task::JoinSet::new();
    for _ in 0..CLIENTS {
        let mut conn = proxy.server().connect().await;
        working.spawn(async move {
            loop {
                conn.query_drop("SELECT SLEEP(0.03)").await.unwrap();
            }
        });
    }
    let mut found = first;
    for _ in 0..120 {
        tokio::time::sleep(Duration::from_millis(500)).await;
        found = limit(&mut admin).await;
        if found >= CLIENTS * 3 / 4 {
            break;
        }
    }
    assert!(found >= CLIENTS * 3 / 4, "{first} became {found}");
    working.shutdown().await;
}

#[tokio::test]
async fn a_full_queue_turns_away_at_once() {
    let Some(server) = MariaDb::shared() else { return };
    let proxy = Setup::mariadb(server.port())
        .line("pooling: transaction")
        .line("limits: {statements_per_backend: 1, queue: 1}")
        .line("timeouts: {wait: 20s}")
        .start();
    let mut holder = proxy.server().connect().await;
    let (mut first, mut second) = (proxy.server().connect().await, proxy.server().connect().await);
    holder.query_drop("BEGIN").await.unwrap();
    let waiting = tokio::spawn(async move { first.query_first::<u8, _>("SELECT 7").await.unwrap() });
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    let began = std::time::Instant::now();
    let error = second.query_drop("SELECT 1").await.unwrap_err().to_string();
    assert!(error.contains("1040") && error.contains("limits.queue"), "{error}");
    assert!(began.elapsed() < std::time::Duration::from_secs(5));
    holder.query_drop("COMMIT").await.unwrap();
    assert_eq!(waiting.await.unwrap(), Some(7));
    assert_eq!(second.query_first::<u8, _>("SELECT 8").await.unwrap(), Some(8));
}

/// What sessions close is closed at the server, and the budget holds.
#[tokio::test]
async fn prepared_statements_do_not_pile_up_at_the_server() {
    let Some(server) = MariaDb::start(&[]) else { return };
    let proxy = Setup::mariadb(server.port())
        .line("pooling: transaction")
        .line("limits: {statements_per_backend: 2, prepared_statements: 10}")
        .start();
    let mut straight = server.server().connect().await;
    let mut clients = [proxy.server().connect().await, proxy.server().connect().await];
    for n in 0..40 {
        for conn in &mut clients {
            let statement = conn.prep(format!("SELECT {n} + ?")).await.unwrap();
            let sum: u64 = conn.exec_first(&statement, (n,)).await.unwrap().unwrap();
            assert_eq!(sum, 2 * n);
            if n % 2 == 0 {
                conn.close(statement).await.unwrap();
            }
        }
    }
    for conn in &mut clients {
        conn.query_drop("SELECT 1").await.unwrap();
    }
    let (_, count): (String, usize) =
        straight.query_first("SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count'").await.unwrap().unwrap();
    assert!(count <= 11, "{count} statements are prepared");
}

/// The server never sees more connections than there are clients: what a client leaves parked closes with it, also where
/// another one has taken its connection meanwhile.
#[tokio::test]
async fn connections_leave_with_their_clients() {
    let Some(server) = MariaDb::start(&[]) else { return };
    let proxy = Setup::mariadb(server.port()).line("pooling: transaction").start();
    let mut straight = server.server().connect().await;
    straight.query_drop("CREATE DATABASE leaving").await.unwrap();
    let connections =
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'app' AND ID <> CONNECTION_ID()";
    let mut clients = Vec::new();
    for number in 0..6u8 {
        let mut client = proxy.server().connect().await;
        match number {
            // Two that keep theirs, four that share, one of these with a state of its own and something left behind.
            0 | 1 => client.query_drop("SET @a = 1").await.unwrap(),
            2 => {
                client.query_drop("USE leaving").await.unwrap();
                client.query_drop("SELECT 1 / 0").await.unwrap();
            }
            _ => client.query_drop("DO 1").await.unwrap(),
        }
        clients.push(client);
    }
    while let Some(client) = clients.pop() {
        client.disconnect().await.unwrap();
        let left = clients.len() as u64;
        eventually("a connection for each client", Duration::from_secs(10), async || {
            straight.query_first::<u64, _>(connections).await.unwrap().unwrap() == left
        })
        .await;
    }
}

/// Many clients at once over few connections: each reads back its own rows.
#[tokio::test(flavor = "multi_thread")]
async fn many_clients_over_two_connections() {
    let Some(server) = MariaDb::shared() else { return };
    let proxy = Setup::mariadb(server.port()).sharing(2).start();
    let mut first = proxy.server().connect().await;
    first.query_drop("CREATE DATABASE IF NOT EXISTS crowd").await.unwrap();
    first
        .query_drop("CREATE OR REPLACE TABLE crowd.t (id INT AUTO_INCREMENT PRIMARY KEY, c INT, n INT)")
        .await
        .unwrap();
    let clients: Vec<_> = (0..24)
        .map(|client| {
            let server = proxy.server();
            tokio::spawn(async move {
                let mut conn = server.connect().await;
                if client % 3 == 0 {
                    conn.query_drop("USE crowd").await.unwrap();
                    conn.query_drop("SET SESSION group_concat_max_len = 4096").await.unwrap();
                }
                for n in 0..40u64 {
                    conn.query_drop("BEGIN").await.unwrap();
                    conn.query_drop(format!("INSERT INTO crowd.t (c, n) VALUES ({client}, {n})"))
                        .await
                        .unwrap();
                    conn.query_drop("COMMIT").await.unwrap();
                    let id: u64 = conn.query_first("SELECT LAST_INSERT_ID()").await.unwrap().unwrap();
                    let found: (u64, u64) = conn
                        .query_first(format!("SELECT c, n FROM crowd.t WHERE id = {id}"))
                        .await
                        .unwrap()
                        .unwrap();
                    assert_eq!(found, (client, n));
                    let length: u64 =
                        conn.query_first("SELECT @@group_concat_max_len").await.unwrap().unwrap();
                    assert_eq!(length == 4096, client % 3 == 0);
                    let schema: Option<String> =
                        conn.query_first("SELECT DATABASE()").await.unwrap().unwrap();
                    assert_eq!(schema.is_some(), client % 3 == 0);
                }
            })
        })
        .collect();
    for client in clients {
        client.await.unwrap();
    }
    let open: u64 = first
        .query_first(
            "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'app' AND DB = 'crowd'",
        )
        .await
        .unwrap()
        .unwrap();
    assert!(open <= 2, "{open} connections");
}

/// A shared connection that dies takes the last insert's id along, and nothing else: the session goes on.
#[tokio::test]
async fn a_shared_connection_that_dies_ends_no_session() {
    let Some(server) = MariaDb::start(&[]) else { return };
    let proxy = Setup::mariadb(server.port()).sharing(1).start();
    let mut straight = server.server().connect().await;
    straight.query_drop("CREATE DATABASE IF NOT EXISTS dying").await.unwrap();
    straight
        .query_drop("CREATE OR REPLACE TABLE dying.t (id INT AUTO_INCREMENT PRIMARY KEY, v INT)")
        .await
        .unwrap();
    let mut conn = proxy.server().connect().await;
    conn.query_drop("INSERT INTO dying.t (v) VALUES (1)").await.unwrap();
    let thread: u64 = straight
        .query_first("SELECT ID FROM information_schema.PROCESSLIST WHERE USER = 'app' AND COMMAND = 'Sleep' AND ID <> CONNECTION_ID() ORDER BY ID DESC LIMIT 1")
        .await
        .unwrap()
        .unwrap();
    straight.query_drop(format!("KILL {thread}")).await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    let lost = conn.query_first::<u64, _>("SELECT LAST_INSERT_ID()").await.unwrap_err().to_string();
    assert!(lost.contains("1105"), "{lost}");
    assert_eq!(conn.query_first::<u8, _>("SELECT 5").await.unwrap(), Some(5));
    conn.query_drop("INSERT INTO dying.t (id, v) VALUES (1000, 2)").await.unwrap();
    assert!(
        conn.query_first::<u64, _>("SELECT LAST_INSERT_ID()").await.is_err(),
        "an id of its own sets nothing"
    );
    conn.query_drop("INSERT INTO dying.t (v) VALUES (3)").await.unwrap();
    assert_eq!(conn.query_first::<u64, _>("SELECT LAST_INSERT_ID()").await.unwrap(), Some(1001));
}

/// A session that logs in anew has no claim on what it parked as somebody else, or with another schema.
#[tokio::test]
async fn a_changed_user_starts_anew() {
    let Some(server) = MariaDb::shared() else { return };
    let proxy = Setup::mariadb(server.port()).sharing(2).start();
    let mut conn = proxy.server().connect().await;
    conn.query_drop("CREATE DATABASE IF NOT EXISTS one").await.unwrap();
    conn.query_drop("CREATE DATABASE IF NOT EXISTS two").await.unwrap();
    conn.query_drop("USE one").await.unwrap();
    conn.query_drop("SET sql_mode = ''").await.unwrap();
    let options = mysql_async::ChangeUserOpts::default().with_db_name(Some("two".to_owned()));
    conn.change_user(options).await.unwrap();
    let mut other = proxy.server().connect().await;
    for _ in 0..4 {
        other.query_drop("SELECT 1").await.unwrap();
        let (schema, mode): (String, String) =
            conn.query_first("SELECT DATABASE(), @@sql_mode").await.unwrap().unwrap();
        assert_eq!(schema, "two");
        assert_ne!(mode, "");
    }
}
