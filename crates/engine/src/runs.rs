//! Runs: starting them under a keeper, seeing how they ended, ending them. Looking always comes
//! before doing.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kernel::{Effect, Event, RunKey, RunOutcome, RunUsage, Stage, State};
use sandbox::{ExitCause, ExitRecord, RunView, Stream};
use workspace::LoopRepo;

use crate::credentials;
use crate::facts::{baseline_outcome, check_outcome, surface_of};
use crate::hands::{
    History, OUTGREW, config_home, kind_of, resumable, summarize, summary_so_far, unhappy, usage_of,
};
use crate::home::RunName;
use crate::measure::{PLAN_FILE, Plan, REPORT_FILE, Report, known};
use crate::rules::TestRules;
use crate::settings::Settings;
use crate::task::Task;
use crate::worker::{Moment, Worker, WorkerError};

/// Bytes of an output's end that are looked at for an answer or for the last words.
const ANSWER_BYTES: usize = 256 * 1024;
const LAST_WORDS_BYTES: usize = 4 * 1024;

/// What an agent's exit code says.
const EXIT_TRY_LATER: i32 = 75;
const EXIT_NOT_LOGGED_IN: i32 = 77;

impl Worker {
    /// Carries out one effect; the event is what came of it, and nothing means that there is
    /// nothing to record yet.
    pub(crate) fn carry_out(
        &mut self,
        loop_id: &str,
        effect: &Effect,
    ) -> Result<Option<Event>, WorkerError> {
        let event = match effect {
            Effect::Plan { .. } | Effect::Block { .. } => effect.decision(),
            // The intent is recorded first; the next look finds that nothing runs yet, and starts
            // it.
            Effect::StartRun(run) => Some(Event::RunStarted { run: run.clone() }),
            Effect::WatchRun(run) => self.watch(loop_id, run)?,
            Effect::StopRun(run) => self.stop(loop_id, run)?,
            Effect::WakeAt { .. } => {
                let event = effect.waited(self.time_ms());
                if event.is_none() {
                    self.see_to_waker(loop_id);
                }
                event
            }
            Effect::Prepare
            | Effect::MakeTests { .. }
            | Effect::MakeCandidate { .. }
            | Effect::Integrate { .. }
            | Effect::Announce { .. }
            | Effect::Skip { .. }
            | Effect::End(_) => {
                let event = self.land(loop_id, effect);
                self.disk_full |= event.is_none() && !sandbox::has_room(self.home.root());
                self.crash_point(Moment::AfterDeed)?;
                event
            }
        };
        Ok(event)
    }

    fn see_to_waker(&mut self, loop_id: &str) {
        if let Some(until_ms) = self
            .loaded(loop_id)
            .and_then(|loaded| loaded.state.waits_until_ms())
        {
            self.wakers
                .see_to(&self.program, &self.home, loop_id, until_ms);
        }
    }

    /// Looks at a run: not started, under way, over, or lost with its keeper.
    fn watch(&mut self, loop_id: &str, run: &RunKey) -> Result<Option<Event>, WorkerError> {
        let Some(place) = self.place(loop_id, run) else {
            return Ok(None);
        };
        let mut usage = None;
        let outcome = match place.look() {
            Ok(RunView::Running(_)) => return Ok(None),
            Ok(RunView::NotStarted) if self.was_just_launched(&place) => return Ok(None),
            Ok(RunView::NotStarted)
                if run.stage == Stage::Baseline && self.known_baseline(loop_id).is_some() =>
            {
                self.known_baseline(loop_id)
                    .unwrap_or(RunOutcome::Interrupted {
                        why: "it was forgotten".to_owned(),
                    })
            }
            Ok(RunView::NotStarted) => match self.launch(loop_id, run, &place) {
                Ok(()) => {
                    self.crash_point(Moment::AfterDeed)?;
                    return Ok(None);
                }
                Err(LaunchFault::Ours(_)) if !sandbox::has_room(self.home.root()) => {
                    self.disk_full = true;
                    return Ok(None);
                }
                Err(LaunchFault::Ours(why)) => ours(why),
                Err(LaunchFault::BadTree(why)) => RunOutcome::Failed { why },
            },
            Ok(RunView::Ended(exit)) => {
                let (outcome, used) = self.outcome(loop_id, run, &place, &exit);
                usage = used;
                outcome
            }
            Ok(RunView::Lost(_)) => match sandbox::sweep(&place.run_folder) {
                Ok(_) => {
                    usage = self.session_so_far(loop_id, run, &place);
                    RunOutcome::Interrupted {
                        why: "its keeper died".to_owned(),
                    }
                }
                Err(error) => ours(error.to_string()),
            },
            Ok(RunView::Rebooted(_)) => {
                usage = self.session_so_far(loop_id, run, &place);
                RunOutcome::Interrupted {
                    why: "the machine was started anew".to_owned(),
                }
            }
            Err(error) => ours(error.to_string()),
        };
        self.give_credentials_back(loop_id, run);
        let wrote = matches!(
            outcome,
            RunOutcome::Worked { .. } | RunOutcome::TestsWritten(_)
        );
        if !wrote && !usage.as_ref().is_some_and(|usage| usage.goes_on) {
            // What a writer made or goes on with is still needed; every other checkout has done its
            // duty.
            self.retire(loop_id, &place.checkout);
        }
        Ok(Some(Event::RunEnded {
            run: run.clone(),
            outcome,
            usage,
        }))
    }

