//! The keeper's process tree: reaps it, asks it to end, kills it until nothing is left.
//!
//! The keeper is the subreaper of all of it: whoever loses its parent becomes a child of the
//! keeper, `setsid` or not. So "nothing is left" is simply "the keeper has no child", which the
//! kernel says and no table has to be trusted for. Why the tree must end is not known here.

use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, getpgrp, getpid, kill_process_group, test_kill_process_group, wait,
};

use super::processes::{self, Identity, Process};
use crate::StopSignal;

const PAUSE: Duration = Duration::from_millis(5);

/// One program and everything that came of it.
#[derive(Debug)]
pub(super) struct Tree {
    program: Pid,
    ended: Option<ExitStatus>,
    is_empty: bool,
}

impl Tree {
    /// Takes over a program that was started as the leader of its own process group.
    pub(super) fn new(program: Pid) -> Self {
        Self {
            program,
            ended: None,
            is_empty: false,
        }
    }

    /// Takes the status of every process that has ended and is ours to wait for.
    pub(super) fn reap(&mut self) {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.program => {
                    self.ended = Some(ExitStatus::from_raw(status.as_raw()));
                }
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return,
                Err(_) => {
                    self.is_empty = true;
                    return;
                }
            }
        }
    }

    /// Whether the program itself has ended. Where its status went elsewhere (a parent that ignores
    /// `SIGCHLD` hands that down), an empty tree says so too.
    pub(super) fn program_ended(&self) -> bool {
        self.ended.is_some() || self.is_empty
    }

    pub(super) fn exit_status(&self) -> Option<ExitStatus> {
        self.ended
    }

    /// Asks the program's process group to end, and gives it some time for that.
    ///
    /// It is called only while the program has not been reaped: until then the group's number
    /// cannot name another group.
    pub(super) fn ask_to_end(&mut self, stop_signal: StopSignal, grace: Duration) {
        let signal = match stop_signal {
            StopSignal::Term => Signal::TERM,
            StopSignal::Int => Signal::INT,
        };
        // It fails only if the group is gone already, and then there is nobody to wait for.
        let _ = kill_process_group(self.program, signal);
        let asked = Instant::now();
        while asked.elapsed() < grace && test_kill_process_group(self.program).is_ok() {
            thread::sleep(PAUSE);
            self.reap();
        }
    }

    /// Kills all that is left until nothing is, and returns how many processes that were beside the
    /// program.
    ///
    /// It has no time limit: a process that cannot be killed is a run that has not ended.
    pub(super) fn kill_all(&mut self) -> u32 {
        let mut killed = BTreeSet::new();
        self.reap();
        while !self.is_empty {
            // Nothing is reaped in a round, so that the number of a child, or of its group, keeps
            // its meaning in it.
            let left = left();
            left.iter().for_each(kill);
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

/// All that is below the keeper. A table that cannot be read now is read again in the next round.
fn left() -> Vec<Process> {
    let keeper = BTreeSet::from([getpid().as_raw_nonzero().get()]);
    processes::all()
        .map(|table| processes::descendants(&table, &keeper))
        .unwrap_or_default()
}

/// Kills one process and, if it is our child, its whole group at once.
///
/// The group matters for processes that the table does not have, because they were forked after it
/// was read: one signal ends all of a group at once, and no fork slips through. A tree that doubles
/// faster than single kills halve it would never end without. All groups of the keeper's session
/// but its own are of the tree, and a group below another session leader is too.
fn kill(process: &Process) {
    let is_ours = process.parent == getpid().as_raw_nonzero().get();
    let group = Pid::from_raw(process.group).filter(|group| is_ours && *group != getpgrp());
    if let Some(group) = group {
        // Both may fail because the process has just ended; whether it has is seen in the next
        // round.
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

    /// The table was read before the fork, so it has the parent alone.
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
