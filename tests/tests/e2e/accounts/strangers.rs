//! A wrong password costs the same steps, here and at the server, whether the user exists or not.

use std::time::{Duration, Instant};

use mysql_async::prelude::Queryable;
use shuntyard_tests::client::Server;
use shuntyard_tests::mariadb::MariaDb;
use shuntyard_tests::proxy::{Proxy, Setup};
use shuntyard_tests::raw;

use super::{make, own_mysql};

/// What the proxy sent and how long it took: kind and length of each packet, without the names in the last one.
fn steps(server: &Server) -> (Vec<(u8, usize)>, Duration) {
    let since = Instant::now();
    let mut seen = Vec::new();
    let mut record = |payload: &[u8]| {
        let len = payload.len()
            - String::from_utf8_lossy(payload).matches(&server.account.user).count()
                * server.account.user.len();
        seen.push((payload[0], len));
    };
    let refused =
        raw::Client::login_seen(server, None, raw::modern(), wire::auth::ServerKey::Ask, &mut record);
    assert!(refused.is_err());
    (seen, since.elapsed())
}

/// Logins that the server has seen.
async fn seen_by(server: &Server) -> u64 {
    let mut conn = server.connect().await;
    let row: Option<(String, u64)> = conn.query_first("SHOW GLOBAL STATUS LIKE 'Connections'").await.unwrap();
    row.unwrap().1
}

async fn same(server: &Server, proxy: &Proxy, exists: &str) {
    make(server, &[&format!("CREATE USER {exists}@'%' IDENTIFIED BY 'right'")]).await;
    proxy.server().as_user(exists, "right").connect().await.disconnect().await.unwrap();
    let mut both = Vec::new();
    // As long as each other, so that lengths tell nothing of themselves.
    for user in [exists, "e_stranger"] {
        assert_eq!(user.len(), exists.len());
        let target = proxy.server().as_user(user, "wrong");
        let before = seen_by(server).await;
        let mut runs = Vec::new();
        for _ in 0..9 {
            let target = target.clone();
            runs.push(tokio::task::spawn_blocking(move || steps(&target)).await.unwrap());
        }
        // The proxy's own looks at the server go over connections that it has.
        let logins = seen_by(server).await - before;
        let packets = runs[0].0.clone();
        assert!(runs.iter().all(|run| run.0 == packets), "{user}: {runs:?}");
        // The least disturbed one.
        let time = runs.iter().map(|run| run.1).min().unwrap_or_default();
        both.push((packets, logins, time));
    }
    assert_eq!(both[0].0, both[1].0, "the packets");
    assert_eq!(both[0].1, both[1].1, "the logins at the server");
    let (known, stranger) = (both[0].2.as_secs_f64(), both[1].2.as_secs_f64());
    // Coarse, for a busy machine: what must not be is a look at the accounts or a login more.
    assert!((0.2..5.0).contains(&(known / stranger)), "{known} and {stranger} seconds at best");
}

#[tokio::test]
async fn strangers_wait_as_long_at_mariadb() {
    let Some(server) = MariaDb::start(&[]) else { return };
    let proxy = Setup::mariadb(server.port()).start();
    same(&server.server(), &proxy, "e_existing").await;
}

#[tokio::test]
async fn strangers_wait_as_long_at_mysql() {
    let Some(server) = own_mysql().await else { return };
    let proxy = Setup::mysql(server.port()).from_backends().start();
    same(&server.server(), &proxy, "e_existing").await;
}

#[tokio::test]
async fn strangers_wait_as_long_where_users_are_listed() {
    let Some(server) = MariaDb::start(&["--plugin-load-add=auth_ed25519"]) else { return };
    for plugin in ["mysql_native_password", "caching_sha2_password", "client_ed25519"] {
        let listed = format!("{{name: e_existing, password: right, plugin: {plugin}}}");
        let proxy = Setup::mariadb(server.port()).users(&[&listed]).start();
        same(&server.server(), &proxy, "e_existing").await;
    }
}
