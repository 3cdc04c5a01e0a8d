//! A session's one timer: deadlines that usually move on before they come cost no timer operation.

use std::pin::Pin;
use std::time::Duration;

use tokio::time::{Instant, Sleep};

/// The longest time between two looks at the clock. A deadline further away is waited for in such steps.
const STEP: Duration = Duration::from_secs(60);

/// A timer that is armed rarely: when it rings before the deadline in force, it is set again.
#[derive(Debug)]
pub(super) struct Watchdog(Pin<Box<Sleep>>);

impl Watchdog {
    pub(super) fn new() -> Self {
        Self(Box::pin(tokio::time::sleep(STEP)))
    }

    /// Ends at `deadline`, and never if there is none. Cancel-safe.
    pub(super) async fn until(&mut self, deadline: Option<Instant>) {
        let Some(deadline) = deadline else { return std::future::pending().await };
        loop {
            let now = Instant::now();
            if now >= deadline {
                return;
            }
            if self.0.deadline() > deadline || self.0.is_elapsed() {
                self.0.as_mut().reset(deadline.min(now + STEP));
            }
            self.0.as_mut().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{STEP, Watchdog};
    use std::time::Duration;
    use tokio::time::Instant;

    #[tokio::test(start_paused = true)]
    async fn rings_at_the_deadline_in_force() {
        let mut watchdog = Watchdog::new();
        for wait in [Duration::from_millis(5), STEP * 3, Duration::from_secs(1), Duration::ZERO] {
            let start = Instant::now();
            watchdog.until(Some(start + wait)).await;
            let late = start.elapsed().saturating_sub(wait);
            assert!(late < Duration::from_millis(2), "{wait:?}: {late:?} late");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn never_rings_without_a_deadline() {
        let mut watchdog = Watchdog::new();
        let waited = tokio::time::timeout(Duration::from_secs(86_400), watchdog.until(None)).await;
        assert!(waited.is_err());
    }
}
