//! The tables: a million orders, their customers, an archive.

use mysql_async::Conn;
use mysql_async::prelude::Queryable;

/// The schema's name: that of the rules' own tests, in whose catalog the statements are rewritten.
pub(crate) const SCHEMA: &str = rewriter::TEST_SCHEMA;

/// `CREATE TABLE` statements.
pub(crate) fn tables() -> Vec<String> {
    let orders = "(id INT NOT NULL PRIMARY KEY, cust_id INT, ts DATETIME NOT NULL, status INT NOT NULL, amount DECIMAL(10,2) NOT NULL, \
                  code VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, note VARCHAR(300) NOT NULL, \
                  KEY (cust_id), KEY (ts), KEY (status, ts), KEY (code))";
    vec![
        format!("CREATE TABLE ord {orders}"),
        format!("CREATE TABLE arc {orders}"),
        "CREATE TABLE cust (id INT NOT NULL PRIMARY KEY, name VARCHAR(40) NOT NULL, city INT NOT NULL, bio TEXT, KEY (city))".to_owned(),
    ]
}

/// Makes and fills the tables.
pub(crate) async fn load(conn: &mut Conn, rows: u32) {
    let customers = (rows / 50).max(1);
    let orders = |table: &str, count: u32| {
        format!(
            "INSERT INTO {table} SELECT n, IF(n % 97 = 0, NULL, n * 7919 % {customers}), '2014-12-31 12:00:00' + INTERVAL n * 300 SECOND, \
             n % 5, n % 1000 / 4, CONCAT('R', n * 31 % 1000, '-', n), REPEAT('x', 60 + n % 200) FROM numbers WHERE n < {count}"
        )
    };
    let mut statements = vec![
        format!("DROP DATABASE IF EXISTS {SCHEMA}"),
        format!("CREATE DATABASE {SCHEMA} CHARACTER SET utf8mb4"),
        format!("USE {SCHEMA}"),
        "CREATE TABLE digits (d INT NOT NULL PRIMARY KEY)".to_owned(),
        "INSERT INTO digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)".to_owned(),
        "CREATE TABLE numbers (n INT NOT NULL PRIMARY KEY)".to_owned(),
        format!(
            "INSERT INTO numbers SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d + 100000 * g.d AS n \
             FROM digits a, digits b, digits c, digits e, digits f, digits g \
             WHERE a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d + 100000 * g.d < {rows} ORDER BY n"
        ),
    ];
    statements.extend(tables());
    statements.extend([
        orders("ord", rows),
        orders("arc", rows / 10 * 3),
        format!("INSERT INTO cust SELECT n, CONCAT('name ', n % 5000), n % 100, REPEAT('b', 400) FROM numbers WHERE n < {customers}"),
        "ANALYZE TABLE ord, arc, cust".to_owned(),
    ]);
    for sql in statements {
        conn.query_drop(&sql).await.unwrap_or_else(|error| panic!("{sql}\n{error}"));
    }
}
