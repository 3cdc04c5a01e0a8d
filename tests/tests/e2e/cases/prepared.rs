//! Prepared statements: tables that change under them, long data, counts at the protocol's limits.

use shuntyard_tests::raw::Client;
use wire::Command;
use wire::follow::Expect;

use super::scene::{Product, Scene, everywhere, exchange, execute, query, strings};

/// `SELECT *` is prepared, then the table changes, then it is executed and prepared again: the columns of now.
#[test]
fn a_prepared_star_shows_the_columns_of_now() {
    everywhere("case_star", |scene| {
        scene.stage(&["CREATE TABLE t (a INT, b VARCHAR(5))", "INSERT INTO t VALUES (1, 'x'), (2, NULL)"]);
        let (mut client, mut other) = (scene.client(), scene.client());
        let (id, reply) = scene.prepare(&mut client, b"SELECT * FROM t WHERE a < ?");
        let mut said = vec![reply];
        let bound = strings(&[Some(b"9")]);
        said.push(scene.execute(&mut client, id, &bound));
        for (number, change) in [
            "ALTER TABLE t ADD COLUMN c INT NOT NULL DEFAULT 7",
            "ALTER TABLE t DROP COLUMN b",
            "ALTER TABLE t MODIFY c TEXT, ADD COLUMN d DATETIME(3) DEFAULT '2024-01-02 03:04:05.678' FIRST",
            "RENAME TABLE t TO u",
            "CREATE TABLE t (a BIGINT UNSIGNED, z DECIMAL(9,3))",
            "DROP TABLE t",
            "CREATE VIEW t AS SELECT a, c FROM u",
        ]
        .into_iter()
        .enumerate()
        {
            // By itself, and by somebody else.
            let by = if number % 2 == 0 { &mut client } else { &mut other };
            said.push(scene.query(by, change));
            said.push(scene.execute(&mut client, id, &bound));
            let (again, reply) = scene.prepare(&mut client, b"SELECT * FROM t WHERE a < ?");
            said.push(reply);
            if again != 0 {
                said.push(scene.execute(&mut client, again, &bound));
                client.send(&Command::StmtClose(again)).unwrap();
            }
        }
        said.push(exchange(&mut client, &Command::Ping, Expect::Simple));
        said
    });
}

fn send_long(client: &mut Client, id: u32, param: u16, parts: &[&[u8]]) {
    for data in parts {
        client.send(&Command::StmtSendLongData { id, param, data }).unwrap();
    }
}

