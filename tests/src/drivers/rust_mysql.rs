//! The script through `mysql_async`.

use std::collections::HashMap;

use mysql_async::prelude::Queryable;
use mysql_async::{ChangeUserOpts, Conn, Opts, Params, Statement as Prepared, WhiteListFsHandler};
use router::compare::{Answer, Outcome};

use super::walk::{Driver, only};
use super::{Place, Protocol};
use crate::client;
use crate::script::{self, Connect, Statement};

pub(super) struct Async<'a> {
    pub(super) protocol: Protocol,
    pub(super) place: &'a Place<'a>,
}

pub(super) struct Session {
    conn: Conn,
    handles: HashMap<String, Prepared>,
}

impl Driver for Async<'_> {
    type Session = Session;

    fn names(&self) -> &[&str] {
        &["mysql_async"]
    }

    async fn open(&mut self, connect: &Connect) -> Result<Session, Outcome> {
        let Place { script, server, files, .. } = self.place;
        let mut opts = server.opts(connect.schema.as_deref()).client_found_rows(connect.found_rows);
        if connect.local_infile {
            opts = opts.local_infile_handler(Some(WhiteListFsHandler::new(script.file_paths(files))));
        }
        let mut conn = Conn::new(Opts::from(opts)).await.map_err(client::failed)?;
        if connect.charset != "utf8mb4" {
            conn.query_drop(format!("SET NAMES {}", connect.charset)).await.map_err(client::failed)?;
        }
        Ok(Session { conn, handles: HashMap::new() })
    }

    async fn run(&mut self, session: &mut Session, statement: &Statement, text: &[u8]) -> Answer {
        let binary = self.protocol == Protocol::Binary && statement.preparable;
        let params = match &statement.params {
            Some(params) => Some(Params::Positional(params.iter().map(script::parameter).collect())),
            None => binary.then_some(Params::Empty),
        };
        let handle = statement.handle.as_ref().filter(|_| self.protocol == Protocol::Binary);
        let mut answer = match (params, handle) {
            (Some(params), Some(handle)) => session.kept(handle, text, params).await,
            (Some(params), None) => client::prepared(&mut session.conn, text, params).await,
            (None, _) => client::text(&mut session.conn, text).await,
        };
        // What cannot be prepared (1295) still has to happen.
        if binary
            && statement.params.is_none()
            && matches!(answer.results.first(), Some(Outcome::Failed(f)) if f.code == 1295)
        {
            answer.results.extend(client::text(&mut session.conn, text).await.results);
        }
        if !statement.sql.to_ascii_uppercase().starts_with("SHOW ") && has_warnings(&answer) {
            answer.warnings = client::warnings(&mut session.conn).await;
        }
        answer
    }

    async fn command(&mut self, session: &mut Session, what: &str, schema: &str) -> Option<Outcome> {
        let conn = &mut session.conn;
        let done = match what {
            "ping" => conn.ping().await,
            "reset" => conn.reset().await.map(|_| ()),
            "use" => conn.query_drop(format!("USE {schema}")).await,
            "change_user" => {
                let account = &self.place.server.account;
                let opts = ChangeUserOpts::new()
                    .with_user(Some(account.user.clone()))
                    .with_pass(Some(account.password.clone()))
                    .with_db_name(Some(self.place.script.schema.clone()));
                conn.change_user(opts).await
            }
            other => panic!("the script asks for {other}"),
        };
        done.err().map(client::failed)
    }

    async fn forget(&mut self, session: &mut Session, handle: &str) {
        if let Some(prepared) = session.handles.remove(handle) {
            session.conn.close(prepared).await.expect("COM_STMT_CLOSE has no answer");
        }
    }

    async fn close(&mut self, session: Session) {
        let _ = session.conn.disconnect().await;
    }
}

impl Session {
    /// Executes the statement of a handle, which is prepared at its first use.
    async fn kept(&mut self, handle: &str, text: &[u8], params: Params) -> Answer {
        if !self.handles.contains_key(handle) {
            match self.conn.prep(text.to_vec()).await {
                Ok(prepared) => self.handles.insert(handle.to_owned(), prepared),
                Err(error) => return only(client::failed(error)),
            };
        }
        client::execute(&mut self.conn, &self.handles[handle], params).await
    }
}

fn has_warnings(answer: &Answer) -> bool {
    match answer.results.last() {
        Some(Outcome::Done(done)) => done.warnings > 0,
        Some(Outcome::Rows(set)) => set.warnings.is_some_and(|n| n > 0),
        _ => false,
    }
}
