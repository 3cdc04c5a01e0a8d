//! Replies of several results, commands that nobody sends, texts that are hardly texts.

use shuntyard_tests::raw::{Client, classic, modern};
use wire::follow::Expect;
use wire::{Capabilities, Command};

use super::scene::{everywhere, exchange, query};

/// Every combination of the two capabilities that shape the end of a result.
pub(super) fn ends() -> [Capabilities; 4] {
    let (track, eof) = (Capabilities::SESSION_TRACK, Capabilities::DEPRECATE_EOF);
    [classic(), classic() | track, classic() | eof, modern()]
}

/// Several statements in one text: results in order, sequence ids without a gap, and the first error ends it.
#[test]
fn several_statements_in_one_text() {
    everywhere("case_multi", |scene| {
        scene.stage(&["CREATE TABLE t (a INT PRIMARY KEY, s VARCHAR(3))"]);
        let mut said = Vec::new();
        for capabilities in ends() {
            let mut client = scene.client_of(capabilities);
            for text in [
                "SELECT 1; SELECT 2; SELECT 3",
                "SELECT 1; SELECT nosuch; SELECT 3",
                "SELECT 1; SELEC 2; SELECT 3",
                "DELETE FROM t; INSERT INTO t VALUES (1,'a'),(2,'b'); UPDATE t SET s = 'c'; SELECT * FROM t",
                "INSERT INTO t VALUES (3,'x'); INSERT INTO t VALUES (3,'y'); SELECT 'never'",
                "SET @a = 1; SELECT @a; SET sql_mode = ''; SELECT @@sql_mode",
                "SELECT 1/0; SHOW WARNINGS; SELECT 1",
                "SELECT 1;",
                "SELECT 1;;",
                ";SELECT 1",
                "SELECT 1; ; SELECT 2",
                "SELECT 1; -- end",
                "SELECT 1; /* end */",
                "USE mysql; SELECT DATABASE()",
                "USE case_multi; SELECT DATABASE(); USE nosuchschema; SELECT 5",
                "SELECT 'a;b'; SELECT `a` FROM (SELECT 'x;y' AS a) AS d",
                "BEGIN; INSERT INTO t VALUES (9,'z'); ROLLBACK; SELECT COUNT(*) FROM t",
            ] {
                said.push((text, scene.query(&mut client, text)));
            }
            said.push(("ping", exchange(&mut client, &Command::Ping, Expect::Simple)));
        }
        said
    });
}

/// Without the capability several statements are an error, until COM_SET_OPTION allows them.
#[test]
fn several_statements_have_to_be_allowed() {
    everywhere("case_multi_option", |scene| {
        let mut client = scene.client_of(modern() - Capabilities::MULTI_STATEMENTS);
        let mut said = vec![scene.query(&mut client, "SELECT 1; SELECT 2")];
        for option in [0, 1, 7] {
            said.push(exchange(&mut client, &Command::SetOption(option), Expect::Simple));
            said.push(scene.query(&mut client, "SELECT 1; SELECT 2"));
        }
        said
    });
}

/// More packets than a sequence id can count, with EOF packets put in on the way.
#[test]
fn sequence_ids_wrap_around() {
    everywhere("case_wrap", |scene| {
        let mut said = Vec::new();
        for capabilities in ends() {
            let mut client = scene.client_of(capabilities);
            for rows in [250, 251, 252, 253, 254, 255, 256, 600] {
                let text = format!(
                    "WITH RECURSIVE n (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n WHERE a < {rows}) SELECT a FROM n; \
                     SELECT 'behind'; SELECT nosuch"
                );
                said.push(scene.query(&mut client, &text));
            }
            let columns: Vec<String> = (0..300).map(|n| format!("{n} AS c{n}")).collect();
            said.push(scene.query(&mut client, &format!("SELECT {}; SELECT 1", columns.join(","))));
        }
        said
    });
}

/// An unclosed comment, a NUL byte, an empty text, nothing but comments.
#[test]
fn texts_that_are_hardly_texts() {
    everywhere("case_odd", |scene| {
        let mut client = scene.client();
        [
            &b""[..],
            b" ",
            b";",
            b"\0",
            b"SELECT 1\0",
            b"SELECT\0 1",
            b"SELECT '\0'",
            b"\0SELECT 1",
            b"/*",
            b"/*!",
            b"SELECT 1 /* open",
            b"SELECT 1 /*! , 2",
            b"/* only */",
            b"-- only",
            b"--",
            b"#",
            b"# only\n",
            b"/* a */ -- b\n # c\n /* d */",
            b"SELECT 'open",
            b"SELECT `open",
            b"SELECT \"open",
            b"SELECT 1 \xFF\xFE",
            b"SELECT '\xFF\xFE'",
            b"\xEF\xBB\xBFSELECT 1",
            b"DELIMITER //",
            b"SELECT 1 --1",
            b"SELECT 1 -- 1",
            b"SELECT/**/1/**/",
            b"SELECT /* /* nested */ 1 */",
        ]
        .map(|text| (text, query(&mut client, text)))
    });
}

