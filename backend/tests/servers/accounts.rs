//! Which account a client gets: our choice against the server's own.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use backend::accounts::{
    Accounts, AccountsHandle, Auth, Client, HostPattern, Order, Standing, Transport, keep, load,
    needed_grants,
};
use backend::address::Address;
use backend::control::{Control, ControlError, ServerFacts, Target};

use crate::machine::{MariaDb, MySql, PATIENCE, as_user, until};

/// Host parts, all of which may match a client on this machine.
const HOSTS: [&str; 14] = [
    "localhost",
    "127.0.0.1",
    "127.0.0.%",
    "127.0.0._",
    "127.%",
    "%",
    "127.0.0.0/255.255.255.0",
    "127.0.0.0/255.0.0.0",
    "local%",
    "%localhost",
    "127.0._.1",
    "_27.0.0.1",
    "%27.0.0.1",
    "1%7.0.0.%",
];

/// Sets of accounts: every pair of host parts for one name, and with anonymous ones beside.
fn sets() -> Vec<Vec<(&'static str, &'static str)>> {
    let mut sets = vec![];
    for (at, first) in HOSTS.iter().enumerate() {
        for second in HOSTS.iter().skip(at + 1) {
            sets.push(vec![("who", *first), ("who", *second)]);
        }
        for anonymous in HOSTS {
            sets.push(vec![("who", *first), ("", anonymous)]);
        }
    }
    sets.push(HOSTS.iter().map(|host| ("who", *host)).collect());
    sets
}

async fn read(control: &mut Control) -> Accounts {
    let facts = ServerFacts::probe(control).await.unwrap();
    load(control, &facts).await.unwrap()
}

/// What the server itself chooses; `None` when it refuses.
async fn servers_choice(target: &Target) -> Option<String> {
    match as_user(target, "who", "").connect().await {
        Ok(mut control) => {
            let row: Option<(String,)> = control.first("SELECT CURRENT_USER()").await.unwrap();
            control.close().await;
            row.map(|(user,)| user)
        }
        Err(ControlError::Denied { .. }) => None,
        Err(other) => panic!("{other}"),
    }
}

/// Whether an order says which of two accounts comes first.
type Decides = fn(&str, &str) -> bool;

async fn compare(root: &mut Control, clients: &[(Target, Client)], decides: Decides) {
    let host = |account: &str| account.rsplit_once('@').unwrap().1.to_owned();
    for set in sets() {
        for (user, host) in &set {
            root.execute(&format!("CREATE USER '{user}'@'{host}'")).await.unwrap();
        }
        let accounts = read(root).await;
        for (target, client) in clients {
            let ours = accounts.choose("who", *client).map(backend::accounts::Account::current_user);
            let theirs = servers_choice(target).await;
            let tie = match (&ours, &theirs) {
                (Some(ours), Some(theirs)) => !decides(&host(ours), &host(theirs)),
                _ => false,
            };
            assert!(ours == theirs || tie, "{set:?} {client:?}: we {ours:?}, server {theirs:?}");
        }
        for (user, host) in &set {
            root.execute(&format!("DROP USER '{user}'@'{host}'")).await.unwrap();
        }
    }
}

/// Among equal ranks MySQL's order depends on how its table was filled: the proxy's check of CURRENT_USER() refuses the
/// login where it guessed wrong.
fn mysql_decides(first: &str, second: &str) -> bool {
    let rank = |host| HostPattern::parse(host).rank(Order::NetworksThenPrefix);
    rank(first) != rank(second)
}

fn tcp(target: &Target, host: &str) -> Target {
    let Address::Tcp { port, .. } = target.address else { panic!("{target:?}") };
    Target { address: Address::Tcp { host: host.into(), port }, ..target.clone() }
}

const LOOPBACK: Client = Client::Ip(IpAddr::V4(Ipv4Addr::LOCALHOST));

