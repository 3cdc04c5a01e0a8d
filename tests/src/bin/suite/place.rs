//! A server with a proxy in front of it, and the tests that run there one after another.

use std::path::{Path, PathBuf};
use std::time::Duration;

use shuntyard_tests::process::Process;
use shuntyard_tests::{machine, proxy};

use crate::listing::Test;
use crate::server::{Server, Template, wait_for};
use crate::trial::{Outcome, Target, Trial};

/// How a test reaches the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Straight.
    Direct,
    /// Through the proxy.
    Proxied,
}

/// A server and its proxy.
pub(crate) struct Place {
    // In this order, so that the proxy ends first.
    proxy: Process,
    port: u16,
    /// Connections of the proxy's own, which tests count along with theirs.
    resting: usize,
    server: Server,
}

impl Place {
    /// Starts both.
    pub(crate) fn start(template: &Template, program: &Path, pooling: &str) -> Place {
        let server = Server::start(template);
        let (port, http) = (machine::free_port(), machine::free_port());
        let config = server.dir().join("shuntyard.yaml");
        let yaml = format!(
            "listen: [127.0.0.1:{port}, unix:./shuntyard.sock]\nhttp: 127.0.0.1:{http}\ndata: ./proxy\n\
             backends:\n  main: {{primary: \"unix:{}\"}}\naccount: {{user: root, password: \"\"}}\n\
             users: from_backends\nadmins: [root]\npooling: {pooling}\n",
            server.socket().display()
        );
        std::fs::write(&config, yaml).expect("the folder is writable");
        let mut command = proxy::command_of(program, server.dir());
        command.arg("serve").arg("--config").arg(&config);
        let mut process = Process::spawn("shuntyard", &mut command, &server.dir().join("proxy.log"));
        process.until(Duration::from_secs(30), |p| p.log().contains("ready: mysql").then_some(()));
        wait_for(&server.dir().join("shuntyard.sock"));
        let resting = server.steady_connections();
        Place { proxy: process, port, resting, server }
    }

    /// Runs one test on a server in its first state.
    pub(crate) fn run(&mut self, test: &Test, way: Way, timeout: Duration) -> Trial {
        let anew = "DROP DATABASE IF EXISTS test; CREATE DATABASE test CHARACTER SET latin1";
        // A file that a test has written there is in the way.
        if !self.server.ask(anew).status.success() {
            self.server.restore();
            wait_for(&self.socket());
            self.server.ask(anew);
        }
        let (socket, port) = match way {
            Way::Direct => (self.server.socket(), self.server.port),
            Way::Proxied => (self.socket(), self.port),
        };
        let trial = Target { dir: self.server.dir(), socket: &socket, port }.run(test, timeout);
        assert!(self.proxy.ended().is_none(), "{}: the proxy has ended:\n{}", test.name, self.proxy.log());
        if trial.outcome == Outcome::Timeout || !self.server.is_first() {
            self.server.restore();
            wait_for(&self.socket());
        }
        self.server.wait_for_connections(self.resting);
        trial
    }

    fn socket(&self) -> PathBuf {
        self.server.dir().join("shuntyard.sock")
    }
}
