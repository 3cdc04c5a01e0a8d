//! Tests of commands.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::codec::tests::serialized;
use crate::value::{ParamType, Params, Value, put_params};
use mysql_common::packets as theirs;
use mysql_common::value::Value as TheirValue;
use proptest::prelude::*;

const CAPS: Capabilities = Capabilities::PROTOCOL_41
    .union(Capabilities::SECURE_CONNECTION)
    .union(Capabilities::PLUGIN_AUTH)
    .union(Capabilities::CONNECT_ATTRS);
const ATTRIBUTES: Capabilities = CAPS.union(Capabilities::QUERY_ATTRIBUTES);

fn written(command: &Command<'_>, capabilities: Capabilities) -> Vec<u8> {
    let mut out = Vec::new();
    command.write(capabilities, &mut out);
    out
}

fn change_user() -> ChangeUser<'static> {
    ChangeUser {
        user: b"app",
        auth_response: b"12345678901234567890",
        schema: b"shop",
        charset: Some(309),
        plugin: Some(b"caching_sha2_password"),
        raw_attributes: Some(b"\x04_pid\x0217"),
    }
}

fn all() -> Vec<Command<'static>> {
    vec![
        Command::Quit,
        Command::InitDb(b"shop"),
        Command::Query(Query::new(b"SELECT 1")),
        Command::FieldList { table: b"t", wildcard: b"a%" },
        Command::CreateDb(b"x"),
        Command::DropDb(b"x"),
        Command::Refresh(4),
        Command::Shutdown,
        Command::Statistics,
        Command::ProcessInfo,
        Command::ProcessKill(7),
        Command::Debug,
        Command::Ping,
        Command::ChangeUser(change_user()),
        Command::BinlogDump(b"\x04\0\0\0"),
        Command::BinlogDumpGtid(b"\x04\0\0\0"),
        Command::RegisterReplica(b"\x01\0\0\0"),
        Command::StmtPrepare(b"SELECT ?"),
        Command::StmtExecute(StmtExecute { id: 3, flags: 1, iterations: 1, params: b"\x00\x00" }),
        Command::StmtSendLongData { id: 3, param: 2, data: b"long" },
        Command::StmtClose(3),
        Command::StmtReset(3),
        Command::StmtFetch { id: 3, rows: 100 },
        Command::SetOption(1),
        Command::ResetConnection,
        Command::StmtBulkExecute { id: 3, flags: 128, params: b"\x08\x00" },
        Command::Unknown(0x1D),
    ]
}

#[test]
fn round_trips_and_cuts() {
    for command in all() {
        for caps in [CAPS, ATTRIBUTES] {
            let bytes = written(&command, caps);
            assert_eq!(Command::parse(&bytes, caps), Ok(command));
            assert_eq!(bytes.first(), Some(&command.byte()));
            for cut in 0..bytes.len() {
                // What is cut is refused, or reads as another value: never as this one.
                assert_ne!(Command::parse(&bytes[..cut], caps), Ok(command));
            }
        }
    }
    assert_eq!(Command::parse(&[], CAPS), Err(ProtocolError::Truncated));
}

/// Every one of the 256 first bytes is read or refused, and the ones that are read say so.
#[test]
fn every_first_byte() {
    for byte in 0..=255 {
        let payload = [&[byte][..], &[0; 32]].concat();
        assert_eq!(Command::parse(&payload, CAPS).unwrap().byte(), byte);
    }
}

#[test]
fn who_is_not_answered() {
    let silent = all().into_iter().filter(|c| c.expect() == Expect::None).collect::<Vec<_>>();
    assert!(matches!(silent[..], [Command::Quit, Command::StmtSendLongData { .. }, Command::StmtClose(_)]));
}

