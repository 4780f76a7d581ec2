//! Runs: starting them under a keeper, seeing how they ended, ending them. Looking always comes before doing.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kernel::{Attempt, Commit, Effect, Event, RunKey, RunOutcome, Stage, State, Step, StoryProgress};
use sandbox::{ExitCause, ExitRecord, RunSpec, RunView, StopSignal, Stream};
use workspace::LoopRepo;

use crate::home::RunName;
use crate::scrap::is_plain;
use crate::settings::{AgentSettings, Settings};
use crate::worker::{Moment, Worker, WorkerError};

/// Environment variables that every run may see.
const ENVIRONMENT: &[&str] = &["PATH", "HOME", "USER", "LANG", "TERM", "TZ", "TMPDIR"];

/// Bytes of each output stream that are kept, a quarter of them of its beginning.
const OUTPUT_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Bytes of an output's end that are looked at for an answer or shown as a report.
const ANSWER_BYTES: usize = 256 * 1024;
const REPORT_BYTES: usize = 4 * 1024;

/// Bytes of a diff that a judge is shown.
const DIFF_BYTES_MAX: usize = 200 * 1024;

/// What an agent's exit code says.
const EXIT_TRY_LATER: i32 = 75;
const EXIT_NOT_LOGGED_IN: i32 = 77;

