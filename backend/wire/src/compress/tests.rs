//! Tests of frames: round trips at every cut, another implementation as the oracle, and frames that lie.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::ProtocolError;
use bytes::BytesMut;
use flate2::{Compress, Compression, FlushCompress};
use mysql_common::proto::codec::PacketCodec;
use proptest::prelude::*;

const LIES: ProtocolError = ProtocolError::Malformed("compressed packet");

/// A packet that holds `payload`, or several where one is too short.
fn packet(payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    crate::packet::write(&mut out, &mut 0, payload);
    out
}

/// The frames of packets that are written in pieces which end at `cuts`. Nothing may be left over.
fn encoded_in(packets: &[u8], seq: &mut u8, cuts: &[usize]) -> Vec<u8> {
    let (mut encoder, mut out) = (Encoder::default(), Vec::new());
    let mut at = 0;
    for end in cuts.iter().copied().chain([packets.len()]) {
        while at < end {
            let before = out.len();
            let taken = encoder.encode(&mut Deflater::default(), seq, &packets[at..end], &mut out);
            assert!(taken > 0 || out.len() > before);
            assert!(out.len() - before <= LONGEST + HEADER);
            at += taken;
        }
    }
    out
}

fn encoded(packets: &[u8], mut seq: u8) -> Vec<u8> {
    encoded_in(packets, &mut seq, &[])
}

/// Headers of frames.
fn headers_of(frames: &[u8]) -> Vec<Frame> {
    let (mut at, mut found) = (0, Vec::new());
    while let Some(frame) = Frame::parse(&frames[at..]) {
        at += HEADER + frame.len;
        found.push(frame);
    }
    assert_eq!(at, frames.len());
    found
}

/// Everything that `frames` hold, in pieces of at most `room` bytes, from input in pieces that end at `cuts`.
fn decoded(
    decoder: &mut Decoder,
    seq: &mut u8,
    frames: &[u8],
    cuts: &[usize],
    room: usize,
) -> Result<Vec<u8>, ProtocolError> {
    let (mut packets, mut at) = (Vec::new(), 0);
    let mut output = vec![0; room];
    for end in cuts.iter().copied().chain([frames.len()]) {
        loop {
            let ready = decoder.is_ready(&frames[at..end.max(at)]);
            let done = decoder.decode(seq, &frames[at..end.max(at)], &mut output)?;
            at += done.read;
            packets.extend_from_slice(&output[..done.written]);
            if done == Progress::default() {
                break;
            }
            assert!(ready, "a step that got further");
        }
    }
    assert_eq!(at, frames.len(), "all of it was taken");
    Ok(packets)
}

fn whole(frames: &[u8], mut seq: u8) -> Result<Vec<u8>, ProtocolError> {
    decoded(&mut Decoder::default(), &mut seq, frames, &[], 1 << 16)
}

/// A frame with any header and content.
fn frame(seq: u8, inflated: usize, content: &[u8]) -> Vec<u8> {
    let mut bytes = Frame { len: content.len(), seq, inflated }.bytes().to_vec();
    bytes.extend_from_slice(content);
    bytes
}

fn zlib(content: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(content.len() + 1000);
    Compress::new(Compression::best(), true).compress_vec(content, &mut out, FlushCompress::Finish).unwrap();
    out
}

/// Text that deflates, and noise that does not.
fn payloads() -> impl Strategy<Value = Vec<u8>> {
    let text =
        (0usize..2000, any::<u8>()).prop_map(|(n, byte)| (0..n).map(|i| byte ^ (i % 7) as u8).collect());
    prop_oneof![text, proptest::collection::vec(any::<u8>(), 0..2000)]
}

#[test]
fn headers() {
    let frame = Frame { len: 0x01_0203, seq: 0xFE, inflated: 0xFF_FEFD };
    assert_eq!(frame.bytes(), [3, 2, 1, 0xFE, 0xFD, 0xFE, 0xFF]);
    assert_eq!(Frame::parse(&frame.bytes()), Some(frame));
    assert_eq!(Frame::parse(&frame.bytes()[..6]), None);
}

#[test]
fn short_content_and_noise_are_stored() {
    assert_eq!(encoded(&packet(&[7; 45]), 3)[..12], [49, 0, 0, 3, 0, 0, 0, 45, 0, 0, 0, 7]);
    let deflated = encoded(&packet(&[7; 46]), 3);
    assert!(deflated.len() < 49 && deflated[4..7] == [50, 0, 0], "{deflated:?}");
    // A linear congruential generator's high bytes do not deflate.
    let noise: Vec<u8> = (0..5000)
        .scan(1u32, |state, _| {
            *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            Some((*state >> 24) as u8)
        })
        .collect();
    let stored = encoded(&packet(&noise), 0);
    assert_eq!((stored.len(), &stored[4..7]), (HEADER + 5004, &[0u8; 3][..]));
}

