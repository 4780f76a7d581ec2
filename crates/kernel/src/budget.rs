//! One falling balance of time, tokens and money for the whole loop.

use crate::attempt::{Attempt, Step};
use crate::event::RunKey;
use crate::flow::{Flow, FlowStep, Stage};
use crate::lane::{Lane, RunState};
use crate::outcome::{Balance, RunOutcome, RunUsage};
use crate::state::{State, StoryProgress};

/// What runs that reported no usage are charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Assumed {
    tokens: u64,
    micro_usd: u64,
}

impl State {
    /// What is left of the budget, if there is one.
    pub fn left_ms(&self) -> Option<i64> {
        self.spec
            .budget
            .map(|budget| budget.total_ms - self.spent_ms)
    }

    /// Whether a run of this stage fits into what is left: its cap is reserved before it starts,
    /// beside those that run.
    pub(crate) fn can_afford(&self, stage: Stage) -> bool {
        let is_asked_for = stage == Stage::Confirm && self.guard.confirms_anyway;
        let has_time = is_asked_for || self.has_time_for(stage);
        has_time && (stage.is_check() || self.has_means_for_a_run())
    }

    /// Whether one more agent fits into what is left of tokens and money, beside those that run.
    fn has_means_for_a_run(&self) -> bool {
        let running = self.running();
        let agents = running.iter().filter(|run| !run.stage.is_check()).count();
        self.has_means_for(agents as u64 + 1)
    }

    /// Whether so many runs of agents fit into what is left of tokens and money.
    fn has_means_for(&self, agents: u64) -> bool {
        let Some(allowance) = self.spec.allowance else {
            return true;
        };
        let fits = |total: Option<u64>, spent: u64, cap: Option<u64>, most: u64| {
            let reserved = agents.saturating_mul(cap.unwrap_or(most));
            // Where no run is known yet, at least something must be left.
            total.is_none_or(|total| spent < total && spent.saturating_add(reserved) <= total)
        };
        let (tokens, micro_usd) = self.charged();
        fits(
            allowance.tokens,
            tokens,
            allowance.run_tokens,
            self.spent.most_tokens,
        ) && fits(
            allowance.micro_usd,
            micro_usd,
            allowance.run_micro_usd,
            self.spent.most_micro_usd,
        )
    }

    /// What a run of this stage that has started may use: what is left beside the reservations of the
    /// other agents that run.
    pub(crate) fn balance(&self, stage: Stage) -> Option<Balance> {
        let allowance = self.spec.allowance.filter(|_| !stage.is_check())?;
        let running = self.running();
        let agents = running.iter().filter(|run| !run.stage.is_check()).count();
        let others = (agents as u64).saturating_sub(1);
        let left = |total: Option<u64>, spent: u64, cap: Option<u64>, most: u64| {
            let reserved = others.saturating_mul(cap.unwrap_or(most));
            total.map(|total| total.saturating_sub(spent).saturating_sub(reserved))
        };
        let (tokens, micro_usd) = self.charged();
        let balance = Balance {
            tokens: left(
                allowance.tokens,
                tokens,
                allowance.run_tokens,
                self.spent.most_tokens,
            ),
            micro_usd: left(
                allowance.micro_usd,
                micro_usd,
                allowance.run_micro_usd,
                self.spent.most_micro_usd,
            ),
        };
        (balance != Balance::default()).then_some(balance)
    }

    /// Tokens and millionths of a dollar that count against the budget.
    fn charged(&self) -> (u64, u64) {
        let (spent, assumed) = (&self.spent, &self.assumed);
        (
            spent.tokens.saturating_add(assumed.tokens),
            spent.micro_usd.saturating_add(assumed.micro_usd),
        )
    }

    /// Unknown cost is not zero: a run that worked and reported no usage is charged what was
    /// reserved for it. One that its session's next run will tell of is not.
    pub(crate) fn assume(&mut self, run: &RunKey, outcome: &RunOutcome, usage: Option<&RunUsage>) {
        let Some(allowance) = self.spec.allowance.filter(|_| !run.stage.is_check()) else {
            return;
        };
        let is_resumed = usage.is_some_and(|usage| usage.resumable);
        let is_stopped_for_wish = *outcome == RunOutcome::Stopped
            && self
                .story(&run.story)
                .is_some_and(|story| story.wish.is_some() || story.is_recalled);
        let waits = matches!(
            outcome,
            RunOutcome::Infrastructure { .. } | RunOutcome::NeedsHuman { .. } | RunOutcome::Stopped
        ) && !is_stopped_for_wish;
        if is_resumed || waits {
            return;
        }
        if usage.and_then(RunUsage::tokens).is_none() {
            let reserved = allowance.run_tokens.unwrap_or(self.spent.most_tokens);
            self.assumed.tokens = self.assumed.tokens.saturating_add(reserved);
        }
        if usage.and_then(|usage| usage.cost_micro_usd).is_none() {
            let reserved = allowance.run_micro_usd.unwrap_or(self.spent.most_micro_usd);
            self.assumed.micro_usd = self.assumed.micro_usd.saturating_add(reserved);
        }
    }

