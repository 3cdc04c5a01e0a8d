//! Tests of the option file, its quoting also against MariaDB's own reader.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::{Places, Wanted, quote, text};
use crate::bundled::layout::Layout;
use crate::bundled::memory::Sizes;
use std::path::Path;

fn make(folder: &str, settings: &[(&str, &str)]) -> Result<String, crate::bundled::Error> {
    let layout = Layout::new("s1", Path::new(folder), &[]).unwrap();
    let settings: Vec<_> = settings.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    text(&Wanted {
        layout: &layout,
        places: Places { plugins: Some(Path::new("/p")), ..Places::default() },
        sizes: Sizes { buffer_pool: 1 << 26, log_file: 1 << 25 },
        server_id: 77,
        user: Some("root"),
        settings: &settings,
    })
}

#[test]
fn holds_what_was_decided() {
    let text = make("/d/s1", &[]).unwrap();
    for line in [
        "innodb_buffer_pool_size = 67108864",
        "innodb_log_file_size = 33554432",
        "server_id = 77",
        "user = root",
        "skip_networking = ON",
        "datadir = \"/d/s1/data\"",
        "socket = \"/d/s1/sock\"",
        "plugin_dir = \"/p\"",
        "binlog_format = ROW",
    ] {
        assert!(text.lines().any(|l| l == line), "{line} in {text}");
    }
    assert!(!text.contains("basedir"));
}

#[test]
fn a_setting_overrides_tuning_but_never_the_socket_or_the_network() {
    let text =
        make("/d/s1", &[("max_connections", "5"), ("skip-networking", "OFF"), ("socket", "/x")]).unwrap();
    let last = |names: &[&str]| {
        text.lines().rfind(|l| names.iter().any(|n| l.starts_with(&format!("{n} ")))).unwrap().to_owned()
    };
    assert_eq!(last(&["max_connections"]), "max_connections = \"5\"");
    assert_eq!(last(&["skip_networking", "skip-networking"]), "skip_networking = ON");
    assert_eq!(last(&["socket"]), "socket = \"/d/s1/sock\"");
}

#[test]
fn a_setting_cannot_smuggle_lines() {
    for bad in [("a\nb", "1"), ("a", "1\n[client]"), ("", "1"), ("a b", "1"), ("!include /x", "")] {
        assert!(make("/d/s1", &[bad]).is_err(), "{bad:?}");
    }
}

#[test]
fn quotes_what_option_files_treat_specially() {
    assert_eq!(quote(r#"/a b#c"d\s'"#), r#""/a b#c\"d\\s'""#);
}
