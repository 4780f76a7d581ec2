//! What the words of a command line name: a loop, a story, a run. Any beginning or end that only one
//! of them has is enough, and what is left out is found where there is only one to mean.
//!
//! A verb that only looks takes the newest loop of this folder. One that changes a loop takes none but the
//! only one that is live here. One that changes a story also takes the newest one here that has it: such a
//! verb makes a loop go on that is over.

use std::path::{Path, PathBuf};

use home::Home;
use journal::Journal;
use kernel::State;
use tasks::shell_word;
use views::loop_view;
use workspace::is_same_repository;

use super::lookup::{
    ambiguous, current_folder, find, find_or_newest, is_at, load, matching, newest_first, open,
};
use super::story::unknown_story;
use super::trace::traces;
use super::{ask, refusal};
use crate::failure::Failure;
use crate::state_folder::home;

/// A loop and a story of it, each by its whole id.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct StoryOfLoop {
    pub(super) loop_id: String,
    pub(super) story: String,
}

/// Of two words the first may be left out: one alone is the second.
pub(super) fn last_is_needed<T>(first: Option<T>, second: Option<T>) -> (Option<T>, Option<T>) {
    match second {
        Some(_) => (first, second),
        None => (None, first),
    }
}

/// The loop that a verb shall change.
pub(super) fn to_change(id: Option<String>, verb: &str) -> Result<String, Failure> {
    let journal = open(&home()?)?;
    match id {
        Some(id) => find(&journal, &id),
        None => only_live_here(&journal, verb),
    }
}

/// The loop whose story a verb shall change.
pub(super) fn to_steer(id: Option<String>, story: &str, verb: &str) -> Result<String, Failure> {
    let journal = open(&home()?)?;
    if let Some(id) = id {
        return find(&journal, &id);
    }
    let has = |loop_id: &&String| {
        let loaded = load(&journal, loop_id);
        loaded.is_ok_and(|loaded| !stories_like(&loaded.state, story).is_empty())
    };
    let live = live_here(&journal)?;
    let having: Vec<&String> = live.iter().filter(has).collect();
    if having.len() > 1 {
        let lines: String = having.iter().map(|id| format!("\n  {id}")).collect();
        let message = format!("{} live loops here have `{story}`:{lines}", having.len());
        let story = shell_word(story);
        return Err(Failure::bad_input(message)
            .hint(format!("say which one: loopwright {verb} ID {story}")));
    }
    if let Some(one) = having.first() {
        return Ok((*one).clone());
    }
    let here = current_folder()?;
    let ids = newest_first(&journal)?;
    let is_here = |id: &&String| load(&journal, id).is_ok_and(|found| is_of(&found.state, &here));
    match (ids.iter().filter(has).find(is_here), live.as_slice()) {
        (Some(newest), _) => Ok(newest.clone()),
        // Whoever looks for the story in it says which ones it has.
        (None, [one]) => Ok(one.clone()),
        (None, _) => find_or_newest(&journal, None),
    }
}

/// The loop that an answer goes to, and the answer. A loop's id alone is no answer.
pub(super) fn to_answer(
    id: Option<String>,
    answer: Option<String>,
) -> Result<(String, Option<String>), Failure> {
    /// So much of an id is no word of people.
    const ID_LETTERS_MIN: usize = 6;
    if let (None, Some(answer)) = (&id, &answer)
        && answer.len() >= ID_LETTERS_MIN
        && let Ok(loop_id) = find(&open(&home()?)?, answer)
    {
        return Ok((loop_id, None));
    }
    Ok((to_change(id, "answer")?, answer))
}

/// The story that somebody wants to see, by its own id or that of its loop too.
pub(super) fn story(id: Option<&str>, story: &str) -> Result<StoryOfLoop, Failure> {
    let journal = open(&home()?)?;
    match id {
        Some(id) => story_of(&journal, find(&journal, id)?, story),
        None => story_alone(&journal, story),
    }
}

