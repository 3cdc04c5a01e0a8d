//! Who gets in, who does not, and what they are told.

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Error, Opts};
use shuntyard_tests::client::Server;
use shuntyard_tests::mariadb::MariaDb;
use shuntyard_tests::mysql::MySql;
use shuntyard_tests::proxy::Setup;
use shuntyard_tests::raw;

async fn refusal(server: &Server, schema: Option<&str>) -> (u16, String, String) {
    match server.try_connect(schema).await {
        Err(Error::Server(e)) => (e.code, e.state, e.message),
        Err(other) => panic!("no refusal: {other}"),
        Ok(_) => panic!("let in"),
    }
}

#[tokio::test]
async fn refusals_are_the_servers_own() {
    let Some(server) = MariaDb::shared() else { return };
    let proxy = Setup::mariadb(server.port()).start();
    for (user, password, schema) in [
        ("app", "wrong", None),
        ("app", "", None),
        ("nobody_here", "x", None),
        ("app", "app", Some("no_such_schema")),
    ] {
        let straight = refusal(&server.server().as_user(user, password), schema).await;
        let proxied = refusal(&proxy.server().as_user(user, password), schema).await;
        assert_eq!(straight, proxied, "{user}");
    }
    let mut root = server.server().connect().await;
    root.query_drop("CREATE OR REPLACE USER narrow@'%' IDENTIFIED BY 'narrow'").await.unwrap();
    let narrow = |s: Server| s.as_user("narrow", "narrow");
    let straight = refusal(&narrow(server.server()), Some("mysql")).await;
    assert_eq!(straight, refusal(&narrow(proxy.server()), Some("mysql")).await);
    assert_eq!(straight.0, 1044);
}

#[tokio::test]
async fn accounts_come_and_go_with_the_server() {
    let Some(server) = MariaDb::shared() else { return };
    let proxy = Setup::mariadb(server.port()).start();
    let mut root = server.server().connect().await;
    root.query_drop("CREATE OR REPLACE USER fresh@'%' IDENTIFIED BY 'one'").await.unwrap();
    let mut conn = proxy.server().as_user("fresh", "one").connect().await;
    let who: Option<String> = conn.query_first("SELECT CURRENT_USER()").await.unwrap();
    assert_eq!(who.as_deref(), Some("fresh@%"));
    root.query_drop("ALTER USER fresh@'%' IDENTIFIED BY 'two'").await.unwrap();
    proxy.server().as_user("fresh", "two").connect().await;
    root.query_drop("CREATE OR REPLACE USER blank@'%'").await.unwrap();
    proxy.server().as_user("blank", "").connect().await;
    root.query_drop("DROP USER fresh@'%', blank@'%'").await.unwrap();
    assert_eq!(refusal(&proxy.server().as_user("fresh", "two"), None).await.0, 1045);
}

/// The server chooses a nearer account at once, which the proxy may not have read yet.
#[tokio::test]
async fn an_account_that_is_a_moment_old_is_chosen_as_the_server_does() {
    let Some(server) = MariaDb::shared() else { return };
    let proxy = Setup::mariadb(server.port()).start();
    let mut root = server.server().connect().await;
    let moment = |server: Server| server.as_user("moment", "moment");
    root.query_drop("CREATE OR REPLACE USER moment@'%' IDENTIFIED BY 'moment'").await.unwrap();
    moment(proxy.server()).connect().await;
    root.query_drop("CREATE OR REPLACE USER moment@localhost IDENTIFIED BY 'moment'").await.unwrap();
    for chosen in ["moment@localhost", "moment@%"] {
        for place in [server.server(), proxy.server()] {
            let who: Option<String> =
                moment(place).connect().await.query_first("SELECT CURRENT_USER()").await.unwrap();
            assert_eq!(who.as_deref(), Some(chosen));
        }
        root.query_drop("DROP USER IF EXISTS moment@localhost").await.unwrap();
    }
}

#[tokio::test]
async fn an_account_for_other_addresses_is_refused_as_the_server_does() {
    let Some(server) = MariaDb::shared() else { return };
    let proxy = Setup::mariadb(server.port()).start();
    let mut root = server.server().connect().await;
    root.query_drop("CREATE OR REPLACE USER far@'203.0.113.%' IDENTIFIED BY 'far'").await.unwrap();
    let straight = refusal(&server.server().as_user("far", "far"), None).await;
    assert_eq!(straight, refusal(&proxy.server().as_user("far", "far"), None).await);
}

