//! Prepared statements by packets: long data, OUT parameters, bulks, and what goes wrong with them.

use wire::{Capabilities, Command};

use super::talk::Talk;
use super::{Place, everywhere};

/// CURSOR_TYPE_READ_ONLY of COM_STMT_EXECUTE.
const READ_ONLY: u8 = 1;

/// Types of parameters: LONG and VAR_STRING, signed.
const LONG: [u8; 2] = [3, 0];
const TEXT: [u8; 2] = [253, 0];

fn fetch(talk: &mut Talk, id: u32, rows: u32) {
    talk.note(format!("> fetch {rows}"));
    talk.client.send(&Command::StmtFetch { id, rows }).unwrap();
    talk.rows();
}

#[tokio::test]
async fn long_data() {
    everywhere(|talk| {
        let id = talk.prepare("SELECT CONCAT(?, '|', ?), LENGTH(?)").unwrap();
        let send = |talk: &mut Talk, param: u16, data: &[u8]| {
            talk.client.send(&Command::StmtSendLongData { id, param, data }).unwrap();
        };
        let types = [&[0, 1][..], &TEXT, &[252, 0], &[252, 0]].concat();
        for part in [&b"in "[..], b"", b"parts"] {
            send(talk, 1, part);
        }
        send(talk, 2, &vec![b'l'; 1_500_000]);
        send(talk, 2, &vec![b'm'; 1_500_000]);
        talk.execute(id, 0, &[&types[..], b"\x01a"].concat());
        // Gone after its execution; values in the packet take its place.
        talk.execute(id, 0, &[&types[..], b"\x01a\x01b\x01c"].concat());
        // Reset throws it away.
        send(talk, 1, b"thrown away");
        talk.simple(&Command::StmtReset(id));
        talk.execute(id, 0, &[&types[..], b"\x01a\x01b\x01c"].concat());
        // For a parameter that is not there: told at the execution.
        send(talk, 9, b"nowhere");
        talk.execute(id, 0, &[&types[..], b"\x01a\x01b\x01c"].concat());
        talk.simple(&Command::StmtReset(id));
        talk.query("SELECT 'alive'");
    })
    .await;
}

#[tokio::test]
async fn out_parameters_and_several_results() {
    everywhere(|talk| {
        talk.quietly("DROP DATABASE IF EXISTS called");
        talk.quietly("CREATE DATABASE called");
        talk.quietly("CREATE PROCEDURE called.p(IN n INT, OUT o VARCHAR(20), INOUT io INT) BEGIN SELECT n, 'first'; SELECT 2 FROM (SELECT 1) t WHERE n = 0; SET o = CONCAT('out ', n), io = io * 10; END");
        talk.quietly("CREATE PROCEDURE called.fails(OUT o INT) BEGIN SELECT 1; SET o = 5; SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'inside'; END");
        talk.quietly("CREATE PROCEDURE called.silent() DO 1");
        // Without DEPRECATE_EOF MySQL announces what follows OUT parameters behind their columns only.
        if talk.deprecates_eof() {
            let id = talk.prepare("CALL called.p(?, ?, ?)").unwrap();
            let types = [&[0b010, 1][..], &LONG, &TEXT, &LONG].concat();
            talk.execute(id, 0, &[&types[..], &7i32.to_le_bytes(), &4i32.to_le_bytes()].concat());
            talk.execute(id, 0, &[&[0b010, 0][..], &0i32.to_le_bytes(), &(-1i32).to_le_bytes()].concat());
            talk.execute(id, READ_ONLY, &[&[0b010, 0][..], &1i32.to_le_bytes(), &2i32.to_le_bytes()].concat());
            let fails = talk.prepare("CALL called.fails(?)").unwrap();
            talk.execute(fails, 0, &[&[1, 1][..], &LONG].concat());
            let silent = talk.prepare("CALL called.silent()").unwrap();
            talk.execute(silent, 0, &[]);
        }
        talk.query("CALL called.p(1, @o, @io); SELECT @o; CALL called.fails(@o); SELECT 'not reached'");
        talk.query("SELECT @o, @io");
        talk.query("SELECT 1; DO 1; SELECT 2 WHERE FALSE; CALL called.silent(); SELECT 3");
    })
    .await;
}

