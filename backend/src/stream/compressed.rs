//! A client's byte stream under the compressed protocol: whoever reads and writes sees packets, the socket frames.

use std::cell::RefCell;
use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use wire::ProtocolError;
use wire::compress::{Decoder, Deflater, Encoder};

use crate::buffer::{Buffer, SMALL, give_back, lend};

thread_local! {
    static DEFLATER: RefCell<Deflater> = RefCell::default();
}

/// A stream that carries frames. Between commands it owns no memory but its own.
#[derive(Debug)]
pub struct Compressed<T> {
    carrier: T,
    /// Bytes of frames that are not decoded yet. Frames are decoded only where a read asks for their packets: the
    /// sequence id that is due is then that of the command under way, whatever the client sends ahead of its answer.
    frames: Buffer,
    decoder: Decoder,
    encoder: Encoder,
    /// The sequence id that is due next, from either side.
    seq: u8,
}

impl<T: AsyncRead + AsyncWrite + Unpin> Compressed<T> {
    /// `frames` is what was read from the carrier already.
    pub(super) fn new(carrier: T, frames: Buffer) -> Self {
        Self { carrier, frames, decoder: Decoder::default(), encoder: Encoder::default(), seq: 0 }
    }

    pub(super) const fn carrier(&self) -> &T {
        &self.carrier
    }

    pub(super) const fn carrier_mut(&mut self) -> &mut T {
        &mut self.carrier
    }

    /// Frames are numbered anew.
    pub(super) const fn restart(&mut self) {
        self.seq = 0;
    }

    /// Whether a read may give bytes although the carrier has none.
    pub(super) fn is_ready(&self) -> bool {
        self.decoder.is_ready(self.frames.filled())
    }

    /// See [`super::Stream::read`].
    pub(super) async fn read(&mut self, buffer: &mut Buffer, want: usize) -> io::Result<usize> {
        loop {
            if self.is_ready() {
                let frames = self.frames.filled();
                let done = self.decoder.decode(&mut self.seq, frames, buffer.room(want)).map_err(broken)?;
                self.frames.consume(done.read);
                self.frames.release();
                buffer.advance(done.written);
                if done.written > 0 {
                    return Ok(done.written);
                }
                if done.read > 0 {
                    continue;
                }
            }
            if self.fetch().await? == 0 {
                let whole = self.frames.is_empty() && self.decoder.at_boundary();
                return if whole { Ok(0) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
            }
        }
    }

    /// Reads frames ahead of their use, up to a bound, behind which this never ends.
    pub(super) async fn read_ahead(&mut self) -> io::Result<usize> {
        if self.frames.len() >= SMALL {
            return std::future::pending().await;
        }
        self.fetch().await
    }

    /// Reads from the carrier once. Cancel-safe.
    async fn fetch(&mut self) -> io::Result<usize> {
        let n = match self.carrier.read(self.frames.room(SMALL)).await {
            // A peer that closes without TLS's own farewell is a closed connection, as for the servers.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => 0,
            other => other?,
        };
        self.frames.advance(n);
        Ok(n)
    }

    /// See [`super::Stream::write_all`]. The beginning of a packet may wait here for its end.
    pub(super) async fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        let mut out = Vec::new();
        lend(&mut out);
        while !bytes.is_empty() {
            let taken = DEFLATER
                .with_borrow_mut(|deflater| self.encoder.encode(deflater, &mut self.seq, bytes, &mut out));
            bytes = bytes.get(taken..).unwrap_or_default();
            if !out.is_empty() {
                self.carrier.write_all(&out).await?;
                out.clear();
            }
        }
        give_back(&mut out);
        self.carrier.flush().await
    }
}

fn broken(error: ProtocolError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}
