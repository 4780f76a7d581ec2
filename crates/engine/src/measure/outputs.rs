//! Built outputs as files: the folders in which cargo builds, their times, and how they are moved.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Everything of cargo's is this much older than it was. So a file of the tree that one of these
/// outputs was made from is always newer, whenever it was written, and cargo makes the output again.
pub(super) const OLDER_BY: Duration = Duration::from_hours(24 * 365 * 10);

/// A folder of one profile, perhaps for another machine.
pub(super) struct BuildFolder {
    pub(super) place: PathBuf,
    profile: String,
    machine: Option<String>,
}

impl BuildFolder {
    pub(super) fn options(&self) -> String {
        let profile = match self.profile.as_str() {
            "debug" => "dev",
            other => other,
        };
        let machine = self
            .machine
            .as_ref()
            .map(|machine| format!(" --target '{machine}'"));
        format!("--profile '{profile}'{}", machine.unwrap_or_default())
    }
}

pub(super) fn build_folders(target: &Path) -> io::Result<Vec<BuildFolder>> {
    let mut found = Vec::new();
    for (name, place) in folders_in(target)? {
        if place.join(".fingerprint").is_dir() {
            found.push(BuildFolder {
                place,
                profile: name,
                machine: None,
            });
            continue;
        }
        for (profile, place) in folders_in(&place)? {
            if place.join(".fingerprint").is_dir() {
                found.push(BuildFolder {
                    place,
                    profile,
                    machine: Some(name.clone()),
                });
            }
        }
    }
    Ok(found)
}

pub(super) fn folders_in(folder: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            let name = entry.file_name().to_string_lossy().into_owned();
            found.push((name, entry.path()));
        }
    }
    Ok(found)
}

/// Moves a folder, or copies it where it lies on another file system.
pub(super) fn take(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => copy(from, to),
        moved => moved,
    }
}

/// Copies a folder with times, rights and links as they are.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy(&entry.path(), &target)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(entry.path())?, &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &target)?;
            let at = entry.metadata()?.modified()?;
            File::options()
                .write(true)
                .open(&target)?
                .set_modified(at)?;
        }
    }
    let found = fs::metadata(from)?;
    fs::set_permissions(to, found.permissions())
}

/// Makes every file older, all by the same time, so that what was newer than another still is.
pub(super) fn age(folder: &Path) -> io::Result<()> {
    each_file(folder, &mut |path, found| {
        let at = found.modified()?;
        let at = at.checked_sub(OLDER_BY).unwrap_or(SystemTime::UNIX_EPOCH);
        set_time(path, at)
    })
}

/// Sets the time of a file that we may not be allowed to open.
pub(super) fn set_time(path: &Path, at: SystemTime) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};
    // Packages are published with files of the first second of 1970, and what is made older than those
    // lies before it.
    let (secs, nanos) = match at.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => (signed_secs(after)?, after.subsec_nanos()),
        Err(before) => match (
            signed_secs(before.duration())?,
            before.duration().subsec_nanos(),
        ) {
            (secs, 0) => (-secs, 0),
            (secs, nanos) => (-secs - 1, 1_000_000_000 - nanos),
        },
    };
    let time = Timespec {
        tv_sec: secs,
        tv_nsec: nanos.into(),
    };
    let times = Timestamps {
        last_access: time,
        last_modification: time,
    };
    utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW).map_err(io::Error::from)
}

fn signed_secs(span: Duration) -> io::Result<i64> {
    i64::try_from(span.as_secs()).map_err(io::Error::other)
}

/// A tool would believe an output that is newer than any source for ever.
pub(super) fn refuse_future(folder: &Path) -> io::Result<()> {
    let now = SystemTime::now() + Duration::from_secs(1);
    each_file(folder, &mut |path, found| {
        if found.modified()? > now {
            let why = format!("`{}` has a time that has not come", path.display());
            return Err(io::Error::other(why));
        }
        Ok(())
    })
}

pub(super) fn each_file(
    folder: &Path,
    look: &mut dyn FnMut(&Path, &fs::Metadata) -> io::Result<()>,
) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let found = entry.metadata()?;
        // Layers take a device for the mark of something that is gone.
        let is_odd = !found.is_dir() && !found.is_file() && !found.is_symlink();
        if is_odd || (found.is_file() && found.mode() & 0o6000 != 0) {
            let name = OsStr::from_bytes(entry.file_name().as_bytes()).to_owned();
            return Err(io::Error::other(format!(
                "{} is no plain file",
                name.display()
            )));
        }
        if found.is_dir() {
            each_file(&entry.path(), look)?;
        }
        look(&entry.path(), &found)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(top: &Path, paths: &[&str]) {
        for path in paths {
            fs::write(top.join(path), "x").expect("written");
        }
    }

    #[test]
    fn a_roots_times_are_old_and_keep_their_order() {
        let scratch = tempfile::tempdir().expect("a folder");
        write(scratch.path(), &["a", "b"]);
        let now = SystemTime::now();
        let time =
            |name: &str| fs::metadata(scratch.path().join(name)).and_then(|it| it.modified());
        set_time(&scratch.path().join("b"), now - Duration::from_secs(5)).expect("set");
        age(scratch.path()).expect("aged");
        let (a, b) = (time("a").expect("a time"), time("b").expect("a time"));
        assert!(a > b);
        assert!(a < now - OLDER_BY + Duration::from_hours(1));
        refuse_future(scratch.path()).expect("nothing of the future");
        set_time(&scratch.path().join("a"), now + Duration::from_hours(1)).expect("set");
        assert!(refuse_future(scratch.path()).is_err());
    }

    #[test]
    fn files_of_the_first_second_there_was_are_made_older_too() {
        let scratch = tempfile::tempdir().expect("a folder");
        write(scratch.path(), &["first", "second"]);
        let set = |name: &str, at| set_time(&scratch.path().join(name), at).expect("set");
        let second = SystemTime::UNIX_EPOCH + Duration::from_millis(1500);
        set("first", SystemTime::UNIX_EPOCH);
        set("second", second);
        age(scratch.path()).expect("aged");
        for (name, before) in [("first", SystemTime::UNIX_EPOCH), ("second", second)] {
            let found = fs::metadata(scratch.path().join(name)).and_then(|it| it.modified());
            assert_eq!(found.expect("a time"), before - OLDER_BY, "{name}");
        }
    }
}
