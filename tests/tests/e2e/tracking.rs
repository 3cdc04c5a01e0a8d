//! Session tracking that a client sets by itself.

use shuntyard_tests::client::Server;
use shuntyard_tests::mariadb::MariaDb;
use shuntyard_tests::proxy::Setup;
use shuntyard_tests::raw::{Client, modern};
use wire::{Command, Query};

/// The packets that answer `texts`, all of which are answered by one.
fn packets(client: &mut Client, texts: &[&str]) -> Vec<Vec<u8>> {
    let mut one = |text: &&str| {
        client.send(&Command::Query(Query::new(text.as_bytes()))).unwrap();
        client.packet().unwrap()
    };
    texts.iter().map(&mut one).collect()
}

/// It hears of what it asked for, and not of what the proxy asks for on the same connection.
#[test]
fn a_client_that_tracks_hears_what_it_asked_for() {
    let Some(server) = MariaDb::shared() else { return };
    for pooling in ["session", "transaction"] {
        let proxy = Setup::mariadb(server.port()).line(&format!("pooling: {pooling}")).start();
        for texts in [
            &[
                "SET SESSION session_track_system_variables = 'time_zone'",
                "SET time_zone = '+01:00'",
                "SET NAMES latin1",
            ][..],
            &["SET SESSION session_track_state_change = 1", "SET sql_mode = ''", "SET @a = 1"],
            &["SET SESSION session_track_schema = 1", "USE mysql", "SET sql_mode = ''"],
            &["SET NAMES latin1", "SET sql_mode = ''", "SET @a = @@session_track_state_change"],
        ] {
            let login = |server| Client::login(&server, None, modern()).unwrap();
            let straight = packets(&mut login(server.server()), texts);
            let proxied = packets(&mut login(proxy.server()), texts);
            assert_eq!(straight, proxied, "{pooling}: {texts:?}");
        }
    }
}

/// A server that tracks less than the proxy asks for, and what a client reads of that.
#[test]
fn a_client_sees_what_the_server_tracks() {
    let Some(server) = MariaDb::start(&["--session-track-system-variables=character_set_connection"]) else {
        return;
    };
    let script = |server: &Server| {
        let mut client = Client::login(server, None, modern()).unwrap();
        let first = packets(&mut client, &["SET NAMES utf8", "SET NAMES big5", "SET sql_mode = ''"]);
        let names = ["system_variables", "state_change", "schema"];
        let read = |client: &mut Client| {
            names.map(|name| {
                format!("{:?}", client.query(format!("SELECT @@session_track_{name}").as_bytes()).unwrap())
            })
        };
        let before = read(&mut client);
        client.run(&Command::ResetConnection).unwrap();
        (first, before, read(&mut client), packets(&mut client, &["SET NAMES utf8mb4", "SET @a = 1"]))
    };
    for pooling in ["session", "transaction"] {
        let proxy = Setup::mariadb(server.port()).line(&format!("pooling: {pooling}")).start();
        assert_eq!(script(&server.server()), script(&proxy.server()), "{pooling}");
    }
}
