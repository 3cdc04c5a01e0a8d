//! The configuration file: one YAML text in, one valid [`Config`] or all of its faults out.
//!
//! Nothing here is read a second time: paths are resolved, secrets fetched, names looked up. What the file means is
//! documented in `docs/configuration.md`, whose examples are read by the tests.

mod accounts;
mod backends;
mod builtin;
mod client_tls;
mod endpoints;
mod later;
mod limits;
mod logging;
mod reader;
mod rule_files;
mod schemas;
mod secret;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use backend::address::Address;
use sql::source::{Fault, Faults, Span};
use sql::yaml;

pub(crate) use accounts::{Account, Users};
pub(crate) use backends::{Backend, Bundled, External, MemoryUse, Place};
pub(crate) use client_tls::{ClientTls, Encryption};
pub(crate) use endpoints::Listen;
pub(crate) use limits::{Limits, Pooling, Timeouts};
pub(crate) use logging::{Format, Log};
pub(crate) use rule_files::RuleFiles;
pub(crate) use schemas::Schema;
pub(crate) use secret::Secret;

use crate::admin::{Admins, Pattern};
use reader::Reader;

/// Where clients connect unless told otherwise.
pub(crate) const MYSQL_PORT: u16 = 4306;
/// Where the console listens unless told otherwise.
pub(crate) const HTTP_PORT: u16 = 4380;
/// The proxy's own account unless told otherwise.
pub(crate) const ACCOUNT: &str = "shuntyard";
/// The largest file that is read, in bytes.
const FILE_MAX: u64 = 1 << 20;

/// Everything that the proxy was told, valid.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Config {
    /// The file that it came from; `None` without one.
    pub(crate) file: Option<PathBuf>,
    /// Where clients connect; never empty.
    pub(crate) listen: Vec<Listen>,
    /// Where console and metrics listen.
    pub(crate) http: Option<SocketAddr>,
    /// Folder of everything that the proxy keeps.
    pub(crate) data: PathBuf,
    /// TLS towards clients.
    pub(crate) tls: ClientTls,
    /// What the greeting says; `None` for the home backend's own version.
    pub(crate) server_version: Option<String>,
    /// The servers, the home backend first; never empty.
    pub(crate) backends: Vec<Backend>,
    /// The proxy's own account; `None` only where all backends are bundled.
    pub(crate) account: Option<Account>,
    /// Who may log in.
    pub(crate) users: Users,
    /// Who may ask and command the proxy itself.
    pub(crate) admins: Admins,
    /// How sessions use backend connections.
    pub(crate) pooling: Pooling,
    /// Bounds.
    pub(crate) limits: Limits,
    /// How long things may take.
    pub(crate) timeouts: Timeouts,
    /// Where rules come from.
    pub(crate) rules: RuleFiles,
    /// Schemas with a backend of their own.
    pub(crate) schemas: Vec<Schema>,
    /// What is logged.
    pub(crate) log: Log,
}

