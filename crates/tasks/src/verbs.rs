//! What somebody does with a task: each verb is one step under the store's lock, which reads, decides,
//! records and writes the word into the plan's file.

use kernel::WriteBack;

use crate::board::{Board, NoTask, Task};
use crate::error::{Refusal, TaskError};
use crate::event::{Event, Then};
use crate::lease::Lease;
use crate::moves::{self, Caller, Done, Force, LoopShare};
use crate::output::missing_output;
use crate::owner::OwnerKind;
use crate::store::{Tasks, View};
use crate::words::{free_word, take_back, write_claim};

/// A task that was taken.
#[derive(Debug, Clone, PartialEq)]
pub struct Claimed {
    /// The claim.
    pub lease: Lease,
    /// The task, as it was before.
    pub task: Task,
    /// The claim of somebody who is gone, whose processes may be left.
    pub stale: Option<Lease>,
    /// What became of the word in the plan's file.
    pub write_back: WriteBack,
}

/// What a completion led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completed {
    /// Whether the checks decide first.
    pub is_submitted: bool,
    /// Whether it was complete before.
    pub was_complete: bool,
    /// What the plan's file got to say.
    pub write_back: WriteBack,
}

impl Tasks {
    /// Takes the next wanted task, or says why there is none.
    pub fn claim_next(
        &self,
        lease: &Lease,
        is_wanted: &dyn Fn(&Task) -> bool,
    ) -> Result<Result<Claimed, NoTask>, TaskError> {
        let _lock = self.lock()?;
        let view = self.look_in_order()?;
        match view.board.next(is_wanted) {
            Ok(task) => self.take(&view, task, lease).map(Ok),
            Err(none) => Ok(Err(none)),
        }
    }

    /// Takes one task.
    pub fn claim(&self, id: &str, lease: &Lease) -> Result<Claimed, TaskError> {
        let _lock = self.lock()?;
        let view = self.look_in_order()?;
        let task = moves::find(&view.board, id).map_err(TaskError::Refused)?;
        self.take(&view, task, lease)
    }

    /// Reads the plan after what the dead left in its file was put right.
    fn look_in_order(&self) -> Result<View, TaskError> {
        let view = self.look()?;
        if self.settle_words(&view) {
            return self.look();
        }
        Ok(view)
    }

    fn take(&self, view: &View, task: &Task, lease: &Lease) -> Result<Claimed, TaskError> {
        let mut event = moves::claim(&view.board, &task.id, lease.clone());
        if let Ok(Event::Claimed { word, .. }) = &mut event {
            *word = self.word_of_claim(view, &task.id);
        }
        let event = event.map_err(TaskError::Refused)?;
        let number = self.append(&view.board, &view.claims, std::slice::from_ref(&event))?;
        let write_back = match &event {
            Event::Claimed { word, .. } => write_claim(&task.id, word.as_ref()),
            _ => WriteBack::Off,
        };
        Ok(Claimed {
            lease: Lease {
                number,
                ..lease.clone()
            },
            task: task.clone(),
            stale: task.stale.clone(),
            write_back,
        })
    }

    /// What a loop would get of these tasks now. Nothing is taken.
    pub fn share_for_loop(&self, ids: &[String]) -> Result<LoopShare, TaskError> {
        moves::share(&self.look()?.board, ids).map_err(TaskError::Refused)
    }

    /// Takes those of these tasks for a loop that nobody works on and that are not complete, and records
    /// the loop in the same breath: nobody can get in between. Nothing is taken if the loop is not
    /// recorded.
    pub fn claim_for_loop<T, E>(
        &self,
        ids: &[String],
        loop_id: &str,
        record: impl FnOnce(&LoopShare) -> Result<T, E>,
    ) -> Result<Result<T, E>, TaskError> {
        let _lock = self.lock()?;
        let view = self.look_in_order()?;
        let kind = OwnerKind::Loop {
            loop_id: loop_id.to_owned(),
        };
        let lease = self.lease(kind)?;
        let share = moves::share(&view.board, ids).map_err(TaskError::Refused)?;
        let tasks = &view.board.tasks;
        for task in tasks.iter().filter(|task| share.taken.contains(&task.id)) {
            take_back(task);
        }
        let events = moves::claim_all(&share, &lease);
        self.append(&view.board, &view.claims, &events)?;
        let recorded = record(&share);
        if recorded.is_err() {
            let back: Vec<Event> = share.taken.iter().map(|id| not_started(id)).collect();
            self.append_all(&back)?;
        }
        Ok(recorded)
    }

