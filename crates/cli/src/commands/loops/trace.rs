//! `loopwright run` and `logs`: what each execution of a role was asked, did and said.

use std::path::Path;

use home::{AgentSettings, Home, Loaded, Redactor, RunName, Settings};
use kernel::{Event, RunKey, RunOutcome, RunUsage, Stage, State, Verdict, Walls};
use sandbox::{ExitRecord, Stream};
use serde_json::{Value, json};
use views::{iso, public_form};

use super::hiding::redactor_of;
use super::lookup::{find, find_or_newest, load, open};
use super::rendering::{Rendering, shown};
use crate::args::{LogsArgs, RunState};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::state_folder::home;
use crate::words::{counted, duration, last_lines, visible};

/// Bytes of an output's end that are shown.
const SHOWN_BYTES_MAX: usize = 64 * 1024;

/// One run as the journal and its folder have it.
pub(crate) struct Trace {
    pub(super) id: String,
    pub(super) loop_id: String,
    pub(super) key: RunKey,
    pub(crate) agent: String,
    /// The CLI that the agent is; for checks any program.
    pub(super) kind: agents::Kind,
    pub(super) started_at_ms: i64,
    ended_at_ms: Option<i64>,
    pub(crate) outcome: Option<RunOutcome>,
    pub(crate) usage: Option<RunUsage>,
    /// What it met at the walls of its jail.
    walls: Walls,
    pub(super) folder: std::path::PathBuf,
}

/// Which runs somebody wants to see.
pub(super) struct Wanted<'w> {
    pub(super) story: Option<&'w str>,
    pub(super) attempt: Option<u32>,
    pub(super) role: Option<&'w str>,
    /// Only so many lines of each stream, the last ones.
    pub(super) tail: Option<usize>,
    /// As it was printed, control characters too.
    pub(super) is_raw: bool,
}

impl Wanted<'_> {
    pub(super) fn fits(&self, trace: &Trace) -> bool {
        self.story.is_none_or(|story| trace.key.story == story)
            && self
                .attempt
                .is_none_or(|attempt| trace.key.attempt == attempt)
            && self.role.is_none_or(|role| {
                let stage = trace.key.stage;
                // The role of a stage is the same in every flow.
                stage.word() == role || kernel::Flow::Quartet.row(stage).role.word() == role
            })
    }

    /// How one stream of a run is shown.
    pub(super) fn rendering(&self, trace: &Trace, stream: Stream) -> Rendering {
        match (self.is_raw, stream) {
            (true, _) => Rendering::raw(),
            (false, Stream::Stdout) => Rendering::of_agent(trace.kind, trace.work_folder()),
            (false, Stream::Stderr) => Rendering::text(trace.work_folder()),
        }
    }

    /// What is kept of one stream of a run. The end of a long one, unless the bytes themselves are
    /// wanted.
    fn shown(&self, trace: &Trace, stream: Stream, redactor: &Redactor) -> Vec<u8> {
        let mut rendering = self.rendering(trace, stream);
        let kept = sandbox::output(&trace.folder, stream).unwrap_or_default();
        let (mut out, mut offset) = (Vec::new(), 0);
        for piece in &kept.pieces {
            if piece.from > offset {
                out.extend(rendering.skip(piece.from - offset));
            }
            offset = piece.from + piece.bytes.len() as u64;
            out.extend(rendering.feed(&redactor.bytes(&piece.bytes)));
        }
        let length = length_of(&trace.folder, stream);
        if let Some(n_missing) = length.and_then(|length| length.checked_sub(offset))
            && n_missing > 0
        {
            out.extend(rendering.skip(n_missing));
        }
        out.extend(rendering.finish());
        match self.tail {
            Some(n_lines) => last_lines(&out, n_lines).to_vec(),
            None if self.is_raw => out,
            None => end_of(&out),
        }
    }
}

