//! Tests of the follower: replies of every shape, cut at every place.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::codec::put_lenenc;
use crate::{ErrPacket, OkPacket, packet};
use proptest::prelude::*;

mod captured;

const NEW: Capabilities = Capabilities::DEPRECATE_EOF
    .union(Capabilities::PROTOCOL_41)
    .union(Capabilities::SESSION_TRACK)
    .union(Capabilities::LOCAL_FILES);
const OLD: Capabilities = Capabilities::PROTOCOL_41.union(Capabilities::LOCAL_FILES);

/// What a follower said, with neighbouring passes as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Pass(usize),
    Packet(Kind, usize),
    EndOfColumns,
    Done,
}

/// A reply under construction: its bytes and what a follower must say of them.
#[derive(Clone, Debug)]
struct Reply {
    capabilities: Capabilities,
    expect: Expect,
    bytes: Vec<u8>,
    seq: u8,
    seen: Vec<Seen>,
}

impl Reply {
    fn new(expect: Expect, capabilities: Capabilities) -> Self {
        Self { capabilities, expect, bytes: Vec::new(), seq: 1, seen: Vec::new() }
    }

    fn raw(&mut self, payload: &[u8]) -> usize {
        let before = self.bytes.len();
        packet::write(&mut self.bytes, &mut self.seq, payload);
        self.bytes.len() - before
    }

    fn pass(&mut self, payload: &[u8]) {
        let len = self.raw(payload);
        self.passed(len);
    }

    fn passed(&mut self, len: usize) {
        match self.seen.last_mut() {
            Some(Seen::Pass(n)) => *n += len,
            _ => self.seen.push(Seen::Pass(len)),
        }
    }

    fn control(&mut self, kind: Kind, payload: &[u8]) {
        let len = self.raw(payload);
        self.seen.push(Seen::Packet(kind, len));
    }

    fn ok(&mut self, status: Status, info: &[u8]) {
        let mut payload = Vec::new();
        OkPacket { affected_rows: 300, status, info, ..OkPacket::default() }
            .write(self.capabilities, &mut payload);
        self.control(Kind::Ok, &payload);
    }

    fn err(&mut self) {
        let mut payload = Vec::new();
        ErrPacket { code: 1064, state: Some(*b"42000"), message: b"You have an error" }
            .write(self.capabilities, &mut payload);
        self.control(Kind::Err, &payload);
    }

    fn end(&mut self, status: Status) {
        let mut payload = Vec::new();
        OkPacket { status, ..OkPacket::default() }.write_end(self.capabilities, &mut payload);
        let new = self.capabilities.contains(Capabilities::DEPRECATE_EOF);
        self.control(if new { Kind::EndOfRows } else { Kind::Eof { after_columns: false } }, &payload);
    }

    fn count(&mut self, columns: u64) {
        let mut payload = Vec::new();
        put_lenenc(&mut payload, columns);
        self.control(Kind::ColumnCount(columns), &payload);
    }

    fn definitions(&mut self, n: usize, len: usize) {
        for _ in 0..n {
            let mut payload = vec![b'x'; len.max(5)];
            payload[..4].copy_from_slice(b"\x03def");
            self.pass(&payload);
        }
    }

    fn after_columns(&mut self, status: Status) {
        if self.capabilities.contains(Capabilities::DEPRECATE_EOF) {
            self.seen.push(Seen::EndOfColumns);
        } else {
            let mut payload = Vec::new();
            EofPacket { warnings: 0, status }.write(&mut payload);
            self.control(Kind::Eof { after_columns: true }, &payload);
        }
    }

    fn done(mut self) -> Self {
        self.seen.push(Seen::Done);
        self
    }
}

