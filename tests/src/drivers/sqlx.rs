//! The script through `sqlx`.

use futures_util::{Stream, StreamExt};
use router::compare::{Answer, Column, Done, Failure, Outcome, ResultSet, Value};
use serde_json::Value as Json;
use sqlx::mysql::{MySqlArguments, MySqlColumn, MySqlConnectOptions, MySqlDatabaseError, MySqlQueryResult};
use sqlx::mysql::{MySqlConnection, MySqlRow};
use sqlx::{
    Arguments, Column as _, ConnectOptions, Connection, Decode, Either, Error, Executor, Row, Statement as _,
};

use super::walk::{Driver, only};
use super::{Place, Protocol};
use crate::script::{self, Connect, Statement};

pub(super) struct Sqlx<'a> {
    pub(super) protocol: Protocol,
    pub(super) place: &'a Place<'a>,
}

impl Driver for Sqlx<'_> {
    type Session = MySqlConnection;

    fn names(&self) -> &[&str] {
        match self.protocol {
            Protocol::Text => &["sqlx", "sqlx:text"],
            Protocol::Binary => &["sqlx", "sqlx:binary"],
        }
    }

    /// With the `SET` of its own that `sqlx` begins with. It counts found rows and takes several statements always.
    async fn open(&mut self, connect: &Connect) -> Result<MySqlConnection, Outcome> {
        let server = self.place.server;
        let opts = MySqlConnectOptions::new()
            .host("127.0.0.1")
            .port(server.port)
            .username(&server.account.user)
            .password(&server.account.password)
            .charset(&connect.charset);
        let opts = connect.schema.iter().fold(opts, |opts, schema| opts.database(schema));
        opts.connect().await.map_err(|e| failed(&e))
    }

    /// What has parameters stays prepared, by its text, as is `sqlx`'s custom; what has none is closed behind its
    /// execution, before that is answered.
    async fn run(&mut self, conn: &mut MySqlConnection, statement: &Statement, text: &[u8]) -> Answer {
        let Ok(text) = str::from_utf8(text) else { panic!("sqlx takes no {}", text.escape_ascii()) };
        let binary = self.protocol == Protocol::Binary && statement.preparable;
        let mut answer = match &statement.params {
            Some(params) => kept(conn, text, arguments(params)).await,
            None if binary => read((&mut *conn).fetch_many(sqlx::query(text).persistent(false))).await,
            None => read((&mut *conn).fetch_many(sqlx::raw_sql(text))).await,
        };
        // What cannot be prepared (1295) still has to happen.
        if binary
            && statement.params.is_none()
            && matches!(answer.results.first(), Some(Outcome::Failed(f)) if f.code == 1295)
        {
            answer.results.extend(read(conn.fetch_many(sqlx::raw_sql(text))).await.results);
        }
        answer
    }

    async fn command(&mut self, conn: &mut MySqlConnection, what: &str, schema: &str) -> Option<Outcome> {
        let done = match what {
            "ping" => conn.ping().await,
            "use" => conn.execute(sqlx::raw_sql(&format!("USE {schema}"))).await.map(|_| ()),
            other => panic!("the script asks for {other}"),
        };
        done.err().map(|e| failed(&e))
    }

    /// It closes all of them or none.
    async fn forget(&mut self, conn: &mut MySqlConnection, _: &str) {
        conn.clear_cached_statements().await.expect("COM_STMT_CLOSE has no answer");
    }

    async fn close(&mut self, conn: MySqlConnection) {
        let _ = conn.close().await;
    }
}

/// Prepares a statement unless the connection has it, for its columns before they have rows, and executes it.
async fn kept(conn: &mut MySqlConnection, text: &str, arguments: MySqlArguments) -> Answer {
    let columns = match conn.prepare(text).await {
        Ok(prepared) => prepared.columns().iter().map(column).collect(),
        Err(error) => return only(failed(&error)),
    };
    let mut answer = read(conn.fetch_many(sqlx::query_with(text, arguments))).await;
    answer.results.insert(0, Outcome::Rows(ResultSet { columns, ..ResultSet::default() }));
    answer
}

/// Every result; one with columns and no rows looks like one that is done.
async fn read(
    mut stream: impl Stream<Item = Result<Either<MySqlQueryResult, MySqlRow>, Error>> + Unpin,
) -> Answer {
    let mut answer = Answer::default();
    let mut set = ResultSet::default();
    while let Some(next) = stream.next().await {
        match next {
            Ok(Either::Right(row)) => {
                if set.rows.is_empty() {
                    set.columns = row.columns().iter().map(column).collect();
                }
                set.rows.push((0..row.len()).map(|at| value(&row, at)).collect());
            }
            Ok(Either::Left(_)) if !set.rows.is_empty() => {
                answer.results.push(Outcome::Rows(std::mem::take(&mut set)));
            }
            Ok(Either::Left(done)) => answer.results.push(Outcome::Done(Done {
                affected: done.rows_affected(),
                insert_id: done.last_insert_id(),
                ..Done::default()
            })),
            Err(error) => answer.results.push(failed(&error)),
        }
    }
    answer
}

/// Its name and type as `sqlx` tells them, and what else it knows: flags and length.
fn column(column: &MySqlColumn) -> Column {
    Column {
        name: format!("{}: {}", column.name(), column.type_info()),
        org_name: format!("{:?}", column.type_info()),
        ..Column::default()
    }
}

/// The bytes, in the protocol's form: `sqlx` would make NULL of zero dates.
fn value(row: &MySqlRow, at: usize) -> Value {
    let raw = row.try_get_raw(at).expect("a row has its columns");
    <&[u8]>::decode(raw).map_or(Value::Null, |bytes| Value::Bytes(bytes.to_vec()))
}

fn failed(error: &Error) -> Outcome {
    let server = error.as_database_error().and_then(|e| e.try_downcast_ref::<MySqlDatabaseError>());
    Outcome::Failed(match server {
        Some(e) => Failure {
            code: e.number(),
            state: e.code().unwrap_or_default().to_owned(),
            message: e.message().to_owned(),
        },
        None => Failure { code: 0, state: String::new(), message: error.to_string() },
    })
}

/// Dates in text: `sqlx` has types for them with `chrono` or `time` only.
fn arguments(params: &[Json]) -> MySqlArguments {
    use mysql_async::Value as V;
    let mut arguments = MySqlArguments::default();
    for param in params.iter().map(script::parameter) {
        let added = match param {
            V::NULL => arguments.add(None::<&str>),
            V::Int(i) => arguments.add(i),
            V::UInt(u) => arguments.add(u),
            V::Float(f) => arguments.add(f),
            V::Double(d) => arguments.add(d),
            V::Bytes(bytes) => match String::from_utf8(bytes) {
                Ok(text) => arguments.add(text),
                Err(error) => arguments.add(error.into_bytes()),
            },
            moment => arguments.add(moment.as_sql(true).trim_matches('\'')),
        };
        added.expect("a value can be encoded");
    }
    arguments
}
