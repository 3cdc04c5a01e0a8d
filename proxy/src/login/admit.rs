//! Proves who a client is, and logs in to the home backend as the same user.

use std::time::Duration;

use backend::accounts::{Account, Auth, Client as From, Standing, Transport};
use backend::connect::{Login, Opened};
use backend::pool::{Key, Lease, shape};
use backend::profile::Profile;
use wire::Capabilities;
use wire::auth::{Check, Nonce, Password, Proof, Secret, Server, ServerChannel, ServerStep, native};

use super::Failure;
use super::talk::Talk;
use crate::session::Sharing;
use crate::shared::{Pooling, Shared, Users};

/// How long a login that is about to be refused waits for a fresh look at the accounts.
const FRESH: Duration = Duration::from_secs(2);

/// A client that wants to be somebody.
pub(super) struct Candidate<'a> {
    pub(super) user: &'a [u8],
    pub(super) plugin: Option<&'a [u8]>,
    pub(super) response: &'a [u8],
    pub(super) schema: Option<&'a [u8]>,
    pub(super) charset: u16,
    pub(super) max_packet: u32,
    pub(super) attributes: Option<&'a [u8]>,
    pub(super) capabilities: Capabilities,
}

/// What the client is checked by, and whom the backend must take it for.
struct Expected {
    check: Check,
    account: Option<String>,
}

/// A client that is let in.
pub(super) struct Admitted {
    pub(super) user: String,
    pub(super) lease: Lease,
    pub(super) opened: Opened,
    /// How it shares connections, if it does.
    pub(super) sharing: Option<Sharing>,
}

/// Lets a client prove who it is, and logs in to the home backend as the same user.
pub(super) async fn admit(
    talk: &mut Talk<'_>,
    shared: &Shared,
    nonce: &Nonce,
    candidate: &Candidate<'_>,
) -> Result<Admitted, Failure> {
    let user = String::from_utf8_lossy(candidate.user).into_owned();
    let from = talk.stream.peer().map_or(From::Unix, |peer| From::Ip(peer.ip().to_canonical()));
    let host = match from {
        From::Ip(address) if !(address.is_loopback() && shared.home().resolves_names()) => {
            address.to_string()
        }
        _ => "localhost".to_owned(),
    };
    let who = Who { user: &user, host: &host, from, tls: talk.stream.is_tls() };
    let (secret, account) = prove(talk, shared, nonce, candidate, &who).await?;
    let login = Login {
        user: candidate.user,
        secret: secret.clone(),
        schema: candidate.schema,
        charset: candidate.charset,
        capabilities: candidate.capabilities,
        max_packet: candidate.max_packet,
        attributes: candidate.attributes,
    };
    let live = shared.live().clone();
    if let Some(limit) = live.per_user
        && shared.stats.sessions.read().iter().filter(|session| session.user == user).count() >= limit
    {
        return Err(Failure::TooManyOfUser { user, limit });
    }
    let (mut lease, opened) = shared.home().checkout(&shared.stats, &login, live.timeouts.wait).await?;
    match account {
        // The backend sees the proxy's address, not the client's: another account there would be another identity.
        Some(matched) if matched != opened.settings.account => {
            lease.give_back().await;
            Err(Failure::OtherAccount { matched, chosen: opened.settings.account })
        }
        _ => {
            let shares = live.pooling_of(&user) == Pooling::Transaction && !shared.passthrough;
            let sharing = match shares {
                true => Some(share(shared, candidate, secret, &mut lease, &opened).await?),
                false => None,
            };
            Ok(Admitted { user, lease, opened, sharing })
        }
    }
}

/// What a session needs to go on with other connections than its first.
async fn share(
    shared: &Shared,
    candidate: &Candidate<'_>,
    secret: Secret,
    lease: &mut Lease,
    opened: &Opened,
) -> Result<Sharing, Failure> {
    let key = Key {
        account: opened.settings.account.clone(),
        user: candidate.user.to_vec(),
        capabilities: shape(lease.capabilities),
        charset: candidate.charset,
        max_packet: candidate.max_packet,
    };
    let profile = Profile::read(lease)
        .await?
        .filter(Profile::is_portable)
        .map(|profile| shared.home().pool.profile(profile));
    Ok(Sharing::new(key, secret, profile))
}

#[derive(Clone, Copy)]
struct Who<'a> {
    user: &'a str,
    host: &'a str,
    from: From,
    tls: bool,
}

impl Who<'_> {
    const fn address(&self) -> Option<std::net::IpAddr> {
        match self.from {
            From::Unix => None,
            From::Ip(address) => Some(address),
        }
    }
}

