//! `loopwright list`, and `status` without an id: a line for each loop.
//!
//! A loop that is over never changes, so what is shown of it is remembered beside the journal and
//! its records are not read again. Without that memory everything is shown just the same, later.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::MetadataExt as _;

use home::{DiskUse, Home, disk_use};
use journal::{Brief, Cache, Fingerprint, Journal, LoopRow, Remembered};
use kernel::decide;
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;
use views::LoopView;

use super::look::seen;
use super::lookup::{load, open};
use super::serve;
use crate::commands::jail;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::state_folder::home;
use crate::table::{Cell, Fit, Table};
use crate::words::{counted, first_line, size};
use crate::worker_trouble::{Trouble, as_json, trouble};

/// Loops that are over and that `status` shows.
const RECENT_MAX: usize = 10;

/// Files and folders that are looked at for the sizes of all loops together: somebody waits for the
/// list.
const ENTRIES_MAX: usize = 2_000;

/// The loops that somebody wants to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// All of them.
    All,
    /// Those that are not over, and the last that ended.
    Recent,
}

pub(super) fn list(output: &mut Output) -> Result<Exit, Failure> {
    output.command("list");
    let home = home()?;
    show(&home, &open(&home)?, Which::All, output)
}

pub(super) fn show(
    home: &Home,
    journal: &Journal,
    which: Which,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let mut memory = Memory::open(home);
    let mut entries = memory.entries(home, journal)?;
    let n_hidden = match which {
        Which::All => 0,
        Which::Recent => keep_recent(&mut entries),
    };
    count_sizes(home, &mut entries);
    let is_owed = |entry: &Entry| matches!(entry.what, What::Live { is_owed: true, .. });
    let is_live = |entry: &Entry| matches!(entry.what, What::Live { .. });
    if entries.iter().any(is_owed) {
        tell_of_worker(home, output);
    }
    if entries.iter().any(is_live)
        && let Some(Trouble { what, remedy }) = trouble(home)
    {
        output.talk(&format!("note: {what}; {remedy}\n"));
    }
    let owes = |entry: &Entry| matches!(entry.what, What::Live { owes: true, .. });
    if entries.iter().any(owes) {
        home::hurry_worker(home);
        serve::ensure_worker(home)?;
    }
    tell_of_host(&entries, output);
    if entries.is_empty() {
        output.talk("there are no loops yet; `loopwright start` makes one\n");
    }
    output.data(&table(&by_need(&entries)).draw(output.paper()))?;
    if n_hidden > 0 {
        let more = counted(n_hidden, "more loop is", "more loops are");
        output.talk(&format!("{more} over; `loopwright list` shows all\n"));
    }
    if output.is_json() {
        let loops = memory.whole(home, journal, &entries)?;
        let worker = as_json(home);
        output.result(|| Overview {
            loops,
            n_hidden,
            worker,
        })?;
    }
    Ok(Exit::Done)
}

/// Those that need a person first, and otherwise as they are. For programs the order is that of the ids.
fn by_need(entries: &[Entry]) -> Vec<&Entry> {
    let needs_person = |entry: &&Entry| {
        matches!(
            entry.what,
            What::Live {
                needs_person: true,
                ..
            }
        )
    };
    let mut sorted: Vec<&Entry> = entries.iter().collect();
    sorted.sort_by_key(|entry| !needs_person(entry));
    sorted
}

fn table(entries: &[&Entry]) -> Table {
    let mut table = Table::new(&[
        ("loop", Fit::Whole),
        ("status", Fit::Whole),
        ("stories", Fit::Whole),
        ("size", Fit::Right),
        ("last", Fit::Spare),
        ("project", Fit::Path),
    ]);
    for entry in entries {
        table.row(entry.row());
    }
    table
}

#[derive(Serialize)]
struct Overview {
    loops: Vec<Box<RawValue>>,
    /// Loops that are over and not shown.
    #[serde(rename = "notShown", skip_serializing_if = "is_zero")]
    n_hidden: usize,
    worker: serde_json::Value,
}

/// Says how many loops have agents that no jail holds back.
fn tell_of_host(entries: &[Entry], output: &mut Output) {
    let is_on_host = |entry: &&Entry| {
        matches!(
            entry.what,
            What::Live {
                is_on_host: true,
                ..
            }
        )
    };
    let n_on_host = entries.iter().filter(is_on_host).count();
    if n_on_host > 0 {
        let loops = counted(n_on_host, "loop", "loops");
        output.talk(&format!("note: agents of {loops} {}\n", jail::ON_HOST));
    }
}

/// Says that loops which a worker could go on with stand still. Those that only wait for a person need
/// none.
fn tell_of_worker(home: &Home, output: &mut Output) {
    if !home::is_worker_there(home) {
        output.talk("note: no worker is at work; `loopwright serve` goes on with the loops\n");
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over a reference"
)]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// One loop of the list.
struct Entry {
    loop_id: String,
    what: What,
    /// The room that it takes, as far as that was counted.
    size: Option<DiskUse>,
}