#[test]
fn frames_end_where_packets_end() {
    let packets: Vec<u8> = (0..3000u16).flat_map(|n| packet(&vec![n as u8; usize::from(n) % 300])).collect();
    let mut seq = 250;
    let frames = encoded_in(&packets, &mut seq, &[]);
    let headers = headers_of(&frames);
    assert!(headers.len() > 6 && headers.iter().all(|frame| frame.inflated <= CHUNK));
    assert!(headers.iter().zip(250u16..).all(|(frame, id)| u16::from(frame.seq) == id % 256));
    assert_eq!(usize::from(seq), (250 + headers.len()) % 256);
    let mut at = 0;
    for frame in headers {
        let mut left = frame.inflated;
        while left > 0 {
            let size = crate::packet::HEADER + crate::packet::Header::parse(&packets[at..]).unwrap().len;
            left = left.checked_sub(size).expect("a frame ends with a packet");
            at += size;
        }
    }
    assert_eq!(at, packets.len());
}

#[test]
fn a_long_packet_is_one_frame_however_it_is_written() {
    const M: usize = crate::packet::MAX_PAYLOAD;
    let h = crate::packet::HEADER;
    for len in [CHUNK, LONGEST - h, LONGEST - h + 1, M - h, M - h + 1, M - 1, M, M + 1, 2 * M + 5] {
        let payload: Vec<u8> = (0..len).map(|i| (i / 1000) as u8).collect();
        let bytes = packet(&payload);
        let one = encoded(&bytes, 0);
        for cuts in [&[1, 2, 5][..], &[4], &[3, len / 2], &[len / 3, len / 2, len]] {
            assert!(encoded_in(&bytes, &mut 0, cuts) == one, "{len} {cuts:?}");
        }
        let headers = headers_of(&one);
        let contents: Vec<usize> = headers.iter().map(|frame| frame.inflated.max(frame.len)).collect();
        assert!(headers.iter().all(|frame| (frame.inflated > 0) == (bytes.len() <= LONGEST)) || len > M);
        let expected = match len {
            _ if len + h <= M => vec![len + h],
            _ if len < M => vec![M, len + h - M],
            M => vec![M, h, h],
            _ if len == M + 1 => vec![M, h, h + 1],
            _ => vec![M, h, M, h, h + 5],
        };
        assert_eq!(contents, expected, "{len}");
        assert!(whole(&one, 0).unwrap() == bytes, "{len}");
    }
}

#[test]
fn every_cut_and_every_room() {
    let packets: Vec<u8> = (0..300u16).map(|i| (i / 9) as u8).collect();
    let mut frames = frame(0, 0, b"stored");
    frames.extend(frame(1, packets.len(), &zlib(&packets)));
    frames.extend(frame(2, 0, b""));
    frames.extend(frame(3, 0, b"end"));
    let expected = [b"stored", &packets[..], b"end"].concat();
    for cut in 0..=frames.len() {
        for room in [1, 2, 299, 300, 301, 4096] {
            let mut seq = 0;
            let found = decoded(&mut Decoder::default(), &mut seq, &frames, &[cut], room).unwrap();
            assert!(found == expected, "cut at {cut}, {room} bytes of room");
            assert_eq!(seq, 4);
        }
    }
}

#[test]
fn pauses_behind_each_frame() {
    let frames = [frame(0, 0, b"one"), frame(0, 0, b"two")].concat();
    let (mut decoder, mut seq, mut output) = (Decoder::default(), 0, [0; 100]);
    let first = decoder.decode(&mut seq, &frames, &mut output).unwrap();
    assert_eq!((first, seq), (Progress { read: 10, written: 3 }, 1));
    assert!(decoder.at_boundary());
}

#[test]
fn ids_out_of_order() {
    let wrong =
        |seq, got| whole(&frame(got, 0, b"x"), seq) == Err(ProtocolError::Sequence { want: seq, got });
    assert!(wrong(0, 1) && wrong(5, 4) && wrong(5, 6) && wrong(0, 255));
    assert_eq!(whole(&frame(5, 0, b"x"), 5).unwrap(), b"x");
    assert_eq!(whole(&frame(0, 0, b"x"), 5).unwrap(), b"x", "a command starts anew");
}

#[test]
fn frames_that_lie() {
    let content = vec![b'a'; 1000];
    let honest = zlib(&content);
    assert_eq!(whole(&frame(0, 1000, &honest), 0).unwrap(), content);
    // More or less comes out than announced.
    for announced in [1, 999, 1001, MOST] {
        assert_eq!(whole(&frame(0, announced, &honest), 0), Err(LIES), "{announced}");
    }
    // The content ends too early, or goes on behind the end.
    for cut in 0..honest.len() {
        assert_eq!(whole(&frame(0, 1000, &honest[..cut]), 0), Err(LIES), "{cut}");
    }
    assert_eq!(whole(&frame(0, 1000, &[&honest[..], b"!"].concat()), 0), Err(LIES));
    // A wrong checksum, a wrong method, no zlib at all.
    let mut changed = honest;
    *changed.last_mut().unwrap() ^= 1;
    assert_eq!(whole(&frame(0, 1000, &changed), 0), Err(LIES));
    assert_eq!(whole(&frame(0, 1000, &[0; 60]), 0), Err(LIES));
    assert_eq!(whole(&frame(0, 5, b"abcde"), 0), Err(LIES));
}

