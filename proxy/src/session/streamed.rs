//! Commands of more than a megabyte: streamed on as they come, never held as a whole.

use std::io;

use backend::buffer::LARGE;
use sql::Traces;
use wire::ProtocolError;
use wire::follow::Expect;
use wire::packet::{HEADER, Header, MAX_PAYLOAD};

use super::{End, LOOKED_AT, Session};
use crate::stats::{Activity, Counter};

impl Session {
    /// The command whose first header is in the client's buffer.
    pub(super) async fn streamed_command(&mut self) -> Result<(), End> {
        self.read_client(HEADER + 1).await?;
        let first = self.client.input.filled().get(HEADER).copied().unwrap_or_default();
        let Some(expect) = expect(first) else {
            return Err(End::ClientProtocol(ProtocolError::TooLong { max: LOOKED_AT }));
        };
        self.member.begin(Activity::Query);
        // Nothing is known of it, so it keeps its connection. A client in the middle of a long packet cannot be answered.
        if let Some(error) = self.attach(Traces::unknown()).await? {
            return Err(End::BackendLost(io::Error::other(error.message)));
        }
        // What is inside was not looked at: any DDL, any change of what the server tracks late.
        let _doubt = (first == 0x03).then(|| self.shared.home().catalog.ddl_began());
        let started = std::time::Instant::now();
        if let Err(end) = self.stream_on().await {
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
        self.view.shadow();
        let answer = self.relay(expect).await?;
        self.note(expect, &answer);
        let totals = &self.shared.stats.totals;
        totals.query(u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX), answer.error);
        totals.add(Counter::BytesOut, answer.bytes);
        Ok(())
    }

    async fn stream_on(&mut self) -> Result<(), End> {
        let (mut rest, mut more) = (0usize, true);
        while more || rest > 0 {
            if rest == 0 {
                self.read_client(HEADER).await?;
                let Some(header) = Header::parse(self.client.input.filled()) else { continue };
                rest = HEADER + header.len;
                more = header.len == MAX_PAYLOAD;
            }
            if self.client.input.is_empty() {
                let read = self.client.stream.read(&mut self.client.input, LARGE.min(rest)).await;
                match read {
                    Ok(0) => return Err(End::ClientLost(io::ErrorKind::UnexpectedEof.into())),
                    Ok(_) => {}
                    Err(error) => return Err(End::ClientLost(error)),
                }
            }
            let bytes = self.client.input.filled();
            let bytes = bytes.get(..rest.min(bytes.len())).unwrap_or_default();
            let sent = bytes.len();
            self.server.link()?.stream.write_all(bytes).await.map_err(End::BackendLost)?;
            self.client.input.consume(sent);
            rest -= sent;
        }
        Ok(())
    }
}

/// The answer that a command's first byte promises; `None` for commands that have no business being this long.
const fn expect(first: u8) -> Option<Expect> {
    match first {
        0x03 => Some(Expect::Query),
        0x16 => Some(Expect::Prepare),
        0x17 | 0xFA => Some(Expect::Execute),
        0x18 => Some(Expect::None),
        _ => None,
    }
}
