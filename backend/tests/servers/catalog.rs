//! The catalog of real servers: what is read, and that changes are seen.

use std::time::{Duration, Instant};

use backend::catalog::{CatalogHandle, NO_CATALOG, Timing, keep, load};
use backend::control::{Control, ServerFacts, Target};
use sql::catalog::{BaseType, Catalog, Generated, KeyKind, TableKind};

use crate::machine::{MariaDb, MySql, PATIENCE, as_user, until};

/// Checks often; whole readings only when asked for, so that a test of the check tests the check.
const CHECKS: Timing = Timing {
    check: Duration::from_millis(100),
    full: Duration::from_secs(3600),
    quiet: Duration::from_secs(3600),
    back_off: Duration::from_millis(200),
};

/// Checks never on their own: only what is asked for.
const NEVER: Timing = Timing { check: Duration::from_secs(3600), ..CHECKS };

const SCHEMA: &str = "
CREATE DATABASE c; CREATE DATABASE C2 CHARACTER SET latin1;
CREATE TABLE c.t (
    id INT UNSIGNED NOT NULL AUTO_INCREMENT, name VARCHAR(20) NOT NULL, bin VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
    amount DECIMAL(10,2), at DATETIME(3) NULL, kind ENUM('a','b)') NOT NULL, body MEDIUMTEXT, raw VARBINARY(7),
    twice INT AS (id_copy * 2) VIRTUAL, id_copy INT NOT NULL, thrice INT AS (id_copy * 3) STORED,
    PRIMARY KEY (id), UNIQUE KEY name (name), KEY part (bin(5), at), FULLTEXT KEY words (body)
) ENGINE=InnoDB DEFAULT CHARACTER SET latin1 COLLATE latin1_german1_ci;
CREATE TABLE C2.plain (a CHAR(3)) ENGINE=MyISAM;
CREATE VIEW c.v AS SELECT id, name FROM c.t;
";

async fn read(control: &mut Control) -> Catalog {
    let facts = ServerFacts::probe(control).await.unwrap();
    load(control, &facts, PATIENCE).await.unwrap()
}

/// What both servers agree on.
async fn check_content(control: &mut Control) {
    control.execute(SCHEMA).await.unwrap();
    let catalog = read(control).await;
    let table = catalog.table("c", "t").unwrap();
    assert_eq!((table.kind, table.is_innodb()), (TableKind::Base, true));
    let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names.join(" "), "id name bin amount at kind body raw twice id_copy thrice");

    let id = table.column("ID").unwrap();
    assert_eq!(
        (id.kind.base, id.kind.unsigned, id.nullable, id.auto_increment),
        (BaseType::Int, true, false, true)
    );
    assert_eq!(id.collation, None);
    let name = table.column("name").unwrap();
    assert_eq!((name.kind.length, name.charset.as_deref()), (Some(20), Some("latin1")));
    assert_eq!(name.collation.as_deref(), Some("latin1_german1_ci"));
    assert_eq!(table.column("bin").unwrap().collation.as_deref(), Some("utf8mb4_bin"));
    let amount = table.column("amount").unwrap();
    assert_eq!((amount.kind.length, amount.kind.scale, amount.nullable), (Some(10), Some(2), true));
    assert_eq!(table.column("at").unwrap().kind.scale, Some(3));
    assert_eq!(table.column("kind").unwrap().kind.text, "enum('a','b)')");
    assert_eq!(table.column("body").unwrap().kind.length, Some(16_777_215));
    assert_eq!(table.column("raw").unwrap().kind.base, BaseType::VarBinary);
    assert_eq!(table.column("twice").unwrap().generated, Generated::Virtual);
    assert_eq!(table.column("thrice").unwrap().generated, Generated::Stored);

    let primary = table.keys.first().unwrap();
    assert_eq!((primary.kind, primary.is_unique_not_null(table)), (KeyKind::Primary, true));
    let key = |name: &str| table.keys.iter().find(|key| key.name == name).unwrap();
    assert_eq!(key("name").kind, KeyKind::Unique);
    assert_eq!(key("words").kind, KeyKind::FullText);
    let parts: Vec<_> = key("part").parts.iter().map(|part| (part.column.as_deref(), part.prefix)).collect();
    assert_eq!(parts, [(Some("bin"), Some(5)), (Some("at"), None)]);

    let plain = catalog.table("C2", "plain").unwrap();
    assert!(!plain.is_innodb() && plain.keys.is_empty());
    let view = catalog.table("c", "v").unwrap();
    assert!(view.kind == TableKind::View && view.columns.is_empty());
    assert!(catalog.tables().all(|table| !backend::catalog::SYSTEM_SCHEMAS.contains(&table.schema.as_str())));
    assert_eq!(catalog.tables().count(), 3);
}

