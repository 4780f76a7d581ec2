//! Which stories may begin beside those that are under way, and which of their runs may start.

use crate::attempt::{Attempt, Step};
use crate::flow::{FlowStep, Stage};
use crate::ids::{AgentName, StoryId};
use crate::lane::{Lane, RunState};
use crate::outcome::FaultCause;
use crate::spec::{LoopSpec, StorySpec};
use crate::state::{State, StoryProgress, StoryStatus};
use crate::together::OnQuestion;
use crate::wishes::Wish;

/// Stories that are worked on or wait for a time, as a multiple of those that may be worked on at
/// once. Whoever asks a person is not counted: that may take a night.
const UNDER_WAY_FACTOR: usize = 2;

/// What a story that is under way is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stance {
    /// Something is done for it, or can be.
    Works,
    /// Nothing can be done until a time has come, or another run is over.
    Waits,
    /// Nothing can be done until a person has answered.
    Asks,
    /// It is on the loop's branch, and nobody works on it any more.
    Landed,
}

impl Attempt {
    /// Whether nothing is done for it until a person has answered.
    pub(crate) fn asks(&self) -> bool {
        if self.hindered.is_some() || matches!(self.step, Step::Approve { .. }) {
            return true;
        }
        let mut open = self.lanes().iter().filter(|lane| lane.is_open()).peekable();
        let is_asking = |lane: &Lane| matches!(lane.run.state, RunState::Asking { .. });
        open.peek().is_some() && open.all(is_asking)
    }
}

impl StoryProgress {
    /// The attempts in which somebody worked.
    pub fn n_worked(&self) -> u32 {
        self.attempts.saturating_sub(self.acceptances)
    }

    /// How many attempts it gets.
    pub fn attempts_max(&self, spec: &LoopSpec) -> u32 {
        self.attempts_max_of(spec.attempts_max())
    }

    /// The same, where every story gets this many.
    pub(crate) fn attempts_max_of(&self, usual: u32) -> u32 {
        usual
            .saturating_add(self.extra_attempts)
            .saturating_add(self.returns)
    }

    /// The rung of the ladder that its next attempt is at. Attempts that a person asked for and those
    /// that were nobody's fault climb no further.
    pub(crate) fn ladder_place(&self) -> u32 {
        let attempt = self.attempts + 1;
        attempt.saturating_sub(self.extra_attempts + self.returns)
    }
}

impl State {
    pub(crate) fn stance(&self, story: &StoryProgress, attempt: &Attempt) -> Stance {
        if attempt.asks() {
            return Stance::Asks;
        }
        if self.waits_for_confirmation(attempt) {
            return Stance::Landed;
        }
        let open: Vec<&Lane> = attempt
            .lanes()
            .iter()
            .filter(|lane| lane.is_open())
            .collect();
        let waits = |lane: &&Lane| match lane.run.state {
            RunState::Waiting { .. } => !self.can_be_taken_over(story, lane.stage),
            RunState::Asking { .. } => true,
            RunState::Owed => self.is_kept_back(story, attempt, lane.stage),
            RunState::Running { .. } | RunState::Ended => false,
        };
        if !open.is_empty() && open.iter().all(waits) {
            return Stance::Waits;
        }
        Stance::Works
    }

    /// How many stories may be worked on at once.
    fn parallel(&self) -> usize {
        usize::try_from(self.spec.together.parallel.max(1)).unwrap_or(1)
    }

    /// Whether an agent is free to take a waiting run over.
    fn can_be_taken_over(&self, story: &StoryProgress, stage: Stage) -> bool {
        let others = self.stand_ins_for(&story.spec.id, stage);
        let now_ms = self.last_at_ms;
        others.iter().any(|other| other.free_at_ms <= now_ms)
    }

