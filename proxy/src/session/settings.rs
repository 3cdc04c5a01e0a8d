//! Commands that change who the session is or take it back to its start, and asking the server what is in force.

use backend::connect::bootstrap;
use backend::exchange::{first_row, send_queries};
use wire::follow::Expect;
use wire::packet::Header;

use sql::Traces;
use sql::traces::Pin;

use super::command::Next;
use super::server::Server;
use super::translate::Translation;
use super::view::{Certainty, View};
use super::{End, Session};
use crate::login;

/// What is asked when the server may have changed the state without saying so.
const ASK: &str = "SELECT @@sql_mode, @@character_set_client, DATABASE()";

impl Session {
    /// Asks the server for the state that plans depend on. Only before a rewritten SELECT, which sets warnings, counts and
    /// found rows anew anyway.
    pub(super) async fn ask_settings(&mut self) -> Result<(), End> {
        send_queries(self.server.link()?, &[ASK]).await?;
        let row = first_row(self.server.link()?).await?;
        let mut texts =
            row.into_iter().map(|cell| cell.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()));
        let (mode, charset) = (texts.next().flatten(), texts.next().flatten());
        self.view.set(&mode.unwrap_or_default(), &charset.unwrap_or_default(), texts.next().flatten());
        self.view.certainty = Certainty::Sure;
        Ok(())
    }

    /// COM_RESET_CONNECTION takes the tracking settings back as well, so they are set again before the client goes on.
    pub(super) async fn reset_connection(&mut self, header: Header, bytes: &[u8]) -> Result<Next, End> {
        if let Some(error) = self.attach(Traces::default()).await? {
            return self.refuse(header, &error).await;
        }
        self.send_server(bytes).await?;
        let answer = self.relay(Expect::Simple).await?;
        if !answer.error {
            self.statements.clear();
            self.server.link()?.statements.clear();
            let settings = bootstrap(self.server.link()?).await?;
            self.view.set(&settings.sql_mode, &settings.charset_client, settings.schema.clone());
            self.view.certainty = Certainty::Sure;
            self.translation =
                Translation::new(self.client.identity.capabilities, self.server.capabilities, &settings);
            if let Some(sharing) = &mut self.server.sharing {
                sharing.reset();
                if !settings.plain_start {
                    sharing.pin = Some(Pin::Reset);
                }
            }
        }
        Ok(Next::Answered)
    }

    /// COM_CHANGE_USER: the client logs in again, and so does the proxy, on a new connection.
    pub(super) async fn change_user(&mut self, header: Header, payload: &[u8]) -> Result<Next, End> {
        let changed = login::change_user(&self.shared, &mut self.client, header, payload).await?;
        let Some(login::Changed { lease, sharing, status, settings, ok }) = changed else {
            return Ok(Next::Answered);
        };
        let old = std::mem::replace(&mut self.server, Server::new(lease, sharing));
        if let Some(lease) = old.link {
            lease.give_back().await;
        }
        self.shared.home().pool.trim(self.member.id());
        self.statements.clear();
        self.status = status;
        self.translation =
            Translation::new(self.client.identity.capabilities, self.server.capabilities, &settings);
        self.view = View::new(
            settings.flavor(&self.server.info),
            &self.client.identity.user,
            settings.schema.clone(),
        );
        login::announce(
            &self.shared,
            &self.member,
            &self.client.identity.user,
            self.server.thread_id(),
            settings.schema.as_deref(),
        );
        self.client.stream.write_all(&ok).await.map_err(End::ClientLost)?;
        Ok(Next::Answered)
    }
}
