//! A clock that is read without a system call: it stands still between two ticks.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Wall-clock seconds as of the last tick, and the exact time since the start for what is rarely asked.
#[derive(Debug)]
pub(crate) struct Clock {
    started: Instant,
    now: AtomicU64,
}

impl Clock {
    /// A clock that starts now.
    #[must_use]
    pub(crate) fn new() -> Self {
        Self { started: Instant::now(), now: AtomicU64::new(wall()) }
    }

    /// Reads the system's clock; whoever owns the registry does it once a second.
    pub(crate) fn advance(&self) {
        self.now.store(wall(), Relaxed);
    }

    /// Seconds since 1970 as of the last tick.
    #[must_use]
    pub(crate) fn unix_seconds(&self) -> u64 {
        self.now.load(Relaxed)
    }

    /// Whole seconds since the start.
    #[must_use]
    pub(crate) fn uptime_seconds(&self) -> u64 {
        self.started.elapsed().as_secs()
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

fn wall() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs())
}

/// `YYYY-MM-DD hh:mm:ss` in UTC; the civil-from-days algorithm of H. Hinnant, "chrono-compatible low-level date
/// algorithms". Zero, which stands for never, is empty.
#[must_use]
pub(crate) fn unix_text(seconds: u64) -> String {
    if seconds == 0 {
        return String::new();
    }
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let shifted = days.saturating_add(719_468);
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60)
}