/// What `diff` shall show: a whole loop, a story of it, or, by one word, either of them.
pub(super) fn loop_or_story(
    first: Option<&str>,
    second: Option<&str>,
) -> Result<(String, Option<String>), Failure> {
    let both = |named: StoryOfLoop| (named.loop_id, Some(named.story));
    let Some(word) = first else {
        let journal = open(&home()?)?;
        return Ok((find_or_newest(&journal, None)?, None));
    };
    if second.is_some_and(|second| !second.is_empty()) {
        return story(first, second.unwrap_or_default()).map(both);
    }
    let journal = open(&home()?)?;
    match (find(&journal, word), story_alone(&journal, word)) {
        (Ok(loop_id), Ok(named)) if loop_id != word => {
            // A story whose id it is wins over a part of a loop's.
            if named.story == word {
                return Ok(both(named));
            }
            let StoryOfLoop { loop_id: of, story } = named;
            Err(Failure::bad_input(format!(
                "`{word}` may mean the loop {loop_id} or the story {story} of the loop {of}"
            ))
            .hint("give more of the id"))
        }
        (Ok(loop_id), _) => Ok((loop_id, None)),
        (Err(_), Ok(named)) => Ok(both(named)),
        (Err(of_loop), Err(of_story)) => Err(if is_known(&journal, word) {
            of_story
        } else {
            of_loop.hint("no story of the newest loop here has such an id either")
        }),
    }
}

/// What `checkout` shall put where. Of two words the first may be a loop, or a story with its folder.
pub(super) fn work_and_folder(
    words: (Option<&str>, Option<&str>, Option<PathBuf>),
) -> Result<(StoryOfLoop, Option<PathBuf>), Failure> {
    match words {
        (None, ..) => {
            Err(Failure::bad_input("which story?").hint("loopwright checkout [ID] STORY [FOLDER]"))
        }
        (Some(only), None, folder) => Ok((story(None, only)?, folder)),
        (Some(id), Some(second), Some(folder)) => Ok((story(Some(id), second)?, Some(folder))),
        (Some(first), Some(second), None) => match story(Some(first), second) {
            Ok(named) => Ok((named, None)),
            Err(failure) => match story(None, first) {
                Ok(named) => Ok((named, Some(second.into()))),
                Err(_) => Err(failure),
            },
        },
    }
}

/// A run by its whole id: of the newest loop here, or else of any.
pub(super) fn run(wanted: &str) -> Result<String, Failure> {
    let home = home()?;
    let journal = open(&home)?;
    let ids = |loop_id: &String| run_ids(&home, &journal, loop_id);
    if let Ok(newest) = find_or_newest(&journal, None)
        && let [one] = matching(ids(&newest).into_iter(), wanted).as_slice()
    {
        return Ok(one.clone());
    }
    let all = newest_first(&journal)?;
    let found = matching(all.iter().flat_map(ids), wanted);
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(Failure::bad_input(format!("there is no run `{wanted}`"))
            .hint("`loopwright runs` lists the newest runs, `loopwright runs ID` those of a loop")),
        several => Err(ambiguous(wanted, "runs", several)),
    }
}

pub(super) fn run_ids(home: &Home, journal: &Journal, loop_id: &str) -> Vec<String> {
    let Ok(loaded) = load(journal, loop_id) else {
        return Vec::new();
    };
    traces(home, &loaded)
        .into_iter()
        .map(|trace| trace.id)
        .collect()
}

/// Loops that are not over and work on this folder, above it or below it; sorted by id.
pub(super) fn live_here(journal: &Journal) -> Result<Vec<String>, Failure> {
    let here = current_folder()?;
    let heads = journal
        .heads()
        .map_err(|error| Failure::environment("cannot read the journal", &error))?;
    let live = heads.into_iter().filter(|head| {
        head.row.quarantine.is_none() && !head.last_kind.as_deref().is_some_and(kernel::is_over)
    });
    let is_here = |loop_id: &String| {
        let loaded = load(journal, loop_id);
        loaded.is_ok_and(|loaded| loaded.state.ended().is_none() && is_of(&loaded.state, &here))
    };
    Ok(live.map(|head| head.row.loop_id).filter(is_here).collect())
}

/// Whether a loop works on this folder, above it or below it. Whoever took a story stands in another work
/// tree of the project.
fn is_of(state: &State, here: &Path) -> bool {
    let project = &state.spec().project;
    is_at(project, here) || is_same_repository(here, Path::new(project))
}

