//! What becomes of work: candidates, the branch, the operator's repository and PRD, and the end of a loop.
//!
//! Every function here may be run twice and finds what its earlier self has done. What fails for a reason outside the
//! story gives no event: it is owed again at the next turn.

use std::path::{Path, PathBuf};

use kernel::{Commit, Effect, Event, PublishResult, RunKey, Stage, State, WriteBack};
use prd::Mark;
use workspace::{CommitId, LoopRepo, Moved, Published};

use crate::prd_file::write_back;
use crate::runs::{Place, remove_folder};
use crate::settings::Settings;
use crate::worker::Worker;

type Landed = Result<Option<Event>, String>;

impl Worker {
    /// Carries out an effect on repositories and files. A fault is written to the loop's folder for people to see.
    pub(crate) fn land(&self, loop_id: &str, effect: &Effect) -> Option<Event> {
        let landed = match effect {
            Effect::Prepare => self.prepare(loop_id),
            Effect::MakeCandidate { story, attempt } => self.make_candidate(loop_id, story, *attempt),
            Effect::Integrate { story, attempt, commit } => self.integrate(loop_id, story, *attempt, commit),
            Effect::Announce { story, commit } => self.announce(loop_id, story, commit),
            Effect::Skip { story, reason } => self.skip(loop_id, story, reason),
            Effect::End(reason) => {
                remove_folder(&self.home.checkouts(loop_id));
                Ok(Some(Event::LoopEnded { reason: reason.reason() }))
            }
            Effect::Plan { .. }
            | Effect::StartRun(_)
            | Effect::WatchRun(_)
            | Effect::StopRun(_)
            | Effect::WakeAt { .. }
            | Effect::Block { .. } => Ok(None),
        };
        let fault_file = self.home.loop_folder(loop_id).join("fault");
        match landed {
            Ok(event) => {
                let _ = std::fs::remove_file(fault_file);
                event
            }
            Err(why) => {
                let _ = std::fs::write(fault_file, why);
                None
            }
        }
    }

    fn state(&self, loop_id: &str) -> Result<&State, String> {
        self.loaded(loop_id).map(|loaded| &loaded.state).ok_or_else(|| "the loop is not loaded".to_owned())
    }

