//! Commands without a statement, and those that no server knows.

use std::io::Write;

use router::compare::Outcome;
use shuntyard_tests::raw::Client;
use wire::{Capabilities, Command};

use super::talk::Talk;
use super::{Place, everywhere};

#[tokio::test]
async fn ping_statistics_debug_and_their_like() {
    everywhere(|talk| {
        talk.simple(&Command::Ping);
        talk.interlude();
        talk.simple(&Command::Debug);
        // Its text has figures that change: one packet of text, and nothing after it.
        talk.client.send(&Command::Statistics).unwrap();
        let statistics = talk.client.packet().unwrap();
        let text = String::from_utf8_lossy(&statistics).into_owned();
        assert!(text.starts_with("Uptime: ") && text.contains("Queries per second avg"), "{text}");
        talk.simple(&Command::Ping);
        talk.simple(&Command::InitDb(b"information_schema"));
        talk.query("SELECT DATABASE()");
        talk.simple(&Command::InitDb(b"no_such_schema"));
        talk.query("SELECT DATABASE()");
        talk.simple(&Command::Ping);
    })
    .await;
}

#[tokio::test]
async fn several_statements_by_option() {
    everywhere(|talk| {
        talk.query("SELECT 1; SELECT 2");
        talk.simple(&Command::SetOption(1));
        talk.query("SELECT 1; SELECT 2");
        talk.interlude();
        talk.query("SELECT 1; SELECT 2");
        talk.simple(&Command::SetOption(0));
        talk.interlude();
        talk.query("SELECT 1; SELECT 2");
        talk.simple(&Command::SetOption(7));
        talk.query("SELECT 'alive'");
    })
    .await;
}

#[tokio::test]
async fn lists_of_fields() {
    everywhere(|talk| {
        talk.quietly("CREATE DATABASE IF NOT EXISTS fields");
        talk.quietly("DROP TABLE IF EXISTS fields.t");
        talk.quietly(
            "CREATE TABLE fields.t (id INT NOT NULL DEFAULT 7, name VARCHAR(20) DEFAULT 'x', other TEXT)",
        );
        talk.simple(&Command::InitDb(b"fields"));
        for (table, wildcard) in [(&b"t"[..], &b""[..]), (b"t", b"n%"), (b"t", b"none"), (b"gone", b"")] {
            talk.note(format!("> fields of {}", table.escape_ascii()));
            talk.client.send(&Command::FieldList { table, wildcard }).unwrap();
            talk.rows();
        }
        talk.query("SELECT 'alive'");
    })
    .await;
}

/// No server of today has these; the answer is an error, and the session goes on.
#[tokio::test]
async fn unknown_commands() {
    everywhere(|talk| {
        for byte in [0x0B, 0x0F, 0x10, 0x13, 0x14, 0x1D] {
            talk.client.send(&Command::Unknown(byte)).unwrap();
            // The texts differ from server to server, the code and the state do not.
            match talk.client.packet() {
                Ok(answer) => {
                    talk.note(format!("{byte:02x} {}", answer.get(..9).unwrap_or(&answer).escape_ascii()))
                }
                Err(error) => panic!("{byte:02x} at port {}: {error}", talk.server.port),
            }
        }
        talk.query("SELECT 'alive'");
    })
    .await;
}

/// Replication does not go through the proxy: it says so, and the session goes on.
#[tokio::test]
async fn replication_is_refused() {
    for place in [Place::mariadb(), Place::mysql().await].into_iter().flatten() {
        tokio::task::spawn_blocking(move || {
            for (pooling, proxy) in &place.proxies {
                let wanted = shuntyard_tests::raw::modern();
                let mut client = Client::login(&proxy.server(), None, wanted).unwrap();
                for command in [
                    Command::BinlogDump(b"\x04\x00\x00\x00\x00\x00\x01\x00\x00\x00bin.000001"),
                    Command::BinlogDumpGtid(&[0; 30]),
                    Command::RegisterReplica(&[0; 18]),
                ] {
                    client.send(&command).unwrap();
                    let answer = client.packet().unwrap();
                    let text = String::from_utf8_lossy(&answer).into_owned();
                    assert_eq!(
                        answer.get(..9),
                        Some(&b"\xFF\x17\x04#08S01"[..]),
                        "{pooling} {command:?}: {text}"
                    );
                    assert!(text.contains("replication does not go through the proxy"), "{text}");
                    let alive = client.query(b"SELECT 'alive'").unwrap();
                    assert!(matches!(alive.results.first(), Some(Outcome::Rows(_))), "{command:?}");
                }
            }
        })
        .await
        .unwrap();
    }
}

/// A command may be as short as its first byte: what it lacks is an error, not the end of anybody else.
#[tokio::test]
async fn an_empty_command_ends_its_session_only() {
    let Some(place) = Place::mariadb() else { return };
    tokio::task::spawn_blocking(move || {
        for (_, proxy) in &place.proxies {
            let mut other = Client::login(&proxy.server(), None, shuntyard_tests::raw::modern()).unwrap();
            let mut client = Client::login(&proxy.server(), None, shuntyard_tests::raw::modern()).unwrap();
            client.send_raw(b"").unwrap();
            let answer = client.packet().unwrap();
            assert_eq!(answer.first(), Some(&0xFF));
            assert_eq!(other.query(b"SELECT 1").unwrap().results.len(), 1);
        }
    })
    .await
    .unwrap();
}

/// Statements with long texts, whose packets are more than one, keep what was asked for: their answers are compared.
#[tokio::test]
async fn packets_of_sixteen_megabytes() {
    everywhere(|talk: &mut Talk| {
        let near = wire::packet::MAX_PAYLOAD - 1 - "SELECT LENGTH('')".len();
        for n in [near - 1, near, near + 1] {
            let answer = talk.client.query(format!("SELECT LENGTH('{}')", "x".repeat(n)).as_bytes()).unwrap();
            talk.note(format!("{n}: {answer:?}"));
        }
        talk.query("SELECT 'alive'");
        assert!(talk.client.capabilities().contains(Capabilities::PROTOCOL_41));
    })
    .await;
}

/// The first bytes of a packet may come alone.
#[tokio::test]
async fn a_header_cut_in_two() {
    let Some(place) = Place::mariadb() else { return };
    tokio::task::spawn_blocking(move || {
        for (pooling, proxy) in &place.proxies {
            let mut client = Client::login(&proxy.server(), None, shuntyard_tests::raw::modern()).unwrap();
            for cut in 1..6 {
                let command = b"\x09\0\0\0\x03SELECT 1";
                client.restart();
                client.stream().write_all(&command[..cut]).unwrap();
                std::thread::sleep(std::time::Duration::from_millis(100));
                client.stream().write_all(&command[cut..]).unwrap();
                assert_eq!(client.answer().unwrap().results.len(), 1, "{pooling}, cut at {cut}");
            }
        }
    })
    .await
    .unwrap();
}
