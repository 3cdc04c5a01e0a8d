//! Tests of session state changes.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use mysql_common::io::ParseBuf;
use mysql_common::packets::SessionStateInfo;
use mysql_common::packets::session_state_change::SessionStateChange;
use proptest::prelude::*;

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..300)
}

fn record<'a>(kind: u8, a: &'a [u8], b: &'a [u8]) -> Record<'a> {
    match kind {
        0 => Record::SystemVariable { name: a, value: b },
        1 => Record::Schema(a),
        2 => Record::StateChange(if a.len().is_multiple_of(2) { b"\x011" } else { b"\x010" }),
        3 => Record::Gtids(a),
        4 => Record::TransactionCharacteristics(a),
        5 => Record::TransactionState(a),
        kind => Record::Other { kind, data: a },
    }
}

proptest! {
    #[test]
    fn round_trip(parts in proptest::collection::vec((0..9u8, bytes(), bytes()), 0..8)) {
        let expected: Vec<_> = parts.iter().map(|(kind, a, b)| record(*kind, a, b)).collect();
        let mut out = Vec::new();
        for record in &expected {
            record.write(&mut out);
        }
        let read: Result<Vec<_>, _> = records(&out).collect();
        prop_assert_eq!(read, Ok(expected.clone()));
        for cut in 0..out.len() {
            let read: Vec<_> = records(&out[..cut]).map_while(Result::ok).collect();
            prop_assert!(read.len() <= expected.len() && read[..] == expected[..read.len()]);
        }
    }

    #[test]
    fn mysql_common_reads_the_same(kind in 0..6u8, a in bytes(), b in bytes()) {
        let ours = record(kind, &a, &b);
        let mut out = Vec::new();
        ours.write(&mut out);
        let info: SessionStateInfo<'_> = ParseBuf(&out).parse(()).unwrap();
        match (info.decode().unwrap(), ours) {
            (SessionStateChange::SystemVariables(v), Record::SystemVariable { name, value }) => {
                prop_assert_eq!(v.len(), 1);
                prop_assert_eq!((v[0].name_bytes(), v[0].value_bytes()), (name, value));
            }
            (SessionStateChange::Schema(v), Record::Schema(text)) => prop_assert_eq!(v.as_bytes(), text),
            (SessionStateChange::IsTracked(v), Record::StateChange(text)) => prop_assert_eq!(v, text.ends_with(b"1")),
            // It leaves the encoding and the length in.
            (SessionStateChange::Gtids(v), Record::Gtids(text)) => prop_assert!(v.as_bytes().ends_with(text)),
            (SessionStateChange::TransactionCharacteristics(v), Record::TransactionCharacteristics(text)) => {
                prop_assert_eq!(v.as_bytes(), text);
            }
            (SessionStateChange::TransactionState(v), Record::TransactionState(text)) => {
                prop_assert_eq!(v.as_bytes(), text);
            }
            other => prop_assert!(false, "{other:?}"),
        }
    }
}

/// One record may hold several variables.
#[test]
fn several_variables_in_one_record() {
    let all: Vec<_> = records(b"\x00\x08\x01a\x01b\x01c\x01d\x02\x02\x011").map(Result::unwrap).collect();
    let expected = [
        Record::SystemVariable { name: b"a", value: b"b" },
        Record::SystemVariable { name: b"c", value: b"d" },
        Record::StateChange(b"\x011"),
    ];
    assert_eq!(all, expected);
}

#[test]
fn ends_at_the_first_error() {
    let all: Vec<_> = records(b"\x01\x05\x02ab").collect();
    assert_eq!(all, [Err(ProtocolError::Truncated)]);
    assert_eq!(records(b"\x00\x00").count(), 1, "an empty record of variables ends");
}

#[test]
fn fuzz_track() {
    bolero::check!().with_type::<Vec<u8>>().for_each(|bytes| {
        assert!(records(bytes).count() <= bytes.len());
        let read: Vec<_> = records(bytes).map_while(Result::ok).collect();
        let mut again = Vec::new();
        read.iter().for_each(|record| record.write(&mut again));
        assert_eq!(records(&again).collect::<Result<Vec<_>, _>>(), Ok(read));
    });
}
