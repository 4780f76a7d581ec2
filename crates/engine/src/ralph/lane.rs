//! One worker of a `ralph`: claim, prompt, agent, log, complete or release, pause, again.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use agents::Reader;
use home::now_ms;
use sandbox::{RunView, Stream};
use tasks::{
    Caller, Claimed, Force, Lease, NoTask, OwnerKind, Status, Task, TaskError, Tasks, Then,
};
use workspace::CommitId;

use super::agent::Run;
use super::describe::{doing, with_output};
use super::ending::{Ended, Kept, LOOK, end_run, meaning, not_started, stop};
use super::landing::Landing;
use super::log::{Action, Entry};
use super::plan::{End, Notice, OnFailure};
use super::rate::wait_ms;
use super::requests;
use super::shared::Shared;
use crate::fault::Fault;
use crate::local::runs::KeptRuns;
use crate::run::agent_end::summarize;

/// How often it is asked whether the claim is still ours.
const ASK: Duration = Duration::from_secs(2);
/// How often a claim is renewed.
const RENEW: Duration = Duration::from_mins(10);
/// How long to wait for tasks that others work on, and after an error.
const WAIT: Duration = Duration::from_secs(2);
const ERROR_WAIT_MAX: Duration = Duration::from_mins(1);
/// Bytes of output that are read at a time.
const PIECE_BYTES: u64 = 64 * 1024;

/// One worker.
pub(super) struct Lane<'a, 's> {
    pub(super) shared: &'a Shared<'s>,
    pub(super) tasks: Tasks,
    /// The work tree that agents work in.
    pub(super) root: PathBuf,
    /// Where finished work lands, if this is one of several workers.
    pub(super) landing: Option<&'a Landing>,
    /// Tasks that failed here and were given back.
    pub(super) left_alone: BTreeSet<String>,
    pub(super) n_limits: u32,
    pub(super) n_errors: u32,
    pub(super) is_told_blocked: bool,
}

/// What a worker does next.
pub(super) enum Step {
    Again,
    End(End),
    /// Nothing can go on without a person.
    Stop {
        why: String,
    },
}

impl<'a, 's> Lane<'a, 's> {
    pub(super) fn new(
        shared: &'a Shared<'s>,
        tasks: Tasks,
        root: PathBuf,
        landing: Option<&'a Landing>,
    ) -> Self {
        Self {
            shared,
            tasks,
            root,
            landing,
            left_alone: BTreeSet::new(),
            n_limits: 0,
            n_errors: 0,
            is_told_blocked: false,
        }
    }

    /// Works until there is nothing left to do.
    pub(super) fn run(&mut self) -> Step {
        loop {
            if let Some(signal) = self.shared.signal() {
                return Step::End(End::Interrupted { signal });
            }
            if self.shared.is_limit_reached() {
                return Step::End(End::Limit);
            }
            match self.iterate() {
                Ok(Step::Again) => {}
                Ok(step) => return step,
                Err(error) => self.bear(&error),
            }
        }
    }

    /// A plan that cannot be read, or a store that is busy, may be well again later.
    fn bear(&mut self, error: &TaskError) {
        let why = home::words_of(error);
        self.note(0, None, Action::Error, None, &why);
        self.shared.say(Notice::Trouble { what: why });
        let wait = WAIT.saturating_mul(1 << self.n_errors.min(5));
        self.n_errors += 1;
        self.shared.sleep(wait.min(ERROR_WAIT_MAX));
    }

    fn iterate(&mut self) -> Result<Step, TaskError> {
        let mut lease = self.tasks.lease(OwnerKind::Ralph)?;
        // Work that has not landed is not complete.
        lease.verify = !self.shared.plan.checks.is_empty() || self.landing.is_some();
        let plan = self.shared.plan;
        let left_alone = &self.left_alone;
        let is_wanted = |task: &Task| {
            let story = plan.story.as_deref();
            story.is_none_or(|story| task.is_of(story)) && !left_alone.contains(&task.id)
        };
        let claimed = self.tasks.claim_next(&lease, &is_wanted)?;
        self.n_errors = 0;
        match claimed {
            Ok(Claimed {
                lease, task, stale, ..
            }) => {
                self.is_told_blocked = false;
                self.take_over(stale.as_ref());
                Ok(self.work(&lease, &task))
            }
            Err(NoTask::AllComplete) if self.left_alone.is_empty() => {
                Ok(Step::End(End::AllComplete))
            }
            Err(_) => self.wait_for_others(),
        }
    }

