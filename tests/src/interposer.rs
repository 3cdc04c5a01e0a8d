//! Somebody between the proxy and its server: hears every command, and answers in the server's place where a test wants it.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use wire::packet::{HEADER, Header};

/// What comes after an answer in the server's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// The connection goes on.
    Stay,
    /// It is closed.
    Close,
}

#[derive(Debug, Clone)]
struct Answer {
    marker: Vec<u8>,
    bytes: Vec<u8>,
    after: After,
}

#[derive(Debug, Default)]
struct State {
    heard: Vec<Vec<u8>>,
    all: Vec<Vec<u8>>,
    answers: Vec<Answer>,
}

/// Listens on a port of its own and passes everything on to a server.
#[derive(Debug)]
pub struct Interposer {
    port: u16,
    state: Arc<Mutex<State>>,
}

fn lock(state: &Mutex<State>) -> std::sync::MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Interposer {
    /// Before the server at 127.0.0.1:`server`, for as long as the test process lives.
    ///
    /// # Panics
    /// When there is no free port.
    pub fn start(server: u16) -> Interposer {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has free ports");
        let port = listener.local_addr().expect("a bound socket has an address").port();
        let state = Arc::new(Mutex::new(State::default()));
        let shared = state.clone();
        thread::spawn(move || {
            for proxy in listener.incoming().flatten() {
                let state = shared.clone();
                thread::spawn(move || between(&proxy, server, &state));
            }
        });
        Interposer { port, state }
    }

    /// TCP port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The payloads of all commands since the last call, of up to 16 MB each.
    pub fn heard(&self) -> Vec<Vec<u8>> {
        std::mem::take(&mut lock(&self.state).heard)
    }

    /// Every packet's payload that has come so far, commands or not.
    pub fn all(&self) -> Vec<Vec<u8>> {
        lock(&self.state).all.clone()
    }

    /// From now on a command that holds `marker` gets these bytes, headers included, and the server does not hear of it.
    pub fn instead(&self, marker: &str, bytes: Vec<u8>, after: After) {
        let marker = marker.as_bytes().to_vec();
        lock(&self.state).answers.push(Answer { marker, bytes, after });
    }
}

fn between(proxy: &TcpStream, server: u16, state: &Mutex<State>) {
    let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else { return };
    let _ = (proxy.set_nodelay(true), server.set_nodelay(true));
    thread::scope(|scope| {
        scope.spawn(|| {
            let _ = io::copy(&mut &server, &mut &*proxy);
            let _ = proxy.shutdown(Shutdown::Both);
        });
        let _ = listen(proxy, &server, state);
        let _ = server.shutdown(Shutdown::Both);
    });
}

/// Takes the proxy's packets one by one.
fn listen(mut proxy: &TcpStream, mut server: &TcpStream, state: &Mutex<State>) -> io::Result<()> {
    loop {
        let mut packet = vec![0; HEADER];
        proxy.read_exact(&mut packet)?;
        let header = Header::parse(&packet).unwrap_or(Header { len: 0, seq: 0 });
        packet.resize(HEADER + header.len, 0);
        proxy.read_exact(&mut packet[HEADER..])?;
        let payload = &packet[HEADER..];
        let answer = {
            let mut state = lock(state);
            state.all.push(payload.to_vec());
            if header.seq == 0 {
                state.heard.push(payload.to_vec());
            }
            let asked =
                |answer: &&Answer| payload.windows(answer.marker.len()).any(|part| part == answer.marker);
            let answer = state.answers.iter().find(asked).cloned();
            answer.filter(|_| header.seq == 0)
        };
        match answer {
            None => server.write_all(&packet)?,
            Some(Answer { bytes, after, .. }) => {
                proxy.write_all(&bytes)?;
                if after == After::Close {
                    return Ok(());
                }
            }
        }
    }
}
