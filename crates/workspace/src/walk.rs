//! Reads a folder that an agent wrote: names, kinds and contents, without ever following a link.
//!
//! The kernel is asked to resolve every path beneath the top folder and through no link
//! (`openat2`). Where it cannot, each folder is opened relative to the one above it, without
//! following links. So no path can lead out of the tree, even if somebody replaces a folder with a
//! link while we read. Nothing here changes a file.

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, fgetxattr, fstat, openat, readlinkat, statat,
};
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

/// What lies in one folder.
#[derive(Debug)]
pub(crate) struct Listing {
    /// The names and their kinds, sorted.
    pub(crate) names: Vec<(Vec<u8>, Kind)>,
    /// What is not seen of the same folder in the layer below.
    pub(crate) hidden: Hidden,
}

/// What a folder hides of the layer below; its own names hide theirs in any case.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Hidden {
    /// Everything: there is no layer below, or the folder was made anew.
    All,
    /// The names that were removed.
    Names(BTreeSet<Vec<u8>>),
}

/// The top folder, held open.
#[derive(Debug)]
pub(crate) struct Tree {
    top: PathBuf,
    fd: OwnedFd,
    way: Way,
    layer: Layer,
}

/// Whether the folder is all that there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layer {
    Only,
    /// It has what was changed in an overlay, and marks for what was removed.
    Upper,
}

/// How a path is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// At once; the kernel keeps it beneath the top and off links.
    #[cfg(target_os = "linux")]
    Beneath,
    /// Name by name.
    NameByName,
}

/// A regular file that was opened.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) file: File,
    pub(crate) size: u64,
    /// Whether its owner may execute it; git records no other right.
    pub(crate) is_executable: bool,
    /// Whether it has the setuid, setgid or sticky bit.
    pub(crate) has_special_bits: bool,
    /// Its device and number on it, by which hard links are recognised.
    pub(crate) identity: (u64, u64),
    /// How many names it has.
    pub(crate) n_names: u64,
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

