//! Tells whether a folder of ours is as it was when it was finished.
//!
//! Nobody can set back the time at which a file's content, name or rights were changed last. So it is
//! enough to note the time once, and to look for anything later. Reading changes nothing, and neither
//! does the use as the lower layer of an overlay.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime};

/// How long to wait for the kernel's clock for files, which goes in steps of some milliseconds.
const TICK: Duration = Duration::from_millis(1);
const TICKS_MAX: u32 = 200;

/// Notes, in a file with this text, that everything in `folder` is finished. Its own time is the seal.
pub fn seal(folder: &Path, note: &Path, text: &str) -> io::Result<()> {
    debug_assert!(
        !note.starts_with(folder),
        "a note inside would break its seal"
    );
    let write = || -> io::Result<Seal> {
        fs::write(note, text)?;
        Ok(changed(&fs::symlink_metadata(note)?))
    };
    // Nothing in the folder was changed later than now, but perhaps in the same step of the clock.
    let now = write()?;
    for _ in 0..TICKS_MAX {
        thread::sleep(TICK);
        if write()? > now {
            break;
        }
    }
    Ok(())
}

/// The time of a seal: of the last change of its note, in seconds and their billionths.
pub(crate) type Seal = (i64, i64);

/// The time of a seal, if it is there and believable.
pub(crate) fn read_seal(note: &Path) -> io::Result<Option<Seal>> {
    match fs::symlink_metadata(note) {
        // A clock that went back would give changes a time before the seal.
        Ok(found) if found.modified()? > SystemTime::now() => Ok(None),
        Ok(found) => Ok(Some(changed(&found))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether nothing in `folder` has changed since the note was made.
pub fn is_sealed(folder: &Path, note: &Path) -> io::Result<bool> {
    match read_seal(note)? {
        Some(seal) => is_unchanged_since(seal, folder),
        None => Ok(false),
    }
}

/// Whether everything in `folder` was changed before the seal for the last time.
pub(crate) fn is_unchanged_since(seal: Seal, folder: &Path) -> io::Result<bool> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        if changed(&fs::symlink_metadata(&folder)?) >= seal {
            return Ok(false);
        }
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let found = entry.metadata()?;
            if found.is_dir() {
                folders.push(entry.path());
            } else if changed(&found) >= seal {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

fn changed(found: &fs::Metadata) -> Seal {
    (found.ctime(), found.ctime_nsec())
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn every_change_breaks_a_seal_and_reading_does_not() {
        type Deed = fn(&Path) -> io::Result<()>;
        let deeds: [(&str, Deed, bool); 9] = [
            ("nothing", |_| Ok(()), true),
            ("read", |top| fs::read(top.join("a/b")).map(drop), true),
            ("edited", |top| fs::write(top.join("a/b"), "y"), false),
            ("edited, with its old time", edit_with_old_time, false),
            ("removed", |top| fs::remove_file(top.join("a/b")), false),
            ("added", |top| fs::write(top.join("a/c"), ""), false),
            (
                "renamed",
                |top| fs::rename(top.join("a"), top.join("z")),
                false,
            ),
            ("made executable", make_executable, false),
            ("the clock goes back", set_clock_back, false),
        ];
        for (what, deed, expected) in deeds {
            let scratch = tempfile::tempdir().expect("a folder");
            let (top, note) = (scratch.path().join("top"), scratch.path().join("note"));
            fs::create_dir_all(top.join("a")).expect("made");
            fs::write(top.join("a/b"), "x").expect("written");
            assert!(!is_sealed(&top, &note).expect("looked"), "before the seal");
            seal(&top, &note, "").expect("sealed");
            deed(&top).expect(what);
            assert_eq!(is_sealed(&top, &note).expect("looked"), expected, "{what}");
        }
    }

    fn edit_with_old_time(top: &Path) -> io::Result<()> {
        let file = top.join("a/b");
        let at = fs::metadata(&file)?.modified()?;
        fs::write(&file, "y")?;
        File::options().write(true).open(&file)?.set_modified(at)
    }

    fn set_clock_back(top: &Path) -> io::Result<()> {
        let note = File::options()
            .write(true)
            .open(top.with_file_name("note"))?;
        note.set_modified(SystemTime::now() + Duration::from_hours(1))
    }

    fn make_executable(top: &Path) -> io::Result<()> {
        fs::set_permissions(top.join("a/b"), fs::Permissions::from_mode(0o755))
    }
}
