//! How an agent's run ended, and what that means for its task. Only the store completes one.

use std::path::Path;
use std::thread;
use std::time::Duration;

use agents::{Outcome, RunSummary};
use home::now_ms;
use sandbox::{ExitCause, ExitRecord, RunView};

use crate::fault::Fault;

/// How often a run is looked at.
pub(super) const LOOK: Duration = Duration::from_millis(15);

/// How a task's agent ended.
pub(super) enum Ended {
    Complete,
    /// The work is there, and the checks decide.
    Submitted,
    Failed {
        why: String,
    },
    Limited {
        why: String,
        until_ms: Option<i64>,
    },
    /// Nothing that an agent could do anything about.
    Impossible {
        why: String,
    },
    /// Others landed something else in the same places.
    Clash {
        why: String,
    },
    /// The claim was taken away.
    Lost,
    Interrupted,
}

/// How a kept process came to its end.
pub(super) enum Kept {
    Ended(Box<ExitRecord>),
    Lost,
    Interrupted,
}

/// Asks a run to end.
pub(super) fn stop(folder: &Path) {
    let _ = sandbox::request_stop(folder, "the loop ends it");
}

/// Ends a run of whoever is gone: asks its keeper, or sweeps what a dead keeper left.
///
/// It is asked whatever is seen of it: a keeper that was launched just before its process died may only
/// be on its way, and must find the request when it comes.
pub(super) fn end_run(folder: &Path) {
    const LOOKS_MAX: u32 = 1500;
    stop(folder);
    for _ in 0..LOOKS_MAX {
        match sandbox::look(folder) {
            Ok(RunView::Running(_)) => {}
            Ok(RunView::Lost(_)) => break,
            Ok(RunView::NotStarted | RunView::Ended(_) | RunView::Rebooted(_)) | Err(_) => return,
        }
        thread::sleep(LOOK);
    }
    let _ = sandbox::sweep(folder);
}

/// What it means that an agent could not be started: it has done nothing, so that it costs the task no
/// attempt.
pub(super) fn not_started(fault: &Fault) -> Ended {
    let why = fault.words();
    match fault {
        Fault::Unreachable { .. } | Fault::Delayed { .. } => Ended::Limited {
            why,
            until_ms: None,
        },
        Fault::Transient { .. }
        | Fault::Aborted
        | Fault::BadTree { .. }
        | Fault::DiskFull
        | Fault::NeedsPerson { .. }
        | Fault::NotLoggedIn { .. } => Ended::Impossible { why },
    }
}

/// What an agent's end means for a task that it did not complete.
pub(super) fn meaning(
    exit: &ExitRecord,
    summary: &RunSummary,
    is_any_program: bool,
    has_changed: bool,
) -> Ended {
    let message = summary.message.clone();
    let or = |words: &str| message.clone().unwrap_or_else(|| words.to_owned());
    let millis = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    if let ExitCause::CannotStart { why, .. } = &exit.cause {
        return Ended::Impossible { why: why.clone() };
    }
    if is_any_program {
        return match (&exit.cause, exit.exit_code) {
            (ExitCause::Exited, Some(0)) if has_changed => Ended::Submitted,
            (ExitCause::Exited, Some(0)) => Ended::Failed {
                why: "the agent ended without completing the task".to_owned(),
            },
            // What a shell says of a program that it cannot find or start.
            (ExitCause::Exited, Some(code @ (126 | 127))) => Ended::Impossible {
                why: format!("the agent cannot be started (exit code {code})"),
            },
            (ExitCause::Exited, Some(code)) => Ended::Failed {
                why: format!("the agent ended with exit code {code}"),
            },
            (ExitCause::WallTimeout, _) => Ended::Failed {
                why: "the agent ran out of time".to_owned(),
            },
            (ExitCause::IdleTimeout, _) => Ended::Failed {
                why: "the agent said nothing for too long".to_owned(),
            },
            _ => Ended::Failed {
                why: "the agent was ended by a signal".to_owned(),
            },
        };
    }
    match &summary.outcome {
        Outcome::Done if has_changed => Ended::Submitted,
        Outcome::Done => Ended::Failed {
            why: "the agent ended without completing the task".to_owned(),
        },
        Outcome::UsageLimit { until_ms } => Ended::Limited {
            why: or("the allowance is used up"),
            until_ms: until_ms.map(millis),
        },
        Outcome::RateLimited { after_ms } => Ended::Limited {
            why: or("too many requests"),
            until_ms: after_ms.map(|after| now_ms().saturating_add(millis(after))),
        },
        Outcome::Overloaded | Outcome::Network => Ended::Limited {
            why: or("the model's servers cannot be reached"),
            until_ms: None,
        },
        Outcome::NotInstalled | Outcome::TooOld | Outcome::NotLoggedIn | Outcome::Billing => {
            Ended::Impossible {
                why: or("the agent cannot work on this machine"),
            }
        }
        Outcome::Failed
        | Outcome::Interrupted
        | Outcome::ContextOverflow
        | Outcome::PermissionDenied
        | Outcome::NeedsAnswer { .. }
        | Outcome::Protocol { .. } => Ended::Failed {
            why: or("the agent failed"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a keeper does that finds such a request is a test of `sandbox`.
    #[test]
    fn b2_a_keeper_that_comes_after_its_process_died_is_asked_to_stop() {
        let run = tempfile::tempdir().expect("a folder");
        end_run(run.path());
        assert!(run.path().join("stop").exists());
    }
}
