//! Takes out of a used checkout whatever is not the very file that we wrote and that is wanted.
//!
//! Nothing is decided by content, name or anything else that an agent could write: a file stays only if
//! the kernel says that nobody has touched it ([`Stamps`]). Folders that are not wanted are moved aside
//! without a look into them, so neither their depth nor their rights matter. Whatever is odd (something
//! is mounted there, a name cannot be removed) ends the work with an error, and the caller makes a
//! fresh checkout.

use std::collections::BTreeSet;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, IFlags, Mode, StatxFlags, chmodat, flistxattr, fstat, ioctl_getflags, openat,
    renameat, statat, statx, unlinkat,
};
use rustix::io::Errno;

use crate::entry::{Entries, above};
use crate::stamps::{FOLDER, Stamp, Stamps, names_in};

/// What every file has where the system labels files. It says nothing that an agent chose.
const LABEL: &[u8] = b"security.selinux";

/// A folder in which `README` and `readme` are one name.
const CASE_FOLDED: IFlags = IFlags::from_bits_retain(0x4000_0000);

/// Takes out everything that is not wanted as it was written, or that was touched since. Folders are moved
/// into `aside`, which must be an empty folder on the same file system. Says which of the wanted files
/// are there.
pub(crate) fn take_out(
    top: &Path,
    stamps: &Stamps,
    written: &Entries,
    wanted: &Entries,
    aside: &Path,
) -> Result<BTreeSet<Vec<u8>>, Errno> {
    let here = openat(CWD, top, FOLDER, Mode::empty())?;
    let aside = openat(CWD, aside, FOLDER, Mode::empty())?;
    let mut mend = Mend {
        stamps,
        written,
        wanted,
        folders: wanted.keys().flat_map(|path| above(path)).collect(),
        ordinary: flags(&aside)?,
        mount: mount_of(here.as_fd())?,
        aside,
        n_aside: 0,
        there: BTreeSet::new(),
    };
    if !mend.is_as_it_was(here.as_fd(), &[])? {
        return Err(Errno::INVAL);
    }
    mend.go_through(here.as_fd(), &[])?;
    Ok(mend.there)
}

struct Mend<'a> {
    stamps: &'a Stamps,
    /// What the stamps are of.
    written: &'a Entries,
    wanted: &'a Entries,
    /// The folders that the wanted files lie in.
    folders: BTreeSet<&'a [u8]>,
    /// The flags of a folder that we have made.
    ordinary: IFlags,
    /// What the top is mounted from.
    mount: u64,
    aside: OwnedFd,
    n_aside: u64,
    there: BTreeSet<Vec<u8>>,
}

impl Mend<'_> {
    fn go_through(&mut self, here: BorrowedFd<'_>, prefix: &[u8]) -> Result<(), Errno> {
        for name in names_in(here)? {
            let path = [prefix, &name].concat();
            let stamp = Stamp::of(&statat(here, &*name, AtFlags::SYMLINK_NOFOLLOW)?);
            if stamp.is_folder() {
                self.look_at_folder(here, &name, &path)?;
            } else if self.is_wanted_as_written(&path) && self.stamps.get(&path) == Some(&stamp) {
                self.there.insert(path);
            } else {
                unlinkat(here, &*name, AtFlags::empty())?;
            }
        }
        Ok(())
    }

    fn is_wanted_as_written(&self, path: &[u8]) -> bool {
        let wanted = self.wanted.get(path);
        wanted.is_some() && wanted == self.written.get(path)
    }

    fn look_at_folder(
        &mut self,
        here: BorrowedFd<'_>,
        name: &[u8],
        path: &[u8],
    ) -> Result<(), Errno> {
        if self.folders.contains(path) {
            match openat(here, name, FOLDER, Mode::empty()) {
                Ok(inside) if self.is_as_it_was(inside.as_fd(), path)? => {
                    let prefix = [path, &b"/"[..]].concat();
                    return self.go_through(inside.as_fd(), &prefix);
                }
                Ok(_) | Err(Errno::ACCESS) => {}
                Err(error) => return Err(error),
            }
        }
        self.move_aside(here, name)
    }

    /// Whether an open folder is one that we made, with nothing about it that we did not give it. What is
    /// in it is another question.
    fn is_as_it_was(&self, folder: BorrowedFd<'_>, path: &[u8]) -> Result<bool, Errno> {
        if mount_of(folder)? != self.mount {
            return Err(Errno::XDEV);
        }
        let now = Stamp::of(&fstat(folder)?);
        match self.stamps.get(path) {
            Some(before) if *before == now => Ok(true),
            Some(before) if before.is_same_folder(&now) => {
                Ok(has_no_attributes(folder)? && flags(folder)? == self.ordinary)
            }
            Some(_) | None => Ok(false),
        }
    }

    fn move_aside(&mut self, here: BorrowedFd<'_>, name: &[u8]) -> Result<(), Errno> {
        self.n_aside += 1;
        let number = self.n_aside.to_string();
        match renameat(here, name, &self.aside, &*number) {
            // A folder that we may not write to cannot be moved, since its `..` changes.
            Err(Errno::ACCESS) => {
                chmodat(here, name, Mode::RWXU, AtFlags::empty())?;
                renameat(here, name, &self.aside, &*number)
            }
            moved => moved,
        }
    }
}

/// What a folder is mounted from: a folder that is shown at a second place has the same device and is
/// told only by this.
fn mount_of(folder: BorrowedFd<'_>) -> Result<u64, Errno> {
    let found = statx(folder, c"", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID)?;
    if found.stx_mask & StatxFlags::MNT_ID.bits() == 0 {
        return Err(Errno::NOSYS);
    }
    Ok(found.stx_mnt_id)
}

/// Whether a folder has neither access lists nor other attributes.
fn has_no_attributes(folder: BorrowedFd<'_>) -> Result<bool, Errno> {
    let mut names = [0_u8; 4096];
    let length = match flistxattr(folder, &mut names[..]) {
        Ok(length) => length,
        Err(Errno::OPNOTSUPP) => 0,
        Err(error) => return Err(error),
    };
    let mut names = names[..length].split(|byte| *byte == 0);
    Ok(names.all(|name| name.is_empty() || name == LABEL))
}

/// The flags of a folder that somebody may have set: immutable, only to be appended to, and so on. Those
/// that a file system sets by itself, such as the one for large folders, are left out.
fn flags(folder: impl std::os::fd::AsFd) -> Result<IFlags, Errno> {
    let settable = IFlags::IMMUTABLE
        | IFlags::APPEND
        | IFlags::COMPRESSED
        | IFlags::DIRSYNC
        | IFlags::NOATIME
        | IFlags::NOCOW
        | IFlags::NODUMP
        | IFlags::PROJECT_INHERIT
        | IFlags::SECURE_REMOVAL
        | IFlags::SYNC
        | IFlags::TOPDIR
        | IFlags::UNRM
        | IFlags::JOURNALING
        | IFlags::NOTAIL
        | CASE_FOLDED;
    match ioctl_getflags(folder) {
        Ok(flags) => Ok(flags & settable),
        Err(Errno::NOTTY | Errno::OPNOTSUPP | Errno::INVAL) => Ok(IFlags::empty()),
        Err(error) => Err(error),
    }
}