pub(super) fn run(run_id: &str, output: &mut Output) -> Result<Exit, Failure> {
    output.command("run");
    let home = home()?;
    let journal = open(&home)?;
    let unknown = || {
        Failure::bad_input(format!("there is no run `{run_id}`"))
            .hint("`loopwright runs ID` lists a loop's runs")
    };
    let loop_id = run_id
        .strip_prefix("run_")
        // The name of a run has no such mark; the id of a loop may.
        .and_then(|rest| rest.rsplit_once('_'))
        .map(|(loop_id, _)| loop_id)
        .ok_or_else(unknown)?;
    let loop_id = find(&journal, loop_id)?;
    let all = traces(&home, &load(&journal, &loop_id)?);
    let trace = all
        .iter()
        .find(|trace| trace.id == run_id)
        .ok_or_else(unknown)?;
    let file = |name: &str| text_in(&trace.folder, name);
    let cut = file("cut.txt");
    let left_out = if cut.is_empty() {
        String::new()
    } else {
        format!("== left out of the prompt\n{cut}\n")
    };
    let folder = trace.work_folder();
    let text = format!(
        "{}\n{}, agent {}\n{}\n{}\n== prompt\n{}\n{left_out}== stdout\n{}\n== stderr\n{}",
        trace.id,
        trace.key,
        trace.agent,
        trace.ended(),
        visible(&confined_text(&trace.walls)),
        shown(&file("prompt.md"), &folder),
        shown(&file("stdout"), &folder),
        shown(&file("stderr"), &folder)
    );
    output.data(&text)?;
    output.result(|| {
        let mut value = trace.brief();
        for (key, name) in [
            ("prompt", "prompt.md"),
            ("stdout", "stdout"),
            ("stderr", "stderr"),
        ] {
            value[key] = file(name).into();
        }
        value["exit"] =
            public_form(serde_json::from_str(&file("exit.json")).unwrap_or(Value::Null));
        value["leftOutOfPrompt"] = json!(cut.lines().collect::<Vec<_>>());
        value["command"] = command_of(&trace.folder);
        value
    })?;
    Ok(Exit::Done)
}

pub(super) fn logs(arguments: &LogsArgs, output: &mut Output) -> Result<Exit, Failure> {
    output.command("logs");
    let wanted = &Wanted {
        story: arguments.story.as_deref(),
        attempt: arguments.attempt,
        role: arguments.role.as_deref(),
        tail: arguments.tail,
        is_raw: arguments.raw,
    };
    let (id, follow) = (arguments.id.as_deref(), arguments.follow);
    let home = home()?;
    let journal = open(&home)?;
    let loop_id = find_or_newest(&journal, id)?;
    if follow {
        output.talk(&format!(
            "Ctrl-C leaves it; `loopwright logs {loop_id} -f` comes back\n"
        ));
        super::serve::ensure_worker(&home)?;
        super::follow::follow(&home, &journal, &loop_id, wanted, output)?;
    }
    let all = traces(&home, &load(&journal, &loop_id)?);
    let chosen: Vec<&Trace> = all.iter().filter(|trace| wanted.fits(trace)).collect();
    if chosen.is_empty() {
        return Err(Failure::bad_input("no run fits")
            .hint(format!("`loopwright runs {loop_id}` lists them")));
    }
    if !home.loop_folder(&loop_id).exists() {
        output.talk(
            "note: the loop's files were removed; what happened is still in `events` and `runs`\n",
        );
    }
    let redactor = redactor_of(&home, &loop_id);
    let file = |trace: &Trace, name: &str| text_in(&trace.folder, name);
    // Who followed has seen it all.
    for trace in chosen.iter().filter(|_| !follow) {
        output.data(&format!("==== {} ({})\n", trace.key, trace.ended()))?;
        for stream in [Stream::Stdout, Stream::Stderr] {
            output.bytes(&wanted.shown(trace, stream, &redactor))?;
        }
    }
    let one = |trace: &&Trace| json!({ "runId": trace.id, "stdout": file(trace, "stdout"), "stderr": file(trace, "stderr") });
    output.result(
        || json!({ "loopId": loop_id, "logs": chosen.iter().map(one).collect::<Vec<_>>() }),
    )?;
    Ok(Exit::Done)
}

