//! The file of the control socket: never open to others, not even for a moment, and never taken from a running proxy.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// A bound control socket.
#[derive(Debug)]
pub(crate) struct Socket {
    listener: UnixListener,
    file: SocketFile,
}

/// The socket's file, removed when this is dropped, unless another took its place.
#[derive(Debug)]
pub(super) struct SocketFile {
    path: PathBuf,
    inode: u64,
}

impl Socket {
    /// Binds the socket in a data folder, which must exist. What a killed proxy left behind is replaced.
    ///
    /// # Errors
    /// `AddrInUse` where a proxy answers there, `InvalidInput` for a path of more than about 100 bytes, or what the
    /// folder says.
    pub(crate) fn bind(data: &Path) -> io::Result<Self> {
        let path = data.join(super::super::SOCKET);
        if UnixStream::connect(&path).is_ok() {
            let why = format!("a Shuntyard that uses the data folder {} is running already", data.display());
            return Err(io::Error::new(io::ErrorKind::AddrInUse, why));
        }
        // Bound in a folder that nobody else may enter, then moved: the file never has the mode that umask allows.
        let private = data.join(format!(".{}", std::process::id()));
        let _ = fs::remove_dir_all(&private);
        fs::DirBuilder::new().mode(0o700).create(&private)?;
        let bound = bind_in(&private, &path);
        let _ = fs::remove_dir_all(&private);
        bound
    }

    pub(super) fn into_listener(self) -> io::Result<(tokio::net::UnixListener, SocketFile)> {
        self.listener.set_nonblocking(true)?;
        Ok((tokio::net::UnixListener::from_std(self.listener)?, self.file))
    }
}

fn bind_in(private: &Path, path: &Path) -> io::Result<Socket> {
    let first = private.join("s");
    let listener = UnixListener::bind(&first)?;
    fs::set_permissions(&first, fs::Permissions::from_mode(0o600))?;
    let inode = fs::metadata(&first)?.ino();
    fs::rename(&first, path)?;
    Ok(Socket { listener, file: SocketFile { path: path.to_owned(), inode } })
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if fs::metadata(&self.path).is_ok_and(|metadata| metadata.ino() == self.inode) {
            let _ = fs::remove_file(&self.path);
        }
    }
}
