//! Tests of authentication: both sides against each other, and against `mysql_common`.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::codec::tests::serialized;
use crate::{Capabilities, SqlError, code};
use mysql_common::io::ParseBuf;
use mysql_common::packets as theirs;
use mysql_common::scramble::{scramble_native, scramble_sha256};
use proptest::prelude::*;
use std::sync::{Arc, LazyLock};

static KEY: LazyLock<Arc<PrivateKey>> = LazyLock::new(|| Arc::new(PrivateKey::generate().unwrap()));

const NONCE: Nonce = *b"abcdefghijklmnopqrst";

proptest! {
    #[test]
    fn scrambles(password in proptest::collection::vec(any::<u8>(), 1..40), nonce in any::<Nonce>()) {
        let native = native::scramble_response(&password, &nonce);
        prop_assert_eq!(Some(native), scramble_native(&nonce, &password));
        let sha2 = sha2::scramble_response(&password, &nonce);
        prop_assert_eq!(Some(sha2), scramble_sha256(&nonce, &password));

        let hash = native::verify(&Sha1Password::new(&password).stored(), &nonce, &native).unwrap();
        prop_assert_eq!(native::response_from_sha1(&hash, &NONCE), native::scramble_response(&password, &NONCE));
        let hash = Sha2Digest::new(&password).verify(&nonce, &sha2).unwrap();
        prop_assert_eq!(sha2::response_from_sha256(&hash, &NONCE), sha2::scramble_response(&password, &NONCE));

        let mut wrong = native;
        wrong[7] ^= 1;
        prop_assert!(native::verify(&Sha1Password::new(&password).stored(), &nonce, &wrong).is_none());
        let mut wrong = sha2;
        wrong[31] ^= 0x80;
        prop_assert!(Sha2Digest::new(&password).verify(&nonce, &wrong).is_none());
    }

    #[test]
    fn packets(plugin in "[a-z_]{1,30}", data in proptest::collection::vec(1..=255u8, 0..40)) {
        let ours = AuthSwitchRequest { plugin: plugin.as_bytes(), data: &data };
        let mut out = Vec::new();
        ours.write(&mut out);
        prop_assert_eq!(AuthSwitchRequest::parse(&out), Ok(ours));
        let read: theirs::AuthSwitchRequest<'_> = ParseBuf(&out).parse(()).unwrap();
        prop_assert_eq!(read.auth_plugin().as_bytes().to_vec(), plugin.as_bytes().to_vec());
        prop_assert_eq!(read.plugin_data(), data.strip_suffix(&[0]).unwrap_or(&data));

        let mut out = Vec::new();
        AuthMoreData(&data).write(&mut out);
        prop_assert_eq!(AuthMoreData::parse(&out), Ok(AuthMoreData(&data)));
        prop_assert_eq!(serialized(&theirs::AuthMoreData::new(&data[..])), out);
    }
}

#[test]
fn stored_hashes() {
    // SELECT PASSWORD('mypass') of a server.
    let stored = native::Stored::parse("*6C8989366EAF75BB670AD8EA7A7FC1176A95CEF4").unwrap();
    assert_eq!(stored, Sha1Password::new(b"mypass").stored());
    for bad in [
        "",
        "*",
        "6C8989366EAF75BB670AD8EA7A7FC1176A95CEF4",
        "*6C8989366EAF75BB670AD8EA7A7FC1176A95CEF",
        "*6C8989366EAF75BB670AD8EA7A7FC1176A95CEFG",
        "*é",
    ] {
        assert!(native::Stored::parse(bad).is_none(), "{bad}");
    }
}

#[test]
fn nonces_are_printable_and_differ() {
    let (a, b) = (nonce().unwrap(), nonce().unwrap());
    assert_ne!(a, b);
    assert!(a.iter().chain(&b).all(|c| c.is_ascii_graphic() && *c != b'$'));
}

#[test]
fn nothing_secret_is_printed() {
    let password = Password::new(b"hunter2");
    let printed = format!(
        "{password:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        password.downgrade(),
        Sha1Password::new(b"hunter2"),
        Sha256Password::new(b"hunter2"),
        Sha2Digest::new(b"hunter2"),
        Check::Known(password.clone(), None),
        KEY.as_ref(),
    );
    assert!(!printed.contains("hunter2") && !printed.contains("104, 117"), "{printed}");
}

