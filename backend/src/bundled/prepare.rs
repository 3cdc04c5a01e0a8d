//! Getting a server's folder ready: looked at, locked, made where it is new, its files written.

use super::account::Account;
use super::error::Error;
use super::find::{Installation, find};
use super::folder::{Marker, Refusal, Seen, Verdict};
use super::init::{self, blocking};
use super::layout::{Layout, entry};
use super::option_file::{self, Wanted};
use super::process::Launcher;
use super::release::Release;
use super::supervise::{State, Supervisor};
use super::surroundings::Surroundings;
use super::{Options, Prepared, files, log, machine};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;
use tokio::sync::{oneshot, watch};
use tokio::time::{self, Instant};

/// How often a log that a server holds is tried again.
const AGAIN: Duration = Duration::from_millis(50);

/// Prepares a server: finds the program, checks and locks the folder, makes it if it is new.
///
/// # Errors
/// When there is no MariaDB server, when the folder must not be used ([`Error::Refused`]), when the
/// server cannot make its data folder, or when the system refuses a file.
pub async fn prepare(options: Options, around: &Surroundings) -> Result<Prepared, Error> {
    let name = options.name.clone();
    let folder = std::path::absolute(&options.folder).map_err(Error::io(&name, "find its data folder"))?;
    let layout = Layout::new(&name, &folder, &around.runtime)?;
    let (installation, launcher) = tools(&options, around).await?;

    // Looked at before anything is written: a folder that is not ours stays as it is.
    refuse(&layout, look(&layout, installation.release)?)?;
    files::make_private_dir(&folder).map_err(Error::io(&name, "make its data folder"))?;
    let lock = lock(&layout)?;
    let log = take_over(&layout, options.takeover_timeout).await?;

    let sizes = options.memory.sizes(machine::total_memory());
    // Looked at again: only now nobody else changes it.
    let marker = match refuse(&layout, look(&layout, installation.release)?)? {
        Some(marker) => marker,
        None => init::make(&installation, &launcher, &layout, sizes, &log).await?,
    };
    // The server's own handle must be the only one, see log.rs.
    drop(log);

    let text = option_file::text(&Wanted {
        layout: &layout,
        places: installation.places(),
        sizes,
        server_id: marker.server_id,
        user: init::user(),
        settings: &options.settings,
    })?;
    let account = write(&layout, &text).map_err(Error::io(&name, "write in its data folder"))?;
    let (tell, state) = watch::channel(State::Starting);
    let (stop, stopped) = oneshot::channel();
    Ok(Prepared {
        supervisor: Supervisor {
            layout,
            installation,
            launcher,
            account,
            marker,
            stop_timeout: options.stop_timeout,
            state: tell,
            stop: stopped,
            pid: Arc::new(AtomicU32::new(0)),
            _lock: lock,
        },
        state,
        stop,
    })
}

/// The server's program and the way to start it.
async fn tools(options: &Options, around: &Surroundings) -> Result<(Installation, Launcher), Error> {
    let (server, around) = (options.server.clone(), around.clone());
    let found = blocking(move || {
        let found = find(server.as_deref(), &around);
        Ok(found.map(|installation| (installation, Launcher::detect(&around.path))))
    });
    found.await.map_err(Error::io(&options.name, "look for a MariaDB server"))?
}

/// The marker of a folder that is ours, `None` for one that is to be made.
fn refuse(layout: &Layout, verdict: Verdict) -> Result<Option<Marker>, Error> {
    match verdict {
        Verdict::Fresh | Verdict::Leftovers => Ok(None),
        Verdict::Ours(marker) => Ok(Some(marker)),
        Verdict::Refused(refusal) => Err(refused(layout, refusal)),
    }
}

fn refused(layout: &Layout, refusal: Refusal) -> Error {
    Error::Refused { folder: layout.folder.clone(), refusal }
}

fn look(layout: &Layout, server: Release) -> Result<Verdict, Error> {
    let io = Error::io(&layout.name, "look into its data folder");
    let seen = see(layout).map_err(io)?;
    Ok(Verdict::of(&seen, server))
}