    /// While others work on tasks, some that are blocked now may be ready later.
    fn wait_for_others(&mut self) -> Result<Step, TaskError> {
        let board = self.tasks.look()?.board;
        let is_at_work = |task: &Task| match &task.status {
            Status::InProgress(lease) => match (&lease.owner.kind, &lease.owner.process) {
                (OwnerKind::Person, _) => false,
                // One that was stopped may never go on.
                (OwnerKind::Ralph, Some(process)) => sandbox::is_at_work(process),
                (OwnerKind::Ralph | OwnerKind::Loop { .. }, _) => true,
            },
            _ => false,
        };
        let at_work = || board.tasks.iter().filter(|task| is_at_work(task));
        if !self.shared.plan.waits || at_work().next().is_none() {
            return Ok(Step::End(End::AllBlocked));
        }
        // Beside our own agents there may be nobody, and that they work has been said.
        let ours = sandbox::our_mark().ok();
        let is_others = |task: &Task| match &task.status {
            Status::InProgress(lease) => lease.owner.process != ours,
            _ => false,
        };
        if !self.is_told_blocked && at_work().any(is_others) {
            self.is_told_blocked = true;
            let what = "no task is ready; waiting for others who are at work".to_owned();
            self.note(0, None, Action::Blocked, None, &what);
            self.shared.say(Notice::Said { what });
        }
        self.shared
            .sleep(WAIT.min(self.shared.plan.pause.max(Duration::from_millis(300))));
        Ok(Step::Again)
    }

    /// Ends what is left of the runs of somebody who is gone, so that no two work on one task.
    fn take_over(&self, stale: Option<&Lease>) {
        let Some(stale) = stale else {
            return;
        };
        let mut folders = self.tasks.runs_of(stale);
        folders.append(&mut self.tasks.runs_of_the_dead());
        for folder in folders {
            end_run(&folder);
        }
    }

    fn work(&mut self, lease: &Lease, task: &Task) -> Step {
        let iteration = self.shared.begin();
        let began = Instant::now();
        self.note(iteration, Some(&task.id), Action::Started, None, "");
        self.shared.say(Notice::Started {
            iteration,
            task: task.id.clone(),
            title: task.title.clone(),
        });
        let mut told = Told::default();
        let base = match self
            .landing
            .map(|landing| landing.checkout(&self.root, &task.id))
        {
            Some(Err(fault)) => {
                let why = fault.words();
                self.give_back(task, lease, &why);
                self.note(iteration, Some(&task.id), Action::Error, None, &why);
                return Step::Stop { why };
            }
            Some(Ok(base)) => Some(base),
            None => None,
        };
        let ended = match self.prompt(lease, task) {
            Prompt::Text(prompt) => self.try_agent(lease, task, &prompt, base.as_ref(), &mut told),
            Prompt::None => {
                self.give_back(task, lease, "the prompt command has no task");
                return Step::End(End::NoPrompt);
            }
            Prompt::Trouble(why) => {
                self.give_back(task, lease, &why);
                self.note(iteration, Some(&task.id), Action::Error, None, &why);
                self.shared.count(|counts| counts.errors += 1);
                self.shared.say(Notice::Trouble { what: why });
                self.shared.sleep(WAIT);
                return Step::Again;
            }
        };
        let ended = match ended {
            Ended::Submitted => self.verify(lease, task, base.as_ref()),
            ended => ended,
        };
        told.secs = began.elapsed();
        self.settle(iteration, lease, task, ended, &told)
    }

