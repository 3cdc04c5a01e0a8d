//! How many may be in at once, and what one more is told.

use std::time::Duration;

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Error};
use shuntyard_tests::client::Server;
use shuntyard_tests::mariadb::MariaDb;
use shuntyard_tests::proxy::{Setup, eventually};

use super::make;

async fn refused(server: &Server) -> (u16, String, String) {
    match server.try_connect(None).await {
        Err(Error::Server(e)) => (e.code, e.state, e.message),
        Err(other) => panic!("no refusal: {other}"),
        Ok(_) => panic!("let in"),
    }
}

async fn free_again(server: &Server) {
    eventually("a place is free", Duration::from_secs(5), async || server.try_connect(None).await.is_ok())
        .await;
}

#[tokio::test]
async fn one_connection_of_a_user_too_many_is_1203_as_at_the_server() {
    let Some(server) = MariaDb::start(&["--max-user-connections=2"]) else { return };
    let behind = MariaDb::shared().unwrap();
    let proxy = Setup::mariadb(behind.port()).line("limits: {per_user: 2}").start();
    for root in [server.server(), behind.server()] {
        make(&root, &["CREATE USER c_two@'%' IDENTIFIED BY 'two'"]).await;
    }
    let mut told = Vec::new();
    for place in [server.server(), proxy.server()] {
        let user = place.as_user("c_two", "two");
        let one = user.connect().await;
        let _two = user.connect().await;
        told.push(refused(&user).await);
        assert_eq!(refused(&place.as_user("c_two", "wrong")).await.0, 1045, "a stranger learns nothing");
        place.connect().await;
        one.disconnect().await.unwrap();
        free_again(&user).await;
    }
    assert_eq!(told[0], told[1]);
    assert_eq!((told[0].0, told[0].1.as_str()), (1203, "42000"));
}

#[tokio::test]
async fn one_connection_of_a_listed_user_too_many_is_1226_as_at_the_server() {
    let Some(server) = MariaDb::shared() else { return };
    let listed = ["{name: c_few, password: few, connections: 1}", "{name: c_more, password: few}"];
    let proxy = Setup::mariadb(server.port()).users(&listed).line("limits: {per_user: 2}").start();
    let limited = "CREATE USER c_strict@'%' IDENTIFIED BY 'few' WITH MAX_USER_CONNECTIONS 1";
    make(
        &server.server(),
        &["CREATE USER c_few@'%' IDENTIFIED BY 'few'", "CREATE USER c_more@'%' IDENTIFIED BY 'few'", limited],
    )
    .await;
    let strict = server.server().as_user("c_strict", "few");
    let few = proxy.server().as_user("c_few", "few");
    let (_one, one) = (strict.connect().await, few.connect().await);
    let told = refused(&few).await;
    let (code, state, message) = refused(&strict).await;
    assert_eq!(told, (code, state, message.replace("c_strict", "c_few")));
    assert_eq!(told.0, 1226);
    one.disconnect().await.unwrap();
    free_again(&few).await;
    let more = proxy.server().as_user("c_more", "few");
    let _both = (more.connect().await, more.connect().await);
    assert_eq!(refused(&more).await.0, 1203, "the limit of all users");
}

/// Changing the user takes a seat of the new one and leaves the old one's.
#[tokio::test]
async fn a_changed_user_counts_for_the_new_one() {
    let Some(server) = MariaDb::shared() else { return };
    let proxy = Setup::mariadb(server.port()).line("limits: {per_user: 1}").start();
    make(
        &server.server(),
        &["CREATE USER c_old@'%' IDENTIFIED BY 'x'", "CREATE USER c_new@'%' IDENTIFIED BY 'x'"],
    )
    .await;
    let (old, new) = (proxy.server().as_user("c_old", "x"), proxy.server().as_user("c_new", "x"));
    let mut conn: Conn = old.connect().await;
    let opts = mysql_async::ChangeUserOpts::new()
        .with_user(Some("c_new".to_owned()))
        .with_pass(Some("x".to_owned()));
    conn.change_user(opts).await.unwrap();
    assert_eq!(refused(&new).await.0, 1203);
    old.connect().await;
}

#[tokio::test]
async fn one_connection_to_the_backend_too_many_is_1040_as_at_the_server() {
    let Some(server) = MariaDb::shared() else { return };
    let proxy = Setup::mariadb(server.port()).unshared().line("limits: {per_backend: 2}").start();
    let one = proxy.server().connect().await;
    let _two = proxy.server().connect().await;
    let told = refused(&proxy.server()).await;
    assert_eq!(told, (1040, "08004".to_owned(), "Too many connections".to_owned()));
    one.disconnect().await.unwrap();
    free_again(&proxy.server()).await;
}

/// Sessions that share need no connection of their own between transactions: more of them fit than connections.
#[tokio::test]
async fn sessions_that_share_fit_into_few_connections() {
    let Some(server) = MariaDb::shared() else { return };
    let proxy = Setup::mariadb(server.port())
        .line("pooling: transaction")
        .line("limits: {per_backend: 3, statements_per_backend: 2}")
        .start();
    let mut sessions = Vec::new();
    for _ in 0..6 {
        sessions.push(proxy.server().connect().await);
    }
    for conn in &mut sessions {
        assert_eq!(conn.query_first::<u8, _>("SELECT 1").await.unwrap(), Some(1));
    }
}

/// A wrong password is wrong at the server too, which counts them for each account and blocks who is wrong too often.
#[tokio::test]
async fn the_server_counts_wrong_passwords() {
    let Some(server) = MariaDb::start(&["--max-password-errors=2"]) else { return };
    let proxy = Setup::mariadb(server.port()).start();
    let mut seen = Vec::new();
    for place in [server.server(), proxy.server()] {
        make(
            &server.server(),
            &["CREATE USER e_counted@'%' IDENTIFIED BY 'right'", "CREATE USER e_blank@'%'"],
        )
        .await;
        let mut said = Vec::new();
        for (user, password) in [
            ("e_counted", "wrong"),
            ("e_counted", "right"),
            ("e_counted", "wrong"),
            ("e_counted", ""),
            ("e_counted", "right"),
            ("e_counted", "wrong"),
            ("e_blank", ""),
            ("e_blank", "wrong"),
            ("e_blank", "wrong"),
            ("e_blank", ""),
            ("e_stranger", "wrong"),
            ("e_stranger", "wrong"),
            ("e_stranger", "wrong"),
        ] {
            said.push(match place.as_user(user, password).try_connect(None).await {
                Ok(_) => "in".to_owned(),
                Err(error) => error.to_string(),
            });
        }
        seen.push(said);
    }
    assert_eq!(seen[0], seen[1]);
    assert!(seen[0][9].contains("4150"), "{:?}", seen[0]);
}
