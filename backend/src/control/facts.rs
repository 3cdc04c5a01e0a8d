//! What is learned about a server right after connecting.

use sql::catalog::TableNames;
use sql::{Product, SqlMode, Version};

use super::{Control, ControlError};

/// A server's product, version and the settings that the proxy's decisions depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerFacts {
    /// MariaDB or MySQL.
    pub product: Product,
    /// Its version.
    pub version: Version,
    /// `@@version` as the server writes it.
    pub version_text: String,
    /// `@@version_comment`.
    pub version_comment: String,
    /// How names of schemas and tables are compared.
    pub table_names: TableNames,
    /// The global `sql_mode`, with which new sessions start.
    pub sql_mode: SqlMode,
    /// Whether that mode holds a name which is not known here.
    pub sql_mode_unknown: bool,
    /// The global `sql_mode` as text.
    pub sql_mode_text: String,
    /// `character_set_server`.
    pub charset: String,
    /// `collation_server`.
    pub collation: String,
    /// Whether clients' addresses are never turned into names; then 127.0.0.1 is not `localhost`.
    pub skip_name_resolve: bool,
    /// `max_allowed_packet` in bytes.
    pub max_allowed_packet: u64,
    /// `max_connections`.
    pub max_connections: u64,
    /// `wait_timeout` in seconds.
    pub wait_timeout: u64,
    /// `optimizer_switch`.
    pub optimizer_switch: String,
    /// Whether writes are refused (`read_only`).
    pub read_only: bool,
    /// `CURRENT_USER()` of the control connection: which account the server chose, `user@host`.
    pub current_user: String,
}

impl ServerFacts {
    /// Asks a server.
    ///
    /// # Errors
    /// The connection's loss, or a server whose version cannot be understood.
    pub async fn probe(control: &mut Control) -> Result<Self, ControlError> {
        let named: Vec<(String, String)> = control
            .query(
                "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('version', 'version_comment', \
                 'lower_case_table_names', 'sql_mode', 'character_set_server', 'collation_server', \
                 'skip_name_resolve', 'max_allowed_packet', 'max_connections', 'wait_timeout', \
                 'optimizer_switch', 'read_only')",
            )
            .await?;
        let current_user: Option<(String,)> = control.first("SELECT CURRENT_USER()").await?;
        let text = |name: &str| {
            named
                .iter()
                .find(|(given, _)| given.eq_ignore_ascii_case(name))
                .map(|(_, value)| value.clone())
                .unwrap_or_default()
        };
        let number = |name: &str| text(name).parse().unwrap_or(0);
        let on = |name: &str| matches!(text(name).as_str(), "ON" | "1");
        let version_text = text("version");
        let Some((product, version)) = Version::parse(&version_text) else {
            return Err(ControlError::Unexpected { address: control.address.clone() });
        };
        let sql_mode_text = text("sql_mode");
        let (sql_mode, sql_mode_unknown) = SqlMode::parse(&sql_mode_text);
        Ok(Self {
            product,
            version,
            version_text,
            version_comment: text("version_comment"),
            table_names: match text("lower_case_table_names").as_str() {
                "0" => TableNames::CaseSensitive,
                _ => TableNames::CaseInsensitive,
            },
            sql_mode,
            sql_mode_unknown,
            sql_mode_text,
            charset: text("character_set_server"),
            collation: text("collation_server"),
            skip_name_resolve: on("skip_name_resolve"),
            max_allowed_packet: number("max_allowed_packet"),
            max_connections: number("max_connections"),
            wait_timeout: number("wait_timeout"),
            optimizer_switch: text("optimizer_switch"),
            read_only: on("read_only"),
            current_user: current_user.map(|(user,)| user).unwrap_or_default(),
        })
    }
}