#[test]
fn change_user_of_mysql_common() {
    let more = theirs::ComChangeUserMoreData::new(45)
        .with_auth_plugin(Some(theirs::AuthPlugin::MysqlNativePassword));
    let theirs = theirs::ComChangeUser::new()
        .with_user(Some(&b"app"[..]))
        .with_database(Some(&b"shop"[..]))
        .with_auth_plugin_data(Some(vec![7; 20]))
        .with_more_data(Some(more));
    let bytes = serialized(&theirs);
    let caps = CAPS - Capabilities::CONNECT_ATTRS;
    let ours = match Command::parse(&bytes, caps).unwrap() {
        Command::ChangeUser(ours) => ours,
        other => panic!("{other:?}"),
    };
    assert_eq!((ours.user, ours.schema, ours.auth_response), (&b"app"[..], &b"shop"[..], &[7; 20][..]));
    assert_eq!((ours.charset, ours.plugin), (Some(45), Some(&b"mysql_native_password"[..])));
    let again = written(&Command::ChangeUser(ours), caps);
    // It writes the length of its attributes, zero, also to servers that expect none.
    assert_eq!(Some(&again[..]), bytes.strip_suffix(&[0]));
}

#[test]
fn change_user_without_the_optional_end() {
    let ours = Command::parse(b"\x11app\0\0shop\0", CAPS).unwrap();
    let expected =
        ChangeUser { auth_response: b"", charset: None, plugin: None, raw_attributes: None, ..change_user() };
    assert_eq!(ours, Command::ChangeUser(expected));
}

#[test]
fn executions_of_mysql_common() {
    let values = [
        TheirValue::Int(-5),
        TheirValue::UInt(u64::MAX),
        TheirValue::NULL,
        TheirValue::Bytes(b"text".to_vec()),
        TheirValue::Double(1.5),
        TheirValue::Float(2.5),
        TheirValue::Date(2024, 2, 29, 23, 59, 58, 7),
        TheirValue::Time(true, 3, 4, 5, 6, 7),
    ];
    let (request, _) = theirs::ComStmtExecuteRequestBuilder::new(42).build(&values);
    let bytes = serialized(&request);
    let Command::StmtExecute(execute) = Command::parse(&bytes, CAPS).unwrap() else { panic!() };
    assert_eq!((execute.id, execute.flags, execute.iterations), (42, 0, 1));
    let mut types = Vec::new();
    let params: Vec<_> =
        Params::parse(&execute, 8, CAPS, &mut types, &[]).unwrap().map(Result::unwrap).collect();
    let date =
        crate::value::DateTime { year: 2024, month: 2, day: 29, hour: 23, minute: 59, second: 58, micros: 7 };
    let time = crate::value::Time { negative: true, days: 3, hours: 4, minutes: 5, seconds: 6, micros: 7 };
    let expected = [
        Value::Int(-5),
        Value::UInt(u64::MAX),
        Value::Null,
        Value::Bytes(b"text"),
        Value::Double(1.5),
        Value::Float(2.5),
        Value::DateTime(date),
        Value::Time(time),
    ];
    assert_eq!(params, expected.map(Some));

    let mut out = Vec::new();
    let pairs: Vec<_> = types.iter().copied().zip(expected).collect();
    put_params(&mut out, &pairs, CAPS).unwrap();
    assert_eq!(out, execute.params);
}

#[test]
fn types_are_remembered_and_long_data_is_left_out() {
    let long = ParamType { kind: crate::ColumnType::LONG, unsigned: false };
    let text = ParamType { kind: crate::ColumnType::VAR_STRING, unsigned: false };
    let execute = |params| StmtExecute { id: 1, flags: 0, iterations: 1, params };
    let read = |params, types: &mut Vec<_>, long_data: &[u16]| {
        Params::parse(&execute(params), 2, CAPS, types, long_data)
            .map(|p| p.map(Result::unwrap).map(|v| v.map(|v| format!("{v:?}"))).collect::<Vec<_>>())
    };
    let mut types = Vec::new();
    assert!(read(b"\x00\x00\x05\0\0\0\x01a", &mut types, &[]).is_err(), "error 1210");
    let first = read(b"\x00\x01\x03\x00\xfd\x00\x05\0\0\0\x01a", &mut types, &[]).unwrap();
    assert_eq!(types, [long, text]);
    assert_eq!(read(b"\x00\x00\x05\0\0\0\x01a", &mut types, &[]).unwrap(), first);
    assert_eq!(read(b"\x00\x00\x05\0\0\0", &mut types, &[1]).unwrap(), [first[0].clone(), None]);
    assert_eq!(read(b"\x00\x00\x01a", &mut types, &[0]).unwrap(), [None, first[1].clone()]);
}

