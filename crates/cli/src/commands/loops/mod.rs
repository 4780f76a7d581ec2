//! The verbs about loops: start, look, ask for something, serve. Each only reads views and writes
//! requests; the worker does the rest.

mod agents_again;
mod allowance;
mod answer;
mod answer_words;
mod ask;
mod attendance;
mod casting;
mod clean;
mod commit_settings;
pub(crate) mod completion;
mod dry_run;
mod follow;
pub(crate) mod found_checks;
mod graph_claims;
mod hiding;
mod inside_run;
mod keys;
mod live;
mod live_asked;
mod live_paper;
mod live_screen;
mod look;
mod lookup;
mod loop_settings;
mod marks;
mod named;
mod overview;
mod passed;
mod prd_checks;
mod promised;
mod publishing;
mod ready;
mod refusal;
mod reload;
mod remove;
mod rendering;
mod report;
mod runs;
mod same_prd;
mod send;
mod serve;
mod start;
mod start_request;
mod steer;
mod stories;
mod story;
mod story_failure;
mod story_table;
mod story_text;
mod strays;
mod trace;
mod verbs;
mod walls;
mod watching;
mod work;

use home::Home;
use kernel::Event;

use self::lookup::{load, open};
pub(crate) use self::loop_settings::{CHECK_TIMEOUT_SECS, agent_settings, cli_settings};
pub use self::serve::ensure_worker;
use crate::args::{LoopCommand, StartArgs};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::state_folder::home;

pub(crate) fn run(command: LoopCommand, output: &mut Output) -> Result<Exit, Failure> {
    // A patch must be what git has, or nobody could apply it.
    if !matches!(command, LoopCommand::Diff { .. })
        && let Ok(home) = home()
    {
        output.hide(hiding::redactor_of_all(&home));
    }
    match command {
        LoopCommand::Start(arguments) => start::run(&home()?, &arguments, output),
        LoopCommand::Status { id } => look::status(id.as_deref(), output),
        LoopCommand::List => overview::list(output),
        LoopCommand::Events { id, follow: false } => look::events(id.as_deref(), output),
        LoopCommand::Events { id, follow: true } => watching::events(id.as_deref(), output),
        LoopCommand::Watch { id } => watching::watch(id.as_deref(), output),
        LoopCommand::Story {
            id,
            story,
            markdown,
            all,
        } => {
            let shown = match (markdown, all) {
                (true, _) => story::Shown::Markdown,
                (false, true) => story::Shown::All,
                (false, false) => story::Shown::Failure,
            };
            verbs::story(id.as_deref(), story.as_deref(), shown, output)
        }
        LoopCommand::Report { id, markdown } => report::run(id.as_deref(), markdown, output),
        LoopCommand::Diff {
            id,
            story,
            attempt,
            stat,
        } => verbs::diff(id.as_deref(), story.as_deref(), attempt, stat, output),
        LoopCommand::Checkout {
            id,
            story,
            folder,
            attempt,
        } => verbs::checkout((id.as_deref(), story.as_deref(), folder), attempt, output),
        LoopCommand::Runs(arguments) => runs::run(&arguments, output),
        LoopCommand::Run { run_id } => verbs::run(&run_id, output),
        LoopCommand::Logs(arguments) => verbs::logs(arguments, output),
        LoopCommand::Clean {
            older_than,
            dry_run,
        } => clean::run(older_than, dry_run, output),
        LoopCommand::Nuke {
            what,
            force,
            dry_run,
        } => remove::run(&what, &remove::Way { force, dry_run }, output),
        LoopCommand::Cancel { id, reason } => {
            verbs::request(id, &Event::CancelRequested { reason }, "cancel", output)
        }
        LoopCommand::Pause { id } => verbs::request(id, &Event::PauseRequested, "pause", output),
        LoopCommand::Resume { id, reload } => verbs::resume(id, reload, output),
        LoopCommand::Answer { id, choice, story } => verbs::answer(id, choice, story, output),
        LoopCommand::Steer(command) => steer::run(command, output),
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
    let ids = lookup::newest_first(&journal)?;
    let loop_id = ids
        .into_iter()
        .next()
        .ok_or_else(|| Failure::bad_input("there are no loops yet"))?;
    Ok(views::loop_view(&load(&journal, &loop_id)?.state))
}

/// Whether any loop that can be read is owed something now.
pub fn is_work_owed(home: &Home) -> bool {
    let Ok(journal) = open(home) else {
        return false;
    };
    let heads = journal.heads().unwrap_or_default();
    let live = heads.into_iter().filter(|head| {
        head.row.quarantine.is_none() && !head.last_kind.as_deref().is_some_and(kernel::is_over)
    });
    live.filter_map(|head| home::load(&journal, &head.row.loop_id).ok())
        .any(|loaded| !kernel::decide(&loaded.state).is_empty())
}

/// The loops that cannot go on without a person, each with the reason.
pub(crate) fn needing_a_person(home: &Home) -> Vec<(String, String)> {
    let Ok(journal) = open(home) else {
        return Vec::new();
    };
    let heads = journal.heads().unwrap_or_default().into_iter();
    let asking = heads.filter_map(|head| {
        let loop_id = head.row.loop_id;
        if let Some(why) = head.row.quarantine {
            return Some((loop_id, why));
        }
        if head.last_kind.as_deref().is_some_and(kernel::is_over) {
            return None;
        }
        let state = home::load(&journal, &loop_id).ok()?.state;
        let question = state.questions().into_iter().next()?;
        let first = question.text.lines().next().unwrap_or_default().to_owned();
        Some((loop_id, first))
    });
    asking.collect()
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