#[tokio::test]
async fn mariadb_chooses_as_we_do() {
    let server = MariaDb::start(&[]);
    let mut root = server.root().await;
    let clients = [(server.unix(), Client::Unix), (tcp(&server.tcp(), "127.0.0.1"), LOOPBACK)];
    compare(&mut root, &clients, |_, _| true).await;
}

#[tokio::test]
async fn mariadb_without_names_chooses_as_we_do() {
    let server = MariaDb::start(&["--skip-name-resolve"]);
    let mut root = server.root().await;
    let clients = [(server.unix(), Client::Unix), (tcp(&server.tcp(), "127.0.0.1"), LOOPBACK)];
    compare(&mut root, &clients, |_, _| true).await;
}

#[tokio::test]
async fn mysql_chooses_as_we_do() {
    let Some(server) = MySql::start() else { return };
    let mut root = server.tcp().connect().await.unwrap();
    let clients = [(tcp(&server.tcp(), "127.0.0.1"), LOOPBACK)];
    compare(&mut root, &clients, mysql_decides).await;
}

#[tokio::test]
async fn what_mariadb_stores() {
    let server = MariaDb::start(&[]);
    let mut root = server.root().await;
    root.execute(
        "CREATE USER n@'%' IDENTIFIED BY 'app'; CREATE USER e@'%'; CREATE USER l@'%' ACCOUNT LOCK; \
         CREATE USER x@'%' IDENTIFIED BY 'x' PASSWORD EXPIRE; CREATE USER t@'%' REQUIRE SSL; \
         CREATE USER c@'%' REQUIRE X509; CREATE USER u@'%' IDENTIFIED VIA unix_socket; \
         CREATE USER b@'%' IDENTIFIED VIA unix_socket OR mysql_native_password USING PASSWORD('app'); \
         CREATE ROLE r; CREATE USER `odd\"'name`@'%' IDENTIFIED BY 'app'",
    )
    .await
    .unwrap();
    let accounts = read(&mut root).await;
    let of = |user: &str| accounts.choose(user, LOOPBACK).unwrap();
    let Auth::Native(hash) = of("n").auth else { panic!("{:?}", of("n")) };
    assert_eq!(hash[..2], [0x5B, 0xCB]);
    assert_eq!(of("e").auth, Auth::Empty);
    assert_eq!(
        (of("l").standing, of("x").standing, of("n").standing),
        (Standing::Locked, Standing::Expired, Standing::Open)
    );
    assert_eq!(
        (of("t").transport, of("c").transport, of("n").transport),
        (Transport::Tls, Transport::Certificate, Transport::Any)
    );
    assert_eq!(of("u").auth, Auth::Other("unix_socket".into()));
    assert_eq!((&of("b").auth, of("b").plugin.as_str()), (&Auth::Native(hash), "unix_socket"));
    assert_eq!(of("odd\"'name").auth, Auth::Native(hash));
    assert!(!accounts.knows("r") && accounts.choose("nobody", LOOPBACK).is_none());
}

/// A server whose tables come from an older one and were never upgraded, with fewer columns than any still has.
#[tokio::test]
async fn what_a_mariadb_that_was_not_upgraded_stores() {
    let server = MariaDb::start(&[]);
    let mut root = server.root().await;
    root.execute("CREATE USER old@'%' IDENTIFIED BY 'app'; CREATE USER gone@'%'").await.unwrap();
    root.execute(
        "CREATE TABLE mysql.older AS SELECT * FROM mysql.user WHERE User <> 'gone'; \
         ALTER TABLE mysql.older DROP COLUMN is_role, DROP COLUMN password_expired, DROP COLUMN default_role, \
         DROP COLUMN max_statement_time",
    )
    .await
    .unwrap();
    let handle = AccountsHandle::new();
    let _keeper = keep(server.unix(), handle.clone(), Duration::from_millis(50));
    assert!(until(async || handle.current()).await.knows("gone"));
    root.execute(
        "RENAME TABLE mysql.user TO mysql.newer, mysql.older TO mysql.user; DROP TABLE mysql.global_priv",
    )
    .await
    .unwrap();
    let accounts = until(async || handle.current().filter(|accounts| !accounts.knows("gone"))).await;
    assert!(matches!(accounts.choose("old", LOOPBACK).unwrap().auth, Auth::Native(_)));
    root.execute("DELETE FROM mysql.user WHERE User = 'old'").await.unwrap();
    until(async || handle.current().filter(|accounts| !accounts.knows("old"))).await;
}

