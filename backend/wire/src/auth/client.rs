//! The client's side of an authentication exchange, up to the server's OK or ERR.

use super::{
    AuthError, AuthMoreData, AuthSwitchRequest, CLEAR, ED25519, NATIVE, Nonce, Password, PublicKey, SHA2,
    SHA256, Sha1Password, Sha256Password, ed25519, native, sha2,
};
use crate::reply::{EOF, ERR, ErrPacket, OK};
use crate::{ProtocolError, SqlError};
use zeroize::Zeroizing;

/// What the client can prove itself with.
#[derive(Clone, Debug)]
pub enum Secret {
    /// A password, possibly empty.
    Password(Password),
    /// `SHA1(password)`: enough for `mysql_native_password` only.
    Sha1(Sha1Password),
    /// `SHA256(password)`: enough for `caching_sha2_password` only, as long as the server does not ask for the password.
    Sha256(Sha256Password),
}

/// Who can read along.
#[derive(Clone, Debug)]
pub enum ClientChannel {
    /// Nobody: TLS, or a Unix socket. Passwords may be sent as they are.
    Secure,
    /// Everybody on the way. Passwords are encrypted with the server's public key, or not sent.
    Plain(ServerKey),
}

/// Where the server's public key comes from.
#[derive(Clone, Debug)]
pub enum ServerKey {
    /// It is known.
    Known(PublicKey),
    /// The server is asked for it: safe from listeners, not from someone in the middle.
    Ask,
    /// From nowhere: full authentication fails.
    Refuse,
}

/// What an exchange starts with: goes into the handshake response.
#[derive(Debug)]
pub struct ClientStart {
    /// Name of the plugin that made the response.
    pub plugin: &'static str,
    /// The response.
    pub response: Zeroizing<Vec<u8>>,
    /// The state after it.
    pub client: Client,
}

/// What to do after a server's packet.
#[derive(Debug)]
pub enum ClientStep {
    /// Send this payload, then give the server's next packet to the state.
    Send(Zeroizing<Vec<u8>>, Client),
    /// Give the server's next packet to the state.
    Wait(Client),
    /// The packet is an OK packet: logged in.
    Done,
    /// The packet is an ERR packet: refused.
    Refused(SqlError),
}

/// A client between two packets of an exchange.
#[derive(Debug)]
pub struct Client {
    secret: Secret,
    channel: ClientChannel,
    state: State,
    switch: Switch,
}

#[derive(Debug)]
enum State {
    /// Everything has been sent: OK or ERR is due.
    Sent,
    /// The fast response of `caching_sha2_password` has been sent.
    FastSent { nonce: Nonce },
    /// The public key has been asked for.
    KeyAsked { nonce: Nonce },
}

/// A server may ask for another plugin once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Switch {
    Possible,
    Used,
}

impl Client {
    /// Starts with the server's default plugin. Where that one is not supported, starts with an empty response for
    /// [`NATIVE`], upon which a server asks for what the account wants.
    ///
    /// # Errors
    /// `HashOnly` and `Insecure` are put off until the server insists, so: none but `PublicKey`.
    pub fn start(
        plugin: &str,
        nonce: &Nonce,
        secret: Secret,
        channel: ClientChannel,
    ) -> Result<ClientStart, AuthError> {
        let plugin = match (plugin, &secret) {
            (_, Secret::Sha256(_)) | (SHA2, Secret::Password(_)) => SHA2,
            _ => NATIVE,
        };
        let (response, state) = respond(plugin, nonce, &secret, &channel)?;
        let client = Self { secret, channel, state, switch: Switch::Possible };
        Ok(ClientStart { plugin, response, client })
    }

    /// Takes the payload of the server's next packet.
    ///
    /// # Errors
    /// All of [`AuthError`] but `NoKey`; the connection is of no more use then.
    pub fn step(mut self, payload: &[u8]) -> Result<ClientStep, AuthError> {
        match payload.first().copied() {
            None => Err(ProtocolError::Truncated.into()),
            Some(OK) => Ok(ClientStep::Done),
            Some(ERR) => Ok(ClientStep::Refused(ErrPacket::parse(payload)?.to_error())),
            Some(EOF) if self.switch == Switch::Possible => {
                self.switch = Switch::Used;
                self.switch_to(AuthSwitchRequest::parse(payload)?)
            }
            Some(1) => self.more_data(AuthMoreData::parse(payload)?.0),
            Some(other) => Err(ProtocolError::Unexpected(other).into()),
        }
    }