    /// Ends a run's processes; only when all are gone is it over.
    fn stop(&mut self, loop_id: &str, run: &RunKey) -> Result<Option<Event>, WorkerError> {
        let Some(place) = self.place(loop_id, run) else {
            return Ok(None);
        };
        match place.look() {
            Ok(RunView::Running(_)) => {
                let _ = sandbox::request_stop(&place.run_folder, "cancelled");
                return Ok(None);
            }
            Ok(RunView::Lost(_)) if sandbox::sweep(&place.run_folder).is_err() => return Ok(None),
            Ok(
                RunView::NotStarted | RunView::Ended(_) | RunView::Lost(_) | RunView::Rebooted(_),
            )
            | Err(_) => {}
        }
        if matches!(
            run.stage,
            Stage::Implement | Stage::Prove | Stage::WriteTests
        ) && self.keep_cancelled_work(loop_id, run, &place).is_err()
            && !sandbox::has_room(self.home.root())
        {
            self.disk_full = true;
            return Ok(None);
        }
        self.retire(loop_id, &place.checkout);
        self.give_credentials_back(loop_id, run);
        self.crash_point(Moment::AfterDeed)?;
        Ok(Some(Event::RunEnded {
            run: run.clone(),
            outcome: RunOutcome::Stopped,
            usage: None,
        }))
    }

    /// A token that the agent refreshed is the operator's.
    fn give_credentials_back(&self, loop_id: &str, run: &RunKey) {
        if self.cli_of(loop_id, run).is_some()
            && let Some(agent) = self
                .loaded(loop_id)
                .and_then(|loaded| loaded.state.agent_of(run.stage))
        {
            credentials::give_back(&config_home(&self.home.agent_homes(loop_id), agent));
        }
    }

    pub(crate) fn place(&self, loop_id: &str, run: &RunKey) -> Option<Place> {
        let state = &self.loaded(loop_id)?.state;
        let name = RunName::of(state, run);
        let run_folder = self.home.run_folder(loop_id, &name);
        Some(Place {
            checkout: self.checkout_of(loop_id, state, run),
            name,
            run_folder,
        })
    }

    /// The checkout that a run works in, which is an earlier try's where it goes on with that.
    pub(crate) fn checkout_of(&self, loop_id: &str, state: &State, run: &RunKey) -> PathBuf {
        let of_run = state
            .active()
            .map(|(_, attempt)| attempt)
            .filter(|attempt| attempt.number == run.attempt);
        let try_number = of_run.map_or(run.try_number, |attempt| {
            attempt.checkout_try(run.stage, run.try_number)
        });
        self.home.checkout(
            loop_id,
            &RunName::of(
                state,
                &RunKey {
                    try_number,
                    ..run.clone()
                },
            ),
        )
    }