    /// Whether another story may begin beside those that are under way.
    pub(crate) fn has_room(&self) -> bool {
        let parallel = self.parallel();
        let stances: Vec<Stance> = self
            .attempts()
            .map(|(story, attempt)| self.stance(story, attempt))
            .collect();
        let count = |wanted| stances.iter().filter(|stance| **stance == wanted).count();
        let (works, waits, asks) = (
            count(Stance::Works),
            count(Stance::Waits),
            count(Stance::Asks),
        );
        // Whatever begins now would find the disk full too.
        let mut waiting = self.waits().into_iter();
        let is_full = waiting.any(|wait| wait.fault.cause == FaultCause::DiskFull);
        let is_stopped = asks > 0 && self.spec.together.on_question == OnQuestion::Stop;
        // A recheck judges the branch as it is.
        let mut rechecks = self.attempts().filter(|(_, attempt)| attempt.is_recheck);
        let is_rechecking = rechecks.any(|(_, attempt)| !attempt.asks());
        !is_rechecking
            && !is_full
            && works < parallel
            && works + waits < parallel * UNDER_WAY_FACTOR
            && !is_stopped
    }

    /// Whether a story may begin now: nothing that is worked on names the same files, its agents can
    /// be started, and the budget has room for all of it.
    pub(crate) fn may_begin_beside(
        &self,
        story: &StoryProgress,
        passed_over: &[&StorySpec],
    ) -> bool {
        if self.attempts().next().is_none() {
            return true;
        }
        let working = self
            .attempts()
            .filter(|(_, attempt)| !attempt.asks() && !self.waits_for_confirmation(attempt));
        let mut others = working
            .map(|(other, _)| &*other.spec)
            .chain(passed_over.iter().copied());
        let is_apart = !others.any(|other| shares_files(&story.spec, other));
        is_apart && !self.waits_for_an_agent_of(story) && self.has_budget_beside(story)
    }

    /// Whether an agent that would begin the story is at its limit, or asks for a login.
    fn waits_for_an_agent_of(&self, story: &StoryProgress) -> bool {
        let flow = self.spec.flow_of(&story.spec);
        let cast = self.spec.cast_for(&story.spec, story.ladder_place());
        let first = flow.steps().iter().find_map(|step| match step {
            FlowStep::Runs(stages) if !stages.iter().all(|stage| stage.is_check()) => Some(*stages),
            _ => None,
        });
        let mut agents = first
            .into_iter()
            .flatten()
            .filter_map(|stage| cast.agent(flow.row(*stage).role));
        agents.any(|agent| self.is_waited_for(agent) && !self.has_stand_in_for(agent))
    }

    /// Whether somebody else could take over from an agent at once.
    fn has_stand_in_for(&self, agent: &AgentName) -> bool {
        let mut others = self.spec.ladder.iter().filter(|other| *other != agent);
        self.spec.failover && others.any(|other| !self.is_waited_for(other))
    }

    fn is_waited_for(&self, agent: &AgentName) -> bool {
        let until_ms = self.limits.get(agent);
        if until_ms.is_some_and(|until_ms| *until_ms > self.last_at_ms) {
            return true;
        }
        let mut runs = self.runs();
        runs.any(|(run, state)| match state {
            RunState::Waiting { .. } | RunState::Asking { free: false, .. } => {
                self.agent_of(&run) == Some(agent)
            }
            _ => false,
        })
    }

    /// Whether a run that is owed may start beside the others.
    pub(crate) fn may_start(&self, story: &StoryProgress, attempt: &Attempt, stage: Stage) -> bool {
        !self.is_kept_back(story, attempt, stage)
            && !self.is_baseline_under_way(story, attempt, stage)
            && self.has_place_for(story, attempt, stage)
    }

    /// Whether something about another story keeps a run from starting: its agent asks for a login, the
    /// project cannot be set up on the same commit, or what landed before it is not confirmed.
    pub(crate) fn is_kept_back(
        &self,
        story: &StoryProgress,
        attempt: &Attempt,
        stage: Stage,
    ) -> bool {
        if stage == Stage::Confirm {
            return !self.is_next_to_confirm(&story.spec.id);
        }
        let agent = attempt.agent(stage);
        let others = self
            .attempts()
            .filter(|(other, _)| other.spec.id != story.spec.id);
        let mut asking = others.flat_map(|(_, other)| {
            let lanes = other.lanes().iter();
            lanes.map(move |lane| (other, lane))
        });
        asking.any(|(other, lane)| match lane.run.state {
            RunState::Asking { free: false, .. } if lane.stage.is_check() => {
                stage == Stage::Baseline && lane.stage == stage && other.base == attempt.base
            }
            RunState::Asking { free: false, .. } => {
                agent.is_some() && other.agent(lane.stage) == agent
            }
            _ => false,
        })
    }

