//! Clients through `mysql_async`, and their answers as values.

use mysql_async::prelude::{Protocol, Queryable};
use mysql_async::{Conn, Error, Opts, OptsBuilder, Params, QueryResult, Statement};
use router::compare::{Answer, Column, Done, Failure, Outcome, ResultSet, Value, Warning};

/// Who logs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Name.
    pub user: String,
    /// Password.
    pub password: String,
}

impl Account {
    /// An account.
    pub fn new(user: &str, password: &str) -> Account {
        Account { user: user.to_owned(), password: password.to_owned() }
    }

    /// The application's account, on every server of the tests.
    pub fn app() -> Account {
        Account::new("app", "app")
    }
}

/// Where to log in: a server, or the proxy in front of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// TCP port on 127.0.0.1.
    pub port: u16,
    /// The account.
    pub account: Account,
}

impl Server {
    /// The same place as somebody else.
    #[must_use]
    pub fn as_user(&self, user: &str, password: &str) -> Server {
        Server { port: self.port, account: Account::new(user, password) }
    }

    /// Options for `mysql_async`.
    pub fn opts(&self, schema: Option<&str>) -> OptsBuilder {
        OptsBuilder::default()
            .ip_or_hostname("127.0.0.1")
            .tcp_port(self.port)
            .user(Some(&self.account.user))
            .pass(Some(&self.account.password))
            .db_name(schema)
            .prefer_socket(false)
            .stmt_cache_size(0)
            .max_allowed_packet(Some(64 << 20))
    }

    /// A connection without a schema.
    ///
    /// # Panics
    /// When it cannot be had.
    pub async fn connect(&self) -> Conn {
        self.connect_to(None).await
    }

    /// A connection.
    ///
    /// # Panics
    /// When it cannot be had.
    pub async fn connect_to(&self, schema: Option<&str>) -> Conn {
        self.try_connect(schema).await.unwrap_or_else(|e| panic!("login at port {}: {e}", self.port))
    }

    /// A connection, or why not.
    ///
    /// # Errors
    /// Those of `mysql_async`.
    pub async fn try_connect(&self, schema: Option<&str>) -> Result<Conn, Error> {
        Conn::new(Opts::from(self.opts(schema))).await
    }
}

/// Runs a statement as text and reads everything.
pub async fn text(conn: &mut Conn, sql: &[u8]) -> Answer {
    let mut results = Vec::new();
    match conn.query_iter(sql).await {
        Ok(result) => read(result, &mut results).await,
        Err(error) => results.push(failed(error)),
    }
    Answer { results, warnings: Vec::new() }
}

/// Prepares and executes a statement and reads everything.
pub async fn prepared(conn: &mut Conn, sql: &[u8], params: Params) -> Answer {
    let mut results = Vec::new();
    match conn.exec_iter(sql.to_vec(), params).await {
        Ok(result) => read(result, &mut results).await,
        Err(error) => results.push(failed(error)),
    }
    Answer { results, warnings: Vec::new() }
}

/// Executes what was prepared before and reads everything.
pub async fn execute(conn: &mut Conn, prepared: &Statement, params: Params) -> Answer {
    let mut results = Vec::new();
    match conn.exec_iter(prepared, params).await {
        Ok(result) => read(result, &mut results).await,
        Err(error) => results.push(failed(error)),
    }
    Answer { results, warnings: Vec::new() }
}

/// SHOW WARNINGS.
pub async fn warnings(conn: &mut Conn) -> Vec<Warning> {
    let rows: Vec<(String, u16, String)> = conn.query("SHOW WARNINGS").await.unwrap_or_default();
    rows.into_iter().map(|(level, code, message)| Warning { level, code, message }).collect()
}

async fn read<P: Protocol>(mut result: QueryResult<'_, '_, P>, into: &mut Vec<Outcome>) {
    loop {
        let columns: Vec<Column> = result.columns_ref().iter().map(column).collect();
        let rows: Vec<mysql_async::Row> = match result.collect().await {
            Ok(rows) => rows,
            Err(error) => {
                into.push(failed(error));
                return;
            }
        };
        if columns.is_empty() {
            into.push(Outcome::Done(Done {
                affected: result.affected_rows(),
                insert_id: result.last_insert_id().unwrap_or(0),
                info: result.info().into_owned(),
                warnings: result.warnings(),
                status: None,
            }));
        } else {
            let rows = rows.into_iter().map(|row| row.unwrap().into_iter().map(value).collect()).collect();
            let warnings = Some(result.warnings());
            into.push(Outcome::Rows(ResultSet { columns, rows, status: None, warnings }));
        }
        if result.is_empty() {
            return;
        }
    }
}

/// An error as an outcome: the server's, or the driver's own words with code 0.
pub fn failed(error: Error) -> Outcome {
    Outcome::Failed(match error {
        Error::Server(e) => Failure { code: e.code, state: e.state, message: e.message },
        other => Failure { code: 0, state: String::new(), message: other.to_string() },
    })
}

fn column(c: &mysql_async::Column) -> Column {
    Column {
        name: c.name_str().into_owned(),
        org_name: c.org_name_str().into_owned(),
        table: c.table_str().into_owned(),
        org_table: c.org_table_str().into_owned(),
        schema: c.schema_str().into_owned(),
        kind: c.column_type() as u8,
        length: c.column_length(),
        flags: c.flags().bits(),
        decimals: c.decimals(),
        charset: c.character_set(),
    }
}

fn value(v: mysql_async::Value) -> Value {
    use mysql_async::Value as V;
    match v {
        V::NULL => Value::Null,
        V::Bytes(raw) => Value::Bytes(raw),
        V::Int(i) => Value::Int(i.into()),
        V::UInt(u) => Value::Int(u.into()),
        V::Float(f) => Value::Double(f.into()),
        V::Double(d) => Value::Double(d),
        V::Date(y, mo, d, h, mi, s, us) => Value::Typed {
            kind: "datetime".to_owned(),
            text: format!("{y:04}-{mo:02}-{d:02} {h:02}:{mi:02}:{s:02}.{us:06}"),
        },
        V::Time(negative, d, h, m, s, us) => Value::Typed {
            kind: "time".to_owned(),
            text: format!("{}{d} {h:02}:{m:02}:{s:02}.{us:06}", if negative { "-" } else { "" }),
        },
    }
}
