#![expect(clippy::unwrap_used, reason = "tests")]

use super::{UserRow, from_json, from_row};
use crate::accounts::{Auth, Standing, Transport};

/// PASSWORD('app') as MariaDB 10.11 stores it.
const APP: &str = "*5BCB3E6AC345B435C7C2E6B7949A04CE6F6563D3";

#[test]
fn a_native_password_is_its_twenty_bytes() {
    let account = from_json("app", "%", &format!(r#"{{"access":0,"plugin":"mysql_native_password","authentication_string":"{APP}","password_last_changed":1}}"#)).unwrap();
    let Auth::Native(hash) = account.auth else { panic!("{account:?}") };
    assert_eq!((hash[0], hash[19]), (0x5B, 0xD3));
    assert_eq!((account.transport, account.standing), (Transport::Any, Standing::Open));
}

#[test]
fn an_account_without_a_plugin_has_no_password() {
    assert_eq!(from_json("", "localhost", r#"{"access":0}"#).unwrap().auth, Auth::Empty);
}

#[test]
fn roles_are_not_accounts() {
    assert_eq!(from_json("readers", "", r#"{"access":0,"is_role":true}"#), None);
    assert_eq!(from_row(UserRow { is_role: "Y".into(), ..UserRow::default() }), None);
}

#[test]
fn of_alternatives_the_first_that_can_be_checked_counts() {
    let document = format!(
        r#"{{"plugin":"mysql_native_password","authentication_string":"{APP}","auth_or":[{{"plugin":"ed25519","authentication_string":"x"}},{{}}]}}"#
    );
    assert!(matches!(from_json("a", "%", &document).unwrap().auth, Auth::Native(_)));
    let root = r#"{"plugin":"mysql_native_password","authentication_string":"invalid","auth_or":[{},{"plugin":"unix_socket"}]}"#;
    assert_eq!(from_json("root", "localhost", root).unwrap().auth, Auth::Never);
    let pam = root.replace("unix_socket", "pam");
    assert_eq!(from_json("root", "localhost", &pam).unwrap().auth, Auth::Other("pam".into()));
}

#[test]
fn locks_expiry_and_transport_are_read() {
    let of = |document: &str| from_json("a", "%", document).unwrap();
    assert_eq!(of(r#"{"account_locked":true}"#).standing, Standing::Locked);
    assert_eq!(of(r#"{"password_last_changed":0}"#).standing, Standing::Expired);
    assert_eq!(of(r#"{"ssl_type":1}"#).transport, Transport::Tls);
    assert_eq!(of(r#"{"ssl_type":2}"#).transport, Transport::Certificate);
}

#[test]
fn old_hashes_and_foreign_plugins_cannot_be_checked() {
    for (plugin, stored) in [("", "5d2e19393cc5ef67"), ("ed25519", "abc"), ("mysql_native_password", "*zz")] {
        let row = UserRow { plugin: plugin.into(), authentication: stored.into(), ..UserRow::default() };
        assert!(matches!(from_row(row).unwrap().auth, Auth::Never | Auth::Other(_)), "{plugin} {stored}");
    }
}

#[test]
fn nonsense_is_no_account() {
    assert_eq!(from_json("a", "%", "not json"), None);
}
