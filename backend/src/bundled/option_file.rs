//! The text of a bundled server's option file.

use super::error::Error;
use super::layout::{Layout, entry};
use super::memory::Sizes;
use std::fmt::Write as _;
use std::path::Path;

/// A server option and its value, as the caller wants it besides ours.
pub type Setting = (String, String);

/// One day: what reads the binary log here follows it closely; who wants more sets it.
const BINLOG_SECONDS: u32 = 86_400;

/// The folders of an installation that do not lie where its server was built to look for them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Places<'a> {
    pub(crate) basedir: Option<&'a Path>,
    pub(crate) share: Option<&'a Path>,
    pub(crate) plugins: Option<&'a Path>,
}

/// What the option file is made from.
#[derive(Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) layout: &'a Layout,
    pub(crate) places: Places<'a>,
    pub(crate) sizes: Sizes,
    pub(crate) server_id: u32,
    /// `root` when we run as root: a server refuses that unless told so.
    pub(crate) user: Option<&'a str>,
    pub(crate) settings: &'a [Setting],
}

/// The whole file. The caller's settings come before the last group, so that nothing can move the
/// server's files, open it to the network, or give up the account: of two equal options the later wins.
pub(crate) fn text(wanted: &Wanted<'_>) -> Result<String, Error> {
    let mut out = String::from("# Written by Shuntyard at each start: changes here are lost.\n[mariadbd]\n");
    let mut put = |name: &str, value: &str| {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{name} = {value}");
    };
    let Sizes { buffer_pool, log_file } = wanted.sizes;
    put("innodb_buffer_pool_size", &buffer_pool.to_string());
    put("innodb_log_file_size", &log_file.to_string());
    put("key_buffer_size", "8M");
    put("aria_pagecache_buffer_size", "32M");
    put("performance_schema", "OFF");
    put("max_connections", "1000");
    put("max_allowed_packet", "256M");
    put("character_set_server", "utf8mb4");
    put("collation_server", "utf8mb4_general_ci");
    put("local_infile", "ON");
    // Acknowledged is on disk: with a binary log InnoDB recovers its last commits from it, so both must be synced.
    put("innodb_flush_log_at_trx_commit", "1");
    put("sync_binlog", "1");
    put("binlog_expire_logs_seconds", &BINLOG_SECONDS.to_string());
    put("max_binlog_size", "256M");
    for (name, value) in wanted.settings {
        let named = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        if name.is_empty() || !named || value.chars().any(char::is_control) {
            return Err(Error::Setting(name.clone()));
        }
        put(name, &quote(value));
    }
    // What follows cannot be overridden.
    put("server_id", &wanted.server_id.to_string());
    put("log_bin", "binlog");
    put("binlog_format", "ROW");
    put("log_bin_trust_function_creators", "ON");
    put("skip_networking", "ON");
    put("skip_name_resolve", "ON");
    put("symbolic_links", "OFF");
    if let Some(user) = wanted.user {
        put("user", user);
    }
    let layout = wanted.layout;
    let mut path = |name: &str, path: &Path| -> Result<(), Error> {
        let text = path.to_str().ok_or_else(|| Error::Path(path.to_owned()))?;
        put(name, &quote(text));
        Ok(())
    };
    path("datadir", &layout.path(entry::DATA))?;
    path("tmpdir", &layout.path(entry::TMP))?;
    path("secure_file_priv", &layout.path(entry::FILES))?;
    path("socket", &layout.socket)?;
    path("pid_file", &layout.path(entry::PID))?;
    path("init_file", &layout.path(entry::INIT))?;
    for (name, place) in [
        ("basedir", wanted.places.basedir),
        ("lc_messages_dir", wanted.places.share),
        ("plugin_dir", wanted.places.plugins),
    ] {
        if let Some(place) = place {
            path(name, place)?;
        }
    }
    Ok(out)
}

/// A value that an option file gives back as it is: in double quotes, where `#` starts no comment and
/// a backslash escapes (`my_load_defaults`, mysys/my_default.c).
pub(crate) fn quote(value: &str) -> String {
    let mut out = String::with_capacity(value.len() + 2);
    out.push('"');
    for c in value.chars() {
        if c == '"' || c == '\\' {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests;