/// What a whole exchange came to.
#[derive(Debug)]
enum Outcome {
    In(Proof),
    Denied,
    Stuck(AuthError),
}

/// Lets a client and a server of ours log in to each other. `plugin` is what the server's greeting names.
fn login(
    plugin: &str,
    secret: Secret,
    client: ClientChannel,
    check: Check,
    server: ServerChannel,
) -> Outcome {
    exchange(plugin, secret, client, check, server).unwrap_or_else(Outcome::Stuck)
}

fn exchange(
    plugin: &str,
    secret: Secret,
    client: ClientChannel,
    check: Check,
    server: ServerChannel,
) -> Result<Outcome, AuthError> {
    let start = Client::start(plugin, &NONCE, secret, client)?;
    let mut client = start.client;
    let mut step =
        Server::start(check, NONCE, server.clone(), Some(start.plugin.as_bytes()), &start.response)?;
    loop {
        match step {
            ServerStep::Send(payload, server) => match client.step(&payload)? {
                ClientStep::Send(answer, next) => {
                    client = next;
                    step = server.step(&answer)?;
                }
                other => panic!("{other:?}"),
            },
            ServerStep::Accepted(proof, then) => {
                if let Some(payload) = then {
                    client = match client.step(&payload)? {
                        ClientStep::Wait(client) => client,
                        other => panic!("{other:?}"),
                    };
                }
                assert!(matches!(client.step(&[0, 0, 0, 2, 0, 0, 0])?, ClientStep::Done));
                return Ok(Outcome::In(proof));
            }
            ServerStep::Doubtful(doubting) => step = doubting.insist(server.clone()),
            ServerStep::Denied => {
                let mut err = Vec::new();
                SqlError::new(code::ACCESS_DENIED, "Access denied")
                    .write(Capabilities::PROTOCOL_41, &mut err);
                match client.step(&err)? {
                    ClientStep::Refused(error) => assert_eq!(error.code, code::ACCESS_DENIED),
                    other => panic!("{other:?}"),
                }
                return Ok(Outcome::Denied);
            }
        }
    }
}

fn secret(password: &str) -> Secret {
    Secret::Password(Password::new(password.as_bytes()))
}

fn known(password: &str) -> Check {
    Check::Known(Password::new(password.as_bytes()), None)
}

fn plain(key: ServerKey) -> ClientChannel {
    ClientChannel::Plain(key)
}

fn with_key() -> ServerChannel {
    ServerChannel::Plain(Some(Arc::clone(&KEY)))
}

#[track_caller]
fn claims(outcome: Outcome, password: &[u8]) {
    match outcome {
        Outcome::In(Proof::Claimed(claimed)) => assert_eq!(claimed.as_bytes(), password),
        other => panic!("{other:?}"),
    }
}

#[test]
fn known_passwords() {
    for plugin in [NATIVE, SHA2, "client_ed25519", ""] {
        let enter = |client: &str, server: &str| {
            login(plugin, secret(client), plain(ServerKey::Refuse), known(server), ServerChannel::Plain(None))
        };
        assert!(matches!(enter("pw", "pw"), Outcome::In(Proof::Known)));
        assert!(matches!(enter("", ""), Outcome::In(Proof::Known)));
        for (client, server) in [("pw", "other"), ("", "pw"), ("pw", "")] {
            assert!(matches!(enter(client, server), Outcome::Denied), "{plugin} {client} {server}");
        }
    }
}

