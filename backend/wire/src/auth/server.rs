//! The server's side of an authentication exchange, from the handshake response to OK or ERR.

use super::{
    AuthError, AuthMoreData, AuthSwitchRequest, CLEAR, ED25519, NATIVE, Nonce, Password, PrivateKey, SHA2,
    Sha1Password, Sha2Digest, Sha256Password, ed25519, native, sha2,
};
use std::sync::Arc;

/// What an account is checked by.
#[derive(Clone, Debug)]
pub enum Check {
    /// The password is known, possibly empty; by this plugin, or by the one that the client likes.
    Known(Password, Option<Plugin>),
    /// The stored hash of `mysql_native_password` is known.
    Native(native::Stored),
    /// `caching_sha2_password`, with the digest of a password that was right before, if any. Where the digest is missing
    /// or does not match (the password may have been changed since) the client is asked for its password.
    Sha2(Option<Sha2Digest>),
    /// `mysql_clear_password`: the client is asked for its password, over secure channels only.
    Clear,
}

/// Who can read along.
#[derive(Clone, Debug)]
pub enum ServerChannel {
    /// Nobody: TLS, or a Unix socket.
    Secure,
    /// Everybody on the way. With a key pair, passwords can be sent encrypted.
    Plain(Option<Arc<PrivateKey>>),
}

/// What an exchange has shown.
#[derive(Debug)]
pub enum Proof {
    /// The client knows the password of [`Check::Known`].
    Known,
    /// The client knows the password of [`Check::Native`]; here is its hash.
    Sha1(Sha1Password),
    /// The client knows the password of the digest of [`Check::Sha2`]; here is its hash. Who cannot go on with that asks for
    /// the password by [`Server::ask`].
    Sha256(Sha256Password, Server),
    /// The client says that this is its password, possibly empty. **Nothing has been checked**: the caller tries it.
    Claimed(Password),
}

/// What to do after a client's packet.
#[derive(Debug)]
pub enum ServerStep {
    /// Send this payload, then give the client's next packet to the state.
    Send(Vec<u8>, Server),
    /// The exchange is over. Where the caller agrees with the proof, it sends the payload, if there is one, in a packet
    /// before OK.
    Accepted(Proof, Option<Vec<u8>>),
    /// The fast answer to [`Check::Known`] is wrong. As servers do, the caller asks for the password, by [`Server::insist`]:
    /// the fast answers of some clients (`sqlx` to 0.8) are always wrong.
    Doubtful(Server),
    /// The password is wrong: ERR 1045.
    Denied,
}

/// A server between two packets of an exchange.
#[derive(Debug)]
pub struct Server {
    check: Check,
    nonce: Nonce,
    channel: ServerChannel,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The client was asked for this plugin.
    Switched(Plugin),
    /// The client was asked to sign this.
    Signing(ed25519::Challenge),
    /// The client was asked for its password.
    Full,
    /// The client was given the public key.
    KeyGiven,
}

/// How a client proves that it knows its password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plugin {
    /// `mysql_native_password`.
    Native,
    /// `caching_sha2_password`.
    Sha2,
    /// `mysql_clear_password`.
    Clear,
    /// `client_ed25519`.
    Ed25519,
}

impl Plugin {
    /// By name.
    #[must_use]
    pub fn of(name: &[u8]) -> Option<Self> {
        let all = [Self::Native, Self::Sha2, Self::Clear, Self::Ed25519];
        all.into_iter().find(|plugin| plugin.name().as_bytes() == name)
    }

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Native => NATIVE,
            Self::Sha2 => SHA2,
            Self::Clear => CLEAR,
            Self::Ed25519 => ED25519,
        }
    }
}

impl Server {
    /// Takes the plugin and the response of a handshake response (or of `COM_CHANGE_USER`) to the challenge `nonce`.
    /// Clients without `PLUGIN_AUTH` speak [`NATIVE`].
    ///
    /// # Errors
    /// `Insecure` where the account's plugin cannot be used on this channel; `Random`.
    pub fn start(
        check: Check,
        nonce: Nonce,
        channel: ServerChannel,
        plugin: Option<&[u8]>,
        response: &[u8],
    ) -> Result<ServerStep, AuthError> {
        let spoken = Plugin::of(plugin.unwrap_or(NATIVE.as_bytes()));
        let secure = matches!(channel, ServerChannel::Secure);
        let wanted = match (&check, spoken) {
            (Check::Known(_, Some(wanted)), _) => *wanted,
            (Check::Known(_, None), Some(spoken)) if spoken != Plugin::Clear || secure => spoken,
            // All are possible; every driver has this one, MySQL 9 has no other.
            (Check::Known(_, None) | Check::Sha2(_), _) => Plugin::Sha2,
            (Check::Native(_), _) => Plugin::Native,
            (Check::Clear, _) => Plugin::Clear,
        };
        if wanted == Plugin::Clear && !secure {
            return Err(AuthError::Insecure(CLEAR));
        }
        let mut server = Self { check, nonce, channel, state: State::Switched(wanted) };
        let data = match wanted {
            Plugin::Ed25519 => {
                let challenge = ed25519::challenge()?;
                server.state = State::Signing(challenge);
                challenge.to_vec()
            }
            _ if spoken == Some(wanted) => return server.step(response),
            Plugin::Clear => vec![0],
            Plugin::Native | Plugin::Sha2 => [nonce.as_slice(), &[0]].concat(),
        };
        let mut payload = Vec::new();
        AuthSwitchRequest { plugin: wanted.name().as_bytes(), data: &data }.write(&mut payload);
        Ok(ServerStep::Send(payload, server))
    }

