use proptest::prelude::*;

use super::*;
use crate::value::put_params;
use crate::value::{ParamType, Params};
use crate::{ColumnType, Command, StmtExecute, Value};

const PLAIN: Capabilities = Capabilities::PROTOCOL_41;
const ATTRIBUTES: Capabilities = Capabilities::PROTOCOL_41.union(Capabilities::QUERY_ATTRIBUTES);

fn execution(values: &[(ParamType, Value<'_>)], capabilities: Capabilities) -> Vec<u8> {
    let mut params = Vec::new();
    put_params(&mut params, values, capabilities).expect("well-formed");
    let mut payload = Vec::new();
    let execute = StmtExecute { id: 7, flags: 0, iterations: 1, params: &params };
    Command::StmtExecute(execute).write(capabilities, &mut payload);
    payload
}

/// The same execution as a client sends it the second time.
fn without_types(payload: &[u8], sent: &[u8]) -> Vec<u8> {
    let start = sent.as_ptr() as usize - payload.as_ptr() as usize;
    let mut out = payload[..start - 1].to_vec();
    out.push(0);
    out.extend_from_slice(&payload[start + sent.len()..]);
    out
}

fn value() -> impl Strategy<Value = (ParamType, Value<'static>)> {
    let of = |kind, unsigned| ParamType { kind: ColumnType(kind), unsigned };
    prop_oneof![
        any::<i64>().prop_map(move |n| (of(8, false), Value::Int(n))),
        any::<u64>().prop_map(move |n| (of(8, true), Value::UInt(n))),
        Just((of(253, false), Value::Bytes(b"some text"))),
        Just((of(6, false), Value::Null)),
    ]
}

proptest! {
    /// One for each parameter, whether types are sent or not, and whatever the bytes are.
    #[test]
    fn kinds_are_told_of_every_parameter(
        values in proptest::collection::vec(value(), 1..40),
        attributes in any::<bool>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let capabilities = if attributes { ATTRIBUTES } else { PLAIN };
        let count = values.len() as u16;
        let whole = execution(&values, capabilities);
        let Types::Sent(sent) = types(&whole, count, capabilities).expect("well-formed") else { panic!("types are there") };
        let found: Vec<_> = kinds(&whole, sent, count, capabilities).collect();
        let expected: Vec<_> = values
            .iter()
            .map(|(of, value)| match value {
                Value::Null => NO_KIND,
                _ => kind(u16::from(of.kind.0) | u16::from(of.unsigned) << 15),
            })
            .collect();
        prop_assert_eq!(&found, &expected);
        let short = without_types(&whole, sent);
        prop_assert_eq!(&kinds(&short, sent, count, capabilities).collect::<Vec<_>>(), &expected);
        let cut = cut.index(whole.len());
        prop_assert!(kinds(&whole[..cut], sent, count, capabilities).count() <= values.len());
        prop_assert!(kinds(&whole, &sent[..cut.min(sent.len())], count, capabilities).count() <= values.len());
    }

    #[test]
    fn what_was_left_out_is_put_back(
        values in proptest::collection::vec(value(), 1..40),
        attributes in any::<bool>(),
    ) {
        let capabilities = if attributes { ATTRIBUTES } else { PLAIN };
        let count = values.len() as u16;
        let whole = execution(&values, capabilities);
        let Types::Sent(sent) = types(&whole, count, capabilities).expect("well-formed") else { panic!("types are there") };
        let short = without_types(&whole, sent);
        let Types::Omitted(gap) = types(&short, count, capabilities).expect("well-formed") else { panic!("types are gone") };
        let mut filled = Vec::new();
        gap.fill(&short, sent, &mut filled);
        prop_assert_eq!(&filled, &whole);
        // What the follower of the values reads is what was meant.
        let Command::StmtExecute(execute) = Command::parse(&filled, capabilities).expect("well-formed") else { panic!("an execution") };
        let mut known = Vec::new();
        let read: Vec<_> = Params::parse(&execute, count, capabilities, &mut known, &[]).expect("well-formed").collect();
        prop_assert_eq!(read.len(), values.len());
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..60), count in any::<u16>()) {
        for capabilities in [PLAIN, ATTRIBUTES] {
            let _ = types(&bytes, count, capabilities);
        }
    }
}

#[test]
fn a_statement_without_parameters_has_no_types() {
    for capabilities in [PLAIN, ATTRIBUTES] {
        let payload = execution(&[], capabilities);
        assert_eq!(types(&payload, 0, capabilities), Ok(Types::None));
    }
}

#[test]
fn a_bulk_has_its_types_behind_its_flags() {
    let with = [0xFA, 1, 0, 0, 0, 128, 0, 3, 0, 253, 0, 9, 9];
    assert_eq!(types(&with, 2, PLAIN), Ok(Types::Sent(&[3, 0, 253, 0])));
    let without = [0xFA, 1, 0, 0, 0, 0, 0, 9, 9];
    let Ok(Types::Omitted(gap)) = types(&without, 2, PLAIN) else { panic!("types are gone") };
    let mut filled = Vec::new();
    gap.fill(&without, &[3, 0, 253, 0], &mut filled);
    assert_eq!(filled, with);
    assert_eq!(types(&with[..9], 2, PLAIN), Err(ProtocolError::Truncated));
}

#[test]
fn only_the_id_changes() {
    let mut payload = execution(&[], PLAIN);
    let before = payload.clone();
    set_statement(&mut payload, 0x0102_0304);
    assert_eq!(payload[1..5], [4, 3, 2, 1]);
    assert_eq!((payload[0], &payload[5..]), (before[0], &before[5..]));
    set_statement(&mut [0x19], 1);
}
