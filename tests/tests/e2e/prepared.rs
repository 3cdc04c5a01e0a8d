//! What drivers rarely do with prepared statements: long data, cursors, thousands of parameters, changed tables.

use mysql_async::prelude::Queryable;
use mysql_async::{Params, Value};
use shuntyard_tests::client::Server;
use shuntyard_tests::mariadb::MariaDb;
use shuntyard_tests::mysql::MySql;
use shuntyard_tests::proxy::{Proxy, Setup};
use shuntyard_tests::raw;
use wire::{Command, StmtExecute};

/// CURSOR_TYPE_READ_ONLY of COM_STMT_EXECUTE.
const READ_ONLY: u8 = 1;
/// SERVER_STATUS_CURSOR_EXISTS and SERVER_STATUS_LAST_ROW_SENT.
const CURSOR_EXISTS: u16 = 0x40;
const LAST_ROW_SENT: u16 = 0x80;

async fn proxies() -> Vec<Proxy> {
    let mut all = Vec::new();
    if let Some(server) = MariaDb::shared() {
        all.push(Setup::mariadb(server.port()).start());
    }
    if let Some(server) = MySql::shared().await {
        all.push(Setup::mysql(server.port()).start());
    }
    all
}

async fn with_packets<T: Send + 'static>(
    server: Server,
    run: impl FnOnce(raw::Client) -> T + Send + 'static,
) -> T {
    let client = move || run(raw::Client::login(&server, None, raw::modern()).unwrap());
    tokio::task::spawn_blocking(client).await.unwrap()
}

/// Prepares and returns the statement's id; both kinds of definitions are read (no EOF packets: DEPRECATE_EOF).
fn prepare(client: &mut raw::Client, sql: &[u8]) -> u32 {
    client.send(&Command::StmtPrepare(sql)).unwrap();
    let ok = client.packet().unwrap();
    assert_eq!(ok.first(), Some(&0), "{}", String::from_utf8_lossy(&ok));
    let number = |at: usize| usize::from(u16::from_le_bytes([ok[at], ok[at + 1]]));
    for _ in 0..number(5) + number(7) {
        client.packet().unwrap();
    }
    u32::from_le_bytes([ok[1], ok[2], ok[3], ok[4]])
}

/// The packets of a binary result set after the column count: definitions, rows, and the end's status flags.
fn result(client: &mut raw::Client) -> (usize, Vec<Vec<u8>>, u16) {
    let head = client.packet().unwrap();
    assert!(!matches!(head.first(), Some(0 | 0xFF)), "{}", String::from_utf8_lossy(&head));
    let columns = usize::from(head[0]);
    for _ in 0..columns {
        client.packet().unwrap();
    }
    let (rows, status) = rows(client);
    (columns, rows, status)
}

fn rows(client: &mut raw::Client) -> (Vec<Vec<u8>>, u16) {
    let mut rows = Vec::new();
    loop {
        let packet = client.packet().unwrap();
        match packet.first() {
            Some(0xFE) => return (rows, u16::from_le_bytes([packet[3], packet[4]])),
            Some(0x00) => rows.push(packet),
            _ => panic!("{}", String::from_utf8_lossy(&packet)),
        }
    }
}

#[tokio::test]
async fn long_data_arrives_and_shifts_nothing() {
    for proxy in proxies().await {
        with_packets(proxy.server(), |mut client| {
            let id = prepare(&mut client, b"SELECT CONCAT(?, '|', ?, '|', ?)");
            for round in 0..2 {
                for chunk in [&b"long "[..], b"", b"data"] {
                    client.send(&Command::StmtSendLongData { id, param: 1, data: chunk }).unwrap();
                }
                // No NULLs, types sent: three strings, of which the second came before.
                let mut params = vec![0, 1];
                params.extend([253, 0, 252, 0, 253, 0]);
                params.extend(b"\x01a\x01c");
                client
                    .send(&Command::StmtExecute(StmtExecute { id, flags: 0, iterations: 1, params: &params }))
                    .unwrap();
                let (_, rows, _) = result(&mut client);
                let row = String::from_utf8_lossy(&rows[0]).into_owned();
                assert!(row.ends_with("a|long data|c"), "round {round}: {row:?}");
                client.send(&Command::StmtReset(id)).unwrap();
                assert_eq!(client.packet().unwrap().first(), Some(&0));
            }
            client.send(&Command::StmtClose(id)).unwrap();
            client
                .send(&Command::StmtExecute(StmtExecute { id, flags: 0, iterations: 1, params: &[] }))
                .unwrap();
            assert_eq!(client.packet().unwrap().first(), Some(&0xFF), "it is closed");
            assert_eq!(client.query(b"SELECT 1").unwrap().results.len(), 1);
        })
        .await;
    }
}

