//! Clients that compress: the same answers as without, in frames that they understand, in bounded memory.

mod frames;
mod scripts;

use router::compare::{Outcome, Value};
use shuntyard_tests::client::Server;
use shuntyard_tests::mariadb::MariaDb;
use shuntyard_tests::mysql::MySql;
use shuntyard_tests::proxy::{Proxy, Setup};
use shuntyard_tests::raw::{Client, classic, modern};
use wire::Capabilities;

/// A server and proxies of each pooling in front of it.
struct Place {
    straight: Server,
    proxies: Vec<Proxy>,
}

async fn places() -> Vec<Place> {
    let mut all = Vec::new();
    let mut place = |straight: Server, setup: Setup| {
        let proxies = vec![setup.clone().unshared().start(), setup.sharing(1).start()];
        all.push(Place { straight, proxies });
    };
    if let Some(server) = MariaDb::shared() {
        place(server.server(), Setup::mariadb(server.port()));
    }
    if let Some(server) = MySql::shared().await {
        place(server.server(), Setup::mysql(server.port()));
    }
    all
}

/// Runs `sql` straight without compression and proxied with it.
fn same(straight: &mut Client, proxied: &mut Client, sql: &[u8]) {
    let (left, right) = (straight.query(sql).unwrap(), proxied.query(sql).unwrap());
    let shown = String::from_utf8_lossy(sql.get(..100).unwrap_or(sql)).into_owned();
    assert!(left == right, "{shown}: {} bytes", sql.len());
}

/// The sizes at which a packet's way into frames changes, both ways.
#[tokio::test]
async fn answers_and_statements_of_every_size() {
    for place in places().await {
        tokio::task::spawn_blocking(move || {
            for (proxy, wanted) in place.proxies.iter().flat_map(|p| [(p, modern()), (p, classic())]) {
                let mut plain = Client::login(&place.straight, None, wanted).unwrap();
                let mut zlib = Client::login(&proxy.server(), None, wanted | Capabilities::COMPRESS).unwrap();
                assert!(zlib.capabilities().contains(Capabilities::COMPRESS));
                let near = |n: usize| [n - 9, n - 8, n - 5, n - 4, n - 1, n, n + 1];
                let sizes = [0, 1, 20, 30, 40, 50].into_iter().chain(near(16 << 10));
                for n in sizes.chain(near(64 << 10)).chain(near(256 << 10)).chain(near(1 << 20)) {
                    same(&mut plain, &mut zlib, format!("SELECT REPEAT('y', {n}) AS v").as_bytes());
                    let text = format!("SELECT LENGTH('{}')", "x".repeat(n));
                    same(&mut plain, &mut zlib, text.as_bytes());
                }
                for n in [16_777_198, 16_777_205, 16_777_210, 16_777_211, 16_777_212, 20_000_000] {
                    same(&mut plain, &mut zlib, format!("SELECT REPEAT('y', {n}) AS v, 1 AS n").as_bytes());
                }
                for n in [16_777_197, 16_777_198, 20_000_000] {
                    same(&mut plain, &mut zlib, format!("SELECT LENGTH('{}')", "x".repeat(n)).as_bytes());
                }
                same(&mut plain, &mut zlib, b"SELECT nothing FROM nowhere");
                same(&mut plain, &mut zlib, b"SELECT 1; SELECT 2, 3; DO 1; SELECT");
            }
        })
        .await
        .unwrap();
    }
}

/// A client's file goes on in uncompressed packets that are numbered as the server wants it, whatever was answered before.
#[tokio::test]
async fn a_file_in_the_middle_of_several_answers() {
    for place in places().await {
        tokio::task::spawn_blocking(move || {
            for (number, proxy) in place.proxies.iter().enumerate() {
                for (age, wanted) in [modern(), classic()].into_iter().enumerate() {
                    let setup = format!(
                        "CREATE DATABASE IF NOT EXISTS zfiles; CREATE TABLE zfiles.t{number}{age} (v VARCHAR(60))"
                    );
                    let mut plain = Client::login(&place.straight, None, wanted).unwrap();
                    plain.query(setup.as_bytes()).unwrap();
                    let wanted = wanted | Capabilities::COMPRESS;
                    let mut zlib = Client::login(&proxy.server(), None, wanted).unwrap();
                    zlib.infile = "a line of the client's file\n".repeat(100_000).into_bytes();
                    let load = format!("LOAD DATA LOCAL INFILE 'x' INTO TABLE zfiles.t{number}{age}");
                    let sql = format!("SELECT 1; SELECT 2 AS two; {load}; SELECT 'between'; {load}; DO 1");
                    let answer = zlib.query(sql.as_bytes()).unwrap();
                    let loaded = answer.results.iter().filter(
                        |result| matches!(result, Outcome::Done(done) if done.affected == 100_000),
                    );
                    assert_eq!((loaded.count(), answer.results.len()), (2, 6), "{answer:?}");
                    let count = format!("SELECT COUNT(*), MIN(v), MAX(v) FROM zfiles.t{number}{age}");
                    same(&mut plain, &mut zlib, count.as_bytes());
                }
            }
        })
        .await
        .unwrap();
    }
}

