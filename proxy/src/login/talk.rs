//! Whole packets to and from a client during its login, where they are small and in order.

use backend::buffer::Buffer;
use backend::exchange::{ExchangeError, read_packet, read_packet_exactly};
use backend::stream::{Socket, Stream};
use wire::{ProtocolError, packet};

use super::Failure;

/// An exchange with a client.
pub(super) struct Talk<'a> {
    pub(super) stream: &'a mut Stream,
    pub(super) input: &'a mut Buffer,
    /// The sequence id of the next packet, either way.
    pub(super) seq: &'a mut u8,
}

impl Talk<'_> {
    /// The payload of the client's next packet.
    pub(super) async fn receive(&mut self) -> Result<Vec<u8>, Failure> {
        let (payload, seq) = read_packet(self.stream, self.input).await?;
        self.took(payload, seq)
    }

    fn took(&mut self, payload: Vec<u8>, seq: u8) -> Result<Vec<u8>, Failure> {
        if seq != *self.seq && !self.stream.is_compressed() {
            return Err(ProtocolError::Sequence { want: *self.seq, got: seq }.into());
        }
        *self.seq = seq.wrapping_add(1);
        Ok(payload)
    }

    /// The same, and not a byte more is read: a TLS handshake may follow at once.
    pub(super) async fn receive_exactly(&mut self) -> Result<Vec<u8>, Failure> {
        let (payload, seq) = read_packet_exactly(self.stream).await?;
        self.took(payload, seq)
    }

    pub(super) async fn send(&mut self, payload: &[u8]) -> Result<(), Failure> {
        let mut bytes = Vec::new();
        packet::write(&mut bytes, self.seq, payload);
        Ok(self.stream.write_all(&bytes).await.map_err(ExchangeError::Io)?)
    }

    /// Whether nobody can read along.
    pub(super) fn is_secure(&self) -> bool {
        self.stream.is_tls() || matches!(self.stream.socket(), Socket::Unix(_))
    }
}
