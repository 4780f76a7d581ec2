//! Clears away what nobody needs any more: processes and checkouts of runs that are over, folders of
//! loops that the journal does not know, files of loops that have expired, and the trash.
//!
//! Runs that are under way are not its business, nor are loops that cannot be read: a person should
//! see those first. A process is only ever ended by its mark or by its keeper's record, both with
//! its start time. What concerns live loops is decided in the worker's own turn, so that no run can
//! begin in between; the long work on loops that are over is done on a thread.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use home::{Expiry, Home, Settings, expiry, remove_folder};
use sandbox::{RUN_DIR_VARIABLE, RunView};
use workspace::{LoopRepo, Rack, TreeStore};

use crate::local::tracked::Tracked;
use crate::ports::{Log, Ports};
use crate::run::files::discard;
use crate::run::layered::lower_of;
use crate::run::roots::Roots;

/// How long to rest between sweeps.
const REST: Duration = Duration::from_hours(1);

/// How long to rest when something was asked to end: its checkout can go only after that.
const SHORT_REST: Duration = Duration::from_mins(1);

/// How long a tree stays that nobody asks for. No command of a check and no agent works for so long
/// without somebody who asks again.
const TREE_AGE: Duration = Duration::from_hours(24);

/// How often the trash is emptied.
const TRASH_REST: Duration = Duration::from_secs(10);

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
    trash_due: Option<Instant>,
    count: u32,
    last: Swept,
    /// The part of a sweep that is done on a thread.
    beside: Option<Receiver<(Swept, bool)>>,
}

/// What a sweep looks at.
pub(crate) struct SweepScope<'a> {
    pub(crate) ports: &'a Arc<Ports>,
    pub(crate) log: &'a Arc<dyn Log>,
    /// The loops that are not over.
    pub(crate) live: &'a BTreeMap<String, Tracked>,
}

impl Sweeper {
    /// Sweeps at the worker's start and every hour after that; the trash more often.
    pub(crate) fn sweep_when_due(&mut self, scope: &SweepScope<'_>) {
        self.take_swept();
        let now = Instant::now();
        if self.trash_due.is_none_or(|due| now >= due) {
            self.trash_due = now.checked_add(TRASH_REST);
            empty_trash(&scope.ports.home);
        }
        if self.beside.is_some() || self.due.is_some_and(|due| now < due) {
            return;
        }
        let (swept, is_waiting) = sweep_live(scope);
        self.last = swept;
        let rest = if is_waiting { SHORT_REST } else { REST };
        self.due = now.checked_add(rest);
        self.beside = begin_long_sweep(scope);
        if self.beside.is_none() {
            self.count += 1;
        }
    }

    /// How many sweeps there were, and what the last one found.
    pub(crate) fn last(&self) -> (u32, &Swept) {
        (self.count, &self.last)
    }

    /// Adds what the thread found to what the turn did.
    fn take_swept(&mut self) {
        let Some(beside) = &self.beside else {
            return;
        };
        let Ok((swept, is_waiting)) = beside.try_recv() else {
            return;
        };
        self.beside = None;
        self.last.processes += swept.processes;
        self.last.folders += swept.folders;
        self.last.loops += swept.loops;
        self.count += 1;
        if is_waiting {
            self.due = Instant::now().checked_add(SHORT_REST);
        }
    }
}

/// Sweeps around the loops that are not over; says whether something has yet to end.
fn sweep_live(scope: &SweepScope<'_>) -> (Swept, bool) {
    let mut swept = Swept::default();
    let mut is_waiting = false;
    let home = &scope.ports.home;
    for (loop_id, tracked) in scope.live {
        let needed: BTreeSet<String> = tracked.needed_runs().into_iter().collect();
        is_waiting |= end_runs(&runs_of(home, loop_id), &needed, &mut swept);
        if !keeps_checkouts(tracked) {
            sweep_checkouts(home, loop_id, &needed, &mut swept);
        }
        sweep_scratch(home, loop_id, &needed);
        sweep_trees(home, loop_id, &mut swept);
        sweep_rack(home, loop_id, &mut swept);
    }
    sweep_roots(home, scope.live);
    if let Ok(heads) = scope.log.heads() {
        // A loop that is neither live nor over cannot be read, and nothing of it is touched.
        let unread = heads
            .into_iter()
            .filter(|head| !head.last_kind.as_deref().is_some_and(kernel::is_over))
            .map(|head| head.row.loop_id)
            .collect();
        sweep_marked(home, &unread, scope.live, &mut swept);
    }
    (swept, is_waiting)
}

