//! What becomes of work: candidates, the branch, the operator's repository and PRD, and the end of
//! a loop.
//!
//! Every function here may be run twice and finds what its earlier self has done. What fails for a
//! reason outside the story gives no event: it is owed again at the next turn.

use std::path::Path;

use kernel::{Commit, Effect, Event, PublishResult, RunKey, State, WriteBack};
use prd::Mark;
use workspace::{LoopRepo, Moved, Published};

use crate::candidate::{Landed, commit_id, words};
use crate::prd_file::write_back;
use crate::runs::Place;
use crate::settings::Settings;
use crate::worker::Worker;

impl Worker {
    /// Carries out an effect on repositories and files. A fault is written to the loop's folder for
    /// people to see.
    pub(crate) fn land(&self, loop_id: &str, effect: &Effect) -> Option<Event> {
        let landed = match effect {
            Effect::Prepare => self.prepare(loop_id),
            Effect::MakeTests { story, attempt } => self.make_tests(loop_id, story, *attempt),
            Effect::MakeCandidate { story, attempt } => {
                self.make_candidate(loop_id, story, *attempt)
            }
            Effect::Integrate {
                story,
                attempt,
                commit,
            } => self.integrate(loop_id, story, *attempt, commit),
            Effect::Announce { story, commit } => self.announce(loop_id, story, commit),
            Effect::Skip { story, reason } => self.skip(loop_id, story, reason),
            Effect::End(reason) => {
                self.retire(loop_id, &self.home.checkouts(loop_id));
                Ok(Some(Event::LoopEnded {
                    reason: reason.reason(),
                }))
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
        self.loaded(loop_id)
            .map(|loaded| &loaded.state)
            .ok_or_else(|| "the loop is not loaded".to_owned())
    }

    fn prepare(&self, loop_id: &str) -> Landed {
        let settings = self.settings(loop_id)?;
        let base = commit_id(&self.state(loop_id)?.spec().base)?;
        let folder = self.home.loop_folder(loop_id);
        // Prompts and outputs are nobody else's business, whatever the state folder's own mode is.
        std::fs::create_dir_all(&folder).map_err(words)?;
        std::fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o700))
            .map_err(words)?;
        LoopRepo::create(
            Path::new(&settings.root),
            &self.home.repository(loop_id),
            &base,
        )
        .map_err(words)?;
        Ok(Some(Event::LoopPrepared))
    }

    fn integrate(&self, loop_id: &str, story: &str, attempt: u32, commit: &Commit) -> Landed {
        let state = self.state(loop_id)?;
        let repository = self.repository(loop_id)?;
        let branch = format!("refs/heads/{}", state.spec().branch);
        let there = repository.read_ref(&branch).map_err(words)?;
        let (head, to) = (commit_id(state.head())?, commit_id(commit)?);
        let from = if there.is_none() && *state.head() == state.spec().base {
            None
        } else {
            Some(&head)
        };
        match repository.move_ref(&branch, from, &to).map_err(words)? {
            Moved::Done | Moved::AlreadyThere => Ok(Some(Event::Integrated {
                story: story.to_owned(),
                attempt,
                commit: commit.clone(),
            })),
            Moved::Refused { found } => Err(format!(
                "the loop's branch is at {found:?} and should be at {head:?}"
            )),
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
            Ok(Published::MovedBySomebody { found }) => PublishResult::LeftAlone {
                why: format!("somebody moved the branch to {found:?}"),
            },
            Ok(Published::CheckedOut { at }) => PublishResult::LeftAlone {
                why: format!("the branch is checked out at {}", at.display()),
            },
            Err(error) => PublishResult::LeftAlone {
                why: error.to_string(),
            },
        };
        let prd = mark(state, &settings, story, Mark::Passed);
        self.note_progress(loop_id, story, "passed", Some(commit), None);
        Ok(Some(Event::Announced {
            story: story.to_owned(),
            branch,
            prd,
        }))
    }

    fn skip(&self, loop_id: &str, story: &str, reason: &str) -> Landed {
        let state = self.state(loop_id)?;
        let prd = mark(state, &self.settings(loop_id)?, story, Mark::Skipped);
        self.note_progress(loop_id, story, "skipped", None, Some(reason));
        Ok(Some(Event::StorySkipped {
            story: story.to_owned(),
            reason: reason.to_owned(),
            prd,
        }))
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
            let snapshot = repository
                .snapshot(&place.checkout, &base, &[])
                .map_err(words)?;
            let message = format!(
                "cancelled: [{loop_id}] [{}] attempt-{}\n",
                run.story, run.attempt
            );
            let commit = repository
                .commit(&snapshot.tree, &base, &message, active.planned_at_ms / 1000)
                .map_err(words)?;
            repository
                .move_ref(
                    &candidate_ref("cancelled", &run.story, run.attempt),
                    None,
                    &commit,
                )
                .map_err(words)?;
            Ok(())
        };
        keep().inspect_err(|why| {
            let _ = std::fs::write(self.home.loop_folder(loop_id).join("fault"), why);
        })
    }
}

fn candidate_ref(kind: &str, story: &str, attempt: u32) -> String {
    format!(
        "refs/loopwright/{kind}/{}/{attempt}",
        workspace::ref_component(story)
    )
}

fn mark(state: &State, settings: &Settings, story: &str, mark: Mark) -> WriteBack {
    if settings.write_back {
        write_back(Path::new(&state.spec().prd_path), story, mark)
    } else {
        WriteBack::Off
    }
}
