//! Reading the accounts of a server from its `mysql` schema.

use mysql_async::Row;
use sql::{Product, Version};

use super::stored::{UserRow, from_json, from_row};
use super::{Account, Accounts};
use crate::control::{Control, ControlError, ServerFacts, quote_text};

/// ER_NO_SUCH_TABLE.
const NO_SUCH_TABLE: u16 = 1146;

/// Where a server keeps its accounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Store {
    /// `mysql.global_priv`: MariaDB 10.4 and later.
    GlobalPriv,
    /// `mysql.user` of MariaDB before 10.4.
    OldMariaDb,
    /// `mysql.user` of MySQL 5.7 and later.
    MySql,
}

impl Store {
    const fn of(product: Product, version: Version) -> Self {
        match (product, version) {
            (Product::MySql, _) => Self::MySql,
            (Product::MariaDb, Version(0..=9, ..) | Version(10, 0..=3, _)) => Self::OldMariaDb,
            (Product::MariaDb, _) => Self::GlobalPriv,
        }
    }

    /// Whether it failed because the server keeps its accounts as its predecessor did.
    fn is_missing(self, error: &ControlError) -> bool {
        self == Self::GlobalPriv && error.code() == Some(NO_SUCH_TABLE)
    }

    const fn table(self) -> &'static str {
        match self {
            Self::GlobalPriv => "mysql.global_priv",
            Self::OldMariaDb | Self::MySql => "mysql.user",
        }
    }

    const fn columns(self) -> &'static [&'static str] {
        match self {
            Self::GlobalPriv => &["User", "Host", "Priv"],
            Self::OldMariaDb => &[
                "User",
                "Host",
                "Password",
                "plugin",
                "authentication_string",
                "ssl_type",
                "password_expired",
                "is_role",
            ],
            Self::MySql => &[
                "User",
                "Host",
                "plugin",
                "authentication_string",
                "ssl_type",
                "password_expired",
                "account_locked",
            ],
        }
    }
}

/// The GRANT statements without which [`load`] is refused, for the account that `facts` names.
#[must_use]
pub fn needed_grants(facts: &ServerFacts) -> Vec<String> {
    let store = Store::of(facts.product, facts.version);
    let (user, host) = facts.current_user.rsplit_once('@').unwrap_or((&facts.current_user, "%"));
    vec![format!(
        "GRANT SELECT ({}) ON {} TO {}@{};",
        store.columns().join(", "),
        store.table(),
        quote_text(user),
        quote_text(host)
    )]
}

/// What all accounts come to: equal as long as none of them changes. A few microseconds for each account. `None` where
/// that cannot be told.
///
/// # Errors
/// [`ControlError::Privileges`] with the GRANT that is missing, or the connection's loss.
pub(super) async fn checksum(
    control: &mut Control,
    facts: &ServerFacts,
) -> Result<Option<(u64, u64)>, ControlError> {
    let store = Store::of(facts.product, facts.version);
    // CHAR(0) is binary: no two columns' collations are mixed.
    let sql = format!(
        "SELECT COUNT(*), COALESCE(BIT_XOR(CAST(CONV(LEFT(SHA2(CONCAT_WS(CHAR(0), {}), 256), 16), 16, 10) \
         AS UNSIGNED)), 0) FROM {}",
        store.columns().join(", "),
        store.table()
    );
    match control.first(&sql).await {
        Err(error) if store.is_missing(&error) => Ok(None),
        sum => Ok(Some(sum.map_err(|error| lacking(error, facts))?.unwrap_or_default())),
    }
}

/// Reads all accounts.
///
/// # Errors
/// [`ControlError::Privileges`] with the GRANT that is missing, or the connection's loss.
pub async fn load(control: &mut Control, facts: &ServerFacts) -> Result<Accounts, ControlError> {
    let store = Store::of(facts.product, facts.version);
    let sql = format!("SELECT {} FROM {}", store.columns().join(", "), store.table());
    let (store, rows): (Store, Result<Vec<Row>, _>) = match control.query(&sql).await {
        // The tables of an older server, never upgraded; which of the columns they have depends on its age.
        Err(error) if store.is_missing(&error) => {
            (Store::OldMariaDb, control.query("SELECT * FROM mysql.user").await)
        }
        rows => (store, rows),
    };
    let rows = rows.map_err(|error| lacking(error, facts))?;
    let accounts = rows.into_iter().filter_map(|row| account(store, &row)).collect();
    Ok(Accounts::new(facts.product, facts.skip_name_resolve, accounts))
}

fn account(store: Store, row: &Row) -> Option<Account> {
    let text = |name: &str| match row.get_opt::<Option<Vec<u8>>, _>(name) {
        Some(Ok(Some(bytes))) => String::from_utf8_lossy(&bytes).into_owned(),
        _ => String::new(),
    };
    match store {
        Store::GlobalPriv => from_json(&text("User"), &text("Host"), &text("Priv")),
        Store::OldMariaDb | Store::MySql => from_row(UserRow {
            user: text("User"),
            host: text("Host"),
            password: text("Password"),
            plugin: text("plugin"),
            authentication: text("authentication_string"),
            ssl_type: text("ssl_type"),
            locked: text("account_locked"),
            expired: text("password_expired"),
            is_role: text("is_role"),
        }),
    }
}

fn lacking(error: ControlError, facts: &ServerFacts) -> ControlError {
    match error {
        ControlError::Server { ref address, .. } if error.is_privilege() => {
            ControlError::Privileges { address: address.clone(), statements: needed_grants(facts) }
        }
        other => other,
    }
}
