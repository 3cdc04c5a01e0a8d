//! What counts as the same answer, case by case, and the comparator's laws under proptest.
#![expect(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;

use super::*;

const DOUBLE: u8 = 5;
const LONG: u8 = 3;
const NEWDECIMAL: u8 = 246;
const VAR_STRING: u8 = 253;

fn column(name: &str, kind: u8) -> Column {
    Column { name: name.to_owned(), kind, ..Column::default() }
}

fn text(s: &str) -> Value {
    Value::Bytes(s.as_bytes().to_vec())
}

fn set(kinds: &[u8], rows: &[&[&str]]) -> Answer {
    let columns = kinds.iter().enumerate().map(|(i, k)| column(&format!("c{i}"), *k)).collect();
    let rows = rows.iter().map(|row| row.iter().map(|v| text(v)).collect()).collect();
    Answer {
        results: vec![Outcome::Rows(ResultSet { columns, rows, ..ResultSet::default() })],
        warnings: Vec::new(),
    }
}

fn under(order: Order) -> Terms {
    Terms::exact().ordered_by(order)
}

fn by_first(cut: Cut) -> Order {
    Order::Ties { keys: vec![Key { column: 0, ties: Ties::Bytes }], cut }
}

fn first(verdict: &Verdict) -> String {
    verdict.first().unwrap().to_string()
}

#[test]
fn order_counts_only_where_it_is_promised() {
    let a = set(&[LONG], &[&["1"], &["2"], &["2"]]);
    let b = set(&[LONG], &[&["2"], &["1"], &["2"]]);
    assert_eq!(first(&compare(&a, &b, &Terms::exact())), "result 1, row 1, column 1: \"1\" ≠ \"2\"");
    assert!(compare(&a, &b, &under(Order::Bag)).is_same());
}

#[test]
fn a_bag_counts_how_often() {
    let a = set(&[LONG], &[&["1"], &["2"], &["2"]]);
    let b = set(&[LONG], &[&["1"], &["1"], &["2"]]);
    assert_eq!(first(&compare(&a, &b, &under(Order::Bag))), "result 1, row 3, column 1: \"2\" ≠ \"1\"");
}

#[test]
fn a_missing_row_is_named() {
    let a = set(&[LONG], &[&["1"], &["2"], &["3"]]);
    let b = set(&[LONG], &[&["3"], &["1"]]);
    let verdict = compare(&a, &b, &under(Order::Bag));
    assert_eq!(
        verdict.to_string(),
        "result 1, number of rows: 3 rows ≠ 2 rows\nresult 1, row 2: (\"2\") ≠ no such row"
    );
}

#[test]
fn ties_may_swap_but_groups_may_not() {
    let a = set(&[LONG, LONG], &[&["1", "10"], &["1", "11"], &["2", "20"]]);
    let swapped = set(&[LONG, LONG], &[&["1", "11"], &["1", "10"], &["2", "20"]]);
    let moved = set(&[LONG, LONG], &[&["1", "10"], &["2", "20"], &["1", "11"]]);
    let other = set(&[LONG, LONG], &[&["1", "10"], &["1", "12"], &["2", "20"]]);
    let terms = under(by_first(Cut::Nowhere));
    assert!(compare(&a, &swapped, &terms).is_same());
    assert!(!compare(&a, &moved, &terms).is_same());
    assert!(!compare(&a, &other, &terms).is_same());
}

#[test]
fn a_limit_may_cut_ties_only_where_it_cuts() {
    let terms = |cut| under(by_first(cut));
    let a = set(&[LONG, LONG], &[&["1", "10"], &["2", "20"], &["3", "30"]]);
    let end = set(&[LONG, LONG], &[&["1", "10"], &["2", "20"], &["3", "31"]]);
    let start = set(&[LONG, LONG], &[&["1", "11"], &["2", "20"], &["3", "30"]]);
    let middle = set(&[LONG, LONG], &[&["1", "10"], &["2", "21"], &["3", "30"]]);
    assert!(compare(&a, &end, &terms(Cut::End)).is_same());
    assert!(!compare(&a, &end, &terms(Cut::Start)).is_same());
    assert!(compare(&a, &start, &terms(Cut::Start)).is_same());
    assert!(!compare(&a, &start, &terms(Cut::Nowhere)).is_same());
    assert!(!compare(&a, &middle, &terms(Cut::Both)).is_same());
    // The keys themselves are never free.
    let key = set(&[LONG, LONG], &[&["1", "10"], &["2", "20"], &["4", "30"]]);
    assert!(!compare(&a, &key, &terms(Cut::Both)).is_same());
}

