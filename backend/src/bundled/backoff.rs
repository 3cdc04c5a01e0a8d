//! How long to wait before a crashed server is started again.

use std::time::Duration;

/// Wait before the first restart.
pub(crate) const FIRST: Duration = Duration::from_millis(200);
/// Longest wait between two restarts; they never end.
pub(crate) const CAP: Duration = Duration::from_secs(30);
/// A server that was ready for this long has recovered: its next crash counts as the first again.
pub(crate) const STABLE: Duration = Duration::from_secs(60);

/// The wait before restart number `attempt` (1 is the first): doubling from [`FIRST`] up to [`CAP`].
pub(crate) fn delay(attempt: u32) -> Duration {
    let factor = 1_u32.checked_shl(attempt.saturating_sub(1)).unwrap_or(u32::MAX);
    FIRST.saturating_mul(factor).min(CAP)
}

/// The number of the next restart, given the number of the last one and how long the server was ready since.
pub(crate) fn next_attempt(last: u32, ready_for: Option<Duration>) -> u32 {
    match ready_for {
        Some(time) if time >= STABLE => 1,
        _ => last.saturating_add(1),
    }
}

#[cfg(test)]
mod tests;
