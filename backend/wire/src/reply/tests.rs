//! Tests of OK, ERR and EOF packets.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use mysql_common::constants::{CapabilityFlags, StatusFlags};
use mysql_common::io::ParseBuf;
use mysql_common::packets as theirs;
use proptest::prelude::*;

const ALL: Capabilities =
    Capabilities::PROTOCOL_41.union(Capabilities::SESSION_TRACK).union(Capabilities::DEPRECATE_EOF);

#[derive(Clone, Debug)]
struct Owned {
    numbers: (u64, u64, u16),
    status: u16,
    info: Vec<u8>,
    changes: Vec<u8>,
}

impl Owned {
    fn borrow(&self) -> OkPacket<'_> {
        let (affected_rows, last_insert_id, warnings) = self.numbers;
        let mut status = Status::from_bits_retain(self.status);
        status.set(Status::SESSION_STATE_CHANGED, !self.changes.is_empty());
        OkPacket { affected_rows, last_insert_id, status, warnings, info: &self.info, changes: &self.changes }
    }
}

prop_compose! {
    fn ok()(
        numbers in any::<(u64, u64, u16)>(),
        shift in 0..64u32,
        // Bit 2 has no name, and mysql_common refuses it.
        status in any::<u16>().prop_map(|bits| bits & !4),
        info in proptest::collection::vec(any::<u8>(), 0..300),
        changes in proptest::collection::vec(any::<u8>(), 0..300),
    ) -> Owned {
        Owned { numbers: (numbers.0 >> shift, numbers.1 >> shift, numbers.2), status, info, changes }
    }
}

fn written(ok: &OkPacket<'_>, capabilities: Capabilities) -> Vec<u8> {
    let mut out = Vec::new();
    ok.write(capabilities, &mut out);
    out
}

proptest! {
    #[test]
    fn round_trip(owned in ok()) {
        let ok = owned.borrow();
        let bytes = written(&ok, ALL);
        prop_assert_eq!(OkPacket::parse(&bytes, ALL), Ok(ok));
        let mut end = Vec::new();
        ok.write_end(ALL, &mut end);
        prop_assert_eq!(end[0], EOF);
        prop_assert_eq!(OkPacket::parse(&end, ALL), Ok(ok));
    }

    /// For clients without SESSION_TRACK or DEPRECATE_EOF everything else stays.
    #[test]
    fn rebuilt_for_less(owned in ok()) {
        let ok = owned.borrow();
        let without = Capabilities::PROTOCOL_41;
        let bytes = written(&ok, without);
        let plain = OkPacket { status: ok.status - Status::SESSION_STATE_CHANGED, changes: &[], ..ok };
        prop_assert_eq!(OkPacket::parse(&bytes, without), Ok(plain));
        let mut end = Vec::new();
        ok.write_end(without, &mut end);
        prop_assert_eq!(end.len(), EofPacket::LEN);
        prop_assert_eq!(EofPacket::parse(&end), Ok(EofPacket { warnings: ok.warnings, status: plain.status }));
    }

    #[test]
    fn mysql_common_reads_the_same(owned in ok(), track in any::<bool>()) {
        let ok = owned.borrow();
        let (ours, caps) = if track {
            (ALL, CapabilityFlags::CLIENT_SESSION_TRACK)
        } else {
            (ALL - Capabilities::SESSION_TRACK, CapabilityFlags::empty())
        };
        let bytes = written(&ok, ours);
        let read: theirs::OkPacket<'_> =
            ParseBuf(&bytes).parse::<theirs::OkPacketDeserializer<'_, theirs::CommonOkPacket>>(caps).unwrap().into();
        prop_assert_eq!(read.affected_rows(), ok.affected_rows);
        prop_assert_eq!(read.last_insert_id().unwrap_or(0), ok.last_insert_id);
        prop_assert_eq!(read.warnings(), ok.warnings);
        prop_assert_eq!(read.info_ref().unwrap_or_default(), ok.info);
        let status = if track { ok.status } else { ok.status - Status::SESSION_STATE_CHANGED };
        prop_assert_eq!(read.status_flags(), StatusFlags::from_bits_truncate(status.bits()));

        let mut end = Vec::new();
        ok.write_end(ours, &mut end);
        let read: theirs::OkPacket<'_> =
            ParseBuf(&end).parse::<theirs::OkPacketDeserializer<'_, theirs::ResultSetTerminator>>(caps).unwrap().into();
        prop_assert_eq!(read.warnings(), ok.warnings);
        prop_assert_eq!(read.info_ref().unwrap_or_default(), ok.info);
    }

    #[test]
    fn errors(code in 1..0xFFFFu16, state in "[0-9A-Z]{5}", message in "[^#].{0,200}") {
        let state: [u8; 5] = state.as_bytes().try_into().unwrap();
        let err = ErrPacket { code, state: Some(state), message: message.as_bytes() };
        let mut out = Vec::new();
        err.write(ALL, &mut out);
        prop_assert_eq!(ErrPacket::parse(&out), Ok(err));
        let read: theirs::ErrPacket<'_> = ParseBuf(&out).parse(CapabilityFlags::CLIENT_PROTOCOL_41).unwrap();
        let read = read.server_error();
        prop_assert_eq!(read.error_code(), code);
        prop_assert_eq!(read.message_ref(), message.as_bytes());
        prop_assert_eq!(read.sql_state_ref().unwrap().as_bytes(), state);

        let mut out = Vec::new();
        err.write(Capabilities::empty(), &mut out);
        prop_assert_eq!(ErrPacket::parse(&out), Ok(ErrPacket { state: None, ..err }));
        prop_assert_eq!(err.to_error(), SqlError { code, state, message });
    }
}

