//! The claim store of one repository: a journal in the state folder and a lock. Everything that is
//! written, also the word in the plan's file, is written under that lock.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use home::{Home, PrdFile, now_ms};
use journal::{Journal, NewRecord};
use prd::{Options, Prd};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::board::Board;
use crate::claims::Claims;
use crate::error::{BadGraph, TaskError};
use crate::event::Event;
use crate::holding::is_holding;
use crate::lease::Lease;
use crate::loops::is_loop_over;
use crate::moves;
use crate::owner::{Owner, OwnerKind, person, this_host};
use crate::place::Place;

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
    pub(crate) claims: Claims,
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

    /// Whether a repository has a store already.
    pub fn is_there(home: &Home, place: &Place) -> bool {
        home.tasks(&place.common).join("tasks.lock").exists()
    }

    /// Where the plan lies.
    pub fn place(&self) -> &Place {
        &self.place
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
    pub(crate) fn settled(&self) -> Result<(Board, Claims), TaskError> {
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

    pub(crate) fn board(&self, plan: &Prd, claims: &Claims) -> Board {
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

    /// Records events, after those tasks that the store has not seen yet.
    pub(crate) fn append(
        &self,
        board: &Board,
        claims: &Claims,
        events: &[Event],
    ) -> Result<u64, TaskError> {
        let known = |id: &str| claims.of(id);
        let seen = moves::unseen(board, &known);
        let events: Vec<Event> = seen.into_iter().chain(events.iter().cloned()).collect();
        self.append_all(&events)
    }

    pub(crate) fn append_all(&self, events: &[Event]) -> Result<u64, TaskError> {
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

    /// The store's lock, held until it is dropped or the process ends.
    pub(crate) fn lock(&self) -> Result<File, TaskError> {
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

pub(crate) fn read_plan(path: &Path) -> Result<PrdFile, TaskError> {
    let bad = |why| TaskError::BadGraph(why);
    let file = home::read_prd(path, &options());
    let file = file.map_err(|diagnostic| bad(BadGraph::Unreadable(diagnostic)))?;
    if file.reading.has_errors() || file.reading.prd.is_none() {
        return Err(bad(BadGraph::Wrong(Box::new(file))));
    }
    Ok(file)
}

/// Which agents there are is known by who starts them.
pub(crate) fn options() -> Options {
    Options {
        takes_any_tool: true,
        ..Options::default()
    }
}
