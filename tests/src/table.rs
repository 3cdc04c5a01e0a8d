//! Tables of Markdown, and figures in them.

use std::fmt::{self, Write as _};

use crate::statistics::Estimate;

/// A table that grows line by line.
#[derive(Debug, Clone, Default)]
pub struct Table(String);

impl Table {
    /// A table with these columns.
    pub fn new<S: AsRef<str>>(columns: &[S]) -> Table {
        let mut table = Table(String::new());
        table.line(columns);
        table.line(&vec!["---"; columns.len()]);
        table
    }

    /// One line.
    pub fn line<S: AsRef<str>>(&mut self, cells: &[S]) {
        for cell in cells {
            let _ = write!(self.0, "| {} ", cell.as_ref());
        }
        self.0.push_str("|\n");
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A figure, or a dash.
pub fn figure(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.digits$}"))
}

/// A median with its interval, or a dash.
pub fn interval(estimate: Option<Estimate>, digits: usize) -> String {
    let Some(Estimate { median, low, high, confidence }) = estimate else { return "–".to_owned() };
    if confidence < 0.5 {
        return format!("{median:.digits$}");
    }
    format!("**{median:.digits$}** [{low:.digits$}, {high:.digits$}], {:.0} %", confidence * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_shown_where_they_say_something() {
        let one = Estimate { median: 2.0, low: 2.0, high: 2.0, confidence: 0.0 };
        assert_eq!(interval(Some(one), 1), "2.0");
        let more = Estimate { median: 2.0, low: 1.0, high: 3.0, confidence: 0.96 };
        assert_eq!(interval(Some(more), 1), "**2.0** [1.0, 3.0], 96 %");
    }
}
