//! Connecting, TLS modes, facts, and the words of failures.

use std::path::{Path, PathBuf};
use std::time::Duration;

use backend::address::Address;
use backend::control::{ControlError, ServerFacts, Target};
use backend::tls::TlsMode;
use sql::catalog::TableNames;
use sql::{Product, SqlMode};

use crate::machine::{MariaDb, MySql, as_user, free_port};

#[tokio::test]
async fn facts_of_mariadb() {
    let server =
        MariaDb::start(&["--sql-mode=ANSI_QUOTES", "--lower-case-table-names=1", "--skip-name-resolve"]);
    for target in [server.unix(), server.tcp()] {
        let mut control = target.connect().await.unwrap();
        let facts = ServerFacts::probe(&mut control).await.unwrap();
        assert_eq!(facts.product, Product::MariaDb);
        assert!(facts.version_text.contains("MariaDB"));
        assert_eq!((facts.sql_mode, facts.sql_mode_unknown), (SqlMode::ANSI_QUOTES, false));
        assert_eq!(facts.table_names, TableNames::CaseInsensitive);
        assert!(
            facts.skip_name_resolve && facts.max_allowed_packet > 0 && !facts.optimizer_switch.is_empty()
        );
        // The control session itself does not have the server's sql_mode.
        let text: Option<(String,)> = control.first("SELECT \"a\"").await.unwrap();
        assert_eq!(text.unwrap().0, "a");
        control.close().await;
    }
}

#[tokio::test]
async fn facts_of_mysql() {
    let Some(server) = MySql::start() else { return };
    let mut control = server.tcp().connect().await.unwrap();
    let facts = ServerFacts::probe(&mut control).await.unwrap();
    assert_eq!((facts.product, facts.version.0), (Product::MySql, 9));
    assert_eq!(facts.current_user, "root@localhost");
    assert!(!facts.skip_name_resolve);
    // caching_sha2_password with a password, over TLS that is offered and over the RSA exchange.
    control.execute("CREATE USER sha@'%' IDENTIFIED BY 'secret'").await.unwrap();
    let mut sha = as_user(&server.tcp(), "sha", "secret");
    sha.tls = TlsMode::Disabled;
    sha.connect().await.unwrap().ping().await.unwrap();
    sha.tls = TlsMode::Required;
    let mut control = sha.connect().await.unwrap();
    assert!(cipher(&mut control).await.is_some());
}

#[tokio::test]
async fn a_statements_error_keeps_the_connection_and_a_timeout_does_not() {
    let server = MariaDb::start(&[]);
    let mut control = server.root().await;
    let error = control.execute("SELECT nothing").await.unwrap_err();
    assert_eq!(error.code(), Some(1054));
    control.ping().await.unwrap();
    let mut wrong = control.query::<(u32,)>("SELECT 'x'").await.unwrap_err();
    assert!(matches!(wrong, ControlError::Unexpected { .. }));
    wrong = control.execute_within(Duration::from_millis(100), "SELECT SLEEP(5)").await.unwrap_err();
    assert!(matches!(wrong, ControlError::Silent { .. }), "{wrong}");
    assert!(!control.is_open());
    assert!(matches!(control.ping().await.unwrap_err(), ControlError::Lost { .. }));
}

#[tokio::test]
async fn failures_say_what_to_do() {
    let server = MariaDb::start(&[]);
    let failure = async |target: Target| target.connect().await.unwrap_err();

    let error = failure(as_user(&server.tcp(), "nobody", "")).await;
    assert!(matches!(&error, ControlError::Denied { user, code: 1045, .. } if user == "nobody"), "{error}");

    let tcp = |host: &str, port| Address::Tcp { host: host.into(), port };
    let at = |address| Target { address, ..server.tcp() };
    let error = failure(at(tcp("127.0.0.1", free_port()))).await;
    assert!(matches!(error, ControlError::Unreachable { .. }), "{error}");
    let error = failure(at(tcp("no-such-host.invalid", 3306))).await;
    assert!(matches!(error, ControlError::UnknownHost { .. }), "{error}");
    let error = failure(at(Address::Unix("/nonexistent/sock".into()))).await;
    assert!(matches!(error, ControlError::Unreachable { .. }), "{error}");

    let required = Target { tls: TlsMode::Required, ..server.tcp() };
    assert!(matches!(failure(required).await, ControlError::TlsMissing { .. }));
    let mut preferred = Target { tls: TlsMode::Preferred, ..server.tcp() }.connect().await.unwrap();
    assert_eq!(cipher(&mut preferred).await, None);
}

