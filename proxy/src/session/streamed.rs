//! Commands of more than a megabyte: streamed on as they come, never held as a whole.

use std::io;

use backend::buffer::{Buffer, LARGE};
use wire::execute::set_statement;
use wire::follow::Expect;
use wire::packet::{HEADER, Header, MAX_PAYLOAD};
use wire::{ProtocolError, SqlError};

use super::prepared::{Addressed, WRONG_ARGUMENTS, unknown, unseen};
use super::{End, LOOKED_AT, Session};
use crate::stats::{Activity, Counter};

const QUERY: u8 = 0x03;
const PREPARE: u8 = 0x16;
const EXECUTE: u8 = 0x17;
const LONG_DATA: u8 = 0x18;
const BULK_EXECUTE: u8 = 0xFA;

/// Where a long command goes.
#[derive(Debug)]
enum Way {
    /// To the backend.
    On(Left),
    /// Nowhere: it is read to its end, and then answered with an error, if it is answered.
    Away(Option<SqlError>),
}

/// What is left of a command.
#[derive(Debug, Clone, Copy)]
struct Left {
    /// Bytes of the packet that is passing.
    rest: usize,
    /// Packets follow it.
    more: bool,
}

/// All of it.
const WHOLE: Left = Left { rest: 0, more: true };