    /// How much of the budget is used, in percent: of time, tokens or money, whatever is used most.
    pub fn budget_used_percent(&self) -> Option<u64> {
        let share = |spent: u64, total: u64| spent.saturating_mul(100).checked_div(total);
        let time = self.spec.budget.and_then(|budget| {
            share(
                u64::try_from(self.spent_ms).ok()?,
                u64::try_from(budget.total_ms).ok()?,
            )
        });
        let allowance = self.spec.allowance.unwrap_or_default();
        let (tokens, micro_usd) = self.charged();
        let tokens = allowance.tokens.and_then(|total| share(tokens, total));
        let money = allowance
            .micro_usd
            .and_then(|total| share(micro_usd, total));
        [time, tokens, money].into_iter().flatten().max()
    }

    /// Whether the whole way of another story fits beside what all that are under way may still use.
    pub(crate) fn has_budget_beside(&self, story: &StoryProgress) -> bool {
        let mut ways: Vec<Stage> = whole_way(self.spec.flow_of(&story.spec)).collect();
        for (_, attempt) in self.attempts() {
            ways.extend(way_left(attempt));
        }
        let has_time = match self.spec.budget.zip(self.left_ms()) {
            Some((budget, left)) => {
                let caps = ways.iter().map(|stage| budget.cap_ms(*stage));
                caps.fold(0_i64, i64::saturating_add) <= left
            }
            None => true,
        };
        let agents = ways.iter().filter(|stage| !stage.is_check()).count() as u64;
        has_time && self.has_means_for(agents)
    }

    /// Whether a run leaves what stories that are nearer to landing may still use. One that cannot afford
    /// its own next run will not land, and nothing is kept for it.
    pub(crate) fn leaves_enough_for<'a>(
        &self,
        nearer: impl Iterator<Item = &'a Attempt>,
        stage: Stage,
    ) -> bool {
        let goes_on = |attempt: &&Attempt| {
            let mut owed = attempt.lanes().iter();
            !owed.any(|lane| lane.run.state == RunState::Owed && !self.can_afford(lane.stage))
        };
        let ahead: Vec<Stage> = nearer.filter(goes_on).flat_map(way_ahead).collect();
        let running = self.running().into_iter().map(|run| run.stage);
        let all: Vec<Stage> = running.chain(ahead).chain([stage]).collect();
        let has_time = match self.spec.budget.zip(self.left_ms()) {
            Some((budget, left)) => {
                let caps = all.iter().map(|stage| budget.cap_ms(*stage));
                caps.fold(0_i64, i64::saturating_add) <= left
            }
            None => true,
        };
        let agents = all.iter().filter(|stage| !stage.is_check()).count() as u64;
        has_time && (stage.is_check() || self.has_means_for(agents))
    }

    fn has_time_for(&self, stage: Stage) -> bool {
        let Some((budget, left)) = self.spec.budget.zip(self.left_ms()) else {
            return true;
        };
        let reserved: i64 = self
            .running()
            .iter()
            .map(|run| budget.cap_ms(run.stage))
            .sum();
        budget.cap_ms(stage).saturating_add(reserved) <= left
    }
}

/// The stages of a flow, and those of its landing.
fn whole_way(flow: Flow) -> impl Iterator<Item = Stage> {
    stages_of(flow.steps()).chain(landing_way(flow))
}

/// What a landing on top of others needs: the checks, and the judge once more where no tests of
/// somebody else's prove the story.
fn landing_way(flow: Flow) -> impl Iterator<Item = Stage> {
    let is_carried = flow.has(Stage::WriteTests) || !flow.has(Stage::Judge);
    let judge = (!is_carried).then_some(Stage::Judge);
    [Stage::Check].into_iter().chain(judge)
}

/// The runs that an attempt may still need up to its landing and that have not begun.
fn way_ahead(attempt: &Attempt) -> Vec<Stage> {
    let mut left = way_left(attempt);
    for lane in attempt.lanes() {
        let is_running = matches!(lane.run.state, RunState::Running { .. });
        if is_running && let Some(at) = left.iter().position(|stage| *stage == lane.stage) {
            left.remove(at);
        }
    }
    left
}

/// The runs that an attempt may still need up to its landing, those under way included.
fn way_left(attempt: &Attempt) -> Vec<Stage> {
    let is_open = |lane: &&Lane| lane.is_open();
    let open = attempt.lanes().iter().filter(is_open);
    let mut left: Vec<Stage> = open.map(|lane| lane.stage).collect();
    let after = match &attempt.step {
        Step::Runs { at, .. } | Step::MakeTests { at, .. } | Step::MakeCandidate { at, .. } => {
            at + 1
        }
        Step::MoveTests { .. } | Step::Rejected => 0,
        Step::Arbitrate { .. }
        | Step::Approve { .. }
        | Step::Queued { .. }
        | Step::Confirm { .. }
        | Step::Retract { .. }
        | Step::Announce { .. }
        | Step::GivenUp { .. } => attempt.steps().len(),
    };
    left.extend(stages_of(attempt.steps().get(after..).unwrap_or_default()));
    let is_done = matches!(attempt.step, Step::Announce { .. } | Step::GivenUp { .. });
    if !is_done && !attempt.has_landed() {
        left.extend(landing_way(attempt.flow));
    }
    left
}

fn stages_of(steps: &[FlowStep]) -> impl Iterator<Item = Stage> {
    steps.iter().flat_map(|step| match step {
        FlowStep::Runs(stages) => stages.iter().copied(),
        FlowStep::Tests | FlowStep::Candidate => [].iter().copied(),
    })
}
