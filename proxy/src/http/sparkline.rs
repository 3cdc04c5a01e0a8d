//! Curves over the last minutes as inline SVG, without script or style attributes.

use std::fmt::Write as _;

const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 120.0;

/// One curve.
pub(super) struct Curve<'v> {
    /// Class of the line in the style sheet.
    pub(super) class: &'static str,
    /// A value for each second, oldest first; `None` leaves a gap.
    pub(super) values: &'v [Option<f64>],
}

/// Curves over `seconds` that end now, on one scale from 0 to the largest value, described by `title`. The first
/// curve's area is filled.
pub(super) fn svg(title: &str, seconds: usize, top: f64, curves: &[Curve<'_>]) -> String {
    let mut out = format!(
        "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" preserveAspectRatio=\"none\" role=\"img\">\
         <title>{}</title>",
        super::page::Escaped(title)
    );
    for quarter in 1..4 {
        let y = HEIGHT * f64::from(quarter) / 4.0;
        // Writing to a String cannot fail.
        let _ = write!(out, "<line class=\"grid\" x1=\"0\" x2=\"{WIDTH}\" y1=\"{y}\" y2=\"{y}\"/>");
    }
    for (at, curve) in curves.iter().enumerate() {
        for run in runs(curve.values, seconds, top) {
            if let (0, Some((first, _)), Some((last, _))) = (at, run.first(), run.last()) {
                let _ = write!(
                    out,
                    "<polygon class=\"{} area\" points=\"{first:.1},{HEIGHT} {}{last:.1},{HEIGHT}\"/>",
                    curve.class,
                    points(&run)
                );
            }
            let _ =
                write!(out, "<polyline class=\"{}\" points=\"{}\"/>", curve.class, points(&run).trim_end());
        }
    }
    out.push_str("</svg>");
    out
}

fn points(run: &[(f64, f64)]) -> String {
    run.iter().fold(String::new(), |mut out, (x, y)| {
        let _ = write!(out, "{x:.1},{y:.1} ");
        out
    })
}

/// Stretches without a gap, as coordinates. The newest value stands at the right edge.
fn runs(values: &[Option<f64>], seconds: usize, top: f64) -> Vec<Vec<(f64, f64)>> {
    let step = WIDTH / (seconds.saturating_sub(1).max(1) as f64);
    let scale = if top > 0.0 { (HEIGHT - 2.0) / top } else { 0.0 };
    let mut runs = Vec::new();
    let mut run = Vec::new();
    let shown = values.get(values.len().saturating_sub(seconds)..).unwrap_or_default();
    for (at, value) in shown.iter().enumerate() {
        let age = shown.len().saturating_sub(at.saturating_add(1)) as f64;
        match value {
            Some(value) => run.push((WIDTH - age * step, HEIGHT - value.clamp(0.0, top) * scale)),
            None => runs.push(std::mem::take(&mut run)),
        }
    }
    runs.push(run);
    runs.retain(|run| !run.is_empty());
    runs
}

#[cfg(test)]
mod tests;
