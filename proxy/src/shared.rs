//! What all sessions of one proxy share.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::{ArcSwap, ArcSwapOption};
use backend::accounts::AccountsHandle;
use backend::catalog::CatalogHandle;
use backend::connect::{ConnectError, Login, Opened};
use backend::connection::ServerInfo;
use backend::control;
use backend::health::Monitor;
use backend::pool::{Lease, Pool, Range};
use rewriter::{RuleId, RuleSet};
use router::topology::Topology;
use sql::source::Fault;
use sql::{CharsetClass, Flavor, Product, SqlMode, Version};
use tokio::sync::{Notify, mpsc, oneshot};
use wire::auth::Plugin;
use zeroize::Zeroizing;

use crate::admin::{Admins, Pattern};
pub(crate) use crate::config::Pooling;
use crate::http::Reloaded;
use crate::planner::Planner;
use crate::stats::{Activity, Counter, Registry, SessionGuard, SessionId};

/// Session ids start here, so that a KILL can tell them from the servers' own, which start at 1.
const FIRST_SESSION: SessionId = 1 << 30;

/// Between two tries to reach a backend that is down.
const RETRY: Duration = Duration::from_millis(200);

/// The state of one proxy.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The backends, in the file's order; never empty.
    pub(crate) backends: Vec<Unit>,
    /// What a reload replaces.
    live: ArcSwap<Live>,
    /// The rules in force.
    pub(crate) rules: ArcSwap<Rules>,
    /// The layout in force.
    pub(crate) topology: ArcSwap<Topology>,
    /// Text to plan.
    pub(crate) planner: Planner,
    /// Counters.
    pub(crate) stats: Arc<Registry>,
    /// TLS towards clients; `None` where it is disabled.
    pub(crate) tls: Option<ServerTls>,
    /// The key that clients encipher passwords with when they log in without TLS.
    pub(crate) rsa: crate::login::RsaKey,
    /// What is known of passwords that the home backend has accepted.
    pub(crate) known: crate::login::Known,
    /// How many sessions each user has.
    pub(crate) seats: crate::login::Seats,
    /// Relay only.
    pub(crate) passthrough: bool,
    listening: Mutex<Vec<String>>,
    rule_counts: Mutex<HashMap<RuleId, Arc<RuleCount>>>,
    reloads: mpsc::UnboundedSender<ReloadRequest>,
    wakes: Mutex<HashMap<SessionId, Arc<Notify>>>,
    next_session: AtomicU32,
    draining: AtomicBool,
}

/// TLS towards clients.
#[derive(Debug, Clone)]
pub(crate) struct ServerTls {
    pub(crate) config: Arc<rustls::ServerConfig>,
    /// A client without TLS is refused.
    pub(crate) required: bool,
}

/// What a reload replaces.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) users: Users,
    pub(crate) admins: Admins,
    pub(crate) timeouts: Timeouts,
    /// How sessions share connections, where nothing else is said of the user.
    pub(crate) pooling: Pooling,
    /// Client connections at most.
    pub(crate) connections: usize,
    /// Client connections of one user at most.
    pub(crate) per_user: Option<usize>,
    /// Statements are logged with their literals.
    pub(crate) literals: bool,
    /// What the greeting says; `None` for what the home backend says.
    pub(crate) server_version: Option<String>,
}

impl Live {
    /// How sessions of a user share connections.
    pub(crate) fn pooling_of(&self, user: &str) -> Pooling {
        let listed = match &self.users {
            Users::FromBackends => None,
            Users::Listed(users) => {
                users.iter().find(|listed| listed.name == user).and_then(|user| user.pooling)
            }
        };
        listed.unwrap_or(self.pooling)
    }
}

/// Who may log in.
#[derive(Debug)]
pub(crate) enum Users {
    /// The accounts of the home backend.
    FromBackends,
    /// These.
    Listed(Vec<ListedUser>),
}

/// A user of the configuration.
#[derive(Debug)]
pub(crate) struct ListedUser {
    pub(crate) name: String,
    pub(crate) password: Zeroizing<String>,
    /// Which account of that name, and from where; `None` for everywhere.
    pub(crate) host: Option<Pattern>,
    /// How it proves its password; `None` where the client chooses.
    pub(crate) plugin: Option<Plugin>,
    /// Its connections at most.
    pub(crate) connections: Option<usize>,
    /// How its sessions share connections, if that is said.
    pub(crate) pooling: Option<Pooling>,
}

impl ListedUser {
    /// Whether this is the user, coming from this address (`None` for the Unix socket).
    pub(crate) fn admits(&self, user: &str, address: Option<std::net::IpAddr>) -> bool {
        self.name == user && self.host.as_ref().is_none_or(|host| host.matches(user, address))
    }
}