    pub(crate) fn settings(&self, loop_id: &str) -> Result<Settings, String> {
        let state = &self.loaded(loop_id).ok_or("the loop is not loaded")?.state;
        serde_json::from_str(&state.spec().settings)
            .map_err(|error| format!("the loop's settings cannot be read: {error}"))
    }

    pub(crate) fn repository(&self, loop_id: &str) -> Result<LoopRepo, String> {
        let repository =
            LoopRepo::open(&self.home.repository(loop_id)).map_err(|error| error.to_string())?;
        Ok(repository.remembering(&self.git_memory))
    }

    /// A keeper that was started a moment ago may not be seen yet.
    fn was_just_launched(&self, place: &Place) -> bool {
        const MOMENT: Duration = Duration::from_secs(2);
        self.launched
            .get(&place.run_folder)
            .is_some_and(|at| at.elapsed() < MOMENT)
    }

    /// Gets everything ready and starts the keeper. The orders are written last: where they are,
    /// all else is there, and a keeper of an earlier worker may be about to use it, so it is not
    /// touched again. Two keepers of one run are one.
    fn launch(&mut self, loop_id: &str, run: &RunKey, place: &Place) -> Result<(), LaunchFault> {
        if !place.has_orders() {
            self.make_ready(loop_id, run, place)?;
        }
        self.launched
            .insert(place.run_folder.clone(), Instant::now());
        sandbox::launch(&self.program, &place.run_folder)
            .map_err(|error| LaunchFault::Ours(error.to_string()))
    }

    /// Makes the checkout, the prompt and the keeper's orders; a half-made earlier try is made
    /// anew.
    fn make_ready(
        &mut self,
        loop_id: &str,
        run: &RunKey,
        place: &Place,
    ) -> Result<(), LaunchFault> {
        let loaded = self.loaded(loop_id).ok_or("the loop is not loaded")?;
        let (story, attempt) = loaded.state.active().ok_or("no story is being worked on")?;
        let (settings, repository) = (self.settings(loop_id)?, self.repository(loop_id)?);
        let (settings, repository) = (&settings, &repository);
        let task = Task {
            state: &loaded.state,
            story,
            attempt,
            run,
            settings,
            repository,
        };
        let run_id = place.name.full(loop_id);
        let mut spec = if run.stage.is_check() {
            remove_folder(&place.checkout);
            task.check(place, &self.program, self.home.measured(loop_id), &run_id)?
        } else {
            task.agent(place, &self.home.agent_homes(loop_id), &self.program)?
        };
        crate::role_settings::apply(settings, attempt.flow.row(run.stage).role.word(), &mut spec);
        spec.env.extend(task.environment(&run_id));
        spec.run_id = run_id;
        sandbox::prepare(&place.run_folder, &spec)
            .map_err(|error| LaunchFault::Ours(error.to_string()))
    }

    /// What a run's end means. One that failed on a full disk failed for a reason of ours, and
    /// costs no attempt.
    fn outcome(
        &self,
        loop_id: &str,
        run: &RunKey,
        place: &Place,
        exit: &ExitRecord,
    ) -> (RunOutcome, Option<RunUsage>) {
        let (outcome, usage) = match self.cli_of(loop_id, run) {
            Some(kind) => self.cli_outcome(kind, loop_id, run, place, exit),
            None => (self.plain_outcome(loop_id, run, place, exit), None),
        };
        let failed = matches!(
            outcome,
            RunOutcome::Failed { .. }
                | RunOutcome::BadAnswer { .. }
                | RunOutcome::Checked { passed: false, .. }
        );
        if failed && exit.found_full {
            let why = "the disk was full".to_owned();
            return (ours(why), usage);
        }
        (outcome, usage)
    }

    /// The known CLI that a run is of, if it is of one.
    fn cli_of(&self, loop_id: &str, run: &RunKey) -> Option<agents::Kind> {
        let state = &self.loaded(loop_id)?.state;
        let name = state.agent_of(run.stage)?;
        let kind = kind_of(self.settings(loop_id).ok()?.agents.get(name)?);
        (kind != agents::Kind::Command).then_some(kind)
    }

