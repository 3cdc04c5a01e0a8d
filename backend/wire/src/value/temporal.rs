//! Dates and times of the binary protocol.

use crate::ProtocolError;
use crate::codec::Reader;
use core::fmt;

/// A date with a time of day; fields are as the server sends them and may be zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct DateTime {
    /// Year, 0 to 9999.
    pub year: u16,
    /// Month, from 1.
    pub month: u8,
    /// Day, from 1.
    pub day: u8,
    /// Hour.
    pub hour: u8,
    /// Minute.
    pub minute: u8,
    /// Second.
    pub second: u8,
    /// Microsecond.
    pub micros: u32,
}

/// A span of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Time {
    /// Whether it is below zero.
    pub negative: bool,
    /// Days.
    pub days: u32,
    /// Hours, below 24.
    pub hours: u8,
    /// Minutes.
    pub minutes: u8,
    /// Seconds.
    pub seconds: u8,
    /// Microseconds.
    pub micros: u32,
}

impl DateTime {
    pub(super) fn read(r: &mut Reader<'_>) -> Result<Self, ProtocolError> {
        let len = r.u8()?;
        if !matches!(len, 0 | 4 | 7 | 11) {
            return Err(ProtocolError::Malformed("date"));
        }
        let mut f = Reader::new(r.bytes(usize::from(len))?);
        let mut at = Self::default();
        if len >= 4 {
            (at.year, at.month, at.day) = (f.u16()?, f.u8()?, f.u8()?);
        }
        if len >= 7 {
            (at.hour, at.minute, at.second) = (f.u8()?, f.u8()?, f.u8()?);
        }
        if len == 11 {
            at.micros = f.u32()?;
        }
        Ok(at)
    }

    /// In the shortest form, as the servers write it.
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        let len = if self.micros != 0 {
            11
        } else if (self.hour, self.minute, self.second) != (0, 0, 0) {
            7
        } else if (self.year, self.month, self.day) != (0, 0, 0) {
            4
        } else {
            0
        };
        let [y0, y1] = self.year.to_le_bytes();
        let [m0, m1, m2, m3] = self.micros.to_le_bytes();
        let all = [y0, y1, self.month, self.day, self.hour, self.minute, self.second, m0, m1, m2, m3];
        out.push(len);
        out.extend(all.iter().take(usize::from(len)));
    }
}

impl fmt::Display for DateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { year, month, day, hour, minute, second, micros } = self;
        write!(f, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")?;
        if *micros != 0 { write!(f, ".{micros:06}") } else { Ok(()) }
    }
}

impl Time {
    pub(super) fn read(r: &mut Reader<'_>) -> Result<Self, ProtocolError> {
        let len = r.u8()?;
        if !matches!(len, 0 | 8 | 12) {
            return Err(ProtocolError::Malformed("time"));
        }
        let mut f = Reader::new(r.bytes(usize::from(len))?);
        let mut span = Self::default();
        if len >= 8 {
            span.negative = f.u8()? != 0;
            span.days = f.u32()?;
            (span.hours, span.minutes, span.seconds) = (f.u8()?, f.u8()?, f.u8()?);
        }
        if len == 12 {
            span.micros = f.u32()?;
        }
        Ok(span)
    }

    /// In the shortest form, as the servers write it.
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        let len = if self.micros != 0 {
            12
        } else if (self.days, self.hours, self.minutes, self.seconds) != (0, 0, 0, 0) {
            8
        } else {
            0
        };
        let [d0, d1, d2, d3] = self.days.to_le_bytes();
        let [m0, m1, m2, m3] = self.micros.to_le_bytes();
        let negative = u8::from(self.negative);
        let all = [negative, d0, d1, d2, d3, self.hours, self.minutes, self.seconds, m0, m1, m2, m3];
        out.push(len);
        out.extend(all.iter().take(usize::from(len)));
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { negative, days, hours, minutes, seconds, micros } = self;
        let sign = if *negative { "-" } else { "" };
        let hours = u64::from(*days) * 24 + u64::from(*hours);
        write!(f, "{sign}{hours:02}:{minutes:02}:{seconds:02}")?;
        if *micros != 0 { write!(f, ".{micros:06}") } else { Ok(()) }
    }
}