impl Worker {
    /// Carries out one effect; the event is what came of it, and nothing means that there is nothing to record yet.
    pub(crate) fn carry_out(&mut self, loop_id: &str, effect: &Effect) -> Result<Option<Event>, WorkerError> {
        let event = match effect {
            Effect::Plan { .. } | Effect::Block { .. } => effect.decision(),
            // The intent is recorded first; the next look finds that nothing runs yet, and starts it.
            Effect::StartRun(run) => Some(Event::RunStarted { run: run.clone() }),
            Effect::WatchRun(run) => self.watch(loop_id, run)?,
            Effect::StopRun(run) => self.stop(loop_id, run)?,
            Effect::WakeAt { until_ms, run } => {
                (self.time_ms() >= *until_ms).then(|| Event::WaitEnded { run: run.clone() })
            }
            Effect::Prepare
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

    /// Looks at a run: not started, under way, over, or lost with its keeper.
    fn watch(&mut self, loop_id: &str, run: &RunKey) -> Result<Option<Event>, WorkerError> {
        let Some(place) = self.place(loop_id, run) else { return Ok(None) };
        let outcome = match place.look() {
            Ok(RunView::Running(_)) => return Ok(None),
            Ok(RunView::NotStarted) if self.was_just_launched(&place) => return Ok(None),
            Ok(RunView::NotStarted) => match self.launch(loop_id, run, &place) {
                Ok(()) => {
                    self.crash_point(Moment::AfterDeed)?;
                    return Ok(None);
                }
                Err(LaunchFault::Ours(_)) if !sandbox::has_room(self.home.root()) => {
                    self.disk_full = true;
                    return Ok(None);
                }
                Err(LaunchFault::Ours(why)) => RunOutcome::Infrastructure { why, until_ms: None },
                Err(LaunchFault::BadTree(report)) if run.stage == Stage::Check => {
                    RunOutcome::Checked { passed: false, report }
                }
                Err(LaunchFault::BadTree(why)) => RunOutcome::Failed { why },
            },
            Ok(RunView::Ended(exit)) => self.outcome(loop_id, run, &place, &exit),
            Ok(RunView::Lost(_)) => match sandbox::sweep(&place.run_folder) {
                Ok(_) => RunOutcome::Interrupted { why: "its keeper died".to_owned() },
                Err(error) => RunOutcome::Infrastructure { why: error.to_string(), until_ms: None },
            },
            Ok(RunView::Rebooted(_)) => {
                RunOutcome::Interrupted { why: "the machine was started anew".to_owned() }
            }
            Err(error) => RunOutcome::Infrastructure { why: error.to_string(), until_ms: None },
        };
        if run.stage != Stage::Implement || outcome != RunOutcome::Worked {
            // What an implementor made is still needed; every other checkout has done its duty.
            remove_folder(&place.checkout);
        }
        Ok(Some(Event::RunEnded { run: run.clone(), outcome }))
    }

    /// Ends a run's processes; only when all are gone is it over.
    fn stop(&mut self, loop_id: &str, run: &RunKey) -> Result<Option<Event>, WorkerError> {
        let Some(place) = self.place(loop_id, run) else { return Ok(None) };
        match place.look() {
            Ok(RunView::Running(_)) => {
                let _ = sandbox::request_stop(&place.run_folder, "cancelled");
                return Ok(None);
            }
            Ok(RunView::Lost(_)) if sandbox::sweep(&place.run_folder).is_err() => return Ok(None),
            Ok(RunView::NotStarted | RunView::Ended(_) | RunView::Lost(_) | RunView::Rebooted(_))
            | Err(_) => {}
        }
        if run.stage == Stage::Implement
            && self.keep_cancelled_work(loop_id, run, &place).is_err()
            && !sandbox::has_room(self.home.root())
        {
            self.disk_full = true;
            return Ok(None);
        }
        remove_folder(&place.checkout);
        self.crash_point(Moment::AfterDeed)?;
        Ok(Some(Event::RunEnded { run: run.clone(), outcome: RunOutcome::Stopped }))
    }

    pub(crate) fn place(&self, loop_id: &str, run: &RunKey) -> Option<Place> {
        let state = &self.loaded(loop_id)?.state;
        let name = RunName::of(state, run);
        let (run_folder, checkout) =
            (self.home.run_folder(loop_id, &name), self.home.checkout(loop_id, &name));
        Some(Place { name, run_folder, checkout })
    }

    pub(crate) fn settings(&self, loop_id: &str) -> Result<Settings, String> {
        let state = &self.loaded(loop_id).ok_or("the loop is not loaded")?.state;
        serde_json::from_str(&state.spec().settings)
            .map_err(|error| format!("the loop's settings cannot be read: {error}"))
    }

    pub(crate) fn repository(&self, loop_id: &str) -> Result<LoopRepo, String> {
        LoopRepo::open(&self.home.repository(loop_id)).map_err(|error| error.to_string())
    }

    /// A keeper that was started a moment ago may not be seen yet.
    fn was_just_launched(&self, place: &Place) -> bool {
        const MOMENT: Duration = Duration::from_secs(2);
        self.launched.get(&place.run_folder).is_some_and(|at| at.elapsed() < MOMENT)
    }

    /// Gets everything ready and starts the keeper. The orders are written last: where they are, all else is there, and a
    /// keeper of an earlier worker may be about to use it, so it is not touched again. Two keepers of one run are one.
    fn launch(&mut self, loop_id: &str, run: &RunKey, place: &Place) -> Result<(), LaunchFault> {
        if !place.has_orders() {
            self.make_ready(loop_id, run, place)?;
        }
        self.launched.insert(place.run_folder.clone(), Instant::now());
        sandbox::launch(&self.program, &place.run_folder)
            .map_err(|error| LaunchFault::Ours(error.to_string()))
    }

    /// Makes the checkout, the prompt and the keeper's orders; a half-made earlier try is made anew.
    fn make_ready(&mut self, loop_id: &str, run: &RunKey, place: &Place) -> Result<(), LaunchFault> {
        let loaded = self.loaded(loop_id).ok_or("the loop is not loaded")?;
        let state = loaded.state.clone();
        let (story, attempt) = state.active().ok_or("no story is being worked on")?;
        let settings = self.settings(loop_id)?;
        let repository = self.repository(loop_id)?;
        let commit = attempt.candidate().unwrap_or(&attempt.base);
        remove_folder(&place.checkout);
        let checkout = workspace::CommitId::parse(commit.as_str()).map_err(|error| error.to_string())?;
        repository.checkout(&checkout, &place.checkout).map_err(|error| error.to_string())?;
        if run.stage != Stage::Check {
            repository.make_agent_repo(&checkout, &place.checkout).map_err(|error| error.to_string())?;
        }
        let folder = place.checkout.join(&settings.subdir);
        if !is_plain(&place.checkout, &folder) || !folder.is_dir() {
            let name = if settings.subdir.is_empty() { "." } else { &settings.subdir };
            return Err(LaunchFault::BadTree(format!("the project's folder `{name}` is gone, or a link")));
        }
        copy_untracked(&settings, &state, &place.checkout);
        fs::create_dir_all(&place.run_folder).map_err(|error| error.to_string())?;
        let prompt = prompt(&repository, &settings, story, attempt, run)?;
        let prompt_file = place.run_folder.join("prompt.md");
        fs::write(&prompt_file, prompt).map_err(|error| error.to_string())?;
        let mut spec = match run.stage {
            Stage::Check => check_spec(&settings),
            Stage::Implement => agent_spec(&settings, &attempt.implementor, prompt_file)?,
            Stage::Judge => agent_spec(&settings, &state.spec().judge, prompt_file)?,
        };
        spec.run_id = place.name.full(loop_id);
        spec.cwd = folder;
        spec.env.extend(task_environment(&state, attempt, run, &spec.run_id));
        sandbox::prepare(&place.run_folder, &spec).map_err(|error| LaunchFault::Ours(error.to_string()))
    }

    /// What a run's end means. One that failed on a full disk failed for a reason of ours, and costs no attempt.
    fn outcome(&self, loop_id: &str, run: &RunKey, place: &Place, exit: &ExitRecord) -> RunOutcome {
        let outcome = self.plain_outcome(loop_id, run, place, exit);
        let failed = matches!(
            outcome,
            RunOutcome::Failed { .. }
                | RunOutcome::BadAnswer { .. }
                | RunOutcome::Checked { passed: false, .. }
        );
        if failed && exit.found_full {
            return RunOutcome::Infrastructure { why: "the disk was full".to_owned(), until_ms: None };
        }
        outcome
    }

    fn plain_outcome(&self, loop_id: &str, run: &RunKey, place: &Place, exit: &ExitRecord) -> RunOutcome {
        if let ExitCause::CannotStart { why } = &exit.cause {
            let question = format!(
                "the program of `{}` cannot be started ({why}); mend that, then answer `retry`",
                run.stage.word()
            );
            return RunOutcome::NeedsHuman { question };
        }
        if run.stage == Stage::Check {
            return check_outcome(place, exit);
        }
        match (&exit.cause, exit.exit_code) {
            (ExitCause::Exited, Some(EXIT_TRY_LATER)) => RunOutcome::Infrastructure {
                why: "the agent asked to try again later".to_owned(),
                until_ms: None,
            },
            (ExitCause::Exited, Some(EXIT_NOT_LOGGED_IN)) => RunOutcome::NeedsHuman {
                question: "the agent is not logged in; log it in, then answer `retry`".to_owned(),
            },
            (ExitCause::Exited, Some(0)) if run.stage == Stage::Implement => RunOutcome::Worked,
            (ExitCause::Exited, Some(0)) => self.verdict(loop_id, place, exit),
            _ => RunOutcome::Failed { why: failure_words(place, exit) },
        }
    }

    /// The answer is at the end of the output: where that is not kept to its last byte, nothing was said.
    fn verdict(&self, loop_id: &str, place: &Place, exit: &ExitRecord) -> RunOutcome {
        let output = sandbox::output(&place.run_folder, Stream::Stdout).unwrap_or_default();
        if output.end() != exit.stdout_bytes + exit.stdout_dropped {
            return RunOutcome::BadAnswer { why: "the end of its output is not kept".to_owned() };
        }
        let candidate = self
            .loaded(loop_id)
            .and_then(|loaded| loaded.state.active())
            .and_then(|(_, attempt)| attempt.candidate());
        let Some(candidate) = candidate else {
            return RunOutcome::BadAnswer { why: "there is no candidate".to_owned() };
        };
        match roles::read_verdict(&String::from_utf8_lossy(output.tail(ANSWER_BYTES)), candidate) {
            Ok(verdict) => RunOutcome::Judged(verdict),
            Err(why) => RunOutcome::BadAnswer { why },
        }
    }
}

/// Why a run could not be started.
enum LaunchFault {
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
        String::from_utf8_lossy(output.tail(REPORT_BYTES)).into_owned()
    }

    fn look(&self) -> Result<RunView, sandbox::KeeperError> {
        if self.has_orders() { sandbox::look(&self.run_folder) } else { Ok(RunView::NotStarted) }
    }
}

fn prompt(
    repository: &LoopRepo,
    settings: &Settings,
    story: &StoryProgress,
    attempt: &Attempt,
    run: &RunKey,
) -> Result<String, String> {
    match (&attempt.step, run.stage) {
        (Step::Judge(candidate, _, checks), Stage::Judge) => {
            let id = |commit: &Commit| {
                workspace::CommitId::parse(commit.as_str()).map_err(|error| error.to_string())
            };
            let diff = repository
                .diff(&id(&attempt.base)?, &id(candidate)?, DIFF_BYTES_MAX)
                .map_err(|error| error.to_string())?;
            if attempt.recheck {
                return Ok(roles::recheck_prompt(&story.spec, candidate, checks));
            }
            Ok(roles::judge_prompt(&story.spec, &attempt.base, candidate, &diff, checks))
        }
        (_, Stage::Check) => Ok(String::new()),
        _ => Ok(roles::implementor_prompt(&story.spec, &story.feedback, settings.patterns.as_deref())),
    }
}

fn empty_spec() -> RunSpec {
    RunSpec {
        run_id: String::new(),
        program: String::new(),
        args: Vec::new(),
        cwd: PathBuf::new(),
        env: base_environment(),
        pass_env: Vec::new(),
        stdin: None,
        wall_secs: 0,
        idle_secs: None,
        grace_secs: 10,
        output_bytes_max: OUTPUT_BYTES_MAX,
        stop_signal: StopSignal::Term,
    }
}

fn agent_spec(settings: &Settings, name: &str, prompt: PathBuf) -> Result<RunSpec, String> {
    let agent: &AgentSettings =
        settings.agents.get(name).ok_or_else(|| format!("there is no agent `{name}`"))?;
    let (program, args) =
        agent.command.split_first().ok_or_else(|| format!("agent `{name}` has no command"))?;
    let mut spec = empty_spec();
    (spec.program, spec.args, spec.stdin) = (program.clone(), args.to_vec(), Some(prompt));
    (spec.wall_secs, spec.idle_secs) = (agent.timeout_secs, agent.idle_secs);
    // By name only: the keeper has the values from us, and nobody writes them down.
    spec.pass_env.clone_from(&agent.pass_env);
    spec.env.extend(agent.env.clone());
    Ok(spec)
}

/// All checks in one shell, in order, the first that fails ends it; each is announced so that the report can be read.
fn check_spec(settings: &Settings) -> RunSpec {
    let mut spec = empty_spec();
    let script: String = settings
        .checks
        .iter()
        .map(|check| {
            let name = &check.name;
            format!("echo '== {name}'\n( {}\n) 2>&1 || {{ code=$?; echo \"== {name} failed with exit code $code\"; exit 1; }}\n", check.command)
        })
        .collect();
    (spec.program, spec.args) =
        ("/bin/sh".to_owned(), vec!["-c".to_owned(), script + "echo '== all green'\n"]);
    spec.wall_secs = settings.check_timeout_secs;
    spec
}

fn base_environment() -> BTreeMap<String, String> {
    let wanted = |name: &str| ENVIRONMENT.contains(&name) || name.starts_with("LC_");
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text).filter(|(name, _)| wanted(name)).collect()
}

