//! Writing and syncing the files of a server's folder.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Syncing waits for the disk, not for us: this many at once let the file system join their commits.
const SYNCERS: usize = 8;

/// Makes a folder that only we may enter, and those above it as usual.
pub(crate) fn make_private_dir(path: &Path) -> io::Result<()> {
    if let Some(above) = path.parent() {
        std::fs::create_dir_all(above)?;
    }
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        result => result,
    }
}

/// Makes the folder for sockets; in a place where others may write, it must turn out to be ours alone.
pub(crate) fn make_socket_dir(path: &Path) -> io::Result<()> {
    make_private_dir(path)?;
    let meta = std::fs::symlink_metadata(path)?;
    let ours = meta.is_dir() && meta.uid() == rustix::process::geteuid().as_raw() && meta.mode() & 0o077 == 0;
    ours.then_some(()).ok_or_else(|| {
        io::Error::other(format!("{} is not a folder that only this user may enter", path.display()))
    })
}

/// Replaces a file's content; only we may read it, and a reader sees the old or the new content whole.
pub(crate) fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".tmp");
    let tmp = path.with_file_name(name);
    remove(&tmp)?;
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&tmp)?;
    file.write_all(content)?;
    file.sync_all()?;
    std::fs::rename(&tmp, path)?;
    match path.parent() {
        Some(dir) => File::open(dir)?.sync_all(),
        None => Ok(()),
    }
}

/// Removes a file or a folder with all that is in it; absent is fine.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    let result = match std::fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
        Err(error) => Err(error),
    };
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// Brings every file and folder below `root` to disk.
pub(crate) fn sync_tree(root: &Path) -> io::Result<()> {
    let mut paths = Vec::new();
    list(root, &mut paths)?;
    let next = AtomicUsize::new(0);
    let work = || -> io::Result<()> {
        while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
            File::open(path)?.sync_all()?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..SYNCERS).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| {
            thread.join().unwrap_or_else(|_| Err(io::Error::other("a syncing thread is gone")))
        })
    })
}

fn list(dir: &Path, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            list(&entry.path(), paths)?;
        } else if kind.is_file() {
            paths.push(entry.path());
        }
    }
    paths.push(dir.to_owned());
    Ok(())
}
