//! The control groups of one run, where we may make them: they bound memory and processes together,
//! and say whether a bound was hit.
//!
//! Version 1 is used where its controllers are mounted, version 2 otherwise. Without the right to
//! make a group the run has none, and its use is watched instead.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::thread;
use std::time::Duration;

use crate::{LimitHit, Limits};

/// How often a group is removed again whose last process is just ending.
const REMOVALS_MAX: u32 = 100;

const PAUSE: Duration = Duration::from_millis(10);

/// What the kernel says about the groups of this process.
pub(super) struct Groups {
    /// The content of `/proc/self/cgroup`.
    pub(super) own: String,
    /// The content of `/proc/self/mountinfo`.
    pub(super) mounts: String,
}

impl Groups {
    /// The groups of this process.
    pub(super) fn read() -> io::Result<Self> {
        Self::of("self")
    }

    /// The groups of another process.
    pub(super) fn of(pid: &str) -> io::Result<Self> {
        Ok(Self {
            own: fs::read_to_string(format!("/proc/{pid}/cgroup"))?,
            mounts: fs::read_to_string("/proc/self/mountinfo")?,
        })
    }

    /// The folder of our own group for a controller of version 1.
    fn first(&self, controller: &str) -> Option<PathBuf> {
        let has = |list: &str| list.split(',').any(|name| name == controller);
        let own = self.own.lines().find_map(|line| {
            let (_, rest) = line.split_once(':')?;
            let (controllers, path) = rest.split_once(':')?;
            has(controllers).then_some(path)
        })?;
        let mount = self.mount(|kind, options| kind == "cgroup" && has(options))?;
        existing(&mount, own)
    }

    /// The folder of our own group in version 2.
    fn second(&self) -> Option<PathBuf> {
        let own = self.own.lines().find_map(|line| line.strip_prefix("0::"))?;
        let mount = self.mount(|kind, _| kind == "cgroup2")?;
        existing(&mount, own)
    }

    fn mount(&self, is_wanted: impl Fn(&str, &str) -> bool) -> Option<PathBuf> {
        self.mounts.lines().find_map(|line| {
            let (before, after) = line.split_once(" - ")?;
            let mut after = after.split(' ');
            let kind = after.next()?;
            let options = after.nth(1)?;
            let point = before.split(' ').nth(4)?;
            is_wanted(kind, options).then(|| PathBuf::from(point))
        })
    }
}

/// In a container the path may be that of the host; then the mount itself is our group.
fn existing(mount: &Path, own: &str) -> Option<PathBuf> {
    let folder = mount.join(own.trim_start_matches('/'));
    [folder, mount.to_owned()]
        .into_iter()
        .find(|folder| folder.is_dir())
}

/// The groups of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cgroup {
    version: Version,
    origin: Origin,
    memory: Option<PathBuf>,
    processes: Option<PathBuf>,
}

/// Who made the groups, and so whether we know that they bound anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Ours,
    Engine,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    First,
    Second,
}

impl Cgroup {
    /// Says which groups a run would have. Nothing is made yet, so that they can be recorded first.
    pub(super) fn plan(groups: &Groups, name: &str, limits: &Limits) -> Option<Self> {
        let wanted = |limit: Option<u64>, folder: Option<PathBuf>| {
            limit.and(folder).map(|folder| folder.join(name))
        };
        let first = Self {
            version: Version::First,
            origin: Origin::Ours,
            memory: wanted(limits.memory_bytes, groups.first("memory")),
            processes: wanted(limits.processes, groups.first("pids")),
        };
        if first.memory.is_some() || first.processes.is_some() {
            return Some(first);
        }
        let own = groups.second()?;
        let second = Self {
            version: Version::Second,
            origin: Origin::Ours,
            memory: wanted(limits.memory_bytes, Some(own.clone())),
            processes: wanted(limits.processes, Some(own)),
        };
        (second.memory.is_some() || second.processes.is_some()).then_some(second)
    }

    /// The groups that a container's program has made, which only tell us what was hit.
    pub(super) fn found(groups: &Groups) -> Self {
        let first = (groups.first("memory"), groups.first("pids"));
        match first {
            (None, None) => Self {
                version: Version::Second,
                origin: Origin::Engine,
                memory: groups.second(),
                processes: groups.second(),
            },
            (memory, processes) => Self {
                version: Version::First,
                origin: Origin::Engine,
                memory,
                processes,
            },
        }
    }

