//! Listening sockets: accepts connections and hands them on, TCP and Unix.

use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use backend::stream::Detached;
use tokio::net::{TcpListener, UnixListener};

/// Connections that the kernel keeps waiting for us at one socket.
const BACKLOG: i32 = 1024;
/// How long accepting rests when no descriptor is left.
const EXHAUSTED: Duration = Duration::from_millis(100);

/// Where to listen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// TCP.
    Tcp(SocketAddr),
    /// A Unix socket at this path.
    Unix(PathBuf),
}

/// One listening socket. A Unix socket's file goes with it.
#[derive(Debug)]
pub(crate) struct Listener {
    socket: Listening,
}

#[derive(Debug)]
enum Listening {
    Tcp(TcpListener),
    Unix(UnixListener, SocketFile),
}

#[derive(Debug)]
struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Listener {
    /// Binds. A Unix socket's file that nobody listens at any more is replaced; one that is in use is not.
    ///
    /// # Errors
    /// The system's refusal, with the endpoint in its text.
    pub(crate) fn bind(endpoint: &Endpoint) -> io::Result<Self> {
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("cannot listen on {endpoint}: {error}"));
        let socket = match endpoint {
            Endpoint::Tcp(address) => Listening::Tcp(bind_tcp(*address).map_err(named)?),
            Endpoint::Unix(path) => {
                remove_stale(path).map_err(named)?;
                let listener = UnixListener::bind(path).map_err(named)?;
                // As the servers do: whoever may reach the folder may connect; the login decides.
                std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).map_err(named)?;
                Listening::Unix(listener, SocketFile(path.clone()))
            }
        };
        Ok(Self { socket })
    }

    /// The address that it is bound to, with the port that the system chose for port 0.
    #[must_use]
    pub(crate) fn local(&self) -> Option<Endpoint> {
        match &self.socket {
            Listening::Tcp(listener) => listener.local_addr().ok().map(Endpoint::Tcp),
            Listening::Unix(_, file) => Some(Endpoint::Unix(file.0.clone())),
        }
    }

    /// The next connection. Faults of a single connection are passed over, and it waits when no descriptor is left.
    pub(crate) async fn accept(&self) -> Detached {
        loop {
            match self.try_accept().await {
                Ok(socket) => return socket,
                Err(error) if is_exhausted(&error) => {
                    tracing::warn!(%error, "accepting rests: the process has no file descriptor left");
                    tokio::time::sleep(EXHAUSTED).await;
                }
                Err(error) => tracing::debug!(%error, "a connection was lost before it was accepted"),
            }
        }
    }

    async fn try_accept(&self) -> io::Result<Detached> {
        match &self.socket {
            Listening::Tcp(listener) => {
                let (socket, _) = listener.accept().await?;
                socket.set_nodelay(true)?;
                backend::stream::keep_alive(&socket)?;
                Ok(Detached::Tcp(socket.into_std()?))
            }
            Listening::Unix(listener, _) => {
                let (socket, _) = listener.accept().await?;
                Ok(Detached::Unix(socket.into_std()?))
            }
        }
    }
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "{address}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

fn bind_tcp(address: SocketAddr) -> io::Result<TcpListener> {
    let domain = socket2::Domain::for_address(address);
    let socket = socket2::Socket::new(domain, socket2::Type::STREAM, Some(socket2::Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}

fn remove_stale(path: &Path) -> io::Result<()> {
    let Ok(found) = std::fs::symlink_metadata(path) else { return Ok(()) };
    if !found.file_type().is_socket() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "a file that is not a socket stands there"));
    }
    if std::os::unix::net::UnixStream::connect(path).is_ok() {
        return Err(io::Error::new(io::ErrorKind::AddrInUse, "another process listens there"));
    }
    std::fs::remove_file(path)
}

fn is_exhausted(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    [rustix::io::Errno::MFILE, rustix::io::Errno::NFILE, rustix::io::Errno::NOBUFS, rustix::io::Errno::NOMEM]
        .iter()
        .any(|errno| code == Some(errno.raw_os_error()))
}
