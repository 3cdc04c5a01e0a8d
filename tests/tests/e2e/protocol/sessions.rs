//! What a session begins with, and begins anew with: character sets, COM_RESET_CONNECTION, COM_CHANGE_USER.

use shuntyard_tests::client::Server;
use shuntyard_tests::raw::{Client, classic, modern};
use wire::auth::{Client as Auth, ClientChannel, ClientStep, Password, Secret, ServerKey};
use wire::{Capabilities, ChangeUser, Command};

use super::talk::Talk;
use super::{Place, everywhere};

const ASK: &str = "SELECT @@character_set_client, @@character_set_connection, @@character_set_results, @@collation_connection, DATABASE()";

/// Collations of the greeting, above and below 255 and where nothing is: each server makes of them what it does.
#[tokio::test]
async fn collations_at_login() {
    for place in [Place::mariadb(), Place::mysql().await].into_iter().flatten() {
        tokio::task::spawn_blocking(move || {
            let ask = |server: &Server, wanted: Capabilities, charset: u16| {
                let mut client =
                    Client::login_in(server, None, wanted, charset).map_err(|e| e.to_string())?;
                let answers = [ASK, "SELECT 'a' = 'A', 'é'", "SELECT @@collation_connection"];
                let told = |client: &mut Client, sql: &str| format!("{:?}", client.query(sql.as_bytes()));
                let first = told(&mut client, answers[0]);
                // Somebody else in between, with another one.
                Client::login_in(server, None, wanted, 8)
                    .and_then(|mut other| other.query(b"SELECT 1"))
                    .unwrap();
                Ok::<_, String>([first, told(&mut client, answers[1]), told(&mut client, answers[2])])
            };
            for (pooling, proxy) in &place.proxies {
                for wanted in [modern(), classic()] {
                    for charset in [0, 8, 33, 45, 46, 63, 224, 254, 255, 256, 278, 309, 2304, 2311, 9999] {
                        let straight = ask(&place.straight, wanted, charset);
                        let proxied = ask(&proxy.server(), wanted, charset);
                        assert_eq!(straight, proxied, "{} {pooling} {charset}", place.product);
                    }
                }
            }
        })
        .await
        .unwrap();
    }
}

#[tokio::test]
async fn collations_above_255() {
    if let Some(place) = Place::mariadb() {
        let script = |talk: &mut Talk| collations(talk, "utf8mb4_uca1400_ai_ci", "utf8mb4_uca1400_as_cs");
        place.same(Capabilities::empty(), script).await;
    }
    if let Some(place) = Place::mysql().await {
        let script = |talk: &mut Talk| collations(talk, "utf8mb4_0900_as_ci", "utf8mb4_0900_bin");
        place.same(Capabilities::empty(), script).await;
    }
}

fn collations(talk: &mut Talk, one: &str, two: &str) {
    talk.quietly("CREATE DATABASE IF NOT EXISTS collated");
    talk.quietly("DROP TABLE IF EXISTS collated.t");
    talk.quietly(&format!("CREATE TABLE collated.t (a VARCHAR(10) COLLATE {one}, b TEXT COLLATE {two})"));
    talk.quietly("INSERT INTO collated.t VALUES ('é', 'É'), ('e', 'E')");
    talk.query(&format!("SET NAMES utf8mb4 COLLATE {one}"));
    talk.query(ASK);
    talk.interlude();
    talk.query(ASK);
    talk.query("SELECT a, b, 'x' AS x, 'e' = 'é', 'e' = 'E' FROM collated.t ORDER BY a, b");
    talk.interlude();
    if let Some(id) = talk.prepare("SELECT a, b, ? FROM collated.t ORDER BY b") {
        talk.execute(id, 0, &[0, 1, 253, 0, 1, b'x']);
        talk.client.send(&Command::StmtClose(id)).unwrap();
    }
    talk.query(&format!("SET collation_connection = {two}"));
    talk.interlude();
    talk.query(ASK);
    talk.query("SET NAMES latin1");
    talk.interlude();
    talk.query(ASK);
    talk.simple(&Command::ResetConnection);
    talk.query("SELECT a, b FROM collated.t ORDER BY b");
}

