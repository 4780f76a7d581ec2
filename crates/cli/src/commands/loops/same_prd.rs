//! Two loops on one PRD would do every story twice.

use std::fs::File;

use home::Home;
use journal::Journal;
use kernel::LoopSpec;
use rustix::fs::{FlockOperation, flock};

use super::lookup::{load, open};
use super::start_request::StartRequest;
use crate::failure::Failure;
use crate::output::{NextAction, Output};

/// Records a new loop, unless another one is at work on the same PRD.
pub(super) fn record_only_one(
    home: &Home,
    journal: &Journal,
    spec: LoopSpec,
    output: &mut Output,
) -> Result<(), Failure> {
    // Whoever starts at the same time waits here, and then finds our loop.
    let lock = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(home.root().join("start.lock"))
        .map_err(|error| Failure::environment("cannot lock the state folder", &error))?;
    flock(&lock, FlockOperation::LockExclusive)
        .map_err(|error| Failure::environment("cannot lock the state folder", &error))?;
    refuse_a_second(journal, &spec.prd_path, output)?;
    record(journal, spec)
}

/// Says no at once where a loop is at work on the PRD that somebody names. What else stands in the way of
/// a second one, such as stories that the first has done meanwhile, is no concern of theirs then.
pub(super) fn refuse_at_once(
    home: &Home,
    request: &StartRequest,
    output: &mut Output,
) -> Result<(), Failure> {
    // Nothing is made for a start that may be refused yet.
    if request.again || !home.root().join("journal.db").is_file() {
        return Ok(());
    }
    match std::fs::canonicalize(&request.prd) {
        Ok(prd) => refuse_a_second(&open(home)?, &prd.to_string_lossy(), output),
        // Whoever reads it says what is wrong.
        Err(_) => Ok(()),
    }
}

/// Says no where another loop is at work on the same PRD.
fn refuse_a_second(journal: &Journal, prd: &str, output: &mut Output) -> Result<(), Failure> {
    if let Some(other) = loop_on(journal, prd)? {
        output.next(NextAction::new(
            format!("loopwright watch {other}"),
            "follow the loop that is at work",
        ));
        return Err(
            Failure::bad_input(format!("loop {other} is at work on `{prd}`"))
                .hint(format!(
                    "`loopwright watch {other}` follows it, `loopwright cancel {other}` ends it"
                ))
                .hint("`--again` starts another one all the same; both do every open story"),
        );
    }
    Ok(())
}

/// Records a new loop, whatever else is at work.
pub(super) fn record(journal: &Journal, spec: LoopSpec) -> Result<(), Failure> {
    home::start(journal, spec)
        .map_err(|error| Failure::environment("cannot record the loop", &error))
}

/// The loop that is not over and has the same PRD.
fn loop_on(journal: &Journal, prd: &str) -> Result<Option<String>, Failure> {
    let heads = journal
        .heads()
        .map_err(|error| Failure::environment("cannot read the journal", &error))?;
    let live = heads.into_iter().filter(|head| {
        head.row.quarantine.is_none() && !head.last_kind.as_deref().is_some_and(kernel::is_over)
    });
    for head in live {
        let Ok(loaded) = load(journal, &head.row.loop_id) else {
            continue;
        };
        let state = loaded.state;
        let is_ending = state.ended().is_some() || state.cancel_reason().is_some();
        if !is_ending && state.spec().prd_path == prd {
            return Ok(Some(head.row.loop_id));
        }
    }
    Ok(None)
}