    fn prepare(&self, loop_id: &str) -> Landed {
        let settings = self.settings(loop_id)?;
        let base = commit_id(&self.state(loop_id)?.spec().base)?;
        let folder = self.home.loop_folder(loop_id);
        // Prompts and outputs are nobody else's business, whatever the state folder's own mode is.
        std::fs::create_dir_all(&folder).map_err(words)?;
        std::fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o700))
            .map_err(words)?;
        LoopRepo::create(Path::new(&settings.root), &self.home.repository(loop_id), &base).map_err(words)?;
        Ok(Some(Event::LoopPrepared))
    }

    fn make_candidate(&self, loop_id: &str, id: &str, attempt: u32) -> Landed {
        let state = self.state(loop_id)?;
        let (story, active) = state.active().ok_or("no story is being worked on")?;
        let (settings, repository) = (self.settings(loop_id)?, self.repository(loop_id)?);
        let checkout = self.implement_checkout(loop_id, state, id, attempt)?;
        let base = commit_id(&active.base)?;
        // Neither the PRD nor what we copied in ourselves is the agent's to change or to publish.
        let copied = settings.copy.iter().map(|name| Path::new(&settings.subdir).join(name));
        let kept: Vec<PathBuf> = settings.prd_in_repository.iter().map(PathBuf::from).chain(copied).collect();
        let reference = candidate_ref("candidates", id, attempt);
        let commit = match repository.read_ref(&reference).map_err(words)? {
            // An earlier self got this far; the checkout may be gone already.
            Some(commit) => commit,
            None if !checkout.is_dir() => {
                return Ok(Some(nothing_new(id, attempt, "the attempt left no checkout behind")));
            }
            None => {
                let snapshot = repository.snapshot(&checkout, &base, &kept).map_err(words)?;
                if !snapshot.changed {
                    remove_folder(&checkout);
                    return Ok(Some(nothing_new(id, attempt, "the attempt changed nothing")));
                }
                let subject = format!(
                    "feat: [{loop_id}] [{id}] attempt-{attempt} — {}",
                    story.spec.title.replace('\n', " ")
                );
                let message =
                    format!("{subject}\n\nLoop-Id: {loop_id}\nStory-Id: {id}\nAttempt: {attempt}\n");
                let commit = repository
                    .commit(&snapshot.tree, &base, &message, active.planned_at_ms / 1000)
                    .map_err(words)?;
                repository.move_ref(&reference, None, &commit).map_err(words)?;
                commit
            }
        };
        let same_as_rejected = is_rejected_again(&repository, story, &commit)?;
        remove_folder(&checkout);
        if same_as_rejected {
            return Ok(Some(nothing_new(
                id,
                attempt,
                "the attempt made the same files as one that was rejected",
            )));
        }
        let commit = Commit::new(commit.as_str()).map_err(words)?;
        Ok(Some(Event::CandidateMade { story: id.to_owned(), attempt, commit }))
    }

    /// The checkout of the try that worked.
    fn implement_checkout(
        &self,
        loop_id: &str,
        state: &State,
        story: &str,
        attempt: u32,
    ) -> Result<PathBuf, String> {
        let loaded = self.loaded(loop_id).ok_or("the loop is not loaded")?;
        let of_attempt =
            |run: &&RunKey| run.story == story && run.attempt == attempt && run.stage == Stage::Implement;
        let started = loaded.records.iter().rev().filter_map(|record| match &record.event {
            Event::RunStarted { run } => Some(run),
            _ => None,
        });
        let run = started.into_iter().find(of_attempt).ok_or("the attempt had no run")?;
        Ok(self.home.checkout(loop_id, &crate::home::RunName::of(state, run)))
    }

    fn integrate(&self, loop_id: &str, story: &str, attempt: u32, commit: &Commit) -> Landed {
        let state = self.state(loop_id)?;
        let repository = self.repository(loop_id)?;
        let branch = format!("refs/heads/{}", state.spec().branch);
        let there = repository.read_ref(&branch).map_err(words)?;
        let (head, to) = (commit_id(state.head())?, commit_id(commit)?);
        let from = if there.is_none() && *state.head() == state.spec().base { None } else { Some(&head) };
        match repository.move_ref(&branch, from, &to).map_err(words)? {
            Moved::Done | Moved::AlreadyThere => {
                Ok(Some(Event::Integrated { story: story.to_owned(), attempt, commit: commit.clone() }))
            }
            Moved::Refused { found } => {
                Err(format!("the loop's branch is at {found:?} and should be at {head:?}"))
            }
        }
    }

    fn announce(&self, loop_id: &str, story: &str, commit: &Commit) -> Landed {
        let state = self.state(loop_id)?;
        let (settings, repository) = (self.settings(loop_id)?, self.repository(loop_id)?);
        let last = state.published().map(commit_id).transpose()?;
        let published = repository.publish(
            Path::new(&settings.root),
            &state.spec().branch,
            last.as_ref(),
            &commit_id(commit)?,
        );
        let branch = match published {
            Ok(Published::Done | Published::AlreadyThere) => PublishResult::Done,
            Ok(Published::MovedBySomebody { found }) => {
                PublishResult::LeftAlone { why: format!("somebody moved the branch to {found:?}") }
            }
            Ok(Published::CheckedOut { at }) => {
                PublishResult::LeftAlone { why: format!("the branch is checked out at {}", at.display()) }
            }
            Err(error) => PublishResult::LeftAlone { why: error.to_string() },
        };
        let prd = mark(state, &settings, story, Mark::Passed);
        Ok(Some(Event::Announced { story: story.to_owned(), branch, prd }))
    }

    fn skip(&self, loop_id: &str, story: &str, reason: &str) -> Landed {
        let state = self.state(loop_id)?;
        let prd = mark(state, &self.settings(loop_id)?, story, Mark::Skipped);
        Ok(Some(Event::StorySkipped { story: story.to_owned(), reason: reason.to_owned(), prd }))
    }

    /// Work that was under way when the loop was cancelled is kept as a commit beside the branch.
    pub(crate) fn keep_cancelled_work(
        &self,
        loop_id: &str,
        run: &RunKey,
        place: &Place,
    ) -> Result<(), String> {
        let keep = || -> Result<(), String> {
            let state = self.state(loop_id)?;
            let (_, active) = state.active().ok_or("no story is being worked on")?;
            let (base, repository) = (commit_id(&active.base)?, self.repository(loop_id)?);
            if !place.checkout.exists() {
                return Ok(());
            }
            let snapshot = repository.snapshot(&place.checkout, &base, &[]).map_err(words)?;
            let message = format!("cancelled: [{loop_id}] [{}] attempt-{}\n", run.story, run.attempt);
            let commit = repository
                .commit(&snapshot.tree, &base, &message, active.planned_at_ms / 1000)
                .map_err(words)?;
            repository
                .move_ref(&candidate_ref("cancelled", &run.story, run.attempt), None, &commit)
                .map_err(words)?;
            Ok(())
        };
        keep().inspect_err(|why| {
            let _ = std::fs::write(self.home.loop_folder(loop_id).join("fault"), why);
        })
    }
}

/// Says whether an attempt made the same files as one that was rejected.
fn is_rejected_again(
    repository: &LoopRepo,
    story: &kernel::StoryProgress,
    commit: &CommitId,
) -> Result<bool, String> {
    for rejected in &story.rejected {
        if repository.changed_paths(&commit_id(rejected)?, commit).map_err(words)?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn commit_id(commit: &Commit) -> Result<CommitId, String> {
    CommitId::parse(commit.as_str()).map_err(words)
}

fn candidate_ref(kind: &str, story: &str, attempt: u32) -> String {
    format!("refs/loopwright/{kind}/{}/{attempt}", workspace::ref_component(story))
}

fn nothing_new(story: &str, attempt: u32, why: &str) -> Event {
    Event::NothingNew { story: story.to_owned(), attempt, why: why.to_owned() }
}

fn mark(state: &State, settings: &Settings, story: &str, mark: Mark) -> WriteBack {
    if settings.write_back {
        write_back(Path::new(&state.spec().prd_path), story, mark)
    } else {
        WriteBack::Off
    }
}
