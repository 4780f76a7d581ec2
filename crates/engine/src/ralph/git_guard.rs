//! The person's repository in a jail: an agent commits there as it likes, and cannot write anything by
//! which git would run a program outside or look for its files elsewhere.
//!
//! Whatever is guarded is a mount of its own, so that it can neither be written nor be moved away with
//! the folder around it. A file that is not there could be made inside; where git would read it, an
//! innocent one is put in its place as long as jails need it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use sandbox::{Access, Mount};

use crate::fault::Fault;

/// Names the folder that all work trees share. Any git folder may have one, and git then reads its
/// configuration from there.
const COMMON: &str = "commondir";
/// This very folder.
const HERE: &str = ".\n";
/// Git reads it where the configuration says so.
const OF_WORK_TREE: &str = "config.worktree";

/// Keeps the innocent files in a repository while some `ralph` needs them.
#[derive(Debug)]
pub(super) struct GitGuard {
    /// What was put, with its text.
    files: Vec<(PathBuf, &'static str)>,
    lock: File,
}

impl GitGuard {
    /// Puts the files where they are missing: in the folder that all work trees share, and in that of
    /// the work tree at `root`, where it is a linked one.
    pub(super) fn put(root: &Path, common: &Path) -> Result<Self, Fault> {
        let shared = common.join(COMMON);
        let lock = hold(&shared).map_err(|error| Fault::io("guard", common, error))?;
        let mut files = vec![(shared, HERE), (common.join(OF_WORK_TREE), "")];
        let link = root.join(".git");
        if link.is_file() {
            files.push((git_folder(&link)?.join(OF_WORK_TREE), ""));
        }
        for (file, _) in &files {
            touch(file)?;
        }
        Ok(Self { files, lock })
    }
}

impl Drop for GitGuard {
    /// The last one takes the files away again, if they are as they were put there.
    fn drop(&mut self) {
        if flock(&self.lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            return;
        }
        // The one that is locked comes last.
        for (file, text) in self.files.iter().rev() {
            if fs::read_to_string(file).is_ok_and(|found| found == *text) {
                let _ = fs::remove_file(file);
            }
        }
    }
}

/// Opens the file, which is made if it is missing, and holds it together with others that do. Whoever
/// was the last may have removed it meanwhile.
fn hold(path: &Path) -> io::Result<File> {
    loop {
        let made = OpenOptions::new().write(true).create_new(true).open(path);
        match made {
            Ok(mut file) => file.write_all(HERE.as_bytes())?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        flock(&file, FlockOperation::LockShared)?;
        let is_there = fs::metadata(path).is_ok_and(|now| {
            file.metadata()
                .is_ok_and(|held| (held.dev(), held.ino()) == (now.dev(), now.ino()))
        });
        if is_there {
            return Ok(file);
        }
    }
}

/// The mounts of a repository for a jail whose work tree is at `root` outside.
pub(super) fn mounts(root: &Path, common: &Path) -> Result<Vec<Mount>, Fault> {
    let seen = |path: &Path| match path.strip_prefix(root) {
        Ok(below) => Path::new(sandbox::WORKSPACE).join(below),
        // A linked worktree names its repository by the path outside.
        Err(_) => path.to_owned(),
    };
    let mut mounts = vec![mount(common, &seen(common), Access::Writable)];
    for name in ["hooks", "info"] {
        let folder = common.join(name);
        fs::create_dir_all(&folder).map_err(|error| Fault::io("make", &folder, error))?;
    }
    touch(&common.join("config"))?;
    let guarded = ["hooks", "info", "worktrees", "modules"];
    let guarded = guarded.into_iter().chain(["config", OF_WORK_TREE, COMMON]);
    let read_only = |path: PathBuf| {
        let is_there = fs::symlink_metadata(&path).is_ok();
        is_there.then(|| mount(&path, &seen(&path), Access::ReadOnly))
    };
    mounts.extend(guarded.filter_map(|name| read_only(common.join(name))));
    let link = root.join(".git");
    if link.is_file() {
        let own = git_folder(&link)?;
        mounts.push(mount(&link, &seen(&link), Access::ReadOnly));
        mounts.push(mount(&own, &seen(&own), Access::Writable));
        let files = [OF_WORK_TREE, COMMON, "gitdir"];
        mounts.extend(
            files
                .into_iter()
                .filter_map(|name| read_only(own.join(name))),
        );
    }
    Ok(mounts)
}

/// The git folder that the file of a linked worktree names.
fn git_folder(link: &Path) -> Result<PathBuf, Fault> {
    let failed = |error| Fault::io("read", link, error);
    let text = fs::read_to_string(link).map_err(failed)?;
    let named = text.trim_start_matches("gitdir:").trim();
    let folder = link.parent().unwrap_or(link).join(named);
    fs::canonicalize(folder).map_err(failed)
}

fn touch(file: &Path) -> Result<(), Fault> {
    let made = OpenOptions::new().create(true).append(true).open(file);
    made.map(drop)
        .map_err(|error| Fault::io("make", file, error))
}

fn mount(host: &Path, inside: &Path, access: Access) -> Mount {
    Mount {
        host: host.to_owned(),
        inside: inside.to_owned(),
        access,
    }
}
