//! Ends a run's processes; only when all are gone is it over. Work that was under way is kept as a
//! commit beside the branch.

use kernel::{Event, Order, RunOutcome, StopOrder, Writes};

use crate::fault::Fault;
use crate::ports::{Look, Ports};
use crate::redaction::mask_run;
use crate::run::credentials;
use crate::run::files::{RunFiles, config_home, discard};
use crate::run::trees::{commit_id, reference};
use crate::settings_of::settings_of;

pub(crate) fn stop_run(
    order: &Order,
    stop: &StopOrder,
    ports: &Ports,
) -> Result<Option<Event>, Fault> {
    let settings = settings_of(order)?;
    let files = RunFiles::of(&ports.home, &order.loop_id, &stop.place);
    match ports.runs.look(&files.folder) {
        Ok(Look::Running) => {
            ports.runs.stop(&files.folder, "cancelled")?;
            return Ok(None);
        }
        Ok(Look::Lost) => ports.runs.sweep(&files.folder)?,
        // A folder that cannot be read holds nothing that could be ended.
        Ok(Look::Unprepared | Look::Prepared | Look::Ended(_) | Look::Rebooted) | Err(_) => {}
    }
    mask_run(&ports.home, &order.loop_id, &files.folder);
    if stop.row.writes != Writes::Nothing {
        match keep_work(order, stop, &files, ports) {
            // Without room it would be lost, so the end waits.
            Err(Fault::DiskFull) => return Err(Fault::DiskFull),
            // A cancel does not wait for a repository that is broken.
            Err(fault) => tracing::warn!(?fault, "cancelled work is not kept"),
            Ok(()) => {}
        }
    }
    if !settings.keep_checkouts {
        files.discard_checkout(ports, &order.loop_id);
    }
    discard(&ports.home, &files.scratch);
    if let Some(agent) = &stop.agent {
        credentials::give_back(&config_home(&ports.home, order, &stop.place, agent));
    }
    Ok(Some(Event::RunEnded {
        run: stop.place.run.clone(),
        outcome: RunOutcome::Stopped,
        usage: None,
        walls: kernel::Walls::default(),
    }))
}

fn keep_work(
    order: &Order,
    stop: &StopOrder,
    files: &RunFiles,
    ports: &Ports,
) -> Result<(), Fault> {
    if !files.has_checkout() {
        return Ok(());
    }
    let run = &stop.place.run;
    let repository = ports.repositories.open(&order.loop_id)?;
    let base = commit_id(&stop.base)?;
    let snapshot = files.snapshot(&*repository, &base, &[])?;
    let message = format!(
        "cancelled: [{}] [{}] attempt-{}\n",
        order.loop_id, run.story, run.attempt
    );
    let at_secs = stop.planned_at_ms / 1000;
    let commit = repository.commit(&snapshot.tree, &base, &message, at_secs)?;
    let name = reference("cancelled", &run.story, &run.attempt.to_string());
    repository.move_ref(&name, None, &commit)?;
    Ok(())
}
