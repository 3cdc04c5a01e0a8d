//! Bundled servers, with the machine's own MariaDB: made, started, killed, stopped, refused.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use backend::bundled::{
    Ended, Error, Memory, Options, Prepared, Refusal, Running, State, Surroundings, prepare,
};
use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, OptsBuilder};
use std::num::NonZeroU32;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Longest wait for anything: the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(120);

async fn started(folder: &Path) -> Running {
    let server = ready_to_start(Options::new("s1", folder)).await.start();
    server.ready().await.unwrap();
    server
}

async fn ready_to_start(options: Options) -> Prepared {
    prepare(options, &Surroundings::of_process()).await.unwrap()
}

async fn refusal(folder: &Path) -> Refusal {
    let mut options = Options::new("s1", folder);
    options.takeover_timeout = Duration::from_millis(300);
    match prepare(options, &Surroundings::of_process()).await {
        Err(Error::Refused { refusal, .. }) => refusal,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("not refused"),
    }
}

async fn connect(server: &Running) -> Conn {
    let opts = OptsBuilder::default()
        .socket(server.socket().to_str())
        .user(Some(server.account().user))
        .pass(Some(server.account().password.as_str()));
    Conn::new(opts).await.unwrap()
}

async fn until(server: &Running, wanted: fn(&State) -> bool) -> State {
    let mut state = server.state();
    let seen = tokio::time::timeout(PATIENCE, state.wait_for(wanted)).await;
    seen.unwrap().unwrap().clone()
}

async fn until_gone(pid: u32) {
    let gone = async {
        while Path::new(&format!("/proc/{pid}")).exists() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, gone).await.unwrap();
}

fn kill(signal: &str, pid: u32) {
    let status = Command::new("kill").args([signal, &pid.to_string()]).status();
    assert!(status.unwrap().success());
}

fn set_version(folder: &Path, version: &str) {
    let marker = folder.join("shuntyard-server");
    let text = std::fs::read_to_string(&marker).unwrap();
    let lines = text.lines().map(|line| match line.strip_prefix("version=") {
        Some(_) => format!("version={version}\n"),
        None => format!("{line}\n"),
    });
    std::fs::write(&marker, lines.collect::<String>()).unwrap();
}

