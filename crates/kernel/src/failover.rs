//! Agents at their limits, the agents that take over from them, and the ends of waits.
//!
//! A limit belongs to an agent. Which run met it only says which agent that is.

use serde::{Deserialize, Serialize};

use crate::apply::{Moved, Refused};
use crate::attempt::Attempt;
use crate::event::RunKey;
use crate::flow::Stage;
use crate::ids::{AgentName, StoryId};
use crate::lane::{Lane, Run, RunState};
use crate::outcome::{FaultCause, RunOutcome};
use crate::state::{State, StoryProgress};

/// An agent that could take a waiting run over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandIn {
    /// The agent's name.
    pub agent: AgentName,
    /// When it is free, in milliseconds since 1970; 0 where it is not at a limit.
    pub free_at_ms: i64,
}

impl State {
    pub(crate) fn end_wait(&mut self, key: &RunKey) -> Moved {
        // A run that waited from the start was never tried, so its number is not used up.
        let try_number = self.attempt_mut(&key.story)?.next_try(key.stage);
        let run = self.run_mut(key, is_waiting)?;
        *run = Run {
            try_number,
            ..run.again()
        };
        // Whether its limit is really over, the agent itself will say.
        if let Some(agent) = self.agent_of(key).cloned() {
            self.limits.remove(&agent);
        }
        self.rejoin_queue(&key.story)
    }

    /// Counts how often a run's agent was at its limit in a row, this time included: its waits
    /// double whoever takes over meanwhile. An agent that did anything else begins anew.
    pub(crate) fn note_limit(&mut self, key: &RunKey, outcome: &RunOutcome) -> Option<u32> {
        let agent = self.agent_of(key).cloned()?;
        if self.began_before_limit(key, &agent) {
            // It says nothing about what the agent can do since then.
            return self.limits_in_a_row.get(&agent).copied();
        }
        match outcome {
            RunOutcome::Infrastructure {
                elsewhere: true, ..
            } if self.spec.failover => {
                let count = self.limits_in_a_row.entry(agent).or_default();
                *count += 1;
                Some(*count)
            }
            RunOutcome::Infrastructure { .. } | RunOutcome::Interrupted { .. } => None,
            _ => {
                self.limits_in_a_row.remove(&agent);
                None
            }
        }
    }

    /// Whether a run began before its agent was last found at its limit, by another story's run. Loops
    /// with one story at a time never looked at that, and their records must lead where they led.
    fn began_before_limit(&self, key: &RunKey, agent: &AgentName) -> bool {
        let limited_at = self.limited_at_ms.get(agent).copied();
        let mut runs = self.runs().filter(|(run, _)| run == key);
        let since = runs.find_map(|(_, at)| match at {
            RunState::Running { since_ms } => Some(*since_ms),
            _ => None,
        });
        self.spec.together.parallel > 1 && since < limited_at
    }

    /// Remembers that a run's agent is at its limit: whatever comes next waits for it, or goes to
    /// another one. Without the policy nobody remembers that, so nobody takes over.
    pub(crate) fn take_limit(&mut self, key: &RunKey, until_ms: i64) {
        if !self.spec.failover {
            return;
        }
        if let Some(agent) = self.agent_of(key).cloned() {
            self.limited_at_ms.insert(agent.clone(), self.last_at_ms);
            self.limits.insert(agent, until_ms);
        }
    }

