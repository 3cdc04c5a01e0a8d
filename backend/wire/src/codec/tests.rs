//! Tests of the codec.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use mysql_common::io::{BufMutExt, ParseBuf};
use mysql_common::proto::MySerialize;
use proptest::prelude::*;

const EDGES: [u64; 14] = [
    0,
    1,
    0xFA,
    0xFB,
    0xFC,
    0xFF,
    0x100,
    0xFFFF,
    0x1_0000,
    0xFF_FFFF,
    0x100_0000,
    0xFFFF_FFFF,
    u64::MAX - 1,
    u64::MAX,
];

#[track_caller]
fn agrees(n: u64) {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    put_lenenc(&mut ours, n);
    theirs.put_lenenc_int(n);
    assert_eq!(ours, theirs);
    assert_eq!(lenenc_len(n), ours.len());
    let mut r = Reader::new(&ours);
    assert_eq!(r.lenenc(), Ok(n));
    assert!(r.is_empty());
    for cut in 0..ours.len() {
        let mut r = Reader::new(&ours[..cut]);
        assert_eq!(r.lenenc(), Err(ProtocolError::Truncated));
        assert_eq!(r.len(), cut, "a failed read leaves the cursor in place");
    }
}

#[test]
fn lenenc_edges() {
    EDGES.into_iter().for_each(agrees);
    for byte in [0xFB, 0xFF] {
        assert!(matches!(Reader::new(&[byte, 0, 0]).lenenc(), Err(ProtocolError::Malformed(_))));
    }
}

#[test]
fn hostile_lengths() {
    for bytes in [
        &b"\xfe\xff\xff\xff\xff\xff\xff\xff\xffabc"[..],
        b"\xfd\xff\xff\xffabc",
        b"\xfc\xff\xffabc",
        b"\x04abc",
    ] {
        let mut r = Reader::new(bytes);
        assert_eq!(r.lenenc_bytes(), Err(ProtocolError::Truncated));
        assert_eq!(r.rest(), bytes);
    }
}

#[test]
fn strings() {
    let mut r = Reader::new(b"ab\0cd");
    assert_eq!(r.nul_bytes(), Ok(&b"ab"[..]));
    assert_eq!(r.nul_bytes(), Err(ProtocolError::Truncated));
    assert_eq!(r.nul_or_rest(), b"cd");
    assert_eq!(Reader::new(&[0xFB]).nullable_bytes(), Ok(None));
    assert_eq!(Reader::new(&[0]).nullable_bytes(), Ok(Some(&[][..])));
    let mut out = Vec::new();
    put_nul(&mut out, b"a\0b");
    assert_eq!(out, b"a\0");
}

proptest! {
    #[test]
    fn lenenc(n in any::<u64>(), shift in 0..64u32) {
        agrees(n >> shift);
    }

    #[test]
    fn lenenc_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..70_000)) {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        put_lenenc_bytes(&mut ours, &bytes);
        theirs.put_lenenc_str(&bytes);
        prop_assert_eq!(&ours, &theirs);
        prop_assert_eq!(Reader::new(&ours).lenenc_bytes(), Ok(&bytes[..]));
    }
}

/// Where both readers take the bytes, they take the same.
#[test]
fn fuzz_codec() {
    bolero::check!().with_type::<Vec<u8>>().for_each(|bytes| {
        let theirs = ParseBuf(bytes).checked_eat_lenenc_str();
        if let (Ok(ours), Some(theirs)) = (Reader::new(bytes).lenenc_bytes(), theirs) {
            assert_eq!(ours, theirs);
        }
    });
}

/// Serialises a value of `mysql_common`, for the tests of all modules.
pub(crate) fn serialized(value: &impl MySerialize) -> Vec<u8> {
    let mut out = Vec::new();
    value.serialize(&mut out);
    out
}

#[test]
fn reader_fixed() {
    let mut r = Reader::new(&[1, 2, 0, 3, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!((r.u8().unwrap(), r.u16().unwrap(), r.u32().unwrap(), r.u64().unwrap()), (1, 2, 3, 4));
    assert_eq!(r.u8(), Err(ProtocolError::Truncated));
}