#[tokio::test]
async fn resets() {
    everywhere(|talk| {
        talk.quietly("CREATE DATABASE IF NOT EXISTS anew");
        // Who comes second is warned.
        talk.quietly("DO 0");
        talk.simple(&Command::InitDb(b"anew"));
        for _ in 0..2 {
            talk.query("SET @a = 5, sql_mode = '', group_concat_max_len = 99");
            talk.query("CREATE TEMPORARY TABLE t (id INT)");
            let id = talk.prepare("SELECT @a").unwrap();
            talk.query("BEGIN");
            talk.simple(&Command::ResetConnection);
            talk.interlude();
            talk.execute(id, 0, &[]);
            talk.query("SELECT @a, @@sql_mode = '', @@group_concat_max_len, DATABASE(), @@autocommit");
            talk.query("SELECT * FROM t");
            talk.query("SELECT LAST_INSERT_ID(), ROW_COUNT()");
        }
    })
    .await;
}

/// Logs in anew, by whatever plugin the server asks for, and notes how that ends.
fn change_user(talk: &mut Talk, password: &str, schema: &str, charset: u16) {
    change_to(talk, "app", password, schema, charset);
}

fn change_to(talk: &mut Talk, user: &str, password: &str, schema: &str, charset: u16) {
    talk.note(format!("> change user {user} {schema} {charset}"));
    let secret = Secret::Password(Password::new(password.as_bytes()));
    let channel = ClientChannel::Plain(ServerKey::Ask);
    let (plugin, scramble) = (talk.client.greeting.auth_plugin.clone(), talk.client.greeting.scramble);
    let start = Auth::start(&plugin, &scramble, secret, channel).unwrap();
    let change = ChangeUser {
        user: user.as_bytes(),
        auth_response: &start.response,
        schema: schema.as_bytes(),
        charset: Some(charset),
        plugin: Some(start.plugin.as_bytes()),
        raw_attributes: None,
    };
    talk.client.send(&Command::ChangeUser(change)).unwrap();
    let mut auth = start.client;
    loop {
        let payload = talk.client.packet().unwrap();
        match auth.step(&payload).unwrap() {
            ClientStep::Send(reply, next) => {
                talk.client.write(&reply).unwrap();
                auth = next;
            }
            ClientStep::Wait(next) => auth = next,
            // A MariaDB tells its state changes here, the proxy does not.
            ClientStep::Done => return talk.note("logged in"),
            ClientStep::Refused(error) => return talk.note(format!("{} {:?}", error.code, error.state)),
        }
    }
}

#[tokio::test]
async fn logins_anew() {
    everywhere(|talk| {
        talk.quietly("CREATE DATABASE IF NOT EXISTS anew2");
        for (schema, charset) in
            [("anew2", 45), ("", 8), ("anew2", 255), ("", 309), ("information_schema", 33)]
        {
            talk.query("SET @a = 1, sql_mode = ''");
            talk.query("CREATE TEMPORARY TABLE IF NOT EXISTS anew2.t (id INT)");
            change_user(talk, "app", schema, charset);
            talk.query(ASK);
            talk.interlude();
            talk.query(ASK);
            talk.query("SELECT @a, @@sql_mode = '', CURRENT_USER()");
            talk.query("SELECT * FROM anew2.t");
        }
        change_user(talk, "wrong", "", 45);
    })
    .await;
}

/// What a session is after it tried in vain to become somebody else: on MariaDB it goes on, until it has tried too often.
#[tokio::test]
async fn vain_logins_anew() {
    everywhere(|talk| {
        talk.quietly("CREATE DATABASE IF NOT EXISTS anew3");
        talk.quietly("CREATE TABLE IF NOT EXISTS anew3.t (id INT) ENGINE=InnoDB");
        // Who comes second is warned.
        talk.quietly("DO 0");
        talk.simple(&Command::InitDb(b"anew3"));
        let tries = [
            ("app", "wrong", ""),
            ("nobody_here", "", ""),
            ("app", "app", "no_such_schema"),
            ("app", "app", ""),
            ("app", "app", ""),
        ];
        for (user, password, schema) in tries {
            // In which order a server tells several changes is its own.
            talk.quietly("SET NAMES latin1, sql_mode = '', @a = 1, character_set_results = NULL");
            talk.query("CREATE TEMPORARY TABLE gone (id INT)");
            talk.query("BEGIN");
            talk.query("INSERT INTO anew3.t VALUES (1)");
            let started = std::time::Instant::now();
            change_to(talk, user, password, schema, 45);
            talk.note(format!("after {} s", started.elapsed().as_secs()));
            // A server that ends the connection has said all.
            if !talk.lives() {
                return;
            }
            talk.query("SHOW WARNINGS");
            talk.query("SELECT ROW_COUNT(), @a, @@sql_mode = '', USER(), CURRENT_USER(), @@autocommit");
            talk.query(ASK);
            talk.interlude();
            talk.query(ASK);
            talk.query("SELECT * FROM gone");
            talk.query("SELECT * FROM anew3.t");
        }
    })
    .await;
}
