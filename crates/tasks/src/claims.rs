//! The state of all tasks, as the events tell it. Pure: whether a holder is alive is asked elsewhere.

use std::collections::BTreeMap;

use crate::event::{Event, Then};
use crate::file_word::FileWord;
use crate::lease::Lease;
use crate::owner::Owner;

/// A task that its agent failed at and that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Why it failed.
    pub why: String,
    /// When.
    pub at_ms: i64,
    /// Who held it.
    pub owner: Option<Owner>,
}

/// The state of one task.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskState {
    /// Whether the store knows the task; before that the plan's own word counts.
    pub is_known: bool,
    /// Whether it is complete.
    pub is_complete: bool,
    /// Whether somebody reset it, so that no word of the file sets it aside.
    pub is_reset: bool,
    /// The claim, whether or not its holder is alive.
    pub lease: Option<Lease>,
    /// The failure that waits for a person.
    pub kept: Option<Kept>,
    /// Failures since it was last reset.
    pub failures: u32,
    /// What its last claim wrote into a plan's file, until that is taken back.
    pub word: Option<FileWord>,
}

/// The state of all tasks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Claims {
    tasks: BTreeMap<String, TaskState>,
}

impl Claims {
    /// The state of one task; that of a task that nobody has touched is empty.
    pub fn of(&self, task: &str) -> TaskState {
        self.tasks.get(task).cloned().unwrap_or_default()
    }

    /// All claims, whether or not their holders are alive.
    pub fn leases(&self) -> impl Iterator<Item = (&str, &Lease)> {
        let held = self.tasks.iter();
        held.filter_map(|(task, state)| Some((task.as_str(), state.lease.as_ref()?)))
    }

    /// Takes one fact, with the number and the time of its record.
    pub fn apply(&mut self, event: &Event, number: u64, at_ms: i64) {
        match event {
            Event::Seen { tasks } => self.see(tasks),
            Event::Claimed { task, lease, word } => {
                let state = self.state(task);
                state.kept = None;
                state.word.clone_from(word);
                state.lease = Some(Lease {
                    number,
                    ..(**lease).clone()
                });
            }
            Event::Renewed {
                task,
                claim,
                until_ms,
            } => {
                if let Some(lease) = self.held(task, *claim) {
                    lease.until_ms = *until_ms;
                }
            }
            Event::Submitted { task, claim } => {
                if let Some(lease) = self.held(task, *claim) {
                    lease.is_submitted = true;
                }
            }
            Event::Completed { task, .. } => {
                let state = self.state(task);
                *state = TaskState {
                    is_known: true,
                    is_complete: true,
                    // Whoever resets it puts the word back that stood there before.
                    word: state.word.take(),
                    ..TaskState::default()
                };
            }
            Event::Failed {
                task,
                why,
                then,
                owes_word,
                ..
            } => {
                let state = self.state(task);
                let owner = state.lease.take().map(|lease| lease.owner);
                state.failures = state.failures.saturating_add(1);
                let why = why.clone();
                state.kept = (*then == Then::Keep).then_some(Kept { why, at_ms, owner });
                state.word.take_if(|_| *then == Then::Open && !owes_word);
            }
            Event::Released {
                task, owes_word, ..
            } => {
                let state = self.state(task);
                state.lease = None;
                state.word.take_if(|_| !owes_word);
            }
            Event::Reset {
                task, owes_word, ..
            } => {
                let state = self.state(task);
                *state = TaskState {
                    is_known: true,
                    is_reset: true,
                    word: state.word.take().filter(|_| *owes_word),
                    ..TaskState::default()
                };
            }
        }
    }

    fn see(&mut self, tasks: &BTreeMap<String, bool>) {
        for (task, is_complete) in tasks {
            let state = self.tasks.entry(task.clone()).or_default();
            if !state.is_known {
                state.is_known = true;
                state.is_complete = *is_complete;
            }
        }
    }

    fn state(&mut self, task: &str) -> &mut TaskState {
        let state = self.tasks.entry(task.to_owned()).or_default();
        state.is_known = true;
        state
    }

    /// The claim of this number, if the task is still held by it.
    fn held(&mut self, task: &str, claim: u64) -> Option<&mut Lease> {
        let lease = self.state(task).lease.as_mut();
        lease.filter(|lease| lease.number == claim)
    }
}
