//! Clears away what nobody needs any more: processes and checkouts of runs that are over, folders
//! of loops that the journal does not know, files of loops that have expired.
//!
//! Runs that are under way are not its business, nor are loops that cannot be read: a person should
//! see those first. A process is only ever ended by its mark or by its keeper's record, both with
//! its start time.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kernel::Event;
use sandbox::{RUN_DIR_VARIABLE, RunView};
use workspace::LoopRepo;

use crate::home::RunName;
use crate::loops::Loaded;
use crate::retention::{Expiry, expiry};
use crate::runs::remove_folder;
use crate::worker::Worker;

/// How long to rest between sweeps.
const REST: Duration = Duration::from_hours(1);

/// How long to rest when something was asked to end: its checkout can go only after that.
const SHORT_REST: Duration = Duration::from_mins(1);

/// What a sweep found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Swept {
    /// Processes that were ended, and keepers that were asked to end theirs.
    pub processes: u32,
    /// Checkouts and run folders that were removed.
    pub folders: u32,
    /// Loops whose files were removed.
    pub loops: u32,
}

/// When the next sweep is due, and what the last one found.
#[derive(Debug, Default)]
pub(crate) struct Sweeper {
    due: Option<Instant>,
    count: u32,
    last: Swept,
}

impl Worker {
    /// Sweeps at the worker's start and every hour after that.
    pub(crate) fn sweep_when_due(&mut self) {
        if self.sweeper.due.is_some_and(|due| Instant::now() < due) {
            return;
        }
        let (swept, is_waiting) = self.sweep();
        let rest = if is_waiting { SHORT_REST } else { REST };
        let count = self.sweeper.count + 1;
        self.sweeper = Sweeper {
            due: Instant::now().checked_add(rest),
            count,
            last: swept,
        };
    }

    /// How many sweeps there were, and what the last one found.
    pub fn last_sweep(&self) -> (u32, &Swept) {
        (self.sweeper.count, &self.sweeper.last)
    }

    /// Removes a checkout that has done its duty, unless the person wants to look at it.
    pub(crate) fn retire(&self, loop_id: &str, checkout: &Path) {
        if !self
            .settings(loop_id)
            .is_ok_and(|settings| settings.keep_checkouts)
        {
            remove_folder(checkout);
        }
    }

    /// Goes over everything once; says whether something was asked to end and has not yet.
    fn sweep(&self) -> (Swept, bool) {
        let (mut swept, mut is_waiting) = (Swept::default(), false);
        let Ok(rows) = self.journal.loops() else {
            return (swept, false);
        };
        let known: BTreeSet<String> = rows.iter().map(|row| row.loop_id.clone()).collect();
        for row in rows.iter().filter(|row| row.quarantine.is_none()) {
            let Some(loaded) = self.loaded(&row.loop_id) else {
                continue;
            };
            let needed = needed_runs(loaded);
            let runs = self.home.loop_folder(&row.loop_id).join("runs");
            is_waiting |= end_runs(&runs, &needed, &mut swept);
            self.sweep_checkouts(&row.loop_id, &needed, &mut swept);
            self.sweep_expired(&row.loop_id, loaded, &mut swept);
        }
        for loop_id in self.unknown_loops(&known) {
            is_waiting |= self.sweep_unknown(&loop_id, &mut swept);
        }
        self.sweep_marked(&known, &mut swept);
        (swept, is_waiting)
    }

    fn sweep_checkouts(&self, loop_id: &str, needed: &BTreeSet<String>, swept: &mut Swept) {
        if !self
            .settings(loop_id)
            .is_ok_and(|settings| !settings.keep_checkouts)
        {
            return;
        }
        for name in names_in(&self.home.checkouts(loop_id)).difference(needed) {
            let run = self.home.loop_folder(loop_id).join("runs").join(name);
            // Whoever still works in it loses it only after they have ended.
            if !matches!(sandbox::look(&run), Ok(RunView::Running(_))) {
                remove_folder(&self.home.checkouts(loop_id).join(name));
                swept.folders += 1;
            }
        }
    }

    fn sweep_expired(&self, loop_id: &str, loaded: &Loaded, swept: &mut Swept) {
        let folder = self.home.loop_folder(loop_id);
        if folder.exists() && expiry(&loaded.state, None, self.time_ms()) == Expiry::Expired {
            remove_folder(&folder);
            swept.loops += 1;
        }
    }

    /// Folders that are named like a loop which the journal does not have. Its first record comes
    /// before its folder.
    fn unknown_loops(&self, known: &BTreeSet<String>) -> Vec<String> {
        let is_id = |name: &String| {
            name.len() == 26 && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
        };
        let names = names_in(&self.home.root().join("loops"));
        names
            .into_iter()
            .filter(is_id)
            .filter(|name| !known.contains(name))
            .collect()
    }

    /// A journal may have been lost or put back: accepted commits that are only here stay, and
    /// nothing else does.
    fn sweep_unknown(&self, loop_id: &str, swept: &mut Swept) -> bool {
        let folder = self.home.loop_folder(loop_id);
        if end_runs(&folder.join("runs"), &BTreeSet::new(), swept) {
            return true;
        }
        let branch = format!("refs/heads/agent-loop/{loop_id}");
        let repository = self.home.repository(loop_id);
        let is_empty = !repository.exists()
            || LoopRepo::open(&repository)
                .is_ok_and(|found| matches!(found.read_ref(&branch), Ok(None)));
        let doomed = if is_empty {
            vec![folder]
        } else {
            vec![folder.join("runs"), folder.join("checkouts")]
        };
        for folder in doomed.iter().filter(|folder| folder.exists()) {
            remove_folder(folder);
            swept.folders += 1;
        }
        false
    }