#[test]
fn a_bomb_goes_off_at_its_announced_length() {
    // A gigabyte of zeros in a frame of a megabyte that announces the most that can be announced.
    let bomb = zlib(&vec![0; 1 << 30]);
    assert!(bomb.len() < 2 << 20);
    let frames = frame(0, MOST, &bomb);
    let (mut decoder, mut seq, mut at, mut out) = (Decoder::default(), 0, 0, 0);
    let mut output = vec![0; 1 << 16];
    let error = loop {
        match decoder.decode(&mut seq, &frames[at..], &mut output) {
            Ok(done) => (at, out) = (at + done.read, out + done.written),
            Err(error) => break error,
        }
    };
    assert_eq!(error, LIES);
    assert!(out <= MOST);
}

#[test]
fn a_decoder_starts_each_frame_clean() {
    let (mut decoder, mut seq) = (Decoder::default(), 0);
    for n in 0..20u8 {
        let content = vec![n; 500];
        let found = decoded(&mut decoder, &mut seq, &frame(n, 500, &zlib(&content)), &[9], 77).unwrap();
        assert_eq!(found, content);
    }
}

#[test]
fn mysql_common_reads_what_is_written_and_the_other_way_round() {
    for len in [0, 1, 45, 46, 5000, CHUNK, 200_000, 2 << 20, crate::packet::MAX_PAYLOAD + 7] {
        // It has to deflate: mysql_common (0.37) garbles what becomes longer.
        let payload: Vec<u8> = (0..len).map(|i| (i % 7) as u8).collect();
        let codec = || {
            let mut codec = PacketCodec::default();
            codec.max_allowed_packet = 64 << 20;
            codec.compress(Compression::default());
            codec
        };
        let mut theirs = BytesMut::new();
        codec().encode(&mut payload.as_slice(), &mut theirs).unwrap();
        let ours = packet(&payload);
        assert!(whole(&theirs, 0).unwrap_or_else(|error| panic!("{len}: {error}")) == ours, "{len}");
        let mut bytes = BytesMut::from(encoded(&ours, 0).as_slice());
        let (mut codec, mut read_back) = (codec(), Vec::new());
        while !codec.decode(&mut bytes, &mut read_back).unwrap() {}
        assert!(read_back == payload, "{len}");
    }
}

proptest! {
    /// What goes in comes out, however both are cut and whatever it is.
    #[test]
    fn round_trip(
        payloads in proptest::collection::vec(payloads(), 0..6),
        written in proptest::collection::vec(any::<proptest::sample::Index>(), 0..8),
        read in proptest::collection::vec(any::<proptest::sample::Index>(), 0..8),
        room in 1usize..5000,
        first in any::<u8>(),
    ) {
        let at = |cuts: &[proptest::sample::Index], len: usize| {
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(len + 1)).collect();
            cuts.sort_unstable();
            cuts
        };
        let packets: Vec<u8> = payloads.iter().flat_map(|payload| packet(payload)).collect();
        let mut seq = first;
        let frames = encoded_in(&packets, &mut seq, &at(&written, packets.len()));
        let mut due = first;
        let cuts = at(&read, frames.len());
        let found = decoded(&mut Decoder::default(), &mut due, &frames, &cuts, room).unwrap();
        prop_assert_eq!(found, packets);
        prop_assert_eq!(due, seq);
    }
}

#[test]
fn fuzz_compress_encoder() {
    bolero::check!().with_type::<(u8, Vec<u8>, Vec<u8>)>().for_each(|(first, one, two)| {
        let (mut encoder, mut seq, mut frames) = (Encoder::default(), *first, Vec::new());
        for bytes in [one, two] {
            let mut rest = bytes.as_slice();
            while !rest.is_empty() {
                let taken = encoder.encode(&mut Deflater::default(), &mut seq, rest, &mut frames);
                rest = &rest[taken..];
            }
        }
        // Whatever was given is in the frames, but for the beginning of a packet that waits for its end.
        let packets = [&one[..], two].concat();
        let (mut decoder, mut due, mut found, mut at) = (Decoder::default(), *first, Vec::new(), 0);
        let mut output = vec![0; 1 << 16];
        loop {
            let done = decoder.decode(&mut due, &frames[at..], &mut output).expect("honest frames");
            at += done.read;
            found.extend_from_slice(&output[..done.written]);
            if done == Progress::default() {
                break;
            }
        }
        assert!(at == frames.len() && packets.starts_with(&found) && due == seq);
    });
}

#[test]
fn fuzz_compress_decoder() {
    bolero::check!().with_type::<(u8, u16, Vec<u8>)>().for_each(|(seq, room, bytes)| {
        let mut seq = *seq;
        let mut decoder = Decoder::default();
        let mut output = vec![0; usize::from(*room) + 1];
        let mut at = 0;
        while let Ok(done) = decoder.decode(&mut seq, &bytes[at..], &mut output) {
            at += done.read;
            assert!(at <= bytes.len() && done.written <= output.len());
            if done == Progress::default() {
                break;
            }
        }
    });
}
