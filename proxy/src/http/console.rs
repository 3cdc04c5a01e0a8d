//! Console, metrics and health over TCP: reads only.

use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{RawQuery, Request, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{StatusCode, Uri};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::net::TcpListener;

use super::bounded::{Bounded, CONNECTIONS, LIFE};
use super::{metrics, page};
use crate::admin::Source;

type Observed = State<Arc<dyn Source>>;

/// Answers until `stop` completes; requests that run then are finished.
///
/// # Errors
/// None in practice: a failing `accept` is tried again.
pub(crate) async fn serve(
    listener: TcpListener,
    source: Arc<dyn Source>,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let bounded = Bounded::new(listener, CONNECTIONS, LIFE);
    axum::serve(bounded, router(source)).with_graceful_shutdown(stop).await
}

fn router(source: Arc<dyn Source>) -> Router {
    Router::new()
        .route("/", get(console))
        // What names no statement is also read under a host name, by Prometheus and orchestrators.
        .route_layer(middleware::from_fn(own_host))
        .route("/console.css", get(style))
        .route("/metrics", get(measured))
        .route("/livez", get(|| async { "alive\n" }))
        .route("/readyz", get(ready))
        .layer(middleware::map_response(guarded))
        .with_state(source)
}

/// Headers that keep a browser from doing more with an answer than showing it.
async fn guarded(mut response: Response) -> Response {
    const HEADERS: [(HeaderName, &str); 6] = [
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        ),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Refuses requests that a page elsewhere sends through its visitor's browser after its own name was made to point here
/// (DNS rebinding): such a request names that page's host.
async fn own_host(request: Request, next: Next) -> Response {
    let named = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    if named.is_some_and(is_address) {
        return next.run(request).await;
    }
    let why = "the console answers under an IP address or localhost only\n";
    (StatusCode::MISDIRECTED_REQUEST, why).into_response()
}

/// `localhost` or an IP address, with or without a port.
fn is_address(host: &str) -> bool {
    let bare = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map_or("", |(inside, _)| inside),
        None => host.split(':').next().unwrap_or_default(),
    };
    bare.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok()
}

async fn console(State(source): Observed, RawQuery(query): RawQuery) -> Response {
    let refresh =
        if query.as_deref() == Some("refresh=off") { page::Refresh::Off } else { page::Refresh::On };
    // Reading thousands of histograms is work for a thread that nobody waits on.
    match tokio::task::spawn_blocking(move || page::console(&*source, refresh)).await {
        Ok(html) => ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], html).into_response(),
        Err(error) => failed(&error),
    }
}

async fn style(_: Uri) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], page::style())
}

async fn measured(State(source): Observed) -> Response {
    match tokio::task::spawn_blocking(move || metrics::text(&source)).await {
        Ok(Ok(text)) => ([(header::CONTENT_TYPE, metrics::CONTENT_TYPE)], text).into_response(),
        Ok(Err(error)) => failed(&error),
        Err(error) => failed(&error),
    }
}

fn failed(error: &dyn std::error::Error) -> Response {
    tracing::error!(%error, "an HTTP request could not be answered");
    (StatusCode::INTERNAL_SERVER_ERROR, "the answer could not be made, see the log\n").into_response()
}

async fn ready(State(source): Observed) -> (StatusCode, &'static str) {
    let reachable = source.backends().iter().any(|backend| backend.state == "up");
    match (source.draining(), reachable) {
        (true, _) => (StatusCode::SERVICE_UNAVAILABLE, "draining\n"),
        (false, false) => (StatusCode::SERVICE_UNAVAILABLE, "no backend can be reached\n"),
        (false, true) => (StatusCode::OK, "ready\n"),
    }
}

#[cfg(test)]
mod tests;
