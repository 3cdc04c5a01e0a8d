#![expect(clippy::unwrap_used, reason = "tests")]

use sql::Product;

use super::{Account, Accounts, Auth, Client, Standing, Transport, Way};

fn accounts(product: Product, skip_name_resolve: bool, parts: &[(&str, &str)]) -> Accounts {
    let account = |(user, host): &(&str, &str)| Account {
        user: (*user).into(),
        host: (*host).into(),
        plugin: "mysql_native_password".into(),
        auth: Auth::Empty,
        transport: Transport::Any,
        standing: Standing::Open,
    };
    Accounts::new(product, skip_name_resolve, parts.iter().map(account).collect())
}

fn from(ip: &str) -> Client {
    Client::Ip(ip.parse().unwrap())
}

fn chosen(accounts: &Accounts, user: &str, client: Client) -> String {
    accounts.choose(user, client).map_or("none".into(), Account::current_user)
}

#[test]
fn the_narrowest_host_wins() {
    let parts = [("a", "%"), ("a", "10.%"), ("a", "10.0.0.7"), ("a", "10.0.%")];
    let accounts = accounts(Product::MariaDb, false, &parts);
    assert_eq!(chosen(&accounts, "a", from("10.0.0.7")), "a@10.0.0.7");
    assert_eq!(chosen(&accounts, "a", from("10.0.0.8")), "a@10.0.%");
    assert_eq!(chosen(&accounts, "a", from("10.9.0.8")), "a@10.%");
    assert_eq!(chosen(&accounts, "a", from("11.9.0.8")), "a@%");
    assert_eq!(chosen(&accounts, "a", Client::Unix), "a@%");
    assert_eq!(chosen(&accounts, "b", Client::Unix), "none");
}

#[test]
fn an_anonymous_account_for_the_host_hides_a_named_one_for_any() {
    let accounts = accounts(Product::MariaDb, false, &[("app", "%"), ("", "localhost")]);
    assert_eq!(chosen(&accounts, "app", Client::Unix), "@localhost");
    assert_eq!(chosen(&accounts, "app", from("127.0.0.1")), "@localhost");
    assert_eq!(chosen(&accounts, "app", from("10.0.0.1")), "app@%");
    assert_eq!(chosen(&accounts, "", from("10.0.0.1")), "none");
}

#[test]
fn without_names_the_loopback_is_an_address() {
    let parts = [("a", "localhost"), ("a", "127.0.0.1")];
    assert_eq!(chosen(&accounts(Product::MariaDb, false, &parts), "a", from("127.0.0.1")), "a@localhost");
    let skipped = accounts(Product::MariaDb, true, &parts);
    assert_eq!(chosen(&skipped, "a", from("127.0.0.1")), "a@127.0.0.1");
    assert_eq!(chosen(&skipped, "a", Client::Unix), "a@localhost");
    assert_eq!(chosen(&skipped, "a", from("::ffff:127.0.0.1")), "a@127.0.0.1");
}

#[test]
fn mysql_ranks_networks_before_names() {
    let parts = [("a", "10.0.0.%"), ("a", "10.0.0.0/255.0.0.0"), ("a", "10.0.0.0/24")];
    let accounts = accounts(Product::MySql, false, &parts);
    assert_eq!(chosen(&accounts, "a", from("10.0.0.7")), "a@10.0.0.0/24");
    assert_eq!(chosen(&accounts, "a", from("10.7.0.7")), "a@10.0.0.0/255.0.0.0");
}

#[test]
fn names_are_case_sensitive_and_hosts_are_not() {
    let accounts = accounts(Product::MariaDb, false, &[("App", "LOCALHOST")]);
    assert_eq!(chosen(&accounts, "App", Client::Unix), "App@LOCALHOST");
    assert_eq!(chosen(&accounts, "app", Client::Unix), "none");
}

#[test]
fn strangers_are_asked_as_accounts_are() {
    let with = |auths: &[Auth]| {
        let account = |auth: &Auth| Account {
            user: "a".into(),
            host: "%".into(),
            plugin: String::new(),
            auth: auth.clone(),
            transport: Transport::Any,
            standing: Standing::Open,
        };
        Accounts::new(Product::MariaDb, false, auths.iter().map(account).collect())
    };
    let sha2 = || Auth::CachingSha2(b"$A$".to_vec());
    assert_eq!(with(&[]).decoy("x"), Way::Native);
    assert_eq!(with(&[sha2(), sha2(), Auth::Other("unix_socket".into())]).decoy("x"), Way::CachingSha2);
    let accounts = with(&[Auth::Native([1; 20]), Auth::Never, sha2(), Auth::Other("ed25519".into())]);
    let names: Vec<String> = (0..400).map(|n| format!("stranger{n}")).collect();
    for (way, share) in [(Way::Native, 200), (Way::CachingSha2, 100), (Way::Clear, 100)] {
        let count = names.iter().filter(|name| accounts.decoy(name) == way).count();
        assert!(count.abs_diff(share) < 60, "{way:?}: {count} of 400");
    }
    let one_more =
        with(&[Auth::Native([1; 20]), Auth::Never, Auth::Empty, sha2(), Auth::Other("ed25519".into())]);
    let same = names.iter().filter(|name| accounts.decoy(name) == one_more.decoy(name)).count();
    assert!(same > 300, "{same} of 400 are asked as before");
}