/// Sweeps what is left of loops that are over or unknown, on a thread of its own.
fn begin_long_sweep(scope: &SweepScope<'_>) -> Option<Receiver<(Swept, bool)>> {
    let (sender, receiver) = channel();
    let (ports, log) = (Arc::clone(scope.ports), Arc::clone(scope.log));
    let live: BTreeSet<String> = scope.live.keys().cloned().collect();
    let spawned = std::thread::Builder::new()
        .name("sweep".to_owned())
        .spawn(move || {
            let _ = sender.send(sweep_ended(&ports, &*log, &live));
        });
    spawned.ok().map(|_| receiver)
}

fn runs_of(home: &Home, loop_id: &str) -> PathBuf {
    home.loop_folder(loop_id).join("runs")
}

/// Settings that cannot be read keep what is there.
fn keeps_checkouts(tracked: &Tracked) -> bool {
    let settings = serde_json::from_str(&tracked.state.spec().settings);
    settings.map_or(true, |settings: Settings| settings.keep_checkouts)
}

/// Removes what was put out of the way, on a thread: it may be large.
fn empty_trash(home: &Home) {
    let trash = home.trash();
    if names_in(&trash).is_empty() {
        return;
    }
    // Without a thread it is removed the next time.
    let _ = std::thread::Builder::new()
        .name("trash".to_owned())
        .spawn(move || {
            for name in names_in(&trash) {
                let _ = remove_folder(&trash.join(name));
            }
        });
}

/// Goes over the folders of loops that are not live.
fn sweep_ended(ports: &Ports, log: &dyn Log, live: &BTreeSet<String>) -> (Swept, bool) {
    let mut swept = Swept::default();
    let mut is_waiting = false;
    let home = &ports.home;
    // The folders first: a loop that begins while we look has its record before we could take its
    // folder for nobody's.
    let folders = loop_folders(home);
    let Ok(heads) = log.heads() else {
        return (swept, false);
    };
    let mut known = BTreeSet::new();
    for head in heads {
        let loop_id = head.row.loop_id;
        let folder = home.loop_folder(&loop_id);
        let is_over = !live.contains(&loop_id) && head.row.quarantine.is_none();
        // Most loops of a long history have no folder any more, and are not even read.
        if is_over
            && folder.exists()
            && let Ok(tracked) = Tracked::load(log, &loop_id)
            && tracked.state.ended().is_some()
        {
            is_waiting |= end_runs(&runs_of(home, &loop_id), &BTreeSet::new(), &mut swept);
            if !keeps_checkouts(&tracked) {
                sweep_checkouts(home, &loop_id, &BTreeSet::new(), &mut swept);
            }
            sweep_scratch(home, &loop_id, &BTreeSet::new());
            if expiry(&tracked.state, None, (ports.clock)()) == Expiry::Expired {
                let _ = remove_folder(&folder);
                swept.loops += 1;
            }
        }
        known.insert(loop_id);
    }
    let unknown = folders.into_iter().filter(|name| !known.contains(name));
    for loop_id in unknown {
        let has_begun = log
            .read(&loop_id, 0)
            .map_or(true, |records| !records.is_empty());
        if !has_begun && !is_beginning(home, &loop_id) {
            is_waiting |= sweep_unknown(home, &loop_id, &mut swept);
        }
    }
    (swept, is_waiting)
}

fn sweep_checkouts(home: &Home, loop_id: &str, needed: &BTreeSet<String>, swept: &mut Swept) {
    for name in names_in(&home.checkouts(loop_id)) {
        if needed.iter().any(|run| run == run_of(&name)) {
            continue;
        }
        let run = runs_of(home, loop_id).join(run_of(&name));
        // Whoever still works in it loses it only after they have ended.
        if !matches!(sandbox::look(&run), Ok(RunView::Running(_))) {
            discard(home, &home.checkouts(loop_id).join(name));
            swept.folders += 1;
        }
    }
}

/// Temporary files of runs that nobody ended: their worker was killed between two steps.
fn sweep_scratch(home: &Home, loop_id: &str, needed: &BTreeSet<String>) {
    let scratch = home.scratch(loop_id);
    for name in names_in(&scratch).difference(needed) {
        let run = runs_of(home, loop_id).join(name);
        if !matches!(sandbox::look(&run), Ok(RunView::Running(_))) {
            discard(home, &scratch.join(name));
        }
    }
    // One that is not empty stays.
    let _ = fs::remove_dir(&scratch);
}

/// Takes away the trees that no run has asked for lately and that none has below its own changes.
fn sweep_trees(home: &Home, loop_id: &str, swept: &mut Swept) {
    let checkouts = home.checkouts(loop_id);
    let used = names_in(&checkouts).into_iter();
    let used = used.flat_map(|name| lower_of(&checkouts.join(name)));
    let used: Vec<PathBuf> = used.collect();
    let taken = TreeStore::at(&home.trees(loop_id))
        .and_then(|store| store.take_unused(&used, TREE_AGE, &home.trash()));
    match taken {
        Ok(taken) => swept.folders += u32::try_from(taken.len()).unwrap_or(u32::MAX),
        Err(error) => tracing::warn!(%error, "unused trees are still there"),
    }
}

