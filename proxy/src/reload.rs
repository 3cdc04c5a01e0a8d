//! Reading configuration and rules again: at a signal, a command, or a change of the files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use rewriter::RuleSet;
use sql::source::Fault;
use tokio::sync::mpsc;

use crate::config::{self, Config};
use crate::http::Reloaded;
use crate::shared::{ListedUser, Live, ReloadRequest, Shared, Timeouts, Users};

/// Editors write a file in several steps: a change is looked at when the folder was quiet for so long.
const QUIET: Duration = Duration::from_millis(100);

/// What of a configuration a reload replaces.
pub(crate) fn live(config: &Config) -> Live {
    let users = match &config.users {
        config::Users::FromBackends => Users::FromBackends,
        config::Users::Listed(users) => Users::Listed(
            users
                .iter()
                .map(|user| ListedUser {
                    name: user.name.clone(),
                    password: user.password.expose().clone(),
                    host: user.host.clone(),
                    plugin: user.plugin,
                    connections: user.connections,
                    pooling: user.pooling,
                })
                .collect(),
        ),
    };
    let timeouts = &config.timeouts;
    Live {
        users,
        admins: config.admins.clone(),
        timeouts: Timeouts {
            login: timeouts.login,
            wait: timeouts.wait,
            idle: timeouts.idle,
            read: timeouts.read,
            statement: timeouts.statement,
            drain: timeouts.drain,
        },
        pooling: config.pooling,
        connections: config.limits.connections,
        per_user: config.limits.per_user,
        literals: config.log.literals,
        server_version: config.server_version.clone(),
    }
}

/// Reads all rule files of a configuration.
///
/// # Errors
/// Every fault of every file.
pub(crate) fn rules(config: &Config) -> Result<RuleSet, Vec<Fault>> {
    RuleSet::load(&config.rules.read()?)
}

/// Holds the configuration in force, and replaces it.
pub(crate) struct Reloader {
    shared: Arc<Shared>,
    config: Config,
}

impl Reloader {
    pub(crate) const fn new(shared: Arc<Shared>, config: Config) -> Self {
        Self { shared, config }
    }

    /// Serves requests and changes of files until the proxy ends.
    pub(crate) async fn run(mut self, mut requests: mpsc::UnboundedReceiver<ReloadRequest>) {
        let (touched, mut touches) = mpsc::unbounded_channel();
        let mut watcher = watch(touched.clone(), &self.folders());
        loop {
            tokio::select! {
                request = requests.recv() => {
                    let Some(answer) = request else { return };
                    drop(answer.send(self.reload()));
                }
                Some(()) = touches.recv() => {
                    while tokio::time::timeout(QUIET, touches.recv()).await.is_ok() {}
                    // Told by the log alone: nobody waits for an answer.
                    let _ = self.reload();
                }
            }
            watcher = watch(touched.clone(), &self.folders()).or(watcher);
        }
    }

    /// All or nothing.
    fn reload(&mut self) -> Result<Reloaded, Vec<Fault>> {
        let read = self.read();
        let (config, set) = match read {
            Ok(read) => read,
            Err(faults) => {
                for fault in &faults {
                    tracing::error!("{fault}");
                }
                tracing::error!(
                    faults = faults.len(),
                    "nothing was changed: the old configuration and rules stay in force"
                );
                return Err(faults);
            }
        };
        let reloaded =
            Reloaded { rules: set.rules().len(), needs_restart: self.config.needs_restart(&config) };
        self.shared.set_live(live(&config));
        let set = Arc::new(set);
        self.shared.change_rules(|old| (old.on, set.clone()));
        tracing::info!(rules = reloaded.rules, needs_restart = ?reloaded.needs_restart, "configuration and rules were read again");
        self.config = config;
        Ok(reloaded)
    }

    fn read(&self) -> Result<(Config, RuleSet), Vec<Fault>> {
        let config = match &self.config.file {
            Some(file) => Config::load(file)?,
            None => self.config.clone(),
        };
        let set = rules(&config)?;
        Ok((config, set))
    }

    /// Everything whose change matters. Folders, not files: editors and Kubernetes replace files by renaming.
    fn folders(&self) -> BTreeSet<PathBuf> {
        let mut folders = self.config.rules.folders();
        let file = self.config.file.as_deref().and_then(Path::parent);
        folders.extend(file.map(|folder| {
            if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.to_owned() }
        }));
        folders
    }
}

fn watch(touched: mpsc::UnboundedSender<()>, folders: &BTreeSet<PathBuf>) -> Option<RecommendedWatcher> {
    let tell = move |event: notify::Result<notify::Event>| {
        let matters = event.is_ok_and(|event| {
            // Reading a file is an event as well, and the reload reads.
            !matches!(event.kind, notify::EventKind::Access(_))
                && event.paths.iter().any(|path| {
                    path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml")
                        || path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".."))
                })
        });
        if matters {
            let _ = touched.send(());
        }
    };
    let mut watcher = notify::recommended_watcher(tell)
        .inspect_err(|error| tracing::warn!(%error, "files are not watched; SIGHUP and `reload` still work"))
        .ok()?;
    for folder in folders {
        if let Err(error) = watcher.watch(folder, RecursiveMode::NonRecursive) {
            tracing::warn!(folder = %folder.display(), %error, "a folder is not watched");
        }
    }
    Some(watcher)
}