fn task_environment(state: &State, attempt: &Attempt, run: &RunKey, run_id: &str) -> Vec<(String, String)> {
    let role = match run.stage {
        Stage::Implement => "implementor",
        Stage::Check => "check",
        Stage::Judge => "judge",
    };
    let mut pairs = vec![
        ("LOOPWRIGHT_LOOP_ID", state.spec().loop_id.clone()),
        ("LOOPWRIGHT_STORY_ID", run.story.clone()),
        ("LOOPWRIGHT_ATTEMPT", run.attempt.to_string()),
        ("LOOPWRIGHT_ROLE", role.to_owned()),
        ("LOOPWRIGHT_STAGE", run.stage.word().to_owned()),
        ("LOOPWRIGHT_RUN_ID", run_id.to_owned()),
        ("LOOPWRIGHT_BASE", attempt.base.to_string()),
    ];
    pairs.extend(attempt.candidate().map(|candidate| ("LOOPWRIGHT_CANDIDATE", candidate.to_string())));
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Files that the project needs and does not track; one that is missing is the checks' to complain about.
fn copy_untracked(settings: &Settings, state: &State, checkout: &Path) {
    for name in &settings.copy {
        let relative = Path::new(name);
        let inside = relative.components().all(|part| matches!(part, std::path::Component::Normal(_)));
        let (from, to) =
            (Path::new(&state.spec().project).join(relative), checkout.join(&settings.subdir).join(relative));
        // A candidate may hold links that lead out of the checkout: nothing is written through one.
        let taken = fs::symlink_metadata(&to).is_ok();
        if inside
            && !taken
            && let Some(folder) = to.parent()
        {
            let made = fs::create_dir_all(folder);
            if made.is_ok() && is_plain(checkout, folder) {
                let _ = fs::copy(&from, &to);
            }
        }
    }
}

fn check_outcome(place: &Place, exit: &ExitRecord) -> RunOutcome {
    let (said, errors) = (place.last_words(Stream::Stdout), place.last_words(Stream::Stderr));
    let ending = match exit.cause {
        ExitCause::WallTimeout | ExitCause::IdleTimeout => "\n== the checks ran out of time",
        ExitCause::Exited | ExitCause::Stopped | ExitCause::CannotStart { .. } => "",
    };
    let passed = exit.cause == ExitCause::Exited && exit.exit_code == Some(0);
    RunOutcome::Checked { passed, report: format!("{said}{errors}{ending}") }
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
    let last = errors.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if last.is_empty() { how } else { format!("{how}: {last}") }
}

/// Removes a checkout. What cannot be removed now is removed with the loop.
pub(crate) fn remove_folder(folder: &Path) {
    let _ = crate::scrap::remove_folder(folder);
}
