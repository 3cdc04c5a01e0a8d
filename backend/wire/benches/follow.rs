//! How fast a follower goes over rows: bytes in hand at once as a relay has them, 16 KiB to 256 KiB.

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use wire::Capabilities;
use wire::follow::{Expect, Follower, Step};

fn main() {
    divan::main();
}

const CAPABILITIES: Capabilities = Capabilities::DEPRECATE_EOF.union(Capabilities::PROTOCOL_41);

/// As many rows of `len` bytes as fit into `total`, as of the middle of a result set.
fn rows(len: usize, total: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(total);
    let mut seq = 0;
    while bytes.len() + len + wire::packet::HEADER <= total {
        wire::packet::write(&mut bytes, &mut seq, &vec![b'x'; len]);
    }
    bytes
}

#[divan::bench(args = [16, 100, 1000], consts = [16384, 262_144])]
fn step<const TOTAL: usize>(bencher: Bencher<'_, '_>, len: usize) {
    let bytes = rows(len, TOTAL);
    bencher
        .counter(BytesCount::new(bytes.len()))
        .counter(ItemsCount::new(bytes.len() / (len + wire::packet::HEADER)))
        .bench_local(|| {
            let mut follower = Follower::new(Expect::Fetch, CAPABILITIES);
            assert_eq!(follower.step(black_box(&bytes)), Step::Pass(bytes.len()));
        });
}

#[divan::bench(args = [16, 100, 1000], consts = [16384, 262_144])]
fn step_mut<const TOTAL: usize>(bencher: Bencher<'_, '_>, len: usize) {
    let mut bytes = rows(len, TOTAL);
    bencher
        .counter(BytesCount::new(bytes.len()))
        .counter(ItemsCount::new(bytes.len() / (len + wire::packet::HEADER)))
        .bench_local(|| {
            let mut follower = Follower::new(Expect::Fetch, CAPABILITIES);
            let len = bytes.len();
            assert_eq!(follower.step_mut(black_box(&mut bytes), 1), Step::Pass(len));
        });
}

/// The reply to a lookup by key: one column, one row.
#[divan::bench]
fn lookup(bencher: Bencher<'_, '_>) {
    let mut bytes = Vec::new();
    let mut seq = 1;
    for payload in [&b"\x01"[..], &[3; 60], b"\x0212", b"\xfe\0\0\x02\0\0\0"] {
        wire::packet::write(&mut bytes, &mut seq, payload);
    }
    bencher.bench_local(|| {
        let mut follower = Follower::new(Expect::Query, CAPABILITIES);
        let mut at = 0;
        loop {
            match follower.step(black_box(&bytes[at..])) {
                Step::Pass(n) | Step::Packet { len: n, .. } => at += n,
                Step::EndOfColumns => {}
                Step::Done => return at,
                other => panic!("{other:?}"),
            }
        }
    });
}
