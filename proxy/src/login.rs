//! From an accepted connection to a session: greeting, TLS, proof of who the client is, and the same user's backend login.

mod admit;
mod enter;
mod failure;
mod key;
mod known;
mod prove;
mod sandbox;
mod seats;
mod talk;
mod whom;

use std::sync::Arc;

use backend::buffer::Buffer;
use backend::connect::{BASE, MIRRORED, Opened};
use backend::connection::Settings;
use backend::pool::Lease;
use backend::stream::{Detached, Stream};
use tokio_rustls::{TlsAcceptor, TlsStream};
use wire::auth::{self, AuthError, NATIVE, Nonce, SHA2};
use wire::packet::{self, Header};
use wire::{
    Capabilities, ChangeUser, Command, Greeting, HandshakeResponse, OkPacket, ProtocolError, SqlError,
    SslRequest, Status,
};

use admit::{Admitted, Candidate, admit};
use enter::Told;
pub(crate) use failure::Failure;
pub(crate) use key::RsaKey;
pub(crate) use known::Known;
pub(crate) use seats::{Seat, Seats};
use talk::Talk;

use crate::session::{Client, End, Session, Sharing, Start};
use crate::shared::{Member, ServerTls, Shared};
use crate::stats::Counter;

/// What the proxy itself understands, of what a server offers.
const OFFERED: Capabilities = MIRRORED
    .union(BASE)
    .union(Capabilities::CONNECT_WITH_DB)
    .union(Capabilities::CONNECT_ATTRS)
    .union(Capabilities::IGNORE_SIGPIPE);

/// What the servers read of the collation id in a login.
const ONE_BYTE: u16 = 0xFF;

/// Serves one accepted connection from its greeting to its end.
pub(crate) async fn serve(shared: Arc<Shared>, socket: Detached) {
    let totals = &shared.stats.totals;
    totals.add(Counter::Connections, 1);
    if let Ok(socket) = socket.attach() {
        let peer = socket.peer().map_or_else(|| "unix".to_owned(), |peer| peer.to_string());
        let member = shared.join(peer);
        let timeouts = shared.live().timeouts;
        // Waiting for the backend is not the client's fault.
        let limit = timeouts.login + timeouts.wait;
        let door = Door {
            stream: Stream::Plain(socket),
            input: Buffer::new(),
            seq: 0,
            spoken: Capabilities::empty(),
        };
        // Boxed, so that it is gone when the client is in: a session lives for hours in the memory that its future needs.
        match tokio::time::timeout(limit, Box::pin(door.enter(&shared, &member))).await {
            Ok((Some(door), Ok(entered))) => {
                let Entered { identity, lease, sharing, status, settings } = entered;
                let client = door.open(identity);
                let mut session = Session::new(Start {
                    shared: shared.clone(),
                    member,
                    client,
                    server: lease,
                    sharing,
                    status,
                    settings,
                });
                let end = session.run().await;
                Box::pin(session.finish(end)).await;
            }
            Ok((door, Err(failure))) => {
                totals.add(Counter::Refused, 1);
                failure.log(member.id());
                if let Some(door) = door {
                    door.refuse(&failure).await;
                }
            }
            Ok((None, Ok(_))) => {}
            Err(_) => {
                totals.add(Counter::Refused, 1);
                tracing::info!(session = member.id(), ?limit, "a login took too long");
            }
        }
    }
    totals.add(Counter::Disconnections, 1);
}

/// A connection on its way in.
struct Door {
    stream: Stream,
    input: Buffer,
    seq: u8,
    /// What the client speaks, once it has said so.
    spoken: Capabilities,
}

/// What the greeting was, and what the client said to it.
struct Greeted {
    nonce: Nonce,
    offered: Capabilities,
    answer: Vec<u8>,
}

/// Who a client is, and how it speaks.
#[derive(Debug)]
pub(crate) struct Identity {
    /// What was agreed on.
    pub(crate) capabilities: Capabilities,
    /// The user's name.
    pub(crate) user: String,
    /// Its seat among the user's sessions.
    seat: Seat,
    /// The challenge of its greeting.
    nonce: Nonce,
    /// Its collation id.
    charset: u16,
    /// The largest packet that it takes.
    max_packet: u32,
}

/// A client that is in.
struct Entered {
    identity: Identity,
    lease: Lease,
    sharing: Option<Sharing>,
    status: Status,
    settings: Settings,
}

