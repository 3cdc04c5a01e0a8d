//! The sample shop: its tables, its rows, the account `app`, and statements to try.
//!
//! The server makes the rows itself, from MariaDB's SEQUENCE engine and CRC32 of the row's number: the same rows in
//! every run, and nothing to send.

mod progress;
mod rows;
mod statements;

use backend::control::{Control, ControlError, Target, quote_name, quote_text};
use tokio::try_join;

pub(crate) use progress::{Progress, Terminal};
pub(crate) use statements::STATEMENTS;

/// The schema of the sample shop.
pub(crate) const SCHEMA: &str = "shop";
/// The account that applications use, and its password.
pub(crate) const APP: (&str, &str) = ("app", "app");

/// Rows of `customers`.
pub(crate) const CUSTOMERS: u64 = 100_000;
/// Rows of `orders`.
pub(crate) const ORDERS: u64 = 1_000_000;
/// Rows of `orders_archive`.
pub(crate) const ARCHIVED: u64 = 300_000;

/// Grows when the rows or tables change, so that an older shop is made anew.
const VERSION: u32 = 1;

/// No single statement of a load takes longer than this, even on a slow and busy machine.
const LIMIT: std::time::Duration = std::time::Duration::from_secs(600);

/// The rows can be made again at any time: the binary log need not hold them.
const UNLOGGED: &str = "SET SESSION sql_log_bin = 0";

/// How a load ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loaded {
    /// It was there already, whole.
    Found,
    /// It has been made.
    Made,
    /// There is a schema `shop` that this program did not make. It was left alone.
    Foreign,
}

/// Makes the sample shop on a MariaDB server, unless it is there, and the account `app` with all privileges on it. A
/// shop that was half made is made anew; one that somebody changed since is kept as it is.
///
/// # Errors
/// The server's refusal or loss. The next call starts over.
pub(crate) async fn load(target: &Target, progress: &dyn Progress) -> Result<Loaded, ControlError> {
    let mut control = target.connect().await?;
    let loaded = match standing(&mut control).await? {
        Standing::Whole => Loaded::Found,
        Standing::Foreign => Loaded::Foreign,
        Standing::Missing => {
            make(target, &mut control, progress).await?;
            Loaded::Made
        }
    };
    if loaded != Loaded::Foreign {
        grant(&mut control).await?;
    }
    control.close().await;
    Ok(loaded)
}

enum Standing {
    Missing,
    Whole,
    Foreign,
}

/// Reads the mark in `_shuntyard.demo`: it is set to `begun` before the schema is touched, and to `whole` last.
async fn standing(control: &mut Control) -> Result<Standing, ControlError> {
    control
        .execute(
            "CREATE DATABASE IF NOT EXISTS _shuntyard; \
             CREATE TABLE IF NOT EXISTS _shuntyard.demo (name VARCHAR(64) CHARACTER SET ascii NOT NULL PRIMARY KEY, \
             version INT UNSIGNED NOT NULL, state ENUM('begun', 'whole') NOT NULL, \
             changed TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP) ENGINE=InnoDB",
        )
        .await?;
    let mark: Option<(u32, String)> = control
        .first(&format!("SELECT version, state FROM _shuntyard.demo WHERE name = {}", quote_text(SCHEMA)))
        .await?;
    let exists: Option<(u32,)> = control
        .first(&format!(
            "SELECT 1 FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = {}",
            quote_text(SCHEMA)
        ))
        .await?;
    Ok(match (mark, exists) {
        (Some((VERSION, state)), Some(_)) if state == "whole" => Standing::Whole,
        (None, Some(_)) => Standing::Foreign,
        _ => Standing::Missing,
    })
}

async fn make(target: &Target, control: &mut Control, progress: &dyn Progress) -> Result<(), ControlError> {
    control.execute(UNLOGGED).await?;
    let (mark, schema) = (quote_text(SCHEMA), quote_name(SCHEMA));
    control
        .execute_within(
            LIMIT,
            &format!(
                "REPLACE INTO _shuntyard.demo (name, version, state) VALUES ({mark}, {VERSION}, 'begun'); \
                 DROP DATABASE IF EXISTS {schema}; \
                 CREATE DATABASE {schema} CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci; {}",
                rows::TABLES.join("; ")
            ),
        )
        .await?;
    progress.begin(CUSTOMERS + ORDERS + ARCHIVED);
    // Two connections, for the two sides take the same time on one core each: orders, and the rest. Two on one table
    // would wait for each other's AUTO_INCREMENT lock (innodb_autoinc_lock_mode = 1).
    let orders = lane(target, rows::orders(), progress);
    let others = lane(target, rows::others(), progress);
    try_join!(orders, others)?;
    let whole = format!(
        "ANALYZE TABLE shop.customers, shop.orders, shop.orders_archive; \
         UPDATE _shuntyard.demo SET state = 'whole' WHERE name = {mark}"
    );
    control.execute_within(LIMIT, &whole).await?;
    control.execute("SET SESSION sql_log_bin = 1").await?;
    progress.end();
    Ok(())
}

async fn lane(target: &Target, steps: Vec<rows::Step>, progress: &dyn Progress) -> Result<(), ControlError> {
    let mut control = target.connect().await?;
    control.execute(UNLOGGED).await?;
    for step in steps {
        control.execute_within(LIMIT, &step.sql).await?;
        progress.advance(step.rows);
    }
    control.close().await;
    Ok(())
}

/// One account for every host: whichever way client and proxy connect, the server and the proxy choose the same
/// one. Anonymous accounts, which some installations have, would be chosen before it for local clients.
async fn grant(control: &mut Control) -> Result<(), ControlError> {
    let anonymous: Vec<(String,)> =
        control.query("SELECT Host FROM mysql.global_priv WHERE User = ''").await?;
    for (host,) in anonymous {
        control.execute(&format!("DROP USER IF EXISTS ''@{}", quote_text(&host))).await?;
    }
    let (user, password) = (quote_text(APP.0), quote_text(APP.1));
    control
        .execute(&format!(
            "CREATE USER IF NOT EXISTS {user}@'%' IDENTIFIED BY {password}; \
             GRANT ALL PRIVILEGES ON {}.* TO {user}@'%'",
            quote_name(SCHEMA)
        ))
        .await
}

#[cfg(test)]
mod tests;