#[test]
fn limit_without_order_compares_the_number_of_rows() {
    let order = Order::limited(Vec::new(), 0, 2, 2);
    let a = set(&[LONG], &[&["1"], &["2"]]);
    assert!(compare(&a, &set(&[LONG], &[&["7"], &["8"]]), &under(order.clone())).is_same());
    assert!(!compare(&a, &set(&[LONG], &[&["7"]]), &under(order)).is_same());
    // All rows came: there is no choice.
    let whole = Order::limited(Vec::new(), 0, 3, 2);
    assert!(!compare(&a, &set(&[LONG], &[&["7"], &["8"]]), &under(whole)).is_same());
}

#[test]
fn a_folded_key_ties_by_case_and_padding() {
    let order = |ties| Order::Ties { keys: vec![Key { column: 0, ties }], cut: Cut::Nowhere };
    let a = set(&[VAR_STRING], &[&["a"], &["A "], &["b"]]);
    let b = set(&[VAR_STRING], &[&["A "], &["a"], &["b"]]);
    assert!(compare(&a, &b, &under(order(Ties::Folded))).is_same());
    assert!(!compare(&a, &b, &under(order(Ties::Bytes))).is_same());
}

#[test]
fn only_floats_have_a_tolerance() {
    let terms = Terms { floats: Floats::Relative(1e-12), ..Terms::exact() };
    let near = |kind| compare(&set(&[kind], &[&["0.1"]]), &set(&[kind], &[&["0.10000000000000001"]]), &terms);
    assert!(near(DOUBLE).is_same());
    assert!(!near(NEWDECIMAL).is_same());
    let scale = compare(&set(&[NEWDECIMAL], &[&["1.50"]]), &set(&[NEWDECIMAL], &[&["1.5"]]), &terms);
    assert!(!scale.is_same(), "the scale of a decimal is what the client sees");
    let far = compare(&set(&[DOUBLE], &[&["0.1"]]), &set(&[DOUBLE], &[&["0.1001"]]), &terms);
    assert!(!far.is_same());
}

#[test]
fn noise_in_two_columns_does_not_break_the_pairing() {
    let terms = Terms { floats: Floats::Relative(1e-9), order: Order::Bag, ..Terms::exact() };
    let a = set(&[DOUBLE, DOUBLE], &[&["1.0", "5"], &["1.0000000000001", "3"]]);
    let b = set(&[DOUBLE, DOUBLE], &[&["1.0000000000001", "5"], &["1.0", "3"]]);
    assert!(compare(&a, &b, &terms).is_same());
    let c = set(&[DOUBLE, DOUBLE], &[&["1.0000000000001", "5"], &["1.0", "4"]]);
    assert!(!compare(&a, &c, &terms).is_same());
}

#[test]
fn every_flag_counts() {
    let plain = set(&[LONG], &[]);
    for bit in 0..16 {
        let mut other = plain.clone();
        let Some(Outcome::Rows(rows)) = other.results.first_mut() else { panic!("rows") };
        rows.columns.first_mut().unwrap().flags = 1 << bit;
        let verdict = compare(&plain, &other, &Terms::exact());
        assert!(first(&verdict).starts_with("result 1, column 1, flags: none ≠ "), "{verdict}");
    }
    let mut named = plain.clone();
    let Some(Outcome::Rows(rows)) = named.results.first_mut() else { panic!("rows") };
    rows.columns.first_mut().unwrap().org_table = "t".to_owned();
    assert!(!compare(&plain, &named, &Terms::exact()).is_same());
    let terms = Terms { metadata: Metadata::NamesAndTypes, ..Terms::exact() };
    assert!(compare(&plain, &named, &terms).is_same());
}

