//! The proxy's own account on a bundled server.

use std::fmt::Write as _;
use std::io;
use zeroize::Zeroizing;

/// Its name; it exists for connections over the server's own Unix socket only.
pub const USER: &str = "shuntyard";

/// The account's name and password.
#[derive(Clone)]
pub struct Account {
    /// Always [`USER`].
    pub user: &'static str,
    /// 40 hexadecimal digits.
    pub password: Zeroizing<String>,
}

impl std::fmt::Debug for Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Account").field("user", &self.user).finish_non_exhaustive()
    }
}

impl Account {
    /// With a password from the system's random source.
    pub(crate) fn generate() -> io::Result<Self> {
        let mut bytes = Zeroizing::new([0_u8; 20]);
        getrandom::fill(bytes.as_mut_slice()).map_err(io::Error::other)?;
        let mut password = Zeroizing::new(String::with_capacity(40));
        for byte in bytes.iter() {
            // Writing to a String cannot fail.
            let _ = write!(password, "{byte:02x}");
        }
        Ok(Self { user: USER, password })
    }

    /// With the password that [`Account::generate`] made earlier; `None` when `text` is none of those.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let password = text.trim();
        let ours = password.len() == 40 && password.bytes().all(|b| b.is_ascii_hexdigit());
        ours.then(|| Self { user: USER, password: Zeroizing::new(password.to_owned()) })
    }

    /// Statements for the server's `init_file`, one a line: the account as it must be, whatever
    /// happened to it before. Kept out of the binary log, for the password is this server's alone.
    pub(crate) fn statements(&self) -> Zeroizing<String> {
        let Self { user, password } = self;
        let password = password.as_str();
        Zeroizing::new(format!(
            "SET SESSION sql_log_bin = 0;\n\
             CREATE USER IF NOT EXISTS '{user}'@'localhost' IDENTIFIED BY '{password}';\n\
             ALTER USER '{user}'@'localhost' IDENTIFIED BY '{password}' ACCOUNT UNLOCK;\n\
             GRANT ALL PRIVILEGES ON *.* TO '{user}'@'localhost' WITH GRANT OPTION;\n"
        ))
    }

    /// An option file for the command-line client.
    pub(crate) fn client_file(&self, socket: &str) -> Zeroizing<String> {
        let Self { user, password } = self;
        let (password, socket) = (password.as_str(), super::option_file::quote(socket));
        Zeroizing::new(format!(
            "# Written by Shuntyard at each start. Use: mariadb --defaults-file=THIS\n[client]\nuser = {user}\npassword = {password}\nsocket = {socket}\n"
        ))
    }
}

#[cfg(test)]
mod tests;
