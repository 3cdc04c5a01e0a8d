//! Only what differs is replayed, in a form that does not depend on the session.

use super::{Profile, Replay};

fn profile(schema: Option<&str>, variables: &[(&str, &str)]) -> Profile {
    Profile {
        schema: schema.map(str::to_owned),
        results: 45,
        variables: variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
    }
}

#[test]
fn only_what_differs_is_set_with_typed_literals() {
    let have =
        profile(Some("a"), &[("group_concat_max_len", "1024"), ("sql_mode", "X"), ("time_zone", "SYSTEM")]);
    let want =
        profile(Some("b"), &[("group_concat_max_len", "7"), ("sql_mode", ""), ("time_zone", "SYSTEM")]);
    let set = Some("SET SESSION group_concat_max_len=7,SESSION sql_mode=''".to_owned());
    assert_eq!(have.replay(&want), Some(Replay { set, schema: Some("b".to_owned()) }));
    assert_eq!(have.replay(&have), Some(Replay { set: None, schema: None }));
    assert_eq!(have.replay(&have.clone()), Some(Replay { set: None, schema: None }));
}

#[test]
fn what_cannot_be_replayed_is_said() {
    let none = profile(None, &[]);
    let some = profile(Some("a"), &[]);
    assert_eq!(some.replay(&none), None);
    assert!(none.replay(&some).is_some());
    let quoted = profile(None, &[("lc_messages", "a'b")]);
    assert_eq!(none.replay(&quoted), None);
}

#[test]
fn the_collation_of_results_goes_by_its_number() {
    let have = profile(None, &[("character_set_results", "utf8mb4")]);
    let want = Profile { results: 46, ..have.clone() };
    assert_eq!(
        have.replay(&want).expect("it can be replayed").set.as_deref(),
        Some("SET NAMES 'utf8mb4' COLLATE 'utf8mb4_bin'")
    );
}

#[test]
fn a_connection_without_a_results_charset_has_no_collation_of_results() {
    let have = Profile { results: 46, ..profile(None, &[("character_set_results", "")]) };
    let want = Profile { results: 46, ..profile(None, &[("character_set_results", "utf8mb4")]) };
    let set = have.replay(&want).expect("it can be replayed").set;
    assert_eq!(set.as_deref(), Some("SET NAMES 'utf8mb4' COLLATE 'utf8mb4_bin'"));
}

#[test]
fn no_results_charset_is_null_and_a_collation_follows_its_charset() {
    let have = profile(
        None,
        &[
            ("character_set_connection", "latin1"),
            ("character_set_results", "latin1"),
            ("collation_connection", "utf8mb4_bin"),
        ],
    );
    let want = profile(
        None,
        &[
            ("character_set_connection", "utf8mb4"),
            ("character_set_results", ""),
            ("collation_connection", "utf8mb4_bin"),
        ],
    );
    let replay = have.replay(&want).expect("it can be replayed");
    let set = "SET SESSION character_set_connection='utf8mb4',SESSION character_set_results=NULL,SESSION collation_connection='utf8mb4_bin'";
    assert_eq!(replay.set.as_deref(), Some(set));
}
