//! Bringing a data folder's system tables up to the version of a newer server.

use super::account::Account;
use super::find::Installation;
use super::layout::Layout;
use std::io;
use std::process::Stdio;
use tokio::process::Command;

/// Runs `mariadb-upgrade` against the running server.
pub(crate) async fn run(installation: &Installation, layout: &Layout, account: &Account) -> io::Result<()> {
    let program = installation
        .sibling(&["mariadb-upgrade", "mysql_upgrade"])
        .ok_or_else(|| io::Error::other("there is no mariadb-upgrade beside the server"))?;
    let mut command = std::process::Command::new(&program);
    installation.clean(&mut command);
    // It hands its connection on to other programs through a shell and gets some characters of a
    // path wrong, so it is run inside the folder and sees none of the path; nor does it read an option
    // file, whose path it would make absolute. The password is not among its arguments, which all may see.
    let socket = layout.socket.strip_prefix(&layout.folder).unwrap_or(&layout.socket);
    let mut to_socket = std::ffi::OsString::from("--socket=");
    to_socket.push(socket);
    command
        .arg("--no-defaults")
        .arg(format!("--user={}", account.user))
        .arg(to_socket)
        .env("MYSQL_PWD", account.password.as_str())
        .arg("--force")
        .current_dir(&layout.folder)
        .stdin(Stdio::null());
    let output = Command::from(command).kill_on_drop(true).output().await?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!("{} failed ({}): {}", program.display(), output.status, said.trim())))
}
