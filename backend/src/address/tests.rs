//! Addresses come out as they went in, and what is not one says why.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::Address;

#[test]
fn round_trips() {
    for text in ["db:3306", "10.0.0.2:1", "[::1]:65535", "unix:/run/m.sock"] {
        assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
    }
}

#[test]
fn faults_name_the_reason() {
    for (text, reason) in [
        ("db", "port is missing"),
        ("db:0", "1 to 65535"),
        ("db:70000", "1 to 65535"),
        ("::1:3306", "brackets"),
        ("[::1:3306", "`]`"),
        (":3306", "not a name"),
        ("unix:", "empty"),
        (&format!("unix:/{}", "x".repeat(107)), "107 bytes"),
    ] {
        let fault = text.parse::<Address>().unwrap_err().to_string();
        assert!(fault.contains(reason), "{text}: {fault}");
    }
}
