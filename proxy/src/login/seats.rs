//! How many sessions each user has, where that is bounded.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The seats that are taken, by user.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seats(Arc<Mutex<HashMap<String, usize>>>);

/// A session's seat; free again once this is dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    seats: Seats,
    user: String,
}

impl Seats {
    /// A seat for one more session of `user`; none where it has `most` already.
    pub(super) fn take(&self, user: &str, most: usize) -> Option<Seat> {
        let mut taken = self.lock();
        let count = taken.entry(user.to_owned()).or_default();
        if *count >= most {
            return None;
        }
        *count += 1;
        Some(Seat { seats: self.clone(), user: user.to_owned() })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut taken = self.seats.lock();
        if let Some(count) = taken.get_mut(&self.user) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&self.user);
            }
        }
    }
}

#[cfg(test)]
mod tests;
