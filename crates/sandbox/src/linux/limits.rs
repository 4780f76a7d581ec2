//! Watches what a jail uses, and says when a limit was hit.
//!
//! What a control group or the kernel's own limits bound is only asked about. The rest is read from
//! the process table: memory and processes without a group, processor time, and open files.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::cgroup::Cgroup;
use super::disk::{Bounds, DiskWatch};
use super::processes;
use crate::{Access, JailSpec, LimitHit, Limits};

/// How often the process table is read. A program can allocate a lot in a second.
const PAUSE: Duration = Duration::from_millis(200);

/// How often it is read once a program has lasted, if the kernel bounds its memory and its processes. To read the
/// table takes milliseconds on a machine with hundreds of processes.
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// The signals by which the kernel ends a program at its own limits.
const SIGXCPU: i32 = 24;
const SIGXFSZ: i32 = 25;

/// Watches one jail.
#[derive(Debug)]
pub(super) struct LimitWatch {
    limits: Limits,
    /// Set when the shim has been admitted.
    cgroup: Arc<OnceLock<Cgroup>>,
    /// What its group said when the program had ended and the jail was still there.
    last: Arc<OnceLock<LimitHit>>,
    disk: Option<DiskWatch>,
    looked_at: Instant,
    /// How long to wait before the next look.
    pause: Duration,
    noted: Option<LimitHit>,
}

impl LimitWatch {
    pub(super) fn start(
        spec: &JailSpec,
        cgroup: Arc<OnceLock<Cgroup>>,
        last: Arc<OnceLock<LimitHit>>,
    ) -> std::io::Result<Self> {
        let limits = spec.limits;
        let writable = spec
            .mounts
            .iter()
            .filter(|mount| mount.access == Access::Writable);
        let mut roots: Vec<PathBuf> = writable.map(|mount| mount.host.clone()).collect();
        // Outside of the jail the folder with the layers is empty; what is written lies here.
        let changes = spec
            .layers
            .as_ref()
            .and_then(|layers| layers.changes.as_ref());
        roots.extend(changes.map(|changes| changes.upper.clone()));
        let is_bounded = limits.disk_bytes.is_some() || limits.disk_files.is_some();
        let bounds = Bounds {
            bytes: limits.disk_bytes.unwrap_or(u64::MAX),
            files: limits.disk_files.unwrap_or(u64::MAX),
        };
        let disk = is_bounded.then(|| DiskWatch::start(roots, bounds));
        Ok(Self {
            limits,
            cgroup,
            last,
            disk: disk.transpose()?,
            looked_at: Instant::now(),
            pause: PAUSE,
            noted: None,
        })
    }

    /// Looks at what the jail of this shim uses, and returns whether it must be ended for it.
    pub(super) fn must_end(&mut self, shim: Option<i32>) -> bool {
        if self.disk.as_ref().is_some_and(|disk| disk.is_over(shim)) {
            self.noted = Some(LimitHit::Disk);
            return true;
        }
        let Some(shim) = shim.filter(|_| self.looked_at.elapsed() >= self.pause) else {
            return false;
        };
        self.looked_at = Instant::now();
        self.pause = if self.bounds_by_itself() {
            PAUSE
        } else {
            PAUSE_MAX.min(self.pause * 2)
        };
        // Noted now: the groups of a container are gone when it is.
        if let Some(hit) = self.cgroup.get().and_then(Cgroup::hit) {
            self.noted = Some(hit);
        }
        if !self.needs_table() {
            return false;
        }
        let mut used = Used::read(shim, self.limits.open_files.is_some());
        if self
            .limits
            .memory_bytes
            .is_some_and(|limit| used.memory_bytes > limit)
        {
            used.memory_bytes = exact_memory(&used.rough);
        }
        self.judge(&used)
    }

    fn needs_table(&self) -> bool {
        self.bounds_by_itself()
            || self.limits.cpu_secs.is_some()
            || self.limits.open_files.is_some()
    }

