//! Loops, stories, runs and answers for tab completion: those of this folder first, the newest first.

use std::time::Duration;

use home::Home;
use journal::Journal;
use views::{LoopView, loop_view};

use super::lookup::{current_folder, find, find_or_newest, is_at, load, newest_first};
use super::named::{live_here, run_ids};
use crate::failure::Failure;
use crate::state_folder::home;
use crate::words::counted;

type Candidates = Result<Vec<(String, String)>, Failure>;

/// Loops that are offered; somebody waits for them.
const LOOPS_MAX: usize = 50;

/// Every loop with how it stands.
pub(crate) fn loops() -> Candidates {
    let Some((_, journal)) = opened()? else {
        return Ok(Vec::new());
    };
    let here = current_folder()?;
    let ids = newest_first(&journal)?.into_iter().take(LOOPS_MAX);
    let views = ids.filter_map(|id| view(&journal, &id).ok());
    let (mut ours, others): (Vec<LoopView>, Vec<LoopView>) =
        views.partition(|view| is_at(&view.project, &here));
    ours.extend(others);
    let about = |view: &LoopView| {
        let stories = counted(view.stories.len(), "story", "stories");
        format!("{}, {stories}, {}", view.status, view.project)
    };
    Ok(ours
        .iter()
        .map(|view| (view.loop_id.clone(), about(view)))
        .collect())
}

/// The stories of the loop that is named, or else of the newest one here.
pub(crate) fn stories(id: Option<&str>) -> Candidates {
    let Some((_, journal)) = opened()? else {
        return Ok(Vec::new());
    };
    let view = view(&journal, &meant(&journal, id)?)?;
    let about = |story: &views::StoryView| format!("{}, {}", story.status, story.title);
    Ok(view
        .stories
        .iter()
        .map(|story| (story.id.clone(), about(story)))
        .collect())
}

/// What the loop that is named, or the only one that is live here, takes for an answer.
pub(crate) fn choices(id: Option<&str>) -> Candidates {
    let Some((_, journal)) = opened()? else {
        return Ok(Vec::new());
    };
    let loop_id = match (id, live_here(&journal)?.as_slice()) {
        (Some(id), _) => find(&journal, id)?,
        (None, [one]) => one.clone(),
        (None, _) => return Ok(Vec::new()),
    };
    let choices = view(&journal, &loop_id)?.choices.into_iter();
    Ok(choices
        .map(|choice| (choice, "an answer".to_owned()))
        .collect())
}

/// The runs of the newest loop here.
pub(crate) fn runs() -> Candidates {
    let Some((home, journal)) = opened()? else {
        return Ok(Vec::new());
    };
    let ids = run_ids(&home, &journal, &find_or_newest(&journal, None)?);
    Ok(ids.into_iter().map(|id| (id, String::new())).collect())
}

fn meant(journal: &Journal, id: Option<&str>) -> Result<String, Failure> {
    match id.map(|id| find(journal, id)) {
        Some(Ok(found)) => Ok(found),
        Some(Err(_)) | None => find_or_newest(journal, None),
    }
}

fn view(journal: &Journal, loop_id: &str) -> Result<LoopView, Failure> {
    Ok(loop_view(&load(journal, loop_id)?.state))
}

/// The journal, where there is one: whoever presses a key makes no files, and does not wait for
/// somebody who holds it.
fn opened() -> Result<Option<(Home, Journal)>, Failure> {
    const WAIT_MAX: Duration = Duration::from_millis(200);
    let home = home()?;
    if !home.root().join("journal.db").exists() {
        return Ok(None);
    }
    let journal = Journal::open_within(home.root(), WAIT_MAX)
        .map_err(|error| Failure::environment("cannot open the journal", &error))?;
    Ok(Some((home, journal)))
}
