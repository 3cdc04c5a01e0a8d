//! The tree, its places and its refusals.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::time::Duration;

use super::{MAX_DEPTH, Node, Value, parse};
use crate::source::{Fault, Faults, Span};

fn read(text: &str) -> Result<Node, Vec<String>> {
    let faults = Faults::new("f.yaml");
    let node = parse(text, &faults);
    faults.into_result(()).map(|()| node.unwrap()).map_err(|list| list.iter().map(Fault::to_string).collect())
}

fn faults_of(text: &str) -> Vec<String> {
    read(text).unwrap_err()
}

#[test]
fn every_node_knows_its_place() {
    let root = read("a: 1\nlist:\n  - x\n  - {k: 'v w'}\n").unwrap();
    let Value::Map(entries) = &root.value else { panic!("{root:?}") };
    assert_eq!(entries[1].key_span, Span { line: 2, column: 1 });
    let Value::Seq(items) = &entries[1].value.value else { panic!() };
    assert_eq!(items[0].span, Span { line: 3, column: 5 });
    let Value::Map(inner) = &items[1].value else { panic!() };
    assert_eq!(inner[0].key_span, Span { line: 4, column: 6 });
    assert_eq!(inner[0].value.span, Span { line: 4, column: 9 });
}

#[test]
fn an_empty_file_is_nothing() {
    for text in ["", "\n", "# only a comment\n", "---\n"] {
        assert!(read(text).unwrap().is_null(), "{text:?}");
    }
}

#[test]
fn duplicate_keys_are_all_reported() {
    assert_eq!(
        faults_of("a: 1\nb: {c: 1, c: 2}\na: 3\n"),
        [
            "f.yaml:2:11: the key `c` stands twice, first at line 2",
            "f.yaml:3:1: the key `a` stands twice, first at line 1",
        ]
    );
}

#[test]
fn what_a_configuration_does_not_need_is_refused() {
    assert_eq!(
        faults_of("a: 1\n---\nb: 2\n"),
        ["f.yaml:2:1: a second document: one file holds one document"]
    );
    assert_eq!(faults_of("? [a, b]\n: 1\n"), ["f.yaml:1:3: a key must be a word"]);
    assert_eq!(faults_of("a: !!int 1\n").len(), 1);
    assert_eq!(faults_of("a: 1\0\nb: 2"), ["f.yaml:1:5: a NUL character"]);
    assert!(
        faults_of("a:\n\tb: 1\n")[0].contains("a tab in the indentation"),
        "{:?}",
        faults_of("a:\n\tb: 1\n")
    );
    assert!(faults_of("a: [1, 2\nb: 3\n")[0].starts_with("f.yaml:2:"));
}

#[test]
fn aliases_are_copied_within_limits() {
    let root = read("a: &x {k: 1}\nb: *x\n").unwrap();
    let Value::Map(entries) = &root.value else { panic!() };
    assert_eq!(entries[0].value.value, entries[1].value.value);
    assert_eq!(entries[1].value.span, Span { line: 2, column: 4 });
    let mut laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for n in 1..20 {
        let p = n - 1;
        laughs +=
            &format!("a{n}: &a{n} [*a{p}, *a{p}, *a{p}, *a{p}, *a{p}, *a{p}, *a{p}, *a{p}, *a{p}, *a{p}]\n");
    }
    assert!(faults_of(&laughs)[0].contains("more than 200000 values"));
    assert!(faults_of("a: &a [*a]\n")[0].contains("alias inside the value"));
    let mut deep = "a0: &a0 [x]\n".to_owned();
    for n in 1..=MAX_DEPTH {
        deep += &format!("a{n}: &a{n} [*a{}]\n", n - 1);
    }
    assert!(faults_of(&deep)[0].contains("through an alias"));
}

#[test]
fn nesting_is_bounded() {
    for open in ["[", "{a: ", "- "] {
        let faults = faults_of(&open.repeat(100_000));
        assert_eq!(faults.len(), 1, "{open}");
    }
}

