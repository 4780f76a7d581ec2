//! The claim store of one repository: a journal in the state folder and a lock. Everything that is
//! written, also the word in the plan's file, is written under that lock.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use home::{Home, PrdFile, now_ms};
use journal::{Journal, NewRecord};
use kernel::WriteBack;
use prd::{Mark, Options, Prd};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use workspace::operator_file;

use crate::board::{Board, NoTask, Task};
use crate::claims::Claims;
use crate::error::{BadGraph, Refusal, TaskError};
use crate::event::{Event, Then};
use crate::holding::is_holding;
use crate::lease::Lease;
use crate::loops::is_loop_over;
use crate::moves::{self, Caller, Done, Force};
use crate::output::missing_output;
use crate::owner::{Owner, OwnerKind, this_host};
use crate::place::Place;
use crate::refresh::{Refreshed, graph_text};

/// How long a claim holds that nobody renews. A process of this machine loses it as soon as it is
/// dead; the time is for whom nobody can ask.
pub const LEASE_MS: i64 = 12 * 60 * 60 * 1000;

/// How long to wait for whoever is writing.
const LOCK_WAIT: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(3);

/// The tasks of one plan, as one work tree sees them.
#[derive(Debug)]
pub struct Tasks {
    place: Place,
    home: Home,
    folder: PathBuf,
    journal: Journal,
    /// What was read so far, and the number of the last record.
    read: Mutex<(Claims, u64)>,
    /// The plan as it was when it could last be read.
    last_plan: Mutex<Option<Prd>>,
}

/// A plan with the state of its tasks at one moment.
#[derive(Debug)]
pub struct View {
    /// The plan.
    pub plan: Prd,
    /// The plan's file as it was read.
    pub file: PrdFile,
    /// Where its tasks stand.
    pub board: Board,
    claims: Claims,
}

/// A task that was taken.
#[derive(Debug, Clone, PartialEq)]
pub struct Claimed {
    /// The claim.
    pub lease: Lease,
    /// The task, as it was before.
    pub task: Task,
    /// The claim of somebody who is gone, whose processes may be left.
    pub stale: Option<Lease>,
}

/// What a completion led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completed {
    /// Whether the checks decide first.
    pub is_submitted: bool,
    /// Whether it was complete before.
    pub was_complete: bool,
    /// What the plan's file got to say.
    pub write_back: WriteBack,
}

impl Tasks {
    /// Opens the store of a plan's repository; makes it if there is none.
    pub fn open(home: &Home, place: Place) -> Result<Self, TaskError> {
        let folder = home.tasks(&place.common);
        let journal = Journal::open(&folder)?;
        let sign = folder.join("repository");
        if !sign.exists() {
            // For people who look there. Nothing reads it.
            let _ = fs::write(&sign, place.common.as_os_str().as_encoded_bytes());
        }
        Ok(Self {
            place,
            home: home.clone(),
            folder,
            journal,
            read: Mutex::default(),
            last_plan: Mutex::default(),
        })
    }

    /// Where the plan lies.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The files of one claim's run.
    pub fn run_folder(&self, claim: u64, run_number: u32) -> PathBuf {
        self.runs().join(format!("{claim}-{run_number}"))
    }

    /// The files of all runs.
    pub fn runs(&self) -> PathBuf {
        self.folder.join("runs")
    }

    /// The folder of the whole store.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Reads the plan and where its tasks stand. It claims nothing and writes nothing.
    pub fn look(&self) -> Result<View, TaskError> {
        let file = read_plan(&self.place.graph)?;
        self.view(file)
    }

    fn view(&self, mut file: PrdFile) -> Result<View, TaskError> {
        let claims = self.claims()?;
        let Some(plan) = file.reading.prd.take() else {
            return Err(TaskError::BadGraph(BadGraph::Wrong(Box::new(file))));
        };
        // The reading keeps its own, for whoever marks it.
        file.reading.prd = Some(plan.clone());
        self.remember(&plan);
        let board = self.board(&plan, &claims);
        Ok(View {
            plan,
            file,
            board,
            claims,
        })
    }

