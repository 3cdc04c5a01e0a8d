//! Tests of memory sizing.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::{GIB, MIB, Memory, STEP, total};
use std::num::NonZeroU32;

fn n(servers: u32) -> NonZeroU32 {
    NonZeroU32::new(servers).unwrap()
}

#[test]
fn small_stays_small_on_a_big_machine() {
    let sizes = Memory::Small { servers: n(2) }.sizes(64 * GIB);
    assert_eq!((sizes.buffer_pool, sizes.log_file), (512 * MIB, 256 * MIB));
    assert_eq!(Memory::Small { servers: n(2) }.sizes(GIB).buffer_pool, 256 * MIB);
}

#[test]
fn all_servers_together_take_half() {
    for total in [2 * GIB, 23 * GIB, 100 * GIB] {
        for servers in [1, 2, 3, 7] {
            let pool = Memory::Half { servers: n(servers) }.sizes(total).buffer_pool;
            assert!(pool * u64::from(servers) <= total / 2, "{total} {servers}");
            assert_eq!(pool % STEP, 0);
        }
    }
}

#[test]
fn a_tiny_machine_still_gets_a_pool() {
    let sizes = Memory::Half { servers: n(9) }.sizes(0);
    assert_eq!((sizes.buffer_pool, sizes.log_file), (64 * MIB, 64 * MIB));
}

#[test]
fn a_container_limit_counts() {
    let meminfo = "MemTotal:       24591116 kB\nMemFree: 1 kB\n";
    assert_eq!(total(meminfo, "max\n"), Some(24_591_116 * 1024));
    assert_eq!(total(meminfo, "1073741824\n"), Some(GIB));
    assert_eq!(total(meminfo, "9999999999999999\n"), Some(24_591_116 * 1024));
    assert_eq!(total("", "max"), None);
    assert_eq!(total("MemTotal: x kB", ""), None);
}