impl Door {
    /// The whole way in. Without a door there is nobody left to tell.
    async fn enter(mut self, shared: &Shared, member: &Member) -> (Option<Self>, Result<Entered, Failure>) {
        let greeted = self.greet(shared, member).await;
        let Greeted { nonce, offered, mut answer } = match greeted {
            Ok(greeted) => greeted,
            Err(failure) => return (Some(self), Err(failure)),
        };
        let wants_tls = SslRequest::parse(&answer).is_ok_and(|request| request.is_some());
        if wants_tls && let Some(tls) = &shared.tls {
            self = match self.encipher(tls, member).await {
                Ok(door) => door,
                Err(failure) => return (None, Err(failure)),
            };
            answer = match self.receive().await {
                Ok(answer) => answer,
                Err(failure) => return (Some(self), Err(failure)),
            };
        }
        let result = self.log_in(shared, member, nonce, offered, &answer).await;
        (Some(self), result)
    }

    /// Greets, and waits for what the client says to that.
    async fn greet(&mut self, shared: &Shared, member: &Member) -> Result<Greeted, Failure> {
        if shared.is_draining() {
            return Err(Failure::ShuttingDown);
        }
        let limit = shared.live().connections;
        if shared.stats.sessions.len() > limit {
            return Err(Failure::TooManyConnections(limit));
        }
        let info =
            shared.home().info.load_full().ok_or_else(|| Failure::NotYet(shared.home().name.clone()))?;
        let nonce = auth::nonce()?;
        let mut offered = info.capabilities & OFFERED;
        offered.set(Capabilities::SSL, shared.tls.is_some());
        // Between the client and the proxy alone, so whatever the server offers.
        offered.insert(Capabilities::COMPRESS);
        let greeting = Greeting {
            server_version: shared.live().server_version.clone().unwrap_or_else(|| info.version.clone()),
            thread_id: member.id(),
            scramble: nonce,
            capabilities: offered,
            charset: info.charset,
            status: Status::AUTOCOMMIT,
            auth_plugin: if info.auth_plugin == SHA2 { SHA2 } else { NATIVE }.to_owned(),
        };
        let mut payload = Vec::new();
        greeting.write(&mut payload);
        self.send(&payload).await?;
        Ok(Greeted { nonce, offered, answer: self.talk().receive_exactly().await? })
    }

    /// Takes the handshake response, and ends with OK.
    async fn log_in(
        &mut self,
        shared: &Shared,
        member: &Member,
        nonce: Nonce,
        offered: Capabilities,
        answer: &[u8],
    ) -> Result<Entered, Failure> {
        let response = HandshakeResponse::parse(answer)?;
        let capabilities = response.capabilities & offered;
        self.spoken = capabilities;
        if !self.talk().is_secure() && shared.tls.as_ref().is_some_and(|tls| tls.required) {
            return Err(Failure::TlsRequired);
        }
        let candidate = Candidate {
            user: response.user,
            plugin: response.plugin,
            response: response.auth_response,
            schema: response.schema,
            charset: response.charset & ONE_BYTE,
            max_packet: response.max_packet,
            attributes: response.raw_attributes,
            capabilities,
        };
        let Admitted { user, lease, opened, told, sharing, seat } =
            admit(&mut self.talk(), shared, &nonce, &candidate).await?;
        let Opened { status, settings, .. } = opened;
        let identity = Identity {
            capabilities,
            user,
            seat,
            nonce,
            charset: response.charset & ONE_BYTE,
            max_packet: response.max_packet,
        };
        announce(shared, member, &identity.user, lease.thread_id, settings.schema.as_deref());
        if told == Told::Nothing {
            let mut ok = Vec::new();
            OkPacket { status, ..OkPacket::default() }.write(capabilities, &mut ok);
            self.send(&ok).await?;
        }
        Ok(Entered { identity, lease, sharing, status, settings })
    }

    async fn encipher(self, tls: &ServerTls, member: &Member) -> Result<Self, Failure> {
        let Self { stream, input, seq, spoken } = self;
        // Bytes that came in the clear must never be taken for bytes that came under TLS.
        let Stream::Plain(socket) = stream else {
            return Err(ProtocolError::Malformed("request for TLS").into());
        };
        if !input.is_empty() {
            return Err(
                ProtocolError::Malformed("request for TLS, which must be followed by its handshake").into()
            );
        }
        let accepted = TlsAcceptor::from(tls.config.clone()).accept(socket).await.map_err(Failure::Tls)?;
        member.set_tls(match accepted.get_ref().1.protocol_version() {
            Some(rustls::ProtocolVersion::TLSv1_3) => "TLSv1.3",
            _ => "TLSv1.2",
        });
        Ok(Self { stream: Stream::Tls(Box::new(TlsStream::Server(accepted))), input, seq, spoken })
    }

