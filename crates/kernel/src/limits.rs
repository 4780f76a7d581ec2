//! Agents at their limits and those who stand in for them; sessions that a next try can go on with.

use crate::apply::Moved;
use crate::event::{RunKey, RunUsage};
use crate::flow::Stage;
use crate::state::{Attempt, GoesOn, Lane, Run, RunState, State};

impl State {
    pub(crate) fn end_wait(&mut self, key: &RunKey) -> Moved {
        // What waited from the start was never tried.
        let try_number = self.attempt_mut(&key.story, None)?.next_try(key.stage);
        let run = self.run_mut(key, |state| matches!(state, RunState::Waiting { .. }))?;
        *run = Run {
            try_number,
            ..run.again()
        };
        // Whether its limit is really over, the agent itself will say.
        if let Some(agent) = self.agent_of(key.stage).map(str::to_owned) {
            self.limits.remove(&agent);
        }
        Ok(())
    }

    /// An agent is at its limit: whatever comes next waits for it, or goes to another one. Without
    /// the policy nobody keeps that in mind, so nobody stands in.
    pub(crate) fn take_limit(&mut self, stage: Stage, until_ms: i64) {
        let agent = self
            .agent_of(stage)
            .map(str::to_owned)
            .filter(|_| self.spec.failover);
        self.limits.extend(agent.map(|agent| (agent, until_ms)));
    }

    /// How often an agent was at its limit in a row, this time included: its waits double whoever
    /// stands in meanwhile.
    pub(crate) fn count_limit(&mut self, stage: Stage) -> Option<u32> {
        let agent = self
            .agent_of(stage)
            .map(str::to_owned)
            .filter(|_| self.spec.failover)?;
        let count = self.limits_in_a_row.entry(agent).or_default();
        *count += 1;
        Some(*count)
    }

    /// An agent that did anything else than to reach its limit begins anew.
    pub(crate) fn forget_limits(&mut self, stage: Stage) {
        if let Some(agent) = self.agent_of(stage).map(str::to_owned) {
            self.limits_in_a_row.remove(&agent);
        }
    }

    /// Who does a stage of the active attempt.
    pub fn agent_of(&self, stage: Stage) -> Option<&str> {
        self.active()?.1.agent(stage)
    }

    /// Who could take a waiting run over, the best first, and since when each is free: the role's
    /// own agent, then the ladder from where it stands, round and round, without those who have
    /// another part in the attempt.
    pub(crate) fn stand_ins_for(&self, stage: Stage) -> Vec<(String, i64)> {
        let Some((_, attempt)) = self.active().filter(|_| !self.paused) else {
            return Vec::new();
        };
        let (Some(own), Some(present)) = (
            attempt.cast.agent(attempt.flow.row(stage).role),
            attempt.agent(stage),
        ) else {
            return Vec::new();
        };
        if !self.limits.contains_key(present) {
            // What keeps it waiting is not the agent's own trouble, and would keep another one too.
            return Vec::new();
        }
        let ladder = &self.spec.ladder;
        let after = ladder
            .iter()
            .position(|agent| agent == present)
            .map_or(0, |at| at + 1);
        let (before, behind) = ladder.split_at(after);
        let taken = self.other_roles(attempt, stage);
        let rungs = behind
            .iter()
            .chain(before)
            .map(String::as_str)
            .filter(|agent| !taken.contains(agent));
        let mut others: Vec<(String, i64)> = Vec::new();
        for agent in [own].into_iter().chain(rungs) {
            if agent != present && !others.iter().any(|(known, _)| known == agent) {
                others.push((
                    agent.to_owned(),
                    self.limits.get(agent).copied().unwrap_or_default(),
                ));
            }
        }
        others
    }

    /// Who has another part in the attempt, and so cannot have this one too: its work would check
    /// itself. A judge that nobody chose makes room for whoever implements.
    fn other_roles<'a>(&'a self, attempt: &'a Attempt, stage: Stage) -> Vec<&'a str> {
        let role = attempt.flow.row(stage).role;
        let chosen = self.spec.judge_is_chosen
            || self
                .active()
                .is_some_and(|(story, _)| story.spec.assigned.judge.is_some());
        let parts = [
            Stage::Implement,
            Stage::WriteTests,
            Stage::Review,
            Stage::Prove,
            Stage::Judge,
        ];
        let has = |part: &Stage| attempt.flow.has(*part) && attempt.flow.row(*part).role != role;
        let makes_room =
            |part: &Stage| *part == Stage::Judge && stage == Stage::Implement && !chosen;
        parts
            .iter()
            .filter(|part| has(part) && !makes_room(part))
            .filter_map(|part| attempt.agent(*part))
            .collect()
    }

    pub(crate) fn switch_agent(&mut self, key: &RunKey, from: &str, to: &str) -> Moved {
        if self.agent_of(key.stage) != Some(from) {
            return Err(format!("the run is not `{from}`'s"));
        }
        if !self
            .stand_ins_for(key.stage)
            .iter()
            .any(|(agent, _)| agent == to)
        {
            return Err(format!("`{to}` cannot stand in for `{from}`"));
        }
        let try_number = self.attempt_mut(&key.story, None)?.next_try(key.stage);
        let run = self.run_mut(key, |state| matches!(state, RunState::Waiting { .. }))?;
        // Another agent knows nothing of the session, and its own faults are its own.
        *run = Run {
            try_number,
            faults: 0,
            goes_on: None,
            ..run.again()
        };
        let index = self.index_of(&key.story)?;
        let judge = self.spec.judge_for(&self.stories[index].spec, to);
        let attempt = self.attempt_mut(&key.story, None)?;
        attempt.stand_ins.insert(key.stage, to.to_owned());
        if key.stage == Stage::Implement {
            attempt.cast.judge = judge;
        }
        Ok(())
    }

    /// A stage's next run. While its agent is at its limit it waits from the start.
    pub(crate) fn lane(&mut self, id: &str, stage: Stage) -> Result<Lane, String> {
        let now_ms = self.last_at_ms;
        let attempt = self.attempt_mut(id, None)?;
        attempt.stand_ins.remove(&stage);
        let mut run = Run::numbered(attempt.next_try(stage));
        let agent = attempt.agent(stage).map(str::to_owned);
        let limit = agent.and_then(|agent| Some((self.limits.get(&agent).copied()?, agent)));
        if let Some((until_ms, agent)) = limit.filter(|(until_ms, _)| *until_ms > now_ms) {
            run.wait(until_ms, &format!("{agent} is at its limit"));
        }
        Ok(Lane { stage, run })
    }
}

impl Run {
    /// What a next try could go on with. Every other end leaves nothing to go on with.
    pub(crate) fn take_session(&mut self, usage: Option<&RunUsage>) {
        let before = self.goes_on.take();
        let Some(usage) = usage.filter(|usage| usage.goes_on) else {
            return;
        };
        let Some(session) = usage.session.clone() else {
            return;
        };
        let before = before.filter(|before| before.session == session);
        let checkout_try = before
            .as_ref()
            .map_or(self.try_number, |before| before.checkout_try);
        let used = before
            .map(|before| before.used)
            .unwrap_or_default()
            .plus(usage);
        self.goes_on = Some(GoesOn {
            session,
            checkout_try,
            used,
        });
    }
}
