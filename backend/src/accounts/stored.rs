//! What the servers store about an account, made into an [`Account`].

use serde_json::Value;

use super::{Account, Auth, Standing, Transport, Way};

const NATIVE: &str = "mysql_native_password";

/// An account from a row of MariaDB's `mysql.global_priv`; `None` for a role or a document that is none.
///
/// Source of the fields: <https://mariadb.com/docs/server/reference/system-tables/the-mysql-database-tables/mysql-global_priv-table>.
pub(super) fn from_json(user: &str, host: &str, privileges: &str) -> Option<Account> {
    let document: Value = serde_json::from_str(privileges).ok()?;
    let flag = |name: &str| document.get(name).and_then(Value::as_bool).unwrap_or(false);
    if flag("is_role") {
        return None;
    }
    let text =
        |value: &Value, name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    // Alternatives, in the order in which the server tries them: an empty object stands for the plugin named outside.
    let ways: Vec<(String, Auth)> = match document.get("auth_or").and_then(Value::as_array) {
        None => vec![&document],
        Some(ways) => {
            ways.iter().map(|way| if way.get("plugin").is_some() { way } else { &document }).collect()
        }
    }
    .into_iter()
    .map(|way| {
        let plugin = text(way, "plugin");
        let auth = auth(&plugin, &text(way, "authentication_string"));
        (plugin, auth)
    })
    .collect();
    let first = ways.first().map(|(plugin, _)| plugin.clone()).unwrap_or_default();
    let usable = ways.iter().find(|(_, auth)| !matches!(auth, Auth::Never | Auth::Other(_)));
    let passable = || ways.iter().find(|(_, auth)| auth.way() == Some(Way::Clear));
    let auth = match usable.or_else(passable).or(ways.first()) {
        Some((_, auth)) => auth.clone(),
        None => Auth::Never,
    };
    let transport = match document.get("ssl_type").and_then(Value::as_i64).unwrap_or(0) {
        // -1 not specified, 0 none, 1 any, 2 X509, 3 specified.
        -1 | 0 => Transport::Any,
        1 => Transport::Tls,
        _ => Transport::Certificate,
    };
    let expired = document.get("password_last_changed").and_then(Value::as_i64) == Some(0);
    let standing = match (flag("account_locked"), expired) {
        (true, _) => Standing::Locked,
        (false, true) => Standing::Expired,
        (false, false) => Standing::Open,
    };
    let plugin = if first.is_empty() { NATIVE.to_owned() } else { first };
    Some(Account { user: user.to_owned(), host: host.to_owned(), plugin, auth, transport, standing })
}

/// One row of `mysql.user` of MySQL, or of MariaDB before 10.4.
#[derive(Debug, Default)]
pub(super) struct UserRow {
    pub(super) user: String,
    pub(super) host: String,
    /// The column `Password` of old servers.
    pub(super) password: String,
    pub(super) plugin: String,
    pub(super) authentication: String,
    pub(super) ssl_type: String,
    pub(super) locked: String,
    pub(super) expired: String,
    pub(super) is_role: String,
}

pub(super) fn from_row(row: UserRow) -> Option<Account> {
    if row.is_role == "Y" {
        return None;
    }
    let stored = if row.authentication.is_empty() { &row.password } else { &row.authentication };
    let auth = auth(&row.plugin, stored);
    let transport = match row.ssl_type.as_str() {
        "" => Transport::Any,
        "ANY" => Transport::Tls,
        _ => Transport::Certificate,
    };
    let standing = match (row.locked.as_str(), row.expired.as_str()) {
        ("Y", _) => Standing::Locked,
        (_, "Y") => Standing::Expired,
        _ => Standing::Open,
    };
    let plugin = if row.plugin.is_empty() { NATIVE.to_owned() } else { row.plugin };
    Some(Account { user: row.user, host: row.host, plugin, auth, transport, standing })
}

fn auth(plugin: &str, stored: &str) -> Auth {
    match (plugin, stored) {
        ("" | NATIVE, "") => Auth::Empty,
        ("" | NATIVE, _) => match native(stored) {
            Some(hash) => Auth::Native(hash),
            // 16 digits of before 4.1, or a text that is no hash (`invalid`), which no password has.
            None => Auth::Never,
        },
        ("caching_sha2_password", _) => Auth::CachingSha2(stored.as_bytes().to_vec()),
        (other, _) => Auth::Other(other.to_owned()),
    }
}

/// `*` and 40 hexadecimal digits.
fn native(stored: &str) -> Option<[u8; 20]> {
    let digits = stored.strip_prefix('*').filter(|digits| digits.len() == 40 && digits.is_ascii())?;
    let mut hash = [0; 20];
    for (byte, at) in hash.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(digits.get(at..at + 2)?, 16).ok()?;
    }
    Some(hash)
}

#[cfg(test)]
mod tests;
