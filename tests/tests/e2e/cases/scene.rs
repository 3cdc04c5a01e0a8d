//! The same script straight at a server, through the proxy, and over one connection that sessions share with a rival.

use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

use shuntyard_tests::client::Server;
use shuntyard_tests::mariadb::MariaDb;
use shuntyard_tests::mysql::MySql;
use shuntyard_tests::proxy::{Proxy, Setup};
use shuntyard_tests::raw::{Client, ExactReply, UTF8MB4, modern};
use wire::follow::Expect;
use wire::{Capabilities, Command, StmtExecute};

/// Which server is behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Product {
    MariaDb,
    MySql,
}

/// The servers and the proxies before them, which the tests of this process share: nobody stops them.
struct Group {
    product: Product,
    straight: Server,
    session: Proxy,
    transaction: Proxy,
}

/// What each statement of the rival's changes on the connection that it shares.
const RIVAL: [&str; 4] =
    ["SET NAMES latin1", "SET sql_mode = ''", "SET time_zone = '+03:00'", "SELECT 1 AS rivals"];

/// One place where a script runs.
pub(super) struct Scene {
    pub(super) product: Product,
    server: Server,
    schema: &'static str,
    rival: Option<Client>,
}

impl Scene {
    /// A client of today.
    pub(super) fn client(&self) -> Client {
        self.client_of(modern())
    }

    /// A client that speaks so.
    pub(super) fn client_of(&self, capabilities: Capabilities) -> Client {
        self.client_in(capabilities, UTF8MB4)
    }

    /// A client that speaks so, with a collation's id.
    pub(super) fn client_in(&self, capabilities: Capabilities, charset: u16) -> Client {
        self.try_client(capabilities, charset)
            .unwrap_or_else(|e| panic!("login at port {}: {e}", self.server.port))
    }

    /// The same, or why not.
    pub(super) fn try_client(&self, capabilities: Capabilities, charset: u16) -> std::io::Result<Client> {
        Client::login_in(&self.server, Some(self.schema), capabilities, charset)
    }

    /// Lets the rival speak on the shared connection.
    pub(super) fn interrupt(&mut self) {
        if let Some(rival) = &mut self.rival {
            for text in RIVAL {
                let reply = query(rival, text.as_bytes());
                assert_eq!(reply.error(), None, "{reply:?}");
            }
        }
    }

    /// Runs a text after the rival has spoken.
    pub(super) fn query(&mut self, client: &mut Client, text: &str) -> ExactReply {
        self.interrupt();
        query(client, text.as_bytes())
    }

    /// Runs texts that prepare the stage.
    pub(super) fn stage(&self, texts: &[&str]) {
        let mut client = self.client();
        for text in texts {
            let reply = query(&mut client, text.as_bytes());
            assert_eq!(reply.error(), None, "{text}: {reply:?}");
        }
    }

    /// Prepares after the rival has spoken: the statement's id, and the reply without it.
    pub(super) fn prepare(&mut self, client: &mut Client, text: &[u8]) -> (u32, ExactReply) {
        self.interrupt();
        exchange(client, &Command::StmtPrepare(text), Expect::Prepare).prepared()
    }

    /// Executes after the rival has spoken.
    pub(super) fn execute(&mut self, client: &mut Client, id: u32, params: &[u8]) -> ExactReply {
        self.interrupt();
        execute(client, id, params)
    }
}

/// Runs a text.
pub(super) fn query(client: &mut Client, text: &[u8]) -> ExactReply {
    let mut payload = vec![3];
    payload.extend_from_slice(text);
    client.exchange(&payload, Expect::Query).unwrap_or_else(|e| panic!("{}: {e}", shown(text)))
}

/// Executes a prepared statement.
pub(super) fn execute(client: &mut Client, id: u32, params: &[u8]) -> ExactReply {
    let execute = StmtExecute { id, flags: 0, iterations: 1, params };
    exchange(client, &Command::StmtExecute(execute), Expect::Execute)
}

/// Sends a command and reads its reply.
pub(super) fn exchange(client: &mut Client, command: &Command<'_>, expect: Expect) -> ExactReply {
    let said = client.send(command).and_then(|()| client.reply(expect));
    said.unwrap_or_else(|e| {
        panic!("{} by {:?}: {e}", shown(format!("{command:?}").as_bytes()), client.stream())
    })
}

/// The parameters of an execution, all strings; `None` where the value came before as long data.
pub(super) fn strings(values: &[Option<&[u8]>]) -> Vec<u8> {
    const VAR_STRING: u8 = 253;
    let mut params = vec![0; values.len().div_ceil(8)];
    params.push(1);
    values.iter().for_each(|_| params.extend([VAR_STRING, 0]));
    for value in values.iter().flatten() {
        wire::codec::put_lenenc_bytes(&mut params, value);
    }
    params
}

fn shown(text: &[u8]) -> String {
    text.get(..200).unwrap_or(text).escape_ascii().to_string()
}

/// Runs a script in a schema of its own at every place. What it returns must be what it returns straight at the server.
pub(super) fn everywhere<T: PartialEq + Debug>(schema: &'static str, script: impl Fn(&mut Scene) -> T) {
    let mut differ = Vec::new();
    for group in groups().iter() {
        let [straight, session, transaction] =
            [(&group.straight, false), (&group.session.server(), false), (&group.transaction.server(), true)]
                .map(|(server, shared)| {
                    let scene = Scene {
                        product: group.product,
                        server: server.clone(),
                        schema: "mysql",
                        rival: None,
                    };
                    scene.stage(&[
                        &format!("DROP DATABASE IF EXISTS {schema}"),
                        &format!("CREATE DATABASE {schema}"),
                    ]);
                    let rival =
                        shared.then(|| Client::login(server, None, modern()).expect("the rival gets in"));
                    script(&mut Scene { schema, rival, ..scene })
                });
        for (pooling, found) in [("session", session), ("transaction", transaction)] {
            if found != straight {
                differ.push(format!(
                    "{:?}, pooling {pooling}:\n{}",
                    group.product,
                    first_difference(&straight, &found)
                ));
            }
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n\n"));
}

/// The lines in which two values differ, of long ones only the first.
fn first_difference(straight: &impl Debug, found: &impl Debug) -> String {
    let (straight, found) = (format!("{straight:#?}"), format!("{found:#?}"));
    let at = straight.lines().zip(found.lines()).take_while(|(a, b)| a == b).count();
    let part = |text: &str| -> String {
        text.lines().skip(at.saturating_sub(6)).take(20).map(|line| format!("  {line}\n")).collect()
    };
    format!(" straight, from line {at}:\n{} proxied:\n{}", part(&straight), part(&found))
}

fn groups() -> Arc<Vec<Group>> {
    static GROUPS: Mutex<Option<Arc<Vec<Group>>>> = Mutex::new(None);
    let mut groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner);
    groups.get_or_insert_with(|| Arc::new(start())).clone()
}

fn start() -> Vec<Group> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mysql = runtime.block_on(MySql::shared());
    let group = |product, straight: Server, setup: &Setup| Group {
        product,
        straight,
        session: setup.clone().unshared().start(),
        transaction: setup.clone().sharing(1).start(),
    };
    let mariadb = MariaDb::shared().map(|s| group(Product::MariaDb, s.server(), &Setup::mariadb(s.port())));
    let mysql = mysql.map(|s| group(Product::MySql, s.server(), &Setup::mysql(s.port())));
    mariadb.into_iter().chain(mysql).collect()
}