enum What {
    /// It is over. What else is shown of it is asked for when somebody wants it.
    Over {
        fingerprint: Fingerprint,
        at_ms: i64,
        brief: String,
    },
    /// It is not over.
    Live {
        brief: String,
        whole: String,
        /// Whether accepted work is not published, although it is over.
        owes: bool,
        /// Whether a worker could do anything for it now.
        is_owed: bool,
        /// Whether it asks somebody, or a person has taken what is left.
        needs_person: bool,
        /// Whether its agents run in no jail.
        is_on_host: bool,
    },
    /// It cannot be read, or was set apart.
    Unreadable { why: String },
}

/// Parts of a line in what is remembered; only the last of them may have it in it.
const SEPARATOR: char = '\n';

/// What a line shows of a loop: how it stands, what passed, when it last moved, and its project.
fn brief_of(view: &LoopView) -> String {
    let passed = view.stories.iter().filter(|story| story.status == "passed");
    let unpublished = if view.unpublished.is_some() {
        ", not published"
    } else {
        ""
    };
    let asks = match view.questions.len() {
        0 => String::new(),
        number => format!(", asks: {number}"),
    };
    format!(
        "{}{SEPARATOR}{}/{} passed{unpublished}{asks}{SEPARATOR}{}{SEPARATOR}{}",
        view.status,
        passed.count(),
        view.stories.len(),
        view.last_at_ms,
        view.project
    )
}

impl Entry {
    fn new(loop_id: String, what: What) -> Self {
        Self {
            loop_id,
            what,
            size: None,
        }
    }

    fn row(&self) -> Vec<Cell> {
        let id = Cell::new(&self.loop_id);
        match &self.what {
            What::Over { brief, .. } | What::Live { brief, .. } => {
                let mut parts = brief.splitn(4, SEPARATOR);
                let mut part = || parts.next().unwrap_or_default();
                let (status, passed, last, project) = (part(), part(), part(), part());
                let last = last.parse().map(home::local);
                vec![
                    id,
                    Cell::state(status),
                    Cell::new(passed),
                    Cell::new(self.size.map_or("-".to_owned(), narrow)),
                    Cell::new(last.unwrap_or_default()),
                    Cell::new(project),
                ]
            }
            What::Unreadable { why } => {
                let why = Cell::new(first_line(why));
                vec![id, Cell::state("quarantined"), why]
            }
        }
    }
}

/// The room that a loop takes, in a column: of a large one only that it is more.
fn narrow(found: DiskUse) -> String {
    let least = if found.is_more { "> " } else { "" };
    format!("{least}{}", size(found.bytes))
}

/// Leaves out loops that ended long ago, and says how many.
fn keep_recent(entries: &mut Vec<Entry>) -> usize {
    let ends = entries
        .iter()
        .enumerate()
        .filter_map(|(at, entry)| match &entry.what {
            What::Over { at_ms, .. } => Some((*at_ms, at)),
            What::Live { .. } | What::Unreadable { .. } => None,
        });
    let mut ends: Vec<(i64, usize)> = ends.collect();
    ends.sort_unstable();
    let n_hidden = ends.len().saturating_sub(RECENT_MAX);
    let mut is_shown = vec![true; entries.len()];
    for (_, at) in &ends[..n_hidden] {
        is_shown[*at] = false;
    }
    let mut is_shown = is_shown.into_iter();
    entries.retain(|_| is_shown.next().unwrap_or(true));
    n_hidden
}

/// Counts the newest loops first, until it has looked at enough.
fn count_sizes(home: &Home, entries: &mut [Entry]) {
    // One look at the folder above is quicker than a look for each of thousands.
    let names = std::fs::read_dir(home.loops()).into_iter().flatten();
    let there: BTreeSet<OsString> = names.flatten().map(|entry| entry.file_name()).collect();
    let mut left = ENTRIES_MAX;
    for entry in entries.iter_mut().rev() {
        if !there.contains(OsStr::new(&entry.loop_id)) {
            entry.size = Some(DiskUse::default());
        } else if left > 0 {
            let counted = disk_use(&home.loop_folder(&entry.loop_id), left);
            left -= counted.entries;
            entry.size = Some(counted);
        }
    }
}

/// What is remembered of loops that are over.
struct Memory {
    cache: Option<Cache>,
}

impl Memory {
    fn open(home: &Home) -> Self {
        Self {
            cache: Cache::open(home.root(), &form()),
        }
    }