/// Feeds a reply in pieces of the given sizes (over and over), as a relay would; renumbers by `delta`.
fn follow(reply: &Reply, cuts: &[usize], delta: u8) -> (Vec<Seen>, Vec<u8>) {
    let mut follower = Follower::new(reply.expect, reply.capabilities);
    let (mut seen, mut out, mut hand) = (Vec::new(), Vec::new(), Vec::<u8>::new());
    let mut cuts = cuts.iter().cycle();
    let mut rest = reply.bytes.as_slice();
    loop {
        match follower.step_mut(&mut hand, delta) {
            Step::Need(n) => {
                assert!(n > hand.len(), "needs {n} with {} in hand", hand.len());
                assert!(n <= hand.len() + rest.len(), "needs more than there is: {n}");
                let (head, tail) = rest.split_at((*cuts.next().unwrap()).min(rest.len()));
                hand.extend_from_slice(head);
                rest = tail;
            }
            Step::Pass(n) => {
                assert!(n > 0);
                out.extend(hand.drain(..n));
                match seen.last_mut() {
                    Some(Seen::Pass(all)) => *all += n,
                    _ => seen.push(Seen::Pass(n)),
                }
            }
            Step::Packet { kind, len } => {
                out.extend(hand.drain(..len));
                seen.push(Seen::Packet(kind, len));
                if kind == Kind::LocalInfile {
                    assert!(follower.awaits_infile());
                    follower.infile_done();
                }
            }
            Step::EndOfColumns => {
                assert!(follower.at_boundary());
                seen.push(Seen::EndOfColumns);
            }
            Step::Done => {
                assert!(follower.is_done() && hand.is_empty() && rest.is_empty());
                let moved = if out.is_empty() { 0 } else { delta };
                assert_eq!(follower.next_seq(), reply.seq.wrapping_add(moved));
                seen.push(Seen::Done);
                return (seen, out);
            }
            Step::Violation(e) => panic!("{e} after {seen:?}"),
        }
    }
}

/// The reply's bytes with every sequence id moved by `delta`.
fn renumbered(reply: &Reply, delta: u8) -> Vec<u8> {
    let mut bytes = reply.bytes.clone();
    let mut at = 0;
    while let Some(header) = bytes.get(at..).and_then(Header::parse) {
        bytes[at + 3] = bytes[at + 3].wrapping_add(delta);
        at += HEADER + header.len;
    }
    bytes
}

#[track_caller]
fn check(reply: &Reply, cuts: &[usize], delta: u8) {
    let (seen, out) = follow(reply, cuts, delta);
    assert_eq!(seen, reply.seen);
    assert!(out == renumbered(reply, delta), "other bytes came out");
}

/// Every size of pieces up to the whole, and every place for one single cut.
#[track_caller]
fn check_all_cuts(reply: &Reply) {
    let len = reply.bytes.len();
    for size in 1..=len.max(1) {
        check(reply, &[size], 0);
        check(reply, &[size, len], 3);
    }
}

fn rows(capabilities: Capabilities, more: Status) -> Reply {
    let mut reply = Reply::new(Expect::Query, capabilities);
    reply.count(2);
    reply.definitions(2, 30);
    reply.after_columns(Status::AUTOCOMMIT);
    reply.pass(b"\x011\x01a");
    reply.pass(b"\xfb\xfb");
    reply.pass(b"\x00\x00");
    reply.end(Status::AUTOCOMMIT | more);
    reply
}

#[test]
fn single_packets() {
    for caps in [NEW, OLD] {
        for expect in [Expect::Query, Expect::Execute, Expect::Simple] {
            let mut reply = Reply::new(expect, caps);
            reply.ok(Status::AUTOCOMMIT, b"Rows matched: 1");
            check_all_cuts(&reply.done());
            let mut reply = Reply::new(expect, caps);
            reply.err();
            check_all_cuts(&reply.done());
        }
        for expect in [Expect::Prepare, Expect::Fetch, Expect::FieldList, Expect::Statistics, Expect::Binlog]
        {
            let mut reply = Reply::new(expect, caps);
            reply.err();
            check_all_cuts(&reply.done());
        }
        let mut reply = Reply::new(Expect::Simple, caps);
        reply.end(Status::AUTOCOMMIT);
        check_all_cuts(&reply.done());
        let mut reply = Reply::new(Expect::Statistics, caps);
        reply.control(Kind::Text, b"Uptime: 1  Threads: 1");
        check_all_cuts(&reply.done());
        check_all_cuts(&Reply::new(Expect::None, caps).done());
    }
}