    /// Who could take a waiting run over, best first: the role's own agent, then the ladder from
    /// where it stands, wrapping around, without agents that have another part in the attempt.
    pub(crate) fn stand_ins_for(&self, story: &StoryId, stage: Stage) -> Vec<StandIn> {
        let Some((story, attempt)) = self.story(story).and_then(with_attempt) else {
            return Vec::new();
        };
        let own = attempt.cast.agent(attempt.role(stage));
        let (Some(own), Some(present)) = (own, attempt.agent(stage)) else {
            return Vec::new();
        };
        if self.paused || !self.limits.contains_key(present) {
            // Where the wait is not the agent's own trouble, another one would wait too.
            return Vec::new();
        }
        let ladder = &self.spec.ladder;
        let here = ladder.iter().position(|agent| agent == present);
        let (before, behind) = ladder.split_at(here.map_or(0, |at| at + 1));
        let taken = self.other_roles(story, attempt, stage);
        let rungs = behind.iter().chain(before);
        let mut others: Vec<StandIn> = Vec::new();
        for agent in [own]
            .into_iter()
            .chain(rungs.filter(|agent| !taken.contains(agent)))
        {
            let is_known = others.iter().any(|other| other.agent == *agent);
            if agent != present && !is_known {
                others.push(StandIn {
                    agent: agent.clone(),
                    free_at_ms: self.limits.get(agent).copied().unwrap_or_default(),
                });
            }
        }
        others
    }

    /// Agents that have another part in the attempt, and so cannot have this one too: their work
    /// would check itself. A judge that nobody chose makes room for the implementor.
    fn other_roles<'a>(
        &'a self,
        story: &StoryProgress,
        attempt: &'a Attempt,
        stage: Stage,
    ) -> Vec<&'a AgentName> {
        const PARTS: [Stage; 5] = [
            Stage::Implement,
            Stage::WriteTests,
            Stage::Review,
            Stage::Prove,
            Stage::Judge,
        ];
        let is_chosen = self.spec.judge_is_chosen || story.spec.assigned.judge.is_some();
        let mut taken = Vec::new();
        for part in PARTS {
            let is_other = attempt.flow.has(part) && attempt.role(part) != attempt.role(stage);
            let makes_room = part == Stage::Judge && stage == Stage::Implement && !is_chosen;
            if is_other && !makes_room {
                taken.extend(attempt.agent(part));
            }
        }
        taken
    }

    pub(crate) fn switch_agent(&mut self, key: &RunKey, from: &AgentName, to: &AgentName) -> Moved {
        if self.agent_of(key) != Some(from) {
            return Err(format!("the run is not `{from}`'s").into());
        }
        let others = self.stand_ins_for(&key.story, key.stage);
        if !others.iter().any(|other| other.agent == *to) {
            return Err(format!("`{to}` cannot take over from `{from}`").into());
        }
        let try_number = self.attempt_mut(&key.story)?.next_try(key.stage);
        let run = self.run_mut(key, is_waiting)?;
        // Another agent knows nothing of the session, and its own faults are its own.
        *run = Run {
            try_number,
            faults: 0,
            resume: None,
            ..run.again()
        };
        let spec = self.story_mut(&key.story)?.spec.clone();
        let judge = self.spec.judge_for(&spec, to);
        let attempt = self.attempt_mut(&key.story)?;
        attempt.stand_ins.insert(key.stage, to.clone());
        if key.stage == Stage::Implement {
            attempt.cast.judge = judge;
        }
        self.rejoin_queue(&key.story)
    }

    /// A stage's next run. While its agent is at its limit it waits from the start.
    pub(crate) fn lane(&mut self, id: &StoryId, stage: Stage) -> Result<Lane, Refused> {
        let now_ms = self.last_at_ms;
        let attempt = self.attempt_mut(id)?;
        attempt.stand_ins.remove(&stage);
        let mut run = Run::numbered(attempt.next_try(stage));
        if let Some(agent) = attempt.agent(stage).cloned()
            && let Some(until_ms) = self.limits.get(&agent).copied()
            && until_ms > now_ms
        {
            let why = format!("{agent} is at its limit");
            run.wait(now_ms, until_ms, FaultCause::UsageLimit, &why);
        }
        Ok(Lane { stage, run })
    }
}

fn is_waiting(state: &RunState) -> bool {
    matches!(state, RunState::Waiting { .. })
}

fn with_attempt(story: &StoryProgress) -> Option<(&StoryProgress, &Attempt)> {
    Some((story, story.attempt()?))
}