fn only_live_here(journal: &Journal, verb: &str) -> Result<String, Failure> {
    let live = live_here(journal)?;
    match live.as_slice() {
        [one] => Ok(one.clone()),
        [] => {
            let failure = Failure::bad_input(format!(
                "no loop is live in this folder, so there is none to {verb}"
            ));
            let newest = find_or_newest(journal, None);
            let newest = newest.and_then(|newest| load(journal, &newest));
            Err(match newest {
                Ok(newest) => told_of_newest(failure, &newest.state, verb),
                Err(_) => failure.hint("name one; `loopwright list` shows all loops"),
            })
        }
        several => {
            let lines: String = several.iter().map(|id| format!("\n  {id}")).collect();
            Err(Failure::bad_input(format!(
                "{} loops are live in this folder:{lines}",
                several.len()
            ))
            .hint(format!("say which one: loopwright {verb} ID")))
        }
    }
}

/// Says of the newest loop here, which is over, what can be done. Only `resume` may have something left to
/// do in it.
fn told_of_newest(failure: Failure, state: &State, verb: &str) -> Failure {
    let view = loop_view(state);
    let (id, status) = (&view.loop_id, view.status);
    let failure = failure.hint(format!("the newest one here, {id}, is over ({status})"));
    if verb == "resume" && home().is_ok_and(|home| ask::has_left(&home, state)) {
        return failure.hint(format!(
            "`loopwright resume {id}` still gives you what it owes: its branch, or states in the PRD"
        ));
    }
    let hints = refusal::instead(state, &view).into_iter();
    hints.fold(failure, Failure::hint)
}

/// A story of a loop that is known.
fn story_of(journal: &Journal, loop_id: String, wanted: &str) -> Result<StoryOfLoop, Failure> {
    let story = story_in(&load(journal, &loop_id)?.state, wanted)?;
    Ok(StoryOfLoop { loop_id, story })
}

/// A story by its id, or by a beginning or an end that no other story of the loop has.
pub(super) fn story_in(state: &State, wanted: &str) -> Result<String, Failure> {
    let found = stories_like(state, wanted);
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(unknown_story(state, wanted)),
        several => Err(ambiguous(wanted, "stories", several)),
    }
}

fn stories_like(state: &State, wanted: &str) -> Vec<String> {
    if wanted.is_empty() {
        return Vec::new();
    }
    let ids = state.stories().iter();
    matching(ids.map(|story| story.spec.id.to_string()), wanted)
}

/// A story without its loop: of the newest loop here, or else of the only loop that has it.
fn story_alone(journal: &Journal, wanted: &str) -> Result<StoryOfLoop, Failure> {
    let newest = find_or_newest(journal, None);
    if let Ok(loop_id) = &newest
        && !stories_like(&load(journal, loop_id)?.state, wanted).is_empty()
    {
        return story_of(journal, loop_id.clone(), wanted);
    }
    let mut having = Vec::new();
    for loop_id in newest_first(journal)? {
        // One that cannot be read has no stories that anybody could see.
        if load(journal, &loop_id)
            .is_ok_and(|loaded| !stories_like(&loaded.state, wanted).is_empty())
        {
            having.push(loop_id);
        }
    }
    match having.as_slice() {
        [one] => story_of(journal, one.clone(), wanted),
        [] => match newest {
            Ok(loop_id) => Err(unknown_story(&load(journal, &loop_id)?.state, wanted)),
            Err(failure) => Err(failure),
        },
        several => {
            let named: Vec<String> = several.iter().map(|id| format!("{id} {wanted}")).collect();
            let failure = ambiguous(wanted, "stories", &named);
            Err(Failure {
                hints: vec!["give the loop's id too".to_owned()],
                ..failure
            })
        }
    }
}

/// Whether any loop has such a story.
fn is_known(journal: &Journal, wanted: &str) -> bool {
    let ids = newest_first(journal).unwrap_or_default();
    ids.iter().any(|loop_id| {
        load(journal, loop_id).is_ok_and(|loaded| !stories_like(&loaded.state, wanted).is_empty())
    })
}
