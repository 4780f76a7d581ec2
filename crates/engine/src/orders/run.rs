//! Sees how a run stands: starts it, leaves it alone while it is under way, or reads its end.
//!
//! Looking always comes before doing. Whatever an earlier worker started is adopted, and what it
//! only prepared is launched as it is.

use kernel::{
    Event, FaultCause, InterruptCause, Order, RunOrder, RunOutcome, RunUsage, Stage, Walls, Writes,
};

use crate::fault::Fault;
use crate::ports::{Look, Ports};
use crate::redaction::{mask_home, mask_run};
use crate::run::files::{RunFiles, config_home, discard};
use crate::run::outcome::EndedRun;
use crate::run::preparing::Preparing;
use crate::run::walls::walls_of;
use crate::run::{credentials, downloads};
use crate::settings_of::settings_of;

/// How many faults of ours in a row a run may meet before a person is asked. The waits between them
/// grow, so that it takes more than an hour.
const FAULTS_MAX: u32 = 10;

/// Says whether a run is under way, so that nothing is to be done for it now.
pub(crate) fn is_under_way(order: &Order, run: &RunOrder, ports: &Ports) -> bool {
    let files = RunFiles::of(&ports.home, &order.loop_id, &run.place);
    matches!(ports.runs.look(&files.folder), Ok(Look::Running))
}

/// Says whether a run has ended, so that there is something to record.
pub(crate) fn has_ended(order: &Order, run: &RunOrder, ports: &Ports) -> bool {
    let files = RunFiles::of(&ports.home, &order.loop_id, &run.place);
    matches!(ports.runs.look(&files.folder), Ok(Look::Ended(_)))
}

pub(crate) fn see_to_run(
    order: &Order,
    run: &RunOrder,
    ports: &Ports,
) -> Result<Option<Event>, Fault> {
    let settings = settings_of(order)?;
    let files = RunFiles::of(&ports.home, &order.loop_id, &run.place);
    let ended = EndedRun {
        order,
        run,
        files: &files,
        settings: &settings,
        ports,
    };
    let mut walls = Walls::default();
    let (outcome, usage) = match ports.runs.look(&files.folder)? {
        Look::Running => return Ok(None),
        Look::Prepared => {
            ports.runs.launch(&files.folder)?;
            return Ok(None);
        }
        Look::Unprepared => match start(&ended)? {
            Some(known) => (known, None),
            None => return Ok(None),
        },
        Look::Ended(exit) => {
            walls = walls_of(&exit);
            ended.outcome(&exit)
        }
        Look::Lost => {
            ports.runs.sweep(&files.folder)?;
            cut_short(&ended, InterruptCause::KeeperLost, "its keeper died")
        }
        Look::Rebooted => cut_short(
            &ended,
            InterruptCause::Rebooted,
            "the machine was started anew",
        ),
    };
    mask_run(&ports.home, &order.loop_id, &files.folder);
    Ok(Some(end(&ended, outcome, usage, walls)))
}

/// Gets a run ready and launches it; a base that was measured before needs no run.
fn start(ended: &EndedRun<'_>) -> Result<Option<RunOutcome>, Fault> {
    let (order, run, ports) = (ended.order, ended.run, ended.ports);
    if run.place.run.stage == Stage::Baseline
        && let Some(known) = ended.known_baseline()?
    {
        return Ok(Some(known));
    }
    let repository = ports.repositories.open(&order.loop_id)?;
    let preparing = Preparing {
        order,
        run,
        files: ended.files,
        settings: ended.settings,
        repository: &*repository,
        ports,
    };
    // The spec is written last: where it is, all else is there.
    ports
        .runs
        .prepare(&ended.files.folder, &preparing.run_spec()?)?;
    ports.runs.launch(&ended.files.folder)?;
    Ok(None)
}

fn cut_short(
    ended: &EndedRun<'_>,
    cause: InterruptCause,
    why: &str,
) -> (RunOutcome, Option<RunUsage>) {
    (RunOutcome::interrupted(cause, why), ended.session_so_far())
}

/// Clears up after a run and gives the record of its end.
fn end(ended: &EndedRun<'_>, outcome: RunOutcome, usage: Option<RunUsage>, walls: Walls) -> Event {
    let (order, run, ports) = (ended.order, ended.run, ended.ports);
    clear_config_home(ended);
    // A prover's work counts although it says nothing usable of it.
    let is_mute = matches!(outcome, RunOutcome::BadAnswer { .. }) && run.row.writes == Writes::Code;
    let has_written = is_mute
        || matches!(
            outcome,
            RunOutcome::Worked { .. } | RunOutcome::TestsWritten(_)
        );
    let is_resumed = usage.as_ref().is_some_and(|usage| usage.resumable);
    // What an author made or resumes is still needed; every other checkout has done its duty.
    if !has_written && !is_resumed && !ended.settings.keep_checkouts {
        ended.files.discard_checkout(ports, &order.loop_id);
    }
    discard(&ports.home, &ended.files.scratch);
    tracing::info!(outcome = outcome.word(), loop_id = %order.loop_id, "run ended");
    Event::RunEnded {
        run: run.place.run.clone(),
        outcome,
        usage,
        walls,
    }
}

/// A token that the agent refreshed is the operator's, and a key that its session repeats is nobody's.
fn clear_config_home(ended: &EndedRun<'_>) {
    if ended.cli().is_some()
        && let Some(agent) = &ended.run.agent
    {
        let (home, place) = (&ended.ports.home, &ended.run.place);
        let folder = config_home(home, ended.order, place, agent);
        credentials::give_back(&folder);
        // A login must stay one, and what was fetched is other people's.
        let logins = ended.cli().map(agents::Kind::login_files);
        let spared = logins.unwrap_or_default().into_iter();
        let spared = spared.chain([downloads::FOLDER.to_owned()]);
        let spared: Vec<_> = spared.map(|name| folder.join(name)).collect();
        mask_home(home, &ended.order.loop_id, &folder, &spared);
    }
}

/// The record of a run that could not be seen to, by the kind of the fault; none where it is owed
/// again without a record.
pub(crate) fn end_by_fault(run: &RunOrder, fault: &Fault) -> Option<Event> {
    let ask = |question| RunOutcome::NeedsHuman {
        question,
        free: false,
    };
    let outcome = match fault {
        // What did not pass in more than an hour does not pass by itself.
        Fault::Transient { .. } if run.faults + 1 >= FAULTS_MAX => ask(format!(
            "{} ({} times in a row); mend that, then answer `retry`",
            fault.words(),
            run.faults + 1
        )),
        Fault::Transient { .. } => RunOutcome::fault(FaultCause::Ours, fault.words()),
        Fault::BadTree { why } => RunOutcome::Failed { why: why.clone() },
        Fault::NeedsPerson { .. } | Fault::NotLoggedIn { .. } => {
            ask(fault.question().unwrap_or_default())
        }
        // As where the agent itself finds no network: the second time somebody else may go on.
        Fault::Unreachable { .. } => RunOutcome::Infrastructure {
            why: fault.words(),
            until_ms: None,
            elsewhere: run.faults > 0,
            cause: FaultCause::Network,
        },
        Fault::DiskFull | Fault::Aborted | Fault::Delayed { .. } => return None,
    };
    // Only an author can be blamed for files that cannot be used.
    let outcome = match outcome {
        RunOutcome::Failed { why } if run.place.run.stage.is_check() => {
            RunOutcome::fault(FaultCause::Ours, why)
        }
        other => other,
    };
    Some(Event::RunEnded {
        run: run.place.run.clone(),
        outcome,
        usage: None,
        walls: Walls::default(),
    })
}
