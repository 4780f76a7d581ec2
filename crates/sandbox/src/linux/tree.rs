//! The keeper's process tree: reaps it, asks it to end, and kills it until nothing is left.
//!
//! The keeper is the subreaper of the whole tree: a process that loses its parent becomes a child
//! of the keeper, even after `setsid`. So the tree is gone exactly when the keeper has no child.
//! The kernel tells us that, and we need not rely on a process table that changes while it is read.

use std::collections::BTreeSet;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpid, kill_process_group, pidfd_open,
    test_kill_process_group, wait,
};

use super::processes::{self, Identity, Process};
use crate::StopSignal;

const PAUSE: Duration = Duration::from_millis(5);

/// One program and all its descendants.
#[derive(Debug)]
pub(super) struct Tree {
    program: Pid,
    /// Can be read once the program has ended; an old kernel has no such thing.
    ending: Option<OwnedFd>,
    ended: Option<ExitStatus>,
    is_empty: bool,
}

impl Tree {
    /// Takes over a program, which must lead its own process group.
    pub(super) fn new(program: Pid) -> Self {
        Self {
            program,
            ending: pidfd_open(program, PidfdFlags::empty()).ok(),
            ended: None,
            is_empty: false,
        }
    }

    /// Waits until the program has ended, and no longer than `time`.
    pub(super) fn wait_for_end(&mut self, time: Duration) {
        let timeout = Timespec::try_from(time).ok();
        let waited = self.ending.as_ref().map(|ending| {
            let mut ends = [PollFd::new(ending, PollFlags::IN)];
            poll(&mut ends, timeout.as_ref())
        });
        match waited {
            // Said once: where the kernel discards its status, we wait for the others in steps.
            Some(Ok(1..)) => self.ending = None,
            Some(Ok(0) | Err(Errno::INTR)) => {}
            Some(Err(_)) | None => thread::sleep(time),
        }
    }

    /// Collects the status of every child that has ended.
    pub(super) fn reap(&mut self) {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.program => {
                    self.ended = Some(ExitStatus::from_raw(status.as_raw()));
                }
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return,
                // `ECHILD`: there is no child left.
                Err(_) => {
                    self.is_empty = true;
                    return;
                }
            }
        }
    }

    /// Whether the program itself has ended. If we inherited an ignored `SIGCHLD`, the kernel
    /// discards its status; then only the empty tree shows that it has ended.
    pub(super) fn program_ended(&self) -> bool {
        self.ended.is_some() || self.is_empty
    }

    pub(super) fn exit_status(&self) -> Option<ExitStatus> {
        self.ended
    }

    /// Asks the program's process group to end, and waits for at most `grace`.
    ///
    /// It must be called before the program has been reaped: until then its id, which is also the
    /// group's, cannot be reused.
    pub(super) fn ask_to_end(&mut self, stop_signal: StopSignal, grace: Duration) {
        let signal = match stop_signal {
            StopSignal::Term => Signal::TERM,
            StopSignal::Int => Signal::INT,
        };
        // It fails only if the group is gone already; then the loop below ends at once.
        let _ = kill_process_group(self.program, signal);
        let asked = Instant::now();
        while asked.elapsed() < grace && test_kill_process_group(self.program).is_ok() {
            thread::sleep(PAUSE);
            self.reap();
        }
    }

    /// Kills everything until nothing is left, and returns how many processes it killed, not
    /// counting the program itself.
    ///
    /// There is no time limit: as long as a process cannot be killed, the run has not ended.
    pub(super) fn kill_all(&mut self) -> u32 {
        let mut killed = BTreeSet::new();
        self.reap();
        while !self.is_empty {
            // Nothing is reaped between reading the table and killing, so that the ids of our
            // children and their groups cannot be reused in between.
            let left = descendants();
            for process in &left {
                kill(process);
            }
            killed.extend(self.counted(&left));
            thread::sleep(PAUSE);
            self.reap();
        }
        u32::try_from(killed.len()).unwrap_or(u32::MAX)
    }

    fn counted(&self, left: &[Process]) -> Vec<Identity> {
        let program = self.program.as_raw_nonzero().get();
        let counts = |process: &&Process| !process.is_zombie && process.id.pid != program;
        left.iter()
            .filter(counts)
            .map(|process| process.id)
            .collect()
    }
}

/// All descendants of the keeper. If the table cannot be read, the next round tries again.
fn descendants() -> Vec<Process> {
    let keeper = BTreeSet::from([getpid().as_raw_nonzero().get()]);
    processes::all()
        .map(|table| processes::descendants(&table, &keeper))
        .unwrap_or_default()
}

/// Kills one process and, if it is our child, its whole process group.
///
/// The group matters for processes that were forked after the table was read. One signal reaches
/// all of a group at once, and no fork slips through. Without it, a tree that forks faster than we
/// kill would never end. It is safe, because every group that a child of ours is in belongs to the
/// tree, except our own, which a keeper leads.
fn kill(process: &Process) {
    let is_ours = process.parent == getpid().as_raw_nonzero().get();
    let group = Pid::from_raw(process.group).filter(|group| is_ours && *group != getpid());
    if let Some(group) = group {
        // Both calls may fail because the process has just ended; the next round shows whether it
        // has.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = processes::signal(process.id, Signal::KILL);
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::os::unix::process::CommandExt as _;
    use std::process::{Command, Stdio};

    use super::*;

    /// The table was read before the fork, so only the parent is in it.
    #[test]
    fn a_kill_reaches_what_was_forked_after_the_table_was_read() {
        let mut command = Command::new("sh");
        command
            .args(["-c", "sleep 300 & echo $!; wait"])
            .process_group(0)
            .stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let forked = processes::read(line.trim().parse().unwrap()).unwrap();
        kill(&processes::read(i32::try_from(child.id()).unwrap()).unwrap());
        child.wait().unwrap();
        let started = Instant::now();
        while processes::is_running(forked.id) {
            let patience = started.elapsed() < Duration::from_mins(1);
            if !patience {
                processes::signal(forked.id, Signal::KILL).unwrap();
            }
            assert!(patience, "what was forked lives on");
            thread::sleep(PAUSE);
        }
    }
}
