//! The console's tables: queries, rules, backends.

use std::fmt::{self, Write as _};

use super::{Escaped, bytes, millis, number};
use crate::admin::{BackendRow, RuleRow};
use crate::stats::DigestRow;

/// Queries shown.
pub(super) const TOP: usize = 20;

fn open(out: &mut String, title: &str, note: &str, columns: &[&str]) -> fmt::Result {
    write!(
        out,
        "<section><h2>{title}</h2><p class=\"quiet\">{note}</p><div class=\"scroll\"><table><thead><tr>"
    )?;
    for column in columns {
        let (class, name) =
            column.strip_prefix('#').map_or(("", *column), |name| (" class=\"number\"", name));
        write!(out, "<th scope=\"col\"{class}>{name}</th>")?;
    }
    out.push_str("</tr></thead><tbody>");
    Ok(())
}

fn close(out: &mut String, rows: usize, columns: usize, none: &str) -> fmt::Result {
    if rows == 0 {
        write!(out, "<tr><td class=\"quiet\" colspan=\"{columns}\">{none}</td></tr>")?;
    }
    out.push_str("</tbody></table></div></section>");
    Ok(())
}

/// Queries by the time that they took together.
pub(super) fn queries(out: &mut String, rows: &[DigestRow], digests: usize) -> fmt::Result {
    let columns = [
        "Statement",
        "Schema",
        "#Count",
        "#Total time",
        "#Median",
        "#p95",
        "#p99",
        "#Errors",
        "#Rewritten",
        "#Sent",
    ];
    let note = format!(
        "The {TOP} that took most time, of {digests} kinds of statements; <code>?</code> stands for a literal."
    );
    open(out, "Top queries", &note, &columns)?;
    for row in rows {
        let latency = |quantile| millis(row.latencies.quantile(quantile));
        write!(
            out,
            "<tr><td><code>{}</code></td><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>\
             <td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>\
             <td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td></tr>",
            Escaped(&row.text),
            Escaped(&row.schema),
            number(row.count as f64),
            millis(row.micros),
            latency(0.5),
            latency(0.95),
            latency(0.99),
            number(row.errors as f64),
            number(row.rewritten as f64),
            bytes(row.bytes as f64),
        )?;
    }
    close(out, rows.len(), columns.len(), "No statement yet.")
}

/// The rules with what they did.
pub(super) fn rules(out: &mut String, rows: &[RuleRow], on: bool) -> fmt::Result {
    let columns = ["Rule", "Mode", "#Fired", "#Refused", "Effect", "What it does", "From"];
    let note = match on {
        true => {
            "Fired: statements that it changed. Refused: statements that it matched while a guard refused."
        }
        false => "Switched off: no rule is applied until <code>SHUNTYARD SET rules = ON</code>.",
    };
    open(out, "Rules", note, &columns)?;
    for row in rows {
        write!(
            out,
            "<tr><td>{}</td><td><span class=\"badge mode-{}\">{}</span></td><td class=\"number\">{}</td>\
             <td class=\"number\">{}</td><td>{}</td><td>{}</td><td class=\"quiet\">{}</td></tr>",
            Escaped(&row.id),
            Escaped(row.mode),
            Escaped(row.mode),
            number(row.fired as f64),
            number(row.refused as f64),
            Escaped(row.effect),
            Escaped(&row.summary),
            Escaped(&row.origin),
        )?;
    }
    close(out, rows.len(), columns.len(), "No rules are loaded.")
}

/// The servers behind the proxy.
pub(super) fn backends(out: &mut String, rows: &[BackendRow]) -> fmt::Result {
    let columns = [
        "Backend",
        "State",
        "Address",
        "Server",
        "#Connections",
        "#Opened",
        "#Failed",
        "#Ping",
        "Last error",
    ];
    open(out, "Backends", "The first is the home backend.", &columns)?;
    for row in rows {
        let class = if row.state == "up" { "good" } else { "bad" };
        write!(
            out,
            "<tr><td>{}</td><td><span class=\"badge {class}\">{}</span></td><td>{}</td><td>{}</td>\
             <td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>\
             <td class=\"number\">{}</td><td>{}</td></tr>",
            Escaped(&row.name),
            Escaped(row.state),
            Escaped(&row.address),
            Escaped(&row.server_version),
            number(row.connections as f64),
            number(row.connections_total as f64),
            number(row.failures as f64),
            millis(row.ping_micros),
            Escaped(&row.last_error),
        )?;
    }
    close(out, rows.len(), columns.len(), "No backends.")
}
