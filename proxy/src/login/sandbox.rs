//! A client whose password is expired: it may change it, and nothing else, until the backend lets it do more.
//!
//! Until then the backend does not say which account it has chosen. The caller asks as soon as it does.

use backend::connect::bootstrap;
use backend::connection::Settings;
use backend::exchange::{ExchangeError, read_packet};
use backend::pool::Lease;
use wire::reply::{ERR, OK};
use wire::{Capabilities, ErrPacket, OkPacket, ProtocolError, SqlError, Status, code, packet};

use super::Failure;
use super::talk::Talk;

const COM_QUIT: u8 = 1;
const COM_QUERY: u8 = 3;
const COM_PING: u8 = 14;

/// Tells the client that it is in, and relays what it asks until its password is changed. `error` is the backend's answer to
/// anything else.
pub(super) async fn serve(
    talk: &mut Talk<'_>,
    lease: &mut Lease,
    client: Capabilities,
    status: Status,
    error: &SqlError,
) -> Result<Settings, Failure> {
    let mut answer = Vec::new();
    OkPacket { status, ..OkPacket::default() }.write(client, &mut answer);
    talk.send(&answer).await?;
    loop {
        *talk.seq = 0;
        let command = talk.receive().await?;
        answer.clear();
        match command.first() {
            None | Some(&COM_QUIT) => return Err(left()),
            Some(&(COM_QUERY | COM_PING)) => {}
            Some(_) => {
                error.write(client, &mut answer);
                talk.send(&answer).await?;
                continue;
            }
        }
        let mut bytes = Vec::new();
        packet::write(&mut bytes, &mut 0, &command);
        lease.stream.write_all(&bytes).await.map_err(ExchangeError::Io)?;
        let connection = &mut **lease;
        let (payload, _) = read_packet(&mut connection.stream, &mut connection.input).await?;
        match payload.first() {
            Some(&ERR) => {
                ErrPacket::parse(&payload)?.to_error().write(client, &mut answer);
                talk.send(&answer).await?;
            }
            Some(&OK) => {
                let ok = OkPacket::parse(&payload, connection.capabilities)?;
                if ok.status.contains(Status::MORE_RESULTS_EXISTS) {
                    return Err(
                        ProtocolError::Unsupported("several statements with an expired password").into()
                    );
                }
                ok.write(client, &mut answer);
                let settings = match bootstrap(connection).await {
                    Ok(settings) => Some(settings),
                    Err(ExchangeError::Server(error)) if error.code == code::MUST_CHANGE_PASSWORD => None,
                    Err(error) => return Err(error.into()),
                };
                talk.send(&answer).await?;
                if let Some(settings) = settings {
                    return Ok(settings);
                }
            }
            other => return Err(ProtocolError::Unexpected(other.copied().unwrap_or_default()).into()),
        }
    }
}

fn left() -> Failure {
    ExchangeError::Io(std::io::ErrorKind::UnexpectedEof.into()).into()
}
