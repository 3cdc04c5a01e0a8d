//! Takes packets out of frames, a piece at a time: neither a frame nor what it inflates to is ever held as a whole.

use std::cell::RefCell;

use flate2::{Decompress, FlushDecompress, Status};

use super::{Frame, HEADER};
use crate::ProtocolError;

/// Inflaters that a thread keeps for the next frame.
const KEPT: usize = 4;

thread_local! {
    static SPARE: RefCell<Vec<Decompress>> = const { RefCell::new(Vec::new()) };
}

/// Where a stream of frames has been read to.
#[derive(Debug, Default)]
pub struct Decoder(State);

#[derive(Debug, Default)]
enum State {
    /// Between two frames.
    #[default]
    Boundary,
    /// So many bytes of a stored frame are still to come.
    Stored(usize),
    /// Inside a deflated frame: `left` bytes of it are still to come, `due` bytes still come out of it.
    Deflated { left: usize, due: usize, inflate: Decompress },
}

/// What one step did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes taken from the frames.
    pub read: usize,
    /// Bytes of packets written.
    pub written: usize,
}

impl Decoder {
    /// Takes bytes of frames from `input` and writes the packets' bytes to `output`, as far as both go, and pauses behind
    /// the content of each frame. Where nothing is written, more bytes must be in hand. `seq` is the sequence id that is
    /// due; afterwards it is the one that is due next, for whichever side goes on. A frame may always start anew at 0.
    ///
    /// # Errors
    /// `Sequence`; `Malformed` for a frame that does not inflate to exactly the length that its header says.
    pub fn decode(
        &mut self,
        seq: &mut u8,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<Progress, ProtocolError> {
        let mut done = Progress::default();
        loop {
            let rest = input.get(done.read..).unwrap_or_default();
            let room = output.get_mut(done.written..).unwrap_or_default();
            match &mut self.0 {
                State::Boundary => {
                    if done.written > 0 {
                        return Ok(done);
                    }
                    let Some(frame) = Frame::parse(rest) else { return Ok(done) };
                    done.read += HEADER;
                    self.0 = begin(frame, seq)?;
                }
                State::Stored(left) => {
                    let n = rest.len().min(room.len()).min(*left);
                    if let (Some(from), Some(to)) = (rest.get(..n), room.get_mut(..n)) {
                        to.copy_from_slice(from);
                    }
                    done.read += n;
                    done.written += n;
                    *left -= n;
                    if *left > 0 {
                        return Ok(done);
                    }
                    self.0 = State::Boundary;
                }
                State::Deflated { left, due, inflate } => {
                    let from = rest.get(..*left).unwrap_or(rest);
                    // What was announced is out, and the stream's end must follow: one byte more is a lie.
                    let mut beyond = [0];
                    let to = match *due {
                        0 => &mut beyond[..],
                        due if room.len() > due => room.get_mut(..due).unwrap_or_default(),
                        _ => room,
                    };
                    if to.is_empty() {
                        return Ok(done);
                    }
                    let (read, written, status) = step(inflate, from, to)?;
                    *left -= read;
                    *due = due.checked_sub(written).ok_or(LIES)?;
                    done.read += read;
                    done.written += written;
                    match status {
                        Status::StreamEnd if *left == 0 && *due == 0 => self.end(),
                        Status::StreamEnd => return Err(LIES),
                        _ if read == 0 && written == 0 && *left == 0 => return Err(LIES),
                        _ if read == 0 && written == 0 => return Ok(done),
                        _ => {}
                    }
                }
            }
        }
    }

    /// Whether a step with these bytes in hand may get further.
    #[must_use]
    pub fn is_ready(&self, input: &[u8]) -> bool {
        match self.0 {
            State::Boundary => input.len() >= HEADER,
            State::Stored(_) => !input.is_empty(),
            State::Deflated { .. } => true,
        }
    }

    /// Whether the last frame is complete.
    #[must_use]
    pub fn at_boundary(&self) -> bool {
        matches!(self.0, State::Boundary)
    }

    /// A deflated frame is complete.
    fn end(&mut self) {
        if let State::Deflated { inflate, .. } = std::mem::take(&mut self.0) {
            SPARE.with_borrow_mut(|spare| {
                if spare.len() < KEPT {
                    spare.push(inflate);
                }
            });
        }
    }
}

const LIES: ProtocolError = ProtocolError::Malformed("compressed packet");

fn begin(frame: Frame, seq: &mut u8) -> Result<State, ProtocolError> {
    let Frame { len, seq: got, inflated } = frame;
    if got != *seq && got != 0 {
        return Err(ProtocolError::Sequence { want: *seq, got });
    }
    *seq = got.wrapping_add(1);
    if inflated == 0 {
        return Ok(if len == 0 { State::Boundary } else { State::Stored(len) });
    }
    let inflate = SPARE.with_borrow_mut(Vec::pop).map_or_else(
        || Decompress::new(true),
        |mut used| {
            used.reset(true);
            used
        },
    );
    Ok(State::Deflated { left: len, due: inflated, inflate })
}

/// How far the inflater got: bytes read, bytes written.
fn step(
    inflate: &mut Decompress,
    from: &[u8],
    to: &mut [u8],
) -> Result<(usize, usize, Status), ProtocolError> {
    let before = (inflate.total_in(), inflate.total_out());
    let status = inflate.decompress(from, to, FlushDecompress::None).map_err(|_| LIES)?;
    // Both are bounded by the lengths of the slices.
    let read = (inflate.total_in() - before.0) as usize;
    let written = (inflate.total_out() - before.1) as usize;
    Ok((read, written, status))
}