    /// The model that was asked for, and what tokens cost.
    fn model_and_prices(
        &self,
        loop_id: &str,
        run: &RunKey,
    ) -> (Option<String>, Vec<agents::Price>) {
        let Ok(settings) = self.settings(loop_id) else {
            return (None, Vec::new());
        };
        let state = self.loaded(loop_id).map(|loaded| &loaded.state);
        let model = state.and_then(|state| {
            let role = state.active()?.1.flow.row(run.stage).role;
            settings
                .agent_in_role(state.spec(), role, state.agent_of(run.stage)?)?
                .model
        });
        (model, settings.prices)
    }

    /// Whether an earlier try of this very stage ended because its session was too long.
    fn has_outgrown(&self, loop_id: &str, run: &RunKey) -> bool {
        let records = self
            .loaded(loop_id)
            .map(|loaded| &loaded.records[..])
            .unwrap_or_default();
        records.iter().rev().any(|record| match &record.event {
            Event::RunEnded {
                run: earlier,
                outcome: RunOutcome::Interrupted { why },
                ..
            } => {
                RunKey {
                    try_number: run.try_number,
                    ..earlier.clone()
                } == *run
                    && why.contains(OUTGREW)
            }
            _ => false,
        })
    }

    /// The run of a stage and what is known of its try.
    fn lane_of(&self, loop_id: &str, run: &RunKey) -> Option<&kernel::Run> {
        let (_, attempt) = self.loaded(loop_id)?.state.active()?;
        Some(
            &attempt
                .lanes()
                .iter()
                .find(|lane| lane.stage == run.stage)?
                .run,
        )
    }

    /// What a run that was cut off with its keeper leaves to go on with.
    fn session_so_far(&self, loop_id: &str, run: &RunKey, place: &Place) -> Option<RunUsage> {
        let kind = self.cli_of(loop_id, run)?;
        let session = resumable(
            kind,
            &summary_so_far(kind, &place.run_folder),
            &place.checkout,
        )?;
        Some(RunUsage {
            session: Some(session),
            goes_on: true,
            ..RunUsage::default()
        })
    }

    /// What a known CLI's stream says; only a run that is done has an answer.
    fn cli_outcome(
        &self,
        kind: agents::Kind,
        loop_id: &str,
        run: &RunKey,
        place: &Place,
        exit: &ExitRecord,
    ) -> (RunOutcome, Option<RunUsage>) {
        let now_ms = self.time_ms();
        let summary = summarize(kind, &place.run_folder, exit, now_ms);
        let (model, prices) = self.model_and_prices(loop_id, run);
        let lane = self.lane_of(loop_id, run);
        let before = lane
            .and_then(|lane| lane.goes_on.as_ref())
            .map(|goes_on| goes_on.used.clone());
        let goes_on = before.is_some();
        let mut usage = usage_of(
            &summary,
            &before.unwrap_or_default(),
            model.as_deref(),
            &prices,
        );
        let history = History {
            has_outgrown: self.has_outgrown(loop_id, run),
            has_failed: lane.is_some_and(|lane| lane.faults > 0),
            goes_on,
            now_ms,
        };
        if let Some(outcome) = unhappy(kind, &summary, &history) {
            let is_cut_off = matches!(
                outcome,
                RunOutcome::Interrupted { .. }
                    | RunOutcome::Infrastructure { .. }
                    | RunOutcome::NeedsHuman { .. }
            );
            let session = resumable(kind, &summary, &place.checkout).filter(|_| is_cut_off);
            if session.is_some() {
                let told = usage.unwrap_or_default();
                usage = Some(RunUsage {
                    session,
                    goes_on: true,
                    ..told
                });
            }
            return (outcome, usage);
        }
        let said = summary.answer.unwrap_or_default();
        (self.answer_in(loop_id, run, &said), usage)
    }