#[tokio::test]
async fn twenty_megabytes_there_and_back() {
    for place in places().await {
        tokio::task::spawn_blocking(move || {
            // High bits of a linear congruential generator do not deflate; letters of them do, a little.
            let mut state = 1u32;
            let noise = std::iter::repeat_with(|| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                char::from(b'A' + (state >> 28) as u8)
            });
            let value: String = noise.take(20_000_000).collect();
            for proxy in &place.proxies {
                let wanted = modern() | Capabilities::COMPRESS;
                let mut client = Client::login(&proxy.server(), None, wanted).unwrap();
                for sql in [
                    "CREATE DATABASE IF NOT EXISTS zlarge",
                    "DROP TABLE IF EXISTS zlarge.t",
                    "CREATE TABLE zlarge.t (v LONGBLOB)",
                ] {
                    client.query(sql.as_bytes()).unwrap();
                }
                let done =
                    client.query(format!("INSERT INTO zlarge.t VALUES ('{value}')").as_bytes()).unwrap();
                assert!(matches!(done.results.first(), Some(Outcome::Done(done)) if done.affected == 1));
                let back = client.query(b"SELECT v FROM zlarge.t").unwrap();
                let Some(Outcome::Rows(set)) = back.results.first() else { panic!("no rows") };
                assert!(set.rows == [[Value::Bytes(value.clone().into_bytes())]]);
            }
        })
        .await
        .unwrap();
    }
}

/// Many rows, and rows of many megabytes, to a client that is slow to take them.
#[tokio::test]
async fn large_answers_pass_in_little_memory() {
    let Some(server) = MariaDb::shared() else { return };
    let proxy = Setup::mariadb(server.port()).start();
    let before = proxy.process.memory();
    let (target, pid) = (proxy.server(), proxy.process.pid());
    tokio::task::spawn_blocking(move || {
        let wanted = modern() | Capabilities::COMPRESS;
        let mut client = Client::login(&target, None, wanted).unwrap();
        for sql in [
            "SELECT seq, REPEAT(MD5(seq), 20) FROM mysql.seq_1_to_150000",
            "SELECT seq, REPEAT(MD5(seq), 20000) FROM mysql.seq_1_to_150",
            "SELECT seq, REPEAT(MD5(seq), 600000) FROM mysql.seq_1_to_5",
        ] {
            client.send_raw(&[b"\x03", sql.as_bytes()].concat()).unwrap();
            let (mut rows, mut bytes, mut most) = (0u64, 0usize, 0);
            for _ in 0..3 {
                client.packet().unwrap();
            }
            loop {
                let packet = client.packet().unwrap();
                if packet.first() == Some(&0xFE) && packet.len() < 100 {
                    break;
                }
                rows += 1;
                bytes += packet.len();
                if rows.is_power_of_two() {
                    std::thread::sleep(std::time::Duration::from_millis(20));
                    most = most.max(shuntyard_tests::process::memory(pid).unwrap_or(0));
                }
            }
            assert!(bytes > 90 << 20, "{sql}: {bytes} bytes");
            assert!(most < before + (16 << 20), "{sql}: {} KiB more", most.saturating_sub(before) / 1024);
        }
    })
    .await
    .unwrap();
}

/// What the proxy says by itself is in frames too: its own tables, and the farewell to who was idle for too long.
#[tokio::test]
async fn the_proxys_own_words() {
    let Some(server) = MariaDb::shared() else { return };
    let proxy = Setup::mariadb(server.port()).line("timeouts: {idle: 1s}").start();
    let target = proxy.server();
    tokio::task::spawn_blocking(move || {
        let mut client = Client::login(&target, None, modern() | Capabilities::COMPRESS).unwrap();
        let answer = client.query(b"SELECT * FROM shuntyard.rules").unwrap();
        assert!(matches!(answer.results.first(), Some(Outcome::Rows(set)) if !set.rows.is_empty()));
        let refused = client.query(b"SELECT * FROM shuntyard.nothing").unwrap();
        assert!(matches!(refused.results.first(), Some(Outcome::Failed(_))), "{refused:?}");
        client.restart();
        let farewell = client.packet().unwrap();
        assert_eq!(farewell.get(..3), Some(&[0xFF, 0xBF, 0x0F][..]), "error 4031");
    })
    .await
    .unwrap();
}