    fn talk(&mut self) -> Talk<'_> {
        Talk { stream: &mut self.stream, input: &mut self.input, seq: &mut self.seq }
    }

    async fn receive(&mut self) -> Result<Vec<u8>, Failure> {
        self.talk().receive().await
    }

    async fn send(&mut self, payload: &[u8]) -> Result<(), Failure> {
        self.talk().send(payload).await
    }

    /// Lets in whoever this turned out to be. What follows its OK packet is compressed, if that was agreed on.
    fn open(self, identity: Identity) -> Client {
        let Self { stream, input, .. } = self;
        if identity.capabilities.contains(Capabilities::COMPRESS) {
            Client { stream: stream.compressed(input), input: Buffer::new(), identity }
        } else {
            Client { stream, input, identity }
        }
    }

    /// Tells the client why it may not come in, and closes.
    async fn refuse(mut self, failure: &Failure) {
        if let Some(error) = failure.answer() {
            let mut payload = Vec::new();
            error.write(self.spoken, &mut payload);
            let _ = self.send(&payload).await;
        }
        self.stream.close().await;
    }
}

/// What COM_CHANGE_USER led to.
pub(crate) struct Changed {
    pub(crate) lease: Lease,
    pub(crate) sharing: Option<Sharing>,
    pub(crate) status: Status,
    pub(crate) settings: Settings,
    /// The OK packet that is still to be sent; empty where it was.
    pub(crate) ok: Vec<u8>,
}

/// Why COM_CHANGE_USER led to nothing.
pub(crate) struct Refused {
    /// The sequence id of the packet that tells the client.
    pub(crate) seq: u8,
    pub(crate) error: SqlError,
}

/// Lets a client log in anew inside its session, on a new backend connection. A client that is refused has not been told.
///
/// # Errors
/// When the client is lost, or breaks the protocol.
pub(crate) async fn change_user(
    shared: &Shared,
    client: &mut Client,
    header: Header,
    payload: &[u8],
) -> Result<Result<Changed, Refused>, End> {
    let Command::ChangeUser(change) =
        Command::parse(payload, client.identity.capabilities).map_err(End::ClientProtocol)?
    else {
        return Err(End::ClientProtocol(ProtocolError::Malformed("COM_CHANGE_USER")));
    };
    let ChangeUser { user, auth_response, schema, charset, plugin, raw_attributes } = change;
    let candidate = Candidate {
        user,
        // An empty answer is libmysqlclient's way of asking for a fresh challenge.
        plugin: if auth_response.is_empty() { Some(b"") } else { plugin },
        response: auth_response,
        schema: Some(schema).filter(|schema| !schema.is_empty()),
        charset: charset.unwrap_or(client.identity.charset),
        max_packet: client.identity.max_packet,
        attributes: raw_attributes,
        capabilities: client.identity.capabilities,
    };
    let mut seq = header.seq.wrapping_add(1);
    let mut talk = Talk { stream: &mut client.stream, input: &mut client.input, seq: &mut seq };
    match admit(&mut talk, shared, &client.identity.nonce, &candidate).await {
        Ok(Admitted { user, lease, opened, told, sharing, seat }) => {
            let mut ok = Vec::new();
            if told == Told::Nothing {
                let mut payload = Vec::new();
                OkPacket { status: opened.status, ..OkPacket::default() }
                    .write(candidate.capabilities, &mut payload);
                packet::write(&mut ok, &mut seq, &payload);
            }
            client.identity.charset = candidate.charset;
            client.identity.user = user;
            client.identity.seat = seat;
            Ok(Ok(Changed { lease, sharing, status: opened.status, settings: opened.settings, ok }))
        }
        Err(failure) => {
            failure.log(0);
            let error = failure.answer().ok_or(End::Quit)?;
            if matches!(failure, Failure::Protocol(_) | Failure::Auth(AuthError::Protocol(_))) {
                // Where its next command begins is not known.
                let mut payload = Vec::new();
                error.write(candidate.capabilities, &mut payload);
                let _ = talk.send(&payload).await;
                return Err(End::Quit);
            }
            Ok(Err(Refused { seq, error }))
        }
    }
}

/// Says in the list of sessions who this one is now.
pub(crate) fn announce(shared: &Shared, member: &Member, user: &str, thread: u32, schema: Option<&str>) {
    member.set_user(user);
    member.set_schema(schema.unwrap_or_default());
    member.set_backend(shared.home().name(), thread);
}

#[cfg(test)]
mod tests;