#[test]
fn query_attributes() {
    // Two attributes, the first NULL; then the text.
    let payload = b"\x03\x02\x01\x01\x01\x08\x00\x01a\xfd\x00\x02bb\x03xyzSELECT 1";
    let command = Command::parse(payload, ATTRIBUTES).unwrap();
    let Command::Query(query) = command else { panic!() };
    assert_eq!(query.text, b"SELECT 1");
    assert_eq!(written(&command, ATTRIBUTES), payload);
    assert_eq!(written(&command, CAPS), b"\x03SELECT 1");
    assert_eq!(written(&Command::Query(Query::new(b"SELECT 1")), ATTRIBUTES), b"\x03\x00\x01SELECT 1");
    for cut in 1..payload.len() - 8 {
        assert!(Command::parse(&payload[..cut], ATTRIBUTES).is_err(), "{cut}");
    }
    assert!(Command::parse(b"\x03\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", ATTRIBUTES).is_err());
}

#[test]
fn execute_with_attributes_has_a_count() {
    let pairs = [
        (ParamType { kind: crate::ColumnType::LONGLONG, unsigned: true }, Value::UInt(9)),
        (ParamType { kind: crate::ColumnType::NULL, unsigned: false }, Value::Null),
    ];
    let mut params = Vec::new();
    put_params(&mut params, &pairs, ATTRIBUTES).unwrap();
    assert_eq!(params[0], 2);
    let mut types = Vec::new();
    let execute = StmtExecute { id: 1, flags: PARAMETER_COUNT_AVAILABLE, iterations: 1, params: &params };
    // One parameter and one attribute.
    let read: Vec<_> = Params::parse(&execute, 1, ATTRIBUTES, &mut types, &[]).unwrap().collect();
    assert_eq!(read, [Ok(Some(Value::UInt(9))), Ok(Some(Value::Null))]);
    for cut in 0..params.len() {
        let execute = StmtExecute { params: &params[..cut], ..execute };
        let mut types = Vec::new();
        let read = Params::parse(&execute, 1, ATTRIBUTES, &mut types, &[]);
        assert!(read.is_err() || read.unwrap().any(|v| v.is_err()));
    }
}

proptest! {
    #[test]
    fn texts_are_whole(text in proptest::collection::vec(any::<u8>(), 0..500)) {
        for caps in [CAPS, ATTRIBUTES] {
            for command in [Command::Query(Query::new(&text)), Command::StmtPrepare(&text), Command::InitDb(&text)] {
                let bytes = written(&command, caps);
                prop_assert_eq!(Command::parse(&bytes, caps), Ok(command));
            }
        }
    }
}

/// Whatever follows the first byte of a command: what is read is written so that it reads the same.
#[test]
fn fuzz_command() {
    const FIRST: [u8; 13] = [0x03, 0x04, 0x07, 0x0C, 0x11, 0x16, 0x17, 0x18, 0x19, 0x1A, 0x1B, 0x1C, 0xFA];
    bolero::check!().with_type::<(u8, u64, Vec<u8>)>().for_each(|(first, caps, bytes)| {
        let caps = Capabilities::from_bits_retain(*caps);
        let first = FIRST[usize::from(*first) % FIRST.len()];
        for bytes in [bytes.clone(), [&[first][..], bytes].concat()] {
            if let Ok(command) = Command::parse(&bytes, caps) {
                let again = written(&command, caps);
                let again = Command::parse(&again, caps).unwrap();
                assert_eq!(written(&again, caps), written(&command, caps));
            }
        }
    });
}

#[test]
fn fuzz_params() {
    bolero::check!().with_type::<(u16, u64, u8, Vec<u16>, Vec<u8>, Vec<u8>)>().for_each(
        |(count, caps, flags, long_data, first, second)| {
            let (caps, mut types) = (Capabilities::from_bits_retain(*caps), Vec::new());
            // The second execution may rely on the first one's types.
            for params in [first, second] {
                let execute = StmtExecute { id: 1, flags: *flags, iterations: 1, params };
                for count in [count % 9, *count] {
                    if let Ok(params) = Params::parse(&execute, count, caps, &mut types, long_data) {
                        assert!(params.count() <= usize::from(u16::MAX));
                    }
                }
            }
        },
    );
}
