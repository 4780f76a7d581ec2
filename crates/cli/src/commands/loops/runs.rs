//! `loopwright runs`: every run of a loop, or the newest runs of all loops.

use home::Home;
use journal::Journal;
use serde_json::json;

use super::lookup::{find, load, newest_first, open};
use super::trace::{Trace, Wanted, traces};
use crate::args::RunsArgs;
use crate::failure::{Exit, Failure};
use crate::output::{NextAction, Output};
use crate::state_folder::home;
use crate::table::{Cell, Fit, Table};
use crate::words::{counted, duration, first_line};

/// Runs that are shown where no loop is named.
const RUNS_MAX: usize = 50;

/// Loops that are read for them, the newest.
const LOOPS_MAX: usize = 200;

/// Letters of a loop's id in the name of a run: enough to tell loops apart.
const ID_LETTERS: usize = 6;

pub(super) fn run(arguments: &RunsArgs, output: &mut Output) -> Result<Exit, Failure> {
    output.command("runs");
    let home = home()?;
    let journal = open(&home)?;
    let (shown, n_more) = match &arguments.id {
        Some(id) => (of_loop(&home, &journal, id, arguments)?, 0),
        None => newest(&home, &journal, arguments)?,
    };
    output.data(&table(&shown, arguments.id.is_none()).draw(output.paper()))?;
    if shown.is_empty() {
        output.talk("no run fits\n");
    }
    if n_more > 0 {
        let more = counted(n_more, "older run", "older runs");
        output.talk(&format!(
            "{more}; `loopwright runs ID` shows all runs of a loop\n"
        ));
    }
    output.result(|| {
        let runs: Vec<_> = shown.iter().map(Trace::brief).collect();
        match (&arguments.id, shown.first()) {
            (Some(_), Some(first)) => json!({ "loopId": first.loop_id, "runs": runs }),
            _ => json!({ "runs": runs }),
        }
    })?;
    output.next(NextAction::new(
        "loopwright run RUN_ID",
        "see the whole trace of one",
    ));
    Ok(Exit::Done)
}

/// The runs of one loop in the order of their starts.
fn of_loop(
    home: &Home,
    journal: &Journal,
    id: &str,
    arguments: &RunsArgs,
) -> Result<Vec<Trace>, Failure> {
    let loop_id = find(journal, id)?;
    let mut all = traces(home, &load(journal, &loop_id)?);
    all.retain(|trace| fits(trace, arguments));
    Ok(all)
}

/// The newest runs of all loops, the newest first, and how many more there are.
fn newest(
    home: &Home,
    journal: &Journal,
    arguments: &RunsArgs,
) -> Result<(Vec<Trace>, usize), Failure> {
    let ids = newest_first(journal)?.into_iter().take(LOOPS_MAX);
    // A loop that cannot be read hides no other.
    let loaded = ids.filter_map(|loop_id| load(journal, &loop_id).ok());
    let mut all: Vec<Trace> = loaded.flat_map(|loaded| traces(home, &loaded)).collect();
    all.retain(|trace| fits(trace, arguments));
    all.sort_by_key(|trace| std::cmp::Reverse(trace.started_at_ms));
    let n_more = all.len().saturating_sub(RUNS_MAX);
    all.truncate(RUNS_MAX);
    Ok((all, n_more))
}

fn fits(trace: &Trace, arguments: &RunsArgs) -> bool {
    let wanted = Wanted {
        story: None,
        attempt: None,
        role: arguments.role.as_deref(),
        tail: None,
        is_raw: false,
    };
    let by = arguments.agent.as_ref();
    wanted.fits(trace)
        && by.is_none_or(|agent| trace.agent == *agent)
        && arguments
            .outcome
            .is_none_or(|outcome| trace.state() == outcome)
}

fn table(shown: &[Trace], of_all_loops: bool) -> Table {
    let mut table = Table::new(&[
        ("run", Fit::Whole),
        ("story", Fit::Cut),
        ("agent", Fit::Cut),
        ("state", Fit::Whole),
        ("took", Fit::Right),
        ("started", Fit::Spare),
        ("says", Fit::Cut),
    ]);
    for trace in shown {
        table.row(vec![
            Cell::new(short(trace, of_all_loops)),
            Cell::new(trace.key.story.as_str()),
            Cell::new(&trace.agent),
            Cell::state(trace.state_word()),
            Cell::new(trace.duration_ms().map(duration).unwrap_or_default()),
            Cell::new(home::local(trace.started_at_ms)),
            Cell::new(first_line(&trace.says())),
        ]);
    }
    table
}

/// The end of a run's id that `run` takes for it: without the loop's id, or with as much of it as tells
/// loops apart.
fn short(trace: &Trace, of_all_loops: bool) -> String {
    let name = trace.id.rsplit('_').next().unwrap_or_default();
    if !of_all_loops {
        return name.to_owned();
    }
    let letters = trace.loop_id.chars().count();
    let end: String = trace
        .loop_id
        .chars()
        .skip(letters.saturating_sub(ID_LETTERS))
        .collect();
    format!("{end}_{name}")
}