/// The exchange. Returns what logs in to the backend, and the account that must be the one there.
async fn prove(
    talk: &mut Talk<'_>,
    shared: &Shared,
    nonce: &Nonce,
    candidate: &Candidate<'_>,
    who: &Who<'_>,
) -> Result<(Secret, Option<String>), Failure> {
    let expected = expect(shared, who).await?;
    // Who is unknown goes through the same exchange, against a password that nobody has.
    let (check, account) = match expected {
        Some(Expected { check, account }) => (Some(check), account),
        None => (None, None),
    };
    let known = check.is_some();
    let check = check.unwrap_or_else(|| decoy(shared, nonce));
    let password = match &check {
        Check::Known(password) => password.clone(),
        _ => Password::new(b""),
    };
    let channel =
        if talk.is_secure() { ServerChannel::Secure } else { ServerChannel::Plain(shared.rsa.get()) };
    let mut response = candidate.response.to_vec();
    let mut step = Server::start(check, *nonce, channel, candidate.plugin, candidate.response)?;
    let proof = loop {
        step = match step {
            ServerStep::Send(payload, next) => {
                talk.send(&payload).await?;
                response = talk.receive().await?;
                next.step(&response)?
            }
            ServerStep::Accepted(proof, before) => {
                if let Some(payload) = before.filter(|_| known) {
                    talk.send(&payload).await?;
                }
                break Some(proof);
            }
            ServerStep::Denied => break None,
        };
    };
    let denied = || Failure::Denied {
        user: who.user.to_owned(),
        host: who.host.to_owned(),
        password: !response.is_empty(),
    };
    match proof {
        Some(Proof::Known) if known => Ok((Secret::Password(password), account)),
        Some(Proof::Sha1(hash)) if known => Ok((Secret::Sha1(hash), account)),
        _ => {
            // The account or its password may be a moment old: look once more, with the answer that is there.
            let fresh = fresh(shared, who).await;
            let proven = fresh.and_then(|(auth, account)| match auth {
                Auth::Native(stored) => {
                    let hash = native::verify(&native::Stored(stored), nonce, &response)?;
                    Some((Secret::Sha1(hash), Some(account)))
                }
                Auth::Empty if response.is_empty() => {
                    Some((Secret::Password(Password::new(b"")), Some(account)))
                }
                _ => None,
            });
            proven.ok_or_else(denied)
        }
    }
}

/// Something to check an unknown user by, of the kind that known users are checked by.
fn decoy(shared: &Shared, nonce: &Nonce) -> Check {
    match shared.live().users {
        Users::FromBackends => Check::Native(native::Stored(*nonce)),
        Users::Listed(_) => Check::Known(Password::new(nonce)),
    }
}

/// What a client is checked by; `None` for a user that does not exist.
async fn expect(shared: &Shared, who: &Who<'_>) -> Result<Option<Expected>, Failure> {
    let live = shared.live().clone();
    if let Users::Listed(users) = &live.users {
        let listed = users.iter().find(|listed| listed.admits(who.user, who.address()));
        return Ok(listed.map(|listed| Expected {
            check: Check::Known(Password::new(listed.password.as_bytes())),
            account: None,
        }));
    }
    let home = shared.home();
    let accounts = match home.accounts.current() {
        Some(accounts) => accounts,
        // Soon after the start: they are being read.
        None => home.accounts.fresh(live.timeouts.wait).await.ok_or_else(|| Failure::NoAccounts {
            name: home.name.clone(),
            reason: home
                .accounts
                .fault()
                .map_or_else(|| "they are being read".to_owned(), |fault| fault.to_string()),
        })?,
    };
    let Some(account) = accounts.choose(who.user, who.from) else { return Ok(None) };
    usable(account, who)?;
    let check = match &account.auth {
        Auth::Native(stored) => Check::Native(native::Stored(*stored)),
        // An empty answer is right whatever plugin gives it; asking for another one would only cost a round trip.
        Auth::Empty => Check::Known(Password::new(b"")),
        Auth::CachingSha2(_) | Auth::Unsupported(_) => {
            let reason = format!(
                "its plugin {} cannot be checked here; list the user under `users` in the configuration",
                account.plugin
            );
            return Err(Failure::Unusable { user: who.user.to_owned(), host: who.host.to_owned(), reason });
        }
    };
    Ok(Some(Expected { check, account: Some(account.current_user()) }))
}

fn usable(account: &Account, who: &Who<'_>) -> Result<(), Failure> {
    let unusable = |reason: &str| {
        Err(Failure::Unusable {
            user: who.user.to_owned(),
            host: who.host.to_owned(),
            reason: reason.to_owned(),
        })
    };
    match account.standing {
        Standing::Locked => {
            return Err(Failure::Locked { user: who.user.to_owned(), host: who.host.to_owned() });
        }
        Standing::Open | Standing::Expired => {}
    }
    match account.transport {
        Transport::Tls if !who.tls => unusable("it requires TLS"),
        Transport::Certificate => {
            unusable("it requires a client certificate, which the proxy cannot pass on")
        }
        Transport::Any | Transport::Tls => Ok(()),
    }
}

/// How the client's account is proven, and its name, read anew.
async fn fresh(shared: &Shared, who: &Who<'_>) -> Option<(Auth, String)> {
    if !matches!(shared.live().users, Users::FromBackends) {
        return None;
    }
    let accounts = shared.home().accounts.fresh(FRESH).await?;
    let account = accounts.choose(who.user, who.from)?;
    usable(account, who).ok()?;
    Some((account.auth.clone(), account.current_user()))
}
