//! The compressed protocol (`CLIENT_COMPRESS`): packets in frames, each stored or deflated with zlib.
//!
//! A frame has a header of 7 bytes: the length of what follows, a sequence id of its own, and the length of that once it is
//! inflated, 0 where it is stored. Frames know nothing of packets: one holds several, a part of one, or ends in the middle
//! of a header. The sequence ids of frames are counted apart from those of packets, by both sides together, and start anew
//! with each command; those of the packets inside are not looked at by any server.
//!
//! Source: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_compression_packet.html>.

mod decoder;
mod encoder;

pub use decoder::{Decoder, Progress};
pub use encoder::{CHUNK, Deflater, Encoder, LONGEST};

/// Length of a frame's header.
pub const HEADER: usize = 7;

/// The longest content of a frame, deflated or not, in bytes.
const MOST: usize = 0xFF_FFFF;

/// The 7 bytes before a frame's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frame {
    /// Length of the content, 0 to [`MOST`].
    len: usize,
    seq: u8,
    /// Its length once it is inflated, 0 to [`MOST`]; 0 where it is stored.
    inflated: usize,
}

impl Frame {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let [a, b, c, seq, d, e, f] = bytes.first_chunk::<HEADER>()?.map(usize::from);
        let number = |low: usize, middle: usize, high: usize| low | middle << 8 | high << 16;
        Some(Self { len: number(a, b, c), seq: (seq & 0xFF) as u8, inflated: number(d, e, f) })
    }

    fn bytes(self) -> [u8; HEADER] {
        let [a, b, c, ..] = self.len.to_le_bytes();
        let [d, e, f, ..] = self.inflated.to_le_bytes();
        [a, b, c, self.seq, d, e, f]
    }
}

#[cfg(test)]
mod tests;