/// Marks a folder that was made anew, in an overlay that was mounted without privileges.
const OPAQUE: &CStr = c"user.overlay.opaque";

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
        Self::open_as(top, Layer::Only)
    }

    /// Opens the folder that has the changes of an overlay. Nobody could write to it but through the
    /// overlay, which lets nobody make the marks of the kernel.
    pub(crate) fn open_upper(top: &Path) -> Result<Self, GitError> {
        Self::open_as(top, Layer::Upper)
    }

    fn open_as(top: &Path, layer: Layer) -> Result<Self, GitError> {
        let fd = openat(CWD, top, FOLDER, Mode::empty()).map_err(|error| match error {
            Errno::LOOP | Errno::NOTDIR => GitError::NotAFolder {
                path: top.to_owned(),
            },
            error => failed("open", top)(error),
        })?;
        let way = Way::of(&fd);
        Ok(Self {
            top: top.to_owned(),
            fd,
            way,
            layer,
        })
    }

    /// Whether there is a layer below.
    pub(crate) fn is_upper(&self) -> bool {
        self.layer == Layer::Upper
    }

    /// The full path, for error messages.
    pub(crate) fn shown(&self, path: &[u8]) -> PathBuf {
        self.top.join(as_path(path))
    }

    /// What lies in a folder (the empty path is the top). Of more than `names_max` names only one more
    /// is listed.
    pub(crate) fn list(&self, folder: &[u8], names_max: usize) -> Result<Got<Listing>, GitError> {
        self.got("look into", folder, self.try_list(folder, names_max))
    }

    fn try_list(&self, folder: &[u8], names_max: usize) -> Result<Listing, Errno> {
        let fd = self.folder(folder)?;
        let mut found = Vec::new();
        let mut removed = BTreeSet::new();
        for entry in Dir::read_from(&fd)? {
            if found.len() + removed.len() > names_max {
                break;
            }
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            match statat(&fd, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) if self.layer == Layer::Upper && is_mark(&stat) => {
                    removed.insert(name.to_bytes().to_vec());
                }
                Ok(stat) => found.push((name.to_bytes().to_vec(), kind_of(stat.st_mode))),
                // It was removed after we read its name.
                Err(Errno::NOENT) => {}
                Err(error) => return Err(error),
            }
        }
        found.sort();
        let hidden = if self.hides_all(&fd)? {
            Hidden::All
        } else {
            Hidden::Names(removed)
        };
        Ok(Listing {
            names: found,
            hidden,
        })
    }

    /// Whether nothing of the layer below is seen in a folder.
    fn hides_all(&self, folder: &OwnedFd) -> Result<bool, Errno> {
        if self.layer == Layer::Only {
            return Ok(true);
        }
        let mut value = [0; 8];
        match fgetxattr(folder, OPAQUE, &mut value) {
            Ok(length) => Ok(&value[..length] == b"y"),
            Err(Errno::NODATA | Errno::NOTSUP) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Whether the layer below is what is seen at a path.
    pub(crate) fn shows_below(&self, path: &[u8]) -> Result<bool, GitError> {
        let shown = self.try_shows_below(path);
        shown.map_err(|error| failed("look at", &self.shown(path))(io::Error::from(error)))
    }

    fn try_shows_below(&self, path: &[u8]) -> Result<bool, Errno> {
        let mut here = self.folder(b"")?;
        for end in (0..=path.len()).filter(|end| path.get(*end).is_none_or(|byte| *byte == b'/')) {
            if self.hides_all(&here)? {
                return Ok(false);
            }
            if end == path.len() {
                let found = statat(&here, split(path).1, AtFlags::SYMLINK_NOFOLLOW);
                return Ok(matches!(found, Err(Errno::NOENT)));
            }
            match self.folder(&path[..end]) {
                Ok(inside) => here = inside,
                Err(Errno::NOENT) => return Ok(true),
                // A file, a link or the mark of a removal is in the way.
                Err(_) => return Ok(false),
            }
        }
        Ok(false)
    }

    /// Opens a regular file.
    pub(crate) fn file(&self, path: &[u8]) -> Result<Got<Opened>, GitError> {
        self.got("open", path, self.try_file(path))
    }

    fn try_file(&self, path: &[u8]) -> Result<Opened, Errno> {
        let fd = self.open_at(path, FILE)?;
        // Checked on what was opened: the name may have been replaced since it was listed.
        let stat = fstat(&fd)?;
        if kind_of(stat.st_mode) != Kind::File {
            return Err(Errno::NOENT);
        }
        let mode = Mode::from_raw_mode(stat.st_mode);
        Ok(Opened {
            file: File::from(fd),
            size: u64::try_from(stat.st_size).unwrap_or(0),
            is_executable: mode.contains(Mode::XUSR),
            has_special_bits: mode.intersects(Mode::SUID | Mode::SGID | Mode::SVTX),
            identity: (widened(stat.st_dev), widened(stat.st_ino)),
            n_names: widened(stat.st_nlink),
        })
    }

    /// The target of a link, as it is recorded in it.
    pub(crate) fn link(&self, path: &[u8]) -> Result<Got<Vec<u8>>, GitError> {
        let (folder, name) = split(path);
        let target = self
            .folder(folder)
            .and_then(|fd| readlinkat(&fd, name, Vec::new()));
        self.got("read", path, target.map(std::ffi::CString::into_bytes))
    }

    /// Opens a folder.
    pub(crate) fn folder(&self, path: &[u8]) -> Result<OwnedFd, Errno> {
        self.open_at(path, FOLDER)
    }

    /// Opens what is at a path below the top; the empty path is the top itself.
    fn open_at(&self, path: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
        match self.way {
            #[cfg(target_os = "linux")]
            Way::Beneath => match open_beneath(&self.fd, path, flags) {
                // The path is longer than the kernel takes at once.
                Err(Errno::NAMETOOLONG) => self.open_by_names(path, flags),
                opened => opened,
            },
            Way::NameByName => self.open_by_names(path, flags),
        }
    }

    /// Opens a path one name at a time: `NOFOLLOW` protects only the last name of a path, so a
    /// longer one would follow links on its way.
    fn open_by_names(&self, path: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
        if path.is_empty() {
            return openat(&self.fd, ".", flags, Mode::empty());
        }
        let (folders, name) = split(path);
        let mut fd = openat(&self.fd, ".", FOLDER, Mode::empty())?;
        for folder in folders
            .split(|byte| *byte == b'/')
            .filter(|folder| !folder.is_empty())
        {
            fd = openat(&fd, folder, FOLDER, Mode::empty())?;
        }
        openat(&fd, name, flags, Mode::empty())
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
            // link `EINVAL`, and a socket or a device without a driver `ENXIO` or `ENODEV`.
            Err(
                Errno::NOENT
                | Errno::NOTDIR
                | Errno::LOOP
                | Errno::XDEV
                | Errno::INVAL
                | Errno::NXIO
                | Errno::NODEV,
            ) => Ok(Got::Gone),
            Err(error) => Err(failed(attempt, &self.shown(path))(io::Error::from(error))),
        }
    }
}