/// Every run of a loop in the order of their starts.
pub(super) fn traces(home: &Home, loaded: &Loaded) -> Vec<Trace> {
    let loop_id = &loaded.state.spec().loop_id;
    let settings: Option<Settings> = serde_json::from_str(&loaded.state.spec().settings).ok();
    let agents = settings.map(|settings| settings.agents).unwrap_or_default();
    let mut all: Vec<Trace> = Vec::new();
    let mut state: Option<State> = None;
    for record in &loaded.records {
        // Who runs is known at that moment only: stand-ins come and go.
        state = match state.take() {
            None => State::begin(record).ok(),
            Some(state) => state.after(record).ok(),
        };
        match &record.event {
            Event::RunStarted { run } => {
                let name = RunName::of(&loaded.state, run);
                let agent = state.as_ref().and_then(|state| state.agent_of(run));
                let agent = agent.map_or_else(|| "-".to_owned(), ToString::to_string);
                let kind = agents.get(&agent).map(AgentSettings::cli);
                let kind = kind.filter(|_| !run.stage.is_check());
                let (id, folder) = (name.full(loop_id), home.run_folder(loop_id, &name));
                let started_at_ms = record.at_ms;
                all.push(Trace {
                    id,
                    loop_id: loop_id.clone(),
                    key: run.clone(),
                    agent,
                    kind: kind.unwrap_or(agents::Kind::Command),
                    started_at_ms,
                    ended_at_ms: None,
                    outcome: None,
                    usage: None,
                    walls: Walls::default(),
                    folder,
                });
            }
            Event::RunEnded {
                run,
                outcome,
                usage,
                walls,
            } => {
                if let Some(trace) = all.iter_mut().rev().find(|trace| trace.key == *run) {
                    (trace.ended_at_ms, trace.outcome) =
                        (Some(record.at_ms), Some(outcome.clone()));
                    trace.usage.clone_from(usage);
                    trace.walls.clone_from(walls);
                }
            }
            _ => {}
        }
    }
    all
}

impl Trace {
    /// How it stands, in a word.
    pub(super) fn state(&self) -> RunState {
        let Some(outcome) = &self.outcome else {
            return RunState::Running;
        };
        match outcome {
            RunOutcome::Worked { .. } | RunOutcome::TestsWritten(_) => RunState::Worked,
            RunOutcome::Reviewed(_) => RunState::Reviewed,
            RunOutcome::Ruled { .. } => RunState::Ruled,
            RunOutcome::Checked { passed: true, .. } => RunState::Green,
            RunOutcome::Checked { passed: false, .. } => RunState::Red,
            RunOutcome::Judged(Verdict { pass: true, .. }) => RunState::Passed,
            RunOutcome::Judged(Verdict { pass: false, .. }) => RunState::Rejected,
            RunOutcome::Failed { .. } => RunState::Failed,
            RunOutcome::BadAnswer { .. } => RunState::BadAnswer,
            RunOutcome::Infrastructure { .. } => RunState::PutOff,
            RunOutcome::NeedsHuman { .. } => RunState::Asks,
            RunOutcome::Interrupted { .. } => RunState::Interrupted,
            RunOutcome::Stopped => RunState::Stopped,
        }
    }

    /// The same for people. A base with red tests was measured well: they are noted and fail nothing.
    pub(super) fn state_word(&self) -> &'static str {
        match self.state() {
            RunState::Green if self.key.stage == Stage::Baseline => "measured",
            state => state.word(),
        }
    }

    /// What there is to say of its end; may be empty.
    pub(super) fn says(&self) -> String {
        match &self.outcome {
            Some(RunOutcome::Reviewed(review)) => {
                counted(review.findings.len(), "finding", "findings")
            }
            Some(RunOutcome::Ruled { fresh_tests, .. }) => {
                let ruling = if *fresh_tests {
                    "fresh tests"
                } else {
                    "the tests stand"
                };
                ruling.to_owned()
            }
            Some(RunOutcome::Judged(Verdict { reason, .. })) => reason.clone(),
            Some(
                RunOutcome::Failed { why }
                | RunOutcome::BadAnswer { why }
                | RunOutcome::Infrastructure { why, .. }
                | RunOutcome::Interrupted { why, .. },
            ) => why.clone(),
            Some(RunOutcome::NeedsHuman { question, .. }) => question.clone(),
            Some(
                RunOutcome::Worked { .. }
                | RunOutcome::TestsWritten(_)
                | RunOutcome::Checked { .. }
                | RunOutcome::Stopped,
            )
            | None => String::new(),
        }
    }

    /// How it ended, in a few words.
    pub(super) fn ended(&self) -> String {
        let says = self.says();
        let says = says.lines().next().unwrap_or_default();
        let how = match self.state() {
            RunState::Running => "under way".to_owned(),
            RunState::Reviewed => format!("reviewed, {says}"),
            RunState::Passed => format!("PASS: {says}"),
            RunState::Rejected => format!("FAIL: {says}"),
            RunState::BadAnswer => format!("no verdict: {says}"),
            RunState::PutOff => format!("try again later: {says}"),
            _ if says.is_empty() => self.state_word().to_owned(),
            _ => format!("{}: {says}", self.state_word()),
        };
        let took = self.duration_ms().map(duration);
        how + &took
            .map(|took| format!(" after {took}"))
            .unwrap_or_default()
    }

    /// How long it took, once it is over.
    pub(super) fn duration_ms(&self) -> Option<i64> {
        self.ended_at_ms
            .map(|ended| (ended - self.started_at_ms).max(0))
    }

    /// The folder that the run worked in; empty if it was never begun.
    pub(super) fn work_folder(&self) -> String {
        let folder = &command_of(&self.folder)["cwd"];
        let folder = folder.as_str().unwrap_or_default();
        folder.trim_end_matches('/').to_owned()
    }

    pub(super) fn brief(&self) -> Value {
        json!({
            "runId": self.id, "loopId": self.loop_id, "storyId": self.key.story, "attempt": self.key.attempt, "stage": self.key.stage.word(),
            "try": self.key.try_number, "agent": self.agent, "state": self.state().word(), "startedAt": iso(self.started_at_ms),
            "endedAt": self.ended_at_ms.map(iso), "durationMs": self.duration_ms(), "outcome": public_form(json!(self.outcome)), "usage": self.usage.as_ref().map(usage), "confined": confined(&self.walls),
        })
    }
}

