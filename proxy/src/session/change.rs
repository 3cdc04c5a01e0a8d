//! COM_CHANGE_USER: a client becomes somebody else, or tries to in vain.

use std::time::Duration;

use backend::connect::bootstrap;
use backend::exchange::{ExchangeError, first_row, reset, send_queries};
use sql::{Product, Traces};
use wire::packet::Header;
use wire::{SqlError, code};

use super::command::Next;
use super::server::{Counts, Found, Server, Warnings};
use super::translate::Translation;
use super::view::View;
use super::{End, Session};
use crate::login;

/// After so many vain tries a MariaDB looks at no further one.
const TRIES: u8 = 3;

/// How long it makes the client wait after each, so that passwords cannot be guessed this way.
const PENALTY: Duration = Duration::from_secs(1);

/// A reset alone gives a session the character sets of its login, a vain try those of the server.
const SETS: &str =
    "SET character_set_client=DEFAULT, collation_connection=DEFAULT, character_set_results=DEFAULT";

impl Session {
    /// The client logs in again, and so does the proxy, on a new connection.
    pub(super) async fn change_user(&mut self, header: Header, payload: &[u8]) -> Result<Next, End> {
        if self.vain_changes >= TRIES {
            let error = SqlError::new(code::UNKNOWN_COM, "Unknown command");
            return self.remain(header.seq.wrapping_add(1), &error).await;
        }
        let changed = login::change_user(&self.shared, &mut self.client, header, payload).await?;
        let login::Changed { lease, sharing, status, settings, ok } = match changed {
            Ok(changed) => changed,
            Err(login::Refused { seq, error }) => return self.remain(seq, &error).await,
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
        self.tracking = Some((&settings).into());
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

    /// A try was in vain. MySQL ends the connection. MariaDB takes the session back to its start, and leaves it its user and its
    /// schema.
    async fn remain(&mut self, seq: u8, error: &SqlError) -> Result<Next, End> {
        let remains = self.view.flavor.product == Product::MariaDb
            && self.attach(Traces::default()).await?.is_none()
            && self.take_back(error).await?;
        if remains {
            self.vain_changes = self.vain_changes.saturating_add(1);
            tokio::time::sleep(PENALTY).await;
        }
        self.send_error(seq, error).await?;
        if remains { Ok(Next::Answered) } else { Err(End::Quit) }
    }

    /// Brings the connection to the state after a vain try; `false` where the server knows no reset.
    async fn take_back(&mut self, error: &SqlError) -> Result<bool, End> {
        let link = self.server.link()?;
        self.status = match reset(link).await {
            Ok(status) => status,
            Err(ExchangeError::Server(_)) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        send_queries(link, &[SETS]).await?;
        first_row(link).await?;
        let settings = bootstrap(link).await?;
        self.restarted(&settings);
        // So that SHOW WARNINGS and the like speak of it.
        let link = self.server.link()?;
        send_queries(link, &[&signal(error)]).await?;
        match first_row(link).await {
            Ok(_) | Err(ExchangeError::Server(_)) => {}
            Err(error) => return Err(error.into()),
        }
        if let Some(sharing) = &mut self.server.sharing {
            sharing.warnings = Warnings::Held;
            sharing.warning_count = 1;
            sharing.counts = Counts { rows: -1, found: Found::Held };
        }
        Ok(true)
    }
}

/// A statement that fails with this error. Its text is in hexadecimal digits: no SQL mode reads them in another way.
fn signal(error: &SqlError) -> String {
    use std::fmt::Write as _;
    let mut text = format!(
        "SIGNAL SQLSTATE '{}' SET MYSQL_ERRNO={}, MESSAGE_TEXT=_utf8mb4 x'",
        String::from_utf8_lossy(&error.state),
        error.code
    );
    for byte in error.message.bytes() {
        let _ = write!(text, "{byte:02x}");
    }
    text.push('\'');
    text
}
