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
        fs::create_dir_all(&folder)
            // Some tests are another user's.
            .and_then(|()| fs::set_permissions(&folder, Permissions::from_mode(0o1777)))
            .with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(Some(Self { folder }))
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
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
    fn programs_must_run_there() {
        assert!(runs_programs(
            "tmpfs /dev/shm tmpfs rw,nosuid,size=9k 0 0\n"
        ));
        assert!(!runs_programs("tmpfs /dev/shm tmpfs rw,noexec 0 0\n"));
        assert!(!runs_programs("/dev/vda /dev/shm ext4 rw 0 0\n"));
        assert!(!runs_programs(""));
    }
}
