//! The command that takes a session back to its start, and asking the server what is in force.

use backend::connect::bootstrap;
use backend::connection::Settings;
use backend::exchange::{first_row, send_queries};
use wire::follow::Expect;
use wire::packet::Header;

use sql::Traces;
use sql::traces::{Pin, contains};

use super::command::Next;
use super::translate::Translation;
use super::view::Certainty;
use super::{End, Session};

/// What is asked when the server may have changed the state without saying so.
const ASK: &str = "SELECT @@sql_mode, @@character_set_client, DATABASE()";

/// What a server tracks for clients that ask for nothing.
#[derive(Debug)]
pub(super) struct Tracking {
    variables: String,
    state: bool,
}

impl From<&Settings> for Tracking {
    fn from(settings: &Settings) -> Self {
        Self { variables: settings.tracked.clone(), state: settings.tracks_state }
    }
}

impl Tracking {
    fn set(&self) -> String {
        // The server has taken this list before: names and commas.
        let list = self.variables.replace(['\'', '\\'], "");
        let state = u8::from(self.state);
        format!(
            "SET SESSION session_track_system_variables='{list}', session_track_state_change={state}, \
             session_track_schema=DEFAULT"
        )
    }
}

impl Session {
    /// A client that sets the tracking itself would blind the proxy, and one that reads it must not see what the proxy has
    /// set: from the first statement on that names it, the tracking is the client's alone.
    pub(super) async fn leave_tracking(&mut self, text: &[u8]) -> Result<(), End> {
        if !contains(text, b"session_track") {
            return Ok(());
        }
        let Some(tracking) = self.tracking.take() else { return Ok(()) };
        if self.attach(Traces::default()).await?.is_some() {
            // Nor will the statement find a connection.
            self.tracking = Some(tracking);
            return Ok(());
        }
        send_queries(self.server.link()?, &[&tracking.set()]).await?;
        first_row(self.server.link()?).await?;
        self.view.certainty = Certainty::Lost;
        self.translation.reveal();
        // Also where the statement itself is refused.
        if let Some(sharing) = &mut self.server.sharing {
            sharing.pin.get_or_insert(Pin::Variable);
        }
        Ok(())
    }

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
            let settings = bootstrap(self.server.link()?).await?;
            self.restarted(&settings);
        }
        Ok(Next::Answered)
    }

    /// The connection was reset, and these are its settings now.
    pub(super) fn restarted(&mut self, settings: &Settings) {
        self.statements.clear();
        if let Some(lease) = &mut self.server.link {
            lease.statements.clear();
        }
        self.view.set(&settings.sql_mode, &settings.charset_client, settings.schema.clone());
        self.view.certainty = Certainty::Sure;
        self.translation =
            Translation::new(self.client.identity.capabilities, self.server.capabilities, settings);
        self.tracking = Some(settings.into());
        if let Some(sharing) = &mut self.server.sharing {
            sharing.reset();
            if !settings.plain_start {
                sharing.pin = Some(Pin::Reset);
            }
        }
    }
}