    /// Whether there is no group by which the kernel bounds memory and processes.
    fn bounds_by_itself(&self) -> bool {
        let cgroup = self.cgroup.get();
        let memory =
            self.limits.memory_bytes.is_some() && !cgroup.is_some_and(Cgroup::bounds_memory);
        let processes =
            self.limits.processes.is_some() && !cgroup.is_some_and(Cgroup::bounds_processes);
        memory || processes
    }

    /// Notes a limit that was hit, and returns whether nobody else ends the run for it.
    fn judge(&mut self, used: &Used) -> bool {
        let is_beyond = |used: u64, limit: Option<u64>| limit.is_some_and(|limit| used > limit);
        let is_reached = |used: u64, limit: Option<u64>| limit.is_some_and(|limit| used >= limit);
        if is_beyond(used.memory_bytes, self.limits.memory_bytes)
            && !self.cgroup.get().is_some_and(Cgroup::bounds_memory)
        {
            self.noted = Some(LimitHit::Memory);
            return true;
        }
        if is_reached(used.cpu_secs, self.limits.cpu_secs) {
            self.noted = Some(LimitHit::Cpu);
            return true;
        }
        // The kernel does not bound the processes of root's user, so more than the limit is ours to
        // end. At the limit the kernel refuses further ones, and the program copes or not.
        if is_beyond(used.processes, self.limits.processes)
            && !self.cgroup.get().is_some_and(Cgroup::bounds_processes)
        {
            self.noted = Some(LimitHit::Processes);
            return true;
        }
        // The kernel counts the shim's threads too.
        let n_tasks = used.processes + used.shim_threads;
        if self.noted.is_none() && is_reached(n_tasks, self.limits.processes) {
            self.noted = Some(LimitHit::Processes);
        }
        if self.noted.is_none() && is_reached(used.open_files, self.limits.open_files) {
            self.noted = Some(LimitHit::OpenFiles);
        }
        false
    }

    /// The limit that the run has hit, now that it has ended.
    ///
    /// `n_tasks` is how many tasks there were at its end: a program that cannot fork may have ended
    /// before anybody looked.
    pub(super) fn hit(&self, signal: Option<i32>, n_tasks: u64) -> Option<LimitHit> {
        let by_signal = match signal {
            Some(SIGXCPU) => Some(LimitHit::Cpu),
            Some(SIGXFSZ) => Some(LimitHit::Disk),
            _ => None,
        };
        let by_group = self.cgroup.get().and_then(Cgroup::hit);
        // One or two may have ended since the program was refused another.
        let is_full = (self.limits.processes).is_some_and(|limit| n_tasks + 2 >= limit);
        let by_count = is_full.then_some(LimitHit::Processes);
        let at_end = self.last.get().copied();
        by_signal
            .or(by_group)
            .or(at_end)
            .or(self.noted)
            .or(by_count)
    }
}

/// What a jail uses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Used {
    /// With pages counted as often as they are shared.
    memory_bytes: u64,
    /// Tasks beside the shim.
    processes: u64,
    shim_threads: u64,
    /// Each process with its own memory, counted like the sum.
    rough: Vec<(i32, u64)>,
    cpu_secs: u64,
    /// Of the process that has most.
    open_files: u64,
}

