//! Opening a control connection: names, timeouts, TLS modes.

use std::time::{Duration, Instant};

use mysql_async::{Conn, OptsBuilder, SslOpts};
use tokio::net::lookup_host;
use tokio::time::timeout;

use super::{ControlError, Target};
use crate::address::Address;
use crate::tls::{ClientTls, TlsMode};

/// The session as the proxy's own statements need it, whatever the server's defaults are.
const SETUP: &str = "SET SESSION sql_mode = '', autocommit = 1, time_zone = '+00:00', \
     character_set_results = utf8mb4, sql_safe_updates = 0, wait_timeout = 28800";

/// The largest packet that the proxy's own statements and their rows need.
const MAX_PACKET: usize = 16 << 20;

const KEEP_ALIVE: Duration = Duration::from_secs(60);

pub(super) async fn open(target: &Target) -> Result<Conn, ControlError> {
    let within = target.connect_timeout;
    let silent = || ControlError::Silent { address: target.address.clone(), after: within };
    let started = Instant::now();
    let base = timeout(within, base(target)).await.map_err(|_| silent())??;
    let left = within.saturating_sub(started.elapsed());
    timeout(left, login(target, base)).await.map_err(|_| silent())?
}

async fn login(target: &Target, base: OptsBuilder) -> Result<Conn, ControlError> {
    let secured = || base.clone().ssl_opts(tls(target));
    let opened = match (&target.address, target.tls) {
        // A Unix socket never leaves the machine.
        (Address::Unix(_), _) | (_, TlsMode::Disabled) => Conn::new(base).await,
        (_, TlsMode::Preferred) => match Conn::new(secured()).await {
            Err(mysql_async::Error::Driver(mysql_async::DriverError::NoClientSslFlagFromServer)) => {
                Conn::new(base).await
            }
            other => other,
        },
        (_, TlsMode::Required) => Conn::new(secured()).await,
        (_, TlsMode::VerifyCa | TlsMode::VerifyIdentity) => {
            // A clear word about the file before the handshake fails on it.
            if let Err(error) = ClientTls::new(target.tls, target.ca.as_ref()) {
                return Err(ControlError::Tls { address: target.address.clone(), reason: error.to_string() });
            }
            Conn::new(secured()).await
        }
    };
    opened.map_err(|error| ControlError::from_login(&target.address, &target.user, error))
}

fn tls(target: &Target) -> SslOpts {
    let options = SslOpts::default();
    match target.tls {
        TlsMode::Disabled | TlsMode::Preferred | TlsMode::Required => {
            options.with_danger_accept_invalid_certs(true).with_danger_skip_domain_validation(true)
        }
        TlsMode::VerifyCa | TlsMode::VerifyIdentity => {
            let roots = target.ca.iter().map(|path| path.clone().into()).collect();
            options
                .with_disable_built_in_roots(true)
                .with_root_certs(roots)
                .with_danger_skip_domain_validation(target.tls == TlsMode::VerifyCa)
        }
    }
}

async fn base(target: &Target) -> Result<OptsBuilder, ControlError> {
    let options = OptsBuilder::default()
        .user(Some(target.user.clone()))
        .pass(Some(target.password.as_str()))
        .prefer_socket(false)
        .tcp_keepalive(Some(KEEP_ALIVE))
        .max_allowed_packet(Some(MAX_PACKET))
        .wait_timeout(Some(28_800))
        .stmt_cache_size(0)
        .setup(vec![SETUP]);
    match &target.address {
        Address::Unix(path) => {
            let Some(path) = path.to_str() else {
                let reason = "the socket's path is not UTF-8".to_owned();
                return Err(ControlError::Unreachable { address: target.address.clone(), reason });
            };
            Ok(options.socket(Some(path)))
        }
        Address::Tcp { host, port } => {
            let unknown =
                |reason: String| ControlError::UnknownHost { address: target.address.clone(), reason };
            let found =
                lookup_host((host.as_str(), *port)).await.map_err(|error| unknown(error.to_string()))?;
            let addresses: Vec<_> = found.map(|address| address.ip()).collect();
            if addresses.is_empty() {
                return Err(unknown("no address".to_owned()));
            }
            Ok(options.ip_or_hostname(host.clone()).tcp_port(*port).resolved_ips(Some(addresses)))
        }
    }
}