#[tokio::test]
async fn content_on_mariadb() {
    let server = MariaDb::start(&[]);
    let mut root = server.root().await;
    check_content(&mut root).await;
    root.execute(
        "CREATE TABLE c.versioned (a INT PRIMARY KEY) WITH SYSTEM VERSIONING; CREATE SEQUENCE c.s; \
         CREATE TABLE c.hidden (a INT, b INT INVISIBLE, KEY (a DESC), KEY off (b) IGNORED)",
    )
    .await
    .unwrap();
    let catalog = read(&mut root).await;
    assert_eq!(catalog.table("c", "versioned").unwrap().kind, TableKind::Versioned);
    assert_eq!(catalog.table("c", "s").unwrap().kind, TableKind::Sequence);
    let hidden = catalog.table("c", "hidden").unwrap();
    assert!(hidden.column("b").unwrap().invisible && !hidden.column("a").unwrap().invisible);
    let key = |name: &str| hidden.keys.iter().find(|key| key.name == name).unwrap();
    assert!(key("a").parts.first().unwrap().descending && key("a").visible && !key("off").visible);

    // An account that may see some columns of a table does not know the table.
    root.execute(
        "CREATE USER p@'%'; GRANT SELECT (name, id) ON c.t TO p@'%'; GRANT SELECT ON c.hidden TO p@'%'; \
         GRANT INSERT ON c.versioned TO p@'%'; GRANT UPDATE (a) ON c.versioned TO p@'%'",
    )
    .await
    .unwrap();
    let mut partial = as_user(&server.unix(), "p", "").connect().await.unwrap();
    let catalog = read(&mut partial).await;
    let names: Vec<_> = catalog.tables().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["hidden"]);
}

#[tokio::test]
async fn names_without_case() {
    let server = MariaDb::start(&["--lower-case-table-names=1"]);
    let mut root = server.root().await;
    root.execute("CREATE DATABASE Shop; CREATE TABLE Shop.Orders (Id INT)").await.unwrap();
    let catalog = read(&mut root).await;
    assert!(catalog.table("SHOP", "oRDERS").is_some());
}

#[tokio::test]
async fn content_on_mysql() {
    let Some(server) = MySql::start() else { return };
    let mut root = server.tcp().connect().await.unwrap();
    check_content(&mut root).await;
    root.execute("CREATE TABLE c.f (a INT, b INT INVISIBLE, KEY f ((a + 1)), KEY off (b) INVISIBLE)")
        .await
        .unwrap();
    let catalog = read(&mut root).await;
    let table = catalog.table("c", "f").unwrap();
    let key = |name: &str| table.keys.iter().find(|key| key.name == name).unwrap();
    assert!(key("f").parts.first().unwrap().column.is_none() && !key("off").visible);
    assert!(table.column("b").unwrap().invisible);
    changes_are_seen(&server.tcp()).await;
}

#[tokio::test]
async fn changes_on_mariadb() {
    let server = MariaDb::start(&[]);
    changes_are_seen(&server.unix()).await;
    a_change_of_a_partitioned_table_is_seen(&server.unix()).await;
    whole_readings_see_what_checks_do_not(&server.unix()).await;
}

/// Every kind of DDL from elsewhere, one right after the other: within one second, where CREATE_TIME does not help.
async fn changes_are_seen(target: &Target) {
    let mut root = target.connect().await.unwrap();
    root.execute("CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY, a VARCHAR(10)) ENGINE=InnoDB")
        .await
        .unwrap();
    let handle = CatalogHandle::new();
    let _keeper = keep(target.clone(), handle.clone(), CHECKS);
    handle.ready().await;
    for ddl in [
        "ALTER TABLE d.t ADD COLUMN b INT, ALGORITHM=INSTANT",
        "ALTER TABLE d.t MODIFY a VARCHAR(20)",
        "ALTER TABLE d.t MODIFY a VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
        "ALTER TABLE d.t ADD KEY k (b)",
        "ALTER TABLE d.t RENAME COLUMN b TO c",
        "ALTER TABLE d.t DROP KEY k",
        "CREATE TABLE d.u (a INT)",
        "RENAME TABLE d.u TO d.w",
        "CREATE OR REPLACE VIEW d.v AS SELECT 1 AS one",
        "DROP TABLE d.w",
        "DROP DATABASE d; CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY)",
    ] {
        let before = handle.ready().await.generation;
        root.execute(ddl).await.unwrap();
        let expected = read(&mut root).await;
        // A reading in the middle of an ALTER may miss the table; a later one must not.
        let after = until(async || {
            let catalog = handle.current()?;
            let same = catalog.tables().count() == expected.tables().count()
                && expected.tables().all(|table| catalog.table(&table.schema, &table.name) == Some(table));
            same.then_some(catalog)
        })
        .await;
        assert!(after.generation > before, "{ddl}");
    }
}

async fn a_change_of_a_partitioned_table_is_seen(target: &Target) {
    let mut root = target.connect().await.unwrap();
    root.execute(
        "CREATE DATABASE p; CREATE TABLE p.t (id INT PRIMARY KEY, a INT) PARTITION BY RANGE (id) \
         (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN MAXVALUE)",
    )
    .await
    .unwrap();
    let handle = CatalogHandle::new();
    let _keeper = keep(target.clone(), handle.clone(), CHECKS);
    // Past the second in which the table was made: now it is the check alone that can see a change.
    handle.ready().await;
    tokio::time::sleep(Duration::from_millis(3500)).await;
    let before = handle.generation();
    root.execute("ALTER TABLE p.t ADD KEY (a)").await.unwrap();
    until(async || Some(()).filter(|()| handle.generation() > before)).await;
}

