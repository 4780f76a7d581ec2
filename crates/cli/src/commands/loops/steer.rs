//! `loopwright retry`, `skip`, `accept` and `take`: a person steers one story.

use std::path::{Path, PathBuf};

use home::{Home, RequestError, Settings};
use journal::Journal;
use kernel::{Commit, Event, Flow, State, StoryId, StoryStatus};
use serde_json::json;
use views::story_report;
use workspace::{LoopRepo, is_same_repository, look_at_project, operator_signature};

use super::inside_run::refuse_inside_run;
use super::lookup::{load, open};
use super::{agents_again, casting, keys, named, serve, work};
use crate::failure::{Exit, Failure};
use crate::output::{NextAction, Output};
use crate::state_folder::home;
use crate::steer_args::{SteerCommand, WhichStory};

/// Bytes of a hint: it is told in every prompt of the next attempts.
const HINT_BYTES_MAX: usize = 16 * 1024;

pub(super) fn run(command: SteerCommand, output: &mut Output) -> Result<Exit, Failure> {
    match command {
        SteerCommand::Retry {
            which,
            hint,
            agent,
            flow,
        } => retry(which, hint, agent, flow.as_deref(), output),
        SteerCommand::Skip { which, reason } => {
            output.command("skip");
            let steering = Steering::of(which, "skip")?;
            let reason = said(reason).unwrap_or_else(|| "no reason given".to_owned());
            let by = steering.person()?;
            let story = steering.story.clone();
            let reason = format!("set aside by a person, {by}: {reason}");
            steering.ask(&Event::SkipRequested { story, reason })?;
            steering.done("it is set aside", output)
        }
        SteerCommand::Accept {
            which,
            attempt,
            reason,
        } => accept(which, attempt, said(reason), output),
        SteerCommand::Take {
            id,
            story,
            folder,
            done,
            commit,
            give_back,
        } => {
            output.command("take");
            let (steering, folder) = Steering::with_folder(id, story, folder)?;
            match (done, give_back) {
                (true, _) => hand_in(&steering, commit.as_deref(), output),
                (false, true) => steering.give_back(output),
                (false, false) => take(&steering, folder, output),
            }
        }
    }
}

/// A story that a person steers.
struct Steering {
    home: Home,
    journal: Journal,
    loop_id: String,
    story: StoryId,
    state: State,
    verb: &'static str,
}

impl Steering {
    fn of(which: WhichStory, verb: &'static str) -> Result<Self, Failure> {
        let home = home()?;
        refuse_inside_run(&home, verb)?;
        let journal = open(&home)?;
        let (id, story) = named::last_is_needed(which.id, which.story);
        let story = story.ok_or_else(|| {
            Failure::bad_input("which story?").hint(format!("loopwright {verb} [ID] STORY"))
        })?;
        let loop_id = named::to_steer(id, &story, verb)?;
        let state = load(&journal, &loop_id)?.state;
        let story = named::story_in(&state, &story)?.into();
        if !home.repository(&loop_id).is_dir() {
            return Err(Failure::bad_input(format!(
                "the repository of loop {loop_id} was cleaned away, so nothing more can be done in it"
            ))
            .hint("a new loop does what is still open: loopwright start"));
        }
        Ok(Self {
            home,
            journal,
            loop_id,
            story,
            state,
            verb,
        })
    }

    /// Of two words the first may be a loop, or a story with its folder.
    fn with_folder(
        id: Option<String>,
        story: Option<String>,
        folder: Option<PathBuf>,
    ) -> Result<(Self, Option<PathBuf>), Failure> {
        let of = |id: Option<String>, story: String| {
            let story = Some(story);
            Self::of(WhichStory { id, story }, "take")
        };
        match (id, story, folder) {
            (None, ..) => {
                Err(Failure::bad_input("which story?").hint("loopwright take [ID] STORY [FOLDER]"))
            }
            (Some(only), None, folder) => Ok((of(None, only)?, folder)),
            (Some(id), Some(story), Some(folder)) => Ok((of(Some(id), story)?, Some(folder))),
            (Some(first), Some(second), None) => match of(Some(first.clone()), second.clone()) {
                Ok(steering) => Ok((steering, None)),
                Err(failure) => match of(None, first) {
                    Ok(steering) => Ok((steering, Some(second.into()))),
                    Err(_) => Err(failure),
                },
            },
        }
    }

    fn project(&self) -> PathBuf {
        PathBuf::from(&self.state.spec().project)
    }

    /// Who asks, as git knows them.
    fn person(&self) -> Result<String, Failure> {
        let known = operator_signature(&self.project())
            .map_err(|error| Failure::environment("cannot ask git who you are", &error))?;
        let login = || std::env::var("USER").or_else(|_| std::env::var("LOGNAME"));
        Ok(known
            .map(|known| known.to_string())
            .or_else(|| login().ok().filter(|name| !name.is_empty()))
            .unwrap_or_else(|| "somebody without a name".to_owned()))
    }

