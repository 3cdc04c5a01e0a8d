//! What is to be reached, and whether it was: said by the interval, not by the median.

use std::fmt;

use shuntyard_tests::statistics::Estimate;

/// Below this probability an interval decides nothing.
const CONFIDENCE: f64 = 0.95;

/// On which side of a number a figure has to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Target {
    AtLeast(f64),
    AtMost(f64),
    Below(f64),
}

/// Whether it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The whole interval is on the right side.
    Reached,
    /// The whole interval is on the wrong side.
    NotReached,
    /// The interval has both, or is not sure enough.
    Open,
}

impl Target {
    /// Judges a figure.
    pub(crate) fn judge(self, estimate: &Estimate) -> Verdict {
        let (low, high) = (self.holds(estimate.low), self.holds(estimate.high));
        match (low, high) {
            _ if estimate.confidence < CONFIDENCE => Verdict::Open,
            (true, true) => Verdict::Reached,
            (false, false) => Verdict::NotReached,
            _ => Verdict::Open,
        }
    }

    fn holds(self, figure: f64) -> bool {
        match self {
            Target::AtLeast(bound) => figure >= bound,
            Target::AtMost(bound) => figure <= bound,
            Target::Below(bound) => figure < bound,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::AtLeast(bound) => write!(f, "≥ {bound}"),
            Target::AtMost(bound) => write!(f, "≤ {bound}"),
            Target::Below(bound) => write!(f, "< {bound}"),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Reached => "reached",
            Verdict::NotReached => "**not reached**",
            Verdict::Open => "open",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(low: f64, high: f64, confidence: f64) -> Estimate {
        Estimate { median: f64::midpoint(low, high), low, high, confidence }
    }

    #[test]
    fn the_whole_interval_decides() {
        let target = Target::AtLeast(1.1);
        assert_eq!(target.judge(&between(1.1, 1.3, 0.96)), Verdict::Reached);
        assert_eq!(target.judge(&between(0.9, 1.05, 0.96)), Verdict::NotReached);
        assert_eq!(target.judge(&between(1.0, 1.3, 0.96)), Verdict::Open);
        assert_eq!(Target::Below(1.0).judge(&between(0.7, 1.0, 0.96)), Verdict::Open);
        assert_eq!(Target::AtMost(1.0).judge(&between(0.7, 1.0, 0.96)), Verdict::Reached);
    }

    #[test]
    fn too_few_rounds_decide_nothing() {
        assert_eq!(Target::AtLeast(1.1).judge(&between(2.0, 3.0, 0.5)), Verdict::Open);
    }
}
