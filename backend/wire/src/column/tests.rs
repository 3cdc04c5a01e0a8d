//! Tests of column definitions.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use mysql_common::constants::ColumnFlags as TheirFlags;
use mysql_common::io::ParseBuf;
use mysql_common::packets::Column;
use proptest::prelude::*;

const EXTENDED: Capabilities = Capabilities::MARIADB_EXTENDED_METADATA;

fn name() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..300)
}

#[derive(Clone, Debug)]
struct Owned {
    names: [Vec<u8>; 6],
    numbers: (u16, u32, u16, u8),
    kind: u8,
    default: Option<Option<Vec<u8>>>,
}

impl Owned {
    fn borrow(&self) -> ColumnDef<'_> {
        let [schema, table, org_table, name, org_name, extended] = &self.names;
        let (charset, length, flags, decimals) = self.numbers;
        ColumnDef {
            catalog: b"def",
            schema,
            table,
            org_table,
            name,
            org_name,
            extended,
            charset,
            length,
            kind: ColumnType(self.kind),
            flags: ColumnFlags::from_bits_retain(flags),
            decimals,
            default: match &self.default {
                None => DefaultValue::Absent,
                Some(None) => DefaultValue::Null,
                Some(Some(text)) => DefaultValue::Text(text),
            },
        }
    }
}

prop_compose! {
    fn column()(
        names in proptest::array::uniform6(name()),
        numbers in any::<(u16, u32, u16, u8)>(),
        kind in prop_oneof![0..=16u8, 245..=255u8],
        default in proptest::option::of(proptest::option::of(name())),
    ) -> Owned {
        Owned { names, numbers, kind, default }
    }
}

proptest! {
    #[test]
    fn round_trip(owned in column()) {
        let column = owned.borrow();
        let mut out = Vec::new();
        column.write(EXTENDED, &mut out);
        prop_assert_eq!(ColumnDef::parse(&out, EXTENDED), Ok(column));
        for cut in 0..out.len() {
            prop_assert_ne!(ColumnDef::parse(&out[..cut], EXTENDED), Ok(column));
        }
        let plain = ColumnDef { extended: b"", ..column };
        let mut out = Vec::new();
        plain.write(Capabilities::empty(), &mut out);
        prop_assert_eq!(ColumnDef::parse(&out, Capabilities::empty()), Ok(plain));
    }

    #[test]
    fn mysql_common_reads_the_same(owned in column()) {
        let ours = owned.borrow();
        let mut out = Vec::new();
        ours.write(Capabilities::empty(), &mut out);
        let theirs: Column = ParseBuf(&out).parse(()).unwrap();
        prop_assert_eq!(theirs.schema_ref(), ours.schema);
        prop_assert_eq!(theirs.table_ref(), ours.table);
        prop_assert_eq!(theirs.org_table_ref(), ours.org_table);
        prop_assert_eq!(theirs.name_ref(), ours.name);
        prop_assert_eq!(theirs.org_name_ref(), ours.org_name);
        prop_assert_eq!(theirs.character_set(), ours.charset);
        prop_assert_eq!(theirs.column_length(), ours.length);
        prop_assert_eq!(theirs.column_type() as u8, ours.kind.0);
        prop_assert_eq!(theirs.flags(), TheirFlags::from_bits_truncate(ours.flags.bits()));
        prop_assert_eq!(theirs.decimals(), ours.decimals);
    }
}

#[test]
fn fuzz_column() {
    bolero::check!().with_type::<(bool, Vec<u8>)>().for_each(|(extended, bytes)| {
        let caps = if *extended { EXTENDED } else { Capabilities::empty() };
        if let Ok(column) = ColumnDef::parse(bytes, caps) {
            let mut out = Vec::new();
            column.write(caps, &mut out);
            assert_eq!(ColumnDef::parse(&out, caps), Ok(column));
        }
    });
}
