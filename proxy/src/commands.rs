//! Carries out what the command line says. Exit 0: fine; 1: a check failed or it could not run; 2: used wrongly (clap).

mod rules;

use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};
use sql::source::Fault;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::cli::{CheckArgs, Cli, Command, ControlArgs, ExplainArgs, ServeArgs};
use crate::config::{Account, Config, Format, Listen, Log, Secret};
use crate::serve::{Proxy, ServeError};
use crate::{demo, http, reload};

/// Where the password of the proxy's own account comes from without a file.
const PASSWORD: &str = "SHUNTYARD_PASSWORD";

/// Runs one command.
pub(crate) fn run(cli: Cli) -> ExitCode {
    match cli.command {
        Command::Serve(args) => serve(&args),
        Command::Demo(args) => match demo::config(&args) {
            Ok(config) => {
                log_as(&config.log);
                blocking(demo::run(&args))
            }
            Err(error) => failed(&error),
        },
        Command::Check(args) => check(&args),
        Command::Rules(command) => rules::run(&command),
        Command::Status(args) => status(&args),
        Command::Reload(args) => tell(&args, "POST", "/reload", None, "reloaded"),
        Command::Drain(args) => tell(&args, "POST", "/drain", None, "draining"),
        Command::Explain(args) => explain(&args),
    }
}

fn serve(args: &ServeArgs) -> ExitCode {
    let config = match &args.backend {
        Some(address) => {
            let password = Secret::new(std::env::var(PASSWORD).unwrap_or_default());
            let account = Account { user: args.account.clone(), password };
            let mut config = Config::for_backend(address.clone(), account, args.data.clone());
            config.listen = vec![Listen::Tcp(([127, 0, 0, 1], args.port).into())];
            config.http = Some(args.http);
            Ok(config)
        }
        None => Config::load(args.config.as_deref().unwrap_or(Path::new("./shuntyard.yaml"))),
    };
    let config = match config {
        Ok(config) => config,
        Err(faults) => return faulty(&faults, false),
    };
    log_as(&config.log);
    blocking(async {
        let proxy = Proxy::start(config, args.passthrough, async |_| Ok(())).await?;
        proxy.announce();
        proxy.run().await;
        Ok(())
    })
}

/// Runs on the control runtime: the main thread, which lives as long as the process.
fn blocking(work: impl Future<Output = Result<(), ServeError>>) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime.map_err(ServeError::from).and_then(|runtime| runtime.block_on(work)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error),
    }
}

fn failed(error: &dyn std::fmt::Display) -> ExitCode {
    eprintln!("shuntyard: {error}");
    ExitCode::FAILURE
}

fn log_as(log: &Log) {
    // The parser tells each token that it meets, literals among them.
    let levels = Targets::new()
        .with_default(LevelFilter::from_level(log.level))
        .with_target("sqlparser", LevelFilter::WARN);
    let layer = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()));
    let layer = match log.format {
        Format::Text => layer.boxed(),
        Format::Json => layer.json().boxed(),
    };
    tracing_subscriber::registry().with(layer.with_filter(levels)).init();
}

fn check(args: &CheckArgs) -> ExitCode {
    let checked =
        Config::load(&args.config).and_then(|config| Ok((reload::rules(&config)?.rules().len(), config)));
    match checked {
        Ok((rules, config)) => {
            if args.json {
                print(&json!({"faults": [], "backends": config.backends.len(), "rules": rules}).to_string());
            } else {
                print(&format!(
                    "{}: fine; {} backends, {rules} rules",
                    args.config.display(),
                    config.backends.len()
                ));
            }
            ExitCode::SUCCESS
        }
        Err(faults) => faulty(&faults, args.json),
    }
}

fn faulty(faults: &[Fault], json: bool) -> ExitCode {
    if json {
        print(&json!({"faults": http::listed(faults)}).to_string());
    } else {
        for fault in faults {
            eprintln!("{fault}");
        }
        let s = if faults.len() == 1 { "" } else { "s" };
        eprintln!("{} fault{s}", faults.len());
    }
    ExitCode::FAILURE
}

fn status(args: &ControlArgs) -> ExitCode {
    let reply = match http::call(&args.data, "GET", "/status", None) {
        Ok(reply) => reply,
        Err(error) => return failed(&error),
    };
    if args.json {
        print(&reply.body.to_string());
        return ExitCode::SUCCESS;
    }
    for (name, value) in reply.body.get("status").and_then(Value::as_object).into_iter().flatten() {
        print(&format!("{name:<28} {}", plain(value)));
    }
    for (part, id) in [("backends", "name"), ("rules", "id")] {
        for row in reply.body.get(part).and_then(Value::as_array).into_iter().flatten() {
            let columns =
                row.as_object().into_iter().flatten().filter(|(name, value)| *name != id && !value.is_null());
            let rest: Vec<String> = columns.map(|(name, value)| format!("{name}={}", plain(value))).collect();
            print(&format!("{part}: {} {}", row.get(id).map(plain).unwrap_or_default(), rest.join(" ")));
        }
    }
    ExitCode::SUCCESS
}

fn explain(args: &ExplainArgs) -> ExitCode {
    let body = json!({"sql": args.sql, "schema": args.schema, "user": args.user});
    let reply = match http::call(&args.control.data, "POST", "/explain", Some(&body)) {
        Ok(reply) => reply,
        Err(error) => return failed(&error),
    };
    if args.control.json || reply.status != 200 {
        print(&reply.body.to_string());
    } else {
        let text = |name: &str| reply.body.get(name).filter(|value| !value.is_null()).map(plain);
        for name in ["digest", "normalized", "plan", "backend", "reason"] {
            if let Some(value) = text(name) {
                print(&format!("{name:<11} {value}"));
            }
        }
        for rule in reply.body.get("rules").and_then(Value::as_array).into_iter().flatten() {
            let part = |name: &str| rule.get(name).map(plain).unwrap_or_default();
            print(&format!("rule        {} ({}): {}", part("rule"), part("mode"), part("verdict")));
        }
        if let Some(value) = text("rewritten") {
            print(&format!("rewritten   {value}"));
        }
    }
    if reply.status == 200 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn tell(args: &ControlArgs, method: &str, target: &str, body: Option<&Value>, done: &str) -> ExitCode {
    match http::call(&args.data, method, target, body) {
        Err(error) => failed(&error),
        Ok(reply) if args.json => {
            print(&reply.body.to_string());
            if reply.status == 200 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Ok(reply) if reply.status == 200 => {
            let rest: Vec<String> = reply
                .body
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, value)| format!("{name}: {}", plain(value)))
                .collect();
            print(&format!("{done} {}", rest.join(", ")));
            ExitCode::SUCCESS
        }
        Ok(reply) => {
            for fault in reply.body.get("faults").and_then(Value::as_array).into_iter().flatten() {
                let part = |name: &str| fault.get(name).map(plain).unwrap_or_default();
                eprintln!("{}:{}:{}: {}", part("file"), part("line"), part("column"), part("message"));
            }
            failed(&"nothing was changed")
        }
    }
}

/// A JSON value without quotes.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[expect(clippy::print_stdout, reason = "this is what a command line is for")]
fn print(text: &str) {
    println!("{text}");
}
