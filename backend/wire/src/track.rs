//! Session state changes: what a server says about its session in an OK packet.

use crate::ProtocolError;
use crate::codec::{Reader, lenenc_len, put_lenenc, put_lenenc_bytes};

/// One change. Texts are bytes in the connection's character set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// A tracked variable has this value now. Numbers come as text.
    SystemVariable {
        /// Name.
        name: &'a [u8],
        /// Value.
        value: &'a [u8],
    },
    /// This is the default schema now; empty for none.
    Schema(&'a [u8]),
    /// Whether anything of the session's state has changed, as the server wrote it: its last byte is `1` if so. MySQL writes
    /// a length-encoded text, MariaDB 10.11 the text alone.
    StateChange(&'a [u8]),
    /// GTIDs, after a byte that says how they are encoded (MySQL: always 0).
    Gtids(&'a [u8]),
    /// The statements that would make the next transaction what it will be; empty for the default.
    TransactionCharacteristics(&'a [u8]),
    /// Eight letters that say what the open transaction has done, such as `T_R_____`.
    TransactionState(&'a [u8]),
    /// Any other change.
    Other {
        /// Its type.
        kind: u8,
        /// Its data.
        data: &'a [u8],
    },
}

const SYSTEM_VARIABLES: u8 = 0;
const SCHEMA: u8 = 1;
const STATE_CHANGE: u8 = 2;
const GTIDS: u8 = 3;
const TRANSACTION_CHARACTERISTICS: u8 = 4;
const TRANSACTION_STATE: u8 = 5;

/// The changes in an OK packet's [`crate::OkPacket::changes`]. After an error there are no more.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    records: Reader<'a>,
    /// What is left of a record of variables, which may hold several.
    variables: Reader<'a>,
}

/// Iterates over the changes in an OK packet.
#[must_use]
pub fn records(changes: &[u8]) -> Records<'_> {
    Records { records: Reader::new(changes), variables: Reader::new(&[]) }
}

impl<'a> Records<'a> {
    fn read(&mut self) -> Result<Record<'a>, ProtocolError> {
        if self.variables.is_empty() {
            let kind = self.records.u8()?;
            let data = self.records.lenenc_bytes()?;
            let mut r = Reader::new(data);
            match kind {
                SYSTEM_VARIABLES => self.variables = r,
                SCHEMA => return r.lenenc_bytes().map(Record::Schema),
                STATE_CHANGE => return Ok(Record::StateChange(data)),
                GTIDS => {
                    r.u8()?;
                    return r.lenenc_bytes().map(Record::Gtids);
                }
                TRANSACTION_CHARACTERISTICS => {
                    return r.lenenc_bytes().map(Record::TransactionCharacteristics);
                }
                TRANSACTION_STATE => return r.lenenc_bytes().map(Record::TransactionState),
                kind => return Ok(Record::Other { kind, data }),
            }
        }
        let r = &mut self.variables;
        Ok(Record::SystemVariable { name: r.lenenc_bytes()?, value: r.lenenc_bytes()? })
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, ProtocolError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.variables.is_empty() && self.records.is_empty() {
            return None;
        }
        let record = self.read();
        if record.is_err() {
            *self = records(&[]);
        }
        Some(record)
    }
}

impl Record<'_> {
    /// Appends the record.
    pub fn write(&self, out: &mut Vec<u8>) {
        let (kind, text) = match *self {
            Self::SystemVariable { name, value } => {
                out.push(SYSTEM_VARIABLES);
                let part = |bytes: &[u8]| lenenc_len(bytes.len() as u64) + bytes.len();
                put_lenenc(out, (part(name) + part(value)) as u64);
                put_lenenc_bytes(out, name);
                put_lenenc_bytes(out, value);
                return;
            }
            Self::Gtids(text) => {
                out.push(GTIDS);
                put_lenenc(out, (1 + lenenc_len(text.len() as u64) + text.len()) as u64);
                out.push(0);
                put_lenenc_bytes(out, text);
                return;
            }
            Self::StateChange(data) => {
                out.push(STATE_CHANGE);
                put_lenenc_bytes(out, data);
                return;
            }
            Self::Other { kind, data } => {
                out.push(kind);
                put_lenenc_bytes(out, data);
                return;
            }
            Self::Schema(text) => (SCHEMA, text),
            Self::TransactionCharacteristics(text) => (TRANSACTION_CHARACTERISTICS, text),
            Self::TransactionState(text) => (TRANSACTION_STATE, text),
        };
        out.push(kind);
        put_lenenc(out, (lenenc_len(text.len() as u64) + text.len()) as u64);
        put_lenenc_bytes(out, text);
    }
}

#[cfg(test)]
mod tests;
