//! Where things are on this machine, and what is missing.

use std::io::Write;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

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

/// A port on loopback that nobody listens on.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has free ports");
    listener.local_addr().expect("a bound socket has an address").port()
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