#[tokio::test]
async fn what_mysql_stores() {
    let Some(server) = MySql::start() else { return };
    let mut root = server.tcp().connect().await.unwrap();
    root.execute("CREATE USER s@'%' IDENTIFIED BY 'app'; CREATE USER l@'%' ACCOUNT LOCK; CREATE ROLE r; CREATE USER t@'%' REQUIRE SSL").await.unwrap();
    let accounts = read(&mut root).await;
    let of = |user: &str| accounts.choose(user, LOOPBACK).unwrap();
    assert!(
        matches!(&of("s").auth, Auth::CachingSha2(stored) if stored.starts_with(b"$A$")),
        "{:?}",
        of("s")
    );
    assert_eq!(of("l").standing, Standing::Locked);
    assert_eq!(of("t").transport, Transport::Tls);
}

#[tokio::test]
async fn missing_privileges_are_named_and_suffice() {
    let server = MariaDb::start(&[]);
    suffices(server.root().await, server.unix()).await;
    if let Some(server) = MySql::start() {
        suffices(server.tcp().connect().await.unwrap(), server.tcp()).await;
    }
}

async fn suffices(mut root: Control, target: Target) {
    root.execute("CREATE USER `prox'y`@'%' IDENTIFIED BY 'p'").await.unwrap();
    let target = as_user(&target, "prox'y", "p");
    let handle = AccountsHandle::new();
    let _keeper = keep(target.clone(), handle.clone(), Duration::from_millis(50));
    let fault = until(async || handle.fault()).await;
    let ControlError::Privileges { statements, .. } = fault else { panic!("{fault}") };
    let mut control = target.connect().await.unwrap();
    assert_eq!(statements, needed_grants(&ServerFacts::probe(&mut control).await.unwrap()));
    for grant in statements {
        root.execute(grant.trim_end_matches(';')).await.unwrap();
    }
    assert!(until(async || handle.current()).await.knows("prox'y"));
    assert_eq!(handle.fault(), None);
}

#[tokio::test]
async fn a_login_about_to_be_refused_can_ask_for_fresh_accounts() {
    let server = MariaDb::start(&[]);
    let mut root = server.root().await;
    let handle = AccountsHandle::new();
    let _keeper = keep(server.unix(), handle.clone(), Duration::from_secs(3600));
    assert!(!handle.fresh(PATIENCE).await.unwrap().knows("late"));
    root.execute("CREATE USER late@'%' IDENTIFIED BY 'a'").await.unwrap();
    assert!(handle.fresh(PATIENCE).await.unwrap().knows("late"));
    let auth = async || handle.fresh(PATIENCE).await.unwrap().choose("late", LOOPBACK).unwrap().auth.clone();
    let before = auth().await;
    root.execute("SET PASSWORD FOR late@'%' = PASSWORD('b')").await.unwrap();
    assert_ne!(auth().await, before);
    root.execute("DROP USER late@'%'").await.unwrap();
    assert!(!handle.fresh(PATIENCE).await.unwrap().knows("late"));
}

#[tokio::test]
async fn accounts_change_without_being_asked_for() {
    let server = MariaDb::start(&[]);
    let mut root = server.root().await;
    let handle = AccountsHandle::new();
    let _keeper = keep(server.unix(), handle.clone(), Duration::from_millis(50));
    until(async || handle.current()).await;
    root.execute("CREATE USER seen@'%'").await.unwrap();
    until(async || handle.current().filter(|accounts| accounts.knows("seen"))).await;
}
