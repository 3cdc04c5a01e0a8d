//! Numbers as people read them.

use super::*;

#[test]
fn numbers_have_the_unit_that_reads_best() {
    let micros = [0, 5, 999, 1_000, 9_994, 10_000, 250_400, 1_000_000, 61_000_000].map(millis);
    assert_eq!(micros, ["–", "5 µs", "999 µs", "1.00 ms", "9.99 ms", "10 ms", "250 ms", "1.00 s", "61.00 s"]);
    let counts = [0.0, 0.25, 9.0, 12.7, 999.0, 1_000.0, 1_234_567.0].map(number);
    assert_eq!(counts, ["0", "0.2", "9", "13", "999", "1\u{202f}000", "1\u{202f}234\u{202f}567"]);
    assert_eq!([0.0, 1023.0, 1024.0, 5e12].map(bytes), ["0 B", "1023 B", "1.0 KiB", "4.5 TiB"]);
    assert_eq!([0, 59, 60, 3_661, 90_000].map(span), ["0 s", "59 s", "1 min 0 s", "1 h 1 min", "1 d 1 h"]);
}

#[test]
fn nothing_that_has_a_meaning_in_html_survives() {
    assert_eq!(Escaped("<a b='c' d=\"e\">&").to_string(), "&lt;a b=&#39;c&#39; d=&quot;e&quot;&gt;&amp;");
}
