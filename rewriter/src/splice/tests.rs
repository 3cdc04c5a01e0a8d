//! Templates of edits, read again and composed.
#![expect(clippy::unwrap_used, reason = "tests")]

use sql::digest::{OwnedScan, Scanner};
use sql::{Piece, Product, Template};

use super::{Edit, Origin, compose, origins, template};
use crate::fixture::flavor;

fn scan(text: &str) -> OwnedScan {
    Scanner::new().scan(text.as_bytes(), flavor(Product::MariaDb)).to_owned()
}

fn render(text: &str, edits: Vec<Edit>) -> Option<String> {
    let scan = scan(text);
    let template = template(&scan.units, edits)?;
    let mut out = Vec::new();
    template.render(text.as_bytes(), &scan.as_scan(), &mut out).unwrap();
    Some(String::from_utf8(out).unwrap())
}

fn words(text: &str) -> Option<Vec<String>> {
    let scan = scan(text);
    scan.units.iter().map(|unit| String::from_utf8(unit.of(text.as_bytes()).to_vec()).ok()).collect()
}

#[test]
fn edits_change_only_their_places() {
    let text = "SELECT  a, -- why\n b FROM t";
    assert_eq!(render(text, vec![]).unwrap(), text);
    let insert = Edit::insert(1, vec![Piece::Text("x, ".to_owned())]);
    assert_eq!(render(text, vec![insert]).unwrap(), "SELECT x, a, -- why\n b FROM t");
    let remove = Edit::replace(2..4, vec![]);
    assert_eq!(render(text, vec![remove]).unwrap(), "SELECT  a FROM t");
    let swap =
        vec![Edit::replace(1..2, vec![Piece::Source(3..4)]), Edit::replace(3..4, vec![Piece::Source(1..2)])];
    assert_eq!(render(text, swap).unwrap(), "SELECT b, a FROM t");
}

#[test]
fn overlapping_edits_make_no_template() {
    let text = "SELECT a, b FROM t";
    assert!(render(text, vec![Edit::replace(1..3, vec![]), Edit::replace(2..4, vec![])]).is_none());
    assert!(render(text, vec![Edit::replace(5..9, vec![])]).is_none());
}

#[test]
fn glued_words_are_noticed() {
    let text = "SELECT a FROM t";
    let scan_old = scan(text);
    let glue = Template(vec![Piece::Source(0..1), Piece::Text("x".to_owned()), Piece::Source(1..4)]);
    let mut out = Vec::new();
    glue.render(text.as_bytes(), &scan_old.as_scan(), &mut out).unwrap();
    let new = String::from_utf8(out).unwrap();
    let scan_new = scan(&new);
    let old = (text.as_bytes(), &scan_old.as_scan());
    assert!(origins(&glue, old, (new.as_bytes(), &scan_new.as_scan()), &mut words).is_none());
}

#[test]
fn two_templates_become_one() {
    let text = "SELECT a FROM t WHERE b = 'x' LIMIT 5, 7";
    let old = scan(text);
    let units = u32::try_from(old.units.len()).unwrap();
    let first = template(
        &old.units,
        vec![
            Edit::insert(0, vec![Piece::Text("(".to_owned())]),
            Edit::insert(units, vec![Piece::Text(")".to_owned())]),
        ],
    )
    .unwrap();
    let mut middle = Vec::new();
    first.render(text.as_bytes(), &old.as_scan(), &mut middle).unwrap();
    let middle = String::from_utf8(middle).unwrap();
    assert_eq!(middle, format!("({text})"));
    let new = scan(&middle);
    let from =
        origins(&first, (text.as_bytes(), &old.as_scan()), (middle.as_bytes(), &new.as_scan()), &mut words)
            .unwrap();
    assert_eq!(from.first(), Some(&Origin::Text("(".to_owned())));
    let slots = u32::try_from(new.slots.len()).unwrap();
    let second = template(
        &new.units,
        vec![Edit::insert(
            units + 1,
            vec![Piece::Text(" OFFSET ".to_owned()), Piece::Sum(slots - 2, slots - 1)],
        )],
    )
    .unwrap();
    let both = compose(&second, &from, &old.as_scan(), &new.as_scan()).unwrap();
    let other = "SELECT a FROM t WHERE b = 'long''er' LIMIT 100, 23";
    let mut out = Vec::new();
    both.render(other.as_bytes(), &scan(other).as_scan(), &mut out).unwrap();
    assert_eq!(words(std::str::from_utf8(&out).unwrap()), words(&format!("({other} OFFSET 123)")));
}
