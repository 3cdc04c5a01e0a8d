//! MySQL's own command-line client, beside the server that `tools/mysql97` runs.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::client::Server;
use crate::machine;
use crate::process::Guard;

/// The client; what it sees as / may be a tree of its own.
#[derive(Debug)]
pub struct CommandLine {
    root: Option<PathBuf>,
}

/// A file that the client can read.
#[derive(Debug)]
pub struct ClientFile {
    /// Its path as the client sees it.
    pub path: String,
    place: PathBuf,
    _guard: Guard,
}

impl CommandLine {
    /// `None` where there is no MySQL 9.
    pub fn find() -> Option<CommandLine> {
        let path = Command::new(machine::project("tools/mysql97")).arg("path").output().ok()?.stdout;
        let server = PathBuf::from(String::from_utf8_lossy(path.trim_ascii()).into_owned());
        if std::env::var_os("MYSQLD").is_some() {
            // A server of the tester's own has its client in the search path.
            return Some(CommandLine { root: None });
        }
        // The server is usr/sbin/mysqld in the tree.
        server.ancestors().nth(3).map(|root| CommandLine { root: Some(root.to_owned()) })
    }

    /// Makes a file for the client, which goes with the value.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn file(&self, content: &str) -> ClientFile {
        let path = format!("/tmp/shuntyard-client-{}", std::process::id());
        let place = self.root.as_deref().unwrap_or(Path::new("/")).join(path.trim_start_matches('/'));
        let guard = Guard::new(&format!("rm -f '{}'", place.display()));
        std::fs::write(&place, content).expect("/tmp is writable");
        ClientFile { path, place, _guard: guard }
    }

    /// Runs the client with `input` and returns what it printed, errors at the end.
    ///
    /// # Panics
    /// When it does not start.
    pub fn run(&self, server: &Server, options: &[&str], input: &str) -> String {
        let mut command = match &self.root {
            Some(root) => {
                let mut command = Command::new("chroot");
                command.arg(root).arg("/usr/bin/mysql");
                command
            }
            None => Command::new("mysql"),
        };
        command
            .args(["--no-defaults", "--protocol=tcp", "--host=127.0.0.1", "--skip-auto-rehash"])
            .arg(format!("--port={}", server.port))
            .args([
                format!("--user={}", server.account.user),
                format!("--password={}", server.account.password),
            ])
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the client starts");
        let mut stdin = child.stdin.take().expect("it was asked for");
        let input = input.to_owned();
        let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
        let out = child.wait_with_output().expect("it ends");
        let _ = writer.join();
        [out.stdout, out.stderr].map(|raw| String::from_utf8_lossy(&raw).into_owned()).concat()
    }
}

impl Drop for ClientFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.place);
    }
}