async fn whole_readings_see_what_checks_do_not(target: &Target) {
    let mut root = target.connect().await.unwrap();
    root.execute("CREATE DATABASE m; CREATE TABLE m.t (a INT, b INT) ENGINE=MyISAM").await.unwrap();
    let handle = CatalogHandle::new();
    let _keeper = keep(target.clone(), handle.clone(), Timing { full: Duration::from_secs(4), ..CHECKS });
    handle.ready().await;
    tokio::time::sleep(Duration::from_millis(3500)).await;
    // Changes the definition file, not the data file of which MyISAM tells the time.
    root.execute("ALTER TABLE m.t RENAME COLUMN b TO c").await.unwrap();
    until(async || handle.current()?.table("m", "t")?.column("c").map(drop)).await;
}

#[tokio::test]
async fn ddl_through_the_proxy_is_read_at_once() {
    let server = MariaDb::start(&[]);
    let mut root = server.root().await;
    root.execute("CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY)").await.unwrap();
    let handle = CatalogHandle::new();
    let _keeper = keep(server.unix(), handle.clone(), NEVER);
    let first = handle.ready().await;

    let ddl = handle.ddl_began();
    assert!(handle.current().is_none() && handle.generation() == NO_CATALOG);
    root.execute("ALTER TABLE d.t ADD COLUMN b INT").await.unwrap();
    drop(ddl);
    let second = handle.ready().await;
    assert!(second.generation > first.generation);
    assert!(second.table("d", "t").unwrap().column("b").is_some());

    // A statement that changed nothing costs a reading and no plan.
    drop(handle.ddl_began());
    assert_eq!(handle.ready().await.generation, second.generation);
}

/// A reading opens every table: it waits for a statement that needs it, or for the end of the changes.
#[tokio::test]
async fn ddl_through_the_proxy_is_read_when_somebody_needs_it() {
    let server = MariaDb::start(&[]);
    let handle = CatalogHandle::new();
    let keeper = keep(server.unix(), handle.clone(), NEVER);
    let unknown = async || {
        drop(handle.ddl_began());
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert_eq!(handle.generation(), NO_CATALOG, "nobody needs it");
    };
    handle.ready().await;
    unknown().await;
    handle.need();
    until(async || handle.current().map(drop)).await;
    unknown().await;
    drop(keeper);

    let quiet = Duration::from_millis(700);
    let _keeper = keep(server.unix(), handle.clone(), Timing { quiet, ..NEVER });
    handle.ready().await;
    unknown().await;
    unknown().await;
    until(async || handle.current().map(drop)).await;
}

#[tokio::test]
async fn the_catalog_is_unknown_while_the_server_is_away() {
    let mut server = MariaDb::start(&[]);
    server.root().await.execute("CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY)").await.unwrap();
    let handle = CatalogHandle::new();
    let _keeper = keep(server.unix(), handle.clone(), CHECKS);
    let generation = handle.ready().await.generation;
    server.kill();
    until(async || Some(()).filter(|()| handle.current().is_none())).await;
    server.up();
    assert_eq!(handle.ready().await.generation, generation, "nothing changed");
}

/// Prints what 1,000 and 10,000 tables cost. `cargo test -p backend --test servers -- --ignored --nocapture scale`
#[tokio::test]
#[ignore = "a measurement"]
async fn scale() {
    let server = MariaDb::start(&[
        "--table-open-cache=20000",
        "--table-definition-cache=20000",
        "--open-files-limit=60000",
    ]);
    let mut root = server.root().await;
    measure(&mut root, "MariaDB").await;
    let Some(server) = MySql::start() else { return };
    let mut root = server.tcp().connect().await.unwrap();
    measure(&mut root, "MySQL").await;
}

async fn measure(root: &mut Control, name: &str) {
    let facts = ServerFacts::probe(root).await.unwrap();
    root.execute("CREATE DATABASE many").await.unwrap();
    let mut made = 0;
    for goal in [1_000, 10_000] {
        for table in made..goal {
            let ddl = format!(
                "CREATE TABLE many.t{table} (id INT PRIMARY KEY AUTO_INCREMENT, a VARCHAR(50) NOT NULL, b DATETIME, \
                 c DECIMAL(10,2), d TEXT, e INT NOT NULL, f CHAR(2), g BIGINT, h DATE, i ENUM('x','y'), KEY (b), \
                 KEY (e, g), UNIQUE KEY (a))"
            );
            root.execute(&ddl).await.unwrap();
        }
        made = goal;
        for _ in 0..2 {
            let begun = Instant::now();
            let catalog = load(root, &facts, PATIENCE).await.unwrap();
            eprintln!("{name}: {} tables read in {:?}", catalog.tables().count(), begun.elapsed());
        }
    }
}