#[tokio::test]
async fn listed_users_log_in_at_mysql_with_and_without_the_fast_path() {
    let Some(server) = MySql::shared().await else { return };
    let proxy = Setup::mysql(server.port()).start();
    for _ in 0..2 {
        let mut conn = proxy.server().connect().await;
        let who: Option<String> = conn.query_first("SELECT CURRENT_USER()").await.unwrap();
        assert_eq!(who.as_deref(), Some("app@%"));
    }
    assert_eq!(refusal(&proxy.server().as_user("app", "wrong"), None).await.0, 1045);
    assert_eq!(refusal(&proxy.server().as_user("unlisted", "x"), None).await.0, 1045);
    // Without TLS and without a known key: the client asks for the public key.
    let target = proxy.server();
    let greeted = tokio::task::spawn_blocking(move || {
        let client = raw::Client::login(&target, None, raw::modern()).unwrap();
        client.greeting.auth_plugin
    });
    assert_eq!(greeted.await.unwrap(), "caching_sha2_password");
}

#[tokio::test]
async fn listed_users_log_in_at_mariadb() {
    let Some(server) = MariaDb::shared() else { return };
    let proxy = Setup::mariadb(server.port()).listed().start();
    let mut conn = proxy.server().connect().await;
    assert_eq!(conn.query_first::<u8, _>("SELECT 1").await.unwrap(), Some(1));
    assert_eq!(refusal(&proxy.server().as_user("reader", "reader"), None).await.0, 1045, "not listed");
}

#[tokio::test]
async fn the_greeting_names_the_servers_version() {
    let Some(server) = MariaDb::shared() else { return };
    let proxy = Setup::mariadb(server.port()).start();
    let (straight, proxied) = (server.server(), proxy.server());
    tokio::task::spawn_blocking(move || {
        let straight = raw::Client::login(&straight, None, raw::modern()).unwrap().greeting;
        let proxied = raw::Client::login(&proxied, None, raw::modern()).unwrap().greeting;
        assert_eq!(straight.server_version, proxied.server_version);
        assert_eq!(straight.auth_plugin, proxied.auth_plugin);
        assert_eq!(straight.charset, proxied.charset);
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn the_unix_socket_listens_too() {
    let Some(server) = MariaDb::shared() else { return };
    let proxy = Setup::mariadb(server.port()).unix().start();
    let socket = proxy.socket();
    let opts = proxy.server().opts(None).socket(Some(socket.to_str().unwrap())).prefer_socket(true);
    let mut conn = Conn::new(Opts::from(opts)).await.unwrap();
    let client: Option<String> =
        conn.query_first("SELECT client FROM shuntyard.sessions WHERE user = 'app' LIMIT 1").await.unwrap();
    assert_eq!(client.as_deref(), Some("unix"));
}

#[tokio::test]
async fn one_connection_too_many_is_1040() {
    let Some(server) = MariaDb::shared() else { return };
    let proxy = Setup::mariadb(server.port()).line("limits: {connections: 2}").start();
    let one = proxy.server().connect().await;
    let _two = proxy.server().connect().await;
    assert_eq!(refusal(&proxy.server(), None).await.0, 1040);
    one.disconnect().await.unwrap();
    shuntyard_tests::proxy::eventually("a place is free", std::time::Duration::from_secs(3), async || {
        proxy.server().try_connect(None).await.is_ok()
    })
    .await;
}

#[tokio::test]
async fn change_user_changes_the_user() {
    let Some(server) = MariaDb::shared() else { return };
    let proxy = Setup::mariadb(server.port()).start();
    let mut conn = proxy.server().connect().await;
    let opts = mysql_async::ChangeUserOpts::new()
        .with_user(Some("reader".to_owned()))
        .with_pass(Some("reader".to_owned()));
    conn.change_user(opts).await.unwrap();
    let who: Option<String> = conn.query_first("SELECT CURRENT_USER()").await.unwrap();
    assert_eq!(who.as_deref(), Some("reader@%"));
    assert!(conn.query_drop("CREATE DATABASE not_allowed").await.is_err());
    assert!(conn.query_drop("SHOW SHUNTYARD STATUS").await.is_err(), "no admin any more");
}