    /// The folders, each once.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> = [&self.memory, &self.processes]
            .into_iter()
            .flatten()
            .cloned()
            .collect();
        folders.dedup();
        folders
    }

    /// Makes the groups, bounds them and moves a process into them. What we may not do is left out;
    /// `None` if nothing is left.
    pub(super) fn enter(mut self, pid: i32, limits: &Limits) -> Option<Self> {
        let memory = limits.memory_bytes.unwrap_or(u64::MAX);
        let processes = limits.processes.unwrap_or(u64::MAX);
        if self.version == Version::Second {
            // A group with processes in it cannot have groups with controllers below it.
            self.memory
                .as_deref()
                .or(self.processes.as_deref())
                .map(delegate);
        }
        let version = self.version;
        self.memory = self.memory.filter(|folder| {
            let bounded = match version {
                Version::First => first_memory(folder, memory),
                Version::Second => second_memory(folder, memory),
            };
            or_remove(folder, &bounded.and_then(|()| join(folder, pid)))
        });
        self.processes = self.processes.filter(|folder| {
            let bounded = make(folder)
                .and_then(|()| fs::write(folder.join("pids.max"), processes.to_string()));
            or_remove(folder, &bounded.and_then(|()| join(folder, pid)))
        });
        (self.memory.is_some() || self.processes.is_some()).then_some(self)
    }

    pub(super) fn bounds_memory(&self) -> bool {
        self.origin == Origin::Ours && self.memory.is_some()
    }

    pub(super) fn bounds_processes(&self) -> bool {
        self.origin == Origin::Ours && self.processes.is_some()
    }

    /// The bound that was hit, if one was.
    pub(super) fn hit(&self) -> Option<LimitHit> {
        let count = |folder: &Option<PathBuf>, file: &str, name: &str| {
            let text = fs::read_to_string(folder.as_ref()?.join(file)).ok()?;
            let of_name = |line: &str| line.strip_prefix(name)?.trim().parse::<u64>().ok();
            text.lines().find_map(of_name).filter(|count| *count > 0)
        };
        let killed = match self.version {
            Version::First => count(&self.memory, "memory.oom_control", "oom_kill "),
            Version::Second => count(&self.memory, "memory.events", "oom_kill "),
        };
        let refused = count(&self.processes, "pids.events", "max ");
        killed
            .map(|_| LimitHit::Memory)
            .or(refused.map(|_| LimitHit::Processes))
    }
}

/// Removes the groups of a run. A group that is not there is no error.
pub(super) fn remove(folders: &[PathBuf]) {
    for folder in folders {
        for _ in 0..REMOVALS_MAX {
            match fs::remove_dir(folder) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => thread::sleep(PAUSE),
                Ok(()) | Err(_) => break,
            }
        }
    }
}

fn make(folder: &Path) -> io::Result<()> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn join(folder: &Path, pid: i32) -> io::Result<()> {
    fs::write(folder.join("cgroup.procs"), pid.to_string())
}

fn or_remove(folder: &Path, result: &io::Result<()>) -> bool {
    if result.is_err() {
        let _ = fs::remove_dir(folder);
    }
    result.is_ok()
}

fn first_memory(folder: &Path, bytes: u64) -> io::Result<()> {
    make(folder)?;
    fs::write(folder.join("memory.limit_in_bytes"), bytes.to_string())?;
    // Without accounting of swap the file is not there.
    let _ = fs::write(
        folder.join("memory.memsw.limit_in_bytes"),
        bytes.to_string(),
    );
    Ok(())
}

fn second_memory(folder: &Path, bytes: u64) -> io::Result<()> {
    make(folder)?;
    fs::write(folder.join("memory.max"), bytes.to_string())?;
    let _ = fs::write(folder.join("memory.swap.max"), "0");
    let _ = fs::write(folder.join("memory.oom.group"), "1");
    Ok(())
}

