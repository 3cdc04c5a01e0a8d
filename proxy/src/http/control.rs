//! The control socket: what `shuntyard status | reload | drain | explain` ask of the running proxy.
//!
//! A Unix socket of mode 0600 in the data folder; whoever can open it may do everything here. JSON in, JSON out.

mod socket;

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sql::source::Fault;

use super::bounded::{Bounded, CONNECTIONS, LIFE};
use crate::admin::{Cell, Source, Table};

pub(crate) use socket::Socket;

/// Something that the proxy does and that takes a while.
pub(crate) type Task<'c, T> = Pin<Box<dyn Future<Output = T> + Send + 'c>>;

/// The running proxy as its command line sees it.
pub(crate) trait Control: Send + Sync {
    /// What is observed.
    fn source(&self) -> &dyn Source;

    /// Reads configuration and rules again. After faults everything is as before.
    fn reload(&self) -> Task<'_, Result<Reloaded, Vec<Fault>>>;

    /// Refuses new connections from now on and ends the process when the sessions have ended.
    fn drain(&self);

    /// What would happen to a statement, as JSON; or why that cannot be told.
    fn explain(&self, request: Explain) -> Task<'_, Result<Value, String>>;
}

/// What a reload did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Reloaded {
    /// Rules in force now.
    pub(crate) rules: usize,
    /// Parts of the configuration that changed and that only a restart puts in force.
    pub(crate) needs_restart: Vec<&'static str>,
}

/// A statement to explain.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Explain {
    /// Its text.
    pub(crate) sql: String,
    /// The default schema.
    #[serde(default)]
    pub(crate) schema: Option<String>,
    /// Whose session it would come from; empty for nobody's.
    #[serde(default)]
    pub(crate) user: String,
}

/// Answers until `stop` completes; the socket's file goes with it.
///
/// # Errors
/// Those of the socket itself.
pub(crate) async fn serve(
    socket: Socket,
    control: Arc<dyn Control>,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let (listener, _file) = socket.into_listener()?;
    let bounded = Bounded::new(listener, CONNECTIONS, LIFE);
    axum::serve(bounded, router(control)).with_graceful_shutdown(stop).await
}

fn router(control: Arc<dyn Control>) -> Router {
    Router::new()
        .route("/status", get(status))
        .route("/reload", post(reload))
        .route("/drain", post(drain))
        .route("/explain", post(explain))
        .layer(axum::extract::DefaultBodyLimit::max(32 << 20))
        .with_state(control)
}

type Controlled = State<Arc<dyn Control>>;

async fn status(State(control): Controlled) -> Response {
    let told = tokio::task::spawn_blocking(move || told(control.source())).await;
    told.map_or_else(|error| failed(&error.to_string()), |value| Json(value).into_response())
}

/// `{"status": {name: value}, "backends": [{column: value}], "rules": [...]}`; a name that stands twice in
/// `shuntyard.status` has a list.
fn told(source: &dyn Source) -> Value {
    let mut status = Map::new();
    for row in rows("status", source) {
        let [Value::String(name), value] = &row[..] else { continue };
        match status.get_mut(name) {
            Some(Value::Array(values)) => values.push(value.clone()),
            Some(first) => *first = json!([first.take(), value]),
            None => {
                status.insert(name.clone(), value.clone());
            }
        }
    }
    json!({"status": status, "backends": objects("backends", source), "rules": objects("rules", source)})
}

fn rows(table: &str, source: &dyn Source) -> Vec<Vec<Value>> {
    let Some(table) = Table::named(table) else { return Vec::new() };
    let value = |cell: Cell| match cell {
        Cell::Null => Value::Null,
        Cell::Int(number) => number.into(),
        Cell::Float(number) => number.into(),
        Cell::Text(text) => text.into(),
    };
    (table.rows)(source).into_iter().map(|row| row.into_iter().map(value).collect()).collect()
}

fn objects(table: &str, source: &dyn Source) -> Vec<Value> {
    let names = Table::named(table).map(|table| table.columns).unwrap_or_default();
    let object = |row: Vec<Value>| {
        let pairs = names.iter().map(|column| column.name.to_owned()).zip(row);
        Value::Object(pairs.collect())
    };
    rows(table, source).into_iter().map(object).collect()
}

async fn reload(State(control): Controlled) -> Response {
    match control.reload().await {
        Ok(reloaded) => Json(reloaded).into_response(),
        Err(faults) => {
            (StatusCode::UNPROCESSABLE_ENTITY, Json(json!({"faults": listed(&faults)}))).into_response()
        }
    }
}

/// Faults as `[{"file", "line", "column", "message"}]`, as `shuntyard check --json` prints them.
pub(crate) fn listed(faults: &[Fault]) -> Vec<Value> {
    let one = |fault: &Fault| {
        let (line, column) = (fault.span.line, fault.span.column);
        json!({"file": &*fault.file, "line": line, "column": column, "message": fault.message})
    };
    faults.iter().map(one).collect()
}

async fn drain(State(control): Controlled) -> Response {
    control.drain();
    let sessions = control.source().registry().sessions.len();
    Json(json!({"draining": true, "sessions": sessions})).into_response()
}

async fn explain(State(control): Controlled, Json(request): Json<Explain>) -> Response {
    match control.explain(request).await {
        Ok(explained) => Json(explained).into_response(),
        Err(why) => (StatusCode::UNPROCESSABLE_ENTITY, Json(json!({"error": why}))).into_response(),
    }
}

fn failed(why: &str) -> Response {
    (StatusCode::INTERNAL_SERVER_ERROR, Json(json!({"error": why}))).into_response()
}

#[cfg(test)]
mod tests;