/// Without info and changes the servers leave both lengths out.
#[test]
fn shortest_ok() {
    let ok = OkPacket { status: Status::AUTOCOMMIT, ..OkPacket::default() };
    assert_eq!(written(&ok, ALL), [0, 0, 0, 2, 0, 0, 0]);
}

#[test]
fn every_cut_of_an_ok() {
    let ok = OkPacket {
        affected_rows: 70_000,
        last_insert_id: 300,
        status: Status::SESSION_STATE_CHANGED,
        warnings: 1,
        info: b"info",
        changes: b"\x01\x03\x02ab",
    };
    let bytes = written(&ok, ALL);
    for cut in 0..bytes.len() {
        match OkPacket::parse(&bytes[..cut], ALL) {
            // Without info, or without changes, as servers may leave them out.
            Ok(short) => assert!(short.changes.is_empty() && short.affected_rows == 70_000),
            Err(e) => assert_eq!(e, ProtocolError::Truncated),
        }
    }
}

#[test]
fn sql_errors_carry_their_state() {
    for (code, state) in [
        (crate::code::SERVER_SHUTDOWN, "08S01"),
        (crate::code::ACCESS_DENIED, "28000"),
        (crate::code::PARSE, "42000"),
        (crate::code::LOCK_WAIT_TIMEOUT, "HY000"),
        (9999, "HY000"),
    ] {
        let error = SqlError::new(code, "text");
        assert_eq!(error.to_string(), format!("ERROR {code} ({state}): text"));
        let mut out = Vec::new();
        error.write(ALL, &mut out);
        assert_eq!(ErrPacket::parse(&out).unwrap().to_error(), error);
    }
}

#[test]
fn fuzz_reply() {
    bolero::check!().with_type::<(u64, Vec<u8>)>().for_each(|(caps, bytes)| {
        let caps = Capabilities::from_bits_retain(*caps);
        for header in [OK, EOF, ERR] {
            let bytes = [&[header][..], bytes].concat();
            let _ = ErrPacket::parse(&bytes);
            let _ = EofPacket::parse(&bytes);
            if let Ok(ok) = OkPacket::parse(&bytes, caps)
                && ok.status.contains(Status::SESSION_STATE_CHANGED) != ok.changes.is_empty()
            {
                assert_eq!(OkPacket::parse(&written(&ok, caps), caps), Ok(ok));
            }
        }
    });
}