#[test]
fn result_sets() {
    for caps in [NEW, OLD] {
        check_all_cuts(&rows(caps, Status::empty()).done());
        let mut reply = rows(caps, Status::MORE_RESULTS_EXISTS);
        reply.ok(Status::MORE_RESULTS_EXISTS, b"");
        reply.err();
        check_all_cuts(&reply.done());
    }
}

#[test]
fn error_instead_of_or_among_rows() {
    for caps in [NEW, OLD] {
        let mut reply = Reply::new(Expect::Query, caps);
        reply.count(1);
        reply.definitions(1, 20);
        reply.after_columns(Status::empty());
        reply.err();
        check_all_cuts(&reply.done());
        let mut reply = Reply::new(Expect::Execute, caps);
        reply.count(1);
        reply.definitions(1, 20);
        reply.after_columns(Status::empty());
        reply.pass(b"\x00\x00\x05");
        reply.err();
        check_all_cuts(&reply.done());
    }
}

#[test]
fn prepared_statements() {
    for caps in [NEW, OLD] {
        for (params, columns) in [(0, 0), (2, 0), (0, 3), (2, 3)] {
            let mut reply = Reply::new(Expect::Prepare, caps);
            let kind = Kind::PrepareOk { id: 9, columns, params, warnings: 1 };
            let (p, c) = (params as u8, columns as u8);
            reply.control(kind, &[0, 9, 0, 0, 0, c, 0, p, 0, 0, 1, 0]);
            for n in [params, columns] {
                if n > 0 {
                    reply.definitions(usize::from(n), 12);
                    reply.after_columns(Status::empty());
                }
            }
            check_all_cuts(&reply.done());
        }
    }
}

#[test]
fn cursors() {
    let status = Status::AUTOCOMMIT | Status::CURSOR_EXISTS;
    let mut reply = Reply::new(Expect::Execute, NEW);
    reply.count(1);
    reply.definitions(1, 20);
    reply.end(status);
    check_all_cuts(&reply.done());

    let mut reply = Reply::new(Expect::Execute, OLD);
    reply.count(1);
    reply.definitions(1, 20);
    reply.after_columns(status);
    check_all_cuts(&reply.done());

    for caps in [NEW, OLD] {
        let mut reply = Reply::new(Expect::Fetch, caps);
        reply.pass(b"\x00\x00\x05");
        reply.end(Status::LAST_ROW_SENT);
        check_all_cuts(&reply.done());
        let mut reply = Reply::new(Expect::FieldList, caps);
        reply.definitions(2, 20);
        reply.end(Status::empty());
        check_all_cuts(&reply.done());
    }
}

#[test]
fn no_rows_is_not_a_cursor() {
    let mut reply = Reply::new(Expect::Execute, NEW);
    reply.count(1);
    reply.definitions(1, 20);
    reply.after_columns(Status::empty());
    reply.end(Status::AUTOCOMMIT);
    check_all_cuts(&reply.done());
}

#[test]
fn local_files() {
    for caps in [NEW, OLD] {
        let mut reply = Reply::new(Expect::Query, caps);
        reply.control(Kind::LocalInfile, b"\xfb/tmp/x");
        reply.ok(Status::MORE_RESULTS_EXISTS, b"Records: 1");
        reply.err();
        check_all_cuts(&reply.done());
    }
    let mut follower = Follower::new(Expect::Query, NEW - Capabilities::LOCAL_FILES);
    assert_eq!(follower.step(b"\x02\0\0\x01\xfbx"), Step::Violation(ProtocolError::Unexpected(0xFB)));
}

