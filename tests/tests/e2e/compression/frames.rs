//! Frames as clients may send them: several commands ahead, cut anywhere, and out of order.

use std::io::{Read, Write};
use std::time::Duration;

use shuntyard_tests::mariadb::MariaDb;
use shuntyard_tests::proxy::{Proxy, Setup};
use shuntyard_tests::raw::{Client, modern};
use wire::Capabilities;
use wire::compress::{Decoder, Deflater, Encoder, Progress};

fn login(proxy: &Proxy) -> Client {
    Client::login(&proxy.server(), None, modern() | Capabilities::COMPRESS).unwrap()
}

fn query(sql: &str) -> Vec<u8> {
    let mut out = Vec::new();
    wire::packet::write(&mut out, &mut 0, &[b"\x03", sql.as_bytes()].concat());
    out
}

/// The frame of a command.
fn framed(packets: &[u8]) -> Vec<u8> {
    let (mut out, mut seq) = (Vec::new(), 0);
    Encoder::default().encode(&mut Deflater::default(), &mut seq, packets, &mut out);
    out
}

/// The text of a few frames.
fn unframed(frames: &[u8]) -> String {
    let (mut decoder, mut seq, mut at) = (Decoder::default(), frames.get(3).copied().unwrap_or(0), 0);
    let (mut text, mut room) = (Vec::new(), [0; 4096]);
    while at < frames.len() {
        let done = decoder.decode(&mut seq, &frames[at..], &mut room).unwrap();
        assert_ne!(done, Progress::default(), "the last frame is whole");
        at += done.read;
        text.extend_from_slice(&room[..done.written]);
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// A frame with any header and content.
fn frame(seq: u8, inflated: u32, content: &[u8]) -> Vec<u8> {
    let len = (content.len() as u32).to_le_bytes();
    let [d, e, f, _] = inflated.to_le_bytes();
    [&[len[0], len[1], len[2], seq, d, e, f], content].concat()
}

/// Each answer's frames are numbered from 1, although the commands came long before their turn.
#[tokio::test]
async fn commands_sent_ahead_are_answered_one_by_one() {
    let Some(server) = MariaDb::shared() else { return };
    for pooling in ["session", "transaction"] {
        let proxy = Setup::mariadb(server.port()).line(&format!("pooling: {pooling}")).start();
        tokio::task::spawn_blocking(move || {
            let mut client = login(&proxy);
            let texts = [
                "SELECT REPEAT('x', 3000000), 1",
                "SELECT seq, MD5(seq) FROM mysql.seq_1_to_50000",
                "DO 1",
                &format!("SELECT 4 /* {} */", "long ".repeat(1000)),
            ];
            for sql in texts {
                client.stream().write_all(&framed(&query(sql))).unwrap();
            }
            for _ in texts {
                client.next_answer();
                let answer = client.answer().unwrap();
                assert_eq!(answer.results.len(), 1);
            }
            assert_eq!(client.query(b"SELECT 'alive'").unwrap().results.len(), 1);
        })
        .await
        .unwrap();
    }
}

#[tokio::test]
async fn frames_cut_anywhere() {
    let Some(server) = MariaDb::shared() else { return };
    let proxy = Setup::mariadb(server.port()).start();
    tokio::task::spawn_blocking(move || {
        let mut client = login(&proxy);
        let sql = format!("SELECT '{}' AS v", "abc".repeat(40));
        let command = query(&sql);
        let deflated = framed(&command);
        let mut cuts: Vec<Vec<Vec<u8>>> = (1..deflated.len())
            .step_by(7)
            .map(|cut| vec![deflated[..cut].to_vec(), deflated[cut..].to_vec()])
            .collect();
        // Stored, in frames that end in the middle of a header, and empty ones between.
        let (a, b, c) = (&command[..2], &command[2..9], &command[9..]);
        cuts.push(vec![frame(0, 0, a), frame(1, 0, b""), frame(2, 0, b), frame(3, 0, c)]);
        for pieces in cuts {
            client.restart();
            let frames = pieces.len();
            for piece in pieces {
                client.stream().write_all(&piece).unwrap();
                std::thread::sleep(Duration::from_millis(3));
            }
            if frames == 4 {
                let mut head = [0; 7];
                client.stream().read_exact(&mut head).unwrap();
                assert_eq!(head[3], 4, "the answer goes on from the command's last frame");
                break;
            }
            client.next_answer();
            assert_eq!(client.answer().unwrap().results.len(), 1);
        }
    })
    .await
    .unwrap();
}

/// Whoever lies is told so and loses the connection; nobody else notices, and no memory is taken.
#[tokio::test]
async fn frames_that_lie_end_their_session_only() {
    let Some(server) = MariaDb::shared() else { return };
    let proxy = Setup::mariadb(server.port()).start();
    tokio::task::spawn_blocking(move || {
        let mut other = login(&proxy);
        let before = proxy.process.memory();
        let command = query("SELECT 1");
        let honest = framed(&query(&"SELECT 1 ".repeat(100)));
        let announced = |n: u32| {
            let [d, e, f, _] = n.to_le_bytes();
            [&honest[..4], &[d, e, f], &honest[7..]].concat()
        };
        let lies = [
            frame(1, 0, &command),
            frame(255, 0, &command),
            frame(0, 13, &command),
            announced(1),
            announced(906),
            announced(0xFF_FFFF),
            frame(0, 1000, b""),
            frame(0, 0xFF_FFFF, &[0x78, 0x9C, 0x4B, 0x4C, 0x4A, 0x06, 0x00]),
        ];
        for (number, lie) in lies.into_iter().enumerate() {
            let mut client = login(&proxy);
            client.stream().set_read_timeout(Some(Duration::from_secs(10))).unwrap();
            client.stream().write_all(&lie).unwrap();
            let mut told = Vec::new();
            client.stream().read_to_end(&mut told).unwrap();
            let text = unframed(&told);
            assert!(text.contains("malformed packet"), "lie {number}: {text}");
        }
        assert_eq!(other.query(b"SELECT 'alive'").unwrap().results.len(), 1);
        let most = proxy.process.memory();
        assert!(most < before + (8 << 20), "{} KiB more", most.saturating_sub(before) / 1024);
    })
    .await
    .unwrap();
}
