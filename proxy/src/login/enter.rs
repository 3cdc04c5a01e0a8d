//! From a client's answer to a backend connection of the account that the client proved to be.

use backend::accounts::{Account, Auth};
use backend::connect::{ConnectError, Login, Opened};
use backend::pool::Lease;
use wire::auth::{self, AuthError, Check, Nonce, Password, Proof, Secret, Server, native};
use wire::code;

use super::admit::Candidate;
use super::prove::{Shown, ask, channel, exchange};
use super::talk::Talk;
use super::whom::{Expected, Who, Whom};
use super::{Failure, sandbox};
use crate::shared::{Shared, Users};

/// ER_ACCESS_DENIED_NO_PASSWORD_ERROR.
const ACCESS_DENIED_NO_PASSWORD: u16 = 1698;
/// ER_ACCOUNT_HAS_BEEN_LOCKED of MySQL, which names the address that it sees; MariaDB's names none.
const LOCKED: u16 = 3118;

/// A client on its way in.
pub(super) struct Entering<'a> {
    pub(super) shared: &'a Shared,
    pub(super) nonce: &'a Nonce,
    pub(super) candidate: &'a Candidate<'a>,
    pub(super) who: Who<'a>,
}

/// A client that the backend has let in as the account that was meant.
pub(super) struct Entered {
    pub(super) secret: Secret,
    pub(super) whom: Whom,
    pub(super) lease: Lease,
    pub(super) opened: Opened,
    /// What goes to the client before OK.
    pub(super) before: Option<Vec<u8>>,
    pub(super) told: Told,
}

/// What a client that is in has been told of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// Nothing yet: OK is due.
    Nothing,
    /// OK, since its password was expired and it has changed it.
    Ok,
}

