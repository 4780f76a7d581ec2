//! Writes files into a folder that an agent may have written to: never through a link, so that
//! nothing outside of the folder is ever touched.

use std::io;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, renameat, unlinkat};
use rustix::io::Errno;

/// The name of a file until it is whole.
const SCRATCH: &str = ".loopwright-new";

/// Writes a file below a folder, readable by us alone. Links and other things in the way are replaced,
/// never followed.
pub(crate) fn write_beneath(root: &Path, relative: &Path, bytes: &[u8]) -> io::Result<()> {
    let parts: Option<Vec<_>> = relative
        .components()
        .map(|part| match part {
            Component::Normal(name) => Some(name),
            _ => None,
        })
        .collect();
    let parts = parts.ok_or(io::ErrorKind::InvalidInput)?;
    let (name, folders) = parts.split_last().ok_or(io::ErrorKind::InvalidInput)?;
    let mut folder = rustix::fs::open(root, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    for part in folders {
        folder = open_folder(&folder, Path::new(part))?;
    }
    let _ = unlinkat(&folder, SCRATCH, AtFlags::empty());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(&folder, SCRATCH, flags, Mode::from_raw_mode(0o600))?;
    std::fs::File::from(file).write_all(bytes)?;
    match renameat(&folder, SCRATCH, &folder, *name) {
        // A folder stands where the file belongs; only an agent can have made it.
        Err(Errno::ISDIR) => {
            let _ = unlinkat(&folder, SCRATCH, AtFlags::empty());
            Err(io::ErrorKind::IsADirectory.into())
        }
        renamed => Ok(renamed?),
    }
}

/// Opens a folder below another, made if it is not there.
fn open_folder(parent: &OwnedFd, name: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let open = || openat(parent, name, flags, Mode::empty());
    match open() {
        Err(Errno::NOENT) => {}
        Err(Errno::NOTDIR | Errno::LOOP) => unlinkat(parent, name, AtFlags::empty())?,
        opened => return Ok(opened?),
    }
    match mkdirat(parent, name, Mode::from_raw_mode(0o700)) {
        Ok(()) | Err(Errno::EXIST) => Ok(open()?),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn i09_what_we_write_into_an_agents_home_never_goes_through_its_links() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let (root, outside) = (scratch.path().join("home"), scratch.path().join("outside"));
        fs::create_dir_all(&root).expect("made");
        fs::create_dir_all(&outside).expect("made");
        fs::write(outside.join("theirs"), "the operator's").expect("written");
        let link = |from: &str, to: &Path| {
            std::os::unix::fs::symlink(to, root.join(from)).expect("linked");
        };
        link("config.toml", &outside.join("theirs"));
        link("sub", &outside);
        link(SCRATCH, &outside.join("theirs"));
        for path in ["config.toml", "sub/theirs", "sub/deep/new"] {
            write_beneath(&root, Path::new(path), b"ours").expect("written");
            assert_eq!(fs::read(root.join(path)).expect("read"), b"ours", "{path}");
        }
        assert_eq!(
            fs::read_to_string(outside.join("theirs")).expect("read"),
            "the operator's"
        );
        assert_eq!(fs::read_dir(&outside).expect("read").count(), 1);
        for path in ["../up", "/etc/x", ""] {
            assert!(
                write_beneath(&root, Path::new(path), b"x").is_err(),
                "{path}"
            );
        }
    }
}
