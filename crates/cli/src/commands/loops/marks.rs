//! States that a loop could not write into its PRD: which of them it still lacks, and writing them
//! when somebody asks. Nobody else writes them: a person may have marked a story otherwise since.

use std::path::Path;

use home::{read_prd, write_back, write_back_for_review};
use kernel::{State, StoryId, StoryStatus, WriteBack};
use prd::{Mark, Options, StoryState};

/// What is wrong with the PRD of a loop that could not write into it, and what to do; nothing where
/// it has all states by now.
pub(super) fn fault(state: &State) -> Option<String> {
    let owed = owed(state);
    if owed.is_empty() {
        return None;
    }
    let id = &state.spec().loop_id;
    let (lacking, why, first) = match lacking(state, owed) {
        Ok(lacking) => (
            lacking,
            "it could not be written at their end".to_owned(),
            "",
        ),
        Err(unread) => (unread.owed, unread.why, "put that right, then "),
    };
    let stories: Vec<&str> = lacking.iter().map(|(story, _)| story.as_str()).collect();
    (!stories.is_empty()).then(|| {
        format!(
            "it does not have the state of {}: {why}; {first}`loopwright resume {id}` writes it",
            stories.join(", ")
        )
    })
}

/// Writes the states that the PRD lacks; says which stories they are of, or why it cannot be done.
pub(super) fn write_down(state: &State) -> Result<Vec<StoryId>, String> {
    let path = Path::new(&state.spec().prd_path);
    let lacking = lacking(state, owed(state)).map_err(|unread| unread.why)?;
    let mut written = Vec::new();
    for (story, mark) in lacking {
        let done = match state.story(&story).map(|story| &story.status) {
            Some(StoryStatus::Skipped { reason, .. }) => {
                write_back_for_review(path, &story, reason)
            }
            _ => write_back(path, &story, mark),
        };
        if let WriteBack::LeftAlone { why } = done {
            return Err(format!("{story}: {why}"));
        }
        written.push(story);
    }
    Ok(written)
}

/// The states that could not be written when their stories ended.
fn owed(state: &State) -> Vec<(StoryId, Mark)> {
    let mark_of = |id: &StoryId| {
        let mut stories = state.stories().iter();
        match stories.find(|story| story.spec.id == *id)?.status {
            StoryStatus::Passed(_) => Some(Mark::Passed),
            StoryStatus::Skipped { .. } => Some(Mark::Skipped),
            StoryStatus::Pending
            | StoryStatus::Active(_)
            | StoryStatus::Blocked { .. }
            | StoryStatus::SetAside
            | StoryStatus::Taken { .. } => None,
        }
    };
    let unwritten = state.unwritten();
    unwritten
        .filter_map(|(id, _)| Some((id.clone(), mark_of(id)?)))
        .collect()
}

/// A PRD that cannot be read.
struct Unread {
    owed: Vec<(StoryId, Mark)>,
    why: String,
}

/// Those of the states that the PRD does not have.
fn lacking(state: &State, owed: Vec<(StoryId, Mark)>) -> Result<Vec<(StoryId, Mark)>, Unread> {
    if owed.is_empty() {
        return Ok(owed);
    }
    let file = match read_prd(Path::new(&state.spec().prd_path), &Options::default()) {
        Ok(file) => file,
        Err(diagnostic) => {
            let why = diagnostic.message;
            return Err(Unread { owed, why });
        }
    };
    let Some(prd) = file.reading.prd else {
        let why = "it is no sound PRD any more; `loopwright prd check` says why".to_owned();
        return Err(Unread { owed, why });
    };
    let has = |(id, mark): &(StoryId, Mark)| {
        let wanted = match mark {
            Mark::Passed => StoryState::Passed,
            Mark::Skipped => StoryState::Skipped,
            Mark::Open => StoryState::Open,
        };
        let mut stories = prd.stories.iter();
        stories.any(|story| story.id.as_str() == id.as_str() && story.state == wanted)
    };
    Ok(owed.into_iter().filter(|each| !has(each)).collect())
}
