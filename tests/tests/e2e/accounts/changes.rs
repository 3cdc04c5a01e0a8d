//! What is changed about an account on the server counts at once.

use std::time::{Duration, Instant};

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Error};
use shuntyard_tests::client::Server;
use shuntyard_tests::mariadb::MariaDb;
use shuntyard_tests::mysql::MySql;
use shuntyard_tests::proxy::Setup;

use super::make;

/// What counts as at once: a login, with a fresh look at the accounts.
const AT_ONCE: Duration = Duration::from_secs(5);

async fn code(server: &Server) -> u16 {
    match server.try_connect(None).await {
        Ok(_) => 0,
        Err(Error::Server(error)) => error.code,
        Err(other) => panic!("{other}"),
    }
}

/// Each statement, and what the old and the new password are answered right after it: 0 is in.
async fn changes(straight: &Server, proxied: &Server, locked: u16, plugin: Option<&str>) {
    make(straight, &["CREATE USER d_moves@'%' IDENTIFIED BY 'one'"]).await;
    let (one, two) = (proxied.as_user("d_moves", "one"), proxied.as_user("d_moves", "two"));
    let stays = one.connect().await;
    let plugin = plugin.map(|plugin| format!("ALTER USER d_moves@'%' {plugin}"));
    let steps = [
        ("ALTER USER d_moves@'%' IDENTIFIED BY 'two'", 1045, 0),
        ("ALTER USER d_moves@'%' ACCOUNT LOCK", 1045, locked),
        ("ALTER USER d_moves@'%' ACCOUNT UNLOCK", 1045, 0),
        ("ALTER USER d_moves@'%' IDENTIFIED BY 'one'", 0, 1045),
        ("ALTER USER d_moves@'%' IDENTIFIED BY 'two'", 1045, 0),
        (plugin.as_deref().unwrap_or("DO 1"), 1045, if plugin.is_some() { 1251 } else { 0 }),
        ("DROP USER d_moves@'%'", 1045, 1045),
        ("CREATE USER d_moves@'%' IDENTIFIED BY 'two'", 1045, 0),
        ("DROP USER d_moves@'%'", 1045, 1045),
    ];
    let mut root = straight.connect().await;
    for (statement, old, new) in steps {
        root.query_drop(statement).await.unwrap();
        let since = Instant::now();
        assert_eq!(code(&two).await, new, "new password after {statement}");
        // Where the plugin changed, the proxy's answer depends on when it last looked.
        if new != 1251 {
            assert_eq!(code(&one).await, old, "old password after {statement}");
        }
        assert!(since.elapsed() < AT_ONCE, "{statement}: {:?}", since.elapsed());
    }
    drop(stays);
}

#[tokio::test]
async fn changes_on_mariadb_count_at_once() {
    let Some(server) = MariaDb::shared() else { return };
    let proxy = Setup::mariadb(server.port()).start();
    changes(&server.server(), &proxy.server(), 4151, None).await;
}

#[tokio::test]
async fn changes_on_mysql_count_at_once() {
    let Some(server) = MySql::shared().await else { return };
    let proxy = Setup::mysql(server.port()).from_backends().start();
    changes(&server.server(), &proxy.server(), 3118, None).await;
}

/// An expired password lets in who may change it, and nobody else; as at the server.
async fn expired(straight: &Server, proxied: &Server, makes: &[&str], change: &str) {
    for place in [straight, proxied] {
        make(straight, &["CREATE USER d_stale@'%' IDENTIFIED BY 'old'"]).await;
        let mut root = straight.connect().await;
        for statement in makes {
            root.query_drop(*statement).await.unwrap();
        }
        let old = place.as_user("d_stale", "old");
        let server = old.clone();
        let refused = tokio::task::spawn_blocking(move || {
            let wanted = shuntyard_tests::raw::modern();
            let plain = shuntyard_tests::raw::Client::login(&server, None, wanted).map(|_| ());
            let capable = wanted | wire::Capabilities::CAN_HANDLE_EXPIRED_PASSWORDS;
            let mut conn = shuntyard_tests::raw::Client::login(&server, None, capable).unwrap();
            (plain, conn.query(b"SELECT 1").unwrap(), conn)
        });
        let (plain, first, mut conn) = refused.await.unwrap();
        let denied = plain.unwrap_err().to_string();
        assert!(denied.contains("password") && denied.contains("expired"), "{denied}");
        let code = |answer: &router::compare::Answer| match answer.results.first() {
            Some(router::compare::Outcome::Failed(failure)) => failure.code,
            _ => 0,
        };
        assert_eq!(code(&first), 1820, "{first:?}");
        let change = change.to_owned();
        let then = tokio::task::spawn_blocking(move || {
            let changed = conn.query(change.as_bytes()).unwrap();
            (changed, conn.query(b"SELECT CURRENT_USER()").unwrap())
        });
        let (changed, then) = then.await.unwrap();
        assert_eq!((code(&changed), code(&then)), (0, 0), "{changed:?} {then:?}");
        let mut conn: Conn = place.as_user("d_stale", "new").connect().await;
        assert_eq!(conn.query_first::<u8, _>("SELECT 1").await.unwrap(), Some(1));
    }
}

#[tokio::test]
async fn expired_passwords_can_be_changed_at_mariadb() {
    let Some(server) = MariaDb::start(&["--disconnect-on-expired-password"]) else { return };
    let proxy = Setup::mariadb(server.port()).start();
    let expire = ["ALTER USER d_stale@'%' PASSWORD EXPIRE"];
    expired(&server.server(), &proxy.server(), &expire, "SET PASSWORD = PASSWORD('new')").await;
}

#[tokio::test]
async fn expired_passwords_can_be_changed_at_mysql() {
    let Some(server) = MySql::shared().await else { return };
    let proxy = Setup::mysql(server.port()).from_backends().start();
    let expire = ["ALTER USER d_stale@'%' PASSWORD EXPIRE"];
    expired(&server.server(), &proxy.server(), &expire, "ALTER USER USER() IDENTIFIED BY 'new'").await;
}
