//! A connection's byte stream: TCP or Unix socket, plain or under TLS, client's or server's side, compressed or not.

mod compressed;

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, Interest, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsStream;

use crate::buffer::Buffer;
use compressed::Compressed;

/// How long a TCP connection may be silent before the kernel asks whether the other side still lives.
const KEEP_ALIVE: Duration = Duration::from_secs(60);

/// Lets the kernel find out about a peer whose machine is gone.
///
/// # Errors
/// The system's refusal.
pub fn keep_alive(socket: &TcpStream) -> io::Result<()> {
    let settings = socket2::TcpKeepalive::new().with_time(KEEP_ALIVE).with_interval(KEEP_ALIVE / 6);
    socket2::SockRef::from(socket).set_tcp_keepalive(&settings)
}

/// A plain socket.
#[derive(Debug)]
pub enum Socket {
    /// TCP.
    Tcp(TcpStream),
    /// A Unix domain socket.
    Unix(UnixStream),
}

/// A socket that no runtime holds: what travels from one core to another.
#[derive(Debug)]
pub enum Detached {
    /// TCP.
    Tcp(std::net::TcpStream),
    /// A Unix domain socket.
    Unix(std::os::unix::net::UnixStream),
}

impl Detached {
    /// Registers the socket with the current runtime.
    ///
    /// # Errors
    /// The runtime's refusal (no descriptor left, for instance).
    pub fn attach(self) -> io::Result<Socket> {
        Ok(match self {
            Self::Tcp(socket) => Socket::Tcp(TcpStream::from_std(socket)?),
            Self::Unix(socket) => Socket::Unix(UnixStream::from_std(socket)?),
        })
    }
}

impl Socket {
    /// Takes the socket off its runtime, so that another core can attach it.
    ///
    /// # Errors
    /// The runtime's refusal to let go.
    pub fn detach(self) -> io::Result<Detached> {
        Ok(match self {
            Self::Tcp(socket) => Detached::Tcp(socket.into_std()?),
            Self::Unix(socket) => Detached::Unix(socket.into_std()?),
        })
    }

    /// The other side's IP address; `None` on a Unix socket.
    #[must_use]
    pub fn peer(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(socket) => socket.peer_addr().ok(),
            Self::Unix(_) => None,
        }
    }

    /// Waits in the one place that a socket has for its reader, as `poll_read` does: a session is one task. Tokio's own
    /// `readable` keeps a list of those who wait, which costs three times as much.
    fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Tcp(socket) => socket.poll_read_ready(cx),
            Self::Unix(socket) => socket.poll_read_ready(cx),
        }
    }

    fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(socket) => socket.try_write(bytes),
            Self::Unix(socket) => socket.try_write(bytes),
        }
    }

    async fn writable(&self) -> io::Result<()> {
        let ready = match self {
            Self::Tcp(socket) => socket.ready(Interest::WRITABLE).await,
            Self::Unix(socket) => socket.ready(Interest::WRITABLE).await,
        };
        ready.map(drop)
    }
}

/// A socket, plain or under TLS.
#[derive(Debug)]
pub enum Stream {
    /// Bytes as they are.
    Plain(Socket),
    /// Under TLS, either side.
    Tls(Box<TlsStream<Socket>>),
    /// A client's, which speaks the compressed protocol.
    Compressed(Box<Compressed<Socket>>),
    /// The same under TLS.
    CompressedTls(Box<Compressed<TlsStream<Socket>>>),
}

impl Stream {
    /// The other side's IP address; `None` on a Unix socket.
    #[must_use]
    pub fn peer(&self) -> Option<SocketAddr> {
        self.socket().peer()
    }

    /// The socket below.
    #[must_use]
    pub fn socket(&self) -> &Socket {
        match self {
            Self::Plain(socket) => socket,
            Self::Tls(tls) => tls.get_ref().0,
            Self::Compressed(compressed) => compressed.carrier(),
            Self::CompressedTls(compressed) => compressed.carrier().get_ref().0,
        }
    }

    /// Whether the bytes are enciphered on their way.
    #[must_use]
    pub const fn is_tls(&self) -> bool {
        matches!(self, Self::Tls(_) | Self::CompressedTls(_))
    }

    /// Whether packets go in frames, so that their own sequence ids do not count.
    #[must_use]
    pub const fn is_compressed(&self) -> bool {
        matches!(self, Self::Compressed(_) | Self::CompressedTls(_))
    }

    /// From here on both sides speak the compressed protocol; `read` is what was read already.
    #[must_use]
    pub fn compressed(self, read: Buffer) -> Self {
        match self {
            Self::Plain(socket) => Self::Compressed(Box::new(Compressed::new(socket, read))),
            Self::Tls(tls) => Self::CompressedTls(Box::new(Compressed::new(*tls, read))),
            compressed => compressed,
        }
    }

    /// A command has been answered: under compression, frames are numbered anew.
    pub const fn answered(&mut self) {
        match self {
            Self::Plain(_) | Self::Tls(_) => {}
            Self::Compressed(compressed) => compressed.restart(),
            Self::CompressedTls(compressed) => compressed.restart(),
        }
    }

