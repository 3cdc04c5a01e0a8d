//! Opening a control connection: names, timeouts, TLS modes.

use std::time::{Duration, Instant};

use mysql_async::{Conn, DriverError, Error, IoError, OptsBuilder, SslOpts};
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
    let secured = |options: SslOpts| Conn::new(base.clone().ssl_opts(options));
    let opened = match (&target.address, target.tls) {
        // A Unix socket never leaves the machine.
        (Address::Unix(_), _) | (_, TlsMode::Disabled) => Conn::new(base).await,
        (_, TlsMode::Preferred) => match secured(unchecked()).await {
            Err(Error::Driver(DriverError::NoClientSslFlagFromServer)) => Conn::new(base).await,
            other => other,
        },
        (_, TlsMode::Required) => secured(unchecked()).await,
        (_, TlsMode::VerifyIdentity) => secured(checked(target)?).await,
        // The driver's own switch for this mode does not know rustls' present words for a wrong name. So the chain is
        // checked together with a name that the certificate itself bears: any name will do, but only this authority.
        (_, TlsMode::VerifyCa) => match secured(checked(target)?).await {
            Err(error) => match own_name(&error) {
                Some(name) => secured(checked(target)?.with_danger_tls_hostname_override(Some(name))).await,
                None => Err(error),
            },
            opened => opened,
        },
    };
    opened.map_err(|error| ControlError::from_login(&target.address, &target.user, error))
}

fn unchecked() -> SslOpts {
    SslOpts::default().with_danger_accept_invalid_certs(true)
}

fn checked(target: &Target) -> Result<SslOpts, ControlError> {
    // A clear word about the file before the handshake fails on it.
    if let Err(error) = ClientTls::new(target.tls, target.ca.as_ref()) {
        return Err(ControlError::Tls { address: target.address.clone(), reason: error.to_string() });
    }
    let roots = target.ca.iter().map(|path| path.clone().into()).collect();
    Ok(SslOpts::default().with_disable_built_in_roots(true).with_root_certs(roots))
}

/// A name that a certificate bears which was right but for its name.
fn own_name(error: &Error) -> Option<String> {
    let Error::Io(IoError::Io(error)) = error else { return None };
    match error.get_ref()?.downcast_ref::<rustls::Error>()? {
        rustls::Error::InvalidCertificate(rustls::CertificateError::NotValidForNameContext {
            presented,
            ..
        }) => presented.iter().find_map(|name| plain_name(name)),
        _ => None,
    }
}

/// webpki writes `DnsName("db.example")` and `IpAddress(10.0.0.1)`.
fn plain_name(presented: &str) -> Option<String> {
    if let Some(name) = presented.strip_prefix("DnsName(\"").and_then(|rest| rest.strip_suffix("\")")) {
        return Some(name.replacen('*', "any", 1));
    }
    presented.strip_prefix("IpAddress(")?.strip_suffix(')').map(str::to_owned)
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