#[test]
fn metadata_left_out() {
    let caps = NEW | Capabilities::MARIADB_CACHE_METADATA;
    let mut reply = Reply::new(Expect::Execute, caps);
    reply.control(Kind::ColumnCount(3), &[3, 0]);
    reply.seen.push(Seen::EndOfColumns);
    reply.pass(b"\x00\x00\x05");
    reply.end(Status::empty());
    check_all_cuts(&reply.done());

    let mut reply = Reply::new(Expect::Execute, caps);
    reply.control(Kind::ColumnCount(1), &[1, 1]);
    reply.definitions(1, 9);
    reply.after_columns(Status::empty());
    reply.end(Status::empty());
    check_all_cuts(&reply.done());
}

#[test]
fn progress_reports_pass() {
    let report = b"\xff\xff\xff\x01\x02\x03\x64\x00\x00\x05stage";
    let caps = NEW | Capabilities::MARIADB_PROGRESS;
    let mut reply = Reply::new(Expect::Query, caps);
    reply.pass(report);
    reply.pass(report);
    reply.ok(Status::empty(), b"");
    check_all_cuts(&reply.done());

    let mut reply = Reply::new(Expect::Query, NEW);
    reply.control(Kind::Err, report);
    check_all_cuts(&reply.done());
}

/// Rows whose first column is as long as a whole packet start with 0xFE, as the end of rows does.
#[test]
fn rows_of_16_megabytes() {
    let lens = [MAX_PAYLOAD - 1, MAX_PAYLOAD, MAX_PAYLOAD + 1, 2 * MAX_PAYLOAD, 2 * MAX_PAYLOAD + 7];
    for (caps, lens) in [(NEW, &lens[..]), (OLD, &lens[3..])] {
        for len in lens.iter().copied() {
            let mut reply = Reply::new(Expect::Query, caps);
            reply.count(1);
            reply.definitions(1, 20);
            reply.after_columns(Status::empty());
            let mut row = Vec::with_capacity(len);
            row.push(if len >= MAX_PAYLOAD + 9 { 0xFE } else { 0xFD });
            // In the way of whoever takes a continuation's first byte for a packet's.
            row.resize(len, 0xFF);
            reply.pass(&row);
            reply.pass(b"\x01a");
            reply.end(Status::AUTOCOMMIT);
            let reply = reply.done();
            check(&reply, &[1 << 18], 200);
            check(&reply, &[MAX_PAYLOAD + 40, 1, 1, 1, 1, 1, 1], 200);
        }
    }
}

/// Around the place where one physical packet ends and its continuation starts, every cut.
#[test]
fn cuts_inside_a_continuation_header() {
    let mut reply = Reply::new(Expect::Query, NEW);
    reply.count(1);
    reply.definitions(1, 20);
    reply.after_columns(Status::empty());
    let before = reply.bytes.len();
    let mut row = vec![0xFF; MAX_PAYLOAD];
    row[0] = 0xFD;
    reply.pass(&row);
    reply.end(Status::AUTOCOMMIT);
    let reply = reply.done();
    let border = before + HEADER + MAX_PAYLOAD;
    for cut in border - 2..=reply.bytes.len() {
        check(&reply, &[cut, 1], 1);
    }
}

