//! The compressed protocol under a raw client.

use std::io;

use wire::compress::{Decoder, Deflater, Encoder};

/// Frames in both directions.
#[derive(Debug, Default)]
pub(super) struct Frames {
    decoder: Decoder,
    encoder: Encoder,
    deflater: Deflater,
    /// The sequence id that is due next.
    seq: u8,
    /// Several commands wait for their answers, each of which is numbered from 1.
    answers_ahead: bool,
    /// Frames that were read and not decoded.
    read: Vec<u8>,
}

impl Frames {
    /// A command begins.
    pub(super) fn restart(&mut self) {
        self.seq = 0;
    }

    /// An answer begins.
    pub(super) fn expect_answer(&mut self) {
        self.answers_ahead = true;
    }

    /// Packets in frames.
    pub(super) fn wrap(&mut self, mut packets: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        while !packets.is_empty() {
            let taken = self.encoder.encode(&mut self.deflater, &mut self.seq, packets, &mut out);
            packets = &packets[taken..];
        }
        out
    }

    /// Appends the packets of these frames and those before.
    pub(super) fn unwrap(&mut self, frames: &[u8], packets: &mut Vec<u8>) -> io::Result<()> {
        self.read.extend_from_slice(frames);
        let (mut at, mut room) = (0, vec![0; 1 << 16]);
        loop {
            let rest = self.read.get(at..).unwrap_or_default();
            // Unlike a server, a client takes no id but the one that is due.
            if self.answers_ahead && rest.get(3) == Some(&1) && self.decoder.at_boundary() {
                self.seq = 1;
            }
            if self.decoder.at_boundary() && rest.get(3).is_some_and(|seq| *seq != self.seq) {
                return Err(io::Error::other(format!("frame {} where {} was due", rest[3], self.seq)));
            }
            let done = self.decoder.decode(&mut self.seq, rest, &mut room).map_err(io::Error::other)?;
            if done == wire::compress::Progress::default() {
                break;
            }
            at += done.read;
            packets.extend_from_slice(&room[..done.written]);
        }
        self.read.drain(..at);
        Ok(())
    }
}
