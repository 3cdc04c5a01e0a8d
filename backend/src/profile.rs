//! What a session has set, as far as it can be brought to another connection: variables and the default schema.

use mysql_common::collations::{Collation, CollationId};
use sql::traces::REPLAYED;

use crate::connection::Connection;
use crate::exchange::{ExchangeError, Rows, rows, send_queries};

/// The state of one session on its connection, as the server told it.
///
/// Two connections with equal profiles answer alike, as far as the listed variables and the schema go.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Profile {
    /// The default schema.
    schema: Option<String>,
    /// The collation id that results come with: that of the last SET NAMES, or of the handshake. No variable shows it.
    results: u16,
    /// Variables of [`REPLAYED`] that the server knows, with their values as text.
    variables: Vec<(String, String)>,
}

/// How one profile becomes another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replay {
    /// A single SET statement, where variables differ.
    pub set: Option<String>,
    /// The schema to make the default, where it differs.
    pub schema: Option<String>,
}

impl Profile {
    /// Asks the server. Sets `ROW_COUNT()` and `FOUND_ROWS()` of the connection anew. `None` where the answer cannot be
    /// read, because the session's results come in a character set that is not a superset of ASCII.
    ///
    /// # Errors
    /// See [`ExchangeError`].
    pub async fn read(connection: &mut Connection) -> Result<Option<Self>, ExchangeError> {
        let names: Vec<String> = REPLAYED.iter().map(|name| format!("'{name}'")).collect();
        let variables = format!("SHOW SESSION VARIABLES WHERE Variable_name IN ({})", names.join(","));
        send_queries(connection, &["SELECT HEX(CONVERT(DATABASE() USING utf8mb4))", &variables]).await?;
        // Both answers are read, also where the first is an error, so that none is left over.
        let schema = rows(connection).await;
        let variables = rows(connection).await;
        let (schema, variables) = match (schema, variables) {
            // A setting of the session is in the way of the question: max_join_size, max_statement_time, …
            (Err(ExchangeError::Server(_)), Ok(_)) | (_, Err(ExchangeError::Server(_))) => return Ok(None),
            (schema, variables) => (schema?, variables?.rows),
        };
        let Rows { charset: results, rows: schema } = schema;
        // Or sql_select_limit, which cuts off the end.
        let [schema] = &schema[..] else { return Ok(None) };
        let schema = match schema.first().cloned().flatten() {
            None => None,
            Some(digits) => match unhex(&digits) {
                Some(name) => Some(name),
                None => return Ok(None),
            },
        };
        let text = |cell: Option<Vec<u8>>| cell.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let variables = variables.into_iter().map(|row| {
            let mut cells = row.into_iter().map(text);
            let mut next = || cells.next().flatten().unwrap_or_default();
            (next().to_ascii_lowercase(), next())
        });
        let mut variables: Vec<(String, String)> = variables.collect();
        let whole = variables.iter().any(|(name, _)| name == LAST);
        if !whole || variables.iter().any(|(name, _)| !REPLAYED.contains(&name.as_str())) {
            return Ok(None);
        }
        // What another one sets along with itself comes behind it.
        variables.sort_by_key(|(name, _)| (follows(name).is_some(), name.clone()));
        Ok(Some(Self { schema, results, variables }))
    }

    /// Whether a connection in its server's initial state can be brought to this one.
    #[must_use]
    pub fn is_portable(&self) -> bool {
        self.schema.as_deref().is_none_or(str::is_ascii)
            && (self.value(RESULTS).is_empty() || collation(self.results).is_some())
            && self.variables.iter().all(|(name, value)| literal(name, value).is_some())
    }

    /// A variable's value; empty for one that the server does not know.
    fn value(&self, name: &str) -> &str {
        self.variables.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// The default schema.
    #[must_use]
    pub fn schema(&self) -> Option<&str> {
        self.schema.as_deref()
    }

    /// What brings a connection in this state to the state `wanted`; `None` where nothing can: a default schema cannot be
    /// taken away, and a value that is not plain text is not sent.
    #[must_use]
    pub fn replay(&self, wanted: &Self) -> Option<Replay> {
        // The usual case: equal profiles of one pool are one, and to compare its variables would cost every statement dearly.
        if std::ptr::eq(self, wanted) {
            return Some(Replay { set: None, schema: None });
        }
        let schema = match (&self.schema, &wanted.schema) {
            (Some(_), None) => return None,
            (have, want) if have == want => None,
            // A name goes out in the character set of the connection.
            (_, want) if want.as_ref().is_some_and(|name| !name.is_ascii()) => return None,
            (_, want) => want.clone(),
        };
        let mut items: Vec<String> = Vec::new();
        // Without a character set of their own, results come in each column's, and the number says nothing.
        let same = self.results == wanted.results && self.value(RESULTS) == wanted.value(RESULTS);
        let renamed = !same && !wanted.value(RESULTS).is_empty();
        if renamed {
            items.push(format!("NAMES '{}' COLLATE '{}'", wanted.value(RESULTS), collation(wanted.results)?));
        }
        for (name, value) in &wanted.variables {
            let overwritten = renamed && OF_NAMES.contains(&name.as_str())
                || follows(name).is_some_and(|other| items.iter().any(|item| item.starts_with(other)));
            if self.value(name) == value && !overwritten || renamed && name == RESULTS {
                continue;
            }
            items.push(format!("SESSION {name}={}", literal(name, value)?));
        }
        let set = (!items.is_empty()).then(|| format!("SET {}", items.join(",")));
        Some(Replay { set, schema })
    }
}

/// The last variable of the servers' order, which both have.
const LAST: &str = "wait_timeout";

const RESULTS: &str = "character_set_results";

/// What SET NAMES sets.
const OF_NAMES: &[&str] =
    &["character_set_client", "character_set_connection", "character_set_results", "collation_connection"];

/// The item of a SET that sets this variable along with its own.
fn follows(name: &str) -> Option<&'static str> {
    match name {
        "collation_connection" => Some("SESSION character_set_connection="),
        "sql_big_selects" => Some("SESSION max_join_size="),
        _ => None,
    }
}

/// The name of a collation; `None` for one that is not known here.
fn collation(id: u16) -> Option<String> {
    match CollationId::from(id) {
        CollationId::UNKNOWN_COLLATION_ID => None,
        id => {
            let name = Collation::resolve(id).collation().to_ascii_lowercase();
            // Both servers know this name since MariaDB 10.6 and MySQL 8.0.30.
            Some(name.strip_prefix("utf8_").map_or(name.clone(), |rest| format!("utf8mb3_{rest}")))
        }
    }
}

/// The text that hexadecimal digits stand for.
fn unhex(digits: &[u8]) -> Option<String> {
    let bytes: Option<Vec<u8>> =
        digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect();
    String::from_utf8(bytes?).ok()
}

/// A value as SET takes it; `None` for text that would need quoting, whose rules depend on the session.
fn literal(name: &str, value: &str) -> Option<String> {
    let number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if number {
        // `long_query_time` and the like come as fixed-point numbers.
        return Some(value.to_owned());
    }
    if name == RESULTS && value.is_empty() {
        return Some("NULL".to_owned());
    }
    let plain = value.bytes().all(|byte| (b' '..=b'~').contains(&byte) && byte != b'\'' && byte != b'\\');
    plain.then(|| format!("'{value}'"))
}

#[cfg(test)]
mod tests;
