//! Parameters of `COM_STMT_EXECUTE`.

use super::Value;
use super::row::put_nulls_then;
use crate::codec::{Reader, put_lenenc, put_lenenc_bytes};
use crate::{Capabilities, ColumnType, ProtocolError, StmtExecute};

/// Type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ParamType {
    /// Type.
    pub kind: ColumnType,
    /// Whether it is an unsigned number.
    pub unsigned: bool,
}

const UNSIGNED: u8 = 0x80;

impl ParamType {
    fn read(r: &mut Reader<'_>) -> Result<Self, ProtocolError> {
        let [kind, flags] = r.array()?;
        Ok(Self { kind: ColumnType(kind), unsigned: flags & UNSIGNED != 0 })
    }

    /// The type as it is sent.
    #[must_use]
    pub fn bytes(self) -> [u8; 2] {
        [self.kind.0, if self.unsigned { UNSIGNED } else { 0 }]
    }
}

/// The parameters of one execution: yields one value for each, `None` where the value was sent before as long data.
/// After an error there are no more.
#[derive(Clone, Debug)]
pub struct Params<'a, 't> {
    nulls: &'a [u8],
    values: Reader<'a>,
    types: &'t [ParamType],
    long_data: &'t [u16],
    next: u16,
}

impl<'a, 't> Params<'a, 't> {
    /// The parameters of an execution of a statement with `count` of them. With `QUERY_ATTRIBUTES` there may be more,
    /// which are attributes.
    ///
    /// Clients send types only when they have changed: `types` holds those of the execution before (empty at the first)
    /// and afterwards those of this one. `long_data` lists the parameters, from 0, whose values came by
    /// `COM_STMT_SEND_LONG_DATA`.
    ///
    /// # Errors
    /// `Truncated`, `Malformed`; also where there are values but no types (servers: error 1210).
    pub fn parse(
        execute: &StmtExecute<'a>,
        count: u16,
        capabilities: Capabilities,
        types: &'t mut Vec<ParamType>,
        long_data: &'t [u16],
    ) -> Result<Self, ProtocolError> {
        let mut r = Reader::new(execute.params);
        let attributes = capabilities.contains(Capabilities::QUERY_ATTRIBUTES);
        let mut total = count;
        if attributes && (count > 0 || execute.counts_params()) {
            total = u16::try_from(r.lenenc()?).map_err(|_| ProtocolError::Malformed("parameter count"))?;
        }
        let mut nulls: &[u8] = &[];
        if total > 0 {
            nulls = r.bytes(usize::from(total).div_ceil(8))?;
            if r.u8()? == 1 {
                types.clear();
                for _ in 0..total {
                    types.push(ParamType::read(&mut r)?);
                    if attributes {
                        r.lenenc_bytes()?;
                    }
                }
            }
        } else {
            types.clear();
        }
        let types = types.get(..usize::from(total)).ok_or(ProtocolError::Malformed("parameter types"))?;
        Ok(Self { nulls, values: r, types, long_data, next: 0 })
    }

    fn read(&mut self, kind: ParamType) -> Result<Option<Value<'a>>, ProtocolError> {
        let bit = usize::from(self.next);
        if self.long_data.contains(&self.next) {
            return Ok(None);
        }
        let byte = self.nulls.get(bit / 8).ok_or(ProtocolError::Truncated)?;
        if byte >> (bit % 8) & 1 == 1 {
            return Ok(Some(Value::Null));
        }
        Value::read_binary(&mut self.values, kind.kind, kind.unsigned).map(Some)
    }
}

impl<'a> Iterator for Params<'a, '_> {
    type Item = Result<Option<Value<'a>>, ProtocolError>;

    fn next(&mut self) -> Option<Self::Item> {
        let kind = *self.types.get(usize::from(self.next))?;
        let value = self.read(kind);
        if value.is_err() {
            self.types = &[];
        }
        self.next = self.next.saturating_add(1);
        Some(value)
    }
}

/// Appends the parameters of an execution, with their types, for [`StmtExecute::params`].
///
/// # Errors
/// `Malformed` where a value does not fit its type; `out` is as before then.
pub fn put_params(
    out: &mut Vec<u8>,
    params: &[(ParamType, Value<'_>)],
    capabilities: Capabilities,
) -> Result<(), ProtocolError> {
    if params.is_empty() {
        return Ok(());
    }
    let start = out.len();
    let attributes = capabilities.contains(Capabilities::QUERY_ATTRIBUTES);
    if attributes {
        put_lenenc(out, params.len() as u64);
    }
    let values: Vec<_> = params.iter().map(|(kind, value)| (kind.kind, *value)).collect();
    let result = put_nulls_then(out, 0, &values, |out| {
        out.push(1);
        for (kind, _) in params {
            out.extend_from_slice(&kind.bytes());
            if attributes {
                put_lenenc_bytes(out, b"");
            }
        }
    });
    if result.is_err() {
        out.truncate(start);
    }
    result
}