#[tokio::test]
async fn a_cursor_is_fetched_piece_by_piece() {
    for proxy in proxies().await {
        with_packets(proxy.server(), |mut client| {
            let sql =
                b"SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5";
            let id = prepare(&mut client, sql);
            let execute = StmtExecute { id, flags: READ_ONLY, iterations: 1, params: &[] };
            client.send(&Command::StmtExecute(execute)).unwrap();
            let (columns, first, status) = result(&mut client);
            assert_eq!((columns, first.len()), (1, 0), "a cursor's rows wait");
            assert_ne!(status & CURSOR_EXISTS, 0);
            let mut seen = Vec::new();
            for _ in 0..10 {
                client.send(&Command::StmtFetch { id, rows: 2 }).unwrap();
                let (rows, status) = rows(&mut client);
                assert!(rows.len() <= 2);
                seen.extend(rows.iter().map(|row| row[2]));
                if status & LAST_ROW_SENT != 0 {
                    break;
                }
            }
            assert_eq!(seen, [1, 2, 3, 4, 5]);
            assert_eq!(client.query(b"SELECT 1").unwrap().results.len(), 1);
        })
        .await;
    }
}

#[tokio::test]
async fn as_many_parameters_and_columns_as_the_protocol_has() {
    for proxy in proxies().await {
        let mut conn = proxy.server().connect().await;
        let count = 65_535;
        let sql = format!("SELECT ? IN ({})", vec!["?"; count - 1].join(","));
        let params: Vec<Value> = (0..count).map(|n| Value::from(n % 60_000 + usize::from(n > 0))).collect();
        let found: Option<u8> = conn.exec_first(sql, Params::Positional(params)).await.unwrap();
        assert_eq!(found, Some(0));
        let list: Vec<String> = (0..900).map(|n| format!("{n} AS c{n}")).collect();
        let row: mysql_async::Row =
            conn.exec_first(format!("SELECT {}", list.join(", ")), ()).await.unwrap().unwrap();
        assert_eq!((row.len(), row.get(899)), (900, Some(899_u32)));
    }
}

#[tokio::test]
async fn a_table_that_changes_under_a_prepared_statement() {
    for proxy in proxies().await {
        let mut conn = proxy.server().connect().await;
        conn.query_drop("CREATE DATABASE IF NOT EXISTS prepared").await.unwrap();
        conn.query_drop("DROP TABLE IF EXISTS prepared.t").await.unwrap();
        conn.query_drop("CREATE TABLE prepared.t (a INT)").await.unwrap();
        conn.query_drop("INSERT INTO prepared.t VALUES (1)").await.unwrap();
        let statement = conn.prep("SELECT * FROM prepared.t").await.unwrap();
        let row: mysql_async::Row = conn.exec_first(&statement, ()).await.unwrap().unwrap();
        assert_eq!(row.len(), 1);
        conn.query_drop("ALTER TABLE prepared.t ADD COLUMN b INT DEFAULT 2").await.unwrap();
        let row: mysql_async::Row = conn.exec_first(&statement, ()).await.unwrap().unwrap();
        assert_eq!(row.len(), 2, "executed again");
        let row: mysql_async::Row = conn.exec_first("SELECT * FROM prepared.t", ()).await.unwrap().unwrap();
        assert_eq!(row.len(), 2, "prepared again");
    }
}
