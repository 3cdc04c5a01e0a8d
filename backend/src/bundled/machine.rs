//! The machine's memory, asked from the operating system.

use super::memory;
use std::process::Command;

/// Total memory in bytes that this process and its children may use.
pub(crate) fn total_memory() -> u64 {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let limit = match read("/sys/fs/cgroup/memory.max") {
        text if text.is_empty() => read("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
        text => text,
    };
    memory::total(&read("/proc/meminfo"), &limit).or_else(sysctl).unwrap_or(memory::UNKNOWN)
}

/// macOS and the BSDs.
fn sysctl() -> Option<u64> {
    let output = Command::new("sysctl").args(["-n", "hw.memsize"]).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}
