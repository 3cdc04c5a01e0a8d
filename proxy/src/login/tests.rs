//! What a connection holds for as long as it lives.

use std::future::Future;

use super::serve;

/// The size of what an asynchronous function makes, in bytes.
const fn made<A, B, F: Future>(_: &impl Fn(A, B) -> F) -> usize {
    std::mem::size_of::<F>()
}

/// An idle connection is to stay below 10 KB, with its socket, its timer and its place in the lists. What is larger than
/// a waiting session and runs rarely (logging in, opening a connection, saying farewell) has to be boxed where it is awaited.
#[test]
fn an_idle_connection_does_not_pay_for_what_it_seldom_does() {
    let size = made(&serve);
    assert!(size <= 4500, "{size} bytes");
}
