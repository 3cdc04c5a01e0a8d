//! Sessions entering, changing and leaving.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;

#[test]
fn a_session_is_there_until_its_guard_drops() {
    let sessions = Sessions::new(Arc::new(Clock::new()));
    let one = sessions.enter(5, "10.0.0.1:4711".into());
    let two = sessions.enter(5 + SHARDS as u32, "unix".into());
    assert_eq!(sessions.len(), 2);
    assert_eq!(sessions.read().iter().map(|row| row.id).collect::<Vec<_>>(), [5, 21]);
    drop(one);
    assert!(sessions.get(5).is_none());
    drop(two);
    assert_eq!(sessions.len(), 0);
}

#[test]
fn what_the_session_says_is_what_a_reader_sees() {
    let sessions = Sessions::new(Arc::new(Clock::new()));
    let session = sessions.enter(1, "10.0.0.1:4711".into());
    assert_eq!(sessions.read().first().unwrap().activity, "Login");
    session.set_user("app");
    session.set_schema("shop");
    session.set_backend("s1", 77);
    session.set_tls("TLSv1.3");
    session.begin(Activity::Query, u128::MAX - 5);
    let row = sessions.get(1).unwrap().read();
    assert_eq!((row.user.as_str(), row.schema.as_str(), row.backend.as_str()), ("app", "shop", "s1"));
    assert_eq!((row.backend_thread, row.activity, row.tls, row.queries), (77, "Query", "TLSv1.3", 1));
    assert_eq!(row.digest, u128::MAX - 5);
    session.idle();
    assert_eq!(session.read().activity, "Sleep");
}

#[test]
fn an_id_used_again_is_not_removed_by_its_former_owner() {
    let sessions = Sessions::new(Arc::new(Clock::new()));
    let old = sessions.enter(9, "a".into());
    let new = sessions.enter(9, "b".into());
    drop(old);
    assert_eq!(sessions.get(9).unwrap().read().client, "b");
    drop(new);
    assert_eq!(sessions.len(), 0);
}

#[test]
fn every_activity_has_its_name() {
    for (at, (activity, _)) in ACTIVITIES.iter().enumerate() {
        assert_eq!(*activity as usize, at);
    }
}
