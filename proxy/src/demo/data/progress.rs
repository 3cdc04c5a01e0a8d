//! How far a load is: a bar on a terminal, a line now and then elsewhere.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Told about every step of a load.
pub(crate) trait Progress: Sync {
    /// This many rows are to be made.
    fn begin(&self, rows: u64);
    /// So many more are there; 0 for a step that makes none (a key).
    fn advance(&self, rows: u64);
    /// The load is whole.
    fn end(&self);
}

/// Writes to standard error.
#[derive(Debug)]
pub(crate) struct Terminal {
    bar: ProgressBar,
    lines: Option<Mutex<Lines>>,
}

/// What was said last, where there is no terminal to draw on.
#[derive(Debug)]
struct Lines {
    begun: Instant,
    said: Instant,
}

/// Between two lines.
const PAUSE: Duration = Duration::from_secs(2);

impl Default for Terminal {
    fn default() -> Self {
        let bar = ProgressBar::new(0).with_message("sample shop");
        // A fixed text that the library accepts; were it refused, its own style would do.
        if let Ok(style) =
            ProgressStyle::with_template("{msg}  {wide_bar}  {human_pos} of {human_len} rows  {elapsed}")
        {
            bar.set_style(style);
        }
        let lines =
            bar.is_hidden().then(|| Mutex::new(Lines { begun: Instant::now(), said: Instant::now() }));
        Self { bar, lines }
    }
}

impl Terminal {
    fn say(&self, text: std::fmt::Arguments<'_>) {
        use std::io::Write as _;
        // Nobody to tell is no reason to stop.
        let _ = writeln!(std::io::stderr().lock(), "sample shop: {text}");
    }
}

impl Progress for Terminal {
    fn begin(&self, rows: u64) {
        self.bar.set_length(rows);
        if self.lines.is_some() {
            self.say(format_args!("{rows} rows to make"));
        } else {
            self.bar.enable_steady_tick(Duration::from_millis(200));
        }
    }

    fn advance(&self, rows: u64) {
        self.bar.inc(rows);
        let (made, of) = (self.bar.position(), self.bar.length().unwrap_or(0));
        if made >= of {
            self.bar.set_message("sample shop: keys");
        }
        let Some(Ok(mut lines)) = self.lines.as_ref().map(Mutex::lock) else { return };
        if lines.said.elapsed() >= PAUSE {
            lines.said = Instant::now();
            self.say(format_args!("{made} of {of} rows"));
        }
    }

    fn end(&self) {
        match self.lines.as_ref().map(Mutex::lock) {
            Some(Ok(lines)) => {
                self.say(format_args!("ready after {:.1} s", lines.begun.elapsed().as_secs_f64()))
            }
            _ => self.bar.finish_and_clear(),
        }
    }
}
