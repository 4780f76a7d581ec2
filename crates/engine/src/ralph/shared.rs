//! What all workers of a `ralph` share: the plan, the log, the counters, and whether it must end.

use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::log::Log;
use super::plan::{Notice, RalphPlan};

/// How often a wait looks whether it must end.
const LOOK: Duration = Duration::from_millis(50);

/// What all workers share.
pub(super) struct Shared<'a> {
    pub(super) plan: &'a RalphPlan,
    pub(super) log: &'a Log,
    pub(super) signal: &'a (dyn Fn() -> Option<i32> + Sync),
    pub(super) tell: Mutex<&'a mut (dyn FnMut(Notice) + Send)>,
    pub(super) counts: Mutex<Counts>,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) iterations: u64,
    pub(super) completed: u64,
    pub(super) failed: u64,
    pub(super) errors: u64,
    pub(super) tokens: Option<u64>,
}

impl Shared<'_> {
    /// The signal that asks everybody to end.
    pub(super) fn signal(&self) -> Option<i32> {
        (self.signal)()
    }

    pub(super) fn say(&self, notice: Notice) {
        let mut tell = self.tell.lock().unwrap_or_else(PoisonError::into_inner);
        tell(notice);
    }

    /// Sleeps, unless everybody must end.
    pub(super) fn sleep(&self, how_long: Duration) {
        let began = Instant::now();
        while self.signal().is_none() {
            let left = how_long.saturating_sub(began.elapsed());
            if left.is_zero() {
                return;
            }
            thread::sleep(left.min(LOOK));
        }
    }

    /// Counts an iteration, and gives its number.
    pub(super) fn begin(&self) -> u64 {
        self.count(|counts| {
            counts.iterations += 1;
            counts.iterations
        })
    }

    /// A limit uses up no iteration.
    pub(super) fn undo_iteration(&self) {
        self.count(|counts| counts.iterations = counts.iterations.saturating_sub(1));
    }

    pub(super) fn is_limit_reached(&self) -> bool {
        let max = self.plan.max_iterations;
        max.is_some_and(|max| self.count(|counts| counts.iterations >= max))
    }

    pub(super) fn completed(&self, tokens: Option<u64>) {
        self.count(|counts| {
            counts.completed += 1;
            add(&mut counts.tokens, tokens);
        });
    }

    pub(super) fn failed(&self, tokens: Option<u64>) {
        self.count(|counts| {
            counts.failed += 1;
            add(&mut counts.tokens, tokens);
        });
    }

    pub(super) fn count<T>(&self, change: impl FnOnce(&mut Counts) -> T) -> T {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut counts)
    }
}

/// Unknown is not nothing: a sum of what nobody told stays unknown.
fn add(sum: &mut Option<u64>, tokens: Option<u64>) {
    if let Some(tokens) = tokens {
        *sum = Some(sum.unwrap_or_default().saturating_add(tokens));
    }
}
