//! Where tests keep their scratch folders.
//!
//! They make and remove hundreds of thousands of small files. Some file systems are slow at that: ext4
//! without a journal looks at every file that was removed within the last minutes before it makes a new
//! one. In memory it costs little, so that is where they go if there is plenty of it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process;

use anyhow::{Context as _, Result};

use crate::invocation::Invocation;

/// File systems in memory are mounted here.
const MEMORY: &str = "/dev/shm";
/// Twenty times as much as the tests were seen to use at once.
const ROOM_KIB: u64 = 4 << 20;
const PREFIX: &str = "loopwright-tests-";
/// Where the program itself has the trees that checks see, wherever `TMPDIR` leads.
const TREES: &str = "/var/tmp";
/// Lays a folder over another one, for what it starts and nobody else.
const LAY_OVER: &str = "mount --bind \"$0\" \"$1\" && shift && exec \"$@\"";

/// A folder in memory, which goes with this value.
pub(crate) struct Scratch {
    folder: PathBuf,
}

impl Scratch {
    /// Makes a folder in memory, or none where that has too little room or runs no programs.
    pub(crate) fn in_memory(root: &Path) -> Result<Option<Self>> {
        let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
        let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let free = Invocation::program("df", &["-Pk", MEMORY]).read(root);
        let kib = available(&memory).min(free_in(&free.unwrap_or_default()));
        if !runs_programs(&mounts) || kib < ROOM_KIB {
            return Ok(None);
        }
        remove_left();
        let folder = Path::new(MEMORY).join(format!("{PREFIX}{}", process::id()));
        make_open(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(Some(Self { folder }))
    }

    /// The same tests with all that they write in memory.
    pub(crate) fn with(&self, tests: Invocation, root: &Path) -> Invocation {
        let trees = self.folder.join("trees");
        let (Some(folder), Some(over)) = (self.folder.to_str(), trees.to_str()) else {
            return tests;
        };
        let tests = tests.with_env("TMPDIR", folder);
        if make_open(&trees).is_err() || !may_lay_over(root, over) {
            return tests;
        }
        lain_over(tests, over)
    }
}

/// A folder that everybody may write to: some tests are another user's.
fn make_open(folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::set_permissions(folder, Permissions::from_mode(0o1777))
}

/// Whether a folder may lie over that of the trees: only root may mount, and nothing of ours may be below.
fn may_lay_over(root: &Path, over: &str) -> bool {
    let variables = ["CARGO_TARGET_DIR", "CARGO_HOME", "RUSTUP_HOME", "HOME"];
    let ours = variables.iter().filter_map(std::env::var_os);
    let mut ours = ours.map(PathBuf::from).chain([root.to_owned()]);
    let is_below = |path: PathBuf| {
        let real = fs::canonicalize(&path).unwrap_or(path);
        real.starts_with(TREES)
    };
    let attempt = lain_over(Invocation::program("true", &[]), over);
    !ours.any(is_below) && attempt.read(root).is_ok()
}

/// A program that finds this folder where the trees are.
fn lain_over(program: Invocation, over: &str) -> Invocation {
    let own_mounts = ["--mount", "--propagation", "private", "--", "sh", "-c"];
    let arguments = [&own_mounts[..], &[LAY_OVER, over, TREES]].concat();
    program.started_by("unshare", &arguments)
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Removes what a run left that was killed: nobody else would, and it takes memory.
fn remove_left() {
    for entry in fs::read_dir(MEMORY).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let maker = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        if maker.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn runs_programs(mounts: &str) -> bool {
    let mut mounts = mounts.lines().map(|line| line.split(' ').collect());
    mounts.any(|mount: Vec<&str>| {
        matches!(mount[..], [_, MEMORY, "tmpfs", options, ..]
                 if options.split(',').all(|option| option != "noexec" && option != "ro"))
    })
}

/// The memory that can still be had, in KiB, as the kernel's listing says it.
fn available(meminfo: &str) -> u64 {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"));
    number(line.and_then(|rest| rest.split_whitespace().next()))
}

/// What is free in a file system, in KiB, as `df -Pk` says it.
fn free_in(df: &str) -> u64 {
    let line = df.lines().nth(1);
    number(line.and_then(|line| line.split_whitespace().nth(3)))
}

fn number(text: Option<&str>) -> u64 {
    text.and_then(|text| text.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_tells_the_room() {
        let df = "Filesystem 1024-blocks Used Available Capacity Mounted on\n\
                  tmpfs 24684100 960 24683140 1% /dev/shm\n";
        assert_eq!(free_in(df), 24_683_140);
        assert_eq!(free_in(""), 0);
        assert_eq!(
            available("MemTotal: 9 kB\nMemAvailable:   23107380 kB\n"),
            23_107_380
        );
    }

    #[test]
    fn a_folder_lies_over_that_of_the_trees() {
        let tests = Invocation::program("tests", &["--all"]).with_env("TMPDIR", "/dev/shm/x");
        assert_eq!(
            lain_over(tests, "/dev/shm/x/trees").to_string(),
            "TMPDIR=/dev/shm/x unshare --mount --propagation private -- sh -c \
             'mount --bind \"$0\" \"$1\" && shift && exec \"$@\"' /dev/shm/x/trees /var/tmp tests --all"
        );
    }

    #[test]
    fn programs_must_run_there() {
        assert!(runs_programs(
            "tmpfs /dev/shm tmpfs rw,nosuid,size=9k 0 0\n"
        ));
        assert!(!runs_programs("tmpfs /dev/shm tmpfs rw,noexec 0 0\n"));
        assert!(!runs_programs("/dev/vda /dev/shm ext4 rw 0 0\n"));
        assert!(!runs_programs(""));
    }
}
