//! TLS towards clients and towards the server.

use std::path::Path;

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Error, Opts, SslOpts};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use shuntyard_tests::mariadb::MariaDb;
use shuntyard_tests::mysql::MySql;
use shuntyard_tests::proxy::{Proxy, Setup};
use tempfile::TempDir;

/// Writes `NAME-ca.pem` and a server's `NAME-cert.pem`, `NAME-key.pem` for 127.0.0.1, signed by it.
pub(super) fn certificates(dir: &Path, name: &str) {
    let ca_key = KeyPair::generate().unwrap();
    let mut ca = CertificateParams::new(Vec::new()).unwrap();
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca_cert = ca.self_signed(&ca_key).unwrap();
    let issuer = Issuer::new(ca, ca_key);
    let key = KeyPair::generate().unwrap();
    let own = CertificateParams::new(vec!["127.0.0.1".to_owned(), "localhost".to_owned()]).unwrap();
    let cert = own.signed_by(&key, &issuer).unwrap();
    std::fs::write(dir.join(format!("{name}-ca.pem")), ca_cert.pem()).unwrap();
    std::fs::write(dir.join(format!("{name}-cert.pem")), cert.pem()).unwrap();
    std::fs::write(dir.join(format!("{name}-key.pem")), key.serialize_pem()).unwrap();
}

async fn over_tls(proxy: &Proxy, ssl: SslOpts) -> Result<Conn, Error> {
    Conn::new(Opts::from(proxy.server().opts(None).ssl_opts(ssl))).await
}

async fn version(conn: &mut Conn) -> Option<String> {
    let sql = format!("SELECT tls FROM shuntyard.sessions WHERE id = {}", conn.id());
    conn.query_first::<Option<String>, _>(sql).await.unwrap().flatten()
}

#[tokio::test]
async fn clients_may_choose_tls_by_default() {
    let Some(server) = MariaDb::shared() else { return };
    let proxy = Setup::mariadb(server.port()).start();
    let trusting = SslOpts::default().with_danger_accept_invalid_certs(true);
    let mut conn = over_tls(&proxy, trusting).await.unwrap();
    assert!(version(&mut conn).await.is_some_and(|v| v.contains("1.")));
    let big: Option<String> = conn.query_first("SELECT REPEAT('x', 20000000)").await.unwrap();
    assert_eq!(big.map(|b| b.len()), Some(20_000_000));
    let mut plain = proxy.server().connect().await;
    assert_eq!(version(&mut plain).await, None);
}

#[tokio::test]
async fn a_certificate_of_ones_own_is_checked_by_the_client() {
    let Some(server) = MariaDb::shared() else { return };
    let setup =
        Setup::mariadb(server.port()).line("tls: {mode: required, cert: front-cert.pem, key: front-key.pem}");
    let proxy = setup.start_in(|dir| {
        certificates(dir, "front");
        certificates(dir, "other");
    });
    let ca = |name: &str| {
        let path = proxy.dir().join(format!("{name}-ca.pem"));
        SslOpts::default().with_root_certs(vec![path.into()]).with_disable_built_in_roots(true)
    };
    let mut conn = over_tls(&proxy, ca("front")).await.unwrap();
    assert!(version(&mut conn).await.is_some());
    assert!(over_tls(&proxy, ca("other")).await.is_err(), "another authority");
    match proxy.server().try_connect(None).await {
        Err(Error::Server(e)) => assert_eq!((e.code, e.state.as_str()), (3159, "HY000"), "{}", e.message),
        other => panic!("plain although required: {other:?}"),
    }
}

#[tokio::test]
async fn passwords_of_mysql_accounts_pass_over_tls() {
    let Some(server) = MySql::shared().await else { return };
    let proxy = Setup::mysql(server.port()).start();
    let trusting = || SslOpts::default().with_danger_accept_invalid_certs(true);
    for _ in 0..2 {
        let mut conn = over_tls(&proxy, trusting()).await.unwrap();
        assert_eq!(conn.query_first::<u8, _>("SELECT 1").await.unwrap(), Some(1));
    }
}

#[tokio::test]
async fn the_servers_identity_is_verified() {
    let files = TempDir::with_prefix("shuntyard-tls-").unwrap();
    certificates(files.path(), "back");
    certificates(files.path(), "other");
    let path = |name: &str| files.path().join(name).display().to_string();
    let Some(server) = MariaDb::start(&[
        &format!("--ssl-ca={}", path("back-ca.pem")),
        &format!("--ssl-cert={}", path("back-cert.pem")),
        &format!("--ssl-key={}", path("back-key.pem")),
    ]) else {
        return;
    };
    let backend = |ca: &str, mode: &str| {
        format!("primary: \"127.0.0.1:{}\", tls: {{mode: {mode}, ca: \"{}\"}}", server.port(), path(ca))
    };
    for mode in ["verify_ca", "verify_identity"] {
        let proxy = Setup::mariadb(server.port()).backend(&backend("back-ca.pem", mode)).start();
        let mut conn = proxy.server().connect().await;
        let (_, cipher): (String, String) =
            conn.query_first("SHOW STATUS LIKE 'Ssl_cipher'").await.unwrap().unwrap();
        assert!(!cipher.is_empty(), "{mode}: the proxy speaks TLS to the server");
    }
    let proxy = Setup::mariadb(server.port())
        .backend(&backend("other-ca.pem", "verify_ca"))
        .line("timeouts: {wait: 1s, connect: 1s}")
        .start();
    let refused = proxy.server().try_connect(None).await.unwrap_err();
    assert!(matches!(&refused, Error::Server(_)), "a clear error: {refused}");
}

#[tokio::test]
async fn required_towards_a_server_without_tls_is_refused() {
    let Some(server) = MariaDb::start(&["--skip-ssl"]) else { return };
    let backend = format!("primary: \"127.0.0.1:{}\", tls: {{mode: required}}", server.port());
    let proxy =
        Setup::mariadb(server.port()).backend(&backend).line("timeouts: {wait: 1s, connect: 1s}").start();
    assert!(proxy.server().try_connect(None).await.is_err());
}
