//! Tests of the verdict about a data folder.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::{Marker, Refusal, Release, Seen, Verdict};

fn release(text: &str) -> Release {
    Release::parse(text).unwrap()
}

fn marker(text: &str) -> Marker {
    Marker { release: release(text), server_id: 7 }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|s| (*s).to_owned()).collect()
}

fn of(entries: &[&str], schemas: &[&str]) -> Verdict {
    let seen = Seen { entries: names(entries), schemas: names(schemas), ..Seen::default() };
    Verdict::of(&seen, release("10.11.19"))
}

fn ours(version: &str, by_hand: Option<&str>, server: &str) -> Verdict {
    let seen = Seen {
        entries: names(&["shuntyard-server", "data", "lock"]),
        marker: Some(marker(version).text()),
        schemas: names(&["mysql", "shop"]),
        upgraded_to: by_hand.map(release),
    };
    Verdict::of(&seen, release(server))
}

#[test]
fn an_empty_folder_is_fresh() {
    assert_eq!(of(&[], &[]), Verdict::Fresh);
    assert_eq!(of(&["lock"], &[]), Verdict::Fresh);
    assert_eq!(of(&["lock", "server.log", "unfinished.tmp"], &[]), Verdict::Fresh);
}

#[test]
fn a_foreign_folder_is_refused() {
    for entries in [&["my.txt"][..], &["lock", "data"], &["server.log"], &["unfinished", "data", "thesis"]] {
        let verdict = of(entries, &[]);
        assert!(matches!(verdict, Verdict::Refused(Refusal::NotOurs { .. })), "{entries:?}");
    }
}

#[test]
fn what_an_initialisation_left_is_made_again_unless_data_lies_there() {
    let left = ["unfinished", "lock", "data", "server.log", "shuntyard-server.tmp"];
    assert_eq!(of(&left, &["mysql", "sys"]), Verdict::Leftovers);
    assert_eq!(of(&left, &["mysql", "shop"]), Verdict::Refused(Refusal::NotOurs { entry: "shop".into() }));
}

#[test]
fn a_marked_folder_is_ours_for_the_same_series_or_a_newer_one() {
    assert_eq!(ours("10.11.19", None, "10.11.19"), Verdict::Ours(marker("10.11.19")));
    assert_eq!(ours("10.11.19", None, "10.11.2"), Verdict::Ours(marker("10.11.19")));
    assert_eq!(ours("10.6.1", None, "10.11.2"), Verdict::Ours(marker("10.6.1")));
}

#[test]
fn data_of_a_newer_server_is_refused() {
    for verdict in [ours("11.4.2", None, "10.11.19"), ours("10.11.19", Some("11.4.2"), "10.11.19")] {
        let Verdict::Refused(refusal) = verdict else {
            panic!("{verdict:?}");
        };
        let text = refusal.to_string();
        assert!(text.contains("MariaDB 11.4.2") && text.contains("MariaDB 10.11.19"), "{text}");
    }
}

#[test]
fn a_damaged_folder_is_never_made_again() {
    let mut seen = Seen {
        entries: names(&["shuntyard-server", "unfinished"]),
        marker: Some("format=2\nversion=10.11.1\nserver_id=1\n".into()),
        ..Seen::default()
    };
    let refused =
        |seen: &Seen| matches!(Verdict::of(seen, release("10.11.19")), Verdict::Refused(Refusal::Damaged(_)));
    assert!(refused(&seen));
    seen.marker = Some(marker("10.11.1").text());
    assert!(refused(&seen), "data/mysql is missing");
    seen.marker = Some(String::new());
    assert!(refused(&seen));
}

#[test]
fn the_marker_comes_back() {
    assert_eq!(Marker::parse(&marker("10.11.19").text()), Some(marker("10.11.19")));
}
