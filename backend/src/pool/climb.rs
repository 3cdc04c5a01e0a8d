//! How many statements at once a server is quickest with, found by trying.
//!
//! Below some number a server has idle cores, above it statements only get in each other's way, and both depend on the
//! statements. So while sessions wait, rounds with one number more or less are compared with the round before: more is
//! kept where clearly more gets done, fewer where it is no less. Nothing is tried while nobody waits.

use std::time::Duration;

use super::Demand;

/// The length of a round.
pub(super) const ROUND: Duration = Duration::from_millis(500);

/// More connections must do more by this factor.
const GAIN: f64 = 1.05;
/// Fewer connections may do less by this factor.
const LOSS: f64 = 0.98;
/// Rounds after a vain attempt, before the next.
const REST: u32 = 20;

/// Between which numbers the right one is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// The least.
    pub least: usize,
    /// The most.
    pub most: usize,
}

/// What is known so far: a pure state machine, fed once a round.
#[derive(Debug)]
pub struct Climb {
    size: usize,
    range: Range,
    state: State,
}

#[derive(Debug, Clone, Copy)]
enum State {
    /// Nothing is tried for so many rounds; then in this direction.
    Rest(u32, Way),
    /// The round shows what is done without a change.
    Measure(Way),
    /// The first round after a change: connections come and go.
    Settle { way: Way, before: usize, rate: f64 },
    /// The round shows what is done with the change.
    Try { way: Way, before: usize, rate: f64 },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Up,
    Down,
}

impl Climb {
    /// Begins at a size.
    #[must_use]
    pub fn new(size: usize, range: Range) -> Self {
        Self { size: size.clamp(range.least, range.most), range, state: State::Measure(Way::Up) }
    }

    /// Takes in what happened within a round, and returns the size for the next.
    pub fn round(&mut self, demand: Demand, time: Duration) -> usize {
        // One who waits now and then says that the size is right, not that it is too small.
        let crowded = demand.waited * 10 >= demand.lent.max(1);
        let rate = demand.lent as f64 / time.as_secs_f64().max(0.001);
        self.state = match self.state {
            // Nobody waits: what was tried cannot be judged.
            State::Settle { before, .. } | State::Try { before, .. } if !crowded => {
                self.size = before.max(self.size);
                State::Measure(Way::Up)
            }
            State::Rest(..) | State::Measure(_) if !crowded => State::Measure(Way::Up),
            State::Rest(0, way) => State::Measure(way),
            State::Rest(rounds, way) => State::Rest(rounds - 1, way),
            State::Measure(way) => self.change(way, rate),
            State::Settle { way, before, rate } => State::Try { way, before, rate },
            State::Try { way, before, rate: old } => {
                let better = match way {
                    Way::Up => rate >= old * GAIN,
                    Way::Down => rate >= old * LOSS,
                };
                if better {
                    State::Measure(way)
                } else {
                    self.size = before;
                    State::Rest(REST, way.other())
                }
            }
        };
        self.size
    }

    /// A quarter more or less.
    fn change(&mut self, way: Way, rate: f64) -> State {
        let before = self.size;
        let step = (before / 4).max(1);
        let wanted = match way {
            Way::Up => before + step,
            Way::Down => before - step.min(before),
        };
        self.size = wanted.clamp(self.range.least, self.range.most);
        if self.size == before {
            return State::Rest(REST, way.other());
        }
        State::Settle { way, before, rate }
    }
}

impl Way {
    const fn other(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Down => Self::Up,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANGE: Range = Range { least: 4, most: 200 };

    /// Runs against a server that does `rate(n)` statements a second with `n` at once, while `clients` want to.
    fn settles(start: usize, clients: usize, rounds: usize, rate: impl Fn(f64) -> f64) -> usize {
        let mut climb = Climb::new(start, RANGE);
        let mut size = climb.size;
        // A few percent of noise, the same in each run.
        let mut noise = 7_u64;
        for _ in 0..rounds {
            noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let factor = 1.0 + ((noise >> 33) % 1000) as f64 / 1000.0 * 0.02 - 0.01;
            let lent = (rate(size.min(clients) as f64) * factor * ROUND.as_secs_f64()) as u64;
            let waited = if clients > size { lent } else { 0 };
            size = climb.round(Demand { lent, waited }, ROUND);
        }
        size
    }

    #[test]
    fn it_grows_while_more_gets_done() {
        // As many cores as anybody may want: half of what came first is never kept for long.
        assert!(settles(16, 500, 200, |n| n * 50.0) > 150);
        // Forty at once, and no more.
        let found = settles(16, 500, 400, |n| n.min(40.0) * 50.0);
        assert!((30..=64).contains(&found), "{found}");
    }

    #[test]
    fn it_shrinks_where_fewer_do_as_much() {
        let found = settles(64, 500, 400, |n| 1000.0 * (n / 8.0).min(1.0) / (1.0 + n / 400.0));
        assert!((6..=16).contains(&found), "{found}");
    }

    #[test]
    fn it_stays_where_nobody_waits() {
        assert_eq!(settles(16, 10, 200, |n| n * 50.0), 16);
        assert_eq!(settles(16, 0, 200, |n| n * 50.0), 16);
    }

    #[test]
    fn it_never_leaves_its_range() {
        assert_eq!(Climb::new(1, RANGE).round(Demand::default(), ROUND), 4);
        assert_eq!(settles(4, 500, 400, |_| 1000.0), 4);
        assert_eq!(settles(4, 900, 400, |n| n * n), 200);
    }
}
