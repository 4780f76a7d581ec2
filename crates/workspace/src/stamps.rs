//! What the kernel says of the files of a checkout that we have just written.
//!
//! Nobody can set back the time at which a file's content, name or rights were changed last. So a file
//! that has the same number and the same time as before is the very file that we wrote. Two times are
//! compared for being equal, not for their order: a clock that goes back makes nothing look untouched.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, openat, statat};
use rustix::io::Errno;

/// The kernel's clock for files may go in steps of so long.
const STEP: Duration = Duration::from_millis(10);

pub(crate) const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// What the kernel says of one file or folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    device: u64,
    number: u64,
    /// Its kind and its rights.
    mode: u32,
    owner: (u32, u32),
    /// How many names it has; of a folder this goes by what is in it, and zero is kept.
    n_names: u64,
    /// In bytes; of a folder zero is kept, for the same reason.
    size: i64,
    /// When it was changed last, in seconds and their billionths.
    changed: (i64, i64),
}

impl Stamp {
    #[expect(
        clippy::unnecessary_cast,
        clippy::cast_possible_wrap,
        reason = "the types differ between the systems that we are built for"
    )]
    pub(crate) fn of(stat: &Stat) -> Self {
        let is_folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        Self {
            device: stat.st_dev as u64,
            number: stat.st_ino as u64,
            mode: stat.st_mode as u32,
            owner: (stat.st_uid, stat.st_gid),
            n_names: if is_folder { 0 } else { stat.st_nlink as u64 },
            size: if is_folder { 0 } else { stat.st_size as i64 },
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }

    pub(crate) fn is_folder(&self) -> bool {
        self.kind() == FileType::Directory
    }

    pub(crate) fn kind(&self) -> FileType {
        FileType::from_raw_mode(self.mode)
    }

    /// Whether its owner may execute it.
    pub(crate) fn is_executable(&self) -> bool {
        self.mode & 0o100 != 0
    }

    /// Whether this is the same folder, with the same rights and owner, whatever is in it now.
    pub(crate) fn is_same_folder(&self, other: &Self) -> bool {
        let without_time = |stamp: &Self| Self {
            changed: (0, 0),
            ..*stamp
        };
        without_time(self) == without_time(other)
    }

    fn line(&self) -> String {
        format!(
            "{} {} {:o} {} {} {} {} {} {}",
            self.device,
            self.number,
            self.mode,
            self.owner.0,
            self.owner.1,
            self.n_names,
            self.size,
            self.changed.0,
            self.changed.1
        )
    }

    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let stamp = Self {
            device: words.next()?.parse().ok()?,
            number: words.next()?.parse().ok()?,
            mode: u32::from_str_radix(words.next()?, 8).ok()?,
            owner: (words.next()?.parse().ok()?, words.next()?.parse().ok()?),
            n_names: words.next()?.parse().ok()?,
            size: words.next()?.parse().ok()?,
            changed: (words.next()?.parse().ok()?, words.next()?.parse().ok()?),
        };
        words.next().is_none().then_some(stamp)
    }
}

/// The stamps of everything in a folder by path; the folder itself has the empty path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stamps(BTreeMap<Vec<u8>, Stamp>);

impl Stamps {
    /// Looks at a folder that nobody but us has written to. Whatever is changed after that has another
    /// time.
    pub(crate) fn take(top: &Path) -> Result<Self, Errno> {
        let began = Instant::now();
        let mut stamps = BTreeMap::new();
        let here = openat(CWD, top, FOLDER, Mode::empty())?;
        stamps.insert(Vec::new(), Stamp::of(&rustix::fs::fstat(&here)?));
        look_into(here.as_fd(), &[], &mut stamps)?;
        // The last file was written before we began.
        thread::sleep(STEP.saturating_sub(began.elapsed()));
        Ok(Self(stamps))
    }

    pub(crate) fn get(&self, path: &[u8]) -> Option<&Stamp> {
        self.0.get(path)
    }

    /// Everything that is no folder.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&Vec<u8>, &Stamp)> {
        self.0.iter().filter(|(_, stamp)| !stamp.is_folder())
    }

    /// Writes the list to a file; `name` says of which tree it is.
    pub(crate) fn write(&self, name: &str, file: &Path) -> io::Result<()> {
        let mut text = io::BufWriter::new(fs::File::create(file)?);
        write!(text, "{name}\0")?;
        for (path, stamp) in &self.0 {
            write!(text, "{}\0", stamp.line())?;
            text.write_all(path)?;
            text.write_all(&[0])?;
        }
        text.write_all(b"end\0")?;
        text.flush()
    }

    /// Reads the name and the list; none where it is not whole.
    pub(crate) fn read(file: &Path) -> Option<(String, Self)> {
        let bytes = fs::read(file).ok()?;
        let mut fields = bytes.split(|byte| *byte == 0);
        let name = String::from_utf8(fields.next()?.to_vec()).ok()?;
        let mut stamps = BTreeMap::new();
        loop {
            let line = std::str::from_utf8(fields.next()?).ok()?;
            if line == "end" {
                return Some((name, Self(stamps)));
            }
            stamps.insert(fields.next()?.to_vec(), Stamp::parse(line)?);
        }
    }
}

fn look_into(
    here: BorrowedFd<'_>,
    prefix: &[u8],
    stamps: &mut BTreeMap<Vec<u8>, Stamp>,
) -> Result<(), Errno> {
    for name in names_in(here)? {
        let path = [prefix, &name].concat();
        let stamp = Stamp::of(&statat(here, &*name, AtFlags::SYMLINK_NOFOLLOW)?);
        stamps.insert(path.clone(), stamp);
        if stamp.is_folder() {
            let inside: OwnedFd = openat(here, &*name, FOLDER, Mode::empty())?;
            look_into(inside.as_fd(), &[&path, &b"/"[..]].concat(), stamps)?;
        }
    }
    Ok(())
}

/// The names in an open folder.
pub(crate) fn names_in(here: BorrowedFd<'_>) -> Result<Vec<Vec<u8>>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(here)? {
        let name = entry?.file_name().to_bytes().to_vec();
        if name != b"." && name != b".." {
            names.push(name);
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    #[test]
    fn a_list_is_read_as_it_was_written_or_not_at_all() {
        let scratch = tempfile::tempdir().expect("a folder");
        let (top, file) = (scratch.path().join("top"), scratch.path().join("list"));
        let odd = std::ffi::OsStr::from_bytes(b"a\nb \xff");
        fs::create_dir_all(top.join("in")).expect("made");
        fs::write(top.join("in").join(odd), "x").expect("written");
        fs::write(top.join("end"), "").expect("written");
        let stamps = Stamps::take(&top).expect("stamps");
        stamps.write("tree", &file).expect("written");
        assert_eq!(Stamps::read(&file), Some(("tree".to_owned(), stamps)));
        let whole = fs::read(&file).expect("read");
        for length in 0..whole.len() - 1 {
            fs::write(&file, &whole[..length]).expect("written");
            assert_eq!(Stamps::read(&file), None, "cut at {length}");
        }
    }
}