    /// Notes that a loop has landed a task that it holds. A loop that was started without claims holds
    /// none, and nothing is noted.
    pub fn complete_for_loop(&self, id: &str, loop_id: &str) -> Result<(), TaskError> {
        let _lock = self.lock()?;
        let state = self.claims()?.of(id);
        let is_its = |lease: &Lease| matches!(&lease.owner.kind, OwnerKind::Loop { loop_id: of } if of == loop_id);
        if !state.lease.as_ref().is_some_and(is_its) {
            return Ok(());
        }
        let event = Event::Completed {
            task: id.to_owned(),
            by: format!("loop {loop_id}"),
        };
        self.append_all(&[event]).map(drop)
    }

    /// Completes a task, after looking at what it must make, and writes that into the plan.
    pub fn complete(
        &self,
        id: &str,
        caller: &Caller,
        force: Force,
    ) -> Result<Completed, TaskError> {
        let _lock = self.lock()?;
        let view = self.look()?;
        let task = view.board.find(id);
        let output = task.and_then(|task| missing_output(&self.place().root, task));
        let done = moves::complete(&view.board, id, caller, force, output);
        let done = done.map_err(TaskError::Refused)?;
        let (event, is_submitted) = match done {
            Done::Before => {
                return Ok(Completed {
                    is_submitted: false,
                    was_complete: true,
                    write_back: WriteBack::Off,
                });
            }
            Done::Submitted(event) => (event, true),
            Done::Now(event) => (event, false),
        };
        self.append(&view.board, &view.claims, &[event])?;
        let write_back = if is_submitted {
            WriteBack::Off
        } else {
            self.write_complete(id, task.and_then(|task| task.word.as_ref()))
        };
        Ok(Completed {
            is_submitted,
            was_complete: false,
            write_back,
        })
    }

    /// Completes a task whose checks were green.
    pub fn accept(&self, id: &str, claim: u64) -> Result<WriteBack, TaskError> {
        let _lock = self.lock()?;
        let (board, claims) = self.settled()?;
        let task = board.find(id);
        if let Some(refusal) = task.and_then(|task| missing_output(&self.place().root, task)) {
            return Err(TaskError::Refused(refusal));
        }
        let event = moves::accept(&board, id, claim).map_err(TaskError::Refused)?;
        self.append(&board, &claims, &[event])?;
        Ok(self.write_complete(id, task.and_then(|task| task.word.as_ref())))
    }

    /// Notes that an agent failed; says what becomes of the task.
    pub fn fail(
        &self,
        id: &str,
        claim: u64,
        why: &str,
        tries_more: u32,
    ) -> Result<Then, TaskError> {
        self.move_by(|board| moves::fail(board, id, claim, why, tries_more))
            .map(|event| match event {
                Event::Failed { then, .. } => then,
                _ => Then::Open,
            })
    }

    /// Gives a task back.
    pub fn release(
        &self,
        id: &str,
        caller: &Caller,
        force: Force,
        why: &str,
    ) -> Result<(), TaskError> {
        self.move_by(|board| moves::release(board, id, caller, force, why))
            .map(drop)
    }

    /// Extends a claim. Fails if it is not the holder's any more.
    pub fn renew(&self, id: &str, claim: u64, until_ms: i64) -> Result<(), TaskError> {
        let _lock = self.lock()?;
        let lease = self.claims()?.of(id).lease;
        let task = id.to_owned();
        if lease.is_none_or(|lease| lease.number != claim) {
            return Err(TaskError::Refused(Refusal::Lost { task }));
        }
        let event = Event::Renewed {
            task,
            claim,
            until_ms,
        };
        self.append_all(&[event]).map(drop)
    }

    /// Makes a task as if nobody had touched it, in the plan's file too.
    pub fn reset(&self, id: &str, caller: &Caller, force: Force) -> Result<WriteBack, TaskError> {
        let _lock = self.lock()?;
        let view = self.look()?;
        let event = moves::reset(&view.board, id, caller, force);
        let mut event = event.map_err(TaskError::Refused)?;
        free_word(&view.board.tasks, &mut event);
        self.append(&view.board, &view.claims, &[event])?;
        let task = view.board.find(id).filter(|task| task.is_passed_in_file);
        Ok(match task {
            Some(task) => self.write_open(id, task.word.as_ref()),
            None => WriteBack::Off,
        })
    }

    fn move_by(
        &self,
        decide: impl FnOnce(&Board) -> Result<Event, Refusal>,
    ) -> Result<Event, TaskError> {
        let _lock = self.lock()?;
        let (board, claims) = self.settled()?;
        let mut event = decide(&board).map_err(TaskError::Refused)?;
        free_word(&board.tasks, &mut event);
        self.append(&board, &claims, std::slice::from_ref(&event))?;
        Ok(event)
    }
}

fn not_started(task: &str) -> Event {
    Event::Released {
        task: task.to_owned(),
        why: "the loop was not started".to_owned(),
        owes_word: false,
    }
}