#[test]
fn null_is_not_the_empty_string_and_a_number_is_not_its_text() {
    let cell = |v: Value| Answer {
        results: vec![Outcome::Rows(ResultSet {
            columns: vec![column("c", VAR_STRING)],
            rows: vec![vec![v]],
            ..ResultSet::default()
        })],
        warnings: Vec::new(),
    };
    let all = [Value::Null, text(""), Value::Int(0), Value::Double(0.0), text("0")];
    for (i, a) in all.iter().enumerate() {
        for (j, b) in all.iter().enumerate() {
            assert_eq!(
                compare(&cell(a.clone()), &cell(b.clone()), &Terms::exact()).is_same(),
                i == j,
                "{a} {b}"
            );
        }
    }
}

#[test]
fn ok_errors_warnings_and_the_number_of_results() {
    let ok = |affected| Answer {
        results: vec![Outcome::Done(Done { affected, ..Done::default() })],
        warnings: vec![],
    };
    assert!(!compare(&ok(1), &ok(2), &Terms::exact()).is_same());
    assert!(!compare(&ok(1), &Answer::default(), &Terms::exact()).is_same());
    let error = |code, message: &str| Answer {
        results: vec![Outcome::Failed(Failure {
            code,
            state: "42000".to_owned(),
            message: message.to_owned(),
        })],
        warnings: Vec::new(),
    };
    let codes = Terms { messages: Messages::CodesOnly, ..Terms::exact() };
    assert!(!compare(&error(1064, "a"), &error(1064, "b"), &Terms::exact()).is_same());
    assert!(compare(&error(1064, "a"), &error(1064, "b"), &codes).is_same());
    assert!(!compare(&error(1064, "a"), &error(1065, "a"), &codes).is_same());
    assert_eq!(
        first(&compare(&ok(1), &error(1064, "no"), &codes)),
        "result 1: OK, 1 affected, insert id 0, 0 warnings ≠ error 1064 (42000): no"
    );
    let mut warned = ok(1);
    warned.warnings.push(Warning {
        level: "Note".to_owned(),
        code: 1051,
        message: "Unknown table".to_owned(),
    });
    assert_eq!(first(&compare(&warned, &ok(1), &codes)), "warning 1: Note 1051: Unknown table ≠ no warning");
}

#[test]
fn many_differences_are_bounded() {
    let rows: Vec<Vec<Value>> = (0..1000).map(|i| vec![Value::Int(i)]).collect();
    let other: Vec<Vec<Value>> = (0..1000).map(|i| vec![Value::Int(i + 5000)]).collect();
    let answer = |rows| Answer {
        results: vec![Outcome::Rows(ResultSet {
            columns: vec![column("c", LONG)],
            rows,
            ..ResultSet::default()
        })],
        warnings: Vec::new(),
    };
    for order in [Order::Ordered, Order::Bag] {
        match compare(&answer(rows.clone()), &answer(other.clone()), &under(order)) {
            Verdict::Differs(found) => assert_eq!(found.len(), MOST),
            Verdict::Same => panic!("differ"),
        }
    }
}

/// Values close together, so that duplicates, ties and near floats are frequent.
fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        (0..4i128).prop_map(Value::Int),
        (0..4u8).prop_map(|b| Value::Bytes(vec![b'a' + b])),
    ]
}

fn float() -> impl Strategy<Value = Value> {
    prop_oneof![Just(Value::Null), (0..5i32).prop_map(|i| Value::Double(f64::from(i) * 0.5))]
}

fn rows() -> impl Strategy<Value = Vec<Vec<Value>>> {
    let row = (value(), value(), float(), float()).prop_map(|(a, b, c, d)| vec![a, b, c, d]);
    prop::collection::vec(row, 0..12)
}

fn rows_and_permutation() -> impl Strategy<Value = (Vec<Vec<Value>>, Vec<Vec<Value>>)> {
    rows().prop_flat_map(|rows| (Just(rows.clone()), Just(rows).prop_shuffle()))
}

