//! Runs a proxy: brings everything up, says that it is ready, and takes it down in order.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use router::topology::Topology;
use serde_json::Value;
use sql::source::Fault;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{Notify, mpsc, oneshot};

use crate::admin::Source;
use crate::backends::{self, Stack, StackError};
use crate::config::{Config, Encryption, Listen};
use crate::cores::Cores;
use crate::descriptors;
use crate::explain::explain;
use crate::http::{self, Control, Explain, Reloaded, Socket, Task};
use crate::listener::{Endpoint, Listener};
use crate::login;
use crate::planner::Question;
use crate::reload::{self, Reloader};
use crate::shared::{Parts, Rules, ServerTls, Shared, Users};
use crate::stats::Registry;
use crate::tls::{self, Certificate};

/// Statement digests that are kept apart.
const DIGESTS: usize = 5_000;
/// How long the first reading of accounts and tables may hold up the start.
const FIRST_READING: Duration = Duration::from_secs(10);
/// Between two looks whether all sessions have ended.
const LOOK: Duration = Duration::from_millis(20);

/// Why a proxy cannot run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServeError {
    /// Configuration or rules are faulty.
    #[error("{}", lines(.0))]
    Faults(Vec<Fault>),
    /// A backend cannot be brought up.
    #[error(transparent)]
    Stack(#[from] StackError),
    /// TLS towards clients cannot be set up.
    #[error(transparent)]
    Tls(#[from] tls::ServerTlsError),
    /// Sockets, threads, folders.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Anything else that the sample shop needs.
    #[error(transparent)]
    Control(#[from] backend::control::ControlError),
    /// There is no backend.
    #[error("no backend is configured")]
    NoBackend,
}

fn lines(faults: &[Fault]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// A proxy that accepts connections.
pub(crate) struct Proxy {
    /// What its sessions share.
    pub(crate) shared: Arc<Shared>,
    /// Where clients connect.
    pub(crate) endpoints: Vec<Endpoint>,
    /// Where the console is.
    pub(crate) http: Option<SocketAddr>,
    stack: Stack,
    cores: Arc<Cores>,
    accepting: Vec<tokio::task::JoinHandle<()>>,
    signals: Signals,
    drain: Arc<Notify>,
    stop: Vec<oneshot::Sender<()>>,
}

struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl Proxy {
    /// Brings a proxy up. `prepare` runs when the backends are there, before anybody can connect.
    ///
    /// # Errors
    /// Whatever keeps it from running; nothing is left behind then.
    pub(crate) async fn start(
        config: Config,
        passthrough: bool,
        prepare: impl AsyncFnOnce(&Shared) -> Result<(), ServeError>,
    ) -> Result<Self, ServeError> {
        let set = reload::rules(&config).map_err(ServeError::Faults)?;
        // Signals count from here on: an early SIGTERM must not leave servers behind.
        let signals = Signals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        };
        std::fs::create_dir_all(&config.data)?;
        descriptors::allow(config.limits.connections);
        // Before anything is started: a port that is taken is the commonest reason not to start.
        let bound = Bound::bind(&config).await?;
        let tls = match config.tls.mode {
            Encryption::Disabled => None,
            mode => Some(ServerTls {
                config: tls::server_config(&certificate(&config))?,
                required: mode == Encryption::Required,
            }),
        };
        let count = backends::cores();
        let (stack, units) = Stack::up(&config).await?;
        let topology = Topology::new(1, units.iter().map(|unit| unit.name.clone()).collect());
        let (reloads, requests) = mpsc::unbounded_channel();
        let parts = Parts {
            backends: units,
            live: reload::live(&config),
            rules: Rules { generation: 1, on: true, set: Arc::new(set) },
            topology: topology.ok_or(ServeError::NoBackend)?,
            stats: Registry::new(count, DIGESTS),
            tls,
            passthrough,
            reloads,
        };
        let shared = Shared::new(parts).ok_or(ServeError::NoBackend)?;
        shared.rsa.make();
        tokio::spawn(shared.stats.clone().run());
        for index in 0..shared.backends.len() {
            tokio::spawn(backends::keep_looking(shared.clone(), index));
            tokio::spawn(backends::keep_climbing(shared.clone(), index));
        }
        let opened = Self::open(&shared, bound, count, prepare).await;
        let Open { cores, accepting, endpoints, http, drain, stop } = match opened {
            Ok(open) => open,
            Err(error) => {
                stack.down().await;
                return Err(error);
            }
        };
        tokio::spawn(Reloader::new(shared.clone(), config).run(requests));
        Ok(Self { shared, endpoints, http, stack, cores, accepting, signals, drain, stop })
    }

    async fn open(
        shared: &Arc<Shared>,
        bound: Bound,
        count: usize,
        prepare: impl AsyncFnOnce(&Shared) -> Result<(), ServeError>,
    ) -> Result<Open, ServeError> {
        let Bound { listeners, console, socket } = bound;
        let http = console.as_ref().and_then(|listener| listener.local_addr().ok());
        // A home backend that is up is known before the first client comes, with its accounts and tables; one that is down
        // is waited for by the clients.
        if shared.home().monitor.first().await.is_up()
            && let Err(error) = backends::look(shared.home()).await
        {
            tracing::warn!(%error, "the home backend cannot be used yet");
        }
        if shared.home().info.load().is_some() {
            if matches!(shared.live().users, Users::FromBackends) {
                let _ = shared.home().accounts.fresh(FIRST_READING).await;
            }
            let _ = tokio::time::timeout(FIRST_READING, shared.home().catalog.ready()).await;
        }
        prepare(shared).await?;
        let endpoints: Vec<Endpoint> = listeners.iter().filter_map(Listener::local).collect();
        shared.set_listening(endpoints.iter().map(ToString::to_string).collect());
        let cores = Arc::new(Cores::start(count)?);
        let accepting = listeners
            .into_iter()
            .map(|listener| {
                let (shared, cores) = (shared.clone(), cores.clone());
                tokio::spawn(async move {
                    loop {
                        let socket = listener.accept().await;
                        let shared = shared.clone();
                        cores.spawn(move || login::serve(shared, socket));
                    }
                })
            })
            .collect();
        let drain = Arc::new(Notify::new());
        let mut stop = Vec::new();
        let mut stopped = || {
            let (sender, receiver) = oneshot::channel::<()>();
            stop.push(sender);
            async move { drop(receiver.await) }
        };
        if let Some(listener) = console {
            tokio::spawn(http::serve_console(listener, shared.clone(), stopped()));
        }
        let control = Arc::new(Controls { shared: shared.clone(), drain: drain.clone() });
        tokio::spawn(http::serve_control(socket, control, stopped()));
        Ok(Open { cores, accepting, endpoints, http, drain, stop })
    }

    /// `ready: mysql ADDRESS http ADDRESS`, on standard output.
    pub(crate) fn announce(&self) {
        let mysql = self.endpoints.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        let http = self.http.map_or_else(String::new, |address| format!(" http {address}"));
        let mut out = io::stdout().lock();
        let _ = writeln!(out, "ready: mysql {mysql}{http}");
        let _ = out.flush();
    }

    /// Serves until it is told to end, and ends in order.
    pub(crate) async fn run(mut self) {
        loop {
            tokio::select! {
                _ = self.signals.terminate.recv() => break,
                _ = self.signals.interrupt.recv() => break,
                () = self.drain.notified() => break,
                _ = self.signals.hangup.recv() => {
                    let shared = self.shared.clone();
                    tokio::spawn(async move { shared.reload().await });
                }
            }
        }
        self.finish().await;
    }

    async fn finish(mut self) {
        let limit = self.shared.live().timeouts.drain;
        tracing::info!(
            sessions = self.shared.stats.sessions.len(),
            ?limit,
            "draining: no new connections; a second signal ends it now"
        );
        for accepting in &self.accepting {
            accepting.abort();
        }
        self.shared.drain();
        let deadline = tokio::time::Instant::now() + limit;
        while self.shared.stats.sessions.len() > 0 {
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                () = tokio::time::sleep_until(deadline) => {
                    tracing::warn!(sessions = self.shared.stats.sessions.len(), "sessions were ended by force (timeouts.drain)");
                    break;
                }
                _ = self.signals.terminate.recv() => break,
                _ = self.signals.interrupt.recv() => break,
            }
        }
        self.stop.clear();
        if let Ok(cores) = Arc::try_unwrap(self.cores) {
            let _ = tokio::task::spawn_blocking(move || cores.stop()).await;
        }
        self.stack.down().await;
        tracing::info!("ended");
    }
}

struct Open {
    cores: Arc<Cores>,
    accepting: Vec<tokio::task::JoinHandle<()>>,
    endpoints: Vec<Endpoint>,
    http: Option<SocketAddr>,
    drain: Arc<Notify>,
    stop: Vec<oneshot::Sender<()>>,
}

fn endpoint(listen: &Listen) -> Endpoint {
    match listen {
        Listen::Tcp(address) => Endpoint::Tcp(*address),
        Listen::Unix(path) => Endpoint::Unix(path.clone()),
    }
}

fn certificate(config: &Config) -> Certificate {
    match &config.tls.certificate {
        Some((cert, key)) => Certificate::Files {
            cert: cert.clone(),
            key: key.clone(),
            client_ca: config.tls.client_ca.clone(),
        },
        None => Certificate::SelfSigned(config.data.clone()),
    }
}

/// Every socket that the proxy listens on.
struct Bound {
    listeners: Vec<Listener>,
    console: Option<tokio::net::TcpListener>,
    socket: Socket,
}

impl Bound {
    async fn bind(config: &Config) -> Result<Self, ServeError> {
        let socket = Socket::bind(&config.data)?;
        let listeners: Vec<Listener> = config
            .listen
            .iter()
            .map(|listen| Listener::bind(&endpoint(listen)))
            .collect::<io::Result<_>>()?;
        let console = match config.http {
            Some(address) => Some(tokio::net::TcpListener::bind(address).await.map_err(|error| {
                io::Error::new(error.kind(), format!("cannot listen on {address} (http): {error}"))
            })?),
            None => None,
        };
        Ok(Self { listeners, console, socket })
    }
}

/// What the command line may do to a running proxy.
struct Controls {
    shared: Arc<Shared>,
    drain: Arc<Notify>,
}

impl Control for Controls {
    fn source(&self) -> &dyn Source {
        &*self.shared
    }

    fn reload(&self) -> Task<'_, Result<Reloaded, Vec<Fault>>> {
        Box::pin(self.shared.reload())
    }

    fn drain(&self) {
        self.drain.notify_one();
    }

    fn explain(&self, request: Explain) -> Task<'_, Result<Value, String>> {
        Box::pin(async move {
            let info = self.shared.home().info.load_full();
            let info =
                info.ok_or("the home backend has not been reached yet, so its dialect is not known")?;
            let flavor = self.shared.default_flavor(&info);
            let question = Question {
                text: request.sql.as_bytes(),
                flavor,
                view: 0,
                schema: request.schema.as_deref(),
                user: &request.user,
                sql_mode_known: true,
                may_shadow: false,
            };
            serde_json::to_value(explain(&self.shared, &question)).map_err(|error| error.to_string())
        })
    }
}
