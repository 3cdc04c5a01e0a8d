//! Texts under rules: what stands in strings, comments and backquotes is not looked into, executable comments are left alone,
//! and literals come out of a rewrite as they went in.

use std::sync::Arc;
use std::time::{Duration, Instant};

use shuntyard_tests::client::Server;
use shuntyard_tests::interposer::Interposer;
use shuntyard_tests::mariadb::MariaDb;
use shuntyard_tests::mysql::MySql;
use shuntyard_tests::proxy::{Proxy, Setup};
use shuntyard_tests::raw::{Client, ExactReply, modern};

use super::scene::{everywhere, query};

/// A server, and a proxy before it that is listened to.
struct Bench {
    name: &'static str,
    server: Server,
    schema: &'static str,
    ear: Interposer,
    proxy: Proxy,
    _keeps: Option<Arc<MariaDb>>,
}

/// Fires as it is; `{}` is a place for a literal.
const PATTERN: &str = "SELECT id, note FROM cur WHERE note <> {} UNION ALL SELECT id, note FROM old WHERE note <> {} ORDER BY id LIMIT 7";

/// A server of each kind, with a schema of this name.
fn benches(schema: &'static str) -> Vec<Bench> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let bench = |name, server: Server, setup: fn(u16) -> Setup, keeps| {
        let mut client = Client::login(&server, None, modern()).unwrap();
        for text in [
            format!("DROP DATABASE IF EXISTS {schema}"),
            format!("CREATE DATABASE {schema} CHARACTER SET utf8mb4"),
            format!("USE {schema}"),
            "CREATE TABLE cur (id INT NOT NULL PRIMARY KEY, note VARCHAR(200) NOT NULL) ENGINE=InnoDB".to_owned(),
            "CREATE TABLE old LIKE cur".to_owned(),
            "INSERT INTO cur VALUES (1, 'C:\\\\new'), (2, ''''), (3, 'LIMIT 5 OFFSET 9'), (4, 'A'), (5, '\u{1f600}')".to_owned(),
            "INSERT INTO old SELECT id + 100, note FROM cur".to_owned(),
        ] {
            assert_eq!(query(&mut client, text.as_bytes()).error(), None, "{text}");
        }
        let ear = Interposer::start(server.port);
        let proxy = setup(0)
            .backend(&format!("primary: \"127.0.0.1:{}\", tls: {{mode: disabled}}", ear.port()))
            .start();
        let bench = Bench { name, schema, server, ear, proxy, _keeps: keeps };
        bench.warm();
        bench
    };
    let mariadb = MariaDb::shared().map(|s| bench("MariaDB", s.server(), Setup::mariadb, Some(s.clone())));
    let mysql = runtime.block_on(MySql::shared()).map(|s| bench("MySQL", s.server(), Setup::mysql, None));
    mariadb.into_iter().chain(mysql).collect()
}