    /// What the end of an agent leads to.
    fn settle(
        &mut self,
        iteration: u64,
        lease: &Lease,
        task: &Task,
        ended: Ended,
        told: &Told,
    ) -> Step {
        let id = Some(task.id.as_str());
        if !matches!(ended, Ended::Limited { .. }) {
            self.n_limits = 0;
        }
        match ended {
            Ended::Complete | Ended::Submitted => {
                self.shared.completed(told.tokens);
                self.note(iteration, id, Action::Completed, Some(told), "complete");
                self.shared.say(Notice::Completed {
                    task: task.id.clone(),
                    secs: told.secs.as_secs(),
                });
                self.shared.sleep(self.shared.plan.pause);
            }
            Ended::Failed { why } => self.failed(iteration, lease, task, &why, told),
            Ended::Limited { why, until_ms } => {
                self.give_back(task, lease, &why);
                self.note(iteration, id, Action::RateLimited, Some(told), &why);
                let wait = wait_ms(self.n_limits, until_ms, now_ms());
                self.n_limits += 1;
                let until = home::local(now_ms().saturating_add(wait));
                let what = format!("{}: {why}; waiting until {until}", task.id);
                self.shared.say(Notice::Trouble { what });
                self.shared.undo_iteration();
                let wait = u64::try_from(wait).unwrap_or_default();
                self.shared.sleep(Duration::from_millis(wait));
            }
            Ended::Impossible { why } => {
                self.give_back(task, lease, &why);
                self.note(iteration, id, Action::Error, Some(told), &why);
                return Step::Stop { why };
            }
            Ended::Clash { why } => {
                self.give_back(task, lease, &why);
                self.note(iteration, id, Action::Blocked, Some(told), &why);
                let what = format!("{}: {why}", task.id);
                self.shared.say(Notice::Trouble { what });
            }
            Ended::Lost => {
                let why = "the claim was taken away; the agent was ended";
                self.note(iteration, id, Action::Interrupted, Some(told), why);
                let what = format!("{}: {why}", task.id);
                self.shared.say(Notice::Trouble { what });
            }
            Ended::Interrupted => {
                self.give_back(task, lease, "interrupted");
                self.note(
                    iteration,
                    id,
                    Action::Interrupted,
                    Some(told),
                    "interrupted",
                );
                let signal = self.shared.signal().unwrap_or_default();
                return Step::End(End::Interrupted { signal });
            }
        }
        Step::Again
    }

    fn failed(&mut self, iteration: u64, lease: &Lease, task: &Task, why: &str, told: &Told) {
        let tries_more = match self.shared.plan.on_failure {
            OnFailure::Keep => 0,
            OnFailure::Reset => u32::MAX,
            OnFailure::Retry(tries) => tries,
        };
        self.shared.failed(told.tokens);
        self.note(iteration, Some(&task.id), Action::Failed, Some(told), why);
        let then = self.tasks.fail(&task.id, lease.number, why, tries_more);
        let next = match then {
            Ok(Then::Keep) => "it stays in progress for a person".to_owned(),
            Ok(Then::Open) if self.shared.plan.on_failure == OnFailure::Reset => {
                self.left_alone.insert(task.id.clone());
                "others may take it".to_owned()
            }
            Ok(Then::Open) => "it will be tried again".to_owned(),
            Err(error) => home::words_of(&error),
        };
        let what = format!("{}: {why}; {next}", task.id);
        self.shared.say(Notice::Trouble { what });
        self.shared.sleep(self.shared.plan.pause);
    }

    fn give_back(&self, task: &Task, lease: &Lease, why: &str) {
        let caller = Caller::Holder {
            claim: lease.number,
        };
        // A claim that cannot be given back is free as soon as this process has ended.
        if let Err(error) = self.tasks.release(&task.id, &caller, Force::No, why) {
            let what = format!("{}: {}", task.id, home::words_of(&error));
            self.shared.say(Notice::Trouble { what });
        }
    }