#[test]
fn stored_hash_gives_the_hash_that_logs_in_elsewhere() {
    let check = || Check::Native(Sha1Password::new(b"pw").stored());
    for plugin in [NATIVE, SHA2] {
        let enter = |password| {
            login(plugin, secret(password), plain(ServerKey::Ask), check(), ServerChannel::Plain(None))
        };
        assert!(matches!(enter("wrong"), Outcome::Denied));
        assert!(matches!(enter(""), Outcome::Denied));
        let Outcome::In(Proof::Sha1(hash)) = enter("pw") else { panic!() };
        // And from there to a backend that names either plugin first.
        for backend in [NATIVE, SHA2] {
            let hash = Secret::Sha1(hash.clone());
            let outcome = login(backend, hash, plain(ServerKey::Ask), check(), ServerChannel::Plain(None));
            assert!(matches!(outcome, Outcome::In(Proof::Sha1(_))));
        }
        let hash = Secret::Sha1(hash);
        let outcome = login(SHA2, hash, plain(ServerKey::Ask), Check::Sha2(None), ServerChannel::Plain(None));
        assert!(matches!(outcome, Outcome::Stuck(AuthError::HashOnly(SHA2))));
    }
}

#[test]
fn sha2_fast() {
    let check = || Check::Sha2(Some(Sha2Digest::new(b"pw")));
    for plugin in [NATIVE, SHA2] {
        let outcome =
            login(plugin, secret("pw"), plain(ServerKey::Refuse), check(), ServerChannel::Plain(None));
        let Outcome::In(Proof::Sha256(hash, _)) = outcome else { panic!("{outcome:?}") };
        // And from there to a backend that names either plugin first, as long as it does not ask for the password.
        for backend in [NATIVE, SHA2] {
            let enter = |check| {
                login(
                    backend,
                    Secret::Sha256(hash.clone()),
                    plain(ServerKey::Ask),
                    check,
                    ServerChannel::Plain(None),
                )
            };
            assert!(matches!(enter(check()), Outcome::In(Proof::Sha256(..))));
            assert!(matches!(enter(Check::Sha2(None)), Outcome::Stuck(AuthError::HashOnly(SHA2))));
            let native = Check::Native(Sha1Password::new(b"pw").stored());
            assert!(matches!(enter(native), Outcome::Stuck(AuthError::HashOnly(NATIVE))));
        }
    }
}

/// A proof that is of no use after all is followed by the question for the password, as if there had been no digest.
#[test]
fn sha2_full_after_fast() {
    let start = Client::start(SHA2, &NONCE, secret("pw"), ClientChannel::Secure).unwrap();
    let check = Check::Sha2(Some(Sha2Digest::new(b"pw")));
    let step = Server::start(check, NONCE, ServerChannel::Secure, Some(SHA2.as_bytes()), &start.response);
    let Ok(ServerStep::Accepted(Proof::Sha256(_, server), _)) = step else { panic!("{step:?}") };
    let ServerStep::Send(question, server) = server.ask() else { panic!() };
    let ClientStep::Send(answer, _) = start.client.step(&question).unwrap() else { panic!() };
    let Ok(ServerStep::Accepted(Proof::Claimed(password), None)) = server.step(&answer) else { panic!() };
    assert_eq!(password.as_bytes(), b"pw");
}

/// A listed user's plugin may be prescribed, or the client chooses.
#[test]
fn known_passwords_by_every_plugin() {
    let all = [Plugin::Native, Plugin::Sha2, Plugin::Clear, Plugin::Ed25519];
    for (plugin, spoken) in all.into_iter().flat_map(|plugin| [(plugin, NATIVE), (plugin, SHA2)]) {
        for (client, server) in [("pw", "pw"), ("", ""), ("pw", "wp"), ("pw", ""), ("", "pw")] {
            let check = Check::Known(Password::new(server.as_bytes()), Some(plugin));
            let outcome = login(spoken, secret(client), ClientChannel::Secure, check, ServerChannel::Secure);
            assert_eq!(
                matches!(outcome, Outcome::In(Proof::Known)),
                client == server,
                "{plugin:?}: {outcome:?}"
            );
        }
    }
    let clear = Check::Known(Password::new(b"pw"), Some(Plugin::Clear));
    let outcome = login(NATIVE, secret("pw"), ClientChannel::Secure, clear, with_key());
    assert!(matches!(outcome, Outcome::Stuck(AuthError::Insecure(CLEAR))));
    let start = |channel, plugin: &str, response: &[u8]| {
        Server::start(known("pw"), NONCE, channel, Some(plugin.as_bytes()), response).unwrap()
    };
    let own = start(ServerChannel::Secure, CLEAR, b"pw\0");
    assert!(matches!(own, ServerStep::Accepted(Proof::Known, None)), "the client likes to send it");
    let ServerStep::Send(switch, _) = start(with_key(), CLEAR, b"pw\0") else { panic!() };
    assert!(switch.starts_with(b"\xfecaching_sha2_password\0"), "and must not where others read along");
    let ServerStep::Send(switch, _) = start(with_key(), ED25519, b"") else { panic!() };
    assert_eq!(switch.len(), 1 + ED25519.len() + 1 + 32);
}

