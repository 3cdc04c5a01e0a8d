//! Physical packets: a payload of any length in frames of at most 16 MB - 1, and back.
//!
//! `mysql_common` has a framing of its own, a `tokio`-style codec that copies every packet into a buffer of its own and
//! gives it out whole. A relay needs the opposite: to see where a packet ends, what its first byte is, and to send the
//! bytes on from where they were read, also when only a part of the packet has arrived. So frames are read in place here,
//! and [`crate::follow`] moves on from header to header; `mysql_common` is what the tests compare against.

use crate::ProtocolError;
use std::borrow::Cow;
use std::ops::Deref;

/// The largest payload of one physical packet; a packet of this length is continued by the next one.
pub const MAX_PAYLOAD: usize = 0xFF_FFFF;

/// Length of a packet's header.
pub const HEADER: usize = 4;

/// The 4 bytes before a payload: its length (3 bytes, little endian) and its sequence id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Length of the payload, 0 to [`MAX_PAYLOAD`].
    pub len: usize,
    /// Sequence id; wraps at 256.
    pub seq: u8,
}

impl Header {
    /// The header at the front of `buf`, or `None` while fewer than [`HEADER`] bytes are there.
    #[must_use]
    pub fn parse(buf: &[u8]) -> Option<Self> {
        let [a, b, c, seq] = *buf.first_chunk::<HEADER>()?;
        Some(Self { len: usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16, seq })
    }

    /// The header as bytes. A length over [`MAX_PAYLOAD`] is a mistake of the caller and is cut.
    #[must_use]
    pub fn bytes(self) -> [u8; HEADER] {
        debug_assert!(self.len <= MAX_PAYLOAD);
        let [a, b, c, ..] = self.len.to_le_bytes();
        [a, b, c, self.seq]
    }
}

/// Appends `payload` in physical packets: split at [`MAX_PAYLOAD`], and closed by an empty packet where its length is a
/// multiple of that. `seq` is the id of the first one; afterwards it is the id that is due next.
pub fn write(out: &mut Vec<u8>, seq: &mut u8, payload: &[u8]) {
    out.reserve(payload.len() + HEADER * (payload.len() / MAX_PAYLOAD + 1));
    let mut rest = payload;
    loop {
        let (head, tail) = rest.split_at(rest.len().min(MAX_PAYLOAD));
        out.extend_from_slice(&Header { len: head.len(), seq: *seq }.bytes());
        out.extend_from_slice(head);
        *seq = seq.wrapping_add(1);
        rest = tail;
        if head.len() < MAX_PAYLOAD {
            return;
        }
    }
}

/// Appends the payload that `fill` appends, framed as by [`write`], without a buffer in between.
pub fn build(out: &mut Vec<u8>, seq: &mut u8, fill: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; HEADER]);
    fill(out);
    let len = out.len().saturating_sub(start + HEADER);
    if len < MAX_PAYLOAD {
        if let Some(header) = out.get_mut(start..start + HEADER) {
            header.copy_from_slice(&Header { len, seq: *seq }.bytes());
        }
        *seq = seq.wrapping_add(1);
    } else {
        let payload = out.split_off(start + HEADER);
        out.truncate(start);
        write(out, seq, &payload);
    }
}

/// One logical payload, borrowed when it came in one physical packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload<'a> {
    data: Cow<'a, [u8]>,
    seq: u8,
    next_seq: u8,
}

impl<'a> Payload<'a> {
    /// Sequence id of its first physical packet.
    #[must_use]
    pub fn seq(&self) -> u8 {
        self.seq
    }

    /// Sequence id after its last physical packet: that of the peer's answer.
    #[must_use]
    pub fn next_seq(&self) -> u8 {
        self.next_seq
    }

    /// The bytes, copied only if they are borrowed.
    #[must_use]
    pub fn into_data(self) -> Cow<'a, [u8]> {
        self.data
    }
}

impl Deref for Payload<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.data
    }
}

/// The logical payload at the front of `buf` and how many bytes of `buf` its physical packets take, or `None` while they
/// are not all there. A payload of more than `max` bytes is refused as soon as a header announces it.
///
/// # Errors
/// `TooLong`, and `Sequence` where a continuation does not carry the next id.
pub fn read(buf: &[u8], max: usize) -> Result<Option<(Payload<'_>, usize)>, ProtocolError> {
    let Some(extent) = measure(buf, max)? else { return Ok(None) };
    let Extent { end, seq, packets, payload } = extent;
    if buf.len() < end {
        return Ok(None);
    }
    let next_seq = seq.wrapping_add((packets & 0xFF) as u8);
    let data = if packets == 1 {
        Cow::Borrowed(buf.get(HEADER..end).unwrap_or_default())
    } else {
        let mut whole = Vec::with_capacity(payload);
        let mut rest = buf.get(..end).unwrap_or_default();
        while let Some((header, tail)) = rest.split_at_checked(HEADER) {
            let len = Header::parse(header).map_or(0, |h| h.len);
            let (body, tail) = tail.split_at_checked(len).unwrap_or((tail, &[]));
            whole.extend_from_slice(body);
            rest = tail;
        }
        Cow::Owned(whole)
    };
    Ok(Some((Payload { data, seq, next_seq }, end)))
}

/// How many bytes must be in hand before [`read`] can get further: to the end of the physical packet that is incomplete
/// at the end of `buf`, or to the end of its header. At most `buf.len()` where a payload is complete.
#[must_use]
pub fn needed(buf: &[u8]) -> usize {
    let mut at = 0usize;
    loop {
        let Some(header) = buf.get(at..).and_then(Header::parse) else { return at.saturating_add(HEADER) };
        at = at.saturating_add(HEADER + header.len);
        if header.len < MAX_PAYLOAD || at > buf.len() {
            return at;
        }
    }
}

struct Extent {
    end: usize,
    seq: u8,
    packets: usize,
    payload: usize,
}

/// Walks the headers of one logical payload; `None` while one of them is missing.
fn measure(buf: &[u8], max: usize) -> Result<Option<Extent>, ProtocolError> {
    let Some(first) = Header::parse(buf) else { return Ok(None) };
    let mut extent = Extent { end: 0, seq: first.seq, packets: 0, payload: 0 };
    loop {
        let Some(header) = buf.get(extent.end..).and_then(Header::parse) else { return Ok(None) };
        let want = extent.seq.wrapping_add((extent.packets & 0xFF) as u8);
        if header.seq != want {
            return Err(ProtocolError::Sequence { want, got: header.seq });
        }
        extent.packets += 1;
        extent.payload += header.len;
        if extent.payload > max {
            return Err(ProtocolError::TooLong { max });
        }
        extent.end = extent.end.saturating_add(HEADER + header.len);
        if header.len < MAX_PAYLOAD {
            return Ok(Some(extent));
        }
    }
}

#[cfg(test)]
mod tests;