/// Takes away what was being put right for a run when its worker was killed.
fn sweep_rack(home: &Home, loop_id: &str, swept: &mut Swept) {
    let abandoned = Rack::at(&home.rack(loop_id)).map(|rack| rack.abandoned(REST));
    for folder in abandoned.unwrap_or_default() {
        discard(home, &folder);
        swept.folders += 1;
    }
}

/// Removes checkouts that are kept only to be quick: there is no room on the disk.
pub(crate) fn give_up_racks<'a>(home: &Home, loop_ids: impl Iterator<Item = &'a String>) {
    for loop_id in loop_ids {
        discard(home, &home.rack(loop_id));
    }
}

/// Removes roots that are too old to be used and that no run has below its own changes.
fn sweep_roots(home: &Home, live: &BTreeMap<String, Tracked>) {
    let mut used = Vec::new();
    for loop_id in live.keys() {
        let checkouts = home.checkouts(loop_id);
        let names = names_in(&checkouts).into_iter();
        used.extend(names.flat_map(|name| lower_of(&checkouts.join(name))));
    }
    let settings = live
        .values()
        .filter_map(|tracked| serde_json::from_str(&tracked.state.spec().settings).ok());
    let bound = settings.map(|settings: Settings| settings.trees_mb).min();
    let bound = bound.map_or(u64::MAX, |megabytes| megabytes.saturating_mul(1024 * 1024));
    for project in names_in(&home.warm()) {
        let roots = Roots::at(&home.warm().join(project));
        roots.remove_old(&used, roots.are_full(bound));
    }
}

/// The run of a checkout or of layers, or of a scratch folder in which they are just being made.
fn run_of(name: &str) -> &str {
    let name = name.strip_prefix('.').unwrap_or(name);
    name.split('.').next().unwrap_or(name)
}

/// Folders that are named like a loop which the journal does not have. Its first record comes before
/// its folder.
fn loop_folders(home: &Home) -> Vec<String> {
    let is_id =
        |name: &String| name.len() == 26 && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let names = names_in(&home.root().join("loops"));
    names.into_iter().filter(is_id).collect()
}

/// Whether somebody may just be about to write a loop's first record: `start` keeps its keys before.
fn is_beginning(home: &Home, loop_id: &str) -> bool {
    const BEGINS_WITHIN: Duration = Duration::from_mins(10);
    let keys = home.keys_file(loop_id);
    let is_young = fs::metadata(&keys)
        .and_then(|found| found.modified())
        .is_ok_and(|at| at.elapsed().is_ok_and(|age| age < BEGINS_WITHIN));
    is_young && names_in(&home.loop_folder(loop_id)).len() == 1
}

/// A journal may have been lost or put back: accepted commits that are only here stay, and nothing
/// else does.
fn sweep_unknown(home: &Home, loop_id: &str, swept: &mut Swept) -> bool {
    let folder = home.loop_folder(loop_id);
    if end_runs(&folder.join("runs"), &BTreeSet::new(), swept) {
        return true;
    }
    let branch = format!("refs/heads/agent-loop/{loop_id}");
    let repository = home.repository(loop_id);
    let is_empty = !repository.exists()
        || LoopRepo::open(&repository)
            .is_ok_and(|found| matches!(found.read_ref(&branch), Ok(None)));
    let doomed = if is_empty {
        vec![folder]
    } else {
        vec![folder.join("runs"), folder.join("checkouts")]
    };
    for folder in doomed.iter().filter(|folder| folder.exists()) {
        let _ = remove_folder(folder);
        swept.folders += 1;
    }
    false
}

/// Ends processes that carry the mark of a run which is over, whatever became of its folder and its
/// keeper. Loops that are neither live nor over cannot be read, and theirs are left alone.
fn sweep_marked(
    home: &Home,
    unread: &BTreeSet<String>,
    live: &BTreeMap<String, Tracked>,
    swept: &mut Swept,
) {
    let Ok(root) = fs::canonicalize(home.root()) else {
        return;
    };
    for run in marked_runs(&root.join("loops")) {
        // `LOOP/runs/RUN`, and below that what a run keeps itself.
        let inside = run.strip_prefix(root.join("loops")).unwrap_or(&run);
        let part = |index: usize| {
            let part = inside.components().nth(index)?;
            part.as_os_str().to_str()
        };
        let of_loop = part(0).unwrap_or_default();
        let name = part(2).unwrap_or_default();
        let is_needed = match live.get(of_loop) {
            Some(tracked) => tracked.needed_runs().iter().any(|needed| needed == name),
            None => unread.contains(of_loop),
        };
        if !is_needed {
            swept.processes += sweep_run(&run);
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