/// What a run met at the walls of its jail; nothing for most.
fn confined(walls: &Walls) -> Value {
    if walls.is_untouched() {
        return Value::Null;
    }
    let limit = walls.limit.map(kernel::JailLimit::word);
    json!({ "limit": limit, "refused": walls.refused })
}

/// The same for people, a line for each.
fn confined_text(walls: &Walls) -> String {
    let words = super::walls::words(walls).into_iter();
    words.map(|line| line + "\n").collect()
}

/// What a run used; what its CLI did not tell is null, which is not the same as nothing.
fn usage(used: &RunUsage) -> Value {
    json!({
        "model": used.model, "inputTokens": used.input_tokens, "cachedTokens": used.cached_tokens,
        "outputTokens": used.output_tokens, "costMicroUsd": used.cost_micro_usd, "sessionId": used.session,
    })
}

/// Program and arguments, without the environment, which may hold what nobody should see.
fn command_of(folder: &Path) -> Value {
    let spec: Value = serde_json::from_str(&text_of(&folder.join("spec.json"))).unwrap_or_default();
    json!({ "program": spec["program"], "args": spec["args"], "cwd": spec["cwd"] })
}

/// The last lines of a text, as many as are shown.
fn end_of(text: &[u8]) -> Vec<u8> {
    let from = text.len().saturating_sub(SHOWN_BYTES_MAX);
    if from == 0 {
        return text.to_vec();
    }
    let line = text[from..].iter().position(|byte| *byte == b'\n');
    let from = line.map_or(text.len(), |at| from + at + 1);
    let note = format!("[{from} bytes before this are not shown; --raw shows all]\n");
    [note.as_bytes(), &text[from..]].concat()
}

/// How much a run printed, known when it is over.
fn length_of(folder: &Path, stream: Stream) -> Option<u64> {
    let exit: ExitRecord = serde_json::from_str(&text_of(&folder.join("exit.json"))).ok()?;
    Some(match stream {
        Stream::Stdout => exit.stdout_bytes + exit.stdout_dropped,
        Stream::Stderr => exit.stderr_bytes + exit.stderr_dropped,
    })
}

/// The end of one of a run's files as text; of its output with a line wherever bytes are missing.
fn text_in(folder: &Path, name: &str) -> String {
    let stream = [Stream::Stdout, Stream::Stderr]
        .into_iter()
        .find(|stream| stream.name() == name);
    let Some(stream) = stream else {
        return text_of(&folder.join(name));
    };
    sandbox::output(folder, stream)
        .unwrap_or_default()
        .text(SHOWN_BYTES_MAX, length_of(folder, stream))
}

/// The end of a file as text; nothing when it is not there.
fn text_of(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap_or_default();
    let from = bytes.len().saturating_sub(SHOWN_BYTES_MAX);
    String::from_utf8_lossy(&bytes[from..]).into_owned()
}
