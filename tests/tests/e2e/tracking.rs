//! Session tracking that a client sets by itself.

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
        ] {
            let login = |server| Client::login(&server, None, modern()).unwrap();
            let straight = packets(&mut login(server.server()), texts);
            let proxied = packets(&mut login(proxy.server()), texts);
            assert_eq!(straight, proxied, "{pooling}: {texts:?}");
        }
    }
}