/// How long things may take; `None` for ever.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timeouts {
    /// A client's login.
    pub(crate) login: Duration,
    /// A client for a backend that is down.
    pub(crate) wait: Duration,
    /// A client between commands.
    pub(crate) idle: Option<Duration>,
    /// A backend between two pieces of an answer.
    pub(crate) read: Option<Duration>,
    /// One statement.
    pub(crate) statement: Option<Duration>,
    /// Sessions after SIGTERM.
    pub(crate) drain: Duration,
}

/// The rules in force.
#[derive(Debug)]
pub(crate) struct Rules {
    /// Another number for every change.
    pub(crate) generation: u64,
    /// `SHUNTYARD SET rules`.
    pub(crate) on: bool,
    pub(crate) set: Arc<RuleSet>,
}

/// One backend.
#[derive(Debug)]
pub(crate) struct Unit {
    pub(crate) name: Arc<str>,
    pub(crate) pool: Pool,
    /// Between which numbers the best one of shared connections is looked for; `None` where it is configured.
    pub(crate) climbs: Option<Range>,
    /// The proxy's own account there.
    pub(crate) control: control::Target,
    /// What it said when it was last reached.
    pub(crate) info: ArcSwapOption<ServerInfo>,
    pub(crate) catalog: CatalogHandle,
    pub(crate) accounts: AccountsHandle,
    /// Whether it answers.
    pub(crate) monitor: Monitor,
    /// Whether the proxy runs the server itself.
    pub(crate) bundled: bool,
    pub(crate) opened: AtomicU64,
    pub(crate) failed: AtomicU64,
}

impl Unit {
    /// A connection for a session, counted. While nobody answers there it is tried again, for `wait` at most.
    pub(crate) async fn checkout(
        &self,
        stats: &Registry,
        login: &Login<'_>,
        wait: Duration,
    ) -> Result<(Lease, Opened), ConnectError> {
        let deadline = Instant::now() + wait;
        loop {
            match self.pool.checkout(login).await {
                Ok(opened) => {
                    self.opened.fetch_add(1, Ordering::Relaxed);
                    stats.totals.add(Counter::BackendConnections, 1);
                    return Ok(opened);
                }
                Err(error) => {
                    self.failed.fetch_add(1, Ordering::Relaxed);
                    stats.totals.add(Counter::BackendFailures, 1);
                    let again = matches!(error, ConnectError::Unreachable { .. });
                    if !again || Instant::now() + RETRY > deadline {
                        return Err(error);
                    }
                }
            }
            tokio::time::sleep(RETRY).await;
        }
    }

    /// Whether the server calls a loopback address `localhost`.
    pub(crate) fn resolves_names(&self) -> bool {
        self.monitor.now().facts().is_none_or(|facts| !facts.skip_name_resolve)
    }

    /// Connections opened for sessions, and attempts that failed, since the start.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.opened.load(Ordering::Relaxed), self.failed.load(Ordering::Relaxed))
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

/// How often a rule changed a statement, and how often a guard refused what it matched.
#[derive(Debug, Default)]
pub(crate) struct RuleCount {
    pub(crate) fired: AtomicU64,
    pub(crate) refused: AtomicU64,
}

/// Somebody asks for a reload: where the outcome goes.
pub(crate) type ReloadRequest = oneshot::Sender<Result<Reloaded, Vec<Fault>>>;

/// What a proxy is made of.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) backends: Vec<Unit>,
    pub(crate) live: Live,
    pub(crate) rules: Rules,
    pub(crate) topology: Topology,
    pub(crate) stats: Arc<Registry>,
    pub(crate) tls: Option<ServerTls>,
    pub(crate) passthrough: bool,
    pub(crate) reloads: mpsc::UnboundedSender<ReloadRequest>,
}

impl Shared {
    /// `None` without a backend.
    pub(crate) fn new(parts: Parts) -> Option<Arc<Self>> {
        let Parts { backends, live, rules, topology, stats, tls, passthrough, reloads } = parts;
        if backends.is_empty() {
            return None;
        }
        Some(Arc::new(Self {
            backends,
            live: ArcSwap::from_pointee(live),
            rules: ArcSwap::from_pointee(rules),
            topology: ArcSwap::from_pointee(topology),
            planner: Planner::new(),
            stats,
            tls,
            rsa: crate::login::RsaKey::default(),
            known: crate::login::Known::default(),
            seats: crate::login::Seats::default(),
            passthrough,
            listening: Mutex::default(),
            rule_counts: Mutex::default(),
            reloads,
            wakes: Mutex::default(),
            next_session: AtomicU32::new(FIRST_SESSION),
            draining: AtomicBool::new(false),
        }))
    }