/// `sha256_password` of MySQL: asked for by another byte, answered as the full exchange of its successor.
#[test]
fn sha256_password_of_older_accounts() {
    let switch = [b"\xfesha256_password\0", &NONCE[..], &[0]].concat();
    let start = |channel| Client::start(SHA2, &NONCE, secret("pw"), channel).unwrap().client;
    let ClientStep::Send(answer, _) = start(ClientChannel::Secure).step(&switch).unwrap() else { panic!() };
    assert_eq!(answer.as_slice(), b"pw\0");
    let ClientStep::Send(ask, client) = start(plain(ServerKey::Ask)).step(&switch).unwrap() else { panic!() };
    assert_eq!(ask.as_slice(), [1]);
    let mut key = Vec::new();
    AuthMoreData(KEY.public_pem().as_bytes()).write(&mut key);
    let ClientStep::Send(answer, _) = client.step(&key).unwrap() else { panic!() };
    assert_eq!(KEY.decrypt(&NONCE, &answer), Some(Password::new(b"pw")));
    assert!(matches!(start(plain(ServerKey::Refuse)).step(&switch), Err(AuthError::Insecure(SHA256))));
    let hash = Client::start(SHA2, &NONCE, Secret::Sha1(Sha1Password::new(b"pw")), ClientChannel::Secure);
    assert!(matches!(hash.unwrap().client.step(&switch), Err(AuthError::HashOnly(SHA256))));
}

#[test]
fn hashes_sign_nothing() {
    let check = || Check::Known(Password::new(b"pw"), Some(Plugin::Ed25519));
    for hash in [Secret::Sha1(Sha1Password::new(b"pw")), Secret::Sha256(Sha256Password::new(b"pw"))] {
        let outcome = login(NATIVE, hash, plain(ServerKey::Ask), check(), ServerChannel::Plain(None));
        assert!(matches!(outcome, Outcome::Stuck(AuthError::HashOnly(ED25519))), "{outcome:?}");
    }
}

#[test]
fn signatures_hold_for_one_password_and_one_challenge() {
    let challenge = ed25519::challenge().unwrap();
    let response = ed25519::sign(b"secret", &challenge);
    assert!(ed25519::verify(b"secret", &challenge, &response));
    assert!(!ed25519::verify(b"other", &challenge, &response));
    assert!(!ed25519::verify(b"secret", &ed25519::challenge().unwrap(), &response));
    for broken in [&response[1..], &[], &[0; 64], &[0xFF; 64]] {
        assert!(!ed25519::verify(b"secret", &challenge, broken));
    }
}

/// A password is kept by whoever has a clone of it, and by nobody else.
#[test]
fn weak_passwords_last_as_long_as_others_keep_them() {
    let password = Password::new(b"pw");
    let weak = password.downgrade();
    let other = password.clone();
    drop(password);
    assert_eq!(weak.upgrade(), Some(other.clone()));
    drop(other);
    assert_eq!(weak.upgrade(), None);
}

#[test]
fn sha2_full() {
    for digest in [None, Some(Sha2Digest::new(b"old password"))] {
        for plugin in [NATIVE, SHA2] {
            let enter =
                |client, server| login(plugin, secret("pw"), client, Check::Sha2(digest.clone()), server);
            claims(enter(ClientChannel::Secure, ServerChannel::Secure), b"pw");
            claims(enter(plain(ServerKey::Ask), with_key()), b"pw");
            let public = PublicKey::from_pem(KEY.public_pem().as_bytes()).unwrap();
            claims(enter(plain(ServerKey::Known(public)), with_key()), b"pw");
            let outcome = enter(plain(ServerKey::Refuse), with_key());
            assert!(matches!(outcome, Outcome::Stuck(AuthError::Insecure(SHA2))));
            let outcome = enter(plain(ServerKey::Ask), ServerChannel::Plain(None));
            assert!(matches!(outcome, Outcome::Stuck(AuthError::NoKey)));
        }
    }
    claims(login(SHA2, secret(""), plain(ServerKey::Refuse), Check::Sha2(None), with_key()), b"");
}