    fn plain_outcome(
        &self,
        loop_id: &str,
        run: &RunKey,
        place: &Place,
        exit: &ExitRecord,
    ) -> RunOutcome {
        if let ExitCause::CannotStart { why } = &exit.cause {
            let question = format!(
                "the program of `{}` cannot be started ({why}); mend that, then answer `retry`",
                run.stage.word()
            );
            return RunOutcome::NeedsHuman {
                question,
                free: false,
            };
        }
        if run.stage.is_check() {
            return self
                .measured_outcome(loop_id, run, place, exit)
                .unwrap_or_else(|why| ours(format!("the checks could not be made: {why}")));
        }
        match (&exit.cause, exit.exit_code) {
            (ExitCause::Exited, Some(EXIT_TRY_LATER)) => RunOutcome::Infrastructure {
                why: "the agent asked to try again later".to_owned(),
                until_ms: None,
                elsewhere: true,
            },
            (ExitCause::Exited, Some(EXIT_NOT_LOGGED_IN)) => RunOutcome::NeedsHuman {
                question: "the agent is not logged in; log it in, then answer `retry`".to_owned(),
                free: false,
            },
            (ExitCause::Exited, Some(0)) => self.answer(loop_id, run, place, exit),
            _ => RunOutcome::Failed {
                why: failure_words(place, exit),
            },
        }
    }

    /// What an agent that ended well says.
    fn answer(&self, loop_id: &str, run: &RunKey, place: &Place, exit: &ExitRecord) -> RunOutcome {
        let output = sandbox::output(&place.run_folder, Stream::Stdout).unwrap_or_default();
        let works = matches!(run.stage, Stage::Implement | Stage::Prove);
        // The answer is at the end of the output: where that is not kept to its last byte, nothing
        // was said.
        if output.end() != exit.stdout_bytes + exit.stdout_dropped && !works {
            return RunOutcome::BadAnswer {
                why: "the end of its output is not kept".to_owned(),
            };
        }
        self.answer_in(
            loop_id,
            run,
            &String::from_utf8_lossy(output.tail(ANSWER_BYTES)),
        )
    }

    /// The answer that a stage needs, in what its agent said.
    fn answer_in(&self, loop_id: &str, run: &RunKey, said: &str) -> RunOutcome {
        if let Some(question) = roles::read_question(said) {
            return RunOutcome::NeedsHuman {
                question,
                free: true,
            };
        }
        let bad = |why: String| RunOutcome::BadAnswer { why };
        match run.stage {
            Stage::Implement | Stage::Prove => RunOutcome::Worked {
                learned: roles::read_learned(said),
            },
            Stage::WriteTests => {
                roles::read_coverage(said).map_or_else(bad, RunOutcome::TestsWritten)
            }
            Stage::Review => roles::read_review(said).map_or_else(bad, RunOutcome::Reviewed),
            Stage::Arbitrate => {
                roles::read_ruling(said).map_or_else(bad, |ruling| RunOutcome::Ruled {
                    fresh_tests: ruling.fresh_tests,
                    reason: ruling.reason,
                })
            }
            Stage::Judge => self.verdict(loop_id, said),
            Stage::Baseline | Stage::Check => bad("no agent runs the checks".to_owned()),
        }
    }

    fn verdict(&self, loop_id: &str, said: &str) -> RunOutcome {
        let candidate = self
            .loaded(loop_id)
            .and_then(|loaded| loaded.state.active())
            .and_then(|(_, attempt)| attempt.candidate());
        let Some(candidate) = candidate else {
            return RunOutcome::BadAnswer {
                why: "there is no candidate".to_owned(),
            };
        };
        match roles::read_verdict(said, candidate) {
            Ok(verdict) => RunOutcome::Judged(verdict),
            Err(why) => RunOutcome::BadAnswer { why },
        }
    }

