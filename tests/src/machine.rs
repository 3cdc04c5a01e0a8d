//! Where things are on this machine, and what is missing.

use std::io::Write;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// The project's root folder.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().expect("the tests are a folder of the project").to_owned()
}

/// A file of the project.
pub fn project(path: &str) -> PathBuf {
    root().join(path)
}

/// The folder with this process's own build: `target/debug`.
fn build_dir() -> PathBuf {
    let exe = std::env::current_exe().expect("this process has a program");
    let dir = exe.parent().expect("a program lies in a folder");
    // Tests lie in deps/ below it, programs in it.
    if dir.ends_with("deps") { dir.parent().expect("deps is a subfolder").to_owned() } else { dir.to_owned() }
}

/// The proxy's program: `SHUNTYARD_BIN`, or built beside this process's own program.
pub fn shuntyard() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(build).clone()
}

fn build() -> PathBuf {
    if let Some(named) = std::env::var_os("SHUNTYARD_BIN") {
        return named.into();
    }
    let dir = build_dir();
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root()).args(["build", "--quiet", "--package", "shuntyard"]);
    if dir.ends_with("release") {
        cargo.arg("--release");
    }
    if let Some(target) = dir.parent() {
        cargo.arg("--target-dir").arg(target);
    }
    let status = cargo.status().expect("cargo runs");
    assert!(status.success(), "the proxy does not build");
    dir.join("shuntyard")
}

/// The Python with the drivers: `SHUNTYARD_PYTHON`, or the environment that `tools/pydrivers` makes.
pub fn python() -> Option<PathBuf> {
    let python = match std::env::var_os("SHUNTYARD_PYTHON") {
        Some(named) => PathBuf::from(named),
        None => project(".deps/py/bin/python"),
    };
    python.is_file().then_some(python)
}

/// Ports below those that the kernel gives to outgoing connections, which could take one before its server does.
const PORTS: std::ops::Range<u16> = 20_000..32_000;

/// A port on loopback that nobody listens on, another one at each call.
///
/// # Panics
/// When there is none.
pub fn free_port() -> u16 {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    // Processes that run side by side begin at other places.
    let start = std::process::id().wrapping_mul(2_467);
    for _ in PORTS {
        let call = CALLS.fetch_add(1, Ordering::Relaxed);
        let offset = start.wrapping_add(call) % u32::from(PORTS.end - PORTS.start);
        let port = PORTS.start + u16::try_from(offset).unwrap_or(0);
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
    panic!("no port between {} and {} is free", PORTS.start, PORTS.end)
}

/// Notes that something which a test needs cannot be had here; the test then ends. Under `CI` it fails instead.
///
/// The notes are in `target/missing.txt`, which `make test` prints at the end.
///
/// # Panics
/// Under `CI`.
pub fn missing(what: &str) {
    assert!(std::env::var_os("CI").is_none(), "{what} is missing, and under CI that is a failure");
    eprintln!("missing: {what}");
    let file = root().join("target/missing.txt");
    let known = std::fs::read_to_string(&file).unwrap_or_default();
    if !known.lines().any(|line| line == what) {
        let opened = std::fs::OpenOptions::new().create(true).append(true).open(&file);
        if let Ok(mut file) = opened {
            let _ = writeln!(file, "{what}");
        }
    }
}