/// A client whose fast answer does not hold is asked for its password, listed or not.
#[test]
fn known_passwords_after_a_wrong_fast_answer() {
    let nobody = || ServerChannel::Plain(None);
    let doubtful = || {
        let step = Server::start(known("pw"), NONCE, nobody(), Some(SHA2.as_bytes()), &[7; 32]).unwrap();
        let ServerStep::Doubtful(server) = step else { panic!("{step:?}") };
        server
    };
    let enter = |channel, answer: &[u8]| {
        let step = doubtful().insist(channel);
        let ServerStep::Send(question, server) = step else { panic!("{step:?}") };
        assert_eq!(question, [1, sha2::FULL]);
        server.step(answer).unwrap()
    };
    assert!(matches!(enter(ServerChannel::Secure, b"pw\0"), ServerStep::Accepted(Proof::Known, None)));
    assert!(matches!(enter(ServerChannel::Secure, b"wp\0"), ServerStep::Denied));
    for (password, right) in [(*b"pw\0", true), (*b"wp\0", false)] {
        let ServerStep::Send(_, server) = enter(with_key(), &[sha2::KEY_REQUEST]) else { panic!() };
        let mut password = password.to_vec();
        xor(&mut password, &NONCE);
        let encrypted = mysql_common::crypto::encrypt(&password, KEY.public_pem().as_bytes());
        let step = server.step(&encrypted).unwrap();
        assert_eq!(matches!(step, ServerStep::Accepted(Proof::Known, None)), right, "{step:?}");
    }
    assert!(matches!(doubtful().insist(nobody()), ServerStep::Denied));
}

#[test]
fn sha2_full_of_the_longest_password() {
    let long = "x".repeat(213);
    claims(login(SHA2, secret(&long), plain(ServerKey::Ask), Check::Sha2(None), with_key()), long.as_bytes());
    let outcome = login(SHA2, secret(&"x".repeat(214)), plain(ServerKey::Ask), Check::Sha2(None), with_key());
    assert!(matches!(outcome, Outcome::Stuck(AuthError::PublicKey)));
}

#[test]
fn clear_passwords_on_secure_channels_only() {
    claims(login(NATIVE, secret("pw"), ClientChannel::Secure, Check::Clear, ServerChannel::Secure), b"pw");
    let outcome = login(NATIVE, secret("pw"), ClientChannel::Secure, Check::Clear, with_key());
    assert!(matches!(outcome, Outcome::Stuck(AuthError::Insecure(CLEAR))));
    // Nor does a client give its password to a server that asks for it.
    let outcome = login(NATIVE, secret("pw"), plain(ServerKey::Ask), Check::Clear, ServerChannel::Secure);
    assert!(matches!(outcome, Outcome::Stuck(AuthError::Insecure(CLEAR))));
}

/// What mysql_common encrypts for a server is decrypted here.
#[test]
fn password_encrypted_by_mysql_common() {
    let mut password = b"secret\0".to_vec();
    xor(&mut password, &NONCE);
    let encrypted = mysql_common::crypto::encrypt(&password, KEY.public_pem().as_bytes());
    assert_eq!(KEY.decrypt(&NONCE, &encrypted), Some(Password::new(b"secret")));
    for broken in [&encrypted[1..], &[], &[0; 256], &[0xFF; 256], &[1; 5000]] {
        assert_eq!(KEY.decrypt(&NONCE, broken), None);
    }
}

#[test]
fn clients_without_plugins_speak_native() {
    let response = native::scramble_response(b"pw", &NONCE);
    let step = Server::start(known("pw"), NONCE, ServerChannel::Plain(None), None, &response).unwrap();
    assert!(matches!(step, ServerStep::Accepted(Proof::Known, None)));
}

