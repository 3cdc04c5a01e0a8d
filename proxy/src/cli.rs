//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// A MySQL and MariaDB proxy: the same answers, faster.
///
/// Point applications at its port as if it were the server. Start with `shuntyard demo`.
#[derive(Debug, Parser)]
#[command(name = "shuntyard", version, propagate_version = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The program's verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start two bundled MariaDB servers with a sample shop, and the proxy in front of them
    Demo(DemoArgs),
    /// Run the proxy
    #[command(after_help = "Examples:\n  shuntyard serve                              \
        # reads ./shuntyard.yaml\n  shuntyard serve --config /etc/shuntyard.yaml\n  \
        SHUNTYARD_PASSWORD=… shuntyard serve --backend 10.0.0.2:3306\n\n\
        Signals: SIGHUP reloads the configuration, SIGTERM drains and ends.")]
    Serve(ServeArgs),
    /// Check a configuration and its rules; every fault with its line and column
    Check(CheckArgs),
    /// Show what would happen to a statement: digest, rules that fired or refused and why, new text, route
    Explain(ExplainArgs),
    /// List the rules, or show one of them in words: what it does, before and after, when it fires and when not
    #[command(subcommand)]
    Rules(RulesCommand),
    /// Show the state of the running proxy
    Status(ControlArgs),
    /// Make the running proxy read its configuration and rules again
    Reload(ControlArgs),
    /// Make the running proxy finish its sessions and end
    Drain(ControlArgs),
}

/// `demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Port for MySQL clients on 127.0.0.1
    #[arg(long, default_value_t = 4306, value_name = "N")]
    pub port: u16,
    /// Address of the console and metrics
    #[arg(long, default_value = "127.0.0.1:4380", value_name = "ADDR:PORT")]
    pub http: SocketAddr,
    /// Folder of the bundled servers' data; kept between runs
    #[arg(long, default_value = "./data", value_name = "DIR")]
    pub data: PathBuf,
}

/// `serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The configuration file [default: ./shuntyard.yaml]
    #[arg(long, value_name = "FILE", conflicts_with = "backend")]
    pub config: Option<PathBuf>,
    /// One server, without any configuration file: HOST:PORT or unix:/path. The proxy's own account on it is
    /// --account, its password comes from the environment variable SHUNTYARD_PASSWORD
    #[arg(long, value_name = "HOST:PORT")]
    pub backend: Option<backend::address::Address>,
    /// The proxy's own account, with --backend
    #[arg(long, value_name = "USER", default_value = "shuntyard", requires = "backend")]
    pub account: String,
    /// Port for MySQL clients on 127.0.0.1, with --backend
    #[arg(long, value_name = "N", default_value_t = 4306, requires = "backend")]
    pub port: u16,
    /// Address of the console and metrics, with --backend
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:4380", requires = "backend")]
    pub http: SocketAddr,
    /// Folder for what the proxy keeps, with --backend
    #[arg(long, value_name = "DIR", default_value = "./data", requires = "backend")]
    pub data: PathBuf,
    /// Relay only: no statement is looked at, no rule applies
    #[arg(long)]
    pub passthrough: bool,
}

/// `check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The configuration file
    #[arg(long, value_name = "FILE", default_value = "./shuntyard.yaml")]
    pub config: PathBuf,
    /// Print the faults as JSON
    #[arg(long)]
    pub json: bool,
}

/// Which running proxy is meant.
#[derive(Debug, Args)]
pub(crate) struct ControlArgs {
    /// The proxy's data folder, which holds its control socket
    #[arg(long, value_name = "DIR", default_value = "./data")]
    pub data: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The statement
    pub sql: String,
    /// The schema that unqualified names belong to
    #[arg(long, value_name = "NAME")]
    pub schema: Option<String>,
    /// The user that the statement would come from
    #[arg(long, value_name = "NAME", default_value = "")]
    pub user: String,
    #[command(flatten)]
    pub control: ControlArgs,
}

/// `rules`.
#[derive(Debug, Subcommand)]
pub(crate) enum RulesCommand {
    /// One line for each rule, in the order in which they are tried
    List(RulesArgs),
    /// One rule in words, as Markdown; all of them without an ID
    Show {
        /// The rule's id
        id: Option<String>,
        #[command(flatten)]
        rules: RulesArgs,
    },
}

/// Which rules are meant.
#[derive(Debug, Args)]
pub(crate) struct RulesArgs {
    /// The configuration that names the rule files; without it, the rules that are shipped with the program
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
