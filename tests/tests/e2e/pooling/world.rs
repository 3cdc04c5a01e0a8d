//! Two servers with the same content, clients straight at one and through the proxy at the other, and one script for both.

use std::time::Duration;

use router::compare::{Answer, Difference, Metadata, Order, Outcome, Terms, Value, Verdict, compare};
use shuntyard_tests::client::Server;
use shuntyard_tests::mariadb::MariaDb;
use shuntyard_tests::mysql::MySql;
use shuntyard_tests::proxy::{Proxy, Setup};
use shuntyard_tests::raw::{Client, modern};
use wire::Command;

use super::statements::{Side, Use};

/// Clients of one script at most; each has a table of its own, `t0`, `t1`, ….
pub(super) const CLIENTS: usize = 6;

/// The two servers and the proxy.
pub(super) struct World {
    oracle: Server,
    proxy: Proxy,
    _servers: Box<dyn std::any::Any>,
}

/// What a client does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Act {
    /// COM_QUERY.
    Query(String),
    /// COM_INIT_DB.
    InitDb(&'static str),
    /// COM_RESET_CONNECTION.
    Reset,
    /// Leaves and comes again.
    Reconnect,
    /// Something with a prepared statement.
    Statement(usize, Use),
}

/// Whoever waits longer waits for ever.
const PATIENCE: Duration = Duration::from_secs(15);

/// What a statement whose answer is gone is refused with.
const LOST: &str = "went with a connection that other sessions use now";

/// The same client at both.
struct Pair {
    straight: Side,
    proxied: Side,
}

/// One step: who does what.
pub(super) type Step = (usize, Act);

impl World {
    pub(super) fn mariadb(connections: usize) -> Option<World> {
        let (oracle, behind) = (MariaDb::start(&[])?, MariaDb::start(&[])?);
        let servers = [oracle.server(), behind.server()];
        Some(World::new(servers, &Setup::mariadb(behind.port()), connections, Box::new((oracle, behind))))
    }

    pub(super) fn mysql(connections: usize) -> Option<World> {
        let (oracle, behind) = (MySql::own()?, MySql::own()?);
        let servers = [oracle.server(), behind.server()];
        Some(World::new(servers, &Setup::mysql(behind.port()), connections, Box::new((oracle, behind))))
    }

    /// The oracle and the server behind the proxy, which `keep` keeps alive.
    fn new(servers: [Server; 2], setup: &Setup, connections: usize, keep: Box<dyn std::any::Any>) -> World {
        for server in &servers {
            let mut client = Client::login(server, None, modern()).expect("the server is there");
            for text in content() {
                client.query(text.as_bytes()).expect("the content is made");
            }
        }
        let proxy = setup
            .clone()
            .line("pooling: transaction")
            .line(&format!("limits: {{statements_per_backend: {connections}}}"))
            .line("timeouts: {wait: 3s}")
            .start();
        let [oracle, _] = servers;
        World { oracle, proxy, _servers: keep }
    }

    /// Runs a script on both sides. Returns how many statements were refused because their state was lost.
    ///
    /// # Errors
    /// The first step whose answers differ, with both.
    pub(super) fn run(&self, script: &[Step]) -> Result<usize, String> {
        let login = |server: &Server| {
            let mut client = Client::login(server, Some("leak"), modern()).map_err(|e| e.to_string())?;
            client.stream().set_read_timeout(Some(PATIENCE)).map_err(|e| e.to_string())?;
            Ok::<_, String>(client)
        };
        let mut clients: [Option<Pair>; CLIENTS] = std::array::from_fn(|_| None);
        let mut refused = 0;
        // Rows of one script are no rows of the next.
        for at in 0..CLIENTS {
            for server in [&self.oracle, &self.proxy.server()] {
                login(server)?
                    .query(format!("TRUNCATE TABLE t{at}").as_bytes())
                    .map_err(|e| e.to_string())?;
            }
        }
        for (number, (at, act)) in script.iter().enumerate() {
            let slot = &mut clients[*at];
            if slot.is_none() || *act == Act::Reconnect {
                *slot = None;
                *slot = Some(Pair {
                    straight: Side::new(login(&self.oracle)?),
                    proxied: Side::new(login(&self.proxy.server())?),
                });
            }
            let Some(Pair { straight, proxied }) = slot else { continue };
            if let Act::Statement(handle, act) = act {
                let (expected, found) = (straight.act(*handle, act), proxied.act(*handle, act));
                if format!("{found:?}").contains(LOST) {
                    refused += 1;
                    *slot = None;
                } else if expected != found {
                    return Err(format!(
                        "step {number}: client {at} {act:?} of {handle}\nstraight: {expected:?}\nproxied:  {found:?}"
                    ));
                }
                continue;
            }
            let (expected, found) = (run(&mut straight.client, act), run(&mut proxied.client, act));
            if is_refusal(&found) {
                // What it asked for happened on one side only.
                refused += 1;
                *slot = None;
                continue;
            }
            let terms = Terms { order: Order::Ordered, metadata: Metadata::Exact, ..Terms::exact() };
            let same = match (&expected, &found) {
                (Ok(expected), Ok(found)) => differences(expected, found, &terms),
                (Err(a), Err(b)) if a == b => Vec::new(),
                _ => vec!["one of them broke".to_owned()],
            };
            if !same.is_empty() {
                return Err(format!(
                    "step {number}: client {at} {act:?}\n{}\nstraight: {expected:?}\nproxied:  {found:?}",
                    same.join("\n")
                ));
            }
        }
        Ok(refused)
    }
}