#[test]
fn servers_out_of_turn() {
    let start = |plugin| Client::start(plugin, &NONCE, secret("pw"), plain(ServerKey::Ask)).unwrap().client;
    assert!(start(NATIVE).step(&[]).is_err());
    assert!(start(NATIVE).step(&[1, sha2::FULL]).is_err(), "more data for a plugin that has none");
    assert!(start(NATIVE).step(&[2]).is_err(), "a second factor");
    assert!(matches!(start(NATIVE).step(b"\xfedialog\0x"), Err(AuthError::Plugin(p)) if p == "dialog"));
    assert!(matches!(start(NATIVE).step(&[0xFE]), Err(AuthError::Plugin(p)) if p == "mysql_old_password"));
    assert!(start(NATIVE).step(b"\xfemysql_native_password\0short\0").is_err());
    let ClientStep::Send(request, client) = start(SHA2).step(&[1, sha2::FULL]).unwrap() else { panic!() };
    assert_eq!(*request, [sha2::KEY_REQUEST]);
    assert!(matches!(client.step(b"\x01-----BEGIN PUBLIC KEY-----\nAAAA"), Err(AuthError::PublicKey)));
    // One switch, no more.
    let mut switch = Vec::new();
    AuthSwitchRequest { plugin: NATIVE.as_bytes(), data: &NONCE }.write(&mut switch);
    let ClientStep::Send(_, client) = start(SHA2).step(&switch).unwrap() else { panic!() };
    assert!(matches!(client.step(&switch), Err(AuthError::Protocol(ProtocolError::Unexpected(0xFE)))));
}

#[test]
fn fuzz_auth() {
    bolero::check!().with_type::<(u8, Vec<Vec<u8>>)>().for_each(|(kind, packets)| {
        let plugin = [NATIVE, SHA2][usize::from(kind & 1)];
        let channel = if kind & 2 == 0 { ClientChannel::Secure } else { plain(ServerKey::Ask) };
        let mut client = Some(Client::start(plugin, &NONCE, secret("pw"), channel).unwrap().client);
        for packet in packets {
            client = match client.take().map(|c| c.step(packet)) {
                Some(Ok(ClientStep::Send(_, next) | ClientStep::Wait(next))) => Some(next),
                _ => break,
            };
        }
        let check = match kind >> 2 & 3 {
            0 => known("pw"),
            1 => Check::Native(Sha1Password::new(b"pw").stored()),
            2 => Check::Sha2(None),
            _ => Check::Clear,
        };
        let channel = if kind & 2 == 0 { ServerChannel::Secure } else { ServerChannel::Plain(None) };
        let Some((first, rest)) = packets.split_first() else { return };
        let mut step = Server::start(check, NONCE, channel, Some(plugin.as_bytes()), first);
        for packet in rest {
            step = match step {
                Ok(ServerStep::Send(_, server)) => server.step(packet),
                Ok(ServerStep::Accepted(proof, _)) => {
                    assert!(matches!(proof, Proof::Claimed(_)), "guessed: {proof:?}");
                    return;
                }
                _ => return,
            };
        }
    });
}

/// The packets of an exchange, and what claims to be encrypted or a key.
#[test]
fn fuzz_auth_packets() {
    bolero::check!().with_type::<Vec<u8>>().for_each(|bytes| {
        for bytes in [bytes.clone(), [&[0xFE][..], bytes].concat(), [&[1][..], bytes].concat()] {
            let mut again = Vec::new();
            if let Ok(switch) = AuthSwitchRequest::parse(&bytes) {
                switch.write(&mut again);
                assert_eq!(AuthSwitchRequest::parse(&again), Ok(switch));
            }
            again.clear();
            if let Ok(more) = AuthMoreData::parse(&bytes) {
                more.write(&mut again);
                assert_eq!(again, bytes);
            }
        }
        assert!(KEY.decrypt(&NONCE, bytes).is_none(), "guessed a password");
        let mut pem = KEY.public_pem().as_bytes().to_vec();
        for (at, byte) in bytes.iter().enumerate() {
            let place = (usize::from(*byte) * 7 + at) % pem.len();
            pem[place] = *byte;
        }
        let _ = (PublicKey::from_pem(bytes), PublicKey::from_pem(&pem));
    });
}