#[tokio::test]
async fn something_that_is_no_server_is_recognised() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let talker = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut socket, b"SSH-2.0-OpenSSH_9.2\r\n").await.unwrap();
        // Held open: the client has to decide by the bytes, or by its limit.
        tokio::time::sleep(Duration::from_secs(5)).await;
    });
    let mut target = Target::new(Address::Tcp { host: "127.0.0.1".into(), port }, "root", Default::default());
    target.connect_timeout = Duration::from_millis(500);
    let error = target.connect().await.unwrap_err();
    assert!(matches!(error, ControlError::NotAServer { .. } | ControlError::Silent { .. }), "{error}");
    talker.abort();
}

#[tokio::test]
async fn tls_modes() {
    let mut ca = PathBuf::new();
    let server = MariaDb::start_with(&[], |dir| {
        ca = dir.join("ca.pem");
        certificates(dir, "db.example")
    });
    let with = |tls, ca: Option<&Path>| Target { tls, ca: ca.map(Path::to_owned), ..server.tcp() };
    for target in
        [with(TlsMode::Preferred, None), with(TlsMode::Required, None), with(TlsMode::VerifyCa, Some(&ca))]
    {
        let mut control = target.connect().await.unwrap_or_else(|error| panic!("{:?}: {error}", target.tls));
        assert!(cipher(&mut control).await.is_some(), "{:?}", target.tls);
    }
    let mut plain = with(TlsMode::Disabled, None).connect().await.unwrap();
    assert_eq!(cipher(&mut plain).await, None);
    // The certificate is for another name.
    let error = with(TlsMode::VerifyIdentity, Some(&ca)).connect().await.unwrap_err();
    assert!(matches!(error, ControlError::Tls { .. }), "{error}");
    // Signed by nobody we trust.
    let stranger = ca.with_file_name("stranger.pem");
    let other = rcgen::generate_simple_self_signed(vec!["stranger".into()]).unwrap();
    std::fs::write(&stranger, other.cert.pem()).unwrap();
    let error = with(TlsMode::VerifyCa, Some(&stranger)).connect().await.unwrap_err();
    assert!(matches!(error, ControlError::Tls { .. }), "{error}");
    let error = with(TlsMode::VerifyCa, None).connect().await.unwrap_err();
    assert!(error.to_string().contains("ca:"), "{error}");
}

#[tokio::test]
async fn a_certificate_for_the_servers_address_is_its_identity() {
    let mut ca = PathBuf::new();
    let server = MariaDb::start_with(&[], |dir| {
        ca = dir.join("ca.pem");
        certificates(dir, "127.0.0.1")
    });
    let target = Target { tls: TlsMode::VerifyIdentity, ca: Some(ca), ..server.tcp() };
    let mut control = target.connect().await.unwrap();
    assert!(cipher(&mut control).await.is_some());
}

async fn cipher(control: &mut backend::control::Control) -> Option<String> {
    let row: Option<(String, String)> = control.first("SHOW SESSION STATUS LIKE 'Ssl_cipher'").await.unwrap();
    row.map(|(_, cipher)| cipher).filter(|cipher| !cipher.is_empty())
}

/// An authority, and a certificate for `name` signed by it; the options that make the server use it.
fn certificates(dir: &Path, name: &str) -> Vec<String> {
    let authority_key = rcgen::KeyPair::generate().unwrap();
    let mut authority = rcgen::CertificateParams::new(vec![]).unwrap();
    authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    authority.distinguished_name.push(rcgen::DnType::CommonName, "Test authority");
    let authority_pem = authority.self_signed(&authority_key).unwrap().pem();
    let issuer = rcgen::Issuer::new(authority, authority_key);
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate =
        rcgen::CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
    std::fs::write(dir.join("ca.pem"), authority_pem).unwrap();
    std::fs::write(dir.join("cert.pem"), certificate.pem()).unwrap();
    std::fs::write(dir.join("key.pem"), key.serialize_pem()).unwrap();
    let file = |name: &str| dir.join(name).display().to_string();
    vec![
        format!("--ssl-cert={}", file("cert.pem")),
        format!("--ssl-key={}", file("key.pem")),
        format!("--ssl-ca={}", file("ca.pem")),
    ]
}
