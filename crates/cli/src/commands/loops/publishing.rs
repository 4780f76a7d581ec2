//! Accepted work that is not in the person's repository yet: every verb that comes by sees to it.

use std::path::{Path, PathBuf};

use home::{Home, Loaded};
use journal::Journal;
use kernel::{Event, State};
use workspace::{CommitId, GitError, LoopRepo};

use super::lookup::load;
use super::serve;
use crate::failure::{Exit, Failure};

/// How many loops `start` looks at, the newest first. Those that it wants are among the last.
const LOOPS_MAX: usize = 200;

/// Gets a worker for work that a loop has not published, although it is over.
pub(super) fn see_to(home: &Home, journal: &Journal, loaded: &Loaded) -> Result<(), Failure> {
    let state = &loaded.state;
    if state.ended().is_none() || !state.owes_publishing() {
        return Ok(());
    }
    let loop_id = &state.spec().loop_id;
    let heads = journal
        .heads()
        .map_err(|error| Failure::environment("cannot read the journal", &error))?;
    let is_filed_as_over = heads.iter().any(|head| {
        head.row.loop_id == *loop_id && head.last_kind.as_deref().is_some_and(kernel::is_over)
    });
    if is_filed_as_over {
        // An older version ended it, and gave up.
        home::request(journal, loop_id, &Event::PublishRequested)
            .map_err(|error| Failure::environment("cannot ask for publishing", &error))?;
    }
    home::hurry_worker(home);
    serve::ensure_worker(home)
}

/// Accepted work of an earlier loop that is only in its own repository.
pub(super) struct Withheld {
    pub(super) loop_id: String,
    /// Its branch.
    pub(super) branch: String,
    /// The stories that it holds.
    pub(super) stories: Vec<String>,
    /// Why it could not be published; none where a person has removed it since.
    pub(super) why: Option<String>,
    /// Whether its branch was there once and is not any more.
    pub(super) is_gone: bool,
}

/// A branch that shows everything that its loop accepted, or did until somebody removed it.
pub(super) struct LostBranch {
    /// What became of it.
    pub(super) what: String,
    /// How to get it back.
    pub(super) remedy: String,
    /// Whether it is not there at all, so that it can be made again.
    pub(super) is_gone: bool,
}

/// Looks for the branch of a loop that has published everything. Nothing where it is still there, or
/// where the project cannot be looked at.
pub(super) fn lost_branch(home: &Home, state: &State) -> Option<LostBranch> {
    let (spec, head) = (state.spec(), state.confirmed());
    let (id, branch) = (&spec.loop_id, &spec.branch);
    if state.published() != Some(head) {
        return None;
    }
    let what = match workspace::read_branch(&root_of(state)?, branch) {
        Ok(None) => "it is no longer in your repository".to_owned(),
        Err(GitError::BrokenRef { file, .. }) => {
            let last = Some(head.as_str().to_owned());
            let broken = GitError::BrokenRef { file, last };
            return Some(LostBranch {
                what: broken.to_string(),
                remedy: broken.remedy().unwrap_or_default(),
                is_gone: false,
            });
        }
        Ok(Some(_)) | Err(_) => return None,
    };
    let remedy = if home.repository(id).exists() {
        format!("`loopwright resume {id}` makes it again")
    } else {
        format!("`git branch {branch} {head}` makes it again, as long as git keeps the commit")
    };
    Some(LostBranch {
        what,
        remedy,
        is_gone: true,
    })
}

/// Whether a branch that was published is not there any more.
fn is_gone(state: &State, root: &Path) -> bool {
    let there = || workspace::read_branch(root, &state.spec().branch);
    state.published().is_some() && matches!(there(), Ok(None))
}

/// Makes the branch again that somebody removed after everything was published. Says whether there
/// was something to make.
pub(super) fn bring_back(home: &Home, state: &State) -> Result<bool, Failure> {
    let (Some(lost), Some(root)) = (lost_branch(home, state), root_of(state)) else {
        return Ok(false);
    };
    if !lost.is_gone {
        return Err(Failure {
            exit: Exit::Environment,
            message: lost.what,
            hints: vec![lost.remedy],
        });
    }
    make_branch_again(home, state, &root).map_err(|why| Failure {
        exit: Exit::Environment,
        message: format!(
            "cannot make the branch {} again: {why}",
            state.spec().branch
        ),
        hints: Vec::new(),
    })?;
    Ok(true)
}

/// Publishes what earlier loops of a project have accepted and not published. What cannot be
/// published even now is returned.
pub(super) fn publish_earlier(
    home: &Home,
    journal: &Journal,
    root: &Path,
) -> Result<Vec<Withheld>, Failure> {
    let mut withheld = Vec::new();
    for loaded in earlier(journal, root)? {
        let state = &loaded.state;
        if state.unpublished().is_none() {
            continue;
        }
        see_to(home, journal, &loaded)?;
        // What landed and is not confirmed is shown to nobody.
        let unconfirmed = state.unpublished().filter(|_| !state.has_landed());
        let published = match unconfirmed {
            Some(why) => Err(why.to_owned()),
            None => publish(home, state, root),
        };
        if let Err(why) = published {
            withheld.push(Withheld::of(state, root, Some(why)));
        }
    }
    Ok(withheld)
}

