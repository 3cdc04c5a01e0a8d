//! Tests of values and rows.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::codec::tests::serialized;
use mysql_common::constants::{ColumnFlags as TheirFlags, ColumnType as TheirType};
use mysql_common::io::ParseBuf;
use mysql_common::value::{BinValue, TextValue, Value as TheirValue, ValueDeserializer};
use proptest::prelude::*;

fn date() -> impl Strategy<Value = DateTime> {
    let parts = (0..=9999u16, 0..=12u8, 0..=31u8, 0..=23u8, 0..=59u8, 0..=59u8);
    (parts, prop_oneof![Just(0), 0..1_000_000u32], 0..4u8).prop_map(|(p, micros, zeroes)| {
        let (year, month, day, hour, minute, second) = p;
        let whole = DateTime { year, month, day, hour, minute, second, micros };
        match zeroes {
            0 => DateTime { hour: 0, minute: 0, second: 0, micros: 0, ..whole },
            1 => DateTime { micros: 0, ..whole },
            2 => DateTime::default(),
            _ => whole,
        }
    })
}

fn time() -> impl Strategy<Value = Time> {
    let parts = (any::<bool>(), 0..=34u32, 0..=23u8, 0..=59u8, 0..=59u8);
    (parts, prop_oneof![Just(0), 0..1_000_000u32], any::<bool>()).prop_map(|(p, micros, zero)| {
        let (negative, days, hours, minutes, seconds) = p;
        if zero { Time::default() } else { Time { negative, days, hours, minutes, seconds, micros } }
    })
}

/// Bytes of a column: type, whether unsigned, and a value that fits.
#[derive(Clone, Debug)]
enum Cell {
    Null(ColumnType),
    Bytes(ColumnType, Vec<u8>),
    Int(ColumnType, i64),
    UInt(ColumnType, u64),
    Float(f32),
    Double(f64),
    Date(ColumnType, DateTime),
    Time(Time),
}

impl Cell {
    fn get(&self) -> (ColumnType, bool, Value<'_>) {
        match self {
            Self::Null(kind) => (*kind, false, Value::Null),
            Self::Bytes(kind, bytes) => (*kind, false, Value::Bytes(bytes)),
            Self::Int(kind, n) => (*kind, false, Value::Int(*n)),
            Self::UInt(kind, n) => (*kind, true, Value::UInt(*n)),
            Self::Float(n) => (ColumnType::FLOAT, false, Value::Float(*n)),
            Self::Double(n) => (ColumnType::DOUBLE, false, Value::Double(*n)),
            Self::Date(kind, at) => (*kind, false, Value::DateTime(*at)),
            Self::Time(span) => (ColumnType::TIME, false, Value::Time(*span)),
        }
    }
}

fn width(kind: ColumnType) -> u32 {
    match kind.shape() {
        Shape::Int(width) => 64 - 8 * width as u32,
        other => panic!("{other:?}"),
    }
}

fn cell() -> impl Strategy<Value = Cell> {
    use ColumnType as T;
    let ints = proptest::sample::select(vec![T::TINY, T::SHORT, T::YEAR, T::LONG, T::INT24, T::LONGLONG]);
    let texts = proptest::sample::select(vec![
        T::NEWDECIMAL,
        T::VARCHAR,
        T::VAR_STRING,
        T::STRING,
        T::BLOB,
        T::JSON,
        T::GEOMETRY,
        T::BIT,
        T::ENUM,
        T::SET,
    ]);
    let dates = proptest::sample::select(vec![T::DATE, T::DATETIME, T::TIMESTAMP]);
    prop_oneof![
        (0..=16u8).prop_map(|k| Cell::Null(ColumnType(k))),
        (texts, proptest::collection::vec(any::<u8>(), 0..300)).prop_map(|(k, b)| Cell::Bytes(k, b)),
        (ints.clone(), any::<i64>()).prop_map(|(k, n)| Cell::Int(k, n >> width(k))),
        (ints, any::<u64>()).prop_map(|(k, n)| Cell::UInt(k, n >> width(k))),
        (-1e30..1e30f32).prop_map(Cell::Float),
        (-1e300..1e300f64).prop_map(Cell::Double),
        (dates, date()).prop_map(|(k, at)| Cell::Date(k, at)),
        time().prop_map(Cell::Time),
    ]
}

fn to_theirs(value: Value<'_>) -> TheirValue {
    match value {
        Value::Null => TheirValue::NULL,
        Value::Bytes(b) => TheirValue::Bytes(b.to_vec()),
        Value::Int(n) => TheirValue::Int(n),
        // Like a driver's: unsigned only where it must be.
        Value::UInt(n) => i64::try_from(n).map_or(TheirValue::UInt(n), TheirValue::Int),
        Value::Float(n) => TheirValue::Float(n),
        Value::Double(n) => TheirValue::Double(n),
        Value::DateTime(d) => TheirValue::Date(d.year, d.month, d.day, d.hour, d.minute, d.second, d.micros),
        Value::Time(t) => TheirValue::Time(t.negative, t.days, t.hours, t.minutes, t.seconds, t.micros),
    }
}

