//! How much memory a bundled server may take: decided from the machine's memory and the number of servers.

use std::num::NonZeroU32;

const MIB: u64 = 1024 * 1024;
const GIB: u64 = 1024 * MIB;

/// What part of the machine a bundled server may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// For trying things out: a buffer pool of at most 512 MiB, less on a small machine.
    Small {
        /// Number of bundled servers on this machine.
        servers: NonZeroU32,
    },
    /// For keeping data: the buffer pools of all bundled servers together take half of the machine.
    Half {
        /// Number of bundled servers on this machine.
        servers: NonZeroU32,
    },
}

/// Sizes in bytes, as they go into the option file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// `innodb_buffer_pool_size`.
    pub(crate) buffer_pool: u64,
    /// `innodb_log_file_size`: half of the pool, so that checkpoints do not hold back a bulk load.
    pub(crate) log_file: u64,
}

const SMALLEST_POOL: u64 = 64 * MIB;
const SMALL_POOL: u64 = 512 * MIB;
const LARGEST_POOL: u64 = 256 * GIB;
/// InnoDB in MariaDB 10.11 wants a pool of whole chunks; multiples of this are whole in every version.
const STEP: u64 = 64 * MIB;

impl Memory {
    /// The sizes for one server on a machine with `total` bytes of memory.
    pub(crate) fn sizes(self, total: u64) -> Sizes {
        let (servers, cap) = match self {
            Self::Small { servers } => (servers, SMALL_POOL),
            Self::Half { servers } => (servers, LARGEST_POOL),
        };
        let share = total / 2 / u64::from(servers.get());
        let pool = share.clamp(SMALLEST_POOL, cap) / STEP * STEP;
        Sizes { buffer_pool: pool, log_file: (pool / 2).clamp(64 * MIB, 2 * GIB) }
    }
}

/// What is assumed of a machine that does not tell its memory.
pub(crate) const UNKNOWN: u64 = 2 * GIB;

/// Total memory in bytes from the text of `/proc/meminfo`, lowered to a cgroup's `memory.max` where that is a number.
pub(crate) fn total(meminfo: &str, cgroup_max: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|l| l.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    let machine = kib.checked_mul(1024)?;
    Some(cgroup_max.trim().parse().map_or(machine, |limit: u64| limit.min(machine)))
}

#[cfg(test)]
mod tests;