fn differences(expected: &[Answer], found: &[Answer], terms: &Terms) -> Vec<String> {
    if expected.len() != found.len() {
        return vec![format!("{} answers and {}", expected.len(), found.len())];
    }
    let verdicts = expected.iter().zip(found).map(|(expected, found)| compare(expected, found, terms));
    verdicts
        .flat_map(|verdict| match verdict {
            Verdict::Same => Vec::new(),
            Verdict::Differs(differences) => differences.iter().map(Difference::to_string).collect(),
        })
        .collect()
}

/// Answers to an act.
fn run(client: &mut Client, act: &Act) -> Result<Vec<Answer>, String> {
    let answer = match act {
        Act::Query(text) => client.query(text.as_bytes()),
        Act::InitDb(schema) => client.run(&Command::InitDb(schema.as_bytes())),
        Act::Reset => client.run(&Command::ResetConnection),
        Act::Reconnect | Act::Statement(..) => return Ok(Vec::new()),
    };
    answer.map(|answer| vec![without_ids(answer)]).map_err(|error| error.kind().to_string())
}

/// Warnings may name a statement's id, which is each side's own.
fn without_ids(mut answer: Answer) -> Answer {
    const NAMED: &str = "statement handler (";
    for outcome in &mut answer.results {
        let Outcome::Rows(set) = outcome else { continue };
        for value in set.rows.iter_mut().flatten() {
            let Value::Bytes(bytes) = value else { continue };
            let text = String::from_utf8_lossy(bytes).into_owned();
            if let Some((before, id)) = text.split_once(NAMED) {
                let after = id.trim_start_matches(|c: char| c.is_ascii_digit());
                *bytes = format!("{before}{NAMED}ID{after}").into_bytes();
            }
        }
    }
    answer
}

fn is_refusal(answer: &Result<Vec<Answer>, String>) -> bool {
    format!("{answer:?}").contains(LOST)
}

fn content() -> Vec<String> {
    let mut texts = vec![
        "CREATE DATABASE leak".to_owned(),
        "CREATE DATABASE other".to_owned(),
        "USE leak".to_owned(),
        "CREATE FUNCTION setter(n INT) RETURNS INT DETERMINISTIC BEGIN SET @a = n; RETURN n; END".to_owned(),
        "CREATE PROCEDURE changer() SET SESSION group_concat_max_len = 99".to_owned(),
        "CREATE PROCEDURE giver(OUT n INT) SET n = 7".to_owned(),
        "CREATE TABLE other.t (id INT PRIMARY KEY)".to_owned(),
    ];
    for at in 0..CLIENTS {
        texts.push(format!(
            "CREATE TABLE t{at} (id INT AUTO_INCREMENT PRIMARY KEY, v INT, s VARCHAR(5), UNIQUE (v))"
        ));
    }
    texts
}

/// A world of each kind of server.
pub(super) fn each(connections: usize) -> Vec<(&'static str, World)> {
    let worlds = [("MariaDB", World::mariadb(connections)), ("MySQL", World::mysql(connections))];
    worlds.into_iter().filter_map(|(name, world)| Some((name, world?))).collect()
}
