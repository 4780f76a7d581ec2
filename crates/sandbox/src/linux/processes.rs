//! Reads the process table, and signals exactly the process that was read.
//!
//! A process is named by its id *and* its start time, since ids are used again. Nothing here knows
//! of runs.

use std::collections::BTreeSet;
use std::fs;
use std::io;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

/// Names one process for as long as the machine is up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Identity {
    pub(super) pid: i32,
    pub(super) start_time: u64,
}

/// One line of the process table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) id: Identity,
    pub(super) parent: i32,
    pub(super) group: i32,
    /// It has ended, and its parent has not asked for its status yet.
    pub(super) is_zombie: bool,
}

/// Reads one process; `None` when there is none of that id.
pub(super) fn read(pid: i32) -> Option<Process> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse_stat(pid, &String::from_utf8_lossy(&stat))
}

/// Reads every process that can be seen.
///
/// The table moves while it is read: who must miss none has to read until nothing is left.
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

/// Picks the processes below `roots`, without the roots themselves.
pub(super) fn descendants(table: &[Process], roots: &BTreeSet<i32>) -> Vec<Process> {
    let mut known = roots.clone();
    let mut below = Vec::new();
    loop {
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

/// Whether that very process is still running; a zombie is not.
pub(super) fn is_running(id: Identity) -> bool {
    read(id.pid).is_some_and(|process| process.id == id && !process.is_zombie)
}

/// Sends a signal to that very process; one that is gone is no error.
///
/// The handle is taken before the identity is checked, so that between check and signal the id
/// cannot come to name another process.
pub(super) fn signal(id: Identity, signal: Signal) -> io::Result<()> {
    let Some(pid) = Pid::from_raw(id.pid) else {
        return Ok(());
    };
    let handle = match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(handle) => Some(handle),
        Err(Errno::SRCH) => return Ok(()),
        // An old kernel, or a filter that does not know the call: the plain way has a tiny race and
        // is what is left.
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

/// The id of this boot; another one means that no process of the earlier boot can be left.
pub(super) fn boot_id() -> io::Result<String> {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|text| text.trim().to_owned())
}

/// The command's name is in parentheses and may hold anything, also parentheses and spaces: fields
/// count from the last.
fn parse_stat(pid: i32, stat: &str) -> Option<Process> {
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
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
        // Were the start time not checked, this test would not live to see the next line.
        signal(earlier, Signal::KILL).unwrap();
    }
}