#[tokio::test]
async fn a_servers_life() {
    let dir = tempfile::tempdir().unwrap();
    // What option files and shells treat specially.
    let folder = dir.path().join("d #1 \"x\" 'y'");
    let server = started(&folder).await;

    let mut conn = connect(&server).await;
    let vars: Vec<(String, String)> = conn
        .query(
            "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('skip_networking', 'log_bin', 'binlog_format', \
             'character_set_server', 'performance_schema', 'max_connections', 'innodb_flush_log_at_trx_commit')",
        )
        .await
        .unwrap();
    let wanted = [
        ("binlog_format", "ROW"),
        ("character_set_server", "utf8mb4"),
        ("innodb_flush_log_at_trx_commit", "1"),
        ("log_bin", "ON"),
        ("max_connections", "1000"),
        ("performance_schema", "OFF"),
        ("skip_networking", "ON"),
    ];
    let vars: Vec<_> = vars.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    assert_eq!(vars, wanted);
    let accounts: Vec<String> = conn
        .query("SELECT CONCAT(user, '@', host) FROM mysql.global_priv WHERE user <> 'mariadb.sys'")
        .await
        .unwrap();
    assert_eq!(accounts, ["shuntyard@localhost"]);
    conn.query_drop("CREATE USER app@localhost IDENTIFIED BY 'app'").await.unwrap();
    conn.query_drop("GRANT ALL ON *.* TO app@localhost WITH GRANT OPTION").await.unwrap();
    conn.query_drop("CREATE DATABASE shop").await.unwrap();
    conn.query_drop("CREATE TABLE shop.t (id INT PRIMARY KEY) ENGINE=InnoDB").await.unwrap();
    conn.query_drop("INSERT INTO shop.t VALUES (42)").await.unwrap();
    let help: Option<u64> = conn.query_first("SELECT COUNT(*) FROM mysql.help_topic").await.unwrap();
    assert!(help.unwrap() > 100);
    conn.disconnect().await.unwrap();

    for secret in ["password", "init.sql", "client.cnf", "server.cnf"] {
        let mode = std::fs::metadata(folder.join(secret)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{secret}");
    }
    assert_eq!(std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);

    // The same folder a second time, also from this very process.
    let pid = std::process::id();
    assert_eq!(refusal(&folder).await, Refusal::InUse { pid: Some(pid) });

    // A crash: it comes back by itself with what was committed.
    kill("-9", server.pid().unwrap());
    let state = until(&server, |s| matches!(s, State::Restarting { .. })).await;
    assert!(
        matches!(&state, State::Restarting { attempt: 1, reason, .. } if reason.contains("SIGKILL")),
        "{state:?}"
    );
    until(&server, |s| *s == State::Ready).await;
    assert_eq!(committed(&server).await, Some(42));

    // A stop: the process is gone, the data is not.
    let (pid, mut state) = (server.pid().unwrap(), server.state());
    assert_eq!(server.stop().await, Ended::Cleanly);
    until_gone(pid).await;
    assert_eq!(*state.borrow_and_update(), State::Stopped);

    // Data of a newer server is refused and stays as it is.
    set_version(&folder, "99.1.2");
    assert!(matches!(refusal(&folder).await, Refusal::Newer { .. }));
    // Data of an older one is upgraded before anybody may use it.
    set_version(&folder, "10.5.1");
    std::fs::remove_file(folder.join("password")).unwrap();
    let server = started(&folder).await;
    let marker = std::fs::read_to_string(folder.join("shuntyard-server")).unwrap();
    assert!(marker.contains(&format!("version={}\n", server.release())), "{marker}");
    // The lost password was replaced by a new one.
    assert_eq!(committed(&server).await, Some(42));
    assert_eq!(server.stop().await, Ended::Cleanly);
}

async fn committed(server: &Running) -> Option<u32> {
    let mut conn = connect(server).await;
    let id = conn.query_first("SELECT id FROM shop.t").await.unwrap();
    conn.disconnect().await.unwrap();
    id
}

#[tokio::test]
async fn two_servers_from_nothing_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let began = Instant::now();
    let one = |name: &'static str| {
        let mut options = Options::new(name, dir.path().join(name));
        options.memory = Memory::Small { servers: NonZeroU32::new(2).unwrap() };
        options.settings = vec![("optimizer_switch".into(), "derived_merge=off".into())];
        async move {
            let server = ready_to_start(options).await.start();
            server.ready().await.unwrap();
            server
        }
    };
    let (a, b) = tokio::join!(one("s1"), one("s2"));
    println!("two servers from nothing to ready: {:?}", began.elapsed());
    let mut ids = Vec::new();
    for server in [&a, &b] {
        let mut conn = connect(server).await;
        let row: Option<(u32, String)> =
            conn.query_first("SELECT @@server_id, @@optimizer_switch").await.unwrap();
        let (id, switch) = row.unwrap();
        assert!(switch.contains("derived_merge=off"));
        ids.push(id);
        conn.disconnect().await.unwrap();
    }
    assert_ne!(ids[0], ids[1]);
    assert_ne!(*a.account().password, *b.account().password);
    let ended = tokio::join!(a.stop(), b.stop());
    assert_eq!(ended, (Ended::Cleanly, Ended::Cleanly));
}

#[tokio::test]
async fn an_interrupted_initialisation_is_done_again() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("s1");
    let options = Options::new("s1", &folder);
    let first = tokio::spawn(async move { prepare(options, &Surroundings::of_process()).await.map(|_| ()) });
    // The server has begun to write its own files.
    let began = async {
        while !folder.join("data/ibdata1").exists() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(PATIENCE, began).await.unwrap();
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    assert!(!folder.join("shuntyard-server").exists());
    assert!(folder.join("unfinished").exists());
    let server = started(&folder).await;
    assert!(!folder.join("unfinished").exists());
    assert_eq!(server.stop().await, Ended::Cleanly);
}

#[tokio::test]
async fn a_foreign_folder_is_refused_and_not_touched() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("thesis.txt"), "mine").unwrap();
    let refusal = refusal(dir.path()).await;
    assert_eq!(refusal, Refusal::NotOurs { entry: "thesis.txt".into() });
    let left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().collect();
    assert_eq!(left.len(), 1);
}

