//! Tests of the follower: replies of every shape, cut at every place.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;

#[test]
fn ok() {
    let mut f = Follower::new(Expect::Query, Capabilities::DEPRECATE_EOF);
    let bytes = [7, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0];
    assert_eq!(f.step(&bytes[..3]), Step::Need(5));
    assert_eq!(f.step(&bytes[..6]), Step::Need(11));
    assert_eq!(f.step(&bytes), Step::Packet { kind: Kind::Ok, len: 11 });
    assert_eq!(f.step(&[]), Step::Done);
    assert_eq!(f.next_seq(), 2);
}