/// The last packet of a reply is empty: the follower must not wait for a byte after it.
#[test]
fn reply_that_ends_with_an_empty_continuation() {
    let mut reply = Reply::new(Expect::Prepare, NEW);
    let kind = Kind::PrepareOk { id: 1, columns: 1, params: 0, warnings: 0 };
    reply.control(kind, &[0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    reply.definitions(1, MAX_PAYLOAD);
    reply.after_columns(Status::empty());
    check(&reply.done(), &[1 << 20], 1);
}

#[test]
fn hostile_replies_are_violations() {
    let broken: &[(Expect, &[u8])] = &[
        (Expect::Query, b"\x00\0\0\x01"),
        (Expect::Query, b"\x01\0\0\x01\x00"),
        (Expect::Query, b"\x03\0\0\x01\xfc\x00\x00"),
        (Expect::Query, b"\x09\0\0\x01\xfe\xff\xff\xff\xff\xff\xff\xff\xff"),
        (Expect::Query, b"\xff\xff\xff\x01\x00"),
        (Expect::Prepare, b"\x05\0\0\x01\x00\x01\0\0\0"),
        (Expect::Prepare, b"\x01\0\0\x01\x05"),
        (Expect::Simple, b"\x01\0\0\x01\x05"),
        (Expect::Fetch, b"\x01\0\0\x01\xfe"),
        (Expect::Fetch, b"\x00\0\0\x01"),
    ];
    for (expect, bytes) in broken {
        let mut follower = Follower::new(*expect, NEW);
        let step = follower.step(bytes);
        assert!(matches!(step, Step::Violation(_)), "{expect:?} {bytes:?}: {step:?}");
        assert_eq!(follower.step(b"\x07\0\0\x02\0\0\0\0\0\0\0"), step, "stays broken");
    }
    let mut follower = Follower::new(Expect::Query, NEW);
    assert!(matches!(follower.step(b"\x01\0\0\x01\x01"), Step::Packet { .. }));
    let step = follower.step(b"\x07\0\0\x02\xfe\0\0\0\0\0\0");
    assert_eq!(step, Step::Violation(ProtocolError::Unexpected(0xFE)), "end of rows among definitions");
}

/// MySQL 9.7, tried: with EOF packets only the one behind the columns tells that an OK packet follows the row.
#[test]
fn out_parameters_with_eof_packets() {
    let mut reply = Reply::new(Expect::Execute, OLD);
    reply.count(2);
    reply.definitions(2, 30);
    reply.after_columns(Status::AUTOCOMMIT | Status::MORE_RESULTS_EXISTS | Status::PS_OUT_PARAMS);
    reply.pass(b"\0\0*\0\0\0\x03in!");
    reply.end(Status::AUTOCOMMIT);
    reply.ok(Status::AUTOCOMMIT, b"");
    check(&reply.done(), &[usize::MAX], 0);
}

fn status() -> impl Strategy<Value = Status> {
    any::<u16>()
        .prop_map(|bits| Status::from_bits_retain(bits) - Status::MORE_RESULTS_EXISTS - Status::CURSOR_EXISTS)
}

fn reply() -> impl Strategy<Value = Reply> {
    let result = (
        0..4u8,
        proptest::collection::vec(proptest::collection::vec(any::<u8>(), 1..80), 0..20),
        1..5usize,
        status(),
    );
    (any::<bool>(), any::<bool>(), proptest::collection::vec(result, 1..4)).prop_map(
        |(new, execute, results)| {
            let expect = if execute { Expect::Execute } else { Expect::Query };
            let mut reply = Reply::new(expect, if new { NEW } else { OLD });
            let last = results.len() - 1;
            for (i, (shape, rows, columns, status)) in results.into_iter().enumerate() {
                let status = if i < last { status | Status::MORE_RESULTS_EXISTS } else { status };
                match shape {
                    0 => reply.ok(status, b"info"),
                    1 if i == last => reply.err(),
                    _ => {
                        reply.count(columns as u64);
                        reply.definitions(columns, 10 + columns);
                        reply.after_columns(status);
                        for mut row in rows {
                            if row[0] >= EOF {
                                row[0] = 0xFB;
                            }
                            reply.pass(&row);
                        }
                        reply.end(status);
                    }
                }
            }
            reply.done()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_cut_gives_the_same(
        reply in reply(),
        cuts in proptest::collection::vec(1..200usize, 1..12),
        delta in any::<u8>(),
    ) {
        check(&reply, &cuts, delta);
        check(&reply, &[usize::MAX], delta);
    }
}

const KINDS: [Expect; 8] = [
    Expect::Query,
    Expect::Execute,
    Expect::Prepare,
    Expect::Fetch,
    Expect::FieldList,
    Expect::Simple,
    Expect::Statistics,
    Expect::Binlog,
];

/// Follows `bytes` as they come in pieces. What was passed, the control packets in their places, and how it ended.
fn followed(
    (expect, caps): (Expect, Capabilities),
    bytes: &[u8],
    pieces: impl IntoIterator<Item = usize>,
) -> (Vec<(usize, Kind)>, usize, Option<ProtocolError>) {
    let mut follower = Follower::new(expect, caps);
    let (mut at, mut end, mut standing) = (0, 0, 0);
    let mut pieces = pieces.into_iter();
    let mut control = Vec::new();
    loop {
        match follower.step(&bytes[at..end]) {
            Step::Need(n) => {
                assert!(n > end - at);
                if end == bytes.len() {
                    return (control, at, None);
                }
                end = (end + pieces.next().unwrap_or(usize::MAX / 2).max(1)).min(bytes.len());
            }
            Step::Pass(n) => {
                assert!(n > 0 && at + n <= end);
                at += n;
                standing = 0;
            }
            Step::Packet { kind, len } => {
                assert!(at + len <= end);
                control.push((at, kind));
                at += len;
                standing = 0;
                if kind == Kind::LocalInfile {
                    assert!(follower.awaits_infile());
                    follower.infile_done();
                }
            }
            Step::EndOfColumns => {
                standing += 1;
                assert!(standing < 3, "stands still");
            }
            Step::Done => return (control, at, None),
            Step::Violation(error) => return (control, at, Some(error)),
        }
    }
}

/// Whatever a server sends, a follower makes progress or stops, and says no more than what is in hand.
#[test]
fn fuzz_follow() {
    bolero::check!().with_type::<(u8, u64, Vec<u8>)>().for_each(|(kind, caps, bytes)| {
        let expect = KINDS[usize::from(*kind) % KINDS.len()];
        followed((expect, Capabilities::from_bits_retain(*caps)), bytes, []);
    });
}

/// Packets that begin as the packets of a reply do, in pieces: the follower says the same of them, however they are cut.
#[test]
fn fuzz_follow_packets() {
    const BEGINNINGS: [&[u8]; 14] = [
        b"",
        b"\0",
        b"\0\0\0\x02\0\0\0",
        b"\0\0\0\x0a\0\0\0",
        b"\0\x01\0\0\0\x02\0\x01\0\0\0\0",
        b"\x01",
        b"\x02",
        b"\xfb/etc/passwd",
        b"\xfe\0\0\x02\0",
        b"\xfe\0\0\x0a\0",
        b"\xfe\0\0\x42\0\0\0",
        b"\xff\x10\x04#08004",
        b"\xff\xff\xff\x01",
        b"\x03def",
    ];
    bolero::check!().with_type::<(u8, bool, bool, Vec<(u8, Vec<u8>)>, Vec<u8>)>().for_each(
        |(kind, eof, progress, packets, pieces)| {
            let mut caps = Capabilities::PROTOCOL_41 | Capabilities::LOCAL_FILES;
            caps.set(Capabilities::DEPRECATE_EOF, *eof);
            caps.set(Capabilities::MARIADB_PROGRESS, *progress);
            let (mut bytes, mut seq) = (Vec::new(), 1);
            for (beginning, rest) in packets {
                let beginning = BEGINNINGS[usize::from(*beginning) % BEGINNINGS.len()];
                crate::packet::write(&mut bytes, &mut seq, &[beginning, rest].concat());
            }
            let expect = KINDS[usize::from(*kind) % KINDS.len()];
            let whole = followed((expect, caps), &bytes, []);
            let cut = followed((expect, caps), &bytes, pieces.iter().map(|piece| usize::from(*piece)));
            assert_eq!(whole, cut);
        },
    );
}
