//! Whom a client may be: what it is checked by, and which account the backend must take it for.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use backend::accounts::{Account, Accounts, Auth, Client as From, Transport, Way, pick};
use wire::auth::{Check, Nonce, Password, native};

use super::Failure;
use crate::shared::{ListedUser, Shared, Users};

/// How long a login that is about to be refused waits for a fresh look at the accounts.
const FRESH: Duration = Duration::from_secs(2);

/// Who a client says it is, and what is known of it from outside.
#[derive(Clone, Copy)]
pub(super) struct Who<'a> {
    pub(super) user: &'a str,
    /// As the server would call it.
    pub(super) host: &'a str,
    pub(super) from: From,
    pub(super) tls: bool,
    /// Its session will open more connections.
    pub(super) shares: bool,
}

/// Whom the backend must take the client for.
#[derive(Clone)]
pub(super) enum Whom {
    /// Whomever it likes: the user of the configuration, and how many connections it may have.
    Listed(Option<usize>),
    /// This account.
    Account(Account),
    /// Nobody: the exchange is for show.
    Nobody,
}

/// What the client is checked by.
pub(super) struct Expected {
    pub(super) check: Check,
    pub(super) whom: Whom,
    /// The password of an account whose digest is checked, where another session keeps it.
    pub(super) password: Option<Password>,
}

impl Who<'_> {
    const fn address(&self) -> Option<IpAddr> {
        match self.from {
            From::Unix => None,
            From::Ip(address) => Some(address),
        }
    }

    pub(super) fn denied(&self, password: bool) -> Failure {
        Failure::Denied { user: self.user.to_owned(), host: self.host.to_owned(), password }
    }

    pub(super) fn locked(&self) -> Failure {
        Failure::Locked { user: self.user.to_owned(), host: self.host.to_owned() }
    }

    fn unusable(&self, reason: String) -> Failure {
        Failure::Unusable { user: self.user.to_owned(), host: self.host.to_owned(), reason }
    }

    /// Who is unknown goes through the same exchange as others do, against a password that nobody has.
    ///
    /// # Errors
    /// Where accounts are not known, or the client's cannot be used from afar.
    pub(super) async fn expected(&self, shared: &Shared, nonce: &Nonce) -> Result<Expected, Failure> {
        if let Users::Listed(users) = &shared.live().users {
            return Ok(self.listed(users, nonce));
        }
        let accounts = accounts(shared).await?;
        let Some(account) = accounts.choose(self.user, self.from) else {
            let check = match accounts.decoy(self.user) {
                Way::Native => Check::Native(native::Stored(*nonce)),
                Way::CachingSha2 => Check::Sha2(None),
                Way::Clear => Check::Clear,
            };
            return Ok(Expected { check, whom: Whom::Nobody, password: None });
        };
        let mut password = None;
        let check = match &account.auth {
            Auth::Native(stored) => Check::Native(native::Stored(*stored)),
            Auth::Never => Check::Native(native::Stored(*nonce)),
            // An empty answer is right whatever plugin gives it; asking for another one would only cost a round trip.
            Auth::Empty => Check::Known(Password::new(b""), None),
            Auth::CachingSha2(stored) => {
                let known = shared.known.recall(&account.current_user(), stored);
                // A server whose cache is cold asks for the password: a session that will log in again has to keep it. Not every
                // client can give it where others can read along; without it, the session keeps its one connection.
                let asks = self.shares && (self.tls || matches!(self.from, From::Unix));
                let known = known.filter(|(_, password)| password.is_some() || !asks);
                let (digest, kept) = known.unzip();
                password = kept.flatten();
                Check::Sha2(digest)
            }
            other if other.way().is_some() => Check::Clear,
            _ => {
                return Err(self.unusable(format!(
                    "its plugin {} asks for no password that could be passed on; list the user under `users` in the \
                     configuration",
                    account.plugin
                )));
            }
        };
        Ok(Expected { check, whom: Whom::Account(account.clone()), password })
    }

    fn listed(&self, users: &[ListedUser], nonce: &Nonce) -> Expected {
        let (secret, plugin, whom) = match users.iter().find(|user| user.admits(self.user, self.address())) {
            Some(user) => {
                (Password::new(user.password.as_bytes()), user.plugin, Whom::Listed(user.connections))
            }
            None => {
                let plugin = users.get(pick(self.user, users.len())).and_then(|user| user.plugin);
                (Password::new(nonce), plugin, Whom::Nobody)
            }
        };
        Expected { check: Check::Known(secret, plugin), whom, password: None }
    }

    /// The client's account, read anew.
    pub(super) async fn fresh(&self, shared: &Shared) -> Option<Account> {
        if !matches!(shared.live().users, Users::FromBackends) {
            return None;
        }
        let accounts = shared.home().accounts.fresh(FRESH).await?;
        accounts.choose(self.user, self.from).cloned()
    }

    /// Whether the account may be used over this client's transport. Asked when the password is known to be right.
    ///
    /// # Errors
    /// As the servers answer.
    pub(super) fn permitted(&self, account: &Account) -> Result<(), Failure> {
        match account.transport {
            Transport::Tls if !self.tls => {
                tracing::info!(account = account.current_user(), "the account requires TLS of its clients");
                Err(self.denied(true))
            }
            Transport::Certificate => {
                Err(self
                    .unusable("it requires a client certificate, which the proxy cannot pass on".to_owned()))
            }
            Transport::Any | Transport::Tls => Ok(()),
        }
    }
}

async fn accounts(shared: &Shared) -> Result<Arc<Accounts>, Failure> {
    let home = shared.home();
    if let Some(accounts) = home.accounts.current() {
        return Ok(accounts);
    }
    // Soon after the start: they are being read.
    let wait = shared.live().timeouts.wait;
    home.accounts.fresh(wait).await.ok_or_else(|| Failure::NoAccounts {
        name: home.name.clone(),
        reason: home
            .accounts
            .fault()
            .map_or_else(|| "they are being read".to_owned(), |fault| fault.to_string()),
    })
}
