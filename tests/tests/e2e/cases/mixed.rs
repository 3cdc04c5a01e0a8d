//! Clients of every age side by side on one shared connection: each hears what it understands.

use shuntyard_tests::raw::Client;
use wire::follow::Expect;
use wire::{Capabilities, Command, Status};

use super::replies::ends;
use super::scene::{everywhere, exchange, query, strings};

/// Clients with and without SESSION_TRACK and DEPRECATE_EOF take turns.
#[test]
fn clients_of_every_age_take_turns() {
    everywhere("case_ages", |scene| {
        scene.stage(&["CREATE TABLE t (a INT, s TEXT)", "INSERT INTO t VALUES (1, 'x'), (2, NULL)"]);
        let mut clients: Vec<Client> = ends().into_iter().map(|c| scene.client_of(c)).collect();
        let mut said = Vec::new();
        for text in [
            "SELECT * FROM t",
            "SELECT * FROM t WHERE FALSE",
            "USE mysql",
            "USE case_ages",
            "SET NAMES latin1",
            "SET autocommit = 1",
            "SET time_zone = '+01:00'",
            "SET sql_mode = ''",
            "INSERT INTO t VALUES (3, 'y')",
            "DELETE FROM t WHERE a = 3",
            "SELECT nosuch",
            "SHOW WARNINGS",
            "SELECT 1/0",
            "SHOW TABLES",
        ] {
            for (age, client) in clients.iter_mut().enumerate() {
                said.push((text, age, scene.query(client, text)));
            }
        }
        for (age, client) in clients.iter_mut().enumerate() {
            for command in [
                Command::Ping,
                Command::InitDb(b"mysql"),
                Command::InitDb(b"nosuch"),
                Command::ResetConnection,
            ] {
                said.push(("", age, exchange(client, &command, Expect::Simple)));
            }
            let list = Command::FieldList { table: b"user", wildcard: b"User" };
            said.push(("field list", age, exchange(client, &list, Expect::FieldList)));
        }
        said
    });
}

/// A client that has the server track for it hears all of it, one that has not hears nothing, on the same connection.
#[test]
fn tracking_is_each_clients_own() {
    everywhere("case_tracking", |scene| {
        let mut clients: Vec<Client> = ends().into_iter().map(|c| scene.client_of(c)).collect();
        let mut said = Vec::new();
        for text in [
            "SET SESSION session_track_state_change = ON",
            "SET @a = 1",
            "SET SESSION session_track_transaction_info = 'CHARACTERISTICS'",
            "START TRANSACTION READ ONLY; COMMIT",
            "SET SESSION session_track_system_variables = 'group_concat_max_len,time_zone'",
            "SET SESSION group_concat_max_len = 99",
            "SET SESSION session_track_schema = OFF",
            "USE mysql",
        ] {
            for (age, client) in clients.iter_mut().enumerate() {
                said.push((text, age, query(client, text.as_bytes())));
            }
        }
        said
    });
}

/// Prepared statements of clients of every age, with a cursor and without.
#[test]
fn prepared_statements_of_every_age() {
    everywhere("case_ages_prepared", |scene| {
        scene
            .stage(&["CREATE TABLE t (a INT, s TEXT)", "INSERT INTO t VALUES (1, 'x'), (2, NULL), (3, 'z')"]);
        let mut clients: Vec<Client> = ends().into_iter().map(|c| scene.client_of(c)).collect();
        let mut said = Vec::new();
        for (text, params) in [
            ("SELECT * FROM t WHERE a > ?", &[Some(&b"1"[..])][..]),
            ("SELECT 1", &[]),
            ("INSERT INTO t VALUES (?, ?)", &[Some(b"4"), Some(b"w")]),
            ("DELETE FROM t WHERE a = 4", &[]),
            ("SET time_zone = '+02:00'", &[]),
            ("SELECT nosuch", &[]),
        ] {
            for client in &mut clients {
                let (id, reply) = scene.prepare(client, text.as_bytes());
                said.push((text, reply));
                if id == 0 {
                    continue;
                }
                let params = if params.is_empty() { Vec::new() } else { strings(params) };
                said.push((text, scene.execute(client, id, &params)));
                let cursor = wire::StmtExecute { id, flags: 1, iterations: 1, params: &params };
                let opened = exchange(client, &Command::StmtExecute(cursor), Expect::Execute);
                let mut open = opened.ends_with(Status::CURSOR_EXISTS);
                said.push((text, opened));
                while open {
                    let fetched = exchange(client, &Command::StmtFetch { id, rows: 1 }, Expect::Fetch);
                    open = fetched.error().is_none() && !fetched.ends_with(Status::LAST_ROW_SENT);
                    said.push((text, fetched));
                }
                client.send(&Command::StmtClose(id)).unwrap();
            }
        }
        said
    });
}

/// What else a client may or may not speak: it gets connections of its own kind, and its answers are right.
#[test]
fn capabilities_that_change_behaviour_are_not_shared() {
    everywhere("case_kinds", |scene| {
        scene.stage(&["CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1), (1)"]);
        let base = ends()[3];
        let mut clients: Vec<Client> = [
            base,
            base | Capabilities::FOUND_ROWS,
            base | Capabilities::IGNORE_SPACE,
            base | Capabilities::NO_SCHEMA,
            base | Capabilities::INTERACTIVE,
            base - Capabilities::LOCAL_FILES,
            base - Capabilities::TRANSACTIONS,
        ]
        .into_iter()
        .map(|c| scene.client_of(c))
        .collect();
        let mut said = Vec::new();
        for text in [
            "UPDATE t SET a = 1",
            "SELECT COUNT (*) FROM t",
            "SELECT a FROM case_kinds.t",
            "SELECT case_kinds.t.a FROM t",
            "SELECT @@wait_timeout = @@interactive_timeout",
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE t",
        ] {
            for (kind, client) in clients.iter_mut().enumerate() {
                said.push((text, kind, scene.query(client, text)));
            }
        }
        said
    });
}
