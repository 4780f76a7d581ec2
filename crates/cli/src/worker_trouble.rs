//! What every face says of a worker that does not work.

use home::{Home, WorkerState, worker_fault, worker_state};
use serde_json::{Value, json};

/// What keeps the worker from its work, and what to do about it.
pub(crate) struct Trouble {
    /// What is wrong.
    pub(crate) what: String,
    /// What a person could do.
    pub(crate) remedy: String,
}

/// What is wrong with a worker that is there.
pub(crate) fn trouble(home: &Home) -> Option<Trouble> {
    let state = worker_state(home);
    if let WorkerState::Stopped { pid } = state {
        return Some(Trouble {
            what: format!("the worker process {pid} is stopped"),
            remedy: format!(
                "`kill -CONT {pid}` lets it go on, `loopwright worker restart` replaces it"
            ),
        });
    }
    let what = worker_fault(home)?;
    Some(Trouble {
        what,
        remedy: "it goes on by itself once that has passed; its log is worker.log in the state \
                 folder"
            .to_owned(),
    })
}

/// The worker in `--json`.
pub(crate) fn as_json(home: &Home) -> Value {
    let state = worker_state(home);
    let word = match state {
        WorkerState::Absent => "absent",
        WorkerState::AtWork { .. } => "at_work",
        WorkerState::Stopped { .. } => "stopped",
    };
    let mut value = json!({ "state": word });
    if let Some(pid) = state.pid() {
        value["pid"] = pid.into();
    }
    if let Some(trouble) = trouble(home) {
        value["fault"] = trouble.what.into();
    }
    value
}