/// Lets groups beside the keeper have controllers: the keeper moves into a leaf of its own first.
/// It works only where the group is ours alone, as in a delegated scope.
fn delegate(group: &Path) {
    let Some(own) = group.parent() else {
        return;
    };
    let enable = || fs::write(own.join("cgroup.subtree_control"), "+memory +pids");
    if enable().is_err() {
        let leaf = own.join("keeper");
        let pid = i32::try_from(process::id()).unwrap_or_default();
        if make(&leaf).and_then(|()| join(&leaf, pid)).is_ok() && enable().is_err() {
            let _ = join(own, pid);
            let _ = fs::remove_dir(&leaf);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        memory_bytes: Some(1 << 20),
        processes: Some(7),
        cpu_secs: None,
        open_files: None,
        disk_bytes: None,
        disk_files: None,
    };

    fn groups(root: &Path, own: &str, mounts: &[(&str, &str, &str)]) -> Groups {
        let line = |(name, kind, options): &(&str, &str, &str)| {
            let point = root.join(name);
            fs::create_dir_all(&point).unwrap();
            format!(
                "30 25 0:26 / {} rw,nosuid - {kind} cgroup {options}\n",
                point.display()
            )
        };
        Groups {
            own: own.to_owned(),
            mounts: mounts.iter().map(line).collect(),
        }
    }

    #[test]
    fn version_one_is_found_by_controller() {
        let root = tempfile::tempdir().unwrap();
        let mounts = [
            ("unified", "cgroup2", "rw"),
            ("cpu,cpuacct", "cgroup", "rw,cpu,cpuacct"),
            ("memory", "cgroup", "rw,memory"),
            ("pids", "cgroup", "rw,pids"),
        ];
        let groups = groups(root.path(), "9:memory:/box\n4:pids:/\n0::/\n", &mounts);
        fs::create_dir(root.path().join("memory/box")).unwrap();
        let group = Cgroup::plan(&groups, "run", &LIMITS).unwrap();
        let expected = [
            root.path().join("memory/box/run"),
            root.path().join("pids/run"),
        ];
        assert_eq!(group.folders(), expected);
        let group = group.enter(42, &LIMITS).unwrap();
        let read = |path: &str| fs::read_to_string(root.path().join(path)).unwrap();
        assert_eq!(read("memory/box/run/memory.limit_in_bytes"), "1048576");
        assert_eq!(read("pids/run/pids.max"), "7");
        assert_eq!(read("pids/run/cgroup.procs"), "42");
        assert_eq!(group.hit(), None);
        fs::write(expected[1].join("pids.events"), "max 3\n").unwrap();
        assert_eq!(group.hit(), Some(LimitHit::Processes));
        fs::write(
            expected[0].join("memory.oom_control"),
            "under_oom 0\noom_kill 1\n",
        )
        .unwrap();
        assert_eq!(group.hit(), Some(LimitHit::Memory));
    }

    #[test]
    fn version_two_is_one_folder() {
        let root = tempfile::tempdir().unwrap();
        let groups = groups(root.path(), "0::/user/scope\n", &[("", "cgroup2", "rw")]);
        fs::create_dir_all(root.path().join("user/scope")).unwrap();
        let group = Cgroup::plan(&groups, "run", &LIMITS).unwrap();
        let folder = root.path().join("user/scope/run");
        assert_eq!(group.folders(), std::slice::from_ref(&folder));
        let group = group.enter(42, &LIMITS).unwrap();
        let read = |file: &str| fs::read_to_string(folder.join(file)).unwrap();
        assert_eq!(
            (read("memory.max"), read("memory.swap.max")),
            ("1048576".into(), "0".into())
        );
        assert_eq!(
            (read("pids.max"), read("cgroup.procs")),
            ("7".into(), "42".into())
        );
        fs::write(folder.join("memory.events"), "low 0\noom 2\noom_kill 2\n").unwrap();
        assert_eq!(group.hit(), Some(LimitHit::Memory));
    }

    #[test]
    fn without_limits_or_groups_there_is_none() {
        let root = tempfile::tempdir().unwrap();
        let none = groups(root.path(), "", &[]);
        assert_eq!(Cgroup::plan(&none, "run", &LIMITS), None);
        let all = groups(root.path(), "0::/\n", &[("", "cgroup2", "rw")]);
        assert_eq!(Cgroup::plan(&all, "run", &Limits::default()), None);
    }
}