    fn prompt(&self, lease: &Lease, task: &Task) -> Prompt {
        let Some(command) = &self.shared.plan.prompt_command else {
            return match self.tasks.look() {
                Ok(view) => Prompt::Text(tasks::prompt_of(self.tasks.place(), &view, task)),
                Err(error) => Prompt::Trouble(home::words_of(&error)),
            };
        };
        let place = self.tasks.place();
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", command]).current_dir(&self.root);
        // Whoever is asked for the next task under a claim answers with the claimed one.
        shell
            .env("LOOPWRIGHT_TASK_ID", &task.id)
            .env("LOOPWRIGHT_TASK_CLAIM", lease.number.to_string())
            .env("LOOPWRIGHT_TASK_KEY", &place.key)
            .env("LOOPWRIGHT_TASK_COMMON", &place.common)
            .env("LOOPWRIGHT_TASK_GRAPH", &place.graph);
        let output = match shell.stdin(Stdio::null()).output() {
            Ok(output) => output,
            Err(error) => return Prompt::Trouble(format!("the prompt command: {error}")),
        };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        match output.status.code() {
            Some(0) if text.trim().is_empty() => {
                Prompt::Trouble("the prompt command gave an empty prompt".to_owned())
            }
            Some(0) => Prompt::Text(text),
            Some(1) => Prompt::None,
            _ => Prompt::Trouble(format!("the prompt command failed: {}", output.status)),
        }
    }

    fn try_agent(
        &self,
        lease: &Lease,
        task: &Task,
        prompt: &str,
        base: Option<&CommitId>,
        told: &mut Told,
    ) -> Ended {
        // Only where checks decide does it matter whether the agent did anything.
        let before = lease.verify.then(|| self.mark_of_tree());
        let folder = match self.tasks.make_run_folder(lease.number) {
            Ok(folder) => folder,
            Err(error) => {
                let why = home::words_of(&error);
                return Ended::Impossible { why };
            }
        };
        let run = Run {
            plan: self.shared.plan,
            tasks: &self.tasks,
            root: &self.root,
            task: &task.id,
            lease,
            folder: &folder,
        };
        let keeper = match run.start(prompt) {
            Ok(keeper) => keeper,
            Err(fault) => return not_started(&fault),
        };
        let exit = match self.keep_agent(&run, keeper) {
            Ok(Kept::Ended(exit)) => exit,
            Ok(Kept::Lost) => return Ended::Lost,
            Ok(Kept::Interrupted) => return Ended::Interrupted,
            Err(fault) => return Ended::Failed { why: fault.words() },
        };
        told.exit_code = exit.exit_code;
        let kind = self.shared.plan.agent.cli();
        let runs = KeptRuns::new(self.shared.plan.program.clone());
        let summary = summarize(kind, &runs, &folder, &exit, now_ms());
        told.tokens = summary.usage.tokens.map(|tokens| tokens.total());
        let state = self.tasks.claims().map(|claims| claims.of(&task.id));
        let lease_now = match &state {
            Ok(state) if state.is_complete => return Ended::Complete,
            Ok(state) => state.lease.as_ref(),
            Err(error) => {
                let why = home::words_of(error);
                return Ended::Failed { why };
            }
        };
        if lease_now.is_none_or(|now| now.number != lease.number) {
            return Ended::Lost;
        }
        if self.shared.signal().is_some() {
            return Ended::Interrupted;
        }
        if lease_now.is_some_and(|now| now.is_submitted) {
            return Ended::Submitted;
        }
        let has_changed = match (self.landing, base) {
            (Some(landing), Some(base)) => landing.has_changed(&self.root, base),
            _ => before.is_some_and(|before| before != self.mark_of_tree()),
        };
        let is_any = kind.is_any_program();
        let ended = meaning(&exit, &summary, is_any, has_changed);
        with_output(ended, &exit, &summary, is_any, &folder)
    }