    /// Takes the payload of the client's next packet.
    ///
    /// # Errors
    /// `NoKey` where the client cannot send its password without a key pair.
    pub fn step(self, payload: &[u8]) -> Result<ServerStep, AuthError> {
        match self.state {
            State::Switched(Plugin::Native) => Ok(self.native(payload)),
            State::Switched(Plugin::Sha2) => Ok(self.fast(payload)),
            State::Switched(Plugin::Clear | Plugin::Ed25519) => Ok(self.said(claimed(payload))),
            State::Signing(challenge) => Ok(self.signed(&challenge, payload)),
            State::Full | State::KeyGiven => self.full(payload),
        }
    }

    /// After [`Proof::Sha256`]: has the client asked for its password itself.
    #[must_use]
    pub fn ask(mut self) -> ServerStep {
        self.state = State::Full;
        ServerStep::Send(more_data(&[sha2::FULL]), self)
    }

    /// After [`ServerStep::Doubtful`]: has the client asked for its password, if it can send that over `channel`.
    #[must_use]
    pub fn insist(mut self, channel: ServerChannel) -> ServerStep {
        if matches!(channel, ServerChannel::Plain(None)) {
            return ServerStep::Denied;
        }
        self.channel = channel;
        self.ask()
    }

    fn native(self, response: &[u8]) -> ServerStep {
        match &self.check {
            Check::Known(password, _) if password.is_empty() || response.is_empty() => {
                known(password.is_empty() && response.is_empty(), None)
            }
            Check::Known(password, _) => {
                let stored = Sha1Password::new(password.as_bytes()).stored();
                known(native::verify(&stored, &self.nonce, response).is_some(), None)
            }
            Check::Native(stored) => match native::verify(stored, &self.nonce, response) {
                Some(hash) => ServerStep::Accepted(Proof::Sha1(hash), None),
                None => ServerStep::Denied,
            },
            Check::Sha2(_) | Check::Clear => ServerStep::Denied,
        }
    }

    fn fast(self, response: &[u8]) -> ServerStep {
        let empty = matches!(response, [] | [0]);
        let fast_ok = || Some(more_data(&[sha2::FAST_OK]));
        match &self.check {
            Check::Known(password, _) if password.is_empty() || empty => {
                known(password.is_empty() && empty, None)
            }
            Check::Known(password, _) => {
                let digest = Sha2Digest::new(password.as_bytes());
                match digest.verify(&self.nonce, response) {
                    Some(_) => known(true, fast_ok()),
                    None => ServerStep::Doubtful(self),
                }
            }
            Check::Sha2(_) if empty => ServerStep::Accepted(Proof::Claimed(Password::new(&[])), None),
            Check::Sha2(digest) => {
                match digest.as_ref().and_then(|digest| digest.verify(&self.nonce, response)) {
                    Some(hash) => ServerStep::Accepted(Proof::Sha256(hash, self), fast_ok()),
                    None => self.ask(),
                }
            }
            Check::Native(_) | Check::Clear => ServerStep::Denied,
        }
    }

    fn signed(self, challenge: &ed25519::Challenge, response: &[u8]) -> ServerStep {
        match &self.check {
            Check::Known(password, _) => {
                known(ed25519::verify(password.as_bytes(), challenge, response), None)
            }
            _ => ServerStep::Denied,
        }
    }

    fn said(self, claimed: Password) -> ServerStep {
        match &self.check {
            Check::Known(password, _) => known(*password == claimed, None),
            Check::Sha2(_) | Check::Clear => ServerStep::Accepted(Proof::Claimed(claimed), None),
            Check::Native(_) => ServerStep::Denied,
        }
    }

    fn full(mut self, payload: &[u8]) -> Result<ServerStep, AuthError> {
        let key = match &self.channel {
            ServerChannel::Secure => return Ok(self.said(claimed(payload))),
            ServerChannel::Plain(key) => key.clone().ok_or(AuthError::NoKey)?,
        };
        if self.state == State::Full && payload == [sha2::KEY_REQUEST] {
            self.state = State::KeyGiven;
            return Ok(ServerStep::Send(more_data(key.public_pem().as_bytes()), self));
        }
        Ok(match key.decrypt(&self.nonce, payload) {
            Some(password) => self.said(password),
            None => ServerStep::Denied,
        })
    }
}

fn known(right: bool, then: Option<Vec<u8>>) -> ServerStep {
    if right { ServerStep::Accepted(Proof::Known, then) } else { ServerStep::Denied }
}

/// A password in the clear; the NUL after it is not part of it.
fn claimed(payload: &[u8]) -> Password {
    Password::new(payload.strip_suffix(&[0]).unwrap_or(payload))
}

fn more_data(data: &[u8]) -> Vec<u8> {
    let mut payload = Vec::new();
    AuthMoreData(data).write(&mut payload);
    payload
}
