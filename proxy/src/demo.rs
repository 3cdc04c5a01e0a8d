//! `shuntyard demo`: two bundled servers, a sample shop, and the proxy in front of them.

pub(crate) mod data;
mod tour;

use std::io::Write;
use std::net::SocketAddr;

use crate::cli::DemoArgs;
use crate::config::{Config, Listen};
use crate::serve::{Proxy, ServeError};
use crate::shared::Shared;

/// What the demo is, in the words that a user would write into his own file.
const CONFIG: &str = "backends:\n  s1: {bundled: mariadb}\n  s2: {bundled: mariadb}\nadmins: [app]\n\
    rules: {files: [\"builtin:*\"]}\nlog: {level: warn}\n";

/// The demo's configuration.
///
/// # Errors
/// None in practice: the text is fixed.
pub(crate) fn config(args: &DemoArgs) -> Result<Config, ServeError> {
    let parsed = Config::parse(std::path::Path::new("demo.yaml"), CONFIG, false, &|_| None);
    let mut config = parsed.map_err(ServeError::Faults)?;
    config.file = None;
    config.data.clone_from(&args.data);
    config.http = Some(args.http);
    let socket = args.data.join("shuntyard.sock");
    config.listen = vec![Listen::Tcp(SocketAddr::from(([127, 0, 0, 1], args.port)))];
    // A Unix socket's path has 107 bytes at most; without room for it the demo does without.
    if socket.as_os_str().len() <= 107 {
        config.listen.push(Listen::Unix(socket));
    }
    if std::path::Path::new("rules").is_dir() {
        config.rules = config.rules.clone().and_folder("rules");
    }
    Ok(config)
}

/// Loads the shop, starts the proxy, says what can be tried, and serves.
///
/// # Errors
/// Whatever keeps it from running.
pub(crate) async fn run(args: &DemoArgs) -> Result<(), ServeError> {
    let config = config(args)?;
    eprintln!("starting two MariaDB servers in {} …", args.data.display());
    let load = async |shared: &Shared| {
        let loaded = data::load(&shared.home().control, &data::Terminal::default()).await?;
        if loaded == data::Loaded::Foreign {
            eprintln!("There is a schema `{}` that the demo did not make; it is left alone.", data::SCHEMA);
        }
        // So that the account `app` is known before the first client comes.
        let _ = shared.home().accounts.fresh(std::time::Duration::from_secs(10)).await;
        // The catalog was read before the shop was there.
        shared.home().catalog.invalidate();
        let _ = tokio::time::timeout(std::time::Duration::from_secs(30), shared.home().catalog.ready()).await;
        Ok(())
    };
    let proxy = Proxy::start(config, false, load).await?;
    proxy.announce();
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{}", tour::text(&proxy, args.port).await);
    drop(out);
    proxy.run().await;
    Ok(())
}
