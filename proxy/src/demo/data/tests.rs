#![expect(clippy::unwrap_used, reason = "tests")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use backend::address::Address;
use backend::bundled::{Options, Running, Surroundings, prepare};
use backend::control::Target;

use super::{ARCHIVED, CUSTOMERS, Loaded, ORDERS, Progress, STATEMENTS, load};

/// Adds up what it is told.
#[derive(Default)]
struct Sum {
    goal: AtomicU64,
    made: AtomicU64,
}

impl Progress for Sum {
    fn begin(&self, rows: u64) {
        self.goal.store(rows, Ordering::Relaxed);
    }

    fn advance(&self, rows: u64) {
        self.made.fetch_add(rows, Ordering::Relaxed);
    }

    fn end(&self) {}
}

fn target(server: &Running) -> Target {
    let account = server.account();
    let mut target =
        Target::new(Address::Unix(server.socket().to_owned()), account.user, account.password.clone());
    target.connect_timeout = std::time::Duration::from_secs(60);
    target.read_timeout = std::time::Duration::from_secs(300);
    target
}

#[tokio::test]
async fn the_shop_is_made_once_whole_and_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let server =
        prepare(Options::new("s1", folder.path()), &Surroundings::of_process()).await.unwrap().start();
    server.ready().await.unwrap();
    let target = target(&server);
    let sum = Sum::default();

    let mut control = target.connect().await.unwrap();
    let begun = Instant::now();
    assert_eq!(load(&target, &sum).await.unwrap(), Loaded::Made);
    eprintln!("made in {:?}", begun.elapsed());
    assert_eq!(sum.goal.load(Ordering::Relaxed), CUSTOMERS + ORDERS + ARCHIVED);
    assert_eq!(sum.made.load(Ordering::Relaxed), CUSTOMERS + ORDERS + ARCHIVED);

    for (table, rows, digest) in [
        ("customers", CUSTOMERS, CUSTOMERS_SUM),
        ("orders", ORDERS, ORDERS_SUM),
        ("orders_archive", ARCHIVED, ARCHIVE_SUM),
    ] {
        let columns = if table == "customers" {
            "name, email, city, country"
        } else {
            "customer_id, status, items, amount, note"
        };
        let sql = format!("SELECT COUNT(*), BIT_XOR(CRC32(CONCAT_WS('|', id, {columns}))) FROM shop.{table}");
        let found: Option<(u64, u64)> = control.first(&sql).await.unwrap();
        assert_eq!(found, Some((rows, digest)), "{table}");
    }
    let strangers = "SELECT COUNT(*) FROM shop.orders o LEFT JOIN shop.customers c ON c.id = o.customer_id \
         WHERE c.id IS NULL OR c.created_at > o.created_at";
    let strangers: Option<(u64,)> = control.first(strangers).await.unwrap();
    assert_eq!(strangers, Some((0,)), "every order has a customer who was one then");

    let app =
        Target { user: super::APP.0.into(), password: super::APP.1.to_owned().into(), ..target.clone() };
    let mut client = app.connect().await.unwrap();
    let chosen: Option<(String,)> = client.first("SELECT CURRENT_USER()").await.unwrap();
    assert_eq!(chosen, Some(("app@%".to_owned(),)));
    client.execute("USE shop").await.unwrap();
    for statement in STATEMENTS {
        if let Some(before) = statement.before {
            client.execute(before).await.unwrap();
        }
        let begun = Instant::now();
        let mut rows = 0;
        client.each(target.read_timeout, statement.sql, |_| rows += 1).await.unwrap();
        eprintln!("{}: {rows} rows in {:?}", statement.rule, begun.elapsed());
        assert_eq!(rows, 20, "{}", statement.sql);
    }

    // What somebody changed is kept; what was only begun is made anew.
    control.execute("DELETE FROM shop.customers WHERE id = 1").await.unwrap();
    assert_eq!(load(&target, &sum).await.unwrap(), Loaded::Found);
    let count = async |control: &mut backend::control::Control| -> u64 {
        let row: Option<(u64,)> = control.first("SELECT COUNT(*) FROM shop.customers").await.unwrap();
        row.unwrap().0
    };
    assert_eq!(count(&mut control).await, CUSTOMERS - 1);
    control.execute("UPDATE _shuntyard.demo SET state = 'begun'; DROP TABLE shop.orders").await.unwrap();
    assert_eq!(load(&target, &sum).await.unwrap(), Loaded::Made);
    assert_eq!(count(&mut control).await, CUSTOMERS);
    control.execute("DROP TABLE _shuntyard.demo").await.unwrap();
    assert_eq!(load(&target, &sum).await.unwrap(), Loaded::Foreign);
    server.stop().await;
}

// What the rows come to, in every run and on every machine; without the times, for POW is the C library's.
const CUSTOMERS_SUM: u64 = 1_150_382_311;
const ORDERS_SUM: u64 = 1_984_325_538;
const ARCHIVE_SUM: u64 = 60_323_417;