impl Config {
    /// The defaults around these backends, the home backend first; admins are nobody.
    pub(crate) fn around(backends: Vec<Backend>, account: Option<Account>, data: PathBuf) -> Self {
        Self {
            file: None,
            listen: vec![Listen::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, MYSQL_PORT)))],
            http: Some(SocketAddr::from((Ipv4Addr::LOCALHOST, HTTP_PORT))),
            data,
            tls: ClientTls::default(),
            server_version: None,
            backends,
            account,
            users: Users::FromBackends,
            admins: Admins::default(),
            pooling: Pooling::default(),
            limits: Limits::default(),
            timeouts: Timeouts::default(),
            rules: RuleFiles::builtin(),
            schemas: Vec::new(),
            log: Log::default(),
        }
    }

    /// One server without any file (`serve --backend`): shipped rules, users of that server, the account's owner an
    /// admin.
    pub(crate) fn for_backend(address: Address, account: Account, data: PathBuf) -> Self {
        let admin = Pattern::parse(&account.user).ok();
        let backend =
            Backend { name: "s1".into(), place: Place::External(External::new(address)), expendable: false };
        let mut config = Self::around(vec![backend], Some(account), data);
        config.admins = Admins::new(admin.into_iter().collect());
        config
    }

    /// Reads a file with everything that it names. Relative paths in it start at its folder.
    ///
    /// # Errors
    /// Every fault, in the order of the file.
    pub(crate) fn load(path: &Path) -> Result<Self, Vec<Fault>> {
        let name = path.display().to_string();
        let text = reader::text(path, FILE_MAX).map_err(|error| {
            vec![Fault::new(name.as_str(), Span::START, format!("cannot be read: {error}"))]
        })?;
        let exposed = reader::world_readable(path);
        let environment = |variable: &str| std::env::var(variable).ok();
        Self::parse(path, &text, exposed, &environment)
    }

    /// The text of a file at `path`, which itself is not read. `exposed` says that everybody on the machine may read
    /// the file, so that secrets must not stand in it.
    pub(crate) fn parse(
        path: &Path,
        text: &str,
        exposed: bool,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, Vec<Fault>> {
        let faults = Faults::new(path.display().to_string());
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let config = yaml::parse(text, &faults).and_then(|root| {
            let reader = Reader { faults: &faults, folder, exposed, environment };
            whole(&root, &reader)
        });
        match config {
            Some(config) => faults.into_result(Self { file: Some(path.to_owned()), ..config }),
            None => Err(faults.into_sorted()),
        }
    }

    /// The parts in which `new` differs and which only a restart can change.
    pub(crate) fn needs_restart(&self, new: &Self) -> Vec<&'static str> {
        let parts = [
            ("listen", self.listen != new.listen),
            ("http", self.http != new.http),
            ("data", self.data != new.data),
            ("tls", self.tls != new.tls),
            ("backends", self.backends != new.backends),
            ("limits.per_backend", self.limits.per_backend != new.limits.per_backend),
            (
                "limits.statements_per_backend",
                self.limits.statements_per_backend != new.limits.statements_per_backend,
            ),
            ("limits.queue", self.limits.queue != new.limits.queue),
            ("limits.prepared_statements", self.limits.prepared_statements != new.limits.prepared_statements),
            ("account", self.account != new.account),
            ("log", self.log != new.log),
        ];
        parts.into_iter().filter_map(|(name, differs)| differs.then_some(name)).collect()
    }
}

/// Walks the whole tree even after faults; the result counts only if there were none.
fn whole(root: &yaml::Node, reader: &Reader<'_>) -> Option<Config> {
    let faults = reader.faults;
    if root.is_null() {
        faults.add(root.span, "the file is empty; at least `backends` is needed");
        return None;
    }
    let fields = root.fields("the configuration", faults)?;
    let backends = fields.required("backends").map(|node| backends::read(node, reader)).unwrap_or_default();
    let account = fields.optional("account").and_then(|node| accounts::account(node, reader));
    let mut config = Config::around(backends, account, reader.folder.join("data"));
    if let Some(node) = fields.optional("listen") {
        config.listen = endpoints::listen(node, reader);
    }
    if let Some(node) = fields.optional("http") {
        config.http = endpoints::http(node, faults).flatten();
    }
    if let Some(path) = fields.optional("data").and_then(|node| reader.path(node, "a folder")) {
        config.data = path;
    }
    if let Some(tls) = fields.optional("tls").and_then(|node| client_tls::read(node, reader)) {
        config.tls = tls;
    }
    if let Some(node) = fields.optional("server_version") {
        config.server_version = endpoints::server_version(node, faults);
    }
    if let Some(node) = fields.optional("users") {
        config.users = accounts::users(node, reader);
    }
    if let Some(node) = fields.optional("admins") {
        config.admins = accounts::admins(node, faults);
    }
    if let Some(limits) = fields.optional("limits").and_then(|node| limits::limits(node, faults)) {
        config.limits = limits;
    }
    if let Some(timeouts) = fields.optional("timeouts").and_then(|node| limits::timeouts(node, faults)) {
        config.timeouts = timeouts;
    }
    if let Some(rules) = fields.optional("rules").and_then(|node| rule_files::read(node, reader)) {
        config.rules = rules;
    }
    if let Some(node) = fields.optional("schemas") {
        config.schemas = schemas::read(node, &config.backends, faults);
    }
    if let Some(log) = fields.optional("log").and_then(|node| logging::read(node, faults)) {
        config.log = log;
    }
    if let Some(pooling) = fields.optional("pooling").and_then(|node| limits::pooling(node, faults)) {
        config.pooling = pooling;
    }
    later::keys(&fields, &["shadow", "proxy_protocol", "capture"]);
    let external = config.backends.iter().any(|backend| matches!(backend.place, Place::External(_)));
    // Of a faulty account the fault says enough.
    if external && fields.optional("account").is_none() {
        faults.add(root.span, "`account` is missing: backends that are not bundled are watched with an account of the proxy's own");
    }
    fields.finish();
    Some(config)
}

#[cfg(test)]
mod tests;
