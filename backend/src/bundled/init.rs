//! Making a server's data folder from nothing.
//!
//! The server's own system-table scripts go through `mariadbd --bootstrap`, which is what
//! `mariadb-install-db` does too; that script is not used because, run as root, it changes the owner
//! of files in the machine's installation, and because it cannot take a path with a blank.

use super::error::Error;
use super::files;
use super::find::Installation;
use super::folder::Marker;
use super::layout::{Layout, entry};
use super::log;
use super::memory::Sizes;
use super::process::{Launcher, Process};
use std::ffi::OsString;
use std::fs::File;
use std::path::Path;
use std::process::Stdio;

/// Before the scripts; every statement of a bootstrap ends its line.
const BEFORE: &str = "CREATE DATABASE IF NOT EXISTS mysql;\nUSE mysql;\nSET @auth_root_socket = NULL;\n";
/// After them: no root, no anonymous account. The one account there is comes with the first start.
const AFTER: &str =
    "\nDELETE FROM mysql.global_priv WHERE User IN ('root', '');\nDELETE FROM mysql.proxies_priv;\n";

/// Whether the bootstrap waits for the disk at each step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    /// No: everything is synced once, at its end.
    Fast,
    /// As the server does by itself.
    Plain,
}

/// Makes the data folder and, last, the marker. The folder holds nothing but what an earlier try of
/// ours left, which is removed first. `log` is the locked log file.
pub(crate) async fn make(
    installation: &Installation,
    launcher: &Launcher,
    layout: &Layout,
    sizes: Sizes,
    log: &File,
) -> Result<Marker, Error> {
    let io = |what: &str| Error::io(&layout.name, what.to_owned());
    let sql = scripts(installation, &layout.name).await?;
    files::write_private(&layout.path(entry::UNFINISHED), b"").map_err(io("write in its data folder"))?;
    let mut tried = run(installation, launcher, layout, sizes, log, &sql, Pace::Fast).await;
    if let Err(Error::Init { .. }) = tried {
        // A future server may not know the shortcuts.
        tried = run(installation, launcher, layout, sizes, log, &sql, Pace::Plain).await;
    }
    tried?;
    let data = layout.path(entry::DATA);
    blocking(move || files::sync_tree(&data)).await.map_err(io("bring its data folder to disk"))?;
    let mut id = [0_u8; 4];
    getrandom::fill(&mut id).map_err(std::io::Error::other).map_err(io("read random bytes"))?;
    let marker = Marker { release: installation.release, server_id: u32::from_le_bytes(id).max(1) };
    finish(layout, marker).map_err(io("write in its data folder"))?;
    Ok(marker)
}

/// Writes the marker, then drops the sign of an unfinished initialisation.
pub(crate) fn finish(layout: &Layout, marker: Marker) -> std::io::Result<()> {
    files::write_private(&layout.path(entry::MARKER), marker.text().as_bytes())?;
    files::remove(&layout.path(entry::UNFINISHED))
}

pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> std::io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(std::io::Error::other)?
}

async fn scripts(installation: &Installation, name: &str) -> Result<Vec<u8>, Error> {
    let files = installation.system_tables()?;
    blocking(move || {
        let mut sql = BEFORE.as_bytes().to_vec();
        for file in files {
            sql.extend(std::fs::read(file)?);
            sql.push(b'\n');
        }
        sql.extend(AFTER.as_bytes());
        Ok(sql)
    })
    .await
    .map_err(Error::io(name, "read the server's system-table scripts"))
}

async fn run(
    installation: &Installation,
    launcher: &Launcher,
    layout: &Layout,
    sizes: Sizes,
    log: &File,
    sql: &[u8],
    pace: Pace,
) -> Result<(), Error> {
    let io = |what: &str| Error::io(&layout.name, what.to_owned());
    let fresh = || -> std::io::Result<()> {
        for sub in [entry::DATA, entry::TMP, entry::FILES] {
            files::remove(&layout.path(sub))?;
            files::make_private_dir(&layout.path(sub))?;
        }
        Ok(())
    };
    fresh().map_err(io("make its data folder"))?;
    let from = log.metadata().map_or(0, |meta| meta.len());
    let mut command = launcher.command(&installation.program);
    installation.clean(&mut command);
    command.args(arguments(installation, layout, sizes, pace));
    let output = || log.try_clone().map(Stdio::from);
    command.stdout(output().map_err(io("share its log"))?).stderr(output().map_err(io("share its log"))?);
    let mut process = Process::start(&layout.name, command, Some(sql.to_vec()))
        .await
        .map_err(io("run the MariaDB server"))?;
    let status = process.ended().await;
    if status == "exit status: 0" {
        return Ok(());
    }
    Err(Error::Init { name: layout.name.clone(), status, log: log::describe(&layout.path(entry::LOG), from) })
}

fn arguments(installation: &Installation, layout: &Layout, sizes: Sizes, pace: Pace) -> Vec<OsString> {
    let option = |name: &str, path: &Path| {
        let mut arg = OsString::from(name);
        arg.push(path);
        arg
    };
    let mut args: Vec<OsString> = [
        "--no-defaults",
        "--bootstrap",
        "--loose-silent-startup",
        "--log-warnings=0",
        "--enforce-storage-engine=",
        "--skip-name-resolve",
        "--skip-networking",
        "--max-allowed-packet=8M",
        "--net-buffer-length=16K",
        "--innodb-buffer-pool-size=64M",
    ]
    .map(OsString::from)
    .to_vec();
    // Made in its final size at once, the log need not be made anew at the first start.
    args.push(format!("--innodb-log-file-size={}", sizes.log_file).into());
    if pace == Pace::Fast {
        args.push("--loose-debug-no-sync".into());
        args.push("--loose-innodb-flush-method=nosync".into());
    }
    if let Some(user) = user() {
        args.push(format!("--user={user}").into());
    }
    args.push(option("--datadir=", &layout.path(entry::DATA)));
    args.push(option("--tmpdir=", &layout.path(entry::TMP)));
    let places = installation.places();
    for (name, place) in [
        ("--basedir=", places.basedir),
        ("--lc-messages-dir=", places.share),
        ("--plugin-dir=", places.plugins),
    ] {
        args.extend(place.map(|place| option(name, place)));
    }
    args
}

/// The user that a server must be told: it refuses to run as root without.
pub(crate) fn user() -> Option<&'static str> {
    rustix::process::geteuid().is_root().then_some("root")
}