fn answer(rows: Vec<Vec<Value>>) -> Answer {
    let columns = [VAR_STRING, VAR_STRING, DOUBLE, DOUBLE].iter().map(|k| column("c", *k)).collect();
    Answer {
        results: vec![Outcome::Rows(ResultSet { columns, rows, ..ResultSet::default() })],
        warnings: Vec::new(),
    }
}

fn orders() -> Vec<Order> {
    let cuts = [Cut::Nowhere, Cut::Start, Cut::End, Cut::Both];
    let mut orders = vec![Order::Ordered, Order::Bag];
    orders.extend(cuts.map(by_first));
    orders
}

fn floats() -> [Floats; 2] {
    [Floats::Exact, Floats::Relative(1e-9)]
}

proptest! {
    #[test]
    fn every_answer_is_its_own_equal(rows in rows()) {
        for order in orders() {
            for floats in floats() {
                let terms = Terms { order: order.clone(), floats, ..Terms::exact() };
                prop_assert!(compare(&answer(rows.clone()), &answer(rows.clone()), &terms).is_same());
            }
        }
    }

    #[test]
    fn a_bag_does_not_see_permutations((rows, shuffled) in rows_and_permutation()) {
        for floats in floats() {
            let terms = Terms { order: Order::Bag, floats, ..Terms::exact() };
            prop_assert!(compare(&answer(rows.clone()), &answer(shuffled.clone()), &terms).is_same());
        }
    }

    #[test]
    fn sorting_stably_by_the_key_leaves_only_ties((rows, shuffled) in rows_and_permutation()) {
        let sort = |mut rows: Vec<Vec<Value>>| {
            rows.sort_by_key(|row| format!("{:?}", row.first()));
            rows
        };
        let verdict = compare(&answer(sort(rows)), &answer(sort(shuffled)), &under(by_first(Cut::Nowhere)));
        prop_assert!(verdict.is_same(), "{}", verdict);
    }

    /// The verdict is the definition's: same multiset, whatever the sort and the window do.
    #[test]
    fn a_bag_is_a_multiset(left in rows(), right in rows()) {
        let multiset = |rows: &[Vec<Value>]| {
            let mut all: Vec<String> = rows.iter().map(|row| format!("{row:?}")).collect();
            all.sort();
            all
        };
        let same = multiset(&left) == multiset(&right);
        for floats in floats() {
            let terms = Terms { order: Order::Bag, floats, ..Terms::exact() };
            prop_assert_eq!(compare(&answer(left.clone()), &answer(right.clone()), &terms).is_same(), same);
        }
    }

    #[test]
    fn left_and_right_do_not_matter(left in rows(), right in rows()) {
        for order in [Order::Ordered, Order::Bag, by_first(Cut::Nowhere)] {
            let terms = under(order);
            let (l, r) = (answer(left.clone()), answer(right.clone()));
            prop_assert_eq!(compare(&l, &r, &terms).is_same(), compare(&r, &l, &terms).is_same());
        }
    }

    #[test]
    fn one_changed_value_always_shows(rows in rows(), at in any::<prop::sample::Index>(), col in 0..4usize) {
        prop_assume!(!rows.is_empty());
        let mut changed = rows.clone();
        let row = at.index(rows.len());
        *changed.get_mut(row).unwrap().get_mut(col).unwrap() = Value::Typed { kind: "new".into(), text: "x".into() };
        for order in [Order::Ordered, Order::Bag, by_first(Cut::Nowhere)] {
            for floats in floats() {
                let terms = Terms { order: order.clone(), floats, ..Terms::exact() };
                prop_assert!(!compare(&answer(rows.clone()), &answer(changed.clone()), &terms).is_same());
            }
        }
    }

    #[test]
    fn noise_within_the_tolerance_is_no_difference(rows in rows(), noise in prop::collection::vec(-1e-11..1e-11f64, 24)) {
        let mut noisy = rows.clone();
        let mut noise = noise.iter().cycle();
        for value in noisy.iter_mut().flatten() {
            if let Value::Double(d) = value {
                *d *= 1.0 + noise.next().unwrap();
            }
        }
        let terms = Terms { order: Order::Bag, floats: Floats::Relative(1e-9), ..Terms::exact() };
        prop_assert!(compare(&answer(rows), &answer(noisy), &terms).is_same());
    }
}
