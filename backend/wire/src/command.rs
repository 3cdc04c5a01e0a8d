//! What a client asks for: the commands of the command phase, borrowed from their payloads.

use crate::codec::{Reader, put_lenenc, put_lenenc_bytes, put_nul};
use crate::column_type::ColumnType;
use crate::follow::Expect;
use crate::{Capabilities, ProtocolError};

/// Flag of `COM_STMT_EXECUTE`: the number of parameters is sent although the statement has none of its own.
pub(crate) const PARAMETER_COUNT_AVAILABLE: u8 = 8;

/// One command. Texts are bytes in the connection's character set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command<'a> {
    /// `COM_QUIT`.
    Quit,
    /// `COM_INIT_DB`: the schema to use.
    InitDb(&'a [u8]),
    /// `COM_QUERY`.
    Query(Query<'a>),
    /// `COM_FIELD_LIST`.
    FieldList {
        /// Table name.
        table: &'a [u8],
        /// LIKE pattern for column names; empty for all.
        wildcard: &'a [u8],
    },
    /// `COM_CREATE_DB`, unused since 4.
    CreateDb(&'a [u8]),
    /// `COM_DROP_DB`, unused since 4.
    DropDb(&'a [u8]),
    /// `COM_REFRESH`: what to flush.
    Refresh(u8),
    /// `COM_SHUTDOWN`.
    Shutdown,
    /// `COM_STATISTICS`.
    Statistics,
    /// `COM_PROCESS_INFO`.
    ProcessInfo,
    /// `COM_PROCESS_KILL`: a connection id.
    ProcessKill(u32),
    /// `COM_DEBUG`.
    Debug,
    /// `COM_PING`.
    Ping,
    /// `COM_CHANGE_USER`.
    ChangeUser(ChangeUser<'a>),
    /// `COM_BINLOG_DUMP`, undecoded.
    BinlogDump(&'a [u8]),
    /// `COM_BINLOG_DUMP_GTID` (MySQL), undecoded.
    BinlogDumpGtid(&'a [u8]),
    /// `COM_REGISTER_SLAVE`, undecoded.
    RegisterReplica(&'a [u8]),
    /// `COM_STMT_PREPARE`: the statement's text.
    StmtPrepare(&'a [u8]),
    /// `COM_STMT_EXECUTE`.
    StmtExecute(StmtExecute<'a>),
    /// `COM_STMT_SEND_LONG_DATA`: a part of a parameter's value.
    StmtSendLongData {
        /// Statement id.
        id: u32,
        /// Parameter, from 0.
        param: u16,
        /// The part.
        data: &'a [u8],
    },
    /// `COM_STMT_CLOSE`: a statement id.
    StmtClose(u32),
    /// `COM_STMT_RESET`: a statement id.
    StmtReset(u32),
    /// `COM_STMT_FETCH`.
    StmtFetch {
        /// Statement id.
        id: u32,
        /// Number of rows.
        rows: u32,
    },
    /// `COM_SET_OPTION`: 0 turns multi-statements on, 1 off.
    SetOption(u16),
    /// `COM_RESET_CONNECTION`.
    ResetConnection,
    /// `COM_STMT_BULK_EXECUTE` (MariaDB).
    StmtBulkExecute {
        /// Statement id.
        id: u32,
        /// 64: one result for each unit, 128: types are sent.
        flags: u16,
        /// Types and values, undecoded.
        params: &'a [u8],
    },
    /// Any other command, with its first byte.
    Unknown(u8),
}

/// `COM_QUERY`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Query<'a> {
    /// The statements' text.
    pub text: &'a [u8],
    /// With `QUERY_ATTRIBUTES`, parameter count, set count and attributes as they are sent; otherwise empty. A peer that
    /// has the capability is sent these bytes; where they are empty, it is sent that there are none.
    pub attributes: &'a [u8],
}

/// `COM_CHANGE_USER`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ChangeUser<'a> {
    /// User name.
    pub user: &'a [u8],
    /// The plugin's answer to the connection's scramble. Not to be logged.
    pub auth_response: &'a [u8],
    /// Schema; empty for none.
    pub schema: &'a [u8],
    /// Collation id, where sent.
    pub charset: Option<u16>,
    /// Plugin, where sent.
    pub plugin: Option<&'a [u8]>,
    /// Connection attributes, where sent: pairs of length-encoded strings.
    pub raw_attributes: Option<&'a [u8]>,
}

impl core::fmt::Debug for ChangeUser<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ChangeUser")
            .field("user", &String::from_utf8_lossy(self.user))
            .finish_non_exhaustive()
    }
}

/// `COM_STMT_EXECUTE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StmtExecute<'a> {
    /// Statement id.
    pub id: u32,
    /// Bits 0 to 2: kind of cursor; bit 3: parameter count is available.
    pub flags: u8,
    /// Always 1.
    pub iterations: u32,
    /// What follows, undecoded: with `QUERY_ATTRIBUTES` the number of parameters first, then NULL bitmap, types and
    /// values. See [`crate::value::Params`].
    pub params: &'a [u8],
}

impl StmtExecute<'_> {
    /// Whether a cursor is asked for.
    #[must_use]
    pub fn opens_cursor(&self) -> bool {
        self.flags & 7 != 0
    }

    /// Whether the number of parameters is sent even for a statement without any.
    #[must_use]
    pub fn counts_params(&self) -> bool {
        self.flags & PARAMETER_COUNT_AVAILABLE != 0
    }
}

impl<'a> Command<'a> {
    /// Reads a command; its layout depends on the capabilities in force (`QUERY_ATTRIBUTES`, `PLUGIN_AUTH`, …).
    ///
    /// # Errors
    /// `Truncated` for an empty payload or a command that ends inside its fields, `Malformed`.
    pub fn parse(payload: &'a [u8], capabilities: Capabilities) -> Result<Self, ProtocolError> {
        let mut r = Reader::new(payload);
        Ok(match r.u8()? {
            0x01 => Self::Quit,
            0x02 => Self::InitDb(r.take_rest()),
            0x03 => Self::Query(Query::parse(r, capabilities)?),
            0x04 => Self::FieldList { table: r.nul_or_rest(), wildcard: r.take_rest() },
            0x05 => Self::CreateDb(r.take_rest()),
            0x06 => Self::DropDb(r.take_rest()),
            0x07 => Self::Refresh(r.u8()?),
            0x08 => Self::Shutdown,
            0x09 => Self::Statistics,
            0x0A => Self::ProcessInfo,
            0x0C => Self::ProcessKill(r.u32()?),
            0x0D => Self::Debug,
            0x0E => Self::Ping,
            0x11 => Self::ChangeUser(ChangeUser::parse(r, capabilities)?),
            0x12 => Self::BinlogDump(r.take_rest()),
            0x15 => Self::RegisterReplica(r.take_rest()),
            0x16 => Self::StmtPrepare(r.take_rest()),
            0x17 => Self::StmtExecute(StmtExecute {
                id: r.u32()?,
                flags: r.u8()?,
                iterations: r.u32()?,
                params: r.take_rest(),
            }),
            0x18 => Self::StmtSendLongData { id: r.u32()?, param: r.u16()?, data: r.take_rest() },
            0x19 => Self::StmtClose(r.u32()?),
            0x1A => Self::StmtReset(r.u32()?),
            0x1B => Self::SetOption(r.u16()?),
            0x1C => Self::StmtFetch { id: r.u32()?, rows: r.u32()? },
            0x1E => Self::BinlogDumpGtid(r.take_rest()),
            0x1F => Self::ResetConnection,
            0xFA => Self::StmtBulkExecute { id: r.u32()?, flags: r.u16()?, params: r.take_rest() },
            other => Self::Unknown(other),
        })
    }

    /// Appends the payload for a server with these capabilities.
    pub fn write(&self, capabilities: Capabilities, out: &mut Vec<u8>) {
        out.push(self.byte());
        match self {
            Self::InitDb(text)
            | Self::CreateDb(text)
            | Self::DropDb(text)
            | Self::BinlogDump(text)
            | Self::BinlogDumpGtid(text)
            | Self::RegisterReplica(text)
            | Self::StmtPrepare(text) => out.extend_from_slice(text),
            Self::Query(query) => query.write(capabilities, out),
            Self::FieldList { table, wildcard } => {
                put_nul(out, table);
                out.extend_from_slice(wildcard);
            }
            Self::Refresh(what) => out.push(*what),
            Self::ProcessKill(id) | Self::StmtClose(id) | Self::StmtReset(id) => {
                out.extend_from_slice(&id.to_le_bytes());
            }
            Self::ChangeUser(change) => change.write(capabilities, out),
            Self::StmtExecute(StmtExecute { id, flags, iterations, params }) => {
                out.extend_from_slice(&id.to_le_bytes());
                out.push(*flags);
                out.extend_from_slice(&iterations.to_le_bytes());
                out.extend_from_slice(params);
            }
            Self::StmtSendLongData { id, param, data } => {
                out.extend_from_slice(&id.to_le_bytes());
                out.extend_from_slice(&param.to_le_bytes());
                out.extend_from_slice(data);
            }
            Self::StmtFetch { id, rows } => {
                out.extend_from_slice(&id.to_le_bytes());
                out.extend_from_slice(&rows.to_le_bytes());
            }
            Self::SetOption(option) => out.extend_from_slice(&option.to_le_bytes()),
            Self::StmtBulkExecute { id, flags, params } => {
                out.extend_from_slice(&id.to_le_bytes());
                out.extend_from_slice(&flags.to_le_bytes());
                out.extend_from_slice(params);
            }
            Self::Quit
            | Self::Shutdown
            | Self::Statistics
            | Self::ProcessInfo
            | Self::Debug
            | Self::Ping
            | Self::ResetConnection
            | Self::Unknown(_) => {}
        }
    }

    /// The command's first byte.
    #[must_use]
    pub fn byte(&self) -> u8 {
        match self {
            Self::Quit => 0x01,
            Self::InitDb(_) => 0x02,
            Self::Query(_) => 0x03,
            Self::FieldList { .. } => 0x04,
            Self::CreateDb(_) => 0x05,
            Self::DropDb(_) => 0x06,
            Self::Refresh(_) => 0x07,
            Self::Shutdown => 0x08,
            Self::Statistics => 0x09,
            Self::ProcessInfo => 0x0A,
            Self::ProcessKill(_) => 0x0C,
            Self::Debug => 0x0D,
            Self::Ping => 0x0E,
            Self::ChangeUser(_) => 0x11,
            Self::BinlogDump(_) => 0x12,
            Self::RegisterReplica(_) => 0x15,
            Self::StmtPrepare(_) => 0x16,
            Self::StmtExecute(_) => 0x17,
            Self::StmtSendLongData { .. } => 0x18,
            Self::StmtClose(_) => 0x19,
            Self::StmtReset(_) => 0x1A,
            Self::SetOption(_) => 0x1B,
            Self::StmtFetch { .. } => 0x1C,
            Self::BinlogDumpGtid(_) => 0x1E,
            Self::ResetConnection => 0x1F,
            Self::StmtBulkExecute { .. } => 0xFA,
            Self::Unknown(byte) => *byte,
        }
    }

    /// The reply that a server gives. `COM_CHANGE_USER` is answered by an authentication exchange that
    /// [`crate::auth`] follows; what is said here holds for its end.
    #[must_use]
    pub fn expect(&self) -> Expect {
        match self {
            Self::Quit | Self::StmtClose(_) | Self::StmtSendLongData { .. } => Expect::None,
            Self::Query(_) | Self::ProcessInfo => Expect::Query,
            Self::FieldList { .. } => Expect::FieldList,
            Self::Statistics => Expect::Statistics,
            Self::StmtPrepare(_) => Expect::Prepare,
            Self::StmtExecute(_) | Self::StmtBulkExecute { .. } => Expect::Execute,
            Self::StmtFetch { .. } => Expect::Fetch,
            Self::BinlogDump(_) | Self::BinlogDumpGtid(_) => Expect::Binlog,
            Self::InitDb(_)
            | Self::CreateDb(_)
            | Self::DropDb(_)
            | Self::Refresh(_)
            | Self::Shutdown
            | Self::ProcessKill(_)
            | Self::Debug
            | Self::Ping
            | Self::ChangeUser(_)
            | Self::RegisterReplica(_)
            | Self::StmtReset(_)
            | Self::SetOption(_)
            | Self::ResetConnection
            | Self::Unknown(_) => Expect::Simple,
        }
    }
}

impl<'a> Query<'a> {
    /// A query without attributes.
    #[must_use]
    pub fn new(text: &'a [u8]) -> Self {
        Self { text, attributes: &[] }
    }

    fn parse(mut r: Reader<'a>, capabilities: Capabilities) -> Result<Self, ProtocolError> {
        if !capabilities.contains(Capabilities::QUERY_ATTRIBUTES) {
            return Ok(Self::new(r.take_rest()));
        }
        let start = r.rest();
        let count = r.lenenc()?;
        let _sets = r.lenenc()?;
        if count > 0 {
            skip_attributes(&mut r, count)?;
        }
        let attributes = start.get(..start.len() - r.len()).unwrap_or_default();
        Ok(Self { text: r.take_rest(), attributes: if count > 0 { attributes } else { &[] } })
    }

    fn write(&self, capabilities: Capabilities, out: &mut Vec<u8>) {
        if capabilities.contains(Capabilities::QUERY_ATTRIBUTES) {
            if self.attributes.is_empty() {
                put_lenenc(out, 0);
                put_lenenc(out, 1);
            } else {
                out.extend_from_slice(self.attributes);
            }
        }
        out.extend_from_slice(self.text);
    }
}

/// Moves past NULL bitmap, types with names, and values of `count` attributes.
fn skip_attributes(r: &mut Reader<'_>, count: u64) -> Result<(), ProtocolError> {
    let malformed = ProtocolError::Malformed("query attributes");
    let count = usize::try_from(count).map_err(|_| malformed)?;
    let nulls = r.bytes(count.div_ceil(8))?;
    if r.u8()? != 1 {
        return Err(malformed);
    }
    let mut types = *r;
    for _ in 0..count {
        r.u16()?;
        r.lenenc_bytes()?;
    }
    for i in 0..count {
        let [kind, _flags] = types.u16()?.to_le_bytes();
        types.lenenc_bytes()?;
        let null = nulls.get(i / 8).is_some_and(|byte| byte >> (i % 8) & 1 == 1);
        if !null {
            ColumnType(kind).binary(r)?;
        }
    }
    Ok(())
}

impl<'a> ChangeUser<'a> {
    fn parse(mut r: Reader<'a>, capabilities: Capabilities) -> Result<Self, ProtocolError> {
        let user = r.nul_bytes()?;
        let auth_response = if capabilities.contains(Capabilities::SECURE_CONNECTION) {
            let len = r.u8()?;
            r.bytes(usize::from(len))?
        } else {
            r.nul_bytes()?
        };
        let schema = r.nul_or_rest();
        let charset = if r.len() >= 2 { Some(r.u16()?) } else { None };
        let plugin =
            (capabilities.contains(Capabilities::PLUGIN_AUTH) && !r.is_empty()).then(|| r.nul_or_rest());
        let raw_attributes = if capabilities.contains(Capabilities::CONNECT_ATTRS) && !r.is_empty() {
            Some(r.lenenc_bytes()?)
        } else {
            None
        };
        Ok(Self { user, auth_response, schema, charset, plugin, raw_attributes })
    }

    /// Answers of more than 255 bytes do not fit and are cut; plugins that need more are switched to afterwards.
    fn write(&self, capabilities: Capabilities, out: &mut Vec<u8>) {
        put_nul(out, self.user);
        if capabilities.contains(Capabilities::SECURE_CONNECTION) {
            let answer = self.auth_response.get(..255).unwrap_or(self.auth_response);
            out.push(answer.len() as u8);
            out.extend_from_slice(answer);
        } else {
            put_nul(out, self.auth_response);
        }
        put_nul(out, self.schema);
        let Some(charset) = self.charset else { return };
        out.extend_from_slice(&charset.to_le_bytes());
        if capabilities.contains(Capabilities::PLUGIN_AUTH) {
            put_nul(out, self.plugin.unwrap_or_default());
        }
        if let Some(attributes) = self.raw_attributes
            && capabilities.contains(Capabilities::CONNECT_ATTRS)
        {
            put_lenenc_bytes(out, attributes);
        }
    }
}

#[cfg(test)]
mod tests;
