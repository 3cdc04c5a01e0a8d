//! Tests of the greeting.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::codec::tests::serialized;
use mysql_common::constants::{CapabilityFlags, MariadbCapabilities, StatusFlags};
use mysql_common::io::ParseBuf;
use mysql_common::packets::HandshakePacket;
use proptest::prelude::*;

prop_compose! {
    fn greeting()(
        server_version in "[0-9]{1,2}\\.[0-9]{1,2}\\.[0-9]{1,3}(-[A-Za-z~+.]{0,20})?",
        thread_id in any::<u32>(),
        scramble in proptest::array::uniform20(1..=255u8),
        low in any::<u32>(),
        high in any::<u32>(),
        charset in any::<u8>(),
        // Bit 2 has no name, and mysql_common refuses it.
        status in any::<u16>().prop_map(|bits| bits & !4),
        auth_plugin in "[a-z_]{1,30}",
    ) -> Greeting {
        let low = Capabilities::from_halves(low, 0) | Capabilities::PROTOCOL_41 | Capabilities::SECURE_CONNECTION;
        let mariadb = !low.contains(Capabilities::LONG_PASSWORD);
        let capabilities = Capabilities::from_halves(low.low(), if mariadb { high } else { 0 });
        let plugin = capabilities.contains(Capabilities::PLUGIN_AUTH);
        Greeting {
            server_version,
            thread_id,
            scramble,
            capabilities,
            charset,
            status: Status::from_bits_retain(status),
            auth_plugin: if plugin { auth_plugin } else { String::new() },
        }
    }
}

fn written(greeting: &Greeting) -> Vec<u8> {
    let mut out = Vec::new();
    greeting.write(&mut out);
    out
}

proptest! {
    #[test]
    fn round_trip(greeting in greeting()) {
        let bytes = written(&greeting);
        prop_assert_eq!(Greeting::parse(&bytes), Ok(greeting.clone()));
        for cut in 0..bytes.len() {
            match Greeting::parse(&bytes[..cut]) {
                // Only the last field may be cut without notice, as old servers leave its NUL out.
                Ok(cut) => prop_assert_eq!(Greeting { auth_plugin: greeting.auth_plugin.clone(), ..cut }, greeting.clone()),
                Err(e) => prop_assert!(matches!(e, ProtocolError::Truncated | ProtocolError::Unsupported(_))),
            }
        }
    }

    #[test]
    fn mysql_common_reads_the_same(greeting in greeting()) {
        let bytes = written(&greeting);
        let theirs: HandshakePacket<'_> = ParseBuf(&bytes).parse(()).unwrap();
        prop_assert_eq!(theirs.server_version_ref(), greeting.server_version.as_bytes());
        prop_assert_eq!(theirs.connection_id(), greeting.thread_id);
        prop_assert_eq!(theirs.nonce(), greeting.scramble.to_vec());
        prop_assert_eq!(theirs.capabilities(), CapabilityFlags::from_bits_truncate(greeting.capabilities.low()));
        prop_assert_eq!(theirs.default_collation(), greeting.charset);
        prop_assert_eq!(theirs.status_flags(), StatusFlags::from_bits_truncate(greeting.status.bits()));
        if !greeting.auth_plugin.is_empty() {
            prop_assert_eq!(theirs.auth_plugin_name_ref(), Some(greeting.auth_plugin.as_bytes()));
        }
    }
}

#[test]
fn reads_what_mysql_common_writes() {
    let theirs = HandshakePacket::new(
        10,
        &b"5.5.5-10.11.19-MariaDB-1"[..],
        77,
        *b"abcdefgh",
        Some(&b"ijklmnopqrst\0"[..]),
        CapabilityFlags::CLIENT_PROTOCOL_41
            | CapabilityFlags::CLIENT_SECURE_CONNECTION
            | CapabilityFlags::CLIENT_PLUGIN_AUTH,
        45,
        StatusFlags::SERVER_STATUS_AUTOCOMMIT,
        Some(&b"mysql_native_password"[..]),
    )
    .with_mariadb_ext_capabilities(MariadbCapabilities::MARIADB_CLIENT_CACHE_METADATA);
    let ours = Greeting::parse(&serialized(&theirs)).unwrap();
    assert_eq!(ours.server_version, "5.5.5-10.11.19-MariaDB-1");
    assert_eq!(ours.scramble, *b"abcdefghijklmnopqrst");
    assert_eq!((ours.thread_id, ours.charset, ours.status), (77, 45, Status::AUTOCOMMIT));
    assert_eq!(ours.auth_plugin, "mysql_native_password");
    assert!(ours.capabilities.contains(Capabilities::MARIADB_CACHE_METADATA));
    assert!(ours.is_mariadb());
    assert_eq!(ours.version(), Some((10, 11, 19)));
}

#[test]
fn refusals() {
    assert_eq!(Greeting::parse(&[9, 0]), Err(ProtocolError::Unexpected(9)));
    assert_eq!(Greeting::parse(&[0xFF, 0x10, 0x04]), Err(ProtocolError::Unexpected(0xFF)));
    assert_eq!(Greeting::parse(&[]), Err(ProtocolError::Truncated));
}

#[test]
fn versions() {
    let version = |text: &str| {
        let greeting = Greeting {
            server_version: text.to_owned(),
            thread_id: 0,
            scramble: [1; 20],
            capabilities: Capabilities::empty(),
            charset: 0,
            status: Status::empty(),
            auth_plugin: String::new(),
        };
        (greeting.is_mariadb(), greeting.version())
    };
    assert_eq!(version("9.7.4"), (false, Some((9, 7, 4))));
    assert_eq!(version("8.0.36-0ubuntu0.22.04.1"), (false, Some((8, 0, 36))));
    assert_eq!(version("11.4.2-MariaDB-log"), (true, Some((11, 4, 2))));
    assert_eq!(version("5.5.5-10.5.1-MariaDB"), (true, Some((10, 5, 1))));
    assert_eq!(version("nonsense"), (false, None));
}

#[test]
fn fuzz_greeting() {
    bolero::check!().with_type::<Vec<u8>>().for_each(|bytes| {
        for bytes in [bytes.clone(), [&[10][..], bytes].concat()] {
            if let Ok(greeting) = Greeting::parse(&bytes) {
                assert_eq!(Greeting::parse(&written(&greeting)), Ok(greeting));
            }
        }
    });
}
