//! Reads a folder that an agent has written: names, kinds and contents, never following a link.
//!
//! Every step goes through the folder above it without following links, so that no name can lead
//! out of the tree, even while somebody still writes there. Nothing is changed.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, fstat, openat, readlinkat, statat};
use rustix::io::Errno;

use crate::error::{GitError, failed};

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Folder,
    File,
    Link,
    /// A pipe, a socket or a device.
    Special,
}

/// What is in one folder.
pub(crate) type Names = Vec<(Vec<u8>, Kind)>;

/// The folder, held open.
#[derive(Debug)]
pub(crate) struct Tree {
    top: PathBuf,
    fd: OwnedFd,
}

/// What could be had of one name.
#[derive(Debug)]
pub(crate) enum Got<T> {
    It(T),
    /// The agent took our right to read it away, or its name is too long for the system.
    Unreadable,
    /// It is not what it was a moment ago.
    Gone,
}

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);
/// Without waiting, since a pipe may have been put where a file was.
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

    /// The path as people know it.
    pub(crate) fn shown(&self, path: &[u8]) -> PathBuf {
        self.top.join(as_path(path))
    }

    /// Names and kinds of what is in a folder (the empty path is the top), sorted.
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
                Err(Errno::NOENT) => {}
                Err(error) => return Err(error),
            }
        }
        found.sort();
        Ok(found)
    }

    /// A regular file with its size and whether its owner may execute it.
    pub(crate) fn file(&self, path: &[u8]) -> Result<Got<(File, u64, bool)>, GitError> {
        self.got("open", path, self.try_file(path))
    }

    fn try_file(&self, path: &[u8]) -> Result<(File, u64, bool), Errno> {
        let (folder, name) = split(path);
        let fd = openat(self.folder(folder)?, name, FILE, Mode::empty())?;
        let stat = fstat(&fd)?;
        if kind_of(stat.st_mode) != Kind::File {
            return Err(Errno::NOENT);
        }
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        Ok((
            File::from(fd),
            size,
            Mode::from_raw_mode(stat.st_mode).contains(Mode::XUSR),
        ))
    }

    /// Where a link points, as it is written in it.
    pub(crate) fn link(&self, path: &[u8]) -> Result<Got<Vec<u8>>, GitError> {
        let (folder, name) = split(path);
        let target = self
            .folder(folder)
            .and_then(|fd| readlinkat(&fd, name, Vec::new()));
        self.got("read", path, target.map(std::ffi::CString::into_bytes))
    }

    /// Goes down one folder at a time: a single long path would follow links on its way.
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

/// The folder and the name in it.
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
