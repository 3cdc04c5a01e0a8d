//! Reads scalars as text, numbers, truth values, choices, durations and sizes.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use super::{Node, Scalar, Style, Value};
use crate::source::{Faults, closest};

const DURATIONS: [(&str, u64); 5] =
    [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
const SIZES: [(&str, u64); 7] = [
    ("B", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
];

impl Node {
    fn scalar(&self) -> Option<&Scalar> {
        match &self.value {
            Value::Scalar(scalar) => Some(scalar),
            Value::Seq(_) | Value::Map(_) => None,
        }
    }

    fn wrong<T>(&self, expected: impl Display, faults: &Faults) -> Option<T> {
        faults.add(self.span, format!("expected {expected}, found {}", self.describe()));
        None
    }

    /// The text of a scalar, however it was written; a number counts as its digits. Nothing at all is a fault.
    pub fn text<'n>(&'n self, what: &str, faults: &Faults) -> Option<&'n str> {
        match self.scalar() {
            Some(scalar) if !self.is_null() => Some(&scalar.text),
            _ => self.wrong(what, faults),
        }
    }

    /// `true` or `false`, nothing else: `yes`, `on` and `1` mean different things to different tools.
    pub fn truth(&self, faults: &Faults) -> Option<bool> {
        match self.scalar() {
            Some(Scalar { text, style: Style::Plain }) if text == "true" => Some(true),
            Some(Scalar { text, style: Style::Plain }) if text == "false" => Some(false),
            _ => self.wrong("true or false", faults),
        }
    }

    /// A whole number in decimal digits within `range`; a quoted one is a fault.
    pub fn integer<T>(&self, range: RangeInclusive<T>, faults: &Faults) -> Option<T>
    where
        T: FromStr + PartialOrd + Display,
    {
        let parsed = match self.scalar() {
            Some(Scalar { text, style: Style::Plain }) if is_digits(text) => text.parse::<T>().ok(),
            _ => None,
        };
        match parsed {
            Some(number) if range.contains(&number) => Some(number),
            _ => self.wrong(format_args!("a whole number from {} to {}", range.start(), range.end()), faults),
        }
    }

    /// One word out of `choices`, each with what it means.
    pub fn choice<T: Clone>(&self, choices: &[(&'static str, T)], faults: &Faults) -> Option<T> {
        let names = || choices.iter().map(|(name, _)| *name);
        let word = self.scalar().map_or("", |scalar| scalar.text.as_str());
        if let Some((_, meaning)) = choices.iter().find(|(name, _)| *name == word) {
            return Some(meaning.clone());
        }
        let hint = match closest(word, names()) {
            Some(name) if !word.is_empty() => format!(", did you mean `{name}`?"),
            _ => String::new(),
        };
        let all: Vec<_> = names().collect();
        faults.add(self.span, format!("expected one of {}, found {}{hint}", all.join(", "), self.describe()));
        None
    }

    /// A duration with its unit: `500ms`, `2s`, `10m`, `8h`, `1d`.
    pub fn duration(&self, faults: &Faults) -> Option<Duration> {
        match self.scalar().and_then(|scalar| with_unit(&scalar.text, &DURATIONS)) {
            Some(millis) => Some(Duration::from_millis(millis)),
            None => self.wrong("a duration such as 500ms, 2s, 10m, 8h or 1d", faults),
        }
    }

    /// A number of bytes with its unit: `256MiB`, `64KiB`, `1GB`.
    pub fn bytes(&self, faults: &Faults) -> Option<u64> {
        match self.scalar().and_then(|scalar| with_unit(&scalar.text, &SIZES)) {
            Some(bytes) => Some(bytes),
            None => self.wrong("a size such as 64KiB, 256MiB or 1GiB", faults),
        }
    }

    /// A share written as a percentage, `1%` or `0.5%`, as a fraction from 0 to 1.
    pub fn percent(&self, faults: &Faults) -> Option<f64> {
        let share = self.scalar().and_then(|scalar| {
            let number = scalar.text.strip_suffix('%')?;
            let plain = number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
            number.parse::<f64>().ok().filter(|share| plain && (0.0..=100.0).contains(share))
        });
        match share {
            Some(share) => Some(share / 100.0),
            None => self.wrong("a percentage from 0% to 100%", faults),
        }
    }
}

fn is_digits(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

fn with_unit(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let split = text.find(|c: char| !c.is_ascii_digit())?;
    let (digits, unit) = text.split_at_checked(split)?;
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    digits.parse::<u64>().ok()?.checked_mul(*factor)
}
