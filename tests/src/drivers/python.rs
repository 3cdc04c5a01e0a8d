//! Drivers of Python: a program reads the script itself and reports at its end.

use std::process::Command;

use super::Place;
use crate::report::Report;
use crate::{machine, script};

pub(super) async fn run(program: &'static str, name: &'static str, place: &Place<'_>) -> Report {
    let python = machine::python().expect("the caller has looked for it");
    let account = &place.server.account;
    let mut command = Command::new(python);
    command
        .arg(machine::project("tests/drivers").join(program))
        .args(["--host", "127.0.0.1", "--port", &place.server.port.to_string()])
        .args(["--user", &account.user, "--password", &account.password])
        .args(["--product", place.product, "--driver", name])
        .arg("--script")
        .arg(script::path())
        .arg("--files")
        .arg(place.files)
        .env("PYTHONDONTWRITEBYTECODE", "1");
    let run = move || command.output().expect("python runs");
    let out = tokio::task::spawn_blocking(run).await.expect("a driver's report");
    assert!(out.status.success(), "{program} {name}: {}", String::from_utf8_lossy(&out.stderr));
    Report::parse(&String::from_utf8_lossy(&out.stdout))
}
