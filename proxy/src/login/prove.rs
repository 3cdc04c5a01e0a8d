//! The exchange in which a client proves who it is.

use wire::auth::{Check, Password, Proof, Server, ServerChannel, ServerStep};
use zeroize::Zeroizing;

use super::Failure;
use super::talk::Talk;
use crate::shared::Shared;

/// What an exchange came to.
pub(super) struct Shown {
    /// `None` where the answer is wrong.
    pub(super) proof: Option<Proof>,
    /// What goes to the client before OK, if it is let in.
    pub(super) before: Option<Vec<u8>>,
    /// The client's last answer: may be a password.
    pub(super) answer: Zeroizing<Vec<u8>>,
}

/// Who can read along, and what a password is enciphered with where it may be asked for.
pub(super) async fn channel(talk: &Talk<'_>, shared: &Shared, check: &Check) -> ServerChannel {
    match check {
        _ if talk.is_secure() => ServerChannel::Secure,
        Check::Sha2(_) => ServerChannel::Plain(shared.rsa.get().await),
        // The key takes a moment to be made at start: a listed user's client waits for it when it turns out to need it.
        Check::Known(..) | Check::Native(_) | Check::Clear => ServerChannel::Plain(None),
    }
}

/// Goes on from a step, which answered `answer`, to the exchange's end.
pub(super) async fn exchange(
    talk: &mut Talk<'_>,
    shared: &Shared,
    mut step: ServerStep,
    answer: &[u8],
) -> Result<Shown, Failure> {
    let mut answer = Zeroizing::new(answer.to_vec());
    loop {
        step = match step {
            ServerStep::Send(payload, next) => {
                talk.send(&payload).await?;
                answer = Zeroizing::new(talk.receive().await?);
                next.step(&answer)?
            }
            ServerStep::Doubtful(server) if talk.is_secure() => server.insist(ServerChannel::Secure),
            ServerStep::Doubtful(server) => server.insist(ServerChannel::Plain(shared.rsa.get().await)),
            ServerStep::Accepted(proof, before) => return Ok(Shown { proof: Some(proof), before, answer }),
            ServerStep::Denied => return Ok(Shown { proof: None, before: None, answer }),
        };
    }
}

/// Has the client asked for its password after all; `None` where it sends none that can be read.
pub(super) async fn ask(
    talk: &mut Talk<'_>,
    shared: &Shared,
    server: Server,
) -> Result<Option<Password>, Failure> {
    match exchange(talk, shared, server.ask(), &[]).await?.proof {
        Some(Proof::Claimed(password)) => Ok(Some(password)),
        _ => Ok(None),
    }
}