    /// Processes that carry the mark of a run which is over, whatever became of its folder and its
    /// keeper.
    fn sweep_marked(&self, known: &BTreeSet<String>, swept: &mut Swept) {
        let Ok(root) = fs::canonicalize(self.home.root()) else {
            return;
        };
        for run in marked_runs(&root.join("loops")) {
            // `LOOP/runs/RUN`, and below that what a run keeps itself.
            let inside = run.strip_prefix(root.join("loops")).unwrap_or(&run);
            let part = |index: usize| {
                inside
                    .components()
                    .nth(index)
                    .and_then(|part| part.as_os_str().to_str())
            };
            let (of_loop, name) = (part(0), part(2).unwrap_or_default());
            let loaded = of_loop.and_then(|loop_id| self.loaded(loop_id));
            let is_needed = loaded.is_some_and(|loaded| needed_runs(loaded).contains(name));
            // A loop that is known and not loaded is one that cannot be read.
            let is_unread =
                loaded.is_none() && of_loop.is_some_and(|loop_id| known.contains(loop_id));
            if !is_needed && !is_unread {
                swept.processes += sweep_run(&run);
            }
        }
    }
}

/// Ends what is left of a run. Its folder may be gone, and then stands again for the moment in
/// which it is needed.
fn sweep_run(run: &Path) -> u32 {
    let is_gone = !run.exists();
    if is_gone && fs::create_dir_all(run).is_err() {
        return 0;
    }
    let ended = sandbox::sweep(run).unwrap_or_default();
    if is_gone {
        // `LOOP/runs/RUN`, from the inside; one that is not empty stays.
        run.ancestors()
            .take(3)
            .for_each(|folder| drop(fs::remove_dir(folder)));
    }
    ended
}

/// Runs that are under way, and all of the attempt that is: what an implementor made is still
/// needed.
fn needed_runs(loaded: &Loaded) -> BTreeSet<String> {
    if loaded.state.ended().is_some() {
        return BTreeSet::new();
    }
    let active = loaded
        .state
        .active()
        .map(|(story, attempt)| (story.spec.id.clone(), attempt.number));
    let mut needed = BTreeSet::new();
    for record in &loaded.records {
        match &record.event {
            Event::RunStarted { run } => drop(needed.insert(run.clone())),
            Event::RunEnded { run, .. } if active != Some((run.story.clone(), run.attempt)) => {
                needed.remove(run);
            }
            _ => {}
        }
    }
    needed
        .iter()
        .map(|run| RunName::of(&loaded.state, run).as_str().to_owned())
        .collect()
}

/// Sees to it that runs which nobody needs have ended; says whether one has yet to.
fn end_runs(runs: &Path, needed: &BTreeSet<String>, swept: &mut Swept) -> bool {
    let mut is_waiting = false;
    for name in names_in(runs).difference(needed) {
        let run = runs.join(name);
        match sandbox::look(&run) {
            Ok(RunView::Running(_)) => {
                let _ = sandbox::request_stop(&run, "the run is over");
                swept.processes += 1;
                is_waiting = true;
            }
            Ok(RunView::Lost(_)) => swept.processes += sandbox::sweep(&run).unwrap_or_default(),
            Ok(RunView::NotStarted | RunView::Ended(_) | RunView::Rebooted(_)) | Err(_) => {}
        }
    }
    is_waiting
}

fn names_in(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect()
}

/// The run folders below `loops` that some process carries as its mark.
fn marked_runs(loops: &Path) -> BTreeSet<PathBuf> {
    let mark = [
        RUN_DIR_VARIABLE.as_bytes(),
        b"=",
        loops.as_os_str().as_bytes(),
        b"/",
    ]
    .concat();
    let is_process = |name: &OsString| name.as_bytes().iter().all(u8::is_ascii_digit);
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut found = BTreeSet::new();
    for process in processes.filter(|entry| is_process(&entry.file_name())) {
        // An environment that cannot be read belongs to somebody else, or to a process that is just
        // ending.
        let environment = fs::read(process.path().join("environ")).unwrap_or_default();
        let variables = environment
            .split(|byte| *byte == 0)
            .filter(|variable| variable.starts_with(&mark));
        let path = |variable: &[u8]| {
            PathBuf::from(OsString::from_vec(
                variable[RUN_DIR_VARIABLE.len() + 1..].to_vec(),
            ))
        };
        found.extend(
            variables
                .map(path)
                .filter(|path| is_run_folder(loops, path)),
        );
    }
    found
}

/// `loops/LOOP/runs/RUN` and nothing else: a mark is text that any process may have written.
fn is_run_folder(loops: &Path, path: &Path) -> bool {
    let Ok(relative) = path.strip_prefix(loops) else {
        return false;
    };
    let parts: Vec<_> = relative.components().collect();
    let is_plain = parts
        .iter()
        .all(|part| matches!(part, std::path::Component::Normal(_)));
    is_plain && parts.len() == 3 && parts[1].as_os_str() == "runs"
}