    /// Every loop, sorted by id. What was not remembered and is over is remembered now.
    fn entries(&mut self, home: &Home, journal: &Journal) -> Result<Vec<Entry>, Failure> {
        let rows = journal
            .fingerprints()
            .map_err(|error| Failure::environment("cannot read the journal", &error))?;
        let cache = self.cache.as_ref();
        let recalled = cache.map(|cache| cache.recall(&rows)).unwrap_or_default();
        let mut briefs = recalled.briefs.into_iter();
        let (mut entries, mut new) = (Vec::with_capacity(rows.len()), Vec::new());
        for (row, fingerprint) in rows {
            let known = briefs.next().flatten();
            entries.push(match known.filter(|_| row.quarantine.is_none()) {
                Some(Brief { at_ms, brief }) => Entry::new(
                    row.loop_id,
                    What::Over {
                        fingerprint,
                        at_ms,
                        brief,
                    },
                ),
                None => look_up(home, journal, row, fingerprint, &mut new),
            });
        }
        if let Some(cache) = &mut self.cache {
            cache.update(&new, &recalled.gone);
        }
        Ok(entries)
    }

    /// Everything that is shown of these loops, as JSON.
    fn whole(
        &self,
        home: &Home,
        journal: &Journal,
        entries: &[Entry],
    ) -> Result<Vec<Box<RawValue>>, Failure> {
        let over = entries.iter().filter_map(|entry| match &entry.what {
            What::Over { fingerprint, .. } => Some((entry.loop_id.as_str(), *fingerprint)),
            What::Live { .. } | What::Unreadable { .. } => None,
        });
        let cache = self.cache.as_ref();
        let mut known = cache.map(|cache| cache.wholes(over)).unwrap_or_default();
        let mut all = Vec::with_capacity(entries.len());
        for Entry {
            loop_id,
            what,
            size,
        } in entries
        {
            let text = match what {
                What::Over { .. } => match known.remove(loop_id) {
                    Some(whole) => with_size(whole, *size),
                    None => match load(journal, loop_id) {
                        Ok(loaded) => with_size(json(&seen(home, &loaded.state)), *size),
                        Err(failure) => unreadable(loop_id, &failure.message),
                    },
                },
                What::Live { whole, .. } => with_size(whole.clone(), *size),
                What::Unreadable { why } => unreadable(loop_id, why),
            };
            let raw = RawValue::from_string(text);
            all.push(raw.map_err(|error| Failure::environment("cannot write JSON", &error))?);
        }
        Ok(all)
    }
}

/// Reads a loop from the journal.
fn look_up(
    home: &Home,
    journal: &Journal,
    row: LoopRow,
    fingerprint: Fingerprint,
    new: &mut Vec<Remembered>,
) -> Entry {
    let loop_id = row.loop_id;
    if let Some(why) = row.quarantine {
        return Entry::new(loop_id, What::Unreadable { why });
    }
    let loaded = match load(journal, &loop_id) {
        Ok(loaded) => loaded,
        Err(failure) => {
            let why = failure.message;
            return Entry::new(loop_id, What::Unreadable { why });
        }
    };
    let view = seen(home, &loaded.state);
    let (brief, whole) = (brief_of(&view), json(&view));
    // A loop that ended between the two looks is remembered the next time.
    let is_over = loaded.state.ended().is_some();
    let owes = is_over && loaded.state.owes_publishing();
    if !is_over || owes || loaded.last != row.last {
        let needs_person = view.status == "needs_human" || !view.questions.is_empty();
        let what = What::Live {
            brief,
            whole,
            owes,
            is_owed: !decide(&loaded.state).is_empty(),
            needs_person,
            is_on_host: !is_over && view.isolation == "host",
        };
        return Entry::new(loop_id, what);
    }
    let at_ms = loaded.state.last_at_ms();
    // Whether the PRD lacks a state changes without a record.
    if loaded.state.unwritten().next().is_none() {
        new.push(Remembered {
            loop_id: loop_id.clone(),
            fingerprint,
            at_ms,
            brief: brief.clone(),
            whole,
        });
    }
    let what = What::Over {
        fingerprint,
        at_ms,
        brief,
    };
    Entry::new(loop_id, what)
}

fn unreadable(loop_id: &str, why: &str) -> String {
    json!({ "loopId": loop_id, "status": "failed", "reason": why, "stories": [] }).to_string()
}

/// Our own types have no keys that JSON cannot have.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| unreachable!("{error}"))
}

/// A loop's JSON with the room that it takes; null where that was not counted to its end.
fn with_size(mut object: String, size: Option<DiskUse>) -> String {
    let bytes = size.filter(|size| !size.is_more).map(|size| size.bytes);
    let bytes = bytes.map_or("null".to_owned(), |bytes| bytes.to_string());
    // An object ends with its bracket, and a loop's has members before it.
    object.pop();
    object + &format!(",\"diskBytes\":{bytes}}}")
}

/// Names the form of what is remembered: another build of the program may show loops otherwise.
fn form() -> String {
    let program = std::env::current_exe().and_then(std::fs::metadata);
    let build = program.map(|file| {
        [
            file.size().to_string(),
            file.mtime().to_string(),
            file.mtime_nsec().to_string(),
        ]
        .join("-")
    });
    format!(
        "{} {}",
        env!("CARGO_PKG_VERSION"),
        build.unwrap_or_default()
    )
}
