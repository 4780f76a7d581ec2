//! What somebody may do with a task, and what that leads to. Pure.

use std::collections::BTreeMap;

use crate::board::{Board, Status, Task};
use crate::claims::TaskState;
use crate::error::Refusal;
use crate::event::{Event, Then};
use crate::lease::Lease;
use crate::owner::{Owner, OwnerKind, person};

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caller {
    /// Whoever works under this claim: its ralph, its loop, or the agent that they started.
    Holder {
        /// The claim's number.
        claim: u64,
    },
    /// Anybody else, by name.
    Person {
        /// As `name@host`.
        name: String,
    },
}

/// Whether somebody insists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Force {
    /// What speaks against it is told.
    No,
    /// It is done whatever speaks against it.
    Yes,
}

impl Caller {
    /// Whoever sits at this machine.
    pub fn person() -> Self {
        Self::Person { name: person() }
    }

    fn words(&self) -> String {
        match self {
            Self::Holder { claim } => format!("claim {claim}"),
            Self::Person { name } => name.clone(),
        }
    }
}

/// Takes a task.
pub(crate) fn claim(board: &Board, id: &str, lease: Lease) -> Result<Event, Refusal> {
    let task = find(board, id)?;
    let claimed = |task: &Task| Event::Claimed {
        task: task.id.clone(),
        lease: Box::new(lease),
        word: None,
    };
    match &task.status {
        Status::Ready => Ok(claimed(task)),
        // Whoever asks for it by name takes over what an agent has failed at, if nothing else
        // speaks against it.
        Status::Failed(_) => match waits_for(board, task) {
            on if on.is_empty() => Ok(claimed(task)),
            on => Err(waits(task, on)),
        },
        Status::Complete => Err(Refusal::Complete { task: id.into() }),
        Status::InProgress(lease) => Err(held(task, lease)),
        Status::Blocked(on) => Err(waits(task, on.clone())),
        Status::SetAside(state) => Err(Refusal::SetAside {
            task: id.into(),
            word: state.word(),
        }),
    }
}

/// What a loop gets of the tasks that it wants.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoopShare {
    /// The tasks that it takes.
    pub taken: Vec<String>,
    /// Those that the store knows as complete.
    pub complete: Vec<String>,
    /// Those that somebody else works on, with who that is.
    pub held: Vec<(String, Owner)>,
}

/// What a loop may take, which waits for dependencies itself.
pub(crate) fn share(board: &Board, ids: &[String]) -> Result<LoopShare, Refusal> {
    let mut share = LoopShare::default();
    for id in ids {
        let task = find(board, id)?;
        let id = task.id.clone();
        match &task.status {
            Status::InProgress(other) => share.held.push((id, other.owner.clone())),
            Status::Complete => share.complete.push(id),
            Status::Ready | Status::Blocked(_) | Status::Failed(_) | Status::SetAside(_) => {
                share.taken.push(id);
            }
        }
    }
    Ok(share)
}

/// Takes tasks for a loop. They stay as they are in the file: a loop works on few of them at a time.
pub(crate) fn claim_all(share: &LoopShare, lease: &Lease) -> Vec<Event> {
    let claimed = |id: &String| Event::Claimed {
        task: id.clone(),
        lease: Box::new(lease.clone()),
        word: None,
    };
    share.taken.iter().map(claimed).collect()
}

/// What a completion leads to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Done {
    /// It is recorded.
    Now(Event),
    /// The checks decide.
    Submitted(Event),
    /// It was complete before.
    Before,
}

/// Completes a task. `output` is what is wrong with what it must make.
pub(crate) fn complete(
    board: &Board,
    id: &str,
    caller: &Caller,
    force: Force,
    output: Option<Refusal>,
) -> Result<Done, Refusal> {
    let task = find(board, id)?;
    if task.status == Status::Complete {
        return Ok(Done::Before);
    }
    let lease = may_act(task, caller, force)?;
    if force == Force::No {
        let on = waits_for(board, task);
        if !on.is_empty() {
            return Err(waits(task, on));
        }
        if let Some(refusal) = output {
            return Err(refusal);
        }
    }
    let (task, by) = (task.id.clone(), caller.words());
    Ok(match (lease, caller) {
        (Some(lease), Caller::Holder { claim }) if lease.verify => {
            Done::Submitted(Event::Submitted {
                task,
                claim: *claim,
            })
        }
        _ => Done::Now(Event::Completed { task, by }),
    })
}

