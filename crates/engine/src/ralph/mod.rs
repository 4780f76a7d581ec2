//! The task-graph loop: claim the next task, give its prompt to an agent, repeat.
//!
//! A task is complete when the store says so, never because a process ended with 0.

mod agent;
mod describe;
mod ending;
mod git_guard;
mod landing;
mod lane;
mod log;
mod plan;
mod proving;
mod rate;
mod requests;
mod shared;

use std::fs;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use tasks::{Place, Tasks};

use crate::fault::Fault;
use git_guard::GitGuard;
use landing::Landing;
use lane::{Lane, Step};
use log::{Action, Entry, Heartbeat, Log};
pub use plan::{End, Notice, OnFailure, RalphPlan, Summary};
use shared::{Counts, Shared};

/// Works on the tasks of a plan until there is nothing left to do. `signal` says whether it must end,
/// `tell` takes what people see.
pub fn ralph(
    plan: &RalphPlan,
    signal: &(dyn Fn() -> Option<i32> + Sync),
    tell: &mut (dyn FnMut(Notice) + Send),
) -> Result<Summary, Fault> {
    let began = Instant::now();
    let log = Log::open(&plan.logs).map_err(|error| Fault::io("make", &plan.logs, error))?;
    let _heart = Heartbeat::start(&plan.logs, plan.heartbeat);
    let is_guarded = plan.sandbox.is_some() && plan.parallel == 1;
    let guard = is_guarded.then(|| GitGuard::put(&plan.place.root, &plan.place.common));
    let _guard = guard.transpose()?;
    let shared = Shared {
        plan,
        log: &log,
        signal,
        tell: Mutex::new(tell),
        counts: Mutex::new(Counts::default()),
    };
    let (step, branch) = if plan.parallel > 1 {
        several(plan, &shared)?
    } else {
        let tasks = open(plan, plan.place.clone())?;
        let step = Lane::new(&shared, tasks, plan.place.root.clone(), None).run();
        (step, None)
    };
    let counts = shared.count(|counts| *counts);
    let end = match step {
        Step::End(end) => end,
        Step::Again => End::AllBlocked,
        Step::Stop { why } => {
            return Err(Fault::NeedsPerson {
                what: why,
                remedy: "mend that, then start `ralph` again; nothing is lost".to_owned(),
            });
        }
    };
    let summary = Summary {
        end,
        iterations: counts.iterations,
        completed: counts.completed,
        failed: counts.failed,
        errors: counts.errors,
        secs: began.elapsed().as_secs(),
        tokens: counts.tokens,
        branch,
    };
    note_end(&log, plan, &summary);
    Ok(summary)
}

fn open(plan: &RalphPlan, place: Place) -> Result<Tasks, Fault> {
    Tasks::open(&plan.home, place).map_err(|error| Fault::transient("open the claim store", error))
}

/// Several workers, each in a checkout of its own. The plan stays the person's: its file is read and
/// written in their checkout.
fn several(plan: &RalphPlan, shared: &Shared<'_>) -> Result<(Step, Option<String>), Fault> {
    let store = open(plan, plan.place.clone())?;
    let folder = store.folder().join("trees").join(&plan.id);
    fs::create_dir_all(&folder).map_err(|error| Fault::io("make", &folder, error))?;
    let folder = fs::canonicalize(&folder).map_err(|error| Fault::io("find", &folder, error))?;
    let landing = Landing::open(plan, &folder)?;
    let mut lanes = Vec::new();
    for number in 1..=plan.parallel {
        let root = folder.join(format!("tree-{number}"));
        let place = Place {
            root: root.clone(),
            ..plan.place.clone()
        };
        lanes.push(Lane::new(shared, open(plan, place)?, root, Some(&landing)));
    }
    let steps: Vec<Step> = thread::scope(|threads| {
        let started: Vec<_> = lanes
            .iter_mut()
            .map(|lane| threads.spawn(|| lane.run()))
            .collect();
        let ended = started.into_iter().map(|lane| match lane.join() {
            Ok(step) => step,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        ended.collect()
    });
    let branch = landing.branch();
    drop(lanes);
    // The commits are in the person's repository; what is left here is of no use.
    let _ = home::remove_folder(&folder);
    let step = steps.into_iter().min_by_key(rank).unwrap_or(Step::Again);
    Ok((step, branch))
}

/// Which end of several is told.
fn rank(step: &Step) -> u8 {
    match step {
        Step::Stop { .. } => 0,
        Step::End(End::Interrupted { .. }) => 1,
        Step::End(End::AllComplete) => 2,
        Step::End(End::Limit) => 3,
        Step::End(End::NoPrompt) => 4,
        Step::End(End::AllBlocked) | Step::Again => 5,
    }
}

/// The last lines of the log.
fn note_end(log: &Log, plan: &RalphPlan, summary: &Summary) {
    let add = |action, outcome: &str| {
        log.add(&Entry {
            iteration: summary.iterations,
            task_id: None,
            action,
            duration_seconds: Some(f64::from(u32::try_from(summary.secs).unwrap_or(u32::MAX))),
            exit_code: None,
            outcome: Some(outcome),
            agent: &plan.agent_name,
            tokens: summary.tokens,
        });
    };
    match &summary.end {
        End::AllComplete => add(Action::Finished, "all_complete"),
        End::AllBlocked => add(Action::Blocked, "all_blocked"),
        End::Limit => add(Action::Finished, "max_iterations"),
        End::NoPrompt => add(Action::Finished, "no_prompt"),
        End::Interrupted { signal } => add(Action::Interrupted, &format!("signal {signal}")),
    }
}
