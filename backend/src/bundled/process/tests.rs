//! Tests of process life with the machine's own small programs.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::{Launcher, Process, Signal};
use std::path::PathBuf;
use std::process::{Command, Stdio};

fn shell(script: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]);
    command
}

#[tokio::test]
async fn tells_how_it_ended() {
    let mut process = Process::start("t", shell("exit 3"), None).await.unwrap();
    assert_eq!(process.ended().await, "exit status: 3");
    // The pid is not ours any more: nothing may be signalled.
    process.signal(Signal::KILL);
}

#[tokio::test]
async fn input_goes_in_and_ends() {
    let mut process = Process::start("t", shell("exit $(wc -c)"), Some(vec![b'x'; 42])).await.unwrap();
    assert_eq!(process.ended().await, "exit status: 42");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_an_error() {
    let error = Process::start("t", Command::new("/no/such"), None).await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
}

#[tokio::test]
async fn signals_reach_it_also_through_setpriv() {
    let path: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH").unwrap()).collect();
    let mut command = Launcher::detect(&path).command("sleep".as_ref());
    command.arg("600").stdout(Stdio::null());
    let mut process = Process::start("t", command, None).await.unwrap();
    process.signal(Signal::KILL);
    assert_eq!(process.ended().await, "signal: 9 (SIGKILL)");
}

#[tokio::test]
async fn dropped_it_is_asked_to_end() {
    let dir = tempfile::tempdir().unwrap();
    let (up, down) = (dir.path().join("up"), dir.path().join("down"));
    let script = format!(
        "trap 'touch {}; exit 0' TERM; touch {}; while :; do sleep 0.01; done",
        down.display(),
        up.display()
    );
    let process = Process::start("t", shell(&script), None).await.unwrap();
    until(&up).await;
    drop(process);
    until(&down).await;
}

async fn until(path: &std::path::Path) {
    let there = async {
        while !path.exists() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), there).await.unwrap();
}
