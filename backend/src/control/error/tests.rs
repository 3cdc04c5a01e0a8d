use std::io;

use mysql_async::{DriverError, Error, IoError, ServerError};

use super::ControlError;
use crate::address::Address;

fn address() -> Address {
    Address::Tcp { host: "db1".into(), port: 3306 }
}

fn server(code: u16) -> Error {
    Error::Server(ServerError { code, message: "no".into(), state: "28000".into() })
}

#[test]
fn a_refused_login_names_the_account_and_leads_to_the_grants() {
    let error = ControlError::from_login(&address(), "shuntyard", server(1045));
    let text = error.to_string();
    assert!(
        text.contains("db1:3306") && text.contains("`shuntyard`") && text.contains("grants.md"),
        "{text}"
    );
    assert!(error.is_fatal());
}

#[test]
fn a_refused_statement_leaves_the_connection_usable() {
    let error = ControlError::from_statement(&address(), server(1142));
    assert!(error.is_privilege());
    assert!(!error.is_fatal());
}

#[test]
fn a_broken_stream_and_a_missing_listener_are_told_apart() {
    let of = |kind: io::ErrorKind| {
        ControlError::from_login(&address(), "u", Error::Io(IoError::Io(io::Error::from(kind))))
    };
    assert!(matches!(of(io::ErrorKind::UnexpectedEof), ControlError::Lost { .. }));
    assert!(matches!(of(io::ErrorKind::ConnectionRefused), ControlError::Unreachable { .. }));
}

#[test]
fn another_protocol_is_recognised() {
    let error = Error::Driver(DriverError::CantParseServerVersion { version_string: "SSH-2.0".into() });
    assert!(matches!(ControlError::from_login(&address(), "u", error), ControlError::NotAServer { .. }));
}