/// What earlier loops of a project have accepted and not published, for those who only look.
pub(super) fn unpublished_earlier(
    journal: &Journal,
    root: &Path,
) -> Result<Vec<Withheld>, Failure> {
    let earlier = earlier(journal, root)?;
    let withheld = earlier.iter().filter_map(|Loaded { state, .. }| {
        let why = state.unpublished()?.to_owned();
        Some(Withheld::of(state, root, Some(why)))
    });
    Ok(withheld.collect())
}

/// The last loops of a project, the newest first. One that cannot be read is no reason not to start
/// another one.
fn earlier(journal: &Journal, root: &Path) -> Result<Vec<Loaded>, Failure> {
    let rows = journal
        .loops()
        .map_err(|error| Failure::environment("cannot read the journal", &error))?;
    let newest = rows.iter().rev().take(LOOPS_MAX);
    let loaded = newest.filter_map(|row| load(journal, &row.loop_id).ok());
    Ok(loaded.filter(|loaded| is_of(&loaded.state, root)).collect())
}

/// The loops of a project that accepted these stories once, although no branch has them any more.
pub(super) fn removed_since(
    journal: &Journal,
    root: &Path,
    wanted: &[&String],
) -> Result<Vec<Withheld>, Failure> {
    let mut found: Vec<Withheld> = Vec::new();
    for loaded in earlier(journal, root)? {
        let held = Withheld::of(&loaded.state, root, None);
        let is_new = |id: &&&String| {
            held.stories.contains(id) && !found.iter().any(|other| other.stories.contains(id))
        };
        if wanted.iter().any(|id| is_new(&id)) {
            found.push(held);
        }
    }
    Ok(found)
}

/// The newest loop of a project that has this branch.
pub(super) fn loop_of_branch(
    journal: &Journal,
    root: &Path,
    branch: &str,
) -> Result<Option<State>, Failure> {
    let mut states = earlier(journal, root)?
        .into_iter()
        .map(|loaded| loaded.state);
    Ok(states.find(|state| state.spec().branch == branch))
}

/// Makes the branch of a loop again, which must not exist, at the last commit that it accepted.
pub(super) fn make_branch_again(home: &Home, state: &State, root: &Path) -> Result<(), String> {
    publish_from(home, state, root, None)
}

impl Withheld {
    fn of(state: &State, root: &Path, why: Option<String>) -> Self {
        Self {
            is_gone: why.is_some() && is_gone(state, root),
            loop_id: state.spec().loop_id.clone(),
            branch: state.spec().branch.clone(),
            stories: landed(state),
            why,
        }
    }
}

fn is_of(state: &State, root: &Path) -> bool {
    root_of(state).is_some_and(|of_loop| of_loop == root)
}

/// The top of the work tree that a loop was started in.
pub(super) fn root_of(state: &State) -> Option<PathBuf> {
    let settings = serde_json::from_str::<home::Settings>(&state.spec().settings);
    settings.ok().map(|settings| settings.root.into())
}

/// The stories that landed in a loop.
pub(super) fn landed(state: &State) -> Vec<String> {
    let stories = state.stories().iter();
    let landed =
        stories.filter(|story| matches!(&story.status, kernel::StoryStatus::Passed(Some(_))));
    landed.map(|story| story.spec.id.to_string()).collect()
}

/// The same move that the worker makes, and just as safe to make twice. The worker records it.
fn publish(home: &Home, state: &State, root: &Path) -> Result<(), String> {
    publish_from(home, state, root, state.published())
}

/// The same for a branch that must be at this commit, or must not exist.
fn publish_from(
    home: &Home,
    state: &State,
    root: &Path,
    from: Option<&kernel::Commit>,
) -> Result<(), String> {
    use workspace::Published::{AlreadyThere, CheckedOut, Done, MovedBySomebody};
    let spec = state.spec();
    let id = |commit: &kernel::Commit| CommitId::parse(commit.as_str());
    let published = || {
        let repository = LoopRepo::open(&home.repository(&spec.loop_id))?;
        let before = from.map(id).transpose()?;
        repository.publish(root, &spec.branch, before.as_ref(), &id(state.confirmed())?)
    };
    match published() {
        Ok(Done | AlreadyThere) => Ok(()),
        Ok(CheckedOut { at }) => Err(format!("the branch is checked out at {}", at.display())),
        Ok(MovedBySomebody { .. }) => Err("somebody moved or removed the branch".to_owned()),
        Err(error) => Err(match error.remedy() {
            Some(remedy) => format!("{error}; {remedy}"),
            None => home::words_of(&error),
        }),
    }
}
