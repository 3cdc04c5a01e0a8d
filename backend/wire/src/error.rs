//! The one error of the crate: a peer sent bytes that are not the protocol.

/// A peer broke the protocol. Its connection cannot be used any further, and nothing that it sent after may be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// The payload ends inside the field that was read.
    #[error("packet is shorter than its fields")]
    Truncated,
    /// The named field holds a value that the protocol does not allow there.
    #[error("malformed {0}")]
    Malformed(&'static str),
    /// A packet is larger than the reader allows it to be, in bytes.
    #[error("packet of more than {max} bytes")]
    TooLong {
        /// The limit, in bytes of payload.
        max: usize,
    },
    /// A packet carries another sequence id than the one that was due.
    #[error("packet number {got} where {want} was due")]
    Sequence {
        /// The id that was due.
        want: u8,
        /// The id in the header.
        got: u8,
    },
    /// A packet starts with a byte that is not allowed at this point of the exchange.
    #[error("packet that starts with 0x{0:02x} is not allowed here")]
    Unexpected(u8),
    /// The peer lacks something that the protocol makes optional but that is required here.
    #[error("peer does not support {0}")]
    Unsupported(&'static str),
}