/// Completes a task whose checks were green.
pub(crate) fn accept(board: &Board, id: &str, claim: u64) -> Result<Event, Refusal> {
    let task = find(board, id)?;
    let caller = Caller::Holder { claim };
    may_act(task, &caller, Force::No)?;
    let on = waits_for(board, task);
    if !on.is_empty() {
        return Err(waits(task, on));
    }
    Ok(Event::Completed {
        task: task.id.clone(),
        by: format!("checks of {}", caller.words()),
    })
}

/// Gives a task back.
pub(crate) fn release(
    board: &Board,
    id: &str,
    caller: &Caller,
    force: Force,
    why: &str,
) -> Result<Event, Refusal> {
    let task = find(board, id)?;
    if may_act(task, caller, force)?.is_none() && task.stale.is_none() {
        return Err(Refusal::NotHeld { task: id.into() });
    }
    Ok(Event::Released {
        task: task.id.clone(),
        why: why.to_owned(),
        owes_word: false,
    })
}

/// Makes a task as if nobody had ever touched it.
pub(crate) fn reset(
    board: &Board,
    id: &str,
    caller: &Caller,
    force: Force,
) -> Result<Event, Refusal> {
    let task = find(board, id)?;
    may_act(task, caller, force)?;
    Ok(Event::Reset {
        task: task.id.clone(),
        by: caller.words(),
        owes_word: false,
    })
}

/// Notes that an agent failed. With `tries_more`, the task is anybody's again that many times.
pub(crate) fn fail(
    board: &Board,
    id: &str,
    claim: u64,
    why: &str,
    tries_more: u32,
) -> Result<Event, Refusal> {
    let task = find(board, id)?;
    may_act(task, &Caller::Holder { claim }, Force::No)?;
    let then = if task.failures < tries_more {
        Then::Open
    } else {
        Then::Keep
    };
    Ok(Event::Failed {
        task: task.id.clone(),
        claim,
        why: why.to_owned(),
        then,
        owes_word: false,
    })
}

/// The tasks of a plan that the store does not know yet, with what the file says of each.
pub(crate) fn unseen(board: &Board, known: &dyn Fn(&str) -> TaskState) -> Option<Event> {
    let new = board.tasks.iter().filter(|task| !known(&task.id).is_known);
    let tasks: BTreeMap<String, bool> = new
        .map(|task| (task.id.clone(), task.is_passed_in_file))
        .collect();
    (!tasks.is_empty()).then_some(Event::Seen { tasks })
}

/// The lease that the caller may act on, if the task is held. A holder acts on its own claim and
/// nothing else. A person acts on what nobody or another person holds, and on what a living process
/// holds only by force.
fn may_act<'b>(
    task: &'b Task,
    caller: &Caller,
    force: Force,
) -> Result<Option<&'b Lease>, Refusal> {
    let lease = match &task.status {
        Status::InProgress(lease) => Some(&**lease),
        _ => None,
    };
    match (caller, lease.or(task.stale.as_ref()), lease) {
        (Caller::Holder { claim }, Some(own), _) if own.number == *claim => Ok(Some(own)),
        (Caller::Holder { .. }, _, _) => Err(Refusal::Lost {
            task: task.id.clone(),
        }),
        (Caller::Person { .. }, _, Some(lease))
            if lease.owner.kind != OwnerKind::Person && force == Force::No =>
        {
            Err(held(task, lease))
        }
        (Caller::Person { .. }, _, lease) => Ok(lease),
    }
}

pub(crate) fn find<'b>(board: &'b Board, id: &str) -> Result<&'b Task, Refusal> {
    board.find(id).ok_or_else(|| {
        let ids = board.tasks.iter().map(|task| task.id.as_str());
        Refusal::Unknown {
            task: id.to_owned(),
            near: prd::nearest(id, ids).map(str::to_owned),
        }
    })
}

fn held(task: &Task, lease: &Lease) -> Refusal {
    let by = |owner: &Owner| owner.words();
    Refusal::Held {
        task: task.id.clone(),
        by: by(&lease.owner),
    }
}

fn waits(task: &Task, on: Vec<String>) -> Refusal {
    Refusal::Waits {
        task: task.id.clone(),
        on,
    }
}

fn waits_for(board: &Board, task: &Task) -> Vec<String> {
    let open = |on: &&String| {
        let found = board.find(on);
        found.is_some_and(|on| on.status != Status::Complete)
    };
    task.depends_on.iter().filter(open).cloned().collect()
}
