//! Removes folders that an agent worked in, whatever it did to their rights and however deep they are.
//!
//! A tree of a million levels needs no more of our memory for each level than its names, and two open
//! folders altogether: we go down and up again by name, without following a link. On the way up it is
//! checked that we are where we came from, so that nothing outside is touched even if somebody moves
//! folders meanwhile. Where something is mounted below, the removal ends there with an error.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, chmod, fstat, openat, statat, unlinkat,
};
use rustix::io::Errno;

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Removes a folder and all below it; one that is not there is no fault. A link is removed itself.
pub fn remove_folder(folder: &Path) -> io::Result<()> {
    match remove(folder) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// A folder that is being emptied.
struct Level {
    /// Its name in the folder above.
    name: CString,
    /// Its device and number on it.
    identity: (u64, u64),
    /// The folders in it that are not removed yet.
    folders: Vec<CString>,
}

fn remove(top: &Path) -> Result<(), Errno> {
    let stat = statat(CWD, top, AtFlags::SYMLINK_NOFOLLOW)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => {}
        FileType::Symlink => return unlinkat(CWD, top, AtFlags::empty()),
        // Nothing of ours: it stands where a folder belongs.
        _ => return Err(Errno::NOTDIR),
    }
    let name = CString::new(top.as_os_str().as_encoded_bytes()).map_err(|_| Errno::INVAL)?;
    let (mut here, level) = enter(None, name, None)?;
    let mount = mount_of(&here);
    let mut levels = vec![level];
    while let Some(level) = levels.last_mut() {
        if let Some(name) = level.folders.pop() {
            let (inside, level) = enter(Some(&here), name, mount)?;
            here = inside;
            levels.push(level);
            continue;
        }
        let Some(Level { name, .. }) = levels.pop() else {
            break;
        };
        let Some(above) = levels.last() else {
            break;
        };
        let back = openat(&here, "..", FOLDER, Mode::empty())?;
        if identity(&back)? != above.identity {
            return Err(Errno::BUSY);
        }
        here = back;
        unlinkat(&here, &name, AtFlags::REMOVEDIR)?;
    }
    unlinkat(CWD, top, AtFlags::REMOVEDIR)
}

/// Opens a folder and removes everything in it that is no folder. What somebody mounted there is of
/// another place, and nothing of it is ours to remove.
fn enter(
    above: Option<&OwnedFd>,
    name: CString,
    mount: Option<u64>,
) -> Result<(OwnedFd, Level), Errno> {
    let here = open(above, &name)?;
    if mount.is_some() && mount_of(&here) != mount {
        return Err(Errno::XDEV);
    }
    let identity = identity(&here)?;
    let mut folders = Vec::new();
    for entry in Dir::read_from(&here)? {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        match unlinkat(&here, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            // Linux says the first of a folder, other systems the second.
            Err(Errno::ISDIR | Errno::PERM) => folders.push(name.to_owned()),
            Err(error) => return Err(error),
        }
    }
    let level = Level {
        name,
        identity,
        folders,
    };
    Ok((here, level))
}

/// Opens a folder whose owner may have taken all rights from it.
fn open(above: Option<&OwnedFd>, name: &CStr) -> Result<OwnedFd, Errno> {
    let open = |flags: OFlags| match above {
        Some(above) => openat(above, name, flags, Mode::empty()),
        None => openat(CWD, name, flags, Mode::empty()),
    };
    if let Ok(opened) = open(FOLDER) {
        // Without the right to write, nothing in it can be removed.
        let mode = Mode::from_raw_mode(fstat(&opened)?.st_mode);
        if mode.contains(Mode::RWXU) {
            return Ok(opened);
        }
    }
    // By the descriptor and not by the name, which may be a link by now.
    #[cfg(target_os = "linux")]
    {
        let held = open(OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC)?;
        chmod(format!("/proc/self/fd/{}", held.as_raw_fd()), Mode::RWXU)?;
    }
    open(FOLDER)
}

/// What a folder is mounted from, where the kernel says so. A folder that is shown at a second place has
/// the same device and number there.
fn mount_of(folder: &OwnedFd) -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{StatxFlags, statx};
        let found = statx(folder, c"", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID).ok()?;
        (found.stx_mask & StatxFlags::MNT_ID.bits() != 0).then_some(found.stx_mnt_id)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = folder;
        None
    }
}

fn identity(folder: &OwnedFd) -> Result<(u64, u64), Errno> {
    let stat = fstat(folder)?;
    Ok((stat.st_dev, stat.st_ino))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use rustix::fs::mkdirat;

    use super::*;

    #[test]
    fn a_folder_without_rights_and_with_links_is_removed_and_nothing_else() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let (folder, victim) = (
            scratch.path().join("checkout"),
            scratch.path().join("victim"),
        );
        fs::create_dir_all(folder.join("a/b")).expect("made");
        fs::create_dir_all(folder.join("c/d/e")).expect("made");
        fs::write(folder.join("c/d/e/f"), "x").expect("written");
        fs::create_dir(&victim).expect("made");
        fs::write(victim.join("file"), "precious").expect("written");
        symlink(&victim, folder.join("a/link")).expect("linked");
        symlink(victim.join("file"), folder.join("c/d/to-file")).expect("linked");
        for (path, mode) in [("a", 0o000), ("c/d/e", 0o500), ("c", 0o400)] {
            fs::set_permissions(folder.join(path), fs::Permissions::from_mode(mode))
                .expect("mode set");
        }
        remove_folder(&folder).expect("removed");
        remove_folder(&folder).expect("removing it again is no fault");
        assert!(!folder.exists());
        // A link in the place of the folder goes, and what it leads to stays.
        symlink(&victim, &folder).expect("linked");
        remove_folder(&folder).expect("removed");
        assert!(fs::symlink_metadata(&folder).is_err());
        let kept = fs::read_to_string(victim.join("file")).expect("read");
        assert_eq!(kept, "precious");
    }

    #[test]
    fn a_deep_tree_needs_no_deep_stack() {
        const STACK_BYTES: usize = 128 * 1024;
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let folder = scratch.path().join("checkout");
        fs::create_dir(&folder).expect("made");
        let mut at = openat(CWD, &folder, FOLDER, Mode::empty()).expect("opened");
        for level in 0..1_500 {
            if level % 100 == 0 {
                mkdirat(&at, "beside", Mode::RWXU).expect("made");
            }
            mkdirat(&at, "d", Mode::RWXU).expect("made");
            at = openat(&at, "d", FOLDER, Mode::empty()).expect("opened");
        }
        let removed = folder.clone();
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        let thread = thread.spawn(move || remove_folder(&removed));
        let result = thread.expect("a thread").join().expect("it ended");
        result.expect("removed");
        assert!(!folder.exists());
    }
}
