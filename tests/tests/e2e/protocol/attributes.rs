//! Query attributes: they reach a MySQL, and are not offered where the server has none.

use std::process::Command as Program;

use mysql_async::prelude::Queryable;
use shuntyard_tests::client::Server;
use shuntyard_tests::machine;
use shuntyard_tests::mysql::CommandLine;
use shuntyard_tests::raw::{Client, modern};
use wire::{Capabilities, Command, Query, StmtExecute};

use super::Place;
use super::talk::Talk;

/// The functions that read attributes.
async fn install(place: &Place) {
    let mut conn = place.straight.connect().await;
    // Whoever installs it twice is refused.
    let _ = conn.query_drop("INSTALL COMPONENT 'file://component_query_attributes'").await;
    let found: Option<Option<String>> = conn
        .query_first("SELECT mysql_query_attribute_string('none')")
        .await
        .expect("the functions are there");
    assert_eq!(found, Some(None));
}

/// One attribute of text: NULL bitmap, types are sent, its type and name; the value follows behind all of them.
const NAMES: &[u8] = b"\x00\x01\xFD\x00\x02n1\x03\x00\x05other";
const VALUES: &[u8] = b"\x02v1\x2A\x00\x00\x00";

#[tokio::test]
async fn attributes_of_queries_and_executions() {
    let Some(place) = Place::mysql().await else { return };
    install(&place).await;
    let script = |talk: &mut Talk| {
        assert!(talk.client.capabilities().contains(Capabilities::QUERY_ATTRIBUTES));
        let read = "SELECT mysql_query_attribute_string('n1'), mysql_query_attribute_string('other')";
        let attributes = [&[2, 1][..], NAMES, VALUES].concat();
        for text in [
            read,
            "SELECT 1 AS one UNION ALL SELECT 2 ORDER BY one LIMIT 1",
            "DO 1",
            "SHOW WARNINGS",
            "SELEC",
        ] {
            talk.note(format!("> {text}"));
            let query = Query { text: text.as_bytes(), attributes: &attributes };
            talk.client.send(&Command::Query(query)).unwrap();
            talk.results();
            talk.interlude();
            // They belong to their statement.
            talk.query(read);
        }
        let id = talk.prepare("SELECT ?, mysql_query_attribute_string('n1')").unwrap();
        // Three values: the parameter, which has no name, and two attributes. Bit 3 says that their number is sent.
        let params = [&[3, 0, 1, 0xFD, 0, 0][..], &NAMES[2..], b"\x05param", VALUES].concat();
        talk.note("> execute with attributes");
        let execute = StmtExecute { id, flags: 8, iterations: 1, params: &params };
        talk.client.send(&Command::StmtExecute(execute)).unwrap();
        talk.results();
        // A count that promises more than there is.
        talk.note("> malformed");
        talk.client.send_raw(b"\x03\x09\x01\x00\x00\x01SELECT 1").unwrap();
        assert_eq!(talk.client.packet().unwrap().first(), Some(&0xFF));
    };
    place.same(Capabilities::QUERY_ATTRIBUTES, script).await;
}

#[tokio::test]
async fn not_offered_in_front_of_a_mariadb() {
    let Some(place) = Place::mariadb() else { return };
    tokio::task::spawn_blocking(move || {
        for (_, proxy) in &place.proxies {
            let client =
                Client::login(&proxy.server(), None, modern() | Capabilities::QUERY_ATTRIBUTES).unwrap();
            assert!(!client.greeting.capabilities.contains(Capabilities::QUERY_ATTRIBUTES));
        }
    })
    .await
    .unwrap();
}

/// Connector/Python in both implementations, text and prepared, and what it does where there are none.
#[tokio::test]
async fn connector_python() {
    let Some(python) = machine::python() else {
        return machine::missing("the Python drivers (`tools/pydrivers`)");
    };
    let Some(place) = Place::mysql().await else { return };
    install(&place).await;
    let run = move || {
        let ask = |port: u16| {
            let out = Program::new(&python)
                .args(["-c", CONNECTOR, &port.to_string()])
                .env("PYTHONDONTWRITEBYTECODE", "1")
                .output()
                .unwrap();
            assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
            String::from_utf8_lossy(&out.stdout).into_owned()
        };
        let straight = ask(place.straight.port);
        assert!(straight.contains("('v1', '7')"), "{straight}");
        for (pooling, proxy) in &place.proxies {
            assert_eq!(straight, ask(proxy.port), "{pooling}");
        }
    };
    tokio::task::spawn_blocking(run).await.unwrap();
}

/// MySQL's own client, at a MySQL and at a MariaDB, which has no such functions.
#[tokio::test]
async fn mysql_client() {
    let Some(place) = Place::mysql().await else { return };
    install(&place).await;
    let places: Vec<Place> = [Some(place), Place::mariadb()].into_iter().flatten().collect();
    let run = move || {
        let Some(client) = CommandLine::find() else { return };
        let input = "query_attributes n1 v1 n2 v2\nSELECT mysql_query_attribute_string('n1'), \
            mysql_query_attribute_string('n2');\nSELECT mysql_query_attribute_string('n1');\n";
        for place in places {
            for zlib in ["--compression-algorithms=uncompressed", "--compression-algorithms=zlib"] {
                let ask = |server: &Server| client.run(server, &["--commands", "--force", zlib], input);
                let straight = ask(&place.straight);
                let expected = if place.product == "mysql" { "v1\tv2" } else { "ERROR 1305" };
                assert!(straight.contains(expected), "{straight}");
                for (pooling, proxy) in &place.proxies {
                    assert_eq!(straight, ask(&proxy.server()), "{} {pooling}", place.product);
                }
            }
        }
    };
    tokio::task::spawn_blocking(run).await.unwrap();
}

const CONNECTOR: &str = r#"
import sys
import mysql.connector

for pure in (True, False):
    for prepared in (False, True):
        for compress in (False, True):
            conn = mysql.connector.connect(host="127.0.0.1", port=int(sys.argv[1]), user="app", password="app", use_pure=pure, compress=compress)
            cursor = conn.cursor(prepared=prepared)
            for value in ("v1", "second"):
                cursor.add_attribute("n1", value)
                cursor.add_attribute("n2", 7)
                cursor.execute("SELECT mysql_query_attribute_string('n1'), mysql_query_attribute_string('n2')")
                print(pure, prepared, [tuple(c if c is None or isinstance(c, str) else bytes(c).decode() for c in row) for row in cursor.fetchall()])
                cursor.clear_attributes()
            conn.close()
"#;