#[tokio::test]
async fn a_long_path_gets_a_short_socket() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("d".repeat(120));
    let server = started(&folder).await;
    assert!(server.socket().as_os_str().len() <= 107);
    assert!(!server.socket().starts_with(&folder));
    connect(&server).await.disconnect().await.unwrap();
    assert_eq!(server.stop().await, Ended::Cleanly);
}

#[tokio::test]
async fn a_server_that_cannot_start_is_tried_again_and_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let mut options = Options::new("s1", dir.path().join("s1"));
    options.settings = vec![("no_such_option".into(), "1".into())];
    let server = ready_to_start(options).await.start();
    let said = server.ready().await.unwrap_err().to_string();
    assert!(said.contains("no_such_option") && said.contains("server.log"), "{said}");
    until(&server, |s| matches!(s, State::Restarting { attempt: 2, .. })).await;
    assert_eq!(server.stop().await, Ended::Already);
}

/// Runs this file's [`holder`] in a process of its own, as `user` or as the one we are.
fn spawn_holder(folder: &Path, path: &str, user: Option<&str>) -> (std::process::Child, u32) {
    use std::io::BufRead as _;
    let program = std::env::current_exe().unwrap();
    let mut command = match user {
        Some(user) => {
            // The folder of our own program may be closed to others.
            let copy = folder.parent().unwrap().join("holder");
            std::fs::copy(program, &copy).unwrap();
            let mut command = Command::new("setpriv");
            command.args(["--reuid", user, "--regid", "65534", "--clear-groups", "--"]).arg(copy);
            command
        }
        None => Command::new(program),
    };
    let mut child = command
        .args(["--exact", "holder", "--ignored", "--nocapture"])
        .env("HOLDER_FOLDER", folder)
        .env("HOLDER_PATH", path)
        .current_dir(folder.parent().unwrap())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
    let pid = lines.find_map(|line| line.unwrap().strip_prefix("server ")?.parse().ok());
    (child, pid.expect("the holder's server became ready"))
}

#[tokio::test]
#[ignore = "run by the tests that need a process to kill"]
async fn holder() {
    let mut around = Surroundings::of_process();
    around.path = std::env::split_paths(&std::env::var_os("HOLDER_PATH").unwrap()).collect();
    let folder = PathBuf::from(std::env::var_os("HOLDER_FOLDER").unwrap());
    let server = prepare(Options::new("s1", folder), &around).await.unwrap().start();
    server.ready().await.unwrap();
    println!("\nserver {}", server.pid().unwrap());
    std::future::pending::<()>().await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_killed_shuntyard_takes_its_server_along() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("s1");
    let path = std::env::var("PATH").unwrap();
    let (mut holder, pid) = spawn_holder(&folder, &path, None);
    holder.kill().unwrap();
    holder.wait().unwrap();
    // The next start waits for the server that is still shutting down.
    let server = started(&folder).await;
    until_gone(pid).await;
    assert_eq!(server.stop().await, Ended::Cleanly);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_server_left_behind_is_found_and_named() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("s1");
    // No setpriv on this path: nothing ties the server to its parent.
    let (mut holder, pid) = spawn_holder(&folder, "/nonexistent", None);
    holder.kill().unwrap();
    holder.wait().unwrap();
    let refused = refusal(&folder).await;
    assert_eq!(refused, Refusal::StillRunning { pid: Some(pid) });
    assert!(refused.to_string().contains(&format!("kill {pid}")));
    kill("-TERM", pid);
    let server = started(&folder).await;
    assert_eq!(server.stop().await, Ended::Cleanly);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_ordinary_user_can_run_one() {
    use std::os::unix::fs::{MetadataExt as _, chown};
    let dir = tempfile::tempdir().unwrap();
    if std::fs::metadata(dir.path()).unwrap().uid() != 0 {
        // Then every other test here has shown it.
        return;
    }
    chown(dir.path(), Some(65534), Some(65534)).unwrap();
    let path = std::env::var("PATH").unwrap();
    let (mut holder, pid) = spawn_holder(&dir.path().join("s1"), &path, Some("65534"));
    let owner = std::fs::metadata(format!("/proc/{pid}")).unwrap().uid();
    assert_eq!(owner, 65534);
    holder.kill().unwrap();
    holder.wait().unwrap();
    until_gone(pid).await;
}
