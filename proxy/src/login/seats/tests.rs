//! Seats are taken and left.

use super::*;

#[test]
fn a_user_gets_its_seats_and_no_more() {
    let seats = Seats::default();
    let one = seats.take("app", 2);
    let two = seats.take("app", 2);
    assert!(one.is_some() && two.is_some() && seats.take("app", 2).is_none());
    assert!(seats.take("other", 2).is_some(), "each user has its own");
    drop(one);
    assert!(seats.take("app", 2).is_some());
    drop(two);
    assert!(seats.lock().is_empty(), "nothing is left of who has gone");
}