impl Way {
    /// Asks the kernel whether it can resolve a path beneath a folder. It may be too old, or a filter
    /// of system calls may refuse what it does not know.
    #[cfg(target_os = "linux")]
    fn of(top: &OwnedFd) -> Self {
        match open_beneath(top, b"", FOLDER) {
            Ok(_) => Self::Beneath,
            Err(_) => Self::NameByName,
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn of(_: &OwnedFd) -> Self {
        Self::NameByName
    }
}

/// Opens a path through no link of any kind, and nothing outside the folder.
#[cfg(target_os = "linux")]
fn open_beneath(top: &OwnedFd, path: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
    use rustix::fs::{ResolveFlags, openat2};
    /// Somebody renames folders at this very moment. That is over soon.
    const TRIES_MAX: u32 = 100;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let path = if path.is_empty() { b"." } else { path };
    let mut tries = 0;
    loop {
        tries += 1;
        match openat2(top, path, flags, Mode::empty(), resolve) {
            Err(Errno::AGAIN) if tries < TRIES_MAX => {}
            opened => return opened,
        }
    }
}

/// A number of the system's, whose width differs between systems.
fn widened(number: impl TryInto<u64>) -> u64 {
    number.try_into().unwrap_or(u64::MAX)
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

/// Whether this is how an overlay marks what was removed.
fn is_mark(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice && stat.st_rdev == 0
}

fn kind_of(mode: rustix::fs::RawMode) -> Kind {
    match FileType::from_raw_mode(mode) {
        FileType::Directory => Kind::Folder,
        FileType::RegularFile => Kind::File,
        FileType::Symlink => Kind::Link,
        _ => Kind::Special,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;
    use std::process::Command;

    use super::*;

    /// What came of reading a path, in a word.
    fn word<T>(got: Result<Got<T>, GitError>) -> &'static str {
        match got.expect("no fault") {
            Got::It(_) => "it",
            Got::Unreadable => "unreadable",
            Got::Gone => "gone",
        }
    }

    #[test]
    fn no_way_of_opening_follows_a_link_or_waits_for_anybody() {
        let scratch = tempfile::tempdir().expect("a folder");
        let (top, outside) = (scratch.path().join("top"), scratch.path().join("outside"));
        for folder in [&top, &top.join("a"), &top.join("a/b"), &outside] {
            fs::create_dir(folder).expect("made");
        }
        fs::write(top.join("a/b/file"), "x").expect("written");
        fs::write(outside.join("secret"), "x").expect("written");
        symlink(&outside, top.join("out")).expect("linked");
        symlink("../../../outside", top.join("a/b/up")).expect("linked");
        symlink("a", top.join("inside")).expect("linked");
        symlink("file", top.join("a/b/to-file")).expect("linked");
        let made = Command::new("mkfifo").arg(top.join("a/pipe")).status();
        assert!(made.expect("mkfifo runs").success());
        let _socket = UnixListener::bind(top.join("a/socket")).expect("bound");
        let best = Tree::open(&top).expect("opened");
        let by_names = Tree {
            way: Way::NameByName,
            ..Tree::open(&top).expect("opened")
        };
        // The kernel of a machine that tests run on is not older than 5.6.
        #[cfg(target_os = "linux")]
        assert_eq!(best.way, Way::Beneath);
        for tree in [best, by_names] {
            for (path, file, folder) in [
                ("", "gone", "it"),
                ("a/b/file", "it", "gone"),
                ("a/b", "gone", "it"),
                ("out", "gone", "gone"),
                ("out/secret", "gone", "gone"),
                ("a/b/up/secret", "gone", "gone"),
                ("inside/b/file", "gone", "gone"),
                ("inside/b", "gone", "gone"),
                ("a/b/to-file", "gone", "gone"),
                ("a/pipe", "gone", "gone"),
                ("a/socket", "gone", "gone"),
                ("a/nothing", "gone", "gone"),
                ("../outside", "gone", "gone"),
            ] {
                // Only names that were listed are ever asked for, and none of them is `..`.
                if tree.way == Way::NameByName && path.starts_with("..") {
                    continue;
                }
                let path = path.as_bytes();
                let seen = (word(tree.file(path)), word(tree.list(path, 10)));
                assert_eq!(seen, (file, folder), "{:?} {:?}", tree.way, as_path(path));
            }
        }
    }

    #[test]
    fn only_so_many_names_are_listed() {
        let scratch = tempfile::tempdir().expect("a folder");
        for number in 0..10 {
            fs::write(scratch.path().join(number.to_string()), "").expect("written");
        }
        let tree = Tree::open(scratch.path()).expect("opened");
        for (names_max, expected) in [(0, 1), (5, 6), (9, 10), (10, 10), (100, 10)] {
            let Got::It(listing) = tree.list(b"", names_max).expect("listed") else {
                panic!("it is there")
            };
            assert_eq!(listing.names.len(), expected, "{names_max}");
        }
    }

    #[test]
    fn pipes_sockets_and_devices_are_special() {
        for (kind, expected) in [
            (FileType::RegularFile, Kind::File),
            (FileType::Directory, Kind::Folder),
            (FileType::Symlink, Kind::Link),
            (FileType::Fifo, Kind::Special),
            (FileType::Socket, Kind::Special),
            (FileType::CharacterDevice, Kind::Special),
            (FileType::BlockDevice, Kind::Special),
        ] {
            assert_eq!(kind_of(kind.as_raw_mode() | 0o644), expected, "{kind:?}");
        }
    }
}
