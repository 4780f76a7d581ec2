//! Which of the orders that a loop is owed may be carried out now: the limits over all loops. Pure.
//!
//! A slot is taken by a run that is recorded as started and not as ended, whatever its process does.
//! So a worker that knows nothing but the journal counts like the one before it, and a loop that
//! waits, asks or is paused takes no slot.

use kernel::{Order, Stage, State};

/// Records that one loop may add in one turn, so that no loop keeps the others waiting.
pub const RECORDS_PER_TURN_MAX: usize = 20;

/// How many runs there may be at once, over all loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Runs of agents.
    pub agents_max: usize,
    /// Runs of the projects' own commands.
    pub checks_max: usize,
}

/// How many runs there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Busy {
    /// Runs of agents.
    pub agents: usize,
    /// Runs of the projects' own commands.
    pub checks: usize,
}

impl Busy {
    /// Counts the runs of all these loops.
    pub fn of<'s>(states: impl IntoIterator<Item = &'s State>) -> Self {
        let mut busy = Self::default();
        for stage in states.into_iter().flat_map(running_stages) {
            *busy.of_kind(stage) += 1;
        }
        busy
    }

    fn of_kind(&mut self, stage: Stage) -> &mut usize {
        if stage.is_check() {
            &mut self.checks
        } else {
            &mut self.agents
        }
    }
}

/// The stages of a loop's runs that are under way.
pub(crate) fn running_stages(state: &State) -> Vec<Stage> {
    if state.ended().is_some() {
        return Vec::new();
    }
    state.running().into_iter().map(|run| run.stage).collect()
}

/// What may be carried out now of what is owed, in its order.
pub fn open_now(owed: Vec<Order>, mut busy: Busy, limits: Limits) -> Vec<Order> {
    let mut open = owed;
    open.retain(|order| {
        let Some(stage) = order.deed.starts() else {
            return true;
        };
        let slots = if stage.is_check() {
            limits.checks_max
        } else {
            limits.agents_max
        };
        let taken = busy.of_kind(stage);
        let is_free = *taken < slots;
        // One attempt may be owed several runs at once.
        *taken += usize::from(is_free);
        is_free
    });
    open
}