#[tokio::test]
async fn statements_that_are_not_there() {
    everywhere(|talk| {
        let gone = 4711;
        talk.execute(gone, 0, &[]);
        fetch(talk, gone, 1);
        talk.simple(&Command::StmtReset(gone));
        talk.client.send(&Command::StmtClose(gone)).unwrap();
        talk.client.send(&Command::StmtSendLongData { id: gone, param: 0, data: b"x" }).unwrap();
        talk.query("SELECT 'alive'");
        assert!(talk.prepare("SELECT FROM WHERE").is_none());
        assert!(talk.prepare("SELECT * FROM no_such_schema.t").is_none());
        assert!(talk.prepare("SELECT 1; SELECT 2").is_none());
        talk.query("SELECT 'alive'");
    })
    .await;
}

/// COM_STMT_BULK_EXECUTE, which only MariaDB has.
#[tokio::test]
async fn bulks() {
    const TYPES_SENT: u16 = 128;
    let Some(place) = Place::mariadb() else { return };
    let script = |talk: &mut Talk| {
        assert!(talk.client.capabilities().contains(Capabilities::MARIADB_STMT_BULK_OPERATIONS));
        talk.quietly("CREATE DATABASE IF NOT EXISTS bulk");
        talk.quietly("CREATE OR REPLACE TABLE bulk.t (id INT PRIMARY KEY, v VARCHAR(20) DEFAULT 'default')");
        let id = talk.prepare("INSERT INTO bulk.t VALUES (?, ?)").unwrap();
        let bulk = |talk: &mut Talk, flags: u16, rows: &[(i32, &[u8])]| {
            let mut params = Vec::new();
            if flags & TYPES_SENT != 0 {
                params.extend([LONG, TEXT].concat());
            }
            for (key, value) in rows {
                // Indicators: 0 a value follows, 1 NULL, 2 the default.
                params.push(0);
                params.extend(key.to_le_bytes());
                params.extend_from_slice(value);
            }
            talk.note(format!("> bulk of {}", rows.len()));
            talk.client.send(&Command::StmtBulkExecute { id, flags, params: &params }).unwrap();
            talk.results();
        };
        bulk(talk, TYPES_SENT, &[(1, b"\x00\x03one"), (2, b"\x01"), (3, b"\x02")]);
        talk.interlude();
        bulk(talk, TYPES_SENT, &[(4, b"\x00\x04four")]);
        talk.query("SELECT * FROM bulk.t ORDER BY id");
        bulk(talk, TYPES_SENT, &[(5, b"\x01"), (1, b"\x01"), (6, b"\x01")]);
        talk.query("SELECT COUNT(*) FROM bulk.t");
        let many: Vec<(i32, &[u8])> = (100..20_100).map(|n| (n, &b"\x00\x09many rows"[..])).collect();
        bulk(talk, TYPES_SENT, &many);
        talk.query("SELECT COUNT(*), MAX(id) FROM bulk.t");
        // Not a statement for a bulk.
        let select = talk.prepare("SELECT ?").unwrap();
        let params = [&TEXT[..], b"\x00\x01x"].concat();
        talk.client
            .send(&Command::StmtBulkExecute { id: select, flags: TYPES_SENT, params: &params })
            .unwrap();
        talk.results();
        talk.query("SELECT 'alive'");
    };
    place.same(Capabilities::MARIADB_STMT_BULK_OPERATIONS, script).await;
}

/// Definitions with MariaDB's extended types, in every answer that has definitions.
#[tokio::test]
async fn extended_metadata() {
    let Some(place) = Place::mariadb() else { return };
    let script = |talk: &mut Talk| {
        assert!(talk.client.capabilities().contains(Capabilities::MARIADB_EXTENDED_METADATA));
        talk.quietly("CREATE DATABASE IF NOT EXISTS extended");
        talk.quietly("CREATE OR REPLACE TABLE extended.t (id INT PRIMARY KEY, j JSON, i INET6, u UUID, p POINT, g GEOMETRY)");
        talk.quietly("INSERT INTO extended.t VALUES (1, '{}', '::1', '123e4567-e89b-12d3-a456-426655440000', ST_GeomFromText('POINT(1 2)'), NULL)");
        talk.query("SELECT * FROM extended.t");
        talk.query("SELECT JSON_EXTRACT(j, '$'), CAST(i AS CHAR), u AS renamed FROM extended.t; SELECT j FROM extended.t");
        talk.interlude();
        let id = talk.prepare("SELECT * FROM extended.t WHERE id = ?").unwrap();
        talk.execute(id, 0, &[&[0, 1][..], &LONG, &1i32.to_le_bytes()].concat());
        talk.execute(id, READ_ONLY, &[&[0, 0][..], &1i32.to_le_bytes()].concat());
        fetch(talk, id, 5);
    };
    place.same(Capabilities::MARIADB_EXTENDED_METADATA, script).await;
}
