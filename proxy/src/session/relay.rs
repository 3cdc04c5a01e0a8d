//! Relays one answer from the backend to the client: by packet headers, in chunks as large as they come.
//!
//! What needs no change is written from the buffer that it was read into. What must be rebuilt for the client's
//! capabilities goes through `out`, in order. The backend is read only after the client took what came before, so a slow
//! client slows the backend and a session holds two buffers at most.

use backend::buffer::{LARGE, SMALL};
use wire::execute::set_statement;
use wire::follow::{Expect, Follower, Kind, Step};
use wire::packet::HEADER;

use super::prepared::Coming;
use super::translate::Change;
use super::{End, Session};

/// Why a walk over an answer paused.
#[derive(Debug, Clone, Copy)]
enum Pause {
    /// So many bytes must be in hand before it goes on.
    Need(usize),
    /// The client's file is due.
    Infile,
    /// The answer is complete.
    Done,
}

/// What an answer was.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Answer {
    /// An ERR packet ended it.
    pub(super) error: bool,
    /// Bytes sent to the client.
    pub(super) bytes: u64,
    /// The statement that a PREPARE made: the server's id of it, and its number of parameters.
    pub(super) prepared: Option<(u32, u16)>,
    /// The code of that ERR packet.
    pub(super) code: Option<u16>,
    /// Warnings of the last result.
    pub(super) warnings: u16,
    /// A result carried an id of an inserted row.
    pub(super) insert_id: bool,
    /// The server reported that the session's state has changed.
    pub(super) state_changed: bool,
    /// The number of warnings that the client is told in place of the server's, which counts another session's.
    pub(super) told: Option<u16>,
    /// What `ROW_COUNT()` is now.
    pub(super) row_count: i64,
    /// The sequence id of the last EOF packet that was put in.
    eof: Option<u8>,
}

impl Session {
    /// Relays the answer to the command that was just sent.
    ///
    /// # Errors
    /// [`End`] when either side is lost, or the backend broke the protocol.
    pub(super) async fn relay(&mut self, expect: Expect) -> Result<Answer, End> {
        let mut follower = Follower::new(expect, self.server.capabilities);
        let mut answer = Answer { told: self.told.take(), ..Answer::default() };
        // EOF packets that were put into this answer so far: what comes later carries higher sequence ids.
        let mut shift = 0u8;
        for list in [&mut self.out, &mut self.scratch] {
            backend::buffer::lend(list);
        }
        loop {
            let (passed, pause) = self.walk(&mut follower, &mut answer, &mut shift)?;
            // What goes out may end inside a packet, where nothing can be put in between.
            self.next_seq = None;
            answer.bytes += self.flush(passed).await?;
            self.next_seq = follower.at_boundary().then(|| {
                let next = follower.next_seq();
                if answer.eof == Some(next) { next.wrapping_add(1) } else { next }
            });
            match pause {
                Pause::Done => break,
                Pause::Need(need) => self.fill_from_server(need).await?,
                Pause::Infile => {
                    self.relay_infile(follower.next_seq().wrapping_sub(shift)).await?;
                    follower.infile_done();
                }
            }
        }
        if let Some(status) = follower.status() {
            self.status = status;
        }
        Ok(answer)
    }

    /// Walks over what is in hand. Returns how many bytes at the front of the backend's buffer go on as they are, behind
    /// what `out` holds, and why the walk paused.
    fn walk(
        &mut self,
        follower: &mut Follower,
        answer: &mut Answer,
        shift: &mut u8,
    ) -> Result<(usize, Pause), End> {
        let mut passed = 0;
        loop {
            let link = self.server.link()?;
            let rest = link.input.filled_mut().get_mut(passed..).unwrap_or_default();
            match follower.step_mut(rest, *shift) {
                Step::Pass(n) => passed += n,
                Step::Need(n) => return Ok((passed, Pause::Need(n))),
                Step::Done => return Ok((passed, Pause::Done)),
                Step::Violation(error) => return Err(End::BackendProtocol(error)),
                Step::EndOfColumns => {
                    if self.translation.inserts_eof() {
                        self.stage(passed)?;
                        passed = 0;
                        answer.eof = Some(follower.next_seq());
                        self.translation.write_eof(follower.next_seq(), self.status, &mut self.out);
                        *shift = shift.wrapping_add(1);
                    }
                }
                Step::Packet { kind, len } => {
                    match kind {
                        Kind::Err => {
                            answer.error = true;
                            answer.code = rest
                                .get(HEADER + 1..HEADER + 3)
                                .map(|code| u16::from_le_bytes([code[0], code[1]]));
                            answer.row_count = -1;
                        }
                        Kind::PrepareOk { id, params, warnings, .. } => {
                            answer.prepared = Some((id, params));
                            answer.warnings = warnings;
                            if let Some(Coming { id: Some(id), .. }) = &self.coming {
                                set_statement(rest.get_mut(HEADER..len).unwrap_or_default(), *id);
                            }
                        }
                        _ => {}
                    }
                    let packet = rest.get(..len).unwrap_or_default();
                    self.scratch.clear();
                    let change = self
                        .translation
                        .control(kind, packet, &mut self.view, answer, &mut self.scratch)
                        .map_err(End::BackendProtocol)?;
                    match change {
                        Change::Keep => passed += len,
                        Change::Replace => {
                            self.stage(passed)?;
                            passed = 0;
                            self.out.extend_from_slice(&self.scratch);
                            self.server.link()?.input.consume(len);
                        }
                    }
                    if kind == Kind::LocalInfile {
                        return Ok((passed, Pause::Infile));
                    }
                }
            }
        }
    }

    /// Moves the first `n` bytes in hand from the backend's buffer behind what waits in `out`.
    fn stage(&mut self, n: usize) -> Result<(), End> {
        let input = &mut self.server.link()?.input;
        self.out.extend_from_slice(input.filled().get(..n).unwrap_or_default());
        input.consume(n);
        Ok(())
    }

    /// Sends what waits in `out` and the first `n` bytes of the backend's buffer; returns the count of bytes.
    async fn flush(&mut self, n: usize) -> Result<u64, End> {
        let mut sent = n;
        if self.out.is_empty() {
            let input = &mut self.server.link()?.input;
            let bytes = input.filled().get(..n).unwrap_or_default();
            if !bytes.is_empty() {
                self.client.stream.write_all(bytes).await.map_err(End::ClientLost)?;
            }
            input.consume(n);
        } else {
            self.stage(n)?;
            sent = self.out.len();
            self.client.stream.write_all(&self.out).await.map_err(End::ClientLost)?;
            self.out.clear();
        }
        Ok(sent as u64)
    }

    /// Reads from the backend until `need` bytes are in hand.
    async fn fill_from_server(&mut self, need: usize) -> Result<(), End> {
        while self.server.link()?.input.len() < need {
            let read = self.read_server(self.chunk.max(need)).await?;
            // A read that fills the buffer means that more is on its way: larger pieces from now on.
            if read >= SMALL {
                self.chunk = LARGE;
            }
        }
        Ok(())
    }
}