/// A parameter and the pieces of its value.
type LongData<'a> = (u16, &'a [&'a [u8]]);

/// Long data before an execution: it arrives, and the parameters beside it are not shifted.
#[test]
fn long_data_shifts_no_parameter() {
    everywhere("case_long", |scene| {
        let mut client = scene.client();
        let (id, reply) = scene.prepare(&mut client, b"SELECT ? AS a, ? AS b, ? AS c");
        let mut said = vec![reply];
        // First, middle, last, all of them, in pieces, out of order, empty.
        let cases: [&[LongData<'_>]; 6] = [
            &[(0, &[b"first"])],
            &[(1, &[b"mid", b"", b"dle"])],
            &[(2, &[b"last"])],
            &[(2, &[b"3"]), (0, &[b"1"]), (1, &[b"2"])],
            &[(1, &[b""])],
            &[(0, &[&[b'x'; 70_000], b"\0\xFF"])],
        ];
        for long in cases {
            long.iter().for_each(|(param, parts)| send_long(&mut client, id, *param, parts));
            let came = |param: u16| long.iter().any(|(long, _)| *long == param);
            let values: Vec<Option<&[u8]>> =
                (0..3).map(|param| (!came(param)).then_some(&b"short"[..])).collect();
            said.push(scene.execute(&mut client, id, &strings(&values)));
            // The next execution has nothing of it.
            said.push(scene.execute(&mut client, id, &strings(&[Some(b"x"), Some(b"y"), Some(b"z")])));
        }
        // Given up by a RESET, while another statement has its own.
        let (twin, reply) = scene.prepare(&mut client, b"SELECT CONCAT(?, '|', ?) AS d");
        said.push(reply);
        send_long(&mut client, id, 1, &[b"given up"]);
        send_long(&mut client, twin, 0, &[b"kept"]);
        said.push(exchange(&mut client, &Command::StmtReset(id), Expect::Simple));
        said.push(scene.execute(&mut client, twin, &strings(&[None, Some(b"twin")])));
        said.push(scene.execute(&mut client, id, &strings(&[Some(b"x"), Some(b"y"), Some(b"z")])));
        // NULL beside it: the bitmap's second bit.
        send_long(&mut client, id, 0, &[b"long"]);
        let mut nulls = strings(&[None, None, Some(b"c")]);
        nulls[0] = 2;
        said.push(scene.execute(&mut client, id, &nulls));
        said
    });
}

/// Long data for what is not there: no answer, an error at the execution, and the session lives.
#[test]
fn long_data_for_nothing_is_an_error_at_the_execution() {
    everywhere("case_long_nothing", |scene| {
        let mut client = scene.client();
        let (id, _) = scene.prepare(&mut client, b"SELECT ? AS a");
        let mut codes = Vec::new();
        send_long(&mut client, id, 9, &[b"no such parameter"]);
        codes.push(execute(&mut client, id, &strings(&[Some(b"x")])).error());
        send_long(&mut client, 4_000_000_000, 0, &[b"no such statement"]);
        codes.push(execute(&mut client, 4_000_000_000, &strings(&[Some(b"x")])).error());
        codes.push(exchange(&mut client, &Command::StmtReset(id), Expect::Simple).error());
        codes.push(execute(&mut client, id, &strings(&[Some(b"x")])).error());
        codes.push(query(&mut client, b"SELECT 1").error());
        codes
    });
}

/// Nine hundred columns, and as many parameters as two bytes can count, and one more.
#[test]
fn as_many_columns_and_parameters_as_there_can_be() {
    everywhere("case_many", |scene| {
        let mut client = scene.client();
        let columns: Vec<String> = (0..900).map(|n| format!("{n} AS column_{n}")).collect();
        let (id, reply) = scene.prepare(&mut client, format!("SELECT {}", columns.join(", ")).as_bytes());
        let mut said = vec![reply, scene.execute(&mut client, id, &[])];
        let values: Vec<String> = (0..900).map(|n| n.to_string()).collect();
        for count in [65_534_usize, 65_535, 65_536] {
            let text = format!("SELECT ? IN ({}) AS found", vec!["?"; count - 1].join(","));
            let (id, reply) = scene.prepare(&mut client, text.as_bytes());
            said.push(reply);
            if id != 0 {
                let params: Vec<Option<&[u8]>> =
                    (0..count).map(|n| Some(values[n % 900].as_bytes())).collect();
                said.push(scene.execute(&mut client, id, &strings(&params)));
            }
        }
        said.push(query(&mut client, b"SELECT 'alive'"));
        said
    });
}

/// Types are sent with the first execution only: the later ones are read by them.
#[test]
fn types_of_the_execution_before_hold() {
    everywhere("case_types", |scene| {
        let mut client = scene.client();
        let (id, reply) = scene.prepare(&mut client, b"SELECT ? + 1 AS a, ? AS b");
        let mut said = vec![reply];
        // No types at all yet: 1210.
        said.push(scene.execute(&mut client, id, &[0, 0]));
        // A LONGLONG and a string, then without types, then two strings.
        let mut first = vec![0, 1, 8, 0, 253, 0];
        first.extend(41_u64.to_le_bytes());
        first.extend(b"\x03one");
        said.push(scene.execute(&mut client, id, &first));
        let mut second = vec![0, 0];
        second.extend(99_u64.to_le_bytes());
        second.extend(b"\x03two");
        said.push(scene.execute(&mut client, id, &second));
        said.push(scene.execute(&mut client, id, &strings(&[Some(b"7"), Some(b"three")])));
        said.push(scene.execute(&mut client, id, b"\0\0\x018\x04four"));
        said
    });
}

/// A statement that one session prepared is none of another's, whichever connection that one has.
#[test]
fn nobody_executes_another_sessions_statement() {
    everywhere("case_own", |scene: &mut Scene| {
        let (mut client, mut other) = (scene.client(), scene.client());
        let (id, _) = scene.prepare(&mut client, b"SELECT 'mine'");
        let codes = [id, 1, 2, 3].map(|id| execute(&mut other, id, &[]).error());
        let mine = scene.execute(&mut client, id, &[]);
        client.send(&Command::StmtClose(id)).unwrap();
        let closed = execute(&mut client, id, &[]).error();
        assert!(scene.product == Product::MySql || closed == Some(1243));
        (codes, mine, closed)
    });
}