/// How a server takes a command: the code of its error or what it begins with, and whether the session lives.
fn taken(client: &mut Client, payload: &[u8], expect: Expect) -> (String, bool) {
    let said = match client.exchange(payload, expect) {
        Ok(reply) => {
            reply.error().map_or_else(|| format!("0x{:02x}", reply.head()[0]), |code| code.to_string())
        }
        Err(_) => "closed".to_owned(),
    };
    (said, client.exchange(b"\x0e", Expect::Simple).is_ok_and(|reply| reply.is_ok()))
}

/// The same without what it was: whether there was an answer, and whether the session lives.
fn answered(client: &mut Client, payload: &[u8], expect: Expect) -> (bool, bool) {
    let (said, lives) = taken(client, payload, expect);
    (said != "closed", lives)
}

/// Every first byte that is no command of today: an answer or an error, and the session lives as it does at the server.
#[test]
fn commands_that_nobody_sends() {
    everywhere("case_commands", |scene| {
        let unknown = [0x00, 0x0B, 0x0F, 0x10, 0x13, 0x14, 0x1D, 0x55, 0x7F, 0x80, 0xC8, 0xF9, 0xFD, 0xFF];
        let mut said: Vec<_> = unknown
            .iter()
            .flat_map(|byte| [vec![*byte], vec![*byte, 1, 0, 0, 0, b'x']])
            .map(|payload| {
                let answer = taken(&mut scene.client(), &payload, Expect::Simple);
                (payload, answer)
            })
            .collect();
        // Those that are commands and rare.
        for payload in [
            &b"\x0d"[..],
            b"\x07\x01",
            b"\x02case_commands",
            b"\x02nosuchschema",
            b"\x02",
            b"\x1b\x00\x00",
            b"\x1f",
            b"\x0e and more",
        ] {
            said.push((payload.to_vec(), taken(&mut scene.client(), payload, Expect::Simple)));
        }
        let statistics = exchange(&mut scene.client(), &Command::Statistics, Expect::Statistics);
        assert!(statistics.head().starts_with(b"Uptime: "), "{statistics:?}");
        said
    });
}

/// Commands that end inside their fields: an answer, of which each server has its own, and the session lives.
#[test]
fn commands_that_end_too_early() {
    everywhere("case_truncated", |scene| {
        let mut said = Vec::new();
        for (whole, expect) in [
            (&b"\x17\x01\0\0\0\0\x01\0\0\0"[..], Expect::Execute),
            (b"\x1a\x01\0\0\0", Expect::Simple),
            (b"\x1b\0\0", Expect::Simple),
            (b"\x1c\x01\0\0\0\x01\0\0\0", Expect::Fetch),
            (b"\x0c\xff\xff\xff\x7f", Expect::Simple),
            (b"\x07\x01", Expect::Simple),
            (b"\x16", Expect::Prepare),
            (b"\x04", Expect::FieldList),
            (b"\x05", Expect::Simple),
            (b"\x06", Expect::Simple),
        ] {
            for len in 1..=whole.len() {
                let payload = whole[..len].to_vec();
                let answer = answered(&mut scene.client(), &payload, expect);
                said.push((payload, answer));
            }
        }
        // These have no answer: what comes next tells.
        for whole in [&b"\x18\x01\0\0\0\0\0"[..], b"\x19\x01\0\0\0"] {
            for len in 1..=whole.len() {
                let mut client = scene.client();
                client.send_raw(&whole[..len]).unwrap();
                said.push((whole[..len].to_vec(), answered(&mut client, b"\x0e", Expect::Simple)));
            }
        }
        // Nothing at all.
        said.push((Vec::new(), answered(&mut scene.client(), b"", Expect::Simple)));
        said
    });
}

/// Info text, affected rows, ids and warning counts of one statement and of many.
#[test]
fn what_an_ok_packet_tells() {
    everywhere("case_ok", |scene| {
        let mut said = Vec::new();
        for capabilities in ends().into_iter().flat_map(|c| [c, c | Capabilities::FOUND_ROWS]) {
            scene.stage(&[
                "DROP TABLE IF EXISTS t",
                "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, a INT UNIQUE, s VARCHAR(3))",
                "SET GLOBAL local_infile = 1",
            ]);
            let mut client = scene.client_of(capabilities);
            client.infile = b"9\t90\tx\n10\t100\ttoo long\n".to_vec();
            for text in [
                "SET sql_mode = ''",
                "INSERT INTO t (a, s) VALUES (1, 'a'), (2, 'b'), (3, 'too long')",
                "INSERT IGNORE INTO t (a) VALUES (1), (4)",
                "INSERT INTO t (a) VALUES (1) ON DUPLICATE KEY UPDATE a = 11",
                "UPDATE t SET s = 'c'",
                "UPDATE t SET s = 'c'",
                "REPLACE INTO t (a, s) VALUES (2, 'r')",
                "DELETE FROM t WHERE a = 4",
                "LOAD DATA LOCAL INFILE 'f' INTO TABLE t (id, a, s)",
                "ALTER TABLE t ADD COLUMN z INT",
                "SHOW WARNINGS",
                "DROP TABLE IF EXISTS nosuch",
                "SELECT 1/0, 'x' + 1",
                "DO 1/0",
            ] {
                said.push((text, query(&mut client, text.as_bytes())));
            }
            said.push(("", exchange(&mut client, &Command::Ping, Expect::Simple)));
        }
        said
    });
}