    /// Writes a request and sees to it that a worker is there to answer it.
    fn ask(&self, event: &Event) -> Result<(), Failure> {
        // The worker may take the request up at once, so the keys come first.
        if home::takes(&self.state, event) {
            keys::keep(&self.home, self.state.spec())?;
        }
        home::request(&self.journal, &self.loop_id, event).map_err(|error| self.refused(&error))?;
        serve::ensure_worker(&self.home)
    }

    fn refused(&self, error: &RequestError) -> Failure {
        let (id, verb) = (&self.loop_id, self.verb);
        let RequestError::Illegal(illegal) = error else {
            return Failure::environment(&format!("cannot {verb} in loop {id}"), error);
        };
        let story = &self.story;
        Failure::bad_input(format!("loop {id}: {}", illegal.why)).hint(format!(
            "`loopwright story {id} {story}` tells what became of it"
        ))
    }

    fn done(&self, what: &str, output: &mut Output) -> Result<Exit, Failure> {
        let (id, story) = (&self.loop_id, &self.story);
        output.data(&format!("{id}: `{story}`: {what}\n"))?;
        let verb = self.verb;
        output.result(|| json!({ "loopId": id, "storyId": story, "requested": verb }))?;
        output.next(NextAction::new(
            format!("loopwright watch {id}"),
            "see how it goes on",
        ));
        Ok(Exit::Done)
    }

    fn give_back(&self, output: &mut Output) -> Result<Exit, Failure> {
        if !matches!(self.status(), Some(StoryStatus::Taken { .. })) {
            return Err(self.not_taken());
        }
        let event = Event::RetryRequested {
            story: self.story.clone(),
            hint: None,
            agent: None,
            flow: None,
        };
        let usual = "the agents go on with it";
        let what = agents_again::words(&self.state, &event, &self.story, usual);
        self.ask(&event)?;
        self.done(&format!("{what}; your work tree stays as it is"), output)
    }

    fn status(&self) -> Option<&StoryStatus> {
        self.state.story(&self.story).map(|story| &story.status)
    }

    fn not_taken(&self) -> Failure {
        let (id, story) = (&self.loop_id, &self.story);
        Failure::bad_input(format!("nobody has taken story `{story}`"))
            .hint(format!("loopwright take {id} {story}"))
    }
}

/// Words that say something.
fn said(words: Option<String>) -> Option<String> {
    words
        .map(|words| words.trim().to_owned())
        .filter(|words| !words.is_empty())
}

fn retry(
    which: WhichStory,
    hint: Option<String>,
    agent: Option<String>,
    flow: Option<&str>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    output.command("retry");
    let steering = Steering::of(which, "retry")?;
    let hint = said(hint);
    if hint
        .as_ref()
        .is_some_and(|hint| hint.len() > HINT_BYTES_MAX)
    {
        return Err(Failure::bad_input(format!(
            "the hint is longer than {} KiB",
            HINT_BYTES_MAX / 1024
        ))
        .hint("put the long part into a file of the project, and name it in the hint"));
    }
    let flow = match flow {
        Some(word) => Some(Flow::named(word).ok_or_else(|| {
            let words: Vec<&str> = Flow::CHOICES.into_iter().map(Flow::word).collect();
            Failure::bad_input(format!("there is no flow `{word}`"))
                .hint(format!("it is one of {}", words.join(", ")))
        })?),
        None => None,
    };
    if let Some(agent) = &agent {
        known_agent(&steering.state, agent)?;
    }
    let settings = serde_json::from_str::<Settings>(&steering.state.spec().settings);
    if let (Some(flow), Ok(settings)) = (flow, settings) {
        casting::check_flow(flow, &settings)?;
    }
    let story = steering.story.clone();
    let agent = agent.map(|agent| agent.as_str().into());
    let event = Event::RetryRequested {
        story,
        hint,
        agent,
        flow,
    };
    let usual = agents_again::tried_again(&steering.state, &event, &steering.story);
    let what = agents_again::words(&steering.state, &event, &steering.story, &usual);
    steering.ask(&event)?;
    steering.done(&what, output)
}

/// Only agents that the loop was started with can work in it.
fn known_agent(state: &State, agent: &str) -> Result<(), Failure> {
    let settings = serde_json::from_str::<Settings>(&state.spec().settings);
    let known = settings.map(|settings| settings.agents).unwrap_or_default();
    if known.contains_key(agent) {
        return Ok(());
    }
    let names: Vec<&str> = known.keys().map(String::as_str).collect();
    let loop_id = &state.spec().loop_id;
    Err(
        Failure::bad_input(format!("the loop has no agent `{agent}`"))
            .hint(format!("it has {}", names.join(", ")))
            .hint(format!(
                "one that you configured since is known after `loopwright resume --reload {loop_id}`"
            )),
    )
}