    fn remember(&self, plan: &Prd) {
        let mut last = self
            .last_plan
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *last = Some(plan.clone());
    }

    /// Where the tasks of a holder stand, also while its plan cannot be read: an agent may have broken
    /// the file, and its claim must be settled all the same.
    fn settled(&self) -> Result<(Board, Claims), TaskError> {
        let error = match self.look() {
            Ok(view) => return Ok((view.board, view.claims)),
            Err(error) => error,
        };
        let last = self
            .last_plan
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let Some(plan) = &*last else {
            return Err(error);
        };
        let claims = self.claims()?;
        Ok((self.board(plan, &claims), claims))
    }

    fn board(&self, plan: &Prd, claims: &Claims) -> Board {
        let now_ms = now_ms();
        let is_over = |loop_id: &str| is_loop_over(&self.home, loop_id);
        Board::of(plan, claims, &|lease| is_holding(lease, now_ms, &is_over))
    }

    /// The state of all tasks that anybody ever touched.
    pub fn claims(&self) -> Result<Claims, TaskError> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let (claims, last) = &mut *read;
        for record in self.journal.read(&self.place.key, *last)? {
            let number = record.number;
            let event: Event = serde_json::from_str(&record.body)
                .map_err(|source| TaskError::Record { number, source })?;
            claims.apply(&event, number, record.at_ms);
            *last = number;
        }
        Ok(claims.clone())
    }

    /// The claim that a task is held by now, if its holder is there.
    pub fn holder(&self, task: &str) -> Result<Option<Lease>, TaskError> {
        let lease = self.claims()?.of(task).lease;
        let is_over = |loop_id: &str| is_loop_over(&self.home, loop_id);
        Ok(lease.filter(|lease| is_holding(lease, now_ms(), &is_over)))
    }

    /// Takes the next wanted task, or says why there is none.
    pub fn claim_next(
        &self,
        lease: &Lease,
        is_wanted: &dyn Fn(&Task) -> bool,
    ) -> Result<Result<Claimed, NoTask>, TaskError> {
        let _lock = self.lock()?;
        let view = self.look()?;
        let task = match view.board.next(is_wanted) {
            Ok(task) => task.clone(),
            Err(none) => return Ok(Err(none)),
        };
        let lease = self.take(&view, &task.id, lease)?;
        let stale = task.stale.clone();
        Ok(Ok(Claimed { lease, task, stale }))
    }

    /// Takes one task.
    pub fn claim(&self, id: &str, lease: &Lease) -> Result<(Lease, Option<Lease>), TaskError> {
        let _lock = self.lock()?;
        let view = self.look()?;
        let stale = view.board.find(id).and_then(|task| task.stale.clone());
        Ok((self.take(&view, id, lease)?, stale))
    }

    fn take(&self, view: &View, id: &str, lease: &Lease) -> Result<Lease, TaskError> {
        let event = moves::claim(&view.board, id, lease.clone()).map_err(TaskError::Refused)?;
        let number = self.append(&view.board, &view.claims, &[event])?;
        Ok(Lease {
            number,
            ..lease.clone()
        })
    }

    /// Takes all these tasks for a loop and records the loop in the same breath: nobody can get in
    /// between. Nothing is taken if somebody else works on one of them, or if the loop is not
    /// recorded.
    pub fn claim_for_loop<E>(
        &self,
        ids: &[String],
        loop_id: &str,
        record: impl FnOnce() -> Result<(), E>,
    ) -> Result<Result<(), E>, TaskError> {
        let _lock = self.lock()?;
        let view = self.look()?;
        let kind = OwnerKind::Loop {
            loop_id: loop_id.to_owned(),
        };
        let lease = self.lease(kind)?;
        let events = moves::claim_all(&view.board, ids, &lease).map_err(TaskError::Refused)?;
        self.append(&view.board, &view.claims, &events)?;
        let recorded = record();
        if recorded.is_err() {
            let why = "the loop was not started".to_owned();
            let back = events.iter().filter_map(|event| match event {
                Event::Claimed { task, .. } => Some(Event::Released {
                    task: task.clone(),
                    why: why.clone(),
                }),
                _ => None,
            });
            let back: Vec<Event> = back.collect();
            self.append_all(&back)?;
        }
        Ok(recorded)
    }

    /// Notes that a loop has landed a task that it holds. A loop that was started without claims holds
    /// none, and nothing is noted.
    pub fn complete_for_loop(&self, id: &str, loop_id: &str) -> Result<(), TaskError> {
        let _lock = self.lock()?;
        let state = self.claims()?.of(id);
        let is_its = |lease: &Lease| matches!(&lease.owner.kind, OwnerKind::Loop { loop_id: of } if of == loop_id);
        if !state.lease.as_ref().is_some_and(is_its) {
            return Ok(());
        }
        let event = Event::Completed {
            task: id.to_owned(),
            by: format!("loop {loop_id}"),
        };
        self.append_all(&[event]).map(drop)
    }

    /// Whether a repository has a store already.
    pub fn is_there(home: &Home, place: &Place) -> bool {
        home.tasks(&place.common).join("tasks.lock").exists()
    }

    /// Completes a task, after looking at what it must make, and writes that into the plan.
    pub fn complete(
        &self,
        id: &str,
        caller: &Caller,
        force: Force,
    ) -> Result<Completed, TaskError> {
        let _lock = self.lock()?;
        let view = self.look()?;
        let task = view.board.find(id);
        let output = task.and_then(|task| missing_output(&self.place.root, task));
        let done = moves::complete(&view.board, id, caller, force, output);
        let done = done.map_err(TaskError::Refused)?;
        let (event, is_submitted) = match done {
            Done::Before => {
                return Ok(Completed {
                    is_submitted: false,
                    was_complete: true,
                    write_back: WriteBack::Off,
                });
            }
            Done::Submitted(event) => (event, true),
            Done::Now(event) => (event, false),
        };
        self.append(&view.board, &view.claims, &[event])?;
        let write_back = if is_submitted {
            WriteBack::Off
        } else {
            self.write_word(id, Mark::Passed)
        };
        Ok(Completed {
            is_submitted,
            was_complete: false,
            write_back,
        })
    }

    /// Completes a task whose checks were green.
    pub fn accept(&self, id: &str, claim: u64) -> Result<WriteBack, TaskError> {
        let _lock = self.lock()?;
        let (board, claims) = self.settled()?;
        let task = board.find(id);
        if let Some(refusal) = task.and_then(|task| missing_output(&self.place.root, task)) {
            return Err(TaskError::Refused(refusal));
        }
        let event = moves::accept(&board, id, claim).map_err(TaskError::Refused)?;
        self.append(&board, &claims, &[event])?;
        Ok(self.write_word(id, Mark::Passed))
    }

    /// Notes that an agent failed; says what becomes of the task.
    pub fn fail(
        &self,
        id: &str,
        claim: u64,
        why: &str,
        tries_more: u32,
    ) -> Result<Then, TaskError> {
        self.move_by(|board| moves::fail(board, id, claim, why, tries_more))
            .map(|event| match event {
                Event::Failed { then, .. } => then,
                _ => Then::Open,
            })
    }

    /// Gives a task back.
    pub fn release(
        &self,
        id: &str,
        caller: &Caller,
        force: Force,
        why: &str,
    ) -> Result<(), TaskError> {
        self.move_by(|board| moves::release(board, id, caller, force, why))
            .map(drop)
    }

    /// Extends a claim. Fails if it is not the holder's any more.
    pub fn renew(&self, id: &str, claim: u64, until_ms: i64) -> Result<(), TaskError> {
        let _lock = self.lock()?;
        let lease = self.claims()?.of(id).lease;
        let task = id.to_owned();
        if lease.is_none_or(|lease| lease.number != claim) {
            return Err(TaskError::Refused(Refusal::Lost { task }));
        }
        let event = Event::Renewed {
            task,
            claim,
            until_ms,
        };
        self.append_all(&[event]).map(drop)
    }

    /// Makes a task as if nobody had touched it, in the plan's file too.
    pub fn reset(&self, id: &str, caller: &Caller, force: Force) -> Result<WriteBack, TaskError> {
        let _lock = self.lock()?;
        let view = self.look()?;
        let event = moves::reset(&view.board, id, caller, force).map_err(TaskError::Refused)?;
        self.append(&view.board, &view.claims, &[event])?;
        let is_marked = view
            .board
            .find(id)
            .is_some_and(|task| task.is_passed_in_file);
        Ok(if is_marked {
            self.write_word(id, Mark::Open)
        } else {
            WriteBack::Off
        })
    }

    /// Makes the graph anew from a folder of tickets. Nothing is written if the tickets are wrong.
    pub fn refresh(&self, tickets: &Path) -> Result<(Refreshed, PrdFile), TaskError> {
        let _lock = self.lock()?;
        let mut file = read_plan(tickets)?;
        let wrong = |file| TaskError::BadGraph(BadGraph::Wrong(Box::new(file)));
        let plan = match file.reading.prd.take() {
            // A dependency on a ticket that is not there would never be waited for.
            Some(plan) if plan.outside.is_empty() => plan,
            _ => return Err(wrong(file)),
        };
        let board = self.board(&plan, &self.claims()?);
        let target = &self.place.graph;
        let old = match operator_file::read(target, prd::limits::FILE_BYTES_MAX) {
            Ok(snapshot) => Some(snapshot),
            Err(operator_file::FileError::Missing) => None,
            Err(error) => return Err(io("read", target, error)),
        };
        let text = old.as_ref().map(|old| String::from_utf8_lossy(old.bytes()));
        let paths = self.ticket_paths(&plan, &file);
        let made = graph_text(text.as_deref(), &plan, &board, &paths);
        match old {
            Some(old) if old.bytes() == made.text.as_bytes() => {}
            Some(old) => operator_file::replace(&old, made.text.as_bytes())
                .map_err(|error| io("write", target, error))?,
            None => fs::write(target, &made.text).map_err(|source| TaskError::Io {
                attempt: "write",
                path: target.clone(),
                source,
            })?,
        }
        Ok((made, file))
    }

    /// The file of each ticket, below the top of the work tree. The reader keeps tickets in the order
    /// of their files, without those that it passed over.
    fn ticket_paths(&self, plan: &Prd, file: &PrdFile) -> BTreeMap<String, String> {
        let mut paths = BTreeMap::new();
        for source in file.reading.sources.files() {
            let name = Path::new(source.name());
            let below = name.strip_prefix(&self.place.root).unwrap_or(name);
            let stem = name.file_stem().unwrap_or_default().to_string_lossy();
            let of = plan.stories.iter().map(|story| story.id.as_str());
            // Tickets are called by their ids, with or without words behind.
            let mut of: Vec<&str> = of.filter(|id| stem.starts_with(id)).collect();
            of.sort_by_key(|id| std::cmp::Reverse(id.len()));
            if let Some(id) = of.first() {
                paths.insert((*id).to_owned(), below.display().to_string());
            }
        }
        paths
    }

    fn move_by(
        &self,
        decide: impl FnOnce(&Board) -> Result<Event, Refusal>,
    ) -> Result<Event, TaskError> {
        let _lock = self.lock()?;
        let (board, claims) = self.settled()?;
        let event = decide(&board).map_err(TaskError::Refused)?;
        self.append(&board, &claims, std::slice::from_ref(&event))?;
        Ok(event)
    }

    /// Records events, after those tasks that the store has not seen yet.
    fn append(&self, board: &Board, claims: &Claims, events: &[Event]) -> Result<u64, TaskError> {
        let known = |id: &str| claims.of(id);
        let seen = moves::unseen(board, &known);
        let events: Vec<Event> = seen.into_iter().chain(events.iter().cloned()).collect();
        self.append_all(&events)
    }

    fn append_all(&self, events: &[Event]) -> Result<u64, TaskError> {
        let at_ms = now_ms();
        let bodies: Result<Vec<String>, _> = events.iter().map(serde_json::to_string).collect();
        let bodies = bodies.map_err(|source| TaskError::Record { number: 0, source })?;
        let records: Vec<NewRecord<'_>> = events
            .iter()
            .zip(&bodies)
            .map(|(event, body)| NewRecord {
                at_ms,
                kind: event.kind(),
                body,
            })
            .collect();
        let expected = {
            let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
            read.1
        };
        // The lock keeps others out. Should somebody get in all the same, the number does not fit,
        // and nothing is written.
        let last = self
            .journal
            .append(&self.place.key, expected, None, &records)?;
        self.claims()?;
        Ok(last)
    }

    /// Puts a task's state into the plan's file, in the file's own words.
    fn write_word(&self, id: &str, mark: Mark) -> WriteBack {
        home::write_back(&self.place.graph, id, mark)
    }

    /// The store's lock, held until it is dropped or the process ends.
    fn lock(&self) -> Result<File, TaskError> {
        let path = self.folder.join("tasks.lock");
        let failed = |source| TaskError::Io {
            attempt: "lock",
            path: path.clone(),
            source,
        };
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(failed)?;
        let began = Instant::now();
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {
                    home::sign_lock(&file);
                    return Ok(file);
                }
                Err(Errno::WOULDBLOCK | Errno::INTR) if began.elapsed() < LOCK_WAIT => {
                    thread::sleep(PAUSE);
                }
                Err(Errno::WOULDBLOCK | Errno::INTR) => {
                    return Err(TaskError::Busy {
                        path,
                        secs: LOCK_WAIT.as_secs(),
                    });
                }
                Err(errno) => return Err(failed(errno.into())),
            }
        }
    }

    /// A lease for somebody in this work tree.
    pub fn lease(&self, kind: OwnerKind) -> Result<Lease, TaskError> {
        let process = match &kind {
            OwnerKind::Ralph => Some(sandbox::our_mark().map_err(TaskError::Process)?),
            OwnerKind::Loop { .. } | OwnerKind::Person => None,
        };
        let now_ms = now_ms();
        let owner = Owner {
            kind,
            name: person(),
            host: this_host(),
            process,
            worktree: self.place.root.clone(),
        };
        Ok(Lease::new(owner, now_ms, now_ms.saturating_add(LEASE_MS)))
    }
}

impl Caller {
    /// Whoever sits at this machine.
    pub fn person() -> Self {
        Self::Person { name: person() }
    }
}

/// The person, as `name@host`.
fn person() -> String {
    let name = std::env::var("USER").ok().filter(|name| !name.is_empty());
    let name = name.unwrap_or_else(|| "somebody".to_owned());
    format!("{name}@{}", this_host())
}

fn io(attempt: &'static str, path: &Path, error: operator_file::FileError) -> TaskError {
    TaskError::Io {
        attempt,
        path: path.to_owned(),
        source: std::io::Error::other(error),
    }
}

fn read_plan(path: &Path) -> Result<PrdFile, TaskError> {
    let bad = |why| TaskError::BadGraph(why);
    // Which agents there are is known by who starts them.
    let options = Options {
        takes_any_tool: true,
        ..Options::default()
    };
    let file = home::read_prd(path, &options);
    let file = file.map_err(|diagnostic| bad(BadGraph::Unreadable(diagnostic)))?;
    if file.reading.has_errors() || file.reading.prd.is_none() {
        return Err(bad(BadGraph::Wrong(Box::new(file))));
    }
    Ok(file)
}
