//! Length-encoded integers and strings, and a checked cursor over a payload.

use crate::ProtocolError;

/// Marks NULL where a length is expected, in text rows and default values.
pub const NULL: u8 = 0xFB;

type Result<T> = core::result::Result<T, ProtocolError>;

/// A cursor over one payload: every read is checked and moves on only when it succeeds.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// A cursor at the start of `payload`.
    #[must_use]
    pub fn new(payload: &'a [u8]) -> Self {
        Self(payload)
    }

    /// What has not been read.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.0
    }

    /// Whether everything has been read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many bytes have not been read.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The next byte, left in place.
    #[must_use]
    pub fn peek(&self) -> Option<u8> {
        self.0.first().copied()
    }

    /// The next `n` bytes.
    ///
    /// # Errors
    /// `Truncated` when there are fewer; likewise below.
    pub fn bytes(&mut self, n: usize) -> Result<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(n).ok_or(ProtocolError::Truncated)?;
        self.0 = tail;
        Ok(head)
    }

    /// Everything that is left.
    pub fn take_rest(&mut self) -> &'a [u8] {
        core::mem::take(&mut self.0)
    }

    /// The next `N` bytes as an array.
    ///
    /// # Errors
    /// `Truncated`.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (head, tail) = self.0.split_first_chunk::<N>().ok_or(ProtocolError::Truncated)?;
        self.0 = tail;
        Ok(*head)
    }

    /// One byte.
    ///
    /// # Errors
    /// `Truncated`.
    pub fn u8(&mut self) -> Result<u8> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    /// Two bytes, little endian.
    ///
    /// # Errors
    /// `Truncated`.
    pub fn u16(&mut self) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    /// Four bytes, little endian.
    ///
    /// # Errors
    /// `Truncated`.
    pub fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// Eight bytes, little endian.
    ///
    /// # Errors
    /// `Truncated`.
    pub fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// A length-encoded integer of 1, 3, 4 or 9 bytes.
    ///
    /// # Errors
    /// `Truncated`; `Malformed` where the first byte is 0xFB or 0xFF, which are no integers.
    pub fn lenenc(&mut self) -> Result<u64> {
        let mut r = *self;
        let n = match r.u8()? {
            n @ 0..=0xFA => u64::from(n),
            0xFC => u64::from(r.u16()?),
            0xFD => {
                let [a, b, c] = r.array()?;
                u64::from(u32::from_le_bytes([a, b, c, 0]))
            }
            0xFE => r.u64()?,
            0xFB | 0xFF => return Err(ProtocolError::Malformed("length-encoded integer")),
        };
        *self = r;
        Ok(n)
    }

    /// A length-encoded string.
    ///
    /// # Errors
    /// As [`Reader::lenenc`], and `Truncated` where the payload is shorter than the length says.
    pub fn lenenc_bytes(&mut self) -> Result<&'a [u8]> {
        let mut r = *self;
        let n = usize::try_from(r.lenenc()?).map_err(|_| ProtocolError::Truncated)?;
        let bytes = r.bytes(n)?;
        *self = r;
        Ok(bytes)
    }

    /// A length-encoded string or NULL (0xFB).
    ///
    /// # Errors
    /// As [`Reader::lenenc_bytes`].
    pub fn nullable_bytes(&mut self) -> Result<Option<&'a [u8]>> {
        match self.0.split_first() {
            Some((&NULL, tail)) => {
                self.0 = tail;
                Ok(None)
            }
            _ => self.lenenc_bytes().map(Some),
        }
    }

    /// A string up to the next NUL, which is consumed.
    ///
    /// # Errors
    /// `Truncated` when there is none.
    pub fn nul_bytes(&mut self) -> Result<&'a [u8]> {
        let end = self.0.iter().position(|b| *b == 0).ok_or(ProtocolError::Truncated)?;
        let bytes = self.bytes(end)?;
        self.bytes(1)?;
        Ok(bytes)
    }

    /// A string up to the next NUL or, as some peers leave the last NUL out, to the end.
    pub fn nul_or_rest(&mut self) -> &'a [u8] {
        self.nul_bytes().unwrap_or_else(|_| self.take_rest())
    }
}

/// Appends a length-encoded integer in its shortest form.
pub fn put_lenenc(out: &mut Vec<u8>, n: u64) {
    let bytes = n.to_le_bytes();
    match n {
        0..=0xFA => out.push(bytes[0]),
        0xFB..=0xFFFF => {
            out.push(0xFC);
            out.extend_from_slice(&bytes[..2]);
        }
        0x1_0000..=0xFF_FFFF => {
            out.push(0xFD);
            out.extend_from_slice(&bytes[..3]);
        }
        _ => {
            out.push(0xFE);
            out.extend_from_slice(&bytes);
        }
    }
}

/// How many bytes [`put_lenenc`] appends for `n`.
#[must_use]
pub fn lenenc_len(n: u64) -> usize {
    match n {
        0..=0xFA => 1,
        0xFB..=0xFFFF => 3,
        0x1_0000..=0xFF_FFFF => 4,
        _ => 9,
    }
}

/// Appends a length-encoded string.
pub fn put_lenenc_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_lenenc(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends a string and a NUL. The string ends at its first NUL, should it hold one: a peer could not read more of it.
pub fn put_nul(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend(bytes.iter().take_while(|b| **b != 0));
    out.push(0);
}

#[cfg(test)]
pub(crate) mod tests;
