//! Reads the process table, and signals exactly the process that was read.
//!
//! A process is identified by its id *and* its start time, since ids are reused. Nothing here knows
//! about runs.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read as _};

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

/// Identifies one process until the machine reboots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Identity {
    pub(super) pid: i32,
    pub(super) start_time: u64,
}

/// One entry of the process table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) id: Identity,
    pub(super) parent: i32,
    pub(super) group: i32,
    /// Whether it has ended and its parent has not waited for it yet.
    pub(super) is_zombie: bool,
}

/// More than a line of the table has: some fifty numbers and a name.
const STAT_BYTES_MAX: usize = 4096;

/// Reads one process; `None` if there is none with that id.
pub(super) fn read(pid: i32) -> Option<Process> {
    let mut stat = [0; STAT_BYTES_MAX];
    // The kernel gives the whole line at once. A file of unknown size would take five reads, and the
    // table is read several times a second.
    let n_bytes = File::open(format!("/proc/{pid}/stat"))
        .and_then(|mut file| file.read(&mut stat))
        .ok()?;
    parse_stat(pid, &String::from_utf8_lossy(&stat[..n_bytes]))
}

/// Reads all visible processes.
///
/// The table changes while it is read, so a process may be missed. A caller that must find all of
/// them has to read again until none is left.
pub(super) fn all() -> io::Result<Vec<Process>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        found.extend(
            name.to_str()
                .and_then(|name| name.parse().ok())
                .and_then(read),
        );
    }
    Ok(found)
}

/// The descendants of `roots`, without the roots themselves.
pub(super) fn descendants(table: &[Process], roots: &BTreeSet<i32>) -> Vec<Process> {
    let mut known = roots.clone();
    let mut below = Vec::new();
    loop {
        // The second condition ends the loop even if ids form a circle, as they may in a table that
        // changed while it was read.
        let is_new = |process: &&Process| {
            known.contains(&process.parent) && !known.contains(&process.id.pid)
        };
        let layer: Vec<Process> = table.iter().filter(is_new).copied().collect();
        if layer.is_empty() {
            return below;
        }
        known.extend(layer.iter().map(|process| process.id.pid));
        below.extend(layer);
    }
}

/// Whether exactly this process is still running; a zombie is not.
pub(super) fn is_running(id: Identity) -> bool {
    read(id.pid).is_some_and(|process| process.id == id && !process.is_zombie)
}

/// Sends a signal to exactly this process. If it is gone, that is not an error.
///
/// The handle is opened before the identity is checked, so that the id cannot be reused between the
/// check and the signal.
pub(super) fn signal(id: Identity, signal: Signal) -> io::Result<()> {
    let Some(pid) = Pid::from_raw(id.pid) else {
        return Ok(());
    };
    let handle = match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(handle) => Some(handle),
        Err(Errno::SRCH) => return Ok(()),
        // The kernel is too old, or a system call filter forbids the call. A plain `kill` has a
        // tiny race, but there is nothing better.
        Err(_) => None,
    };
    if read(id.pid).is_none_or(|process| process.id != id) {
        return Ok(());
    }
    let sent = handle.map_or_else(
        || kill_process(pid, signal),
        |handle| pidfd_send_signal(handle, signal),
    );
    match sent {
        Ok(()) | Err(Errno::SRCH) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The id of this boot. If it differs from a recorded one, no process from then can be left.
pub(super) fn boot_id() -> io::Result<String> {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|text| text.trim().to_owned())
}

/// Parses the content of `/proc/PID/stat`. The command's name is in parentheses and may itself
/// contain parentheses and spaces, so fields are counted from the last closing one.
fn parse_stat(pid: i32, stat: &str) -> Option<Process> {
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
    // Numbered as in `man 5 proc`, where the field after the name is the third.
    let number = |field_number: usize| fields.get(field_number - 3)?.parse::<u64>().ok();
    Some(Process {
        id: Identity {
            pid,
            start_time: number(22)?,
        },
        parent: i32::try_from(number(4)?).ok()?,
        group: i32::try_from(number(5)?).ok()?,
        is_zombie: matches!(*fields.first()?, "Z" | "X"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const REST: &str = "1 2 2 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 777 0 0";

    fn process(pid: i32, parent: i32) -> Process {
        Process {
            id: Identity { pid, start_time: 1 },
            parent,
            group: 1,
            is_zombie: false,
        }
    }

    #[test]
    fn a_line_of_the_table_reads_as() {
        let expected = |is_zombie| {
            Some(Process {
                id: Identity {
                    pid: 7,
                    start_time: 777,
                },
                parent: 1,
                group: 2,
                is_zombie,
            })
        };
        for (line, expected) in [
            (format!("7 (sleep) S {REST}"), expected(false)),
            (format!("7 (sleep) Z {REST}"), expected(true)),
            (format!("7 (a) S 9 9 (b) R {REST}"), expected(false)),
            ("7 (sleep) S 1 2".to_owned(), None),
            (String::new(), None),
        ] {
            assert_eq!(parse_stat(7, &line), expected, "{line}");
        }
    }

    #[test]
    fn below_a_process_are() {
        let table = [
            process(1, 0),
            process(9, 1),
            process(3, 9),
            process(4, 3),
            process(5, 1),
        ];
        for (roots, expected) in [
            (vec![9], vec![3, 4]),
            (vec![3, 5], vec![4]),
            (vec![4], vec![]),
        ] {
            let below = descendants(&table, &roots.iter().copied().collect());
            let pids: Vec<i32> = below.iter().map(|process| process.id.pid).collect();
            assert_eq!(pids, expected, "below {roots:?}");
        }
    }

    #[test]
    fn another_start_time_is_another_process() {
        let me = read(i32::try_from(std::process::id()).unwrap()).unwrap().id;
        let earlier = Identity {
            start_time: me.start_time - 1,
            ..me
        };
        assert!(is_running(me));
        assert!(!is_running(earlier));
        // If the start time were not checked, this would kill the test itself.
        signal(earlier, Signal::KILL).unwrap();
    }
}