impl Bench {
    /// Waits until the catalog is read: without it no rule fires.
    fn warm(&self) {
        let started = Instant::now();
        let mut client = self.client();
        while self.sent(&mut client, PATTERN.replace("{}", "'x'").as_bytes()).1.matches("LIMIT").count() < 3 {
            assert!(started.elapsed() < Duration::from_secs(20), "{}: no rule fires", self.name);
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn client(&self) -> Client {
        Client::login(&self.proxy.server(), Some(self.schema), modern()).unwrap()
    }

    /// Runs a text; the reply, and what the server was sent last.
    fn sent(&self, client: &mut Client, text: &[u8]) -> (ExactReply, String) {
        self.ear.heard();
        let reply = query(client, text);
        // Others watch the server with queries of their own.
        let heard = self.ear.heard();
        let word: Vec<u8> = text.split(|byte| *byte == b' ').next().unwrap_or_default().to_vec();
        let texts = heard.iter().filter(|payload| payload.first() == Some(&3)).map(|payload| &payload[1..]);
        let mut same = texts.filter(|sent| {
            *sent == text || [b"FROM cur", b"FROM old"].iter().any(|part| sent.windows(8).any(|w| w == *part))
        });
        let last =
            same.next_back().unwrap_or_else(|| panic!("{}: nothing like {word:?} was sent", self.name));
        (reply, String::from_utf8_lossy(last).into_owned())
    }
}

/// Spellings of literals, and whether the sql_mode has to be another one.
const LITERALS: [&str; 53] = [
    r"'C:\\new'",
    r"'C:\new'",
    "''''",
    "'it''s'",
    r"'it\'s'",
    r"'\\'",
    r"'\\\\'",
    r"'\''",
    "\"a\"",
    "\"a\"\"b\"",
    "\"a'b\"",
    "'a\"b'",
    r#""a\"b""#,
    "N'x'",
    "n'x'",
    "_utf8mb4'x'",
    "_utf8mb4 'x'",
    "_utf8mb4\"x\"",
    "_latin1 x'41'",
    "_binary'x'",
    "x'41'",
    "X'41'",
    "0x41",
    "b'01000001'",
    "B'1'",
    "0b01000001",
    "1e3",
    "1E-3",
    ".5",
    "5.",
    "1.50",
    "007",
    "18446744073709551615",
    "18446744073709551616",
    "- 1",
    "'a' 'b'",
    "'a'\n'b'",
    "'\u{1f600}'",
    "'LIMIT 5 OFFSET 9'",
    "'/* x */'",
    "'-- x'",
    "'# x'",
    "'`'",
    r"'\%\_'",
    r"'\0\Z\n'",
    "' ORDER BY id LIMIT 1 '",
    "') UNION ALL (SELECT 1'",
    "';'",
    "'?'",
    "'@a := 1'",
    "'\n'",
    "'\t'",
    "''",
];

#[test]
fn literals_come_out_of_a_rewrite_as_they_went_in() {
    for bench in benches("case_literals") {
        let modes: [(&str, &[&str]); 3] = [
            ("", &LITERALS),
            ("ANSI_QUOTES", &["'a'", "'a\"b'", r"'a\'b'", "N'x'", "\"note\"", "x'41'"]),
            ("NO_BACKSLASH_ESCAPES", &[r"'a\'", r"'\\'", r"'C:\new'", r"'a\%'", "'a'", "\"a\\\"", "''''"]),
        ];
        let mut rewritten = 0;
        for (mode, literals) in modes {
            let (mut straight, mut client) =
                (Client::login(&bench.server, Some(bench.schema), modern()).unwrap(), bench.client());
            let set = format!("SET sql_mode = '{mode}'");
            query(&mut straight, set.as_bytes());
            query(&mut client, set.as_bytes());
            for literal in literals {
                for pattern in [
                    PATTERN,
                    "SELECT id, {} AS l FROM cur UNION ALL SELECT id, {} AS l FROM old ORDER BY id LIMIT 7",
                    "SELECT id, l FROM (SELECT id, {} AS l FROM cur WHERE note <> {}) AS d ORDER BY id LIMIT 3",
                    "SELECT id, note FROM cur WHERE note IN ({},{}) UNION ALL SELECT id, note FROM old ORDER BY id LIMIT 2 OFFSET 1",
                    "/* {} */ SELECT id, note FROM cur WHERE note <> {} UNION ALL SELECT id, note FROM old WHERE id > 0 ORDER BY id LIMIT 2 -- {}",
                ] {
                    let text = pattern.replace("{}", literal);
                    let expected = query(&mut straight, text.as_bytes());
                    let (found, sent) = bench.sent(&mut client, text.as_bytes());
                    assert_eq!(rows(&expected), rows(&found), "{}, {mode}: {text}\nas: {sent}", bench.name);
                    if sent != text {
                        rewritten += 1;
                        // Comments beside the statement may go; what is in the statement stays.
                        let count = |text: &str| text.matches(literal).count();
                        let due = count(&text) - if pattern.starts_with("/*") { 2 } else { 0 };
                        assert!(count(&sent) >= due, "{}, {mode}: {text}\nas: {sent}", bench.name);
                    }
                }
            }
        }
        // Were none rewritten, nothing was tested.
        assert!(rewritten > LITERALS.len() * 2, "{}: {rewritten} were rewritten", bench.name);
    }
}

/// Rows of a reply, or its error: a rule may name other tables in columns, and LIMIT in more places means fewer warnings.
fn rows(reply: &ExactReply) -> Vec<Vec<u8>> {
    let columns = reply.head().first().map_or(0, |count| usize::from(*count));
    let packets = reply.0.iter().map(|packet| packet.payload.clone());
    match reply.error() {
        Some(_) => packets.collect(),
        None => packets.take(reply.0.len() - 1).skip(1 + columns).collect(),
    }
}

#[test]
fn rules_do_not_look_into_strings_comments_and_names() {
    for bench in benches("case_words") {
        let mut straight = Client::login(&bench.server, Some(bench.schema), modern()).unwrap();
        let mut client = bench.client();
        let union = "SELECT id FROM cur UNION ALL SELECT id FROM old ORDER BY id LIMIT 3";
        for text in [
            format!("SELECT id, '{union}' AS t FROM cur"),
            format!("SELECT id, \"{union}\" AS t FROM cur"),
            format!("SELECT id AS `{union}` FROM cur"),
            format!("SELECT id /* {union} */ FROM cur"),
            format!("SELECT id FROM cur -- {union}"),
            format!("SELECT id FROM cur # {union}\n"),
            format!("SELECT id FROM cur -- \n /* */ # UNION ALL\n WHERE note <> '{union}'"),
            "SELECT id FROM cur /* UNION ALL */ UNION SELECT id FROM old ORDER BY id LIMIT 3".to_owned(),
            "SELECT id AS `id UNION ALL` FROM cur UNION SELECT id FROM old LIMIT 3".to_owned(),
            "SELECT 'FROM cur UNION ALL', id FROM cur ORDER BY id /* LIMIT 3 */".to_owned(),
            format!("/*! {union} */"),
            format!("/*!50000 {union} */"),
            format!("/*!99999 SELECT 1 FROM cur */ {union}"),
            format!("{union} /*! */"),
            format!("{union} /*!50000 OFFSET 1 */"),
            union.replace("UNION ALL", "UNION /*! ALL */"),
            union.replace("LIMIT 3", "LIMIT /*! 3 */ /*!99999 4 */"),
            union.replace("SELECT id FROM old", "SELECT /*! STRAIGHT_JOIN */ id FROM old"),
            union.replace("LIMIT 3", "/*M! LIMIT 3 */"),
            union.replace("LIMIT 3", "/*M!100000 LIMIT 3 */"),
        ] {
            let expected = query(&mut straight, text.as_bytes());
            let (found, sent) = bench.sent(&mut client, text.as_bytes());
            assert_eq!(expected, found, "{}: {text}", bench.name);
            assert_eq!(sent, text, "{}", bench.name);
        }
    }
}

/// What an executable comment sets belongs to the session that sent it, and nobody else sees it.
#[test]
fn executable_comments_are_executed_for_their_session_alone() {
    everywhere("case_executable", |scene| {
        scene.stage(&["CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1)"]);
        let mut said = Vec::new();
        for texts in [
            &["/*!40101 SET NAMES latin1 */", "SELECT @@character_set_client, '\u{e9}'"][..],
            &["/*! SET sql_mode = 'ANSI_QUOTES' */", "SELECT \"a\" FROM t", "SELECT @@sql_mode"],
            &["/*! SET @a = 5 */", "SELECT @a"],
            &["SELECT 7 /*! INTO @a */", "SELECT @a"],
            &["/*! SET time_zone = '+09:00' */", "SELECT @@time_zone"],
            &["/*! USE mysql */", "SELECT DATABASE()"],
            &["/*! CREATE TEMPORARY TABLE tmp AS SELECT 3 AS n */", "SELECT n FROM tmp"],
            &["/*M! SET @m = 6 */", "SELECT @m"],
            &["/*M!100000 SET @m = 6 */ SELECT 1", "SELECT @m"],
            &["/*!99999 SET @z = 6 */ SELECT 1", "SELECT @z"],
            &["SELECT /*! GET_LOCK('case_executable', 0), */ 1", "SELECT RELEASE_LOCK('case_executable')"],
            &["/*! SET /* nested */ @a = 5 */", "SELECT @a"],
            &["SELECT 1 /*!", "SELECT 2"],
            &["/*!SELECT 1*/", "/*!50000SELECT 1*/", "/*!5SELECT 1*/", "/*! */", "SELECT/*!1*/"],
        ] {
            let mut client = scene.client();
            for text in texts {
                said.push((*text, scene.query(&mut client, text)));
            }
            // Whoever comes next has none of it.
            let mut next = scene.client();
            said.push((
                "next",
                scene.query(&mut next, "SELECT @@sql_mode, @@time_zone, DATABASE(), @a, @m, @z"),
            ));
        }
        // Inside a transaction the rival would wait for the connection.
        let (mut client, mut other) = (scene.client(), scene.client());
        for text in ["/*! BEGIN */", "INSERT INTO t VALUES (2)", "/*! ROLLBACK */", "SELECT COUNT(*) FROM t"]
        {
            said.push((text, query(&mut client, text.as_bytes())));
        }
        said.push(("other", query(&mut other, b"SELECT COUNT(*) FROM t")));
        said
    });
}
