//! Tests of handshake responses.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::codec::tests::serialized;
use mysql_common::constants::CapabilityFlags;
use mysql_common::io::ParseBuf;
use mysql_common::packets as theirs;
use proptest::prelude::*;
use std::collections::HashMap;

#[derive(Clone, Debug)]
struct Owned {
    low: u32,
    high: u32,
    max_packet: u32,
    charset: u16,
    user: Vec<u8>,
    answer: Vec<u8>,
    schema: Option<Vec<u8>>,
    plugin: Option<String>,
    attributes: Option<Vec<u8>>,
    zstd: Option<u8>,
}

impl Owned {
    fn borrow(&self) -> HandshakeResponse<'_> {
        let mut capabilities = Capabilities::from_halves(self.low, 0) | Capabilities::PROTOCOL_41;
        if !capabilities.contains(Capabilities::LONG_PASSWORD) {
            capabilities |= Capabilities::from_halves(0, self.high);
        }
        capabilities.set(Capabilities::CONNECT_WITH_DB, self.schema.is_some());
        capabilities.set(Capabilities::PLUGIN_AUTH, self.plugin.is_some());
        capabilities.set(Capabilities::CONNECT_ATTRS, self.attributes.is_some());
        capabilities.set(Capabilities::ZSTD_COMPRESSION_ALGORITHM, self.zstd.is_some());
        HandshakeResponse {
            capabilities,
            max_packet: self.max_packet,
            charset: self.charset,
            user: &self.user,
            auth_response: &self.answer,
            schema: self.schema.as_deref(),
            plugin: self.plugin.as_deref().map(str::as_bytes),
            raw_attributes: self.attributes.as_deref(),
            zstd_level: self.zstd,
        }
    }
}

fn text(min: usize) -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(1..=255u8, min..40)
}

prop_compose! {
    fn response()(
        (low, high, max_packet, charset) in any::<(u32, u32, u32, u16)>(),
        user in text(0),
        answer in text(0),
        schema in proptest::option::of(text(1)),
        plugin in proptest::option::of("[a-z_]{1,30}"),
        attributes in proptest::option::of(proptest::collection::vec(any::<u8>(), 0..300)),
        zstd in proptest::option::of(any::<u8>()),
    ) -> Owned {
        Owned { low, high, max_packet, charset, user, answer, schema, plugin, attributes, zstd }
    }
}

proptest! {
    #[test]
    fn round_trip(owned in response()) {
        let response = owned.borrow();
        let mut out = Vec::new();
        response.write(&mut out).unwrap();
        prop_assert_eq!(HandshakeResponse::parse(&out).unwrap(), response);
        for cut in 0..out.len() {
            let _ = HandshakeResponse::parse(&out[..cut]);
        }
    }

    #[test]
    fn mysql_common_reads_the_same(owned in response()) {
        let response = HandshakeResponse { raw_attributes: None, zstd_level: None, ..owned.borrow() };
        let response = HandshakeResponse {
            capabilities: response.capabilities
                - Capabilities::CONNECT_ATTRS
                - Capabilities::ZSTD_COMPRESSION_ALGORITHM,
            ..response
        };
        let mut out = Vec::new();
        response.write(&mut out).unwrap();
        let theirs: theirs::HandshakeResponse<'_> = ParseBuf(&out).parse(()).unwrap();
        prop_assert_eq!(theirs.user(), response.user);
        prop_assert_eq!(theirs.scramble_buf(), response.auth_response);
        prop_assert_eq!(theirs.db_name(), response.schema);
        prop_assert_eq!(theirs.auth_plugin().map(|p| p.as_bytes().to_vec()), response.plugin.map(<[u8]>::to_vec));
        prop_assert_eq!(theirs.mariadb_ext_capabilities().bits(), response.capabilities.high() & 0x3F);
        prop_assert_eq!(theirs.capabilities(), CapabilityFlags::from_bits_truncate(response.capabilities.low()));
        prop_assert_eq!(theirs.collation(), (response.charset & 0xFF) as u8);
    }
}

