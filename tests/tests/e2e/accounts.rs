//! Accounts of the servers and of the configuration, logged in to with every client, as at the server itself.

mod changes;
mod limits;
mod listed;
mod strangers;

use mysql_async::prelude::Queryable;
use shuntyard_tests::client::Server;
use shuntyard_tests::login::{Came, Client, Tls, try_login};
use shuntyard_tests::mariadb::MariaDb;
use shuntyard_tests::mysql::MySql;
use shuntyard_tests::proxy::Setup;
use shuntyard_tests::raw;
use wire::auth::ServerKey;

/// Name and password of what is tried, after `statements` have made it.
const ACCOUNTS: [(&str, &str); 10] = [
    ("a_plain", "secret"),
    ("a_plain", "wrong"),
    ("a_blank", ""),
    ("a_blank", "wrong"),
    ("a_locked", "secret"),
    ("a_locked", "wrong"),
    ("a_tls", "secret"),
    ("a_tls", "wrong"),
    ("a_far", "secret"),
    ("a_nobody", "secret"),
];

const STATEMENTS: [&str; 5] = [
    "CREATE USER a_plain@'%' IDENTIFIED BY 'secret'",
    "CREATE USER a_blank@'%'",
    "CREATE USER a_locked@'%' IDENTIFIED BY 'secret' ACCOUNT LOCK",
    "CREATE USER a_tls@'%' IDENTIFIED BY 'secret' REQUIRE SSL",
    "CREATE USER a_far@'203.0.113.%' IDENTIFIED BY 'secret'",
];

/// Makes accounts anew.
async fn make(server: &Server, statements: &[&str]) {
    let mut conn = server.connect().await;
    for statement in statements {
        let name = statement.split_whitespace().nth(2).unwrap();
        conn.query_drop(format!("DROP USER IF EXISTS {name}")).await.unwrap();
        conn.query_drop(*statement).await.unwrap();
    }
}

async fn came(client: Client, server: &Server, tls: Tls, plugin: Option<&'static str>) -> Came {
    let server = server.clone();
    tokio::task::spawn_blocking(move || try_login(client, &server, tls, plugin)).await.unwrap()
}

/// Every account with every client, at the server and through the proxy.
async fn as_at_the_server(straight: &Server, proxied: &Server) {
    make(straight, &STATEMENTS).await;
    let mut let_in = 0;
    for client in Client::ALL {
        for tls in [Tls::On, Tls::Off] {
            for (user, password) in ACCOUNTS {
                // MySQL asks strangers, by name or by address, for a plugin of its choice, and some clients give up on one
                // of them without TLS.
                if matches!((tls, user), (Tls::Off, "a_nobody" | "a_far")) {
                    continue;
                }
                let expected = came(client, &straight.as_user(user, password), tls, None).await;
                let_in += u32::from(matches!(expected, Came::In(_)));
                // Once for the password itself, once with what is known of it then.
                for time in ["first", "second"] {
                    let here = came(client, &proxied.as_user(user, password), tls, None).await;
                    assert_eq!(here, expected, "{client:?}, TLS {tls:?}, {user} {password}, {time} time");
                }
            }
        }
    }
    assert!(let_in > 8, "the clients can log in at all");
}

#[tokio::test]
async fn mariadb_accounts_log_in_as_at_the_server() {
    let files = tempfile::TempDir::with_prefix("shuntyard-accounts-").unwrap();
    crate::tls::certificates(files.path(), "back");
    let file =
        |name: &str| format!("--ssl-{name}={}", files.path().join(format!("back-{name}.pem")).display());
    let Some(server) = MariaDb::start(&[&file("cert"), &file("key")]) else { return };
    let proxy = Setup::mariadb(server.port()).start();
    as_at_the_server(&server.server(), &proxy.server()).await;
}

#[tokio::test]
async fn mysql_accounts_log_in_as_at_the_server() {
    // What the server remembers of passwords must not be forgotten for another test's sake.
    let Some(server) = own_mysql().await else { return };
    let proxy = Setup::mysql(server.port()).from_backends().start();
    as_at_the_server(&server.server(), &proxy.server()).await;
}

