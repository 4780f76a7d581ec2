//! Waiting beside a worker: it ends with the worker, and says whether another one is wanted.

use std::fs::File;
use std::io::Write as _;
use std::process::Command;
use std::time::Duration;

use home::{is_worker_there, now_ms, wait_beside};
use kernel::{EndReason, Event, FaultCause, RunOutcome};
use rustix::fs::{FlockOperation, flock};

use crate::support::{Scratch, ended, play_to_first_run, record};

const HOUR_MS: i64 = 60 * 60 * 1000;

/// A loop that waits until a time.
fn add_waiting_loop(scratch: &Scratch, loop_id: &str, until_ms: i64) {
    let journal = scratch.journal();
    let run = play_to_first_run(&journal, loop_id);
    let outcome = RunOutcome::Infrastructure {
        why: "no network".to_owned(),
        until_ms: Some(until_ms),
        elsewhere: false,
        cause: FaultCause::Network,
    };
    record(&journal, loop_id, &ended(run, outcome));
}

fn locked(path: &std::path::Path) -> File {
    let lock = File::create(path).expect("a file");
    flock(&lock, FlockOperation::NonBlockingLockExclusive).expect("free");
    lock
}

/// What a worker that has ended leaves behind.
fn leave_locks(scratch: &Scratch) {
    drop(locked(&scratch.home.worker_lock()));
    drop(locked(&scratch.home.alive_lock()));
}

#[test]
fn a_worker_is_there_while_it_holds_its_lock() {
    let scratch = Scratch::new();
    assert!(!is_worker_there(&scratch.home), "no file");
    let lock = locked(&scratch.home.worker_lock());
    assert!(is_worker_there(&scratch.home));
    drop(lock);
    assert!(!is_worker_there(&scratch.home), "an old file");
}

/// A worker that was killed keeps its lock until the kernel has taken it apart. Whoever took it for one
/// that works would start no other, and nobody would go on.
#[test]
fn i03_a_worker_that_was_killed_and_still_holds_its_lock_is_none() {
    let scratch = Scratch::new();
    let mut killed = Command::new("sleep").arg("600").spawn().expect("started");
    let mut lock = locked(&scratch.home.worker_lock());
    writeln!(lock, "{}", killed.id()).expect("signed");
    assert!(is_worker_there(&scratch.home), "it lives");
    // Nobody has waited for it, so it is still listed.
    killed.kill().expect("killed");
    let looks = std::thread::scope(|scope| {
        let looking = scope.spawn(|| is_worker_there(&scratch.home));
        std::thread::sleep(Duration::from_millis(200));
        drop(lock);
        looking.join().expect("looked")
    });
    killed.wait().expect("gone");
    assert!(!looks, "it was taken for a worker");
}

#[test]
fn no_worker_is_wanted_where_none_was_and_where_nothing_waits() {
    let scratch = Scratch::new();
    assert!(!wait_beside(&scratch.home), "there never was a worker");
    leave_locks(&scratch);
    assert!(!wait_beside(&scratch.home), "there are no loops");
    // A loop that is at work does not wait: whoever wants it done starts a worker.
    play_to_first_run(&scratch.journal(), "RUNNING");
    assert!(!wait_beside(&scratch.home), "no loop waits");
}

#[test]
fn loops_that_are_over_or_set_apart_do_not_want_a_worker() {
    let scratch = Scratch::new();
    leave_locks(&scratch);
    add_waiting_loop(&scratch, "OVER", 1);
    add_waiting_loop(&scratch, "APART", 1);
    let journal = scratch.journal();
    let reason = EndReason::Cancelled {
        why: "not wanted".to_owned(),
    };
    record(&journal, "OVER", &Event::LoopEnded { reason });
    journal
        .quarantine("APART", "a bad record")
        .expect("set apart");
    assert!(!wait_beside(&scratch.home));
}

#[test]
fn a_worker_is_wanted_once_a_wait_is_over() {
    let scratch = Scratch::new();
    leave_locks(&scratch);
    add_waiting_loop(&scratch, "LATER", now_ms() + HOUR_MS);
    // The first wait counts, and it is over.
    add_waiting_loop(&scratch, "NOW", now_ms() - HOUR_MS);
    assert!(wait_beside(&scratch.home));
}

#[test]
fn one_waiter_is_enough_for_a_state_folder() {
    let scratch = Scratch::new();
    leave_locks(&scratch);
    add_waiting_loop(&scratch, "NOW", now_ms() - HOUR_MS);
    let _first = locked(&scratch.home.waker_lock());
    assert!(!wait_beside(&scratch.home));
}

#[test]
fn the_end_of_the_worker_ends_the_wait_beside_it() {
    let scratch = Scratch::new();
    add_waiting_loop(&scratch, "NOW", now_ms() - HOUR_MS);
    let alive = locked(&scratch.home.alive_lock());
    let home = scratch.home.clone();
    let waiter = std::thread::spawn(move || wait_beside(&home));
    assert!(!waiter.is_finished(), "the worker lives");
    drop(alive);
    assert!(waiter.join().expect("no panic"), "the wait is over");
}