impl Entering<'_> {
    /// The exchange with the client, and the login at the backend with what it showed. A password that only the backend can
    /// judge goes there also where nobody is meant, so that a stranger waits as long as everybody else.
    pub(super) async fn enter(&self, talk: &mut Talk<'_>) -> Result<Entered, Failure> {
        let Expected { check, whom, password } = self.who.expected(self.shared, self.nonce).await?;
        let known = match &check {
            Check::Known(password, _) => password.clone(),
            _ => Password::new(b""),
        };
        let channel = channel(talk, self.shared, &check).await;
        let Candidate { plugin, response, .. } = *self.candidate;
        let step = Server::start(check, *self.nonce, channel, plugin, response)?;
        let Shown { proof, before, answer } = exchange(talk, self.shared, step, response).await?;
        let denied = || self.who.denied(!matches!(answer.as_slice(), [] | [0]));
        match (proof, whom) {
            (Some(Proof::Claimed(password)), whom) => self.claimed(talk, password, whom).await,
            // The account or its password may be a moment old: look once more, with the answer that is there.
            (None, _) | (_, Whom::Nobody) => match self.afresh(&answer).await {
                Some((secret, account)) => self.login(talk, secret, Whom::Account(account), None).await,
                None => Err(self.wrong(&answer).await),
            },
            (Some(Proof::Known), whom) => self.login(talk, Secret::Password(known), whom, before).await,
            (Some(Proof::Sha1(hash)), whom) => match self.login(talk, Secret::Sha1(hash), whom, before).await
            {
                // An old password for an old hash; or there is no such account for the proxy's address.
                Err(failure) if is_denied(&failure) && self.afresh(&answer).await.is_none() => Err(denied()),
                other => other,
            },
            (Some(Proof::Sha256(hash, server)), whom) => {
                let secret = password.map_or(Secret::Sha256(hash), Secret::Password);
                match self.login(talk, secret, whom.clone(), before).await {
                    // The server's cache is cold, or the password is an old one: only the password itself can tell.
                    Err(failure) if is_denied(&failure) || wants_password(&failure) => {
                        let password = ask(talk, self.shared, server).await?.ok_or_else(denied)?;
                        self.claimed(talk, password, whom).await
                    }
                    other => other,
                }
            }
        }
    }

    /// The client's account as it is now, where its answer is right for that.
    async fn afresh(&self, answer: &[u8]) -> Option<(Secret, Account)> {
        let account = self.who.fresh(self.shared).await?;
        let secret = match &account.auth {
            Auth::Native(stored) => {
                Secret::Sha1(native::verify(&native::Stored(*stored), self.nonce, answer)?)
            }
            Auth::Empty if answer.is_empty() => Secret::Password(Password::new(b"")),
            _ => return None,
        };
        Some((secret, account))
    }

    /// The server hears of a wrong password as well and has its say: it may count them for each account, and refuse who was
    /// wrong too often. Strangers go the same way, so that they wait as long.
    async fn wrong(&self, answer: &[u8]) -> Failure {
        let denied = self.who.denied(!matches!(answer, [] | [0]));
        let secret = match self.shared.live().users {
            Users::Listed(_) => return denied,
            Users::FromBackends if answer.is_empty() => Secret::Password(Password::new(b"")),
            // An answer to the proxy's challenge is none to the server's: any other wrong one does. A password, with which
            // every plugin's exchange comes to its end: servers block hosts that break off too many.
            Users::FromBackends => match auth::nonce() {
                Ok(random) => Secret::Password(Password::new(&random)),
                Err(error) => return error.into(),
            },
        };
        match self.backend(&secret).await {
            // By something else than the password, which the client has no part in.
            Ok((lease, _)) => {
                lease.give_back().await;
                denied
            }
            Err(failure @ Failure::Backend(ConnectError::Refused { .. })) if !is_denied(&failure) => failure,
            Err(_) => denied,
        }
    }

    /// Logs in with a password that nobody has checked yet.
    async fn claimed(&self, talk: &mut Talk<'_>, password: Password, whom: Whom) -> Result<Entered, Failure> {
        let sent = !password.is_empty();
        let stranger = matches!(whom, Whom::Nobody);
        let account = whom.clone();
        let mut entered = match self.login(talk, Secret::Password(password.clone()), whom, None).await {
            // A server says so only to who has the password.
            Err(failure @ Failure::Locked { .. }) => {
                if let Whom::Account(account) = &account
                    && let Auth::CachingSha2(stored) = &account.auth
                {
                    self.shared.known.remember(&account.current_user(), stored, password);
                }
                return Err(failure);
            }
            // Servers ask strangers for one plugin or another, some of which the proxy has not.
            Err(failure) if is_denied(&failure) || (stranger && is_stuck(&failure)) => {
                tracing::debug!(%failure, "a password was tried");
                return Err(self.who.denied(sent));
            }
            other => other?,
        };
        if let Whom::Account(account) = &entered.whom
            && let Auth::CachingSha2(stored) = &account.auth
        {
            let kept = self.shared.known.remember(&account.current_user(), stored, password);
            entered.secret = Secret::Password(kept);
        }
        Ok(entered)
    }

    /// Logs in at the backend, as the account that is meant or not at all.
    async fn login(
        &self,
        talk: &mut Talk<'_>,
        secret: Secret,
        mut whom: Whom,
        mut before: Option<Vec<u8>>,
    ) -> Result<Entered, Failure> {
        let (mut lease, mut opened) = self.backend(&secret).await?;
        let mut told = Told::Nothing;
        if let Some(error) = opened.expired.take() {
            if let Whom::Nobody = whom {
                whom = self.who.fresh(self.shared).await.map_or(Whom::Nobody, Whom::Account);
            }
            if let Whom::Nobody = whom {
                return Err(self.who.denied(true));
            }
            if let Some(payload) = before.take() {
                talk.send(&payload).await?;
            }
            let capabilities = self.candidate.capabilities;
            opened.settings = sandbox::serve(talk, &mut lease, capabilities, opened.status, &error).await?;
            told = Told::Ok;
        }
        match self.confirmed(whom, &opened).await {
            Ok(whom) => Ok(Entered { secret, whom, lease, opened, before, told }),
            Err(failure) => {
                lease.give_back().await;
                Err(failure)
            }
        }
    }

    async fn backend(&self, secret: &Secret) -> Result<(Lease, Opened), Failure> {
        let Candidate { user, schema, charset, capabilities, max_packet, attributes, .. } = *self.candidate;
        let login =
            Login { user, secret: secret.clone(), schema, charset, capabilities, max_packet, attributes };
        let wait = self.shared.live().timeouts.wait;
        match self.shared.home().checkout(&self.shared.stats, &login, wait).await {
            Err(ConnectError::Refused { error, .. }) if error.code == LOCKED => Err(self.who.locked()),
            other => Ok(other?),
        }
    }

    /// The backend sees the proxy's address, not the client's: another account there would be another identity.
    async fn confirmed(&self, whom: Whom, opened: &Opened) -> Result<Whom, Failure> {
        let chosen = &opened.settings.account;
        let account = match whom {
            Whom::Listed(limit) => return Ok(Whom::Listed(limit)),
            Whom::Account(account) if account.current_user() == *chosen => account,
            Whom::Account(_) | Whom::Nobody => match self.who.fresh(self.shared).await {
                Some(account) if account.current_user() == *chosen => account,
                Some(account) => {
                    let matched = account.current_user();
                    return Err(Failure::OtherAccount { matched, chosen: chosen.clone() });
                }
                None => return Err(self.who.denied(true)),
            },
        };
        self.who.permitted(&account).map(|()| Whom::Account(account))
    }
}

fn is_denied(failure: &Failure) -> bool {
    let denied = [code::ACCESS_DENIED, ACCESS_DENIED_NO_PASSWORD];
    matches!(failure, Failure::Backend(ConnectError::Refused { error, .. }) if denied.contains(&error.code))
}

fn is_stuck(failure: &Failure) -> bool {
    matches!(failure, Failure::Backend(ConnectError::Auth { .. }))
}

fn wants_password(failure: &Failure) -> bool {
    matches!(failure, Failure::Backend(ConnectError::Auth { error: AuthError::HashOnly(_), .. }))
}
