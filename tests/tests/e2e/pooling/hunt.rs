//! The leak hunt: clients with random session state over two shared connections, each compared with a client that has a
//! connection of its own. Scripts are seeded, run one step at a time, and shrink.
//!
//! `LEAK_SECONDS` says how long it runs on each server, `LEAK_SEED` where it begins, `LEAK_SERVER` (`MariaDB` or `MySQL`) that
//! it runs on one only. `make hunt` runs it for half an hour.

use std::time::{Duration, Instant};

use shuntyard_tests::generator::Random;

use super::statements::{Given, HANDLES, Use};
use super::world::{Act, CLIENTS, Step, World, each};

/// Steps of one script.
const STEPS: usize = 120;

#[test]
fn no_session_sees_another_and_none_loses_its_own() {
    let number =
        |name: &str, usual: u64| std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(usual);
    let time = Duration::from_secs(number("LEAK_SECONDS", 30));
    for (server, world) in each(2) {
        if std::env::var("LEAK_SERVER").is_ok_and(|only| only != server) {
            continue;
        }
        let until = Instant::now() + time;
        let (mut seed, mut scripts, mut refused) = (number("LEAK_SEED", 1), 0usize, 0usize);
        while Instant::now() < until {
            let script = script(&mut Random::new(seed));
            match world.run(&script) {
                Ok(count) => refused += count,
                Err(why) => {
                    let (least, why) = shrink(&world, script, why);
                    let lines: Vec<String> =
                        least.iter().map(|(at, act)| format!("  {at} {act:?}")).collect();
                    panic!("{server}, seed {seed}:\n{}\n{why}", lines.join("\n"));
                }
            }
            (seed, scripts) = (seed + 1, scripts + 1);
        }
        eprintln!(
            "{server}: {scripts} scripts of {STEPS} steps, no difference; {refused} statements refused"
        );
        assert!(refused * 100 <= scripts * STEPS, "more than one statement in a hundred was refused");
    }
}

/// Leaves out whatever is not needed for a difference.
fn shrink(world: &World, mut script: Vec<Step>, mut why: String) -> (Vec<Step>, String) {
    let mut size = script.len() / 2;
    while size > 0 {
        let mut from = 0;
        while from < script.len() {
            let mut less = script.clone();
            less.drain(from..(from + size).min(script.len()));
            match world.run(&less) {
                Err(reason) => (script, why) = (less, reason),
                Ok(_) => from += size,
            }
        }
        size /= 2;
    }
    (script, why)
}

/// A random script: at most one client at a time holds a transaction, so that nobody waits for ever.
fn script(random: &mut Random) -> Vec<Step> {
    let mut holder: Option<usize> = None;
    let mut opened = [[false; HANDLES]; CLIENTS];
    let mut steps = Vec::with_capacity(STEPS);
    while steps.len() < STEPS {
        let at = random.below(CLIENTS);
        let (act, ends) = match random.below(100) {
            0..=2 => (Act::Reconnect, true),
            3 => (Act::Reset, true),
            4..=8 if holder.is_none() => {
                holder = Some(at);
                let begin = *random.pick(&["BEGIN", "START TRANSACTION READ ONLY", "SET autocommit = 0"]);
                (Act::Query(begin.to_owned()), false)
            }
            9..=16 if holder == Some(at) => {
                let end = *random.pick(&["COMMIT", "ROLLBACK"]);
                steps.push((at, Act::Query(end.to_owned())));
                if random.below(3) == 0 {
                    // With autocommit = 0 the next transaction begins by itself, on whatever connection.
                    continue;
                }
                (Act::Query("SET autocommit = 1".to_owned()), true)
            }
            19..=30 => {
                let handle = random.below(HANDLES);
                let act = use_of(random, at);
                let opened = &mut opened[at][handle];
                match &act {
                    Use::Prepare(_) => *opened = false,
                    Use::Open(_) => *opened = true,
                    // MySQL 9.7 itself sends no rows for it, and no end either.
                    Use::Execute(_) if *opened => continue,
                    _ => {}
                }
                (Act::Statement(handle, act), false)
            }
            17..=18 => (Act::InitDb(random.pick::<&str>(&["other", "leak", "nosuch"])), false),
            _ => (Act::Query(statement(random, at)), false),
        };
        if ends && holder == Some(at) {
            holder = None;
        }
        steps.push((at, act));
    }
    steps
}

fn use_of(random: &mut Random, at: usize) -> Use {
    let n = random.below(40);
    // One kind for each client: MySQL goes on with the first of a statement's (docs/pooling.md).
    let given = match (random.below(6), at % 2) {
        (0, _) => Given::Nothing,
        (1 | 2, 0) => Given::NumberAgain(n as i64),
        (_, 0) => Given::Number(n as i64),
        (1 | 2, _) => Given::TextAgain("18"),
        (_, _) => Given::Text(random.pick::<&str>(&["17", "017", "17x"])),
    };
    match random.below(20) {
        0..=5 => Use::Prepare(prepared_text(random, at)),
        6..=13 => Use::Execute(given),
        14 => Use::Open(given),
        15 => Use::Fetch(2),
        16 if at % 2 == 1 => Use::LongData("5"),
        17 if at % 2 == 1 => Use::Execute(Given::Sent),
        18 => Use::Reset,
        _ => Use::Close,
    }
}