    /// Waits until a read may give bytes, or the end of the stream. Cancel-safe, and takes no buffer. One task at a time
    /// may wait for a stream.
    ///
    /// # Errors
    /// The socket's error.
    pub async fn readable(&self) -> io::Result<()> {
        poll_fn(|cx| match self {
            Self::Plain(socket) => socket.poll_readable(cx),
            Self::Tls(tls) => poll_tls(tls, cx),
            Self::Compressed(compressed) if !compressed.is_ready() => compressed.carrier().poll_readable(cx),
            Self::CompressedTls(compressed) if !compressed.is_ready() => poll_tls(compressed.carrier(), cx),
            Self::Compressed(_) | Self::CompressedTls(_) => Poll::Ready(Ok(())),
        })
        .await
    }

    /// Reads what is there into `buffer`, which may grow to `want` bytes; waits for at least one byte, and takes
    /// memory for a buffer that owns none only then. Returns the count, 0 at the end of the stream. Cancel-safe:
    /// no byte is lost.
    ///
    /// # Errors
    /// The socket's or TLS's error.
    pub async fn read(&mut self, buffer: &mut Buffer, want: usize) -> io::Result<usize> {
        if buffer.capacity() == 0 {
            self.readable().await?;
        }
        match self {
            // Through poll_read: after a read that does not fill the room, Tokio knows that the socket is drained,
            // and the next wait costs no read that fails.
            Self::Plain(socket) => {
                let n = socket.read(buffer.room(want)).await?;
                buffer.advance(n);
                Ok(n)
            }
            Self::Tls(tls) => {
                let n = match tls.read(buffer.room(want)).await {
                    // A peer that closes without TLS's own farewell is a closed connection, as for the servers.
                    Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => 0,
                    other => other?,
                };
                buffer.advance(n);
                Ok(n)
            }
            Self::Compressed(compressed) => compressed.read(buffer, want).await,
            Self::CompressedTls(compressed) => compressed.read(buffer, want).await,
        }
    }

    /// Reads what a peer sends ahead of what it waits for: to `buffer` or, where it would first have to be decoded, aside.
    /// Returns 0 at the end of the stream. Cancel-safe. It may never end where much was read already.
    ///
    /// # Errors
    /// As [`Stream::read`].
    pub async fn read_ahead(&mut self, buffer: &mut Buffer, want: usize) -> io::Result<usize> {
        match self {
            Self::Plain(_) | Self::Tls(_) => self.read(buffer, want).await,
            Self::Compressed(compressed) => compressed.read_ahead().await,
            Self::CompressedTls(compressed) => compressed.read_ahead().await,
        }
    }

    /// Fills `bytes`, and reads nothing beyond. For the first packets of a connection, which are never compressed.
    ///
    /// # Errors
    /// The socket's or TLS's error; `UnexpectedEof` when the stream ends before.
    pub async fn read_exact(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        match self {
            Self::Plain(socket) => socket.read_exact(bytes).await.map(drop),
            Self::Tls(tls) => tls.read_exact(bytes).await.map(drop),
            Self::Compressed(_) | Self::CompressedTls(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Writes all bytes.
    ///
    /// # Errors
    /// The socket's or TLS's error; `WriteZero` when the other side takes no more.
    pub async fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(socket) => {
                while !bytes.is_empty() {
                    match socket.try_write(bytes) {
                        Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                        Ok(n) => bytes = bytes.get(n..).unwrap_or_default(),
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => socket.writable().await?,
                        Err(error) => return Err(error),
                    }
                }
                Ok(())
            }
            Self::Tls(tls) => {
                tls.write_all(bytes).await?;
                tls.flush().await
            }
            Self::Compressed(compressed) => compressed.write_all(bytes).await,
            Self::CompressedTls(compressed) => compressed.write_all(bytes).await,
        }
    }

    /// Ends the stream in order: TLS's farewell, then the socket's.
    pub async fn close(mut self) {
        let _ = match &mut self {
            Self::Plain(socket) => socket.shutdown().await,
            Self::Tls(tls) => tls.shutdown().await,
            Self::Compressed(compressed) => compressed.carrier_mut().shutdown().await,
            Self::CompressedTls(compressed) => compressed.carrier_mut().shutdown().await,
        };
    }
}

/// rustls asks for bytes only while it holds no plaintext (`wants_read`).
fn poll_tls(tls: &TlsStream<Socket>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
    let (socket, session) = tls.get_ref();
    if session.wants_read() { socket.poll_readable(cx) } else { Poll::Ready(Ok(())) }
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(socket) => Pin::new(socket).poll_read(cx, buf),
            Self::Unix(socket) => Pin::new(socket).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(socket) => Pin::new(socket).poll_write(cx, bytes),
            Self::Unix(socket) => Pin::new(socket).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(socket) => Pin::new(socket).poll_flush(cx),
            Self::Unix(socket) => Pin::new(socket).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(socket) => Pin::new(socket).poll_shutdown(cx),
            Self::Unix(socket) => Pin::new(socket).poll_shutdown(cx),
        }
    }
}