#[test]
fn a_walk_reports_everything_at_once() {
    let text = "listen: 1\nhtpt: x\nlimits: {connections: many}\nelephant: 1\n";
    let faults = Faults::new("f.yaml");
    let root = parse(text, &faults).unwrap();
    let fields = root.fields("the configuration", &faults).unwrap();
    assert!(fields.optional("listen").unwrap().list("addresses", &faults).is_none());
    fields.optional("http");
    fields.required("backends");
    let limits = fields.optional("limits").unwrap().fields("limits", &faults).unwrap();
    limits.optional("connections").unwrap().integer(1..=10_000_u32, &faults);
    limits.finish();
    fields.finish();
    let texts: Vec<_> = faults.into_sorted().iter().map(Fault::to_string).collect();
    assert_eq!(
        texts,
        [
            "f.yaml:1:1: the configuration without `backends`",
            "f.yaml:1:9: expected a list of addresses, found `1`",
            "f.yaml:2:1: unknown key `htpt` in the configuration, did you mean `http`?",
            "f.yaml:3:23: expected a whole number from 1 to 10000, found `many`",
            "f.yaml:4:1: unknown key `elephant` in the configuration; known: listen, http, backends, limits",
        ]
    );
}

fn value(text: &str) -> Node {
    let root = read(&format!("k: {text}")).unwrap();
    let Value::Map(mut entries) = root.value else { panic!() };
    entries.remove(0).value
}

#[test]
fn scalars_mean_what_is_asked_for() {
    let faults = Faults::new("f");
    assert_eq!(value("2s").duration(&faults), Some(Duration::from_secs(2)));
    assert_eq!(value("500ms").duration(&faults), Some(Duration::from_millis(500)));
    assert_eq!(value("256MiB").bytes(&faults), Some(256 << 20));
    assert_eq!(value("0.5%").percent(&faults), Some(0.005));
    assert_eq!(value("true").truth(&faults), Some(true));
    assert_eq!(value("17").integer(0..=u16::MAX, &faults), Some(17));
    assert_eq!(value("-3").integer(-5..=5_i8, &faults), Some(-3));
    assert_eq!(value("'~'").text("a name", &faults), Some("~"));
    assert_eq!(value("enabled").choice(&[("enabled", 1), ("disabled", 2)], &faults), Some(1));
    assert!(faults.is_empty());
    for wrong in ["2", "2 s", "s", "2sec", "99999999999999999999s", "18446744073709551615d", "[2s]", ""] {
        assert_eq!(value(wrong).duration(&faults), None, "{wrong}");
    }
    for wrong in ["yes", "on", "1", "'true'", "True", ""] {
        assert_eq!(value(wrong).truth(&faults), None, "{wrong}");
    }
    for wrong in ["65536", "1.0", "'1'", "1_000", "0x10", "+1", "-1"] {
        assert_eq!(value(wrong).integer(0..=u16::MAX, &faults), None, "{wrong}");
    }
    for wrong in ["1", "101%", "-1%", "nan%", "inf%", "1e1%", "'%'"] {
        assert_eq!(value(wrong).percent(&faults), None, "{wrong}");
    }
    assert_eq!(value("~").text("a name", &faults), None);
    assert_eq!(faults.len(), 8 + 6 + 7 + 7 + 1);
}

#[test]
fn a_wrong_choice_names_the_right_ones() {
    let faults = Faults::new("f");
    assert_eq!(value("enabeld").choice(&[("enabled", ()), ("disabled", ())], &faults), None);
    let text = faults.into_sorted()[0].to_string();
    assert_eq!(text, "f:1:4: expected one of enabled, disabled, found `enabeld`, did you mean `enabled`?");
}

#[test]
fn fuzz_yaml() {
    bolero::check!().with_type::<String>().for_each(|text: &String| {
        let faults = Faults::new("f");
        let node = parse(text, &faults);
        assert!(node.is_some() || !faults.is_empty(), "stopped without a fault");
        for fault in faults.into_sorted() {
            assert!(fault.span.line >= 1 && fault.span.column >= 1);
        }
    });
}

#[test]
fn fuzz_yaml_pieces() {
    const PIECES: [&str; 24] = [
        "a",
        ": ",
        ":",
        "\n",
        "  ",
        "- ",
        "[",
        "]",
        "{",
        "}",
        ", ",
        "&x ",
        "*x",
        "'",
        "\"",
        "|\n",
        ">-\n",
        "#",
        "---",
        "...",
        "? ",
        "!t ",
        "\t",
        "%YAML 1.2\n",
    ];
    bolero::check!().with_type::<Vec<u8>>().for_each(|picks: &Vec<u8>| {
        let text: String = picks.iter().map(|pick| PIECES[usize::from(*pick) % PIECES.len()]).collect();
        let faults = Faults::new("f");
        let node = parse(&text, &faults);
        assert!(node.is_some() || !faults.is_empty(), "stopped without a fault: {text:?}");
    });
}