    /// The home backend.
    pub(crate) fn home(&self) -> &Unit {
        // `new` refuses an empty list.
        &self.backends[0]
    }

    /// What a reload replaces, as of now.
    pub(crate) fn live(&self) -> arc_swap::Guard<Arc<Live>> {
        self.live.load()
    }

    /// Puts a new configuration in force.
    pub(crate) fn set_live(&self, live: Live) {
        self.live.store(Arc::new(live));
    }

    /// Puts new rules in force, or switches them.
    pub(crate) fn change_rules(&self, change: impl Fn(&Rules) -> (bool, Arc<RuleSet>)) {
        self.rules.rcu(|old| {
            let (on, set) = change(old);
            Rules { generation: old.generation + 1, on, set }
        });
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// From now on sessions end as soon as no transaction is open in them.
    pub(crate) fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
        for wake in self.wakes().values() {
            wake.notify_one();
        }
    }

    /// What lexing depends on in a session of the home backend that changed nothing.
    pub(crate) fn default_flavor(&self, info: &ServerInfo) -> Flavor {
        let (product, version) = Version::parse(&info.version).unwrap_or((Product::MySql, Version(8, 0, 0)));
        let facts = self.home().monitor.now().facts().cloned();
        let mode = facts.map_or_else(SqlMode::empty, |facts| facts.sql_mode);
        Flavor { product, version, mode, charset: CharsetClass::Utf8 }
    }

    /// Writes a statement into the log at debug level: without its literals, unless the configuration asks for them.
    pub(crate) fn log_statement(&self, what: &'static str, text: &[u8], flavor: Flavor) {
        if tracing::enabled!(tracing::Level::DEBUG) {
            let shown = match self.live().literals {
                true => String::from_utf8_lossy(text).into_owned(),
                false => sql::digest::normalize(text, flavor),
            };
            tracing::debug!(statement = shown, "{what}");
        }
    }

    /// The addresses that clients connect to.
    pub(crate) fn listening(&self) -> Vec<String> {
        self.listening.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Says where clients connect to.
    pub(crate) fn set_listening(&self, endpoints: Vec<String>) {
        *self.listening.lock().unwrap_or_else(PoisonError::into_inner) = endpoints;
    }

    /// The counters of a rule.
    pub(crate) fn rule_count(&self, rule: &RuleId) -> Arc<RuleCount> {
        let mut counts = self.rule_counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.entry(rule.clone()).or_default().clone()
    }

    /// Has configuration and rules read again, and waits for what became of it.
    ///
    /// # Errors
    /// Every fault; nothing has changed then.
    pub(crate) async fn reload(&self) -> Result<Reloaded, Vec<Fault>> {
        let (answer, wait) = oneshot::channel();
        let gone = || Ok(Reloaded::default());
        if self.reloads.send(answer).is_err() {
            return gone();
        }
        wait.await.unwrap_or_else(|_| gone())
    }

    /// A new session's place among the others.
    pub(crate) fn join(self: &Arc<Self>, client: String) -> Member {
        // The upper half of the numbers, round and round.
        let id = self.next_session.fetch_add(1, Ordering::Relaxed) | FIRST_SESSION;
        let wake = Arc::new(Notify::new());
        self.wakes().insert(id, wake.clone());
        Member { guard: self.stats.sessions.enter(id, client), wake, id, shared: self.clone() }
    }

    /// Ends a session that holds no connection: one that holds one ends with it.
    pub(crate) fn kill(&self, session: &crate::stats::SessionInfo) {
        session.kill();
        if let Some(wake) = self.wakes().get(&session.id()) {
            wake.notify_one();
        }
    }

    fn wakes(&self) -> std::sync::MutexGuard<'_, HashMap<SessionId, Arc<Notify>>> {
        self.wakes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A session's place among the others, for as long as it lives.
#[derive(Debug)]
pub(crate) struct Member {
    guard: SessionGuard,
    wake: Arc<Notify>,
    id: SessionId,
    shared: Arc<Shared>,
}

impl Member {
    pub(crate) const fn id(&self) -> SessionId {
        self.id
    }

    /// Ends when the proxy has something to say to the session.
    pub(crate) async fn woken(&self) {
        self.wake.notified().await;
    }

    pub(crate) fn begin(&self, activity: Activity) {
        self.guard.begin(activity, 0);
    }
}

impl std::ops::Deref for Member {
    type Target = SessionGuard;

    fn deref(&self) -> &SessionGuard {
        &self.guard
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.shared.wakes().remove(&self.id);
    }
}
