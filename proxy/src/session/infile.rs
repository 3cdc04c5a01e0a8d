//! LOAD DATA LOCAL: the client's file, packet by packet, up to the empty one that ends it.

use wire::packet::{HEADER, Header, MAX_PAYLOAD};

use super::{End, Session};

impl Session {
    /// Relays the client's file, numbered anew from `seq` on: the client counts from EOF packets that the backend did not
    /// send, and under compression from its frames.
    pub(super) async fn relay_infile(&mut self, mut seq: u8) -> Result<(), End> {
        // Bytes of the packet under way that are still to come, and whether the next one is a part of it.
        let (mut rest, mut continued) = (0usize, false);
        loop {
            if rest == 0 {
                self.read_client(HEADER).await?;
            } else if self.client.input.is_empty() {
                self.read_client(1).await?;
            }
            let mut end = 0usize;
            let mut last = false;
            let bytes = self.client.input.filled_mut();
            while !last {
                let step = rest.min(bytes.len() - end);
                end += step;
                rest -= step;
                if rest > 0 {
                    break;
                }
                let Some(header) = bytes.get_mut(end..).and_then(|bytes| bytes.first_chunk_mut::<HEADER>())
                else {
                    break;
                };
                let Some(Header { len, .. }) = Header::parse(header) else { break };
                header[3] = seq;
                seq = seq.wrapping_add(1);
                end += HEADER;
                rest = len;
                last = len == 0 && !continued;
                continued = len == MAX_PAYLOAD;
            }
            let bytes = self.client.input.filled().get(..end).unwrap_or_default();
            self.server.link()?.stream.write_all(bytes).await.map_err(End::BackendLost)?;
            self.client.input.consume(end);
            if last {
                return Ok(());
            }
        }
    }
}
