//! Puts packets into frames.
//!
//! Servers cut frames anywhere. Here a packet is never cut, unless it is too long for a frame: some clients (Connector/Python
//! 9.7 without its C extension) lose their way in a packet that is spread over more than two frames or cut in its header.

use flate2::{Compress, Compression, FlushCompress, Status};

use super::{Frame, HEADER, MOST};
use crate::packet;

/// Packets are put together into frames up to this length, in bytes. Servers write 16 KB; more than zlib's window of 32 KB
/// gains little.
pub const CHUNK: usize = 64 << 10;

/// The longest packet, in bytes with its header, that is held until it is complete, and deflated: what is longer is stored, as
/// its frame's length must be known when its first byte goes out. It is also what is deflated in one go, while nobody else
/// on the core runs: some milliseconds.
pub const LONGEST: usize = 1 << 20;

/// What is shorter than this is stored, as by the servers.
const WORTH_IT: usize = 50;

/// Deflates whole frames. It holds nothing between two of them, so one serves all connections of a core.
#[derive(Debug)]
pub struct Deflater(Compress);

impl Default for Deflater {
    fn default() -> Self {
        // The fastest level: a proxy's core has other sessions to serve.
        Self(Compress::new(Compression::fast(), true))
    }
}

/// One side's stream of packets on its way into frames. Between packets it owns no memory.
#[derive(Debug, Default)]
pub struct Encoder {
    /// The beginning of a packet that has not come as a whole.
    held: Vec<u8>,
    /// Bytes that the stored frame under way still needs.
    stored: usize,
    /// Bytes behind it that belong to the same packet.
    rest: usize,
}

impl Encoder {
    /// Takes bytes from the front of `packets`, which must not be empty, and appends what is due to `out`: up to a frame.
    /// Returns how many bytes were taken; 0 only where something was appended. `seq` is the sequence id that is due, and
    /// afterwards the one that is due next.
    pub fn encode(
        &mut self,
        deflater: &mut Deflater,
        seq: &mut u8,
        packets: &[u8],
        out: &mut Vec<u8>,
    ) -> usize {
        if self.stored == 0 && self.rest > 0 {
            let rest = self.rest;
            self.store(rest, seq, out);
        }
        if self.stored > 0 {
            let bytes = packets.get(..self.stored.min(CHUNK)).unwrap_or(packets);
            out.extend_from_slice(bytes);
            self.stored -= bytes.len();
            return bytes.len();
        }
        if self.held.is_empty() {
            let whole = whole(packets);
            if let Some(bytes) = packets.get(..whole).filter(|bytes| !bytes.is_empty()) {
                deflater.frame(bytes, seq, out);
                return whole;
            }
        }
        let have = self.held.len();
        let due = match packet::Header::parse(if have == 0 { packets } else { &self.held }) {
            Some(header) => packet::HEADER + header.len,
            None => packet::HEADER,
        };
        if due > LONGEST {
            self.store(due, seq, out);
            out.append(&mut self.held);
            self.held = Vec::new();
            self.stored -= have;
            return 0;
        }
        let bytes = packets.get(..due - have).unwrap_or(packets);
        self.held.extend_from_slice(bytes);
        // What completes a header may show that more is due.
        if whole(&self.held) > 0 {
            deflater.frame(&self.held, seq, out);
            self.held = Vec::new();
        }
        bytes.len()
    }

    /// Opens a stored frame for the `due` bytes of a packet, as far as it holds them.
    fn store(&mut self, due: usize, seq: &mut u8, out: &mut Vec<u8>) {
        self.stored = due.min(MOST);
        self.rest = due - self.stored;
        out.extend_from_slice(&Frame { len: self.stored, seq: *seq, inflated: 0 }.bytes());
        *seq = seq.wrapping_add(1);
    }
}

/// Length of the whole packets at the front of `bytes` that make up one frame.
fn whole(bytes: &[u8]) -> usize {
    let mut end = 0usize;
    while let Some(header) = bytes.get(end..).and_then(packet::Header::parse) {
        let next = end + packet::HEADER + header.len;
        if next > bytes.len() || next > if end == 0 { LONGEST } else { CHUNK } {
            break;
        }
        end = next;
    }
    end
}

impl Deflater {
    /// Appends `content`, of [`MOST`] bytes at most, as one frame: deflated, if that makes it shorter.
    fn frame(&mut self, content: &[u8], seq: &mut u8, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&[0; HEADER]);
        let inflated = if self.deflate(content, out) { content.len() } else { 0 };
        if inflated == 0 {
            out.truncate(start + HEADER);
            out.extend_from_slice(content);
        }
        let len = out.len().saturating_sub(start + HEADER);
        if let Some(header) = out.get_mut(start..start + HEADER) {
            header.copy_from_slice(&Frame { len, seq: *seq, inflated }.bytes());
        }
        *seq = seq.wrapping_add(1);
    }

    /// Appends `content` deflated, if that makes it shorter; otherwise something that must be taken off again.
    fn deflate(&mut self, content: &[u8], out: &mut Vec<u8>) -> bool {
        if content.len() < WORTH_IT {
            return false;
        }
        let start = out.len();
        out.reserve(content.len());
        self.0.reset();
        let status = self.0.compress_vec(content, out, FlushCompress::Finish);
        matches!(status, Ok(Status::StreamEnd)) && out.len() - start < content.len()
    }
}
