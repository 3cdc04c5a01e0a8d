//! Tests of physical packets.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use bytes::BytesMut;
use mysql_common::proto::codec::PacketCodec;
use proptest::prelude::*;

fn payload(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i % 251) as u8).collect()
}

fn framed(payload: &[u8], seq: u8) -> Vec<u8> {
    let (mut out, mut next) = (Vec::new(), seq);
    write(&mut out, &mut next, payload);
    let (mut built, mut built_next) = (b"before".to_vec(), seq);
    build(&mut built, &mut built_next, |out| out.extend_from_slice(payload));
    assert!(built[6..] == out && built.starts_with(b"before") && built_next == next);
    out
}

#[test]
fn boundaries() {
    const M: usize = MAX_PAYLOAD;
    for (len, packets) in
        [(0, 1), (1, 1), (M - 1, 1), (M, 2), (M + 1, 2), (2 * M - 1, 2), (2 * M, 3), (2 * M + 1, 3)]
    {
        let payload = payload(len);
        let bytes = framed(&payload, 254);
        assert_eq!(bytes.len(), len + packets * HEADER);
        let (read_back, consumed) = read(&bytes, usize::MAX).unwrap().unwrap();
        assert_eq!(consumed, bytes.len());
        assert!(*read_back == payload);
        assert_eq!(read_back.seq(), 254);
        assert_eq!(read_back.next_seq(), 254u8.wrapping_add(packets as u8));
        assert!(matches!(read_back.into_data(), Cow::Borrowed(_)) == (packets == 1));
        assert_eq!(needed(&bytes), bytes.len());
        for cut in
            [0, 3, 4, bytes.len().saturating_sub(5), bytes.len() - 1].into_iter().filter(|c| *c < bytes.len())
        {
            assert_eq!(read(&bytes[..cut], usize::MAX), Ok(None), "{len} cut at {cut}");
            assert!(needed(&bytes[..cut]) > cut);
            assert!(needed(&bytes[..cut]) <= bytes.len());
        }
        if len > 0 {
            assert_eq!(read(&bytes, len - 1), Err(ProtocolError::TooLong { max: len - 1 }));
        }
        assert!(read(&bytes, len).unwrap().is_some());
    }
}

#[test]
fn refused_by_the_header_alone() {
    assert_eq!(read(&[0xFF, 0xFF, 0xFF, 0], 1000), Err(ProtocolError::TooLong { max: 1000 }));
}

#[test]
fn continuation_out_of_order() {
    let mut bytes = framed(&payload(MAX_PAYLOAD + 3), 0);
    bytes[HEADER + MAX_PAYLOAD + 3] = 7;
    assert_eq!(read(&bytes, usize::MAX), Err(ProtocolError::Sequence { want: 1, got: 7 }));
}

#[test]
fn mysql_common_reads_what_is_written() {
    for len in [0, 5, MAX_PAYLOAD - 1, MAX_PAYLOAD, MAX_PAYLOAD + 1] {
        let payload = payload(len);
        let mut codec = PacketCodec::default();
        codec.max_allowed_packet = 64 << 20;
        let mut theirs = BytesMut::new();
        codec.encode(&mut payload.as_slice(), &mut theirs).unwrap();
        assert!(theirs == framed(&payload, 0), "{len}");
        let mut codec = PacketCodec::default();
        codec.max_allowed_packet = 64 << 20;
        let mut read_back = Vec::new();
        assert!(codec.decode(&mut theirs, &mut read_back).unwrap());
        assert!(read_back == payload);
    }
}

proptest! {
    /// Several payloads in one buffer, cut anywhere.
    #[test]
    fn streams(
        payloads in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..300), 1..6),
        cut in any::<proptest::sample::Index>(),
    ) {
        let mut bytes = Vec::new();
        let mut seq = 250;
        for payload in &payloads {
            write(&mut bytes, &mut seq, payload);
        }
        let cut = cut.index(bytes.len() + 1);
        let mut taken = 0;
        let mut got = Vec::new();
        for end in [cut, bytes.len()] {
            while let Some((payload, n)) = read(&bytes[taken..end], 1000).unwrap() {
                got.push(payload.to_vec());
                taken += n;
            }
            prop_assert!(end == bytes.len() || needed(&bytes[taken..end]) > end - taken);
        }
        prop_assert_eq!(got, payloads);
        prop_assert_eq!(taken, bytes.len());
    }
}

#[test]
fn fuzz_packet() {
    bolero::check!().with_type::<(u16, Vec<u8>)>().for_each(|(max, bytes)| {
        match read(bytes, usize::from(*max)) {
            Ok(Some((payload, n))) => assert!(n <= bytes.len() && payload.len() <= usize::from(*max)),
            Ok(None) => assert!(needed(bytes) > bytes.len()),
            Err(_) => {}
        }
    });
}
