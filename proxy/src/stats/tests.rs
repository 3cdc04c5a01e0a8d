//! The registry as a whole.

use super::*;

#[test]
fn dates_are_written_as_the_server_writes_them() {
    assert_eq!(unix_text(0), "");
    assert_eq!(unix_text(1), "1970-01-01 00:00:01");
    assert_eq!(unix_text(951_782_399), "2000-02-28 23:59:59");
    assert_eq!(unix_text(951_782_400), "2000-02-29 00:00:00");
    assert_eq!(unix_text(4_107_542_399), "2100-02-28 23:59:59");
    assert_eq!(unix_text(4_107_542_400), "2100-03-01 00:00:00");
}

#[test]
fn hot_values_of_two_cores_share_no_cache_line() {
    assert_eq!(align_of::<Padded<u8>>(), 128);
    let totals = [Padded(1_u8), Padded(2_u8)];
    let [first, second] = &totals;
    assert!(std::ptr::from_ref(second).addr() - std::ptr::from_ref(first).addr() >= 128);
}
