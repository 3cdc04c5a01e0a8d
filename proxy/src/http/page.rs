//! The console: one page of plain HTML, readable without JavaScript and without a style sheet.

use std::fmt::{self, Write as _};

use super::sparkline::{Curve, svg};
use crate::admin::Source;
use crate::stats::{Counter, DigestRow, Sample};

mod tables;

/// The curves' span in seconds.
const SPAN: usize = 600;
/// Seconds that "now" is averaged over.
const NOW: usize = 5;

/// Whether the page asks to be loaded again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refresh {
    /// Every five seconds.
    On,
    /// Never.
    Off,
}

/// Text between tags or in quoted attributes.
pub(super) struct Escaped<'t>(pub(super) &'t str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.0.chars() {
            match letter {
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '&' => f.write_str("&amp;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

/// The style sheet.
pub(super) fn style() -> &'static str {
    include_str!("../../assets/console.css")
}

/// The page of this moment.
pub(super) fn console(source: &dyn Source, refresh: Refresh) -> String {
    let mut out = String::with_capacity(64 << 10);
    // Writing to a String cannot fail.
    let _ = write(&mut out, source, refresh);
    out
}

fn write(out: &mut String, source: &dyn Source, refresh: Refresh) -> fmt::Result {
    let samples = source.registry().history.read();
    out.push_str("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Shuntyard</title>");
    out.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
    if refresh == Refresh::On {
        out.push_str("<meta http-equiv=\"refresh\" content=\"5\">");
    }
    out.push_str("<link rel=\"stylesheet\" href=\"/console.css\"></head><body>");
    header(out, source, refresh)?;
    out.push_str("<main>");
    tiles(out, source, &samples)?;
    charts(out, &samples)?;
    let (rows, digests) = top(source.registry().digests.read());
    tables::queries(out, &rows, digests)?;
    tables::rules(out, &source.rules(), source.rules_on())?;
    tables::backends(out, &source.backends())?;
    out.push_str("</main><footer><a href=\"/metrics\">/metrics</a> <a href=\"/livez\">/livez</a> ");
    out.push_str("<a href=\"/readyz\">/readyz</a> · the same from any MySQL client: <code>SHOW SHUNTYARD STATUS</code>");
    out.push_str("</footer></body></html>\n");
    Ok(())
}

fn header(out: &mut String, source: &dyn Source, refresh: Refresh) -> fmt::Result {
    let registry = source.registry();
    let badge = |on: bool, good: &str, bad: &str| match on {
        true => format!("<span class=\"badge good\">{good}</span>"),
        false => format!("<span class=\"badge bad\">{bad}</span>"),
    };
    let backends = source.backends();
    let up = backends.iter().filter(|backend| backend.state == "up").count();
    let other = match refresh {
        Refresh::On => "<a href=\"/?refresh=off\">stop reloading</a>",
        Refresh::Off => "<a href=\"/\">reload every 5 s</a>",
    };
    write!(
        out,
        "<header><h1>Shuntyard</h1><p>{} {} {}<span class=\"quiet\">version {} · up {} · {} UTC · {other}</span></p></header>",
        badge(
            up == backends.len(),
            &format!("{up} of {} backends up", backends.len()),
            &format!("{up} of {} backends up", backends.len())
        ),
        badge(source.rules_on(), "rules on", "rules off"),
        if source.draining() { badge(false, "", "draining") } else { String::new() },
        env!("CARGO_PKG_VERSION"),
        span(registry.clock().uptime_seconds()),
        crate::stats::unix_text(registry.clock().unix_seconds()),
    )
}

fn tiles(out: &mut String, source: &dyn Source, samples: &[Sample]) -> fmt::Result {
    let totals = source.registry().totals.read();
    let recent = samples.get(samples.len().saturating_sub(NOW)..).unwrap_or_default();
    let seconds: u64 = recent.iter().map(|sample| sample.seconds).sum();
    let rate = |of: fn(&Sample) -> u64| recent.iter().map(of).sum::<u64>() as f64 / seconds.max(1) as f64;
    let latency = |quantile| millis(totals.latencies.quantile(quantile));
    let planned = totals.get(Counter::PlanHits).saturating_add(totals.get(Counter::PlanMisses));
    let share = |part: u64, whole: u64| match whole {
        0 => "–".to_owned(),
        _ => format!("{:.1} %", part as f64 * 100.0 / whole as f64),
    };
    let tiles = [
        ("queries per second", number(rate(|sample| sample.queries))),
        ("errors per second", number(rate(|sample| sample.errors))),
        ("sessions", number(source.registry().sessions.len() as f64)),
        ("median latency", latency(0.5)),
        ("99th percentile", latency(0.99)),
        ("rewritten", number(totals.get(Counter::Rewritten) as f64)),
        ("plan cache", share(totals.get(Counter::PlanHits), planned)),
        ("not understood", number(totals.get(Counter::Unparsed) as f64)),
        ("traffic", format!("{}/s", bytes(rate(|sample| sample.bytes)))),
    ];
    out.push_str("<dl class=\"tiles\">");
    for (name, value) in tiles {
        write!(out, "<div><dt>{name}</dt><dd>{value}</dd></div>")?;
    }
    out.push_str("</dl>");
    Ok(())
}

fn charts(out: &mut String, samples: &[Sample]) -> fmt::Result {
    let per_second = |value: u64, sample: &Sample| value as f64 / sample.seconds.max(1) as f64;
    let queries: Vec<_> = samples.iter().map(|sample| Some(per_second(sample.queries, sample))).collect();
    let errors: Vec<_> = samples.iter().map(|sample| Some(per_second(sample.errors, sample))).collect();
    let latency = |of: fn(&Sample) -> u64| -> Vec<Option<f64>> {
        samples.iter().map(|sample| (sample.queries > 0).then(|| of(sample) as f64)).collect()
    };
    let (p50, p99) = (latency(|sample| sample.p50), latency(|sample| sample.p99));
    let largest =
        |values: &[Option<f64>]| values.iter().flatten().fold(0.0_f64, |top, value| top.max(*value));
    let (most, longest) = (largest(&queries), largest(&p99));
    out.push_str("<div class=\"charts\">");
    let curves = [Curve { class: "line", values: &queries }, Curve { class: "line fault", values: &errors }];
    figure(
        out,
        "Queries per second",
        &number(most),
        "errors",
        &svg("Queries per second over ten minutes", SPAN, most, &curves),
    )?;
    let curves = [Curve { class: "line", values: &p50 }, Curve { class: "line second", values: &p99 }];
    let title = "Latency over ten minutes, median and 99th percentile";
    figure(
        out,
        "Median latency",
        &millis(longest as u64),
        "99th percentile",
        &svg(title, SPAN, longest, &curves),
    )?;
    out.push_str("</div>");
    Ok(())
}

fn figure(out: &mut String, first: &str, top: &str, second: &str, svg: &str) -> fmt::Result {
    let class = if second == "errors" { "fault" } else { "second" };
    write!(
        out,
        "<figure><figcaption><span><i class=\"key line\"></i>{first} <i class=\"key {class}\"></i>{second}</span>\
         <span class=\"quiet\">top {top}</span></figcaption>{svg}\
         <p class=\"axis\"><span>10 minutes ago</span><span>now</span></p></figure>"
    )
}

/// The digests that took most time, and how many there are.
fn top(mut rows: Vec<DigestRow>) -> (Vec<DigestRow>, usize) {
    let digests = rows.len();
    rows.sort_unstable_by_key(|row| std::cmp::Reverse(row.micros));
    rows.truncate(tables::TOP);
    (rows, digests)
}

/// A duration in microseconds, in the unit that reads best.
fn millis(micros: u64) -> String {
    match micros {
        0 => "–".to_owned(),
        1..=999 => format!("{micros} µs"),
        1_000..=9_999 => format!("{:.2} ms", micros as f64 / 1e3),
        10_000..=999_999 => format!("{:.0} ms", micros as f64 / 1e3),
        _ => format!("{:.2} s", micros as f64 / 1e6),
    }
}

/// A count with thousands set apart, small ones with one decimal.
fn number(value: f64) -> String {
    if value < 10.0 && value.fract() > 0.0 {
        return format!("{value:.1}");
    }
    let digits = format!("{value:.0}");
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

fn bytes(value: f64) -> String {
    let (mut value, mut unit) = (value, "B");
    for next in ["KiB", "MiB", "GiB", "TiB"] {
        if value < 1024.0 {
            break;
        }
        (value, unit) = (value / 1024.0, next);
    }
    if unit == "B" { format!("{value:.0} B") } else { format!("{value:.1} {unit}") }
}

/// A span of seconds in its two largest units.
fn span(seconds: u64) -> String {
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => format!("{minutes} min {} s", seconds % 60),
        (0, ..) => format!("{hours} h {minutes} min"),
        _ => format!("{days} d {hours} h"),
    }
}

#[cfg(test)]
mod tests;
