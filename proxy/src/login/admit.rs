//! Proves who a client is, and logs in to the home backend as the same user.

use backend::accounts::Client as From;
use backend::connect::Opened;
use backend::pool::{Key, Lease, shape};
use backend::profile::Profile;
use wire::Capabilities;
use wire::auth::{Nonce, Secret};

use super::Failure;
use super::enter::{Entered, Entering, Told};
use super::seats::Seat;
use super::talk::Talk;
use super::whom::{Who, Whom};
use crate::session::Sharing;
use crate::shared::{Pooling, Shared};

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

/// A client that is let in.
pub(super) struct Admitted {
    pub(super) user: String,
    pub(super) lease: Lease,
    pub(super) opened: Opened,
    pub(super) told: Told,
    /// How it shares connections, if it does.
    pub(super) sharing: Option<Sharing>,
    pub(super) seat: Seat,
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
    let shares = shared.live().pooling_of(&user) == Pooling::Transaction && !shared.passthrough;
    let who = Who { user: &user, host: &host, from, tls: talk.stream.is_tls(), shares };
    let entering = Entering { shared, nonce, candidate, who };
    let Entered { secret, whom, mut lease, opened, before, told } = entering.enter(talk).await?;
    let seat = match seat(shared, &user, &whom) {
        Ok(seat) => seat,
        Err(failure) => {
            lease.give_back().await;
            return Err(failure);
        }
    };
    // With a hash alone a server may not let it in a second time.
    let sharing = match secret {
        Secret::Sha256(_) => None,
        secret if shares => Some(share(shared, candidate, secret, &mut lease, &opened).await?),
        _ => None,
    };
    if let Some(payload) = before {
        talk.send(&payload).await?;
    }
    Ok(Admitted { user, lease, opened, told, sharing, seat })
}

/// A seat among the user's sessions. Only who has proven to be the user takes one.
fn seat(shared: &Shared, user: &str, whom: &Whom) -> Result<Seat, Failure> {
    let own = match whom {
        Whom::Listed(limit) => *limit,
        Whom::Account(_) | Whom::Nobody => None,
    };
    let limit = own.or(shared.live().per_user).unwrap_or(usize::MAX);
    shared.seats.take(user, limit).ok_or_else(|| match own {
        Some(limit) => Failure::TooManyOfListed { user: user.to_owned(), limit },
        None => Failure::TooManyOfUser { user: user.to_owned(), limit },
    })
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