impl Session {
    /// The command whose first header is in the client's buffer.
    pub(super) async fn streamed_command(&mut self, header: Header) -> Result<(), End> {
        self.read_client(HEADER + 1).await?;
        let first = self.client.input.filled().get(HEADER).copied().unwrap_or_default();
        let Some(expect) = expect(first) else {
            return Err(End::ClientProtocol(ProtocolError::TooLong { max: LOOKED_AT }));
        };
        self.member.begin(Activity::Query);
        self.coming = None;
        self.executing = None;
        let left = match self.way(header, first).await? {
            Way::On(left) => left,
            Way::Away(error) => {
                let seq = self.stream_on(WHOLE, false).await?;
                return match error {
                    Some(error) => self.send_error(seq.wrapping_add(1), &error).await,
                    None => Ok(()),
                };
            }
        };
        // What is inside was not looked at: any DDL, any change of what the server tracks late.
        let _doubt = (first == QUERY).then(|| self.shared.home().catalog.ddl_began());
        let started = std::time::Instant::now();
        if let Err(end) = self.stream_on(left, true).await {
            // A server that refuses a large packet answers and closes at once: its reason is worth more than ours.
            if let End::BackendLost(_) = end
                && expect != Expect::None
            {
                let _ = self.relay(expect).await;
            }
            return Err(end);
        }
        if expect == Expect::None {
            return Ok(());
        }
        if first == QUERY {
            self.view.shadow();
        }
        let answer = self.relay(expect).await?;
        self.note(expect, &answer);
        if expect == Expect::Prepare {
            self.arrived(None, &answer);
        } else {
            self.executed(&answer);
        }
        let totals = &self.shared.stats.totals;
        totals.query(u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX), answer.error);
        totals.add(Counter::BytesOut, answer.bytes);
        Ok(())
    }

    /// Gets the connection for a long command, and its beginning ready.
    async fn way(&mut self, header: Header, first: u8) -> Result<Way, End> {
        let names_statement = matches!(first, EXECUTE | BULK_EXECUTE | LONG_DATA);
        if names_statement && self.server.sharing.is_some() {
            self.read_client(LOOKED_AT).await?;
            let input = self.client.input.filled();
            let id = input.get(HEADER + 1..).and_then(|bytes| bytes.first_chunk::<4>());
            let id = u32::from_le_bytes(id.copied().unwrap_or_default());
            return if first == LONG_DATA {
                self.long_data_way(id).await
            } else {
                self.execution_way(header, id).await
            };
        }
        // Nothing is known of it, so it keeps its connection.
        if let Some(error) = self.attach(unseen()).await? {
            return Ok(Way::Away((first != LONG_DATA).then_some(error)));
        }
        if first == PREPARE {
            self.coming = Some(self.announce_statement(None).await?);
        }
        Ok(Way::On(WHOLE))
    }

    async fn long_data_way(&mut self, id: u32) -> Result<Way, End> {
        Ok(match self.long_data_at(id).await? {
            Some(server) => {
                let payload = self.client.input.filled_mut().get_mut(HEADER..).unwrap_or_default();
                set_statement(payload, server);
                Way::On(WHOLE)
            }
            None => Way::Away(None),
        })
    }

    async fn execution_way(&mut self, header: Header, id: u32) -> Result<Way, End> {
        let Some((id, traces)) = self.execution(id) else {
            return Ok(Way::Away(Some(unknown(id, self.view.flavor.product))));
        };
        let mut input = std::mem::take(&mut self.client.input);
        let ready = self.ready(id, traces, input.filled().get(HEADER..).unwrap_or_default()).await;
        if !matches!(ready, Ok(None)) {
            self.client.input = input;
            return Ok(Way::Away(ready?));
        }
        let way = self.begin_execution(header, id, &mut input).await;
        self.client.input = input;
        self.executing = Some(id);
        way
    }

    async fn begin_execution(&mut self, header: Header, id: u32, input: &mut Buffer) -> Result<Way, End> {
        let payload = input.filled_mut().get_mut(HEADER..).unwrap_or_default();
        let Addressed { server, types } = match self.address(id, payload) {
            Ok(addressed) => addressed,
            Err(error) => return Ok(Way::Away(Some(error))),
        };
        set_statement(payload, server);
        let Some((gap, types)) = types else { return Ok(Way::On(WHOLE)) };
        // Types that the client left out make the packet longer; where it is cut, everything would have to move.
        let len = header.len + types.len();
        if len >= MAX_PAYLOAD {
            self.forget_types(id);
            let text = "a parameter of 16 MB needs the types of all parameters, which were left out; prepare the statement again";
            return Ok(Way::Away(Some(SqlError::new(WRONG_ARGUMENTS, text))));
        }
        let mut begin = Vec::with_capacity(payload.len() + types.len() + HEADER);
        begin.extend_from_slice(&Header { len, seq: header.seq }.bytes());
        gap.fill(payload, &types, &mut begin);
        self.send_server(&begin).await?;
        let sent = HEADER + payload.len();
        input.consume(sent);
        Ok(Way::On(Left { rest: HEADER + header.len - sent, more: false }))
    }

    /// Sends what is left of the command on as it comes, or only reads it. Returns the last packet's sequence id.
    async fn stream_on(&mut self, left: Left, on: bool) -> Result<u8, End> {
        let Left { mut rest, mut more } = left;
        let mut seq = 0;
        while more || rest > 0 {
            if rest == 0 {
                self.read_client(HEADER).await?;
                let Some(header) = Header::parse(self.client.input.filled()) else { continue };
                rest = HEADER + header.len;
                more = header.len == MAX_PAYLOAD;
                seq = header.seq;
            }
            if self.client.input.is_empty() {
                let read = self.client.stream.read(&mut self.client.input, LARGE.min(rest)).await;
                match read {
                    Ok(0) => return Err(End::ClientLost(io::ErrorKind::UnexpectedEof.into())),
                    Ok(_) => {}
                    Err(error) => return Err(End::of_client(error)),
                }
            }
            let bytes = self.client.input.filled();
            let bytes = bytes.get(..rest.min(bytes.len())).unwrap_or_default();
            let sent = bytes.len();
            if on {
                self.server.link()?.stream.write_all(bytes).await.map_err(End::BackendLost)?;
            }
            self.client.input.consume(sent);
            rest -= sent;
        }
        Ok(seq)
    }
}

/// The answer that a command's first byte promises; `None` for commands that have no business being this long.
const fn expect(first: u8) -> Option<Expect> {
    match first {
        QUERY => Some(Expect::Query),
        PREPARE => Some(Expect::Prepare),
        EXECUTE | BULK_EXECUTE => Some(Expect::Execute),
        LONG_DATA => Some(Expect::None),
        _ => None,
    }
}
