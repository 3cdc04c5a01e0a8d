//! A buffer keeps the bytes it was given, whatever order it is filled and emptied in.

use super::{Buffer, SMALL};

#[test]
fn keeps_order_over_many_fills() {
    let mut buffer = Buffer::new();
    let (mut written, mut read) = (0u32, 0u32);
    for round in 0..2000usize {
        for _ in 0..round % 7 {
            buffer.extend(&written.to_le_bytes());
            written += 1;
        }
        for _ in 0..round % 5 {
            if let Some(bytes) = buffer.filled().first_chunk::<4>() {
                assert_eq!(u32::from_le_bytes(*bytes), read);
                read += 1;
                buffer.consume(4);
            }
        }
    }
    assert!(written > read && buffer.len() == 4 * (written - read) as usize);
}

#[test]
fn owns_nothing_when_released() {
    let mut buffer = Buffer::new();
    buffer.extend(b"abc");
    buffer.release();
    assert_eq!(buffer.filled(), b"abc", "filled bytes are never given away");
    buffer.consume(3);
    buffer.release();
    assert_eq!(buffer.capacity(), 0);
}

#[test]
fn makes_room_for_what_is_asked() {
    let mut buffer = Buffer::new();
    buffer.extend(&[7; 100]);
    buffer.consume(90);
    assert!(buffer.room(3 * SMALL).len() >= 3 * SMALL - 10);
    assert_eq!(buffer.filled(), [7; 10]);
}