fn accept(
    which: WhichStory,
    attempt: Option<u32>,
    reason: Option<String>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    output.command("accept");
    let steering = Steering::of(which, "accept")?;
    let loaded = load(&steering.journal, &steering.loop_id)?;
    let story = &steering.story;
    let report = story_report(&loaded.records, story)
        .ok_or_else(|| super::story::unknown_story(&loaded.state, story))?;
    let chosen = work::chosen(&report, attempt)?;
    let Some(candidate) = &chosen.candidate_sha else {
        return Err(Failure::bad_input(format!(
            "attempt {} of `{story}` has no candidate that could land",
            chosen.number
        ))
        .hint(format!("loopwright story {} {story}", steering.loop_id)));
    };
    let commit = Commit::new(candidate)
        .map_err(|error| Failure::environment("cannot read the candidate", &error))?;
    let by = steering.person()?;
    let has_reason = reason.is_some();
    let event = Event::AcceptRequested {
        story: story.clone(),
        commit,
        by: by.clone(),
        reason,
    };
    steering.ask(&event).map_err(|failure| {
        if has_reason {
            return failure;
        }
        failure.hint("--reason TEXT says why it shall land nevertheless")
    })?;
    let what = format!(
        "attempt {} is accepted by {by}; it lands on the branch as it is then",
        chosen.number
    );
    steering.done(&what, output)
}

fn take(
    steering: &Steering,
    folder: Option<PathBuf>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let (id, story) = (&steering.loop_id, &steering.story);
    let project = steering.project();
    let head = work::commit(steering.state.confirmed().as_str())?;
    let folder = match folder {
        Some(folder) => std::path::absolute(folder)
            .map_err(|error| Failure::environment("cannot tell where the folder is", &error))?,
        None => work::beside(&project, Some(story), &head),
    };
    let event = Event::TakeRequested {
        story: story.clone(),
        by: steering.person()?,
        folder: Some(folder.display().to_string()),
    };
    // Nothing is made for a request that is refused.
    if home::takes(&steering.state, &event) {
        make_work_tree(steering, &folder, &head)?;
    }
    steering.ask(&event)?;
    output.data(&format!("{}\n", folder.display()))?;
    let done = format!("loopwright take {id} {story} --done");
    output.talk(&format!(
        "`{story}` is yours: commit your work in that folder, then `{done}` hands it in to be checked \
         and judged; `loopwright take {id} {story} --give-back` leaves it to the agents again\n"
    ));
    output.result(
        || json!({ "loopId": id, "storyId": story, "requested": "take", "folder": folder }),
    )?;
    output.next(NextAction::new(done, "hand in what you committed there"));
    Ok(Exit::Done)
}

/// Makes the work tree, unless one of the project is there already: whoever takes a story again goes on
/// where they were.
fn make_work_tree(
    steering: &Steering,
    folder: &Path,
    head: &workspace::CommitId,
) -> Result<(), Failure> {
    let (id, story, project) = (&steering.loop_id, &steering.story, steering.project());
    if is_same_repository(folder, &project) {
        return Ok(());
    }
    work::refuse_filled(folder, &format!("loopwright take {id} {story} FOLDER"))?;
    LoopRepo::open(&steering.home.repository(id))
        .and_then(|repository| repository.add_work_tree(&project, folder, head))
        .map_err(|error| Failure::environment("cannot make the work tree", &error))
}

fn hand_in(
    steering: &Steering,
    commit: Option<&str>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let Some(StoryStatus::Taken { folder, .. }) = steering.status() else {
        return Err(steering.not_taken());
    };
    let project = steering.project();
    let commit = match (commit, folder) {
        (Some(named), _) => {
            look_at_project(&project, Some(named))
                .map_err(|error| Failure::environment("cannot find that commit", &error))?
                .head
        }
        (None, Some(folder)) => committed_in(Path::new(folder), steering)?,
        (None, None) => {
            return Err(Failure::bad_input("which commit?").hint("--commit COMMIT names it"));
        }
    };
    let commit = Commit::new(commit.as_str())
        .map_err(|error| Failure::environment("cannot read the commit", &error))?;
    let what = format!(
        "{} is handed in, to be checked and judged",
        &commit.as_str()[..12]
    );
    steering.ask(&Event::HandedIn {
        story: steering.story.clone(),
        commit,
        by: steering.person()?,
    })?;
    steering.done(&what, output)
}

/// The commit that a person made in their work tree.
fn committed_in(folder: &Path, steering: &Steering) -> Result<workspace::CommitId, Failure> {
    let view = look_at_project(folder, None).map_err(|error| {
        Failure::environment("cannot look at the work tree", &error)
            .hint("--commit COMMIT names a commit of the project's repository instead")
    })?;
    let shown = folder.display();
    if view.dirty {
        return Err(
            Failure::bad_input(format!("not everything in `{shown}` is committed"))
                .hint("commit it there, or put it aside with `git stash`"),
        );
    }
    if view.head.as_str() == steering.state.confirmed().as_str() {
        return Err(
            Failure::bad_input(format!("nothing was committed in `{shown}`"))
                .hint("commit your work there first; new files need `git add`"),
        );
    }
    Ok(view.head)
}
