//! The verbs about loops: start, look, ask for something, serve. Each only reads views and writes
//! requests; the worker does the rest.

mod allowance;
mod casting;
mod clean;
mod follow;
pub(crate) mod found_checks;
mod look;
mod overview;
mod passed;
mod refusal;
mod reload;
mod remove;
mod send;
mod serve;
mod start;
mod start_request;
mod stories;
mod story;
mod trace;

use home::{Home, LoadError, Loaded};
use journal::Journal;
use kernel::Event;

pub use self::serve::ensure_worker;
use crate::args::{LoopCommand, StartArgs};
use crate::failure::{Exit, Failure};
use crate::output::{NextAction, Output};
use crate::state_folder::home;

pub(crate) fn run(command: LoopCommand, output: &mut Output) -> Result<Exit, Failure> {
    match command {
        LoopCommand::Start(arguments) => start::run(&home()?, &arguments, output),
        LoopCommand::Status { id } => look::status(id.as_deref(), output),
        LoopCommand::List => overview::list(output),
        LoopCommand::Events { id } => look::events(&id, output),
        LoopCommand::Watch { id } => look::watch(id.as_deref(), output),
        LoopCommand::Story {
            id,
            story,
            markdown,
        } => story::run(&id, &story, markdown, output),
        LoopCommand::Runs { id } => trace::runs(&id, output),
        LoopCommand::Run { run_id } => trace::run(&run_id, output),
        LoopCommand::Logs {
            id,
            story,
            attempt,
            follow,
        } => {
            let wanted = trace::Wanted {
                story: story.as_deref(),
                attempt,
            };
            trace::logs(&id, &wanted, follow, output)
        }
        LoopCommand::Clean {
            older_than,
            dry_run,
        } => clean::run(older_than, dry_run, output),
        LoopCommand::Nuke { what, force } => remove::run(&what, force, output),
        LoopCommand::Cancel { id, reason } => {
            ask(&id, &Event::CancelRequested { reason }, "cancel", output)
        }
        LoopCommand::Pause { id } => ask(&id, &Event::PauseRequested, "pause", output),
        LoopCommand::Resume { id, reload: true } => reload::run(&id, output),
        LoopCommand::Resume { id, reload: false } => {
            ask(&id, &Event::ResumeRequested, "resume", output)
        }
        LoopCommand::Answer { id, choice, story } => {
            let story = story.map(kernel::StoryId::from);
            ask(&id, &Event::Answered { choice, story }, "answer", output)
        }
        LoopCommand::Send { name, data } => send::run(&name, &data, output),
    }
}

/// Starts a loop in a state folder of its own, as the demo does.
pub(crate) fn start_in(
    home: &Home,
    arguments: &StartArgs,
    output: &mut Output,
) -> Result<Exit, Failure> {
    start::run(home, arguments, output)
}

/// The newest loop of a state folder, as people see it.
pub(crate) fn newest_in(home: &Home) -> Result<views::LoopView, Failure> {
    let journal = open(home)?;
    let loop_id = look::latest(&journal)?;
    Ok(views::loop_view(&load(&journal, &loop_id)?.state))
}

/// Every run of an agent in every loop that can be read.
pub(crate) fn all_traces(home: &Home) -> Result<Vec<trace::Trace>, Failure> {
    let journal = open(home)?;
    let rows = journal
        .loops()
        .map_err(|error| Failure::environment("cannot read the journal", &error))?;
    let loaded = rows
        .iter()
        .filter_map(|row| load(&journal, &row.loop_id).ok());
    let traces = loaded.flat_map(|loaded| trace::traces(home, &loaded));
    Ok(traces.filter(|trace| !trace.key.stage.is_check()).collect())
}

fn open(home: &Home) -> Result<Journal, Failure> {
    Journal::open(home.root())
        .map_err(|error| Failure::environment("cannot open the journal", &error))
}

/// Finds a loop by its id or the beginning of it.
fn find(journal: &Journal, id: &str) -> Result<String, Failure> {
    let rows = journal
        .loops()
        .map_err(|error| Failure::environment("cannot read the journal", &error))?;
    if id.is_empty() {
        return Err(Failure::bad_input("an empty id names no loop")
            .hint("`loopwright list` shows all loops"));
    }
    let wanted = id.to_uppercase();
    let matching: Vec<String> = rows
        .into_iter()
        .map(|row| row.loop_id)
        .filter(|found| found.starts_with(&wanted))
        .collect();
    match matching.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(Failure::bad_input(format!("there is no loop `{id}`"))
            .hint("`loopwright list` shows all loops")),
        several => Err(
            Failure::bad_input(format!("`{id}` may mean {}", several.join(" or ")))
                .hint("give more of the id"),
        ),
    }
}

fn load(journal: &Journal, loop_id: &str) -> Result<Loaded, Failure> {
    home::load(journal, loop_id).map_err(|error| unreadable(loop_id, &error))
}

/// Takes in what was recorded since.
fn catch_up(loaded: &mut Loaded, journal: &Journal, loop_id: &str) -> Result<(), Failure> {
    let caught_up = loaded.catch_up(journal, loop_id);
    caught_up
        .map(drop)
        .map_err(|error| unreadable(loop_id, &error))
}

fn unreadable(loop_id: &str, error: &LoadError) -> Failure {
    match error {
        LoadError::Journal(_) => Failure::environment("cannot read the loop", error),
        other => Failure {
            exit: Exit::Environment,
            message: format!("loop {loop_id} cannot be read: {other}"),
            hints: Vec::new(),
        },
    }
}

/// Writes a request and sees to it that a worker is there to answer it.
fn ask(id: &str, event: &Event, verb: &str, output: &mut Output) -> Result<Exit, Failure> {
    output.command(verb);
    let home = home()?;
    let journal = open(&home)?;
    let loop_id = find(&journal, id)?;
    if let Err(error) = home::request(&journal, &loop_id, event) {
        let state = load(&journal, &loop_id)?.state;
        return Err(refusal::refused(&state, verb, &error));
    }
    serve::ensure_worker(&home)?;
    output.data(&format!("{loop_id}: {verb} was asked for\n"))?;
    output.result(|| serde_json::json!({ "loopId": loop_id, "requested": verb }))?;
    output.next(NextAction::new(
        format!("loopwright status {loop_id}"),
        "see where the loop stands",
    ));
    Ok(Exit::Done)
}
