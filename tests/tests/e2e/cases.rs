//! What went wrong in other proxies: each fault is a test, and the right answer is what the server gives to a client that has a
//! connection of its own, to the byte.

mod charsets;
mod large;
mod literals;
mod mixed;
mod prepared;
mod procedures;
mod replies;
mod scene;
mod slow;
mod terms;