impl Used {
    /// Adds up the shim and the processes below it.
    fn read(shim: i32, with_files: bool) -> Self {
        let table = processes::all().unwrap_or_default();
        let below = processes::descendants(&table, &BTreeSet::from([shim]));
        let ticks_per_sec = rustix::param::clock_ticks_per_second().max(1);
        let mut used = Self::default();
        let mut ticks = 0;
        let below = below.iter().filter(|process| !process.is_zombie);
        for pid in below.map(|process| process.id.pid).chain([shim]) {
            ticks += cpu_ticks(pid);
            let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            let number = |name: &str| {
                let line = status.lines().find_map(|line| line.strip_prefix(name));
                let word = line.and_then(|line| line.split_whitespace().next());
                word.and_then(|word| word.parse::<u64>().ok())
                    .unwrap_or_default()
            };
            let memory_bytes = (number("RssAnon:") + number("RssShmem:")) * 1024;
            used.memory_bytes += memory_bytes;
            used.rough.push((pid, memory_bytes));
            let n_threads = number("Threads:").max(1);
            if pid == shim {
                used.shim_threads = n_threads;
            } else {
                used.processes += n_threads;
            }
            if with_files {
                used.open_files = used.open_files.max(open_files(pid));
            }
        }
        used.cpu_secs = ticks / ticks_per_sec;
        used
    }
}

/// The memory of processes with shared pages counted once. It takes longer to read, so that it is asked
/// only when the rough sum is too large. A process that hides from us counts roughly.
fn exact_memory(rough: &[(i32, u64)]) -> u64 {
    let of_process = |(pid, rough): &(i32, u64)| {
        let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
        let number = |name: &str| {
            let line = rollup.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse::<u64>().ok()
        };
        let kilobytes = number("Pss_Anon:").and_then(|anon| Some(anon + number("Pss_Shmem:")?));
        kilobytes.map_or(*rough, |kilobytes| kilobytes * 1024)
    };
    rough.iter().map(of_process).sum()
}

/// The time of a process and of its children that were waited for.
fn cpu_ticks(pid: i32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    // Fields 14 to 17 of `man 5 proc`; the one after the name is the third.
    let numbers = fields.split_ascii_whitespace().skip(11).take(4);
    numbers
        .filter_map(|number| number.parse::<u64>().ok())
        .sum()
}

/// The size of the folder is the number of open files since Linux 6.2, and 0 before.
fn open_files(pid: i32) -> u64 {
    fs::metadata(format!("/proc/{pid}/fd")).map_or(0, |data| data.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_is_judged() {
        let limits = Limits {
            memory_bytes: Some(100),
            processes: Some(10),
            cpu_secs: Some(5),
            open_files: Some(20),
            ..Limits::default()
        };
        let calm = Used {
            memory_bytes: 100,
            processes: 7,
            shim_threads: 2,
            rough: Vec::new(),
            cpu_secs: 4,
            open_files: 19,
        };
        for (name, used, expected) in [
            ("calm", calm.clone(), (false, None)),
            (
                "memory",
                Used {
                    memory_bytes: 101,
                    ..calm.clone()
                },
                (true, Some(LimitHit::Memory)),
            ),
            (
                "cpu",
                Used {
                    cpu_secs: 5,
                    ..calm.clone()
                },
                (true, Some(LimitHit::Cpu)),
            ),
            (
                "processes",
                Used {
                    processes: 8,
                    ..calm.clone()
                },
                (false, Some(LimitHit::Processes)),
            ),
            (
                "a fork bomb",
                Used {
                    processes: 11,
                    ..calm.clone()
                },
                (true, Some(LimitHit::Processes)),
            ),
            (
                "files",
                Used {
                    open_files: 20,
                    ..calm.clone()
                },
                (false, Some(LimitHit::OpenFiles)),
            ),
        ] {
            let mut watch = LimitWatch {
                limits,
                cgroup: Arc::default(),
                last: Arc::default(),
                disk: None,
                looked_at: Instant::now(),
                pause: PAUSE,
                noted: None,
            };
            assert_eq!((watch.judge(&used), watch.hit(None, 0)), expected, "{name}");
        }
    }

    #[test]
    fn our_own_processor_time_is_read() {
        let ours = i32::try_from(std::process::id()).unwrap();
        let mut n = 0_u64;
        while cpu_ticks(ours) == 0 {
            n = std::hint::black_box(n + 1);
        }
        assert!(n > 0);
    }
}