/// A server of one test's own, where the others would notice what is done to it.
async fn own_mysql() -> Option<MySql> {
    tokio::task::spawn_blocking(MySql::own).await.unwrap()
}

/// A login over a connection that others can read, by a client that does not give its password away.
async fn fast(server: &Server) -> bool {
    let server = server.clone();
    let login = move || raw::Client::login_with(&server, None, raw::modern(), ServerKey::Refuse).is_ok();
    tokio::task::spawn_blocking(login).await.unwrap()
}

#[tokio::test]
async fn the_password_is_asked_for_once() {
    let Some(server) = own_mysql().await else { return };
    let proxy = Setup::mysql(server.port()).from_backends().start();
    make(&server.server(), &["CREATE USER a_once@'%' IDENTIFIED BY 'once'"]).await;
    let user = proxy.server().as_user("a_once", "once");
    assert!(!fast(&user).await, "nothing is known yet");
    user.connect().await;
    assert!(fast(&user).await, "what is known now will do");
    assert!(!fast(&proxy.server().as_user("a_once", "twice")).await);
    // The server forgets what it knew of passwords: a client that can gives it again.
    let mut conn = server.server().connect().await;
    conn.query_drop("FLUSH PRIVILEGES").await.unwrap();
    assert!(!fast(&user).await, "the server wants the password");
    user.connect().await;
    assert!(fast(&user).await);
}

/// A session that shares connections opens more of them after its login, also where the server has forgotten by then.
#[tokio::test]
async fn a_shared_session_can_log_in_again() {
    let Some(server) = own_mysql().await else { return };
    let proxy = Setup::mysql(server.port()).from_backends().sharing(2).start();
    make(&server.server(), &["CREATE USER a_shared@'%' IDENTIFIED BY 'shared'"]).await;
    let user = proxy.server().as_user("a_shared", "shared");
    let one = user.connect().await;
    // Its login was fast, thanks to the first.
    let mut two = user.connect().await;
    one.disconnect().await.unwrap();
    let mut root = server.server().connect().await;
    root.query_drop("FLUSH PRIVILEGES").await.unwrap();
    let ids: Vec<u64> =
        root.query("SELECT ID FROM performance_schema.processlist WHERE USER = 'a_shared'").await.unwrap();
    assert!(!ids.is_empty(), "their connections are parked");
    for id in ids {
        root.query_drop(format!("KILL {id}")).await.unwrap();
    }
    let who: Option<String> = two.query_first("SELECT CURRENT_USER()").await.unwrap();
    assert_eq!(who.as_deref(), Some("a_shared@%"));
}

/// A plugin that the proxy does not know: the password goes to the server, which judges it.
#[tokio::test]
async fn other_plugins_get_the_password_over_tls_only() {
    let Some(server) = MariaDb::start(&["--plugin-load-add=auth_ed25519"]) else { return };
    let signs = "CREATE USER a_signs@'%' IDENTIFIED VIA ed25519 USING PASSWORD('signs')";
    make(&server.server(), &[signs, "CREATE USER a_local@'%' IDENTIFIED VIA unix_socket"]).await;
    let proxy = Setup::mariadb(server.port()).start();
    let (user, wrong) =
        (proxy.server().as_user("a_signs", "signs"), proxy.server().as_user("a_signs", "wrong"));
    for client in [Client::MariaDb, Client::MySql, Client::PyMySql, Client::ConnectorPure] {
        assert_eq!(came(client, &user, Tls::On, None).await, Came::In("a_signs@%".into()), "{client:?}");
        assert_eq!(came(client, &wrong, Tls::On, None).await, Came::Out(1045), "{client:?}");
        assert_eq!(came(client, &user, Tls::Off, None).await, Came::Out(1251), "{client:?}");
    }
    let local = proxy.server().as_user("a_local", "x");
    assert_eq!(came(Client::MariaDb, &local, Tls::On, None).await, Came::Out(1251), "nothing to pass on");
}
