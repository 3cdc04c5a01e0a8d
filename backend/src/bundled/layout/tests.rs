//! Tests of where the socket lies and which names are taken.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::{Layout, SOCKET_PATH_MAX};
use std::path::{Path, PathBuf};

fn runtime() -> Vec<PathBuf> {
    vec![PathBuf::from(format!("/{}", "r".repeat(SOCKET_PATH_MAX))), PathBuf::from("/tmp/shuntyard-0")]
}

#[test]
fn the_socket_lies_in_the_folder_where_it_fits() {
    let longest = format!("/{}", "d".repeat(SOCKET_PATH_MAX - "/".len() - "/sock".len()));
    let layout = Layout::new("s1", Path::new(&longest), &runtime()).unwrap();
    assert_eq!(layout.socket.as_os_str().len(), SOCKET_PATH_MAX);
    assert!(layout.socket.starts_with(&longest));
}

#[test]
fn a_long_folder_gets_a_short_socket_of_its_own() {
    let long = |c: &str| format!("/{}", c.repeat(SOCKET_PATH_MAX - "/sock".len()));
    let one = Layout::new("s1", Path::new(&long("a")), &runtime()).unwrap();
    let again = Layout::new("s1", Path::new(&long("a")), &runtime()).unwrap();
    let other = Layout::new("s1", Path::new(&long("b")), &runtime()).unwrap();
    assert!(one.socket.starts_with("/tmp/shuntyard-0"));
    assert_eq!(one.socket, again.socket);
    assert_ne!(one.socket, other.socket);
}

#[test]
fn names_are_names() {
    for good in ["s1", "shard-2", "a.b_c"] {
        assert!(Layout::new(good, Path::new("/d"), &[]).is_ok(), "{good}");
    }
    for bad in ["", ".", "..", ".x", "a/b", "a b", "ü", "a\n"] {
        assert!(Layout::new(bad, Path::new("/d"), &[]).is_err(), "{bad:?}");
    }
    for bad in ["/d\n[mysqld]", "/d\\n"] {
        assert!(Layout::new("s1", Path::new(bad), &[]).is_err(), "{bad:?}");
    }
}