    /// One look at a commit is enough: the others find it measured.
    fn is_baseline_under_way(
        &self,
        story: &StoryProgress,
        attempt: &Attempt,
        stage: Stage,
    ) -> bool {
        let mut others = self.attempts().filter(|(other, other_attempt)| {
            other.spec.id != story.spec.id && other_attempt.base == attempt.base
        });
        stage == Stage::Baseline
            && others.any(|(_, other)| {
                let mut lanes = other.lanes().iter();
                lanes.any(|lane| {
                    lane.stage == stage && matches!(lane.run.state, RunState::Running { .. })
                })
            })
    }

    fn has_place_for(&self, story: &StoryProgress, attempt: &Attempt, stage: Stage) -> bool {
        let together = &self.spec.together;
        let running = self.running();
        let (taken, places) = if stage.is_check() {
            let checks = running.iter().filter(|run| run.stage.is_check()).count();
            (checks, Some(together.checks_at_once.max(1)))
        } else {
            let agent = attempt.agent(stage);
            let same = running
                .iter()
                .filter(|run| !run.stage.is_check() && self.agent_of(run) == agent);
            let places = agent.and_then(|agent| together.agents_at_once.get(agent));
            (same.count(), places.copied())
        };
        let has_place =
            places.is_none_or(|places| taken < usize::try_from(places).unwrap_or(usize::MAX));
        // Nobody works on what has landed.
        let working = running.iter().filter(|run| run.stage != Stage::Confirm);
        let mut others: Vec<&StoryId> = working.map(|run| &run.story).collect();
        others.retain(|other| **other != story.spec.id);
        others.dedup();
        // A story that waited or asked goes on when one of the others makes room for it.
        has_place && (stage == Stage::Confirm || others.len() < self.parallel())
    }

    /// Stories whose turn has not come, without those that a person wants set aside.
    pub(crate) fn pending(&self) -> impl Iterator<Item = &StoryProgress> {
        let is_wanted = |story: &&StoryProgress| !matches!(story.wish, Some(Wish::Skip { .. }));
        let stories = self.stories.iter();
        stories
            .filter(|story| story.status == StoryStatus::Pending)
            .filter(is_wanted)
    }
}

/// Whether both name a file, or one names a folder that the other's file is in.
fn shares_files(one: &StorySpec, other: &StorySpec) -> bool {
    let mut files = one.files.iter();
    files.any(|file| other.files.iter().any(|known| are_nested(file, known)))
}

/// Whether two paths are equal, or one is a folder above the other. A pattern stands for the folder
/// that it begins with.
fn are_nested(one: &str, other: &str) -> bool {
    let parts = |path: &str| -> Vec<String> {
        let parts = path
            .split('/')
            .filter(|part| !part.is_empty() && *part != ".");
        parts
            .take_while(|part| !part.contains(['*', '?', '{', '[']))
            .map(str::to_owned)
            .collect()
    };
    let (one, other) = (parts(one), parts(other));
    one.starts_with(&other) || other.starts_with(&one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_shared_where_one_contains_the_other() {
        for (one, other, expected) in [
            ("src/a.rs", "src/a.rs", true),
            ("src/a.rs", "./src//a.rs", true),
            ("src", "src/a.rs", true),
            ("src/**/*.rs", "src/a.rs", true),
            ("src/a.rs", "src/ab.rs", false),
            ("src/a", "src/ab/c", false),
            ("docs", "src", false),
        ] {
            assert_eq!(are_nested(one, other), expected, "{one} {other}");
            assert_eq!(are_nested(other, one), expected, "{other} {one}");
        }
    }
}