    /// Runs the agent to its end, answers what it asks, and ends it when it must.
    fn keep_agent(&self, run: &Run<'_>, mut keeper: Child) -> Result<Kept, Fault> {
        let mut reader = Reader::new(self.shared.plan.agent.cli());
        let (mut read, mut is_stopped) = (0, None);
        let (mut asked, mut renewed) = (Instant::now(), Instant::now());
        let (requests, number) = (run.requests(), run.lease.number);
        loop {
            let is_over = keeper.try_wait().map_or(true, |status| status.is_some());
            if self.shared.plan.sandbox.is_some() {
                requests::answer(&requests, run.folder, &self.tasks, run.task, number);
            }
            self.follow(run, &mut reader, &mut read);
            if is_over {
                break;
            }
            if is_stopped.is_none() && self.shared.signal().is_some() {
                is_stopped = Some(Kept::Interrupted);
                stop(run.folder);
            }
            if is_stopped.is_none() && asked.elapsed() > ASK {
                asked = Instant::now();
                if self.is_lost(run) {
                    is_stopped = Some(Kept::Lost);
                    stop(run.folder);
                }
            }
            if renewed.elapsed() > RENEW {
                renewed = Instant::now();
                let until = now_ms().saturating_add(tasks::LEASE_MS);
                let _ = self.tasks.renew(run.task, number, until);
            }
            thread::sleep(LOOK);
        }
        let view = sandbox::look(run.folder).map_err(|error| Fault::keeper(run.folder, error))?;
        match (is_stopped, view) {
            (Some(stopped), _) => Ok(stopped),
            (None, RunView::Ended(exit)) => Ok(Kept::Ended(Box::new(exit))),
            // The keeper itself was killed.
            (None, _) => {
                end_run(run.folder);
                Err(Fault::transient("keep the agent", "its keeper was killed"))
            }
        }
    }

    /// Whether the task is another's by now, or complete by somebody else's word.
    fn is_lost(&self, run: &Run<'_>) -> bool {
        let Ok(claims) = self.tasks.claims() else {
            return false;
        };
        let state = claims.of(run.task);
        let is_ours = |lease: &Lease| lease.number == run.lease.number;
        !state.is_complete && !state.lease.as_ref().is_some_and(is_ours)
    }

    /// Tells what the agent does right now.
    fn follow(&self, run: &Run<'_>, reader: &mut Reader, read: &mut u64) {
        let mut last = None;
        while let Ok(Some(piece)) =
            sandbox::output_from(run.folder, Stream::Stdout, *read, PIECE_BYTES)
        {
            *read = piece.from + piece.bytes.len() as u64;
            let told = reader.feed(&piece.bytes);
            last = told.iter().filter_map(doing).next_back().or(last);
        }
        if let Some(what) = last {
            let task = run.task.to_owned();
            self.shared.say(Notice::Doing { task, what });
        }
    }

    /// Something that differs when the files of the person's work tree do. The plan does not count:
    /// its words are the store's.
    fn mark_of_tree(&self) -> Option<String> {
        let place = self.tasks.place();
        let plan = place.graph.strip_prefix(&place.root).ok();
        let is_persons = self.landing.is_none();
        is_persons
            .then(|| workspace::work_mark(&self.root, plan).ok())
            .flatten()
    }

    fn note(
        &self,
        iteration: u64,
        task_id: Option<&str>,
        action: Action,
        told: Option<&Told>,
        outcome: &str,
    ) {
        self.shared.log.add(&Entry {
            iteration,
            task_id,
            action,
            duration_seconds: told.map(|told| round(told.secs.as_secs_f64())),
            exit_code: told.and_then(|told| told.exit_code),
            outcome: Some(outcome).filter(|words| !words.is_empty()),
            agent: &self.shared.plan.agent_name,
            tokens: told.and_then(|told| told.tokens),
        });
    }
}

enum Prompt {
    Text(String),
    /// There is no task.
    None,
    Trouble(String),
}

/// What is told of an agent's run.
#[derive(Debug, Default)]
struct Told {
    secs: Duration,
    exit_code: Option<i32>,
    tokens: Option<u64>,
}

fn round(secs: f64) -> f64 {
    (secs * 1000.0).round() / 1000.0
}
