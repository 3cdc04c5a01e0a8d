//! Users of the configuration: by every plugin, towards every plugin.

use shuntyard_tests::login::{Came, Client, Tls};
use shuntyard_tests::mariadb::MariaDb;
use shuntyard_tests::mysql::MySql;
use shuntyard_tests::proxy::Setup;

use super::{came, make};

const LISTED: [&str; 4] = [
    "{name: b_any, password: secret}",
    "{name: b_signs, password: secret, plugin: client_ed25519}",
    "{name: b_sha2, password: secret, plugin: caching_sha2_password}",
    "{name: b_clear, password: secret, plugin: mysql_clear_password}",
];

/// `IN` where the client has the plugin (or the server would let it choose), else what it says. `greeted` is the plugin that
/// clients are greeted with.
async fn each(proxied: &shuntyard_tests::client::Server, greeted: &str) {
    let of = |user: &str, password: &str| proxied.as_user(user, password);
    let entered = |user: &str| Came::In(format!("{user}@%"));
    for client in Client::ALL {
        for tls in [Tls::On, Tls::Off] {
            for user in ["b_any", "b_sha2"] {
                assert_eq!(came(client, &of(user, "secret"), tls, None).await, entered(user), "{client:?}");
                // Asked for the password itself, as at a server, this one sends it by TLS only, and says so.
                let sha2 = greeted == "caching_sha2_password" || user == "b_sha2";
                let unable = client == Client::ConnectorC && tls == Tls::Off && sha2;
                let out = Came::Out(if unable { 2061 } else { 1045 });
                assert_eq!(came(client, &of(user, "wrong"), tls, None).await, out, "{client:?}");
            }
        }
    }
    for plugin in [None, Some("client_ed25519")] {
        for tls in [Tls::On, Tls::Off] {
            for user in ["b_any", "b_signs"] {
                let right = came(Client::MariaDb, &of(user, "secret"), tls, plugin).await;
                assert_eq!(right, entered(user), "{plugin:?} {tls:?}");
                let wrong = came(Client::MariaDb, &of(user, "wrong"), tls, plugin).await;
                assert_eq!(wrong, Came::Out(1045), "{plugin:?} {tls:?}");
                let empty = came(Client::MariaDb, &of(user, ""), tls, plugin).await;
                assert_eq!(empty, Came::Out(1045), "{plugin:?} {tls:?}");
            }
        }
    }
    for client in [Client::MariaDb, Client::MySql, Client::PyMySql, Client::ConnectorPure] {
        let clear = |password| of("b_clear", password);
        assert_eq!(came(client, &clear("secret"), Tls::On, None).await, entered("b_clear"), "{client:?}");
        assert_eq!(came(client, &clear("wrong"), Tls::On, None).await, Came::Out(1045), "{client:?}");
        assert_eq!(came(client, &clear("secret"), Tls::Off, None).await, Came::Out(1251), "{client:?}");
    }
    // A client that likes to send its password may, where nobody reads along.
    for client in [Client::MariaDb, Client::MySql] {
        let came = came(client, &of("b_any", "secret"), Tls::On, Some("mysql_clear_password")).await;
        assert_eq!(came, entered("b_any"), "{client:?}");
    }
}

#[tokio::test]
async fn listed_users_prove_themselves_by_every_plugin_at_mariadb() {
    let Some(server) = MariaDb::start(&["--plugin-load-add=auth_ed25519"]) else { return };
    let proxy = Setup::mariadb(server.port()).users(&LISTED).start();
    // Towards the server the proxy signs too, whatever the client did.
    make(
        &server.server(),
        &[
            "CREATE USER b_any@'%' IDENTIFIED VIA ed25519 USING PASSWORD('secret')",
            "CREATE USER b_signs@'%' IDENTIFIED VIA ed25519 USING PASSWORD('secret')",
            "CREATE USER b_sha2@'%' IDENTIFIED BY 'secret'",
            "CREATE USER b_clear@'%' IDENTIFIED BY 'secret'",
        ],
    )
    .await;
    each(&proxy.server(), "mysql_native_password").await;
    // The server's own opinion of the plugin and of the passwords.
    let straight = came(Client::MariaDb, &server.server().as_user("b_signs", "secret"), Tls::Off, None).await;
    assert_eq!(straight, Came::In("b_signs@%".into()));
}

#[tokio::test]
async fn listed_users_prove_themselves_by_every_plugin_at_mysql() {
    let Some(server) = MySql::shared().await else { return };
    let proxy = Setup::mysql(server.port()).users(&LISTED).start();
    let made = ["b_any", "b_signs", "b_sha2", "b_clear"]
        .map(|user| format!("CREATE USER {user}@'%' IDENTIFIED BY 'secret'"));
    make(&server.server(), &made.each_ref().map(String::as_str)).await;
    each(&proxy.server(), "caching_sha2_password").await;
}
