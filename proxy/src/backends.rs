//! Brings the configured backends up: bundled servers started, external ones watched, catalogs and accounts kept.

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use backend::accounts::{self, AccountsHandle, AccountsKeeper};
use backend::address::Address;
use backend::bundled::{self, Memory, Options, Running, Surroundings};
use backend::catalog::{self, CatalogHandle, Keeper, Timing};
use backend::connect::{self, Login, Target};
use backend::control;
use backend::health::{Monitor, Pace};
use backend::pool::{Bounds, Pool, Range};
use backend::tls::{ClientTls, TlsMode};
use wire::Capabilities;
use wire::auth::{Password, Secret};
use zeroize::Zeroizing;

use crate::config::{self, Config, Limits, MemoryUse, Place};
use crate::shared::{Shared, Unit};

/// Between two looks at the accounts.
const ACCOUNTS: Duration = Duration::from_secs(2);
/// Collation utf8mb4_general_ci, for the proxy's own logins.
const UTF8MB4: u16 = 45;
/// The largest packet of the proxy's own logins.
const MAX_PACKET: u32 = 1 << 24;

/// What keeps backends alive and watched; ends with this.
pub(crate) struct Stack {
    servers: Vec<Running>,
    _catalogs: Vec<Keeper>,
    _accounts: Vec<AccountsKeeper>,
}

/// Why backends cannot be brought up.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StackError {
    /// A bundled server does not start.
    #[error(transparent)]
    Bundled(#[from] bundled::Error),
    /// TLS towards a backend cannot be set up.
    #[error("backend {name}: {error}")]
    Tls {
        name: String,
        #[source]
        error: backend::tls::TlsSetupError,
    },
}

impl Stack {
    /// Starts and watches everything. Bundled servers are ready when this returns; external ones may still be down.
    pub(crate) async fn up(config: &Config) -> Result<(Self, Vec<Unit>), StackError> {
        let around = Surroundings::of_process();
        let count =
            config.backends.iter().filter(|backend| matches!(backend.place, Place::Bundled(_))).count();
        let count = NonZeroU32::new(u32::try_from(count).unwrap_or(u32::MAX)).unwrap_or(NonZeroU32::MIN);
        // All at once: each takes seconds to initialise.
        let starting: Vec<_> = config
            .backends
            .iter()
            .map(|backend| match &backend.place {
                Place::Bundled(bundled) => Some(options(&config.data, &backend.name, bundled, count)),
                Place::External(_) => None,
            })
            .map(|options| {
                let around = around.clone();
                tokio::spawn(async move {
                    match options {
                        None => Ok(None),
                        Some(options) => {
                            let server = bundled::prepare(options, &around).await?.start();
                            server.ready().await.map(|()| Some(server))
                        }
                    }
                })
            })
            .collect();
        let (mut servers, mut units) = (Vec::new(), Vec::new());
        let (mut catalogs, mut keepers) = (Vec::new(), Vec::new());
        let mut failed = None;
        for (backend, starting) in config.backends.iter().zip(starting) {
            let server = match starting.await {
                Ok(Ok(server)) => server,
                Ok(Err(error)) => {
                    failed.get_or_insert(StackError::from(error));
                    continue;
                }
                Err(_) => continue,
            };
            match unit(config, backend, server.as_ref()) {
                Ok(unit) => {
                    catalogs.push(catalog::keep(
                        unit.control.clone(),
                        unit.catalog.clone(),
                        Timing::default(),
                    ));
                    if matches!(config.users, config::Users::FromBackends) {
                        keepers.push(accounts::keep(unit.control.clone(), unit.accounts.clone(), ACCOUNTS));
                    }
                    units.push(unit);
                }
                Err(error) => drop(failed.get_or_insert(error)),
            }
            servers.extend(server);
        }
        let stack = Self { servers, _catalogs: catalogs, _accounts: keepers };
        match failed {
            None => Ok((stack, units)),
            Some(error) => {
                stack.down().await;
                Err(error)
            }
        }
    }

    /// Stops the bundled servers, all at once.
    pub(crate) async fn down(self) {
        let stopping: Vec<_> = self.servers.into_iter().map(|server| tokio::spawn(server.stop())).collect();
        for server in stopping {
            if let Err(error) = server.await {
                tracing::error!(%error, "a bundled server's supervisor failed");
            }
        }
    }
}

fn options(data: &Path, name: &str, bundled: &config::Bundled, servers: NonZeroU32) -> Options {
    let mut options = Options::new(name, data.join(name));
    options.server.clone_from(&bundled.server);
    options.memory = match bundled.memory {
        MemoryUse::Small => Memory::Small { servers },
        MemoryUse::Half => Memory::Half { servers },
    };
    options.settings.clone_from(&bundled.settings);
    options
}

