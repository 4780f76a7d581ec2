//! Reads a folder that an agent wrote: names, kinds and contents, without ever following a link.
//!
//! Each folder is opened relative to the one above it, without following links. So no path can lead
//! out of the tree, even if somebody replaces a folder with a link while we read. Nothing here
//! changes a file.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, fstat, openat, readlinkat, statat};
use rustix::io::Errno;

use crate::error::{GitError, failed};

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Folder,
    File,
    Link,
    /// A pipe, a socket or a device.
    Special,
}

/// The names in one folder and their kinds.
pub(crate) type Names = Vec<(Vec<u8>, Kind)>;

/// The top folder, held open.
#[derive(Debug)]
pub(crate) struct Tree {
    top: PathBuf,
    fd: OwnedFd,
}

/// The result of reading one path.
#[derive(Debug)]
pub(crate) enum Got<T> {
    It(T),
    /// The agent took away our permission to read it, or its name is too long for the system.
    Unreadable,
    /// It was removed or replaced since we saw its name.
    Gone,
}

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);
/// `NONBLOCK`, because an agent may have put a pipe where a file was, and opening a pipe blocks
/// until somebody writes to it.
const FILE: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);

impl Tree {
    pub(crate) fn open(top: &Path) -> Result<Self, GitError> {
        let fd = openat(CWD, top, FOLDER, Mode::empty()).map_err(failed("open", top))?;
        Ok(Self {
            top: top.to_owned(),
            fd,
        })
    }

    /// The full path, for error messages.
    pub(crate) fn shown(&self, path: &[u8]) -> PathBuf {
        self.top.join(as_path(path))
    }

    /// The names in a folder (the empty path is the top) and their kinds, sorted.
    pub(crate) fn list(&self, folder: &[u8]) -> Result<Got<Names>, GitError> {
        self.got("look into", folder, self.try_list(folder))
    }

    fn try_list(&self, folder: &[u8]) -> Result<Names, Errno> {
        let fd = self.folder(folder)?;
        let mut found = Vec::new();
        for entry in Dir::read_from(&fd)? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            match statat(&fd, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => found.push((name.to_bytes().to_vec(), kind_of(stat.st_mode))),
                // It was removed after we read its name.
                Err(Errno::NOENT) => {}
                Err(error) => return Err(error),
            }
        }
        found.sort();
        Ok(found)
    }

    /// Opens a regular file; returns it with its size and whether its owner may execute it.
    pub(crate) fn file(&self, path: &[u8]) -> Result<Got<(File, u64, bool)>, GitError> {
        self.got("open", path, self.try_file(path))
    }

    fn try_file(&self, path: &[u8]) -> Result<(File, u64, bool), Errno> {
        let (folder, name) = split(path);
        let fd = openat(self.folder(folder)?, name, FILE, Mode::empty())?;
        // Checked on what was opened: the name may have been replaced since it was listed.
        let stat = fstat(&fd)?;
        if kind_of(stat.st_mode) != Kind::File {
            return Err(Errno::NOENT);
        }
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        // Git records one executable bit, the owner's.
        Ok((
            File::from(fd),
            size,
            Mode::from_raw_mode(stat.st_mode).contains(Mode::XUSR),
        ))
    }

    /// The target of a link, as it is recorded in it.
    pub(crate) fn link(&self, path: &[u8]) -> Result<Got<Vec<u8>>, GitError> {
        let (folder, name) = split(path);
        let target = self
            .folder(folder)
            .and_then(|fd| readlinkat(&fd, name, Vec::new()));
        self.got("read", path, target.map(std::ffi::CString::into_bytes))
    }

    /// Opens a folder, one component at a time: `NOFOLLOW` protects only the last component of a
    /// path, so a longer one would follow links on its way.
    fn folder(&self, path: &[u8]) -> Result<OwnedFd, Errno> {
        let mut fd = openat(&self.fd, ".", FOLDER, Mode::empty())?;
        for name in path
            .split(|byte| *byte == b'/')
            .filter(|name| !name.is_empty())
        {
            fd = openat(&fd, name, FOLDER, Mode::empty())?;
        }
        Ok(fd)
    }

    fn got<T>(
        &self,
        attempt: &'static str,
        path: &[u8],
        result: Result<T, Errno>,
    ) -> Result<Got<T>, GitError> {
        match result {
            Ok(it) => Ok(Got::It(it)),
            Err(Errno::ACCESS | Errno::PERM | Errno::NAMETOOLONG) => Ok(Got::Unreadable),
            // A link where a file or a folder was gives `ELOOP`, anything else in the place of a
            // link `EINVAL`, and a socket `ENXIO`.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::INVAL | Errno::NXIO) => {
                Ok(Got::Gone)
            }
            Err(error) => Err(failed(attempt, &self.shown(path))(io::Error::from(error))),
        }
    }
}

pub(crate) fn as_path(path: &[u8]) -> &Path {
    use std::os::unix::ffi::OsStrExt as _;
    Path::new(std::ffi::OsStr::from_bytes(path))
}

/// Splits a path into its folder and the name in it.
pub(crate) fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (&[], path),
    }
}

fn kind_of(mode: rustix::fs::RawMode) -> Kind {
    match FileType::from_raw_mode(mode) {
        FileType::Directory => Kind::Folder,
        FileType::RegularFile => Kind::File,
        FileType::Symlink => Kind::Link,
        _ => Kind::Special,
    }
}