    /// What the measurements of a check's run mean; an error costs no attempt.
    fn measured_outcome(
        &self,
        loop_id: &str,
        run: &RunKey,
        place: &Place,
        exit: &ExitRecord,
    ) -> Result<RunOutcome, String> {
        if matches!(exit.cause, ExitCause::WallTimeout | ExitCause::IdleTimeout) {
            let report = "the checks ran out of time".to_owned();
            return Ok(RunOutcome::Checked {
                passed: false,
                report,
                facts: None,
            });
        }
        if exit.cause != ExitCause::Exited || exit.exit_code != Some(0) {
            return Err(failure_words(place, exit));
        }
        let read = |name: &str| {
            fs::read(place.run_folder.join(name))
                .map_err(|error| format!("`{name}` cannot be read: {error}"))
        };
        let plan: Plan =
            serde_json::from_slice(&read(PLAN_FILE)?).map_err(|error| error.to_string())?;
        let report: Report =
            serde_json::from_slice(&read(REPORT_FILE)?).map_err(|error| error.to_string())?;
        if run.stage == Stage::Baseline {
            return Ok(baseline_outcome(&report.base));
        }
        let state = &self.loaded(loop_id).ok_or("the loop is not loaded")?.state;
        let (story, attempt) = state.active().ok_or("no story is being worked on")?;
        let repository = self.repository(loop_id)?;
        let settings = self.settings(loop_id)?;
        let surface = || {
            let parse = |id: &str| workspace::TreeId::parse(id).map_err(|error| error.to_string());
            let made = || {
                let (base, code) = (
                    parse(&plan.trees.base)?,
                    parse(plan.trees.without_tests.as_deref().unwrap_or_default())?,
                );
                let rules = TestRules::of(&repository, &settings, &base)?;
                surface_of(&repository, &base, &code, &rules)
            };
            made().unwrap_or_default()
        };
        Ok(check_outcome(
            &plan,
            &report,
            &attempt.notes,
            story,
            surface,
        ))
    }

    /// A base that was measured before needs no run.
    fn known_baseline(&self, loop_id: &str) -> Option<RunOutcome> {
        let state = &self.loaded(loop_id)?.state;
        let (_, attempt) = state.active()?;
        let (settings, repository) = (self.settings(loop_id).ok()?, self.repository(loop_id).ok()?);
        let base = workspace::CommitId::parse(attempt.base.as_str()).ok()?;
        let tree = repository.tree_of(&base).ok()?;
        let known = known(
            &self.home.measured(loop_id),
            tree.as_str(),
            &settings.checks,
        )?;
        Some(baseline_outcome(&known.measurement))
    }
}

/// Why a run could not be started.
pub(crate) enum LaunchFault {
    /// Something of ours or around us; it costs no attempt.
    Ours(String),
    /// The files that the run should work on are at fault.
    BadTree(String),
}

impl From<String> for LaunchFault {
    fn from(why: String) -> Self {
        Self::Ours(why)
    }
}

impl From<&str> for LaunchFault {
    fn from(why: &str) -> Self {
        Self::Ours(why.to_owned())
    }
}

/// Where a run's files are.
pub(crate) struct Place {
    pub(crate) name: RunName,
    pub(crate) run_folder: PathBuf,
    pub(crate) checkout: PathBuf,
}

impl Place {
    /// Whether everything that a keeper needs is there.
    fn has_orders(&self) -> bool {
        self.run_folder.join("spec.json").exists()
    }

    /// The end of what a run said.
    fn last_words(&self, stream: Stream) -> String {
        let output = sandbox::output(&self.run_folder, stream).unwrap_or_default();
        String::from_utf8_lossy(output.tail(LAST_WORDS_BYTES)).into_owned()
    }

    fn look(&self) -> Result<RunView, sandbox::KeeperError> {
        if self.has_orders() {
            sandbox::look(&self.run_folder)
        } else {
            Ok(RunView::NotStarted)
        }
    }
}

fn failure_words(place: &Place, exit: &ExitRecord) -> String {
    let how = match (&exit.cause, exit.exit_code, exit.signal) {
        (ExitCause::WallTimeout, _, _) => "it ran out of time".to_owned(),
        (ExitCause::IdleTimeout, _, _) => "it said nothing for too long".to_owned(),
        (_, Some(code), _) => format!("exit code {code}"),
        (_, None, Some(signal)) => format!("ended by signal {signal}"),
        (_, None, None) => "it ended in an unknown way".to_owned(),
    };
    let errors = place.last_words(Stream::Stderr);
    let last = errors
        .lines()
        .rev()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    if last.is_empty() {
        how
    } else {
        format!("{how}: {last}")
    }
}

/// Something of ours or around us; it costs no attempt.
pub(crate) fn ours(why: String) -> RunOutcome {
    RunOutcome::Infrastructure {
        why,
        until_ms: None,
        elsewhere: false,
    }
}

/// Removes a checkout. What cannot be removed now is removed with the loop.
pub(crate) fn remove_folder(folder: &Path) {
    let _ = crate::scrap::remove_folder(folder);
}