fn unit(config: &Config, backend: &config::Backend, server: Option<&Running>) -> Result<Unit, StackError> {
    let name: Arc<str> = backend.name.as_str().into();
    let (address, tls, ca, user, password) = match (&backend.place, server) {
        (Place::External(external), _) => {
            let account = config.account.as_ref();
            let user = account.map_or_else(|| config::ACCOUNT.to_owned(), |account| account.user.clone());
            let password =
                account.map_or_else(Zeroizing::default, |account| account.password.expose().clone());
            (external.address.clone(), external.tls, external.ca.clone(), user, password)
        }
        (Place::Bundled(_), server) => {
            let socket = server.map(|server| server.socket().to_owned()).unwrap_or_default();
            let account = server.map(|server| server.account().clone());
            let user = account.as_ref().map_or_else(String::new, |account| account.user.to_owned());
            let password = account.map(|account| account.password).unwrap_or_default();
            (Address::Unix(socket), TlsMode::Disabled, None, user, password)
        }
    };
    let fault = |error| StackError::Tls { name: backend.name.clone(), error };
    let target = Target {
        name: name.clone(),
        address: address.clone(),
        tls: ClientTls::new(tls, ca.as_ref()).map_err(fault)?,
        timeout: config.timeouts.connect,
    };
    let mut control = control::Target::new(address, user, password);
    control.tls = tls;
    control.ca = ca;
    control.connect_timeout = config.timeouts.connect;
    let pool = Pool::new(Arc::new(target), bounds(&config.limits));
    Ok(Unit {
        name,
        pool: match config.limits.per_backend {
            Some(most) => pool.bounded(most),
            None => pool,
        },
        climbs: range(&config.limits),
        control: control.clone(),
        info: ArcSwapOption::empty(),
        catalog: CatalogHandle::new(),
        accounts: AccountsHandle::new(),
        monitor: Monitor::start(control, Pace::default()),
        bundled: server.is_some(),
        opened: Default::default(),
        failed: Default::default(),
    })
}

fn bounds(limits: &Limits) -> Bounds {
    let most = limits.per_backend.unwrap_or(usize::MAX);
    Bounds {
        size: limits.statements_per_backend.unwrap_or_else(|| shared_connections().min(most - 1).max(1)),
        queue: limits.queue,
        statements: limits.prepared_statements,
    }
}

/// How many connections to a backend are shared at first where nothing is configured: a server is quickest with a few
/// statements for each of its cores, and the proxy does not know how many it has.
fn shared_connections() -> usize {
    (8 * cores()).max(16)
}

/// Between which numbers the best one is looked for then; `None` where one is configured.
fn range(limits: &Limits) -> Option<Range> {
    let most = limits.per_backend.map_or(usize::MAX, |most| most.saturating_sub(1)).max(1);
    let range = Range { least: (2 * cores()).max(4).min(most), most: (64 * cores()).max(256).min(most) };
    limits.statements_per_backend.is_none().then_some(range)
}

/// Cores of this machine.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Looks for the number of shared connections that a backend is quickest with, where none is configured.
pub(crate) async fn keep_climbing(shared: Arc<Shared>, index: usize) {
    if let Some(unit) = shared.backends.get(index)
        && let Some(range) = unit.climbs
    {
        unit.pool.climb(range).await;
    }
}

/// Logs in once on the proxy's own account, to learn what the server greets with.
pub(crate) async fn look(unit: &Unit) -> Result<(), connect::ConnectError> {
    let login = Login {
        user: unit.control.user.as_bytes(),
        secret: Secret::Password(Password::new(unit.control.password.as_bytes())),
        schema: None,
        charset: UTF8MB4,
        capabilities: Capabilities::empty(),
        max_packet: MAX_PACKET,
        attributes: None,
    };
    let (connection, _) = connect::connect(unit.pool.target(), &login).await?;
    unit.info.store(Some(connection.server.clone()));
    connection.quit().await;
    Ok(())
}

/// Learns what each backend greets with whenever it comes up: its version may be another one.
pub(crate) async fn keep_looking(shared: Arc<Shared>, index: usize) {
    let Some(unit) = shared.backends.get(index) else { return };
    let mut health = unit.monitor.changes();
    let mut was_up = false;
    loop {
        let is_up = health.borrow_and_update().is_up();
        if is_up && (!was_up || unit.info.load().is_none()) {
            match look(unit).await {
                Ok(()) => tracing::info!(backend = unit.name(), "backend is up"),
                Err(error) => tracing::warn!(backend = unit.name(), %error, "backend cannot be used"),
            }
        } else if !is_up && was_up {
            tracing::warn!(backend = unit.name(), "backend is down");
        }
        was_up = is_up;
        if health.changed().await.is_err() {
            return;
        }
    }
}
