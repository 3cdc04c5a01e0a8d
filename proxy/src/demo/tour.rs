//! What the demo prints: three statements, timed through the proxy with and without its rules.

use std::fmt::Write;
use std::time::{Duration, Instant};

use backend::address::Address;
use backend::control::{Control, ControlError, Target};
use backend::tls::TlsMode;
use zeroize::Zeroizing;

use super::data::{APP, SCHEMA, STATEMENTS};
use crate::serve::Proxy;

/// The best of so many runs counts.
const RUNS: usize = 3;

/// The text of the tour, with times measured now.
pub(super) async fn text(proxy: &Proxy, port: u16) -> String {
    let (user, password) = APP;
    let mut text = format!("\nConnect:  mariadb -h 127.0.0.1 -P {port} -u {user} -p{password} {SCHEMA}\n");
    if let Some(http) = proxy.http {
        let _ = writeln!(text, "Console:  http://{http}/");
    }
    text.push_str("\nThree statements to try; `/* shuntyard: rewrite=off */` in front shows the time without the rules.\n");
    let times = measure(port).await;
    for (number, statement) in STATEMENTS.iter().enumerate() {
        let _ = write!(text, "\n{}. {} — {}\n", number + 1, statement.rule, statement.about);
        if let Some(before) = statement.before {
            let _ = writeln!(text, "   {before};");
        }
        let _ = writeln!(text, "   {};", statement.sql);
        match times.as_ref().map(|times| times.get(number)) {
            Ok(Some((without, with))) => {
                let _ = writeln!(
                    text,
                    "   without rules {}, with rules {}: ×{:.0}",
                    millis(*without),
                    millis(*with),
                    without.as_secs_f64() / with.as_secs_f64().max(1e-6)
                );
            }
            Ok(None) => {}
            Err(error) => {
                let _ = writeln!(text, "   (not timed: {error})");
            }
        }
    }
    text.push_str(
        "\nAlso: SHOW SHUNTYARD QUERIES; · SHOW SHUNTYARD RULES; · EXPLAIN SHUNTYARD <statement>; · SHUNTYARD SET rules = OFF;\n\
         Edit rules/*.yaml while it runs. Ctrl-C ends everything; the data stays.\n",
    );
    text
}

async fn measure(port: u16) -> Result<Vec<(Duration, Duration)>, ControlError> {
    let (user, password) = APP;
    let address = Address::Tcp { host: "127.0.0.1".to_owned(), port };
    let mut target = Target::new(address, user, Zeroizing::new(password.to_owned()));
    target.tls = TlsMode::Disabled;
    target.read_timeout = Duration::from_secs(120);
    let mut times = Vec::new();
    for statement in &STATEMENTS {
        let mut control = target.connect().await?;
        control.execute(&format!("USE {SCHEMA}")).await?;
        if let Some(before) = statement.before {
            control.execute(before).await?;
        }
        let without = best(&mut control, &format!("/* shuntyard: rewrite=off */ {}", statement.sql)).await?;
        let with = best(&mut control, statement.sql).await?;
        times.push((without, with));
        control.close().await;
    }
    Ok(times)
}

async fn best(control: &mut Control, sql: &str) -> Result<Duration, ControlError> {
    let mut best = Duration::MAX;
    for _ in 0..RUNS {
        let started = Instant::now();
        control.execute(sql).await?;
        best = best.min(started.elapsed());
    }
    Ok(best)
}

fn millis(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}
