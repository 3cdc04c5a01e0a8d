//! COM_CHANGE_USER, with whatever fields a test wants to send.

use std::io;

use wire::auth::{Client as Auth, ClientChannel, ClientStep, Password, Secret, ServerKey};
use wire::{ChangeUser, Command};

use super::{Client, refused};

impl Client {
    /// Logs in anew inside the connection. Where the server asks for another proof, it gets one from `password`.
    ///
    /// # Errors
    /// Those of the network; `PermissionDenied` with the server's message when it refuses.
    pub fn change_user(&mut self, change: &ChangeUser<'_>, password: &str) -> io::Result<()> {
        let secret = Secret::Password(Password::new(password.as_bytes()));
        let channel = ClientChannel::Plain(ServerKey::Ask);
        let start = Auth::start(&self.greeting.auth_plugin, &self.greeting.scramble, secret, channel);
        let mut auth = start.map_err(io::Error::other)?.client;
        self.send(&Command::ChangeUser(*change))?;
        loop {
            let payload = self.packet()?;
            match auth.step(&payload).map_err(io::Error::other)? {
                ClientStep::Send(reply, next) => {
                    self.write(&reply)?;
                    auth = next;
                }
                ClientStep::Wait(next) => auth = next,
                ClientStep::Done => return Ok(()),
                ClientStep::Refused(_) => return Err(refused(&payload)),
            }
        }
    }
}
