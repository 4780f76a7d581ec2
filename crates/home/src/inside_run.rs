//! Whether we were started from inside a run: by an agent, by a check, or by something that they
//! started. What only a person may do is refused there.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::folder::Home;
use crate::worker::RUN_DIR_VARIABLE;

/// Processes above us that are looked at. A chain that is longer was made to be.
const ANCESTORS_MAX: usize = 4_096;

/// The run of this state folder that we are part of, if we are. Variables can be taken away, and a
/// session can be left, but whatever a run starts stays below its keeper.
pub fn surrounding_run(home: &Home) -> Option<PathBuf> {
    let of_variable = std::env::var_os(RUN_DIR_VARIABLE).map(PathBuf::from);
    let of_variable = of_variable.filter(|folder| is_run_of(folder, home));
    of_variable
        .or_else(|| told_run(home))
        .or_else(|| kept_ancestor(home))
}

/// The run that an agent is told to be, as `run_LOOP_NAME`, where the loop is one of ours.
fn told_run(home: &Home) -> Option<PathBuf> {
    let run_id = std::env::var("LOOPWRIGHT_RUN_ID").ok()?;
    let (loop_id, _) = run_id.strip_prefix("run_")?.rsplit_once('_')?;
    let is_name = !loop_id.is_empty() && !loop_id.contains(['/', '\0']);
    let folder = home.loop_folder(loop_id);
    (is_name && folder.is_dir()).then_some(folder)
}

fn kept_ancestor(home: &Home) -> Option<PathBuf> {
    let mut pid = std::process::id();
    for _ in 0..ANCESTORS_MAX {
        if let Some(folder) = kept_by(pid).filter(|folder| is_run_of(folder, home)) {
            return Some(folder);
        }
        pid = parent_of(pid).filter(|parent| *parent > 0)?;
    }
    None
}

/// The run that a process keeps, if it is a keeper: `loopwright keeper FOLDER`.
fn kept_by(pid: u32) -> Option<PathBuf> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let mut words = line.split(|byte| *byte == 0).skip(1);
    let is_keeper = words.next() == Some(b"keeper");
    let folder = words.next().filter(|_| is_keeper)?;
    Some(PathBuf::from(OsStr::from_bytes(folder)))
}

fn parent_of(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may hold anything.
    let (_, rest) = stat.rsplit_once(") ")?;
    rest.split(' ').nth(1)?.parse().ok()
}

/// Whether a folder is one of this state folder's runs: HOME/loops/LOOP/runs/RUN. A folder of links to
/// the same journal is the same state folder.
fn is_run_of(folder: &Path, home: &Home) -> bool {
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if real(folder).starts_with(real(home.root())) {
        return true;
    }
    let identity = |root: &Path| {
        let file = fs::metadata(root.join("journal.db")).ok()?;
        Some((file.dev(), file.ino()))
    };
    let ours = identity(home.root());
    let theirs = folder.ancestors().nth(4).and_then(identity);
    ours.is_some() && ours == theirs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of links to what is in the state folder is the same state.
    #[test]
    fn a_run_is_recognised_through_links_into_its_state_folder() {
        let scratch = std::env::temp_dir().join(format!("review-inside-{}", std::process::id()));
        let (real, other) = (scratch.join("real"), scratch.join("other"));
        let run = real.join("loops/L/runs/R");
        fs::create_dir_all(&run).expect("a run");
        fs::create_dir_all(&other).expect("another folder");
        fs::write(real.join("journal.db"), "").expect("a journal");
        for name in ["loops", "journal.db"] {
            std::os::unix::fs::symlink(real.join(name), other.join(name)).expect("a link");
        }
        assert!(is_run_of(&run, &Home::at(&real)));
        let is_known = is_run_of(&run, &Home::at(&other));
        fs::remove_dir_all(&scratch).expect("clean");
        assert!(is_known, "the same journal by another way");
    }
}
