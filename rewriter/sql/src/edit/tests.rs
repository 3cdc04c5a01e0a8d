//! Splices keep every byte that they do not replace.

use super::*;
use crate::digest::Scanner;
use crate::flavor::Flavor;

fn render(template: &Template, text: &str) -> Result<String, RenderError> {
    let mut scanner = Scanner::new();
    let scan = scanner.scan(text.as_bytes(), Flavor::MARIADB);
    let mut out = Vec::new();
    template.render(text.as_bytes(), &scan, &mut out)?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

#[test]
fn identity_keeps_every_byte() {
    for text in [
        "",
        "  SELECT 1 ; ",
        "/* app */ SELECT a -- x",
        "SELECT 'C:\\\\new', '''', \"a\", N'x', _utf8mb4'y', 0x1 FROM t;",
    ] {
        let units = Scanner::new().scan(text.as_bytes(), Flavor::MARIADB).units.len();
        assert_eq!(render(&Template::identity(units), text).as_deref(), Ok(text));
    }
}

#[test]
fn a_trailing_comment_does_not_swallow_what_is_appended() {
    let text = "/* app */ SELECT a FROM t -- why";
    let template = Template(vec![Piece::Source(0..4), Piece::Text(" LIMIT 5".into())]);
    assert_eq!(render(&template, text).as_deref(), Ok("/* app */ SELECT a FROM t LIMIT 5"));
}

#[test]
fn each_text_brings_its_own_literals() {
    let template = Template(vec![Piece::Source(0..4), Piece::Text(" LIMIT ".into()), Piece::Sum(0, 1)]);
    assert_eq!(render(&template, "SELECT a FROM t LIMIT 5, 10").as_deref(), Ok("SELECT a FROM t LIMIT 15"));
    assert_eq!(render(&template, "SELECT a FROM t LIMIT 1,2").as_deref(), Ok("SELECT a FROM t LIMIT 3"));
    let too_large = "SELECT a FROM t LIMIT 9223372036854775807, 9223372036854775807";
    assert_eq!(render(&template, too_large).as_deref(), Ok("SELECT a FROM t LIMIT 18446744073709551614"));
    assert_eq!(render(&template, "SELECT a FROM t LIMIT 18446744073709551615, 1"), Err(RenderError::Literal));
}

#[test]
fn a_foreign_template_leaves_the_buffer_alone() {
    let mut scanner = Scanner::new();
    let scan = scanner.scan(b"SELECT 1", Flavor::MARIADB);
    let mut out = b"kept".to_vec();
    for template in [
        Template(vec![Piece::Text("x".into()), Piece::Source(0..9)]),
        Template(vec![Piece::Text("x".into()), Piece::Sum(0, 7)]),
    ] {
        assert!(template.render(b"SELECT 1", &scan, &mut out).is_err());
        assert_eq!(out, b"kept");
    }
}

#[test]
fn preconditions() {
    let text = b"SELECT a FROM t WHERE b = 'x' LIMIT 1000, 20";
    let mut scanner = Scanner::new();
    let scan = scanner.scan(text, Flavor::MARIADB);
    let holds = |precondition: Precondition| precondition.holds(text, &scan);
    assert!(holds(Precondition::IntAtLeast { slot: 1, min: 1000 }));
    assert!(!holds(Precondition::IntAtLeast { slot: 1, min: 1001 }));
    assert!(holds(Precondition::IntAtMost { slot: 2, max: 20 }));
    assert!(!holds(Precondition::IntAtMost { slot: 2, max: 19 }));
    assert!(holds(Precondition::SumAtMost { left: 1, right: 2, max: 1020 }));
    assert!(!holds(Precondition::SumAtMost { left: 1, right: 2, max: 1019 }));
    assert!(holds(Precondition::Exactly { slot: 0, text: b"'x'".to_vec() }));
    assert!(!holds(Precondition::Exactly { slot: 0, text: b"'y'".to_vec() }));
    // A string is no integer, a slot that is not there nothing at all.
    assert!(!holds(Precondition::IntAtLeast { slot: 0, min: 0 }));
    assert!(!holds(Precondition::IntAtMost { slot: 9, max: u64::MAX }));
    let prepared = b"SELECT a FROM t LIMIT ?";
    let scan = scanner.scan(prepared, Flavor::MARIADB);
    assert!(!Precondition::IntAtLeast { slot: 0, min: 0 }.holds(prepared, &scan));
    assert!(!Precondition::Exactly { slot: 0, text: b"?".to_vec() }.holds(prepared, &scan));
}

proptest::proptest! {
    #[test]
    fn identity_of_anything(text in "[ -~äß\n\t]{0,60}") {
        let units = Scanner::new().scan(text.as_bytes(), Flavor::MARIADB).units.len();
        proptest::prop_assert_eq!(render(&Template::identity(units), &text), Ok(text));
    }

    /// Cutting at any unit and joining again is the identity, up to what stands between the two.
    #[test]
    fn two_halves(cut in 1u32..8) {
        let text = "/* a */ SELECT b FROM t WHERE c = 1 -- d";
        let template = Template(vec![Piece::Source(0..cut), Piece::Text(" ".into()), Piece::Source(cut..8)]);
        let joined = render(&template, text).unwrap_or_default();
        proptest::prop_assert_eq!(joined.split_whitespace().collect::<Vec<_>>(), text.split_whitespace().collect::<Vec<_>>());
    }
}

/// Any template over any text: what it renders is made of the text's own bytes, or the buffer is as it was.
#[test]
fn fuzz_template() {
    bolero::check!().with_type::<(Vec<u8>, Vec<(u8, u8, u8)>)>().for_each(|(text, picks)| {
        let mut scanner = Scanner::new();
        let scan = scanner.scan(text, Flavor::MARIADB);
        let pieces = picks.iter().map(|(kind, a, b)| match kind % 3 {
            0 => Piece::Source(u32::from(*a)..u32::from(*b)),
            1 => Piece::Text(char::from(*a).to_string()),
            _ => Piece::Sum(u32::from(*a), u32::from(*b)),
        });
        let template = Template(pieces.collect());
        let mut out = b"kept".to_vec();
        if template.render(text, &scan, &mut out).is_err() {
            assert_eq!(out, b"kept");
        }
        for (kind, a, b) in picks {
            let (slot, max) = (u32::from(*a), u64::from(*b));
            let condition = match kind % 3 {
                0 => Precondition::IntAtMost { slot, max },
                1 => Precondition::SumAtMost { left: slot, right: u32::from(*b), max },
                _ => Precondition::UnitIs { unit: slot, text: text.clone() },
            };
            condition.holds(text, &scan);
        }
    });
}