    fn switch_to(mut self, request: AuthSwitchRequest<'_>) -> Result<ClientStep, AuthError> {
        let name = String::from_utf8_lossy(request.plugin).into_owned();
        if name == ED25519 {
            let Secret::Password(password) = &self.secret else { return Err(AuthError::HashOnly(ED25519)) };
            let challenge = request.data.first_chunk().ok_or(ProtocolError::Truncated)?;
            let response = Zeroizing::new(ed25519::sign(password.as_bytes(), challenge).to_vec());
            self.state = State::Sent;
            return Ok(ClientStep::Send(response, self));
        }
        let plugin =
            [NATIVE, SHA2, SHA256, CLEAR].into_iter().find(|p| *p == name).ok_or(AuthError::Plugin(name))?;
        let nonce = match request.data.first_chunk() {
            Some(nonce) => *nonce,
            None if plugin == CLEAR => Nonce::default(),
            None => return Err(ProtocolError::Truncated.into()),
        };
        let (response, state) = respond(plugin, &nonce, &self.secret, &self.channel)?;
        self.state = state;
        Ok(ClientStep::Send(response, self))
    }

    fn more_data(mut self, data: &[u8]) -> Result<ClientStep, AuthError> {
        match (&self.state, data) {
            (State::FastSent { .. }, [sha2::FAST_OK]) => {
                self.state = State::Sent;
                Ok(ClientStep::Wait(self))
            }
            (State::FastSent { nonce }, [sha2::FULL]) => {
                let Secret::Password(password) = &self.secret else { return Err(AuthError::HashOnly(SHA2)) };
                let (send, state) = whole(SHA2, nonce, password, &self.channel)?;
                self.state = state;
                Ok(ClientStep::Send(send, self))
            }
            (State::KeyAsked { nonce }, pem) => {
                let Secret::Password(password) = &self.secret else { return Err(AuthError::HashOnly(SHA2)) };
                let encrypted = PublicKey::from_pem(pem)?.encrypt(nonce, password)?;
                self.state = State::Sent;
                Ok(ClientStep::Send(Zeroizing::new(encrypted), self))
            }
            _ => Err(ProtocolError::Malformed("authentication data").into()),
        }
    }
}

/// The first response of a plugin, and the state after it.
fn respond(
    plugin: &'static str,
    nonce: &Nonce,
    secret: &Secret,
    channel: &ClientChannel,
) -> Result<(Zeroizing<Vec<u8>>, State), AuthError> {
    Ok(match (plugin, secret) {
        (SHA2 | SHA256, Secret::Password(password)) if password.is_empty() => {
            (Zeroizing::new(vec![0]), State::Sent)
        }
        (SHA256, Secret::Password(password)) => whole(SHA256, nonce, password, channel)?,
        (SHA2, Secret::Password(password)) => {
            let response = sha2::scramble_response(password.as_bytes(), nonce);
            (Zeroizing::new(response.to_vec()), State::FastSent { nonce: *nonce })
        }
        (CLEAR, Secret::Password(password)) => match channel {
            ClientChannel::Secure => (terminated(password), State::Sent),
            ClientChannel::Plain(_) => return Err(AuthError::Insecure(CLEAR)),
        },
        (SHA2, Secret::Sha256(hash)) => {
            let response = sha2::response_from_sha256(hash, nonce);
            (Zeroizing::new(response.to_vec()), State::FastSent { nonce: *nonce })
        }
        (SHA2 | SHA256 | CLEAR, Secret::Sha1(_)) | (_, Secret::Sha256(_)) => {
            return Err(AuthError::HashOnly(plugin));
        }
        (_, Secret::Password(password)) if password.is_empty() => (Zeroizing::default(), State::Sent),
        (_, Secret::Password(password)) => {
            (Zeroizing::new(native::scramble_response(password.as_bytes(), nonce).to_vec()), State::Sent)
        }
        (_, Secret::Sha1(hash)) => {
            (Zeroizing::new(native::response_from_sha1(hash, nonce).to_vec()), State::Sent)
        }
    })
}

/// The password itself, so that nobody else can read it, or the question for the key that this takes.
fn whole(
    plugin: &'static str,
    nonce: &Nonce,
    password: &Password,
    channel: &ClientChannel,
) -> Result<(Zeroizing<Vec<u8>>, State), AuthError> {
    // The plugins differ in the byte that asks for the key.
    let request = if plugin == SHA256 { 1 } else { sha2::KEY_REQUEST };
    Ok(match channel {
        ClientChannel::Secure => (terminated(password), State::Sent),
        ClientChannel::Plain(ServerKey::Known(key)) => {
            (Zeroizing::new(key.encrypt(nonce, password)?), State::Sent)
        }
        ClientChannel::Plain(ServerKey::Ask) => {
            (Zeroizing::new(vec![request]), State::KeyAsked { nonce: *nonce })
        }
        ClientChannel::Plain(ServerKey::Refuse) => return Err(AuthError::Insecure(plugin)),
    })
}

fn terminated(password: &Password) -> Zeroizing<Vec<u8>> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(password.as_bytes().len() + 1));
    bytes.extend_from_slice(password.as_bytes());
    bytes.push(0);
    bytes
}
