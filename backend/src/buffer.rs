//! Byte buffers for sockets, lent from a small store on each core so that an idle session holds none.

use std::cell::RefCell;

/// Size of a lent buffer in bytes.
pub const SMALL: usize = 16 << 10;
/// Size that a buffer grows to while large answers stream through it.
pub const LARGE: usize = 256 << 10;
/// Buffers of [`SMALL`] bytes that a core keeps for the next session.
const KEPT: usize = 64;

thread_local! {
    static STORE: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
    static SCRATCH: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Gives the memory of an empty list of bytes back to this core; `Vec::new` takes its place. Large ones are freed.
pub fn give_back(bytes: &mut Vec<u8>) {
    if bytes.capacity() > 0 && bytes.is_empty() {
        let data = std::mem::take(bytes);
        if data.capacity() <= SMALL {
            SCRATCH.with_borrow_mut(|store| {
                if store.len() < KEPT {
                    store.push(data);
                }
            });
        }
    }
}

/// Gives a list of bytes that owns no memory some of what this core has to lend.
pub fn lend(bytes: &mut Vec<u8>) {
    if bytes.capacity() == 0
        && let Some(lent) = SCRATCH.with_borrow_mut(Vec::pop)
    {
        *bytes = lent;
    }
}

/// A window of filled bytes inside owned, initialised memory: `[start, end)` is filled.
///
/// Invariant: `start <= end <= data.len()`. An empty `Buffer` that was [`release`](Buffer::release)d owns no memory.
#[derive(Default)]
pub struct Buffer {
    data: Vec<u8>,
    start: usize,
    end: usize,
}

impl std::fmt::Debug for Buffer {
    /// Sizes only: the bytes may be rows or passwords.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Buffer({} of {} bytes)", self.len(), self.data.len())
    }
}

impl Buffer {
    /// An empty buffer that owns no memory.
    #[must_use]
    pub const fn new() -> Self {
        Self { data: Vec::new(), start: 0, end: 0 }
    }

    /// Filled bytes.
    #[must_use]
    pub fn filled(&self) -> &[u8] {
        self.data.get(self.start..self.end).unwrap_or_default()
    }

    /// Filled bytes, to be changed in place.
    #[must_use]
    pub fn filled_mut(&mut self) -> &mut [u8] {
        self.data.get_mut(self.start..self.end).unwrap_or_default()
    }

    /// Count of filled bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.end - self.start
    }

    /// Whether no byte is filled.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Drops `n` bytes from the front (all of them if there are fewer).
    pub fn consume(&mut self, n: usize) {
        self.start = (self.start + n).min(self.end);
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
        }
    }

    /// Free room behind the filled bytes, after making sure that a window of `want` bytes fits in all.
    pub fn room(&mut self, want: usize) -> &mut [u8] {
        if self.data.is_empty() {
            self.data = STORE.with_borrow_mut(Vec::pop).unwrap_or_else(|| vec![0; SMALL]);
        }
        let short = self.data.len() - self.start < want || self.end == self.data.len();
        if short && self.start > 0 {
            self.data.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.data.len() < want || self.end == self.data.len() {
            let size = want.max(self.data.len() * 2).next_power_of_two();
            self.data.resize(size, 0);
        }
        self.data.get_mut(self.end..).unwrap_or_default()
    }

    /// Marks `n` bytes of what [`room`](Self::room) gave as filled.
    pub fn advance(&mut self, n: usize) {
        self.end = (self.end + n).min(self.data.len());
    }

    /// Bytes owned, filled or not.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.data.len()
    }

    /// Appends bytes.
    pub fn extend(&mut self, bytes: &[u8]) {
        let want = self.len() + bytes.len();
        let room = self.room(want.max(1));
        if let Some(target) = room.get_mut(..bytes.len()) {
            target.copy_from_slice(bytes);
            self.advance(bytes.len());
        }
    }

    /// Gives the memory back to this core if no byte is filled.
    pub fn release(&mut self) {
        if !self.is_empty() || self.data.is_empty() {
            return;
        }
        let data = std::mem::take(&mut self.data);
        if data.len() == SMALL {
            STORE.with_borrow_mut(|store| {
                if store.len() < KEPT {
                    store.push(data);
                }
            });
        }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.start = 0;
        self.end = 0;
        self.release();
    }
}

#[cfg(test)]
mod tests;
