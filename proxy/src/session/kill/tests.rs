use sql::{Flavor, Scanner};

use super::{Whom, killed_user};

fn whom(text: &str) -> Option<(Option<String>, Option<String>)> {
    let mut scanner = Scanner::default();
    let scan = scanner.scan(text.as_bytes(), Flavor::MARIADB);
    killed_user(text.as_bytes(), scan.units).map(|Whom { name, host }| (name, host))
}

#[test]
fn whom_a_kill_names() {
    let both = |name: &str, host: &str| Some((Some(name.to_owned()), Some(host.to_owned())));
    let named = |name: &str| Some((Some(name.to_owned()), None));
    for (text, expected) in [
        ("KILL 5", None),
        ("KILL QUERY 5", None),
        ("kill user bob", named("bob")),
        ("KILL HARD CONNECTION USER bob@localhost ;", both("bob", "localhost")),
        ("KILL USER 'a b'@'10.0.0.%'", both("a b", "10.0.0.%")),
        ("KILL SOFT USER `bob` @ \"h\"", both("bob", "h")),
        ("KILL USER ''@localhost", both("", "localhost")),
        ("KILL USER CURRENT_USER()", Some((None, None))),
    ] {
        assert_eq!(whom(text), expected, "{text}");
    }
}