#[test]
fn reads_what_mysql_common_writes() {
    for extra in [CapabilityFlags::empty(), CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA] {
        let theirs = theirs::HandshakeResponse::new(
            Some(&b"12345678901234567890"[..]),
            (8, 0, 0),
            Some(&b"app"[..]),
            Some(&b"shop"[..]),
            Some(theirs::AuthPlugin::CachingSha2Password),
            CapabilityFlags::CLIENT_PROTOCOL_41 | CapabilityFlags::CLIENT_SECURE_CONNECTION | extra,
            Some(HashMap::from([("_pid".to_owned(), "17".to_owned())])),
            1 << 24,
        );
        let bytes = serialized(&theirs);
        let ours = HandshakeResponse::parse(&bytes).unwrap();
        assert_eq!(ours.user, b"app");
        assert_eq!(ours.schema, Some(&b"shop"[..]));
        assert_eq!(ours.auth_response, b"12345678901234567890");
        assert_eq!(ours.plugin, Some(&b"caching_sha2_password"[..]));
        assert_eq!((ours.max_packet, ours.charset), (1 << 24, 45));
        assert_eq!(ours.attributes().collect::<Vec<_>>(), [(&b"_pid"[..], &b"17"[..])]);
    }
}

#[test]
fn tls_requests() {
    let request = SslRequest {
        capabilities: Capabilities::PROTOCOL_41 | Capabilities::SSL | Capabilities::MARIADB_CACHE_METADATA,
        max_packet: 1 << 30,
        charset: 309,
    };
    let mut bytes = Vec::new();
    request.write(&mut bytes);
    assert_eq!(bytes.len(), SslRequest::LEN);
    assert_eq!(SslRequest::parse(&bytes), Ok(Some(request)));
    let theirs: theirs::SslRequest = ParseBuf(&bytes).parse(()).unwrap();
    assert_eq!(theirs.max_packet_size(), 1 << 30);
    bytes.extend_from_slice(b"root\0\0");
    assert_eq!(SslRequest::parse(&bytes), Ok(None));
    assert_eq!(SslRequest::parse(&bytes[..31]), Err(ProtocolError::Truncated));
    assert!(matches!(SslRequest::parse(&[0; 32]), Err(ProtocolError::Unsupported(_))));
}

/// MySQL's clients set the bit that MariaDB calls CLIENT_MYSQL: what they send as filler is no capability.
#[test]
fn filler_of_mysql_clients_is_no_capability() {
    let mut bytes = Vec::new();
    let capabilities = Capabilities::PROTOCOL_41 | Capabilities::LONG_PASSWORD;
    SslRequest { capabilities, max_packet: 0, charset: 8 }.write(&mut bytes);
    bytes[28..32].fill(0xFF);
    bytes.extend_from_slice(b"u\0\0");
    assert_eq!(HandshakeResponse::parse(&bytes).unwrap().capabilities, capabilities);
}

#[test]
fn long_answers_need_a_long_length() {
    let long = [7; 256];
    let response = HandshakeResponse {
        capabilities: Capabilities::PROTOCOL_41 | Capabilities::SECURE_CONNECTION,
        max_packet: 0,
        charset: 8,
        user: b"u",
        auth_response: &long,
        schema: None,
        plugin: None,
        raw_attributes: None,
        zstd_level: None,
    };
    assert_eq!(response.write(&mut Vec::new()), Err(ProtocolError::TooLong { max: 255 }));
    assert!(!format!("{response:?}").contains("7, 7"), "an answer may be a password");
}

#[test]
fn fuzz_login() {
    bolero::check!().with_type::<(u32, Vec<u8>)>().for_each(|(low, tail)| {
        let capabilities = Capabilities::from_halves(*low, 0) | Capabilities::PROTOCOL_41;
        let mut bytes = Vec::new();
        SslRequest { capabilities, max_packet: 0, charset: 8 }.write(&mut bytes);
        bytes.extend_from_slice(tail);
        let _ = SslRequest::parse(&bytes);
        if let Ok(response) = HandshakeResponse::parse(&bytes) {
            let _ = response.attributes().count();
            let mut again = Vec::new();
            if response.write(&mut again).is_ok() {
                let second = HandshakeResponse::parse(&again).unwrap();
                assert_eq!((second.user, second.schema), (response.user, response.schema));
            }
        }
    });
}