/// Most are the same for all clients, so that they share them.
fn prepared_text(random: &mut Random, at: usize) -> String {
    let text = match random.below(16) {
        0..=2 => return format!("INSERT INTO leak.t{at} (v) VALUES (?)"),
        3 => return statement(random, at),
        4 => "SELECT ? + 1, @@sql_mode",
        5 => "SELECT ?, 'a' \"b\"",
        6 => "SELECT LAST_INSERT_ID()",
        7 => "SELECT v FROM leak.t0 WHERE v > ? ORDER BY v",
        8 => "SELECT 'found' WHERE '017' = ?",
        9 => "SELECT COLLATION('x'), CONCAT(?, 'y')",
        10 => "SELECT DATABASE()",
        11 => return format!("UPDATE leak.t{at} SET s = ? WHERE v > 3"),
        12 => "SET SESSION group_concat_max_len = ?",
        13 => "SELECT @a, ?",
        14 => "SELECT SQL_CALC_FOUND_ROWS v FROM leak.t1 ORDER BY v LIMIT 1",
        _ => "SELECT 1 / ?",
    };
    text.to_owned()
}

fn statement(random: &mut Random, at: usize) -> String {
    let n = random.below(40);
    let t = format!("leak.t{at}");
    let text = match random.below(66) {
        0..=4 => return format!("INSERT INTO {t} (v) VALUES ({n})"),
        5 => return format!("INSERT INTO {t} (v) VALUES ({n}), ({})", n + 40),
        6 => return format!("INSERT INTO {t} (id, v) VALUES ({}, {n})", 1000 + n),
        7 => return format!("UPDATE {t} SET v = LAST_INSERT_ID(v + 100) WHERE v = {n}"),
        8 => return format!("UPDATE {t} SET s = 'abc' WHERE v > {n}"),
        9 => return format!("DELETE FROM {t} WHERE v = {n}"),
        10 => return format!("SELECT LAST_INSERT_ID({n})"),
        11 => return format!("SELECT SQL_CALC_FOUND_ROWS v FROM {t} ORDER BY v LIMIT 2"),
        12 => return format!("SELECT v, s FROM {t} WHERE v > {n} ORDER BY v"),
        13 => return format!("INSERT INTO {t} (v, s) VALUES ({n}, 'far too long for it')"),
        14 => return format!("SET @a = {n}"),
        15 => return format!("SELECT @b := {n}"),
        16 => return format!("SELECT {n} INTO @a"),
        17 => return format!("CREATE TEMPORARY TABLE leak.temp SELECT {n} AS n"),
        18 => return format!("SELECT GET_LOCK('lock{at}', 0)"),
        19 => return format!("SET SESSION group_concat_max_len = {}", 10 + n),
        20 => return format!("SET sort_buffer_size = {}", 100_000 + 1000 * n),
        21 => return format!("SET time_zone = '+{:02}:00'", n % 12),
        22 => return format!("SELECT leak.setter({n})"),
        23 => return format!("PREPARE p FROM 'SELECT {n}'"),
        24 => return format!("HANDLER {t} OPEN AS h"),
        25..=28 => "SELECT LAST_INSERT_ID()",
        29..=30 => "SHOW WARNINGS",
        31 => "SELECT @a, @b",
        32 => "SELECT * FROM leak.temp",
        33 => "SELECT @@group_concat_max_len, @@sort_buffer_size, @@time_zone",
        34 => "SELECT @@sql_mode, @@autocommit, @@foreign_key_checks",
        35 => {
            "SELECT @@character_set_client, @@character_set_connection, @@character_set_results, @@collation_connection"
        }
        36..=37 => "SELECT DATABASE()",
        38 => "USE other",
        39 => "USE leak",
        40 => "SET sql_mode = ''",
        41 => "SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'",
        42 => "SET sql_mode = DEFAULT",
        43 => "SET NAMES latin1",
        44 => "SET NAMES utf8mb4 COLLATE utf8mb4_bin",
        45 => "SET NAMES utf8mb4",
        46 => "SET character_set_results = NULL",
        47 => "SET foreign_key_checks = 0",
        48 => "SELECT 1/0",
        49 => "SELECT nosuch",
        50 => "SELECT \"x\", 'a\\b'",
        51 => "SET timestamp = 1000000000",
        52 => "SELECT NOW() > '2002-01-01'",
        53 => "CALL leak.changer()",
        54 => "SELECT ROW_COUNT()",
        55 => "EXECUTE p",
        56 => "HANDLER h READ FIRST",
        57 => "SET TRANSACTION ISOLATION LEVEL READ COMMITTED",
        58 => "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE",
        59 => "SHOW VARIABLES LIKE '%_isolation'",
        60 => "SET default_week_format = 'x'",
        61 => "SELECT WEEK('2024-01-01'), @@identity",
        62 => "SET SESSION nosuch = 1",
        63 => "SELECT 1; SELECT 2",
        64 => "SET rand_seed1 = 5, rand_seed2 = 6",
        _ => "SELECT 1",
    };
    text.to_owned()
}