proptest! {
    #[test]
    fn binary_rows(cells in proptest::collection::vec(cell(), 0..30)) {
        let columns: Vec<_> = cells.iter().map(|c| (c.get().0, c.get().2)).collect();
        let mut out = Vec::new();
        put_binary_row(&mut out, &columns).unwrap();
        let read = |bytes: &[u8]| -> Result<(), ProtocolError> {
            let mut row = BinaryRow::new(bytes, cells.len())?;
            for cell in &cells {
                let (kind, unsigned, value) = cell.get();
                assert_eq!(row.next_value(kind, unsigned)?, value);
            }
            Ok(())
        };
        prop_assert_eq!(read(&out), Ok(()));
        let all_there = |cut: usize| cells.iter().rev().all(|c| c.get().2 == Value::Null) && cut == out.len();
        for cut in 0..out.len() {
            prop_assert!(read(&out[..cut]).is_err() || all_there(cut));
        }
    }

    #[test]
    fn mysql_common_reads_the_same_binary(cell in cell()) {
        let (kind, unsigned, value) = cell.get();
        prop_assume!(value != Value::Null);
        let mut out = Vec::new();
        value.put_binary(kind, &mut out).unwrap();
        let flags = if unsigned { TheirFlags::UNSIGNED_FLAG } else { TheirFlags::empty() };
        let theirs: ValueDeserializer<BinValue> =
            ParseBuf(&out).parse((TheirType::try_from(kind.0).unwrap(), flags)).unwrap();
        prop_assert_eq!(&theirs.0, &to_theirs(value));
        // It writes all integers in eight bytes.
        if !matches!(value, Value::Int(_) | Value::UInt(_)) {
            prop_assert_eq!(serialized(&theirs.0), out);
        }
    }

    #[test]
    fn text_rows(cells in proptest::collection::vec(cell(), 0..30)) {
        let mut out = Vec::new();
        put_text_row(&mut out, cells.iter().map(|c| c.get().2));
        let read: Result<Vec<_>, _> = TextRow::new(&out).collect();
        let read = read.unwrap();
        prop_assert_eq!(read.len(), cells.len());
        let mut theirs = ParseBuf(&out);
        for (ours, cell) in read.into_iter().zip(&cells) {
            let value: ValueDeserializer<TextValue> = theirs.parse(()).unwrap();
            prop_assert_eq!(value.0, ours.map_or(TheirValue::NULL, |b| TheirValue::Bytes(b.to_vec())));
            match (cell.get().2, ours) {
                (Value::Null, None) => {}
                (Value::Bytes(b), Some(text)) => prop_assert_eq!(b, text),
                (Value::Int(n), Some(text)) => prop_assert_eq!(n.to_string().into_bytes(), text),
                (Value::UInt(n), Some(text)) => prop_assert_eq!(n.to_string().into_bytes(), text),
                (Value::Float(n), Some(text)) => {
                    prop_assert_eq!(core::str::from_utf8(text).unwrap().parse::<f32>(), Ok(n));
                }
                (Value::Double(n), Some(text)) => {
                    prop_assert_eq!(core::str::from_utf8(text).unwrap().parse::<f64>(), Ok(n));
                }
                (Value::DateTime(_) | Value::Time(_), Some(text)) => prop_assert!(text.contains(&b':')),
                other => prop_assert!(false, "{other:?}"),
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut out = b"before".to_vec();
    for (kind, value) in [
        (ColumnType::TINY, Value::Int(256)),
        (ColumnType::TINY, Value::Int(-129)),
        (ColumnType::LONGLONG, Value::Bytes(b"1")),
        (ColumnType::VAR_STRING, Value::Int(1)),
        (ColumnType::NULL, Value::Int(1)),
    ] {
        assert!(put_binary_row(&mut out, &[(ColumnType::TINY, Value::Int(1)), (kind, value)]).is_err());
        assert_eq!(out, b"before");
    }
}

#[test]
fn malformed_dates() {
    for len in [1, 3, 5, 6, 8, 12, 255] {
        let bytes = [&[len][..], &[0; 255]].concat();
        assert!(Value::read_binary(&mut Reader::new(&bytes), ColumnType::DATETIME, false).is_err());
    }
    for len in [1, 7, 9, 11, 13, 255] {
        let bytes = [&[len][..], &[0; 255]].concat();
        assert!(Value::read_binary(&mut Reader::new(&bytes), ColumnType::TIME, false).is_err());
    }
}

#[test]
fn texts_of_times() {
    let text = |value: Value<'_>| {
        let mut out = Vec::new();
        value.put_text(&mut out);
        String::from_utf8(out[1..].to_vec()).unwrap()
    };
    let at = DateTime { year: 2024, month: 2, day: 9, hour: 3, minute: 4, second: 5, micros: 60 };
    assert_eq!(text(Value::DateTime(at)), "2024-02-09 03:04:05.000060");
    let span = Time { negative: true, days: 34, hours: 22, minutes: 59, seconds: 59, micros: 0 };
    assert_eq!(text(Value::Time(span)), "-838:59:59");
    assert_eq!(text(Value::Double(f64::MAX)).len(), 309 + 2, "longer than one length byte");
}

#[test]
fn fuzz_value() {
    bolero::check!().with_type::<(u8, bool, Vec<u8>)>().for_each(|(kind, unsigned, bytes)| {
        let kind = ColumnType(*kind);
        let mut r = Reader::new(bytes);
        let mut raw = r;
        let value = Value::read_binary(&mut r, kind, *unsigned);
        if let Ok(value) = value {
            assert_eq!(kind.binary(&mut raw).unwrap().len(), bytes.len() - r.len());
            let mut out = Vec::new();
            value.put_binary(kind, &mut out).unwrap();
            // Not compared as values, as a NaN equals nothing.
            let again = Value::read_binary(&mut Reader::new(&out), kind, *unsigned).unwrap();
            assert_eq!(format!("{value:?}"), format!("{again:?}"));
        }
        assert!(TextRow::new(bytes).count() <= bytes.len());
        if let Ok(mut row) = BinaryRow::new(bytes, bytes.len()) {
            while row.next_value(kind, *unsigned).is_ok() {}
        }
    });
}
