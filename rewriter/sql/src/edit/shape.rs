//! Forms of strings that a rewrite may rest on.

/// The form of what stands in a string's quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// `2024-02`: a month of the years 1 to 9998.
    Month,
    /// `2024-02-29`: a day that the month has.
    Date,
    /// `2024-02-29 23:59:59`
    DateTime,
    /// Letters and digits of ASCII, at least one: no space, no wildcard, nothing to escape.
    Plain,
}

impl Shape {
    /// What a message calls it.
    pub fn describe(self) -> &'static str {
        match self {
            Shape::Month => "a month of the form 'YYYY-MM'",
            Shape::Date => "a date of the form 'YYYY-MM-DD'",
            Shape::DateTime => "a time of the form 'YYYY-MM-DD HH:MM:SS'",
            Shape::Plain => "made of ASCII letters and digits alone",
        }
    }

    /// Whether a string is of this form.
    pub fn is_of(self, text: &[u8]) -> bool {
        match self {
            Shape::Month => text.len() == 7 && date(text, b"-01").is_some(),
            Shape::Date => text.len() == 10 && date(text, b"").is_some(),
            Shape::DateTime => match text.split_at_checked(10) {
                Some((day, clock)) => date(day, b"").is_some() && is_clock(clock),
                None => false,
            },
            Shape::Plain => !text.is_empty() && text.iter().all(u8::is_ascii_alphanumeric),
        }
    }
}

/// `YYYY-MM` or `YYYY-MM-DD` with what is missing of it behind: `Some` where it is a day of the calendar.
fn date(text: &[u8], rest: &[u8]) -> Option<()> {
    let whole = [text, rest].concat();
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = whole.as_slice() else {
        return None;
    };
    let (year, month, day) = (number(&[*y1, *y2, *y3, *y4])?, number(&[*m1, *m2])?, number(&[*d1, *d2])?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    ((1..=9998).contains(&year) && (1..=last).contains(&day)).then_some(())
}

/// ` HH:MM:SS`
fn is_clock(text: &[u8]) -> bool {
    let [b' ', h1, h2, b':', m1, m2, b':', s1, s2] = text else {
        return false;
    };
    let below = |digits: [u8; 2], bound| number(&digits).is_some_and(|value| value < bound);
    below([*h1, *h2], 24) && below([*m1, *m2], 60) && below([*s1, *s2], 60)
}

fn number(digits: &[u8]) -> Option<u32> {
    let digit = |byte: &u8| byte.is_ascii_digit().then(|| u32::from(byte - b'0'));
    digits.iter().try_fold(0, |sum, byte| digit(byte).map(|digit| sum * 10 + digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_told_apart() {
        for (shape, good, bad) in [
            (
                Shape::Month,
                &["2024-02", "0001-12"][..],
                &["2024-2", "2024-13", "0000-01", "9999-01", "2024-02-01"][..],
            ),
            (
                Shape::Date,
                &["2024-02-29", "2023-12-31"],
                &["2023-02-29", "2023-00-10", "2023-04-31", "23-04-30", "2023-04-3a", ""],
            ),
            (
                Shape::DateTime,
                &["2024-02-29 23:59:59"],
                &["2024-02-29", "2024-02-29T23:59:59", "2024-02-29 24:00:00", "2024-02-29 23:59:60"],
            ),
            (Shape::Plain, &["R1", "x"], &["", "R 1", "R%", "a_b", "a\\b", "\u{e9}", "it''s"]),
        ] {
            for text in good {
                assert!(shape.is_of(text.as_bytes()), "{shape:?} {text}");
            }
            for text in bad {
                assert!(!shape.is_of(text.as_bytes()), "{shape:?} {text}");
            }
        }
    }
}
