//! Medians and their intervals without assumptions about the distribution.

/// A median and the interval that holds it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The sample's median.
    pub median: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Probability that the interval holds the true median, from 0 to 1.
    pub confidence: f64,
}

/// The median with the narrowest interval of order statistics that holds it with at least 95 %, or the widest that the
/// sample has. The number of values below the true median is binomial(n, ½) whatever the distribution (David and
/// Nagaraja, Order Statistics, 7.1), so [x(k), x(n+1−k)] holds it with probability 1 − 2·P(B < k).
pub fn estimate(values: &[f64]) -> Option<Estimate> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let first = *sorted.first()?;
    let last = *sorted.last()?;
    let median = match n % 2 {
        1 => *sorted.get(n / 2)?,
        _ => (sorted.get(n / 2 - 1)? + sorted.get(n / 2)?) / 2.0,
    };
    let mut best = Estimate { median, low: first, high: last, confidence: coverage(n, 1) };
    for k in 2..=n.div_ceil(2) {
        let confidence = coverage(n, k);
        if confidence < 0.95 {
            break;
        }
        best = Estimate { median, low: *sorted.get(k - 1)?, high: *sorted.get(n - k)?, confidence };
    }
    Some(best)
}

/// 1 − 2·P(binomial(n, ½) < k).
fn coverage(n: usize, k: usize) -> f64 {
    let mut term = 0.5_f64.powi(i32::try_from(n).unwrap_or(i32::MAX));
    let mut below = 0.0;
    for i in 0..k {
        below += term;
        term *= (n - i) as f64 / (i + 1) as f64;
    }
    (1.0 - 2.0 * below).max(0.0)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn seven_values_span_their_range() {
        let e = estimate(&[7.0, 1.0, 3.0, 2.0, 6.0, 5.0, 4.0]).unwrap();
        assert_eq!((e.median, e.low, e.high), (4.0, 1.0, 7.0));
        assert!((e.confidence - (1.0 - 2.0 / 128.0)).abs() < 1e-12);
    }

    #[test]
    fn more_values_narrow_it() {
        let values: Vec<f64> = (1..=20).map(f64::from).collect();
        let e = estimate(&values).unwrap();
        // The textbook's interval for n = 20: the 6th and the 15th value, 95.9 %.
        assert_eq!((e.median, e.low, e.high), (10.5, 6.0, 15.0));
        assert!((e.confidence - 0.9586).abs() < 1e-4);
    }

    #[test]
    fn one_value_says_nothing_about_the_spread() {
        let e = estimate(&[2.0]).unwrap();
        assert_eq!((e.median, e.low, e.high, e.confidence), (2.0, 2.0, 2.0, 0.0));
        assert_eq!(estimate(&[]), None);
    }
}
