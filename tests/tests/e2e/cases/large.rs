//! What is larger than a packet: statements, parameters and rows around the boundary of 16 MB, where packets are continued.

use shuntyard_tests::raw::{classic, modern};
use wire::Command;
use wire::follow::Expect;
use wire::packet::MAX_PAYLOAD;

use super::scene::{everywhere, exchange, query, strings};

/// A command whose payload has exactly `len` bytes.
fn text_of(len: usize) -> Vec<u8> {
    let (head, tail) = (b"SELECT SHA2('", b"', 256) AS m, 'behind' AS b");
    let filling = len - 1 - head.len() - tail.len();
    [&head[..], &vec![b'x'; filling], tail].concat()
}

#[test]
fn statements_around_the_boundary_of_a_packet() {
    everywhere("case_large_text", |scene| {
        let mut client = scene.client();
        // A megabyte is the proxy's own boundary: longer commands are streamed.
        [1 << 20, (1 << 20) + 1, MAX_PAYLOAD - 1, MAX_PAYLOAD, MAX_PAYLOAD + 1].map(|len| {
            let reply = query(&mut client, &text_of(len));
            (len, reply, query(&mut client, b"SELECT 'between'"))
        })
    });
}

#[test]
fn a_parameter_over_sixteen_megabytes() {
    everywhere("case_large_param", |scene| {
        let mut client = scene.client();
        let (id, reply) =
            scene.prepare(&mut client, b"SELECT LENGTH(?) AS l, SHA2(?, 256) AS m, ? AS behind");
        let mut said = vec![reply];
        // The payload of the second is exactly one packet long: what is around the value has 34 bytes.
        let around = 10 + strings(&[Some(&[]), Some(b"small"), Some(b"after")]).len() + 3;
        for len in [MAX_PAYLOAD - around - 1, MAX_PAYLOAD - around, MAX_PAYLOAD - around + 1, 17 << 20] {
            let large = vec![b'p'; len];
            said.push(scene.execute(
                &mut client,
                id,
                &strings(&[Some(&large), Some(b"small"), Some(b"after")]),
            ));
        }
        // The same as long data, in one command and in pieces of a megabyte.
        let large = vec![b'q'; 17 << 20];
        client.send(&Command::StmtSendLongData { id, param: 1, data: &large }).unwrap();
        for data in large.chunks((1 << 20) - 7) {
            client.send(&Command::StmtSendLongData { id, param: 0, data }).unwrap();
        }
        said.push(scene.execute(&mut client, id, &strings(&[None, None, Some(b"after")])));
        said.push(exchange(&mut client, &Command::Ping, Expect::Simple));
        said
    });
}

/// Rows whose payload is a packet and a little less or more; those of 16 MB and more begin with 0xFE, as an EOF packet does.
#[test]
fn rows_around_the_boundary_of_a_packet() {
    everywhere("case_large_rows", |scene| {
        let mut said = Vec::new();
        // A length below 16 MB takes 4 bytes, from there on 9.
        let lengths = [MAX_PAYLOAD - 5, MAX_PAYLOAD - 4, MAX_PAYLOAD - 3, MAX_PAYLOAD, MAX_PAYLOAD + 1];
        for (capabilities, some) in [(modern(), &lengths[..]), (classic(), &lengths[1..4])] {
            let mut client = scene.client_of(capabilities);
            for len in some {
                let text = format!("SELECT REPEAT('r', {len}) AS r UNION ALL SELECT 'behind'");
                said.push(scene.query(&mut client, &text));
            }
            said.push(query(&mut client, b"SELECT 'alive'"));
        }
        said
    });
}

#[test]
fn binary_rows_around_the_boundary_of_a_packet() {
    everywhere("case_large_binary", |scene| {
        let mut said = Vec::new();
        for capabilities in [modern(), classic()] {
            let mut client = scene.client_of(capabilities);
            let (id, _) = scene.prepare(&mut client, b"SELECT REPEAT('r', ?) AS r, 1 AS one");
            // A header byte, a bitmap, the length's bytes, and 8 or 4 for the number behind.
            for len in [MAX_PAYLOAD - 14, MAX_PAYLOAD - 10, 2 * MAX_PAYLOAD] {
                let len = len.to_string();
                said.push(scene.execute(&mut client, id, &strings(&[Some(len.as_bytes())])));
            }
            said.push(query(&mut client, b"SELECT 'alive'"));
        }
        said
    });
}

/// What the server refuses for its size: its own error, whichever way the command went.
#[test]
fn more_than_the_server_takes_is_its_own_error() {
    everywhere("case_large_refused", |scene| {
        let text = text_of(65 << 20);
        let mut client = scene.client();
        let mut payload = vec![3];
        payload.extend_from_slice(&text);
        // It may close before all of it was sent: what then arrives is the network's choice.
        let told = match client.exchange(&payload, Expect::Query) {
            Ok(reply) => reply.error(),
            Err(_) => Some(1153),
        };
        (told, query(&mut scene.client(), b"SELECT 'alive'"))
    });
}
