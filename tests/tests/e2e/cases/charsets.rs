//! Character sets: bytes that are no UTF-8, collations with large numbers, collations that the server does not have.

use shuntyard_tests::raw::{classic, modern};
use wire::follow::Expect;
use wire::{ChangeUser, Command};

use super::scene::{Product, everywhere, exchange, query, strings};

/// latin1_swedish_ci.
const LATIN1: u16 = 8;

/// A lone 0xE9 is a letter in latin1 and nothing in UTF-8: in values, names, prepared texts and parameters.
#[test]
fn a_letter_of_latin1() {
    everywhere("case_latin1", |scene| {
        scene.stage(&[
            "CREATE TABLE t (a INT, s VARCHAR(9) CHARACTER SET utf8mb4, l VARCHAR(9) CHARACTER SET latin1)",
            "INSERT INTO t VALUES (0, '\u{e9}t\u{e9}', '\u{e9}')",
        ]);
        let mut by_handshake = scene.client_in(modern(), LATIN1);
        let mut by_names = scene.client();
        let mut by_variable = scene.client_in(classic(), LATIN1);
        let mut said = vec![
            scene.query(&mut by_names, "SET NAMES latin1"),
            scene.query(&mut by_variable, "SET character_set_results = utf8mb4"),
        ];
        for client in [&mut by_handshake, &mut by_names, &mut by_variable] {
            for text in [
                &b"INSERT INTO t VALUES (1, '\xE9', '\xE9')"[..],
                b"SELECT s, l, HEX(s), HEX(l), CHAR_LENGTH(s) FROM t ORDER BY a",
                b"SELECT '\xE9' AS `\xE9`, HEX('\xE9'), N'\xE9', _utf8mb4'\xC3\xA9', _binary'\xE9'",
                b"SELECT a FROM t WHERE s = '\xE9'",
                b"SELECT a FROM t WHERE l = '\xE9' -- \xE9",
                b"SELECT /* \xE9 */ 1 AS '\xE9'",
                b"SELECT a AS \xE9\xE8 FROM t WHERE a = 1",
                b"SELECT '\xE9",
                b"SELECT '\xE9\\' AND 1 = 1 -- '",
                b"SELECT a, s FROM t WHERE s <> '\xE9' UNION ALL SELECT a, s FROM t ORDER BY a LIMIT 3",
                b"SELECT nosuch\xE9 FROM t",
            ] {
                scene.interrupt();
                said.push(query(client, text));
            }
            let (id, reply) = scene.prepare(client, b"SELECT ? AS `\xE9`, HEX(?), '\xE9'");
            said.push(reply);
            said.push(scene.execute(client, id, &strings(&[Some(b"\xE9"), Some(b"\xE9")])));
            client.send(&Command::StmtClose(id)).unwrap();
        }
        said
    });
}

/// Whatever collation a client names at its login, it gets what the server makes of it, also after another client's turn.
#[test]
fn every_kind_of_collation_at_the_login() {
    everywhere("case_collations", |scene| {
        // big5, latin2, latin1, koi8r, sjis, utf8, ucs2, utf8mb4 and its bin, utf16, binary, utf8mb4_unicode_ci,
        // utf8mb4_0900_ai_ci (MariaDB has none), and numbers that nobody has or that do not fit the packet's one byte.
        let ids =
            [0, 1, 2, 5, 7, 13, 33, 35, 45, 46, 54, 63, 127, 224, 250, 255, 303, 1069, 1248, 2304, 65_535];
        ids.map(|id| {
            let mut client = match scene.try_client(modern(), id) {
                Ok(client) => client,
                Err(refused) => return (id, Err(refused.to_string()), None),
            };
            let mut ask = || {
                scene.query(
                    &mut client,
                    "SELECT @@character_set_client, @@character_set_results, @@collation_connection, 'x' AS x",
                )
            };
            (id, Ok(ask()), Some(ask()))
        })
    });
}

/// Collations above 255 in a session, in columns' definitions, and by COM_CHANGE_USER, where two bytes are sent.
#[test]
fn collations_above_255() {
    everywhere("case_collations_large", |scene| {
        let (large, name) = match scene.product {
            Product::MariaDb => (1248, "utf8mb4_unicode_nopad_ci"),
            Product::MySql => (303, "utf8mb4_ja_0900_as_cs"),
        };
        let mut client = scene.client();
        let mut said = Vec::new();
        let mut ask = |scene: &mut super::scene::Scene, client: &mut _| {
            for text in
                ["SELECT @@collation_connection, 'x' AS x", "SELECT 'a' = 'A', HEX(WEIGHT_STRING('a'))"]
            {
                let reply = scene.query(client, text);
                said.push(reply);
            }
        };
        scene.query(&mut client, &format!("SET NAMES utf8mb4 COLLATE {name}"));
        ask(scene, &mut client);
        scene.query(&mut client, &format!("SET collation_connection = {name}, character_set_results = NULL"));
        ask(scene, &mut client);
        scene.stage(&[
            &format!("CREATE TABLE t (s VARCHAR(5) COLLATE {name})"),
            "INSERT INTO t VALUES ('a'), ('A')",
        ]);
        scene.query(&mut client, "SET character_set_results = utf8mb4");
        let rows = scene.query(&mut client, "SELECT s, COUNT(*) FROM t GROUP BY s");
        // An empty answer: the server asks for another one over a fresh challenge.
        for charset in [large, u16::from(u8::MAX), 9_999] {
            let change = ChangeUser {
                user: b"app",
                auth_response: b"",
                schema: b"case_collations_large",
                charset: Some(charset),
                plugin: None,
                raw_attributes: None,
            };
            if client.change_user(&change, "app").is_err() {
                break;
            }
            ask(scene, &mut client);
        }
        (said, rows)
    });
}

/// Tables of other sets than the session's, and columns whose names are not ASCII.
#[test]
fn columns_of_many_character_sets() {
    everywhere("case_columns", |scene| {
        scene.stage(&[
            "CREATE TABLE `\u{fc}b\u{e9}r` (`\u{df}` VARCHAR(9) CHARACTER SET latin1, u VARCHAR(9) CHARACTER SET ucs2, \
             b BLOB, k VARCHAR(9) CHARACTER SET sjis, e ENUM('\u{e4}', '\u{1f600}') CHARACTER SET utf8mb4)",
            "INSERT INTO `\u{fc}b\u{e9}r` VALUES ('\u{df}', '\u{20ac}', x'00FF5C27', '\u{8868}', '\u{1f600}')",
        ]);
        let mut said = Vec::new();
        for charset in [45, LATIN1, 13, 28, 63] {
            let mut client = scene.client_in(modern(), charset);
            for text in [
                "SELECT * FROM case_columns.`\u{fc}b\u{e9}r`",
                "SHOW TABLES",
                "SELECT '\u{8868}' AS a, 'b\\' AS c -- '",
                "SELECT '\u{95}\\', 1 -- '",
            ] {
                said.push(scene.query(&mut client, text));
            }
            said.push(exchange(
                &mut client,
                &Command::FieldList { table: b"nosuch", wildcard: b"" },
                Expect::FieldList,
            ));
        }
        said
    });
}