fn see(layout: &Layout) -> io::Result<Seen> {
    let absent = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    let text = |path: &Path| match std::fs::read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if absent(&error) => Ok(None),
        Err(error) => Err(error),
    };
    let names = |path: &Path, dirs_only: bool| -> io::Result<Vec<String>> {
        let entries = match std::fs::read_dir(path) {
            Err(error) if absent(&error) => return Ok(Vec::new()),
            result => result?,
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry?;
            if !dirs_only || entry.file_type()?.is_dir() {
                names.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
        Ok(names)
    };
    let data = layout.path(entry::DATA);
    // The record's name changed with MariaDB 11.
    let record = match text(&data.join("mariadb_upgrade_info"))? {
        None => text(&data.join("mysql_upgrade_info"))?,
        some => some,
    };
    Ok(Seen {
        entries: names(&layout.folder, false)?,
        marker: text(&layout.path(entry::MARKER))?,
        schemas: names(&data, true)?,
        upgraded_to: record.and_then(|record| Release::parse(&record)),
    })
}

fn number(text: &str) -> Option<u32> {
    text.trim().parse().ok()
}

/// Takes the folder for this process.
fn lock(layout: &Layout) -> Result<File, Error> {
    let io = |what: &str| Error::io(&layout.name, what.to_owned());
    let mut file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .mode(0o600)
        .open(layout.path(entry::LOCK))
        .map_err(io("open its lock file"))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            // The pid is a help, not what is decided by.
            let _ = file.read_to_string(&mut text);
            let pid = number(&text);
            return Err(refused(layout, Refusal::InUse { pid }));
        }
        Err(TryLockError::Error(error)) => return Err(io("lock its folder")(error)),
    }
    let note = |file: &mut File| {
        file.set_len(0)?;
        file.rewind()?;
        writeln!(file, "{}", std::process::id())
    };
    note(&mut file).map_err(io("write its lock file"))?;
    Ok(file)
}

/// Takes the log, which a server of an earlier run may hold while it shuts down.
async fn take_over(layout: &Layout, patience: Duration) -> Result<File, Error> {
    let (path, old) = (layout.path(entry::LOG), layout.path(entry::OLD_LOG));
    let until = Instant::now() + patience;
    let mut told = false;
    loop {
        let opened = log::open(&path, &old).map_err(Error::io(&layout.name, "open its log"))?;
        if let Some(file) = opened {
            return Ok(file);
        }
        let pid = std::fs::read_to_string(layout.path(entry::PID)).ok().and_then(|text| number(&text));
        if Instant::now() >= until {
            return Err(refused(layout, Refusal::StillRunning { pid }));
        }
        if !told {
            tracing::warn!(server = %layout.name, ?pid, "waiting for a server of an earlier run to stop");
            told = true;
        }
        time::sleep(AGAIN).await;
    }
}

/// Writes what the server reads at its start; the account's password is made where there is none.
fn write(layout: &Layout, options: &str) -> io::Result<Account> {
    for sub in [entry::TMP, entry::FILES] {
        files::make_private_dir(&layout.path(sub))?;
    }
    if let Some(dir) = layout.socket.parent().filter(|dir| *dir != layout.folder) {
        files::make_socket_dir(dir)?;
    }
    let path = layout.path(entry::PASSWORD);
    let kept = match std::fs::read_to_string(&path) {
        Ok(text) => Account::parse(&text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let account = match kept {
        Some(account) => account,
        None => {
            let account = Account::generate()?;
            files::write_private(&path, account.password.as_bytes())?;
            account
        }
    };
    let socket = layout.socket.to_string_lossy();
    files::write_private(&layout.path(entry::OPTIONS), options.as_bytes())?;
    files::write_private(&layout.path(entry::INIT), account.statements().as_bytes())?;
    files::write_private(&layout.path(entry::CLIENT), account.client_file(&socket).as_bytes())?;
    Ok(account)
}
