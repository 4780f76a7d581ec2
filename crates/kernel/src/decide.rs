//! Says what is owed now, as complete orders. Nothing is remembered between two calls: whoever asks
//! again gets everything that has no outcome yet, so no message's loss can stall a loop.

use std::sync::Arc;

use crate::attempt::{Attempt, Author, Step};
use crate::commit::Commit;
use crate::event::{EndReason, RunKey};
use crate::facts::Facts;
use crate::flow::{Base, Stage, Writes};
use crate::ids::AgentName;
use crate::lane::{Lane, RunState};
use crate::order::{
    Credits, Deed, MakeCandidateOrder, MakeTestsOrder, Order, RunOrder, RunPlace, StopOrder, Told,
    WaitOrder,
};
use crate::planning::{plan, plan_attempt, wished};
use crate::restacked::Restackable;
use crate::starting::Stance;
use crate::state::{Rewrite, State, StoryProgress, StoryStatus};
use crate::wishes::{Source, Wish};

/// Everything that is owed now. The engine carries out what has no outcome yet.
pub fn decide(state: &State) -> Vec<Order> {
    let order = |deed| Order {
        loop_id: state.spec.loop_id.clone(),
        project: state.spec.project.clone(),
        settings: Arc::clone(&state.spec.settings),
        deed,
    };
    deeds(state).into_iter().map(order).collect()
}

fn deeds(state: &State) -> Vec<Deed> {
    // Accepted work is owed to the operator whatever else happens, and after the end too.
    let publish = state.publish_order().map(Deed::Publish);
    let mut owed = if state.ended.is_some() {
        Vec::new()
    } else {
        deeds_of_work(state)
    };
    owed.extend(publish);
    owed
}

fn deeds_of_work(state: &State) -> Vec<Deed> {
    if let Some(why) = &state.cancel {
        return cancel(state, why);
    }
    if !state.prepared {
        let base = state.spec.base.clone();
        return vec![Deed::Prepare { base }];
    }
    let mut active: Vec<Active<'_>> = state.active().collect();
    // What is nearest to landing gets slots and budget first.
    active.sort_by_key(Active::distance);
    let mut owed = wanted_skips(state);
    if active.is_empty() && !owed.is_empty() {
        return owed;
    }
    // What a person wants comes before the next attempt: nothing stands on the head now.
    let works =
        |one: &&Active<'_>| !one.attempt.asks() && !state.waits_for_confirmation(one.attempt);
    let mut working = active.iter().filter(works);
    let is_between = !active.is_empty() && working.all(Active::is_between_attempts);
    let owes_retraction = state.owes_retraction();
    if is_between
        && !state.paused
        && !owes_retraction
        && let Some(story) = wished(state)
    {
        owed.push(Deed::Plan(plan_attempt(state, story)));
        return owed;
    }
    owed.extend(active.iter().flat_map(Active::deeds));
    if !state.paused && !owes_retraction {
        owed.extend(plan(state));
    }
    if owes_retraction {
        owed.retain(|deed| !begins_on_head(deed));
    }
    if owed.is_empty() && is_out_of_budget(state) {
        owed.push(Deed::End {
            reason: EndReason::BudgetExhausted,
        });
    }
    owed
}

/// Whether a deed would stand on the head of the branch, which is about to go back.
fn begins_on_head(deed: &Deed) -> bool {
    match deed {
        Deed::Plan(_) | Deed::Integrate { .. } => true,
        Deed::Restack(order) => order.what == Restackable::Candidate,
        _ => false,
    }
}

/// Whether a loop asks a person and nothing else of it goes on.
pub fn needs_person(state: &State) -> bool {
    let is_idle = |order: &Order| matches!(order.deed, Deed::Publish(_));
    !state.questions().is_empty() && decide(state).iter().all(is_idle)
}

/// Whether runs are owed, and the budget has no room for any of them.
fn is_out_of_budget(state: &State) -> bool {
    let is_short = |one: Active<'_>| {
        let mut lanes = one.attempt.lanes().iter();
        lanes.any(|lane| lane.run.state == RunState::Owed && !one.can_afford(lane.stage))
    };
    state.active().any(is_short)
        && !state.paused
        && state.questions().is_empty()
        && state.running().is_empty()
}

/// A story that is being worked on.
pub(crate) struct Active<'a> {
    pub(crate) state: &'a State,
    pub(crate) story: &'a StoryProgress,
    pub(crate) attempt: &'a Attempt,
    story_number: usize,
}

impl State {
    fn active(&self) -> impl Iterator<Item = Active<'_>> {
        self.stories.iter().enumerate().filter_map(|(at, story)| {
            Some(Active {
                state: self,
                story,
                attempt: story.attempt()?,
                story_number: at + 1,
            })
        })
    }
}

/// A cancelled loop first ends its runs and shows what has landed, then ends itself.
fn cancel(state: &State, why: &str) -> Vec<Deed> {
    let last_deeds = |active: Active<'_>| match active.attempt.step {
        Step::Announce { .. } | Step::Retract { .. } => active.deeds(),
        _ => active.stops(),
    };
    let before_end: Vec<Deed> = state.active().flat_map(last_deeds).collect();
    if !before_end.is_empty() {
        return before_end;
    }
    vec![Deed::End {
        reason: EndReason::Cancelled {
            why: why.to_owned(),
        },
    }]
}

/// Stories that have not begun and that a person wants set aside.
fn wanted_skips(state: &State) -> Vec<Deed> {
    let pending = state.stories.iter();
    let pending = pending.filter(|story| story.status == StoryStatus::Pending);
    let skip = |story: &StoryProgress| match &story.wish {
        Some(Wish::Skip { reason }) => Some(Deed::Skip {
            story: story.spec.id.clone(),
            attempts: story.n_worked(),
            reason: reason.clone(),
            taught: taught(story, None),
            prd_path: state.spec.prd_path.clone(),
        }),
        _ => None,
    };
    pending.filter_map(skip).collect()
}

impl Active<'_> {
    /// How far it is from landing: the smaller the nearer.
    fn distance(&self) -> (u64, usize) {
        if self.attempt.is_unconfirmed() {
            // A confirmation has time, until there are too many of them.
            let is_urgent = self.state.is_confirming_urgent() || self.state.owes_retraction();
            let last = (u64::MAX, usize::MAX);
            return if is_urgent { (0, 0) } else { last };
        }
        let ticket = self.story.ticket.unwrap_or(u64::MAX);
        let steps = self.attempt.steps().len();
        let left = match &self.attempt.step {
            Step::Runs { at, .. } | Step::MakeTests { at, .. } | Step::MakeCandidate { at, .. } => {
                steps.saturating_sub(*at)
            }
            Step::Approve { .. }
            | Step::Queued { .. }
            | Step::Confirm { .. }
            | Step::Retract { .. }
            | Step::Announce { .. } => 0,
            Step::Arbitrate { .. } => 1,
            Step::MoveTests { .. } | Step::Rejected | Step::GivenUp { .. } => steps,
        };
        (ticket, left)
    }

    fn is_between_attempts(&self) -> bool {
        let is_agents = self.attempt.source == Source::Agents && !self.attempt.is_recheck;
        is_agents && self.attempt.step == Step::Rejected
    }

    fn deeds(&self) -> Vec<Deed> {
        let attempt = self.attempt;
        if self.story.wish.is_some() && !matches!(attempt.step, Step::GivenUp { .. }) {
            // A person wants something else of the story, once none of its runs is under way.
            return self.stops();
        }
        if self.story.is_recalled {
            // What it builds on was taken back.
            return self.stops();
        }
        if attempt.hindered.is_some() {
            // A person has the next word.
            return Vec::new();
        }
        let story = self.story.spec.id.clone();
        match &attempt.step {
            Step::Runs { .. } | Step::Arbitrate { .. } | Step::Confirm { .. } => self.runs(),
            Step::Retract { candidate, why } => vec![self.retract(candidate, why)],
            Step::MakeTests { review, .. } => vec![self.make_tests(review.clone())],
            Step::MakeCandidate { author, .. } => vec![self.make_candidate(author)],
            // A person has the next word.
            Step::Approve { .. } => Vec::new(),
            Step::MoveTests { .. } => self.move_tests(),
            Step::Queued { .. } if !self.state.is_front(&story) => Vec::new(),
            Step::Queued { candidate } if attempt.base != self.state.head => {
                vec![self.restack(candidate)]
            }
            Step::Queued { candidate } => vec![Deed::Integrate {
                story,
                attempt: attempt.number,
                branch: self.state.spec.own_branch(),
                from: self.state.head.clone(),
                base: self.state.spec.base.clone(),
                to: candidate.commit.clone(),
            }],
            // The operator's branch follows in the order of the landings.
            Step::Announce { .. }
                if !attempt.is_recheck && !self.state.is_next_to_announce(&story) =>
            {
                Vec::new()
            }
            Step::Announce { commit, .. } => vec![Deed::Announce {
                story,
                title: self.story.spec.title.clone(),
                attempts: self.story.made_in,
                branch: self.state.spec.branch.clone(),
                published: self.state.published.clone(),
                to: self.shown(commit).clone(),
                prd_path: self.state.spec.prd_path.clone(),
                taught: taught(self.story, None),
            }],
            Step::Rejected => self.after_rejection(),
            Step::GivenUp { why } => vec![self.skip(why.clone())],
        }
    }

    /// The commit that the operator's branch shows with this story. It never goes back.
    fn shown<'a>(&'a self, commit: &'a Commit) -> &'a Commit {
        let is_older = self.attempt.is_recheck && self.state.is_older_than_published(commit);
        let published = self.state.published.as_ref().filter(|_| is_older);
        published.unwrap_or(commit)
    }

    fn skip(&self, reason: String) -> Deed {
        Deed::Skip {
            story: self.story.spec.id.clone(),
            attempts: self.story.n_worked(),
            taught: taught(self.story, Some(&reason)),
            reason,
            prd_path: self.state.spec.prd_path.clone(),
        }
    }

    /// Another attempt while there are any left, with what the last one taught; then the skip.
    fn after_rejection(&self) -> Vec<Deed> {
        let (state, story) = (self.state, self.story);
        let has_attempts = story.attempts < story.attempts_max(&state.spec);
        // A person's work is theirs to mend.
        let is_agents = self.attempt.source == Source::Agents && !self.attempt.is_recheck;
        if has_attempts && is_agents {
            // Whoever has a ticket begins when it is its turn: nothing else lands meanwhile.
            let is_its_turn = story.ticket.is_some() && state.is_front(&story.spec.id);
            // The head is about to move: what a person accepted or made is on its way to it.
            let head_moves = story.ticket.is_none() && state.is_steered_work_under_way();
            if state.paused || head_moves || (story.ticket.is_some() && !is_its_turn) {
                return Vec::new();
            }
            return vec![Deed::Plan(plan_attempt(state, story))];
        }
        vec![self.skip(reason_to_skip(story))]
    }

    fn runs(&self) -> Vec<Deed> {
        let lanes = self.attempt.lanes().iter();
        lanes.filter_map(|lane| self.run(lane)).collect()
    }

    fn run(&self, lane: &Lane) -> Option<Deed> {
        let state = self.state;
        let run = self.key(lane.stage, lane.run.try_number);
        match &lane.run.state {
            RunState::Running { .. } => Some(Deed::Run(Box::new(self.run_order(lane)))),
            RunState::Owed if state.paused => None,
            RunState::Owed if !state.may_start(self.story, self.attempt, lane.stage) => None,
            RunState::Owed if self.can_afford(lane.stage) => Some(Deed::StartRun { run }),
            RunState::Waiting {
                since_ms, until_ms, ..
            } => Some(Deed::Wait(WaitOrder {
                agent: self.attempt.agent(lane.stage).cloned(),
                others: state.stand_ins_for(&run.story, lane.stage),
                since_ms: *since_ms,
                until_ms: *until_ms,
                loop_until_ms: state.waits_until_ms(),
                run,
            })),
            // What another run has reserved and does not use may still be enough for one that is owed.
            RunState::Owed | RunState::Asking { .. } | RunState::Ended => None,
        }
    }

    /// Whether a run fits into the budget and leaves enough for the stories that are nearer to landing.
    /// Whoever waits or asks holds up nobody, so nothing is kept for those.
    fn can_afford(&self, stage: Stage) -> bool {
        let confirms = |one: &Active<'_>| matches!(one.attempt.step, Step::Confirm { .. });
        if confirms(self) {
            return self.state.can_afford(stage);
        }
        let place = |one: &Active<'_>| (one.distance(), one.story_number);
        let works = |one: &Active<'_>| one.state.stance(one.story, one.attempt) == Stance::Works;
        let all = self.state.active();
        // What is on the branch has to be confirmed, or it is never shown.
        let nearer = all.filter(|one| confirms(one) || (place(one) < place(self) && works(one)));
        let nearer = nearer.map(|one| one.attempt);
        self.state.can_afford(stage) && self.state.leaves_enough_for(nearer, stage)
    }

    fn key(&self, stage: Stage, try_number: u32) -> RunKey {
        RunKey {
            story: self.story.spec.id.clone(),
            attempt: self.attempt.number,
            stage,
            try_number,
        }
    }

    /// The last started try of a stage and its files.
    fn place(&self, stage: Stage) -> RunPlace {
        let last = self.attempt.tries.get(&stage);
        let number = last.map_or(1, |last| last.number);
        RunPlace {
            run: self.key(stage, number),
            story_number: self.story_number,
            checkout_try: last.map_or(number, |last| last.checkout_try),
        }
    }

    fn stops(&self) -> Vec<Deed> {
        let mut stops = Vec::new();
        for lane in self.attempt.lanes() {
            if matches!(lane.run.state, RunState::Running { .. }) {
                stops.push(Deed::StopRun(Box::new(StopOrder {
                    place: self.place(lane.stage),
                    row: self.attempt.flow.row(lane.stage),
                    agent: self.attempt.agent(lane.stage).cloned(),
                    base: self.attempt.base.clone(),
                    planned_at_ms: self.attempt.planned_at_ms,
                })));
            }
        }
        stops
    }

    fn run_order(&self, lane: &Lane) -> RunOrder {
        let (attempt, story) = (self.attempt, self.story);
        let row = attempt.flow.row(lane.stage);
        let last = attempt.tries.get(&lane.stage);
        RunOrder {
            place: self.place(lane.stage),
            row,
            flow: attempt.flow,
            is_recheck: attempt.is_recheck,
            agent: attempt.agent(lane.stage).cloned(),
            role_agent: self.state.spec.agent_of_role(row.role).cloned(),
            base: attempt.base.clone(),
            checkout: self.checkout(lane.stage).clone(),
            candidate: attempt
                .candidate()
                .map(|candidate| candidate.commit.clone()),
            tests: story.tests.clone(),
            rewrite: story.rewrite.clone(),
            story: Arc::clone(&story.spec),
            resume: lane.run.resume.clone(),
            has_outgrown: last.is_some_and(|last| last.has_outgrown),
            faults: lane.run.faults,
            former: story.former,
            landing: self.landing(lane.stage),
            cold: self.must_be_cold(lane.stage),
            balance: self.state.balance(lane.stage),
            told: self.told(lane),
        }
    }

    /// The commit that a fresh checkout of a stage holds.
    fn checkout(&self, stage: Stage) -> &Commit {
        let base = &self.attempt.base;
        let candidate = self.attempt.candidate();
        let tests = self
            .story
            .tests
            .as_ref()
            .and_then(|tests| tests.commit.as_ref());
        let is_mended = matches!(
            self.story.rewrite,
            Some(Rewrite::Repair(_) | Rewrite::Better(_))
        );
        match self.attempt.flow.row(stage).base {
            Base::Candidate => candidate.map_or(base, |candidate| &candidate.commit),
            Base::StoryWithTests => tests.unwrap_or(base),
            // Tests that are mended are there to be mended; fresh ones are written by somebody who
            // never saw the old.
            Base::Story if stage == Stage::WriteTests && is_mended => tests.unwrap_or(base),
            Base::Story => base,
        }
    }

    fn told(&self, lane: &Lane) -> Told {
        let stage = lane.stage;
        let candidate = self.attempt.candidate();
        let facts = candidate.and_then(|candidate| candidate.facts());
        let checked = candidate.and_then(|candidate| candidate.checked.as_ref());
        let mut notes = Vec::new();
        if let Some(candidate) = candidate {
            notes.extend(candidate.notes.iter().cloned());
            let missing = candidate.proof_missing.iter();
            notes.extend(missing.map(|why| format!("the prover showed no proof of work: {why}")));
        }
        if self.attempt.flow.row(stage).base == Base::Candidate {
            let tests = self.story.tests.iter();
            notes.extend(tests.flat_map(|tests| tests.notes.iter().cloned()));
        }
        notes.extend(self.landed_meanwhile());
        let writes_tests = self.attempt.flow.row(stage).writes == Writes::Tests;
        Told {
            // Feedback speaks of candidates, which a test writer must not know.
            feedback: if writes_tests {
                Vec::new()
            } else {
                self.story.feedback.clone()
            },
            answers: self.story.answers.clone(),
            learned: learned(self.state),
            notes,
            checks: checked
                .map(|checked| checked.report.clone())
                .unwrap_or_default(),
            failing: facts.map(|facts| facts.failing.clone()).unwrap_or_default(),
            obligations: facts.map(Facts::owed).unwrap_or_default(),
            flags: facts.map(|facts| facts.flags.clone()).unwrap_or_default(),
            mutants: facts.and_then(|facts| facts.mutants),
            review: candidate.and_then(|candidate| candidate.review.clone()),
            proof: candidate.and_then(|candidate| candidate.proof.clone()),
            bad_answer: lane.run.bad_answer.clone(),
        }
    }

    fn make_tests(&self, review: crate::verdict::Review) -> Deed {
        Deed::MakeTests(Box::new(MakeTestsOrder {
            place: self.place(Stage::WriteTests),
            story: Arc::clone(&self.story.spec),
            base: self.attempt.base.clone(),
            planned_at_ms: self.attempt.planned_at_ms,
            review,
            before: self.story.tests.clone(),
            rewrite: self.story.rewrite.clone(),
            rewrites: self.story.earlier_writings + self.story.rewrites,
            rounds: self.story.rounds,
        }))
    }

    fn make_candidate(&self, author: &Author) -> Deed {
        let stage = match author {
            Author::Implementor => Stage::Implement,
            Author::Prover(_) => Stage::Prove,
            Author::Accepted(acceptance) => return self.make_accepted(acceptance),
        };
        let handed_in = match (&self.attempt.source, author) {
            (Source::Person(work), Author::Implementor) => Some(work.clone()),
            _ => None,
        };
        Deed::MakeCandidate(Box::new(MakeCandidateOrder {
            place: self.place(stage),
            story: Arc::clone(&self.story.spec),
            flow: self.attempt.flow,
            base: self.attempt.base.clone(),
            planned_at_ms: self.attempt.planned_at_ms,
            tests: self.story.tests.clone(),
            rejected: self.rejected(),
            handed_in,
            credits: Some(self.credits(author)),
        }))
    }

    /// A person may hand in again what was rejected: something else may have changed, and they know
    /// best.
    fn rejected(&self) -> Vec<Commit> {
        let rejected = self.story.rejected.iter().map(|one| one.commit.clone());
        match self.attempt.source {
            Source::Person(_) => Vec::new(),
            Source::Agents | Source::Accepted(_) => rejected.collect(),
        }
    }

    /// Whether a run may not reuse an earlier build: it confirms what landed, such a build was wrong
    /// once, or what it finds good is shown at once.
    fn must_be_cold(&self, stage: Stage) -> bool {
        let is_off = self.state.guard.warm_off.is_some() && stage.is_check();
        stage == Stage::Confirm || is_off || self.attempt.is_recheck
    }

    /// Who has a part in the candidate that is about to be made.
    fn credits(&self, author: &Author) -> Credits {
        let attempt = self.attempt;
        let named = |agent: Option<&AgentName>| agent.filter(|agent| !agent.is_empty()).cloned();
        let tests = self.story.tests.as_ref();
        let in_it = tests.filter(|tests| tests.commit.is_some());
        let is_proven = matches!(author, Author::Prover(_));
        let may_change = self.state.spec.failover;
        let judge = attempt.agent(Stage::Judge);
        let person = match &attempt.source {
            Source::Person(work) => Some(work.by.clone()),
            Source::Agents | Source::Accepted(_) => None,
        };
        let implementor = attempt.agent(Stage::Implement);
        Credits {
            implementor: named(implementor.filter(|_| person.is_none())),
            person,
            tests: named(in_it.and_then(|tests| tests.writer.as_ref())),
            prover: named(attempt.agent(Stage::Prove).filter(|_| is_proven)),
            judge: named(judge.filter(|_| attempt.flow.has(Stage::Judge) && !may_change)),
        }
    }
}

/// Why a story is set aside after its last attempt. Where that one made nothing, what was wrong with the
/// candidate before it is why.
fn reason_to_skip(story: &StoryProgress) -> String {
    if let Some(first) = &story.skipped_because {
        return first.clone();
    }
    let last = story.feedback.last().cloned().unwrap_or_default();
    match &story.found_wrong {
        Some(wrong) if *wrong != last => format!("{wrong}\n\nThe last attempt: {last}"),
        _ => last,
    }
}

/// What a story taught: why its attempts were rejected, each reason once, and what its agents said
/// that others should know. The reason why it is given up is told anyway.
fn taught(story: &StoryProgress, told: Option<&String>) -> Vec<String> {
    let mut taught: Vec<String> = Vec::new();
    for feedback in story
        .feedback
        .iter()
        .filter(|feedback| Some(*feedback) != told)
    {
        let line = format!("rejected: {}", feedback.lines().next().unwrap_or_default());
        if !taught.contains(&line) {
            taught.push(line);
        }
    }
    taught.extend(
        story
            .learned
            .iter()
            .map(|learned| format!("learned: {learned}")),
    );
    taught
}

/// What the stories that passed in this loop taught.
fn learned(state: &State) -> Vec<String> {
    let passed = state.stories.iter().filter(|story| story.has_passed());
    passed.flat_map(|story| story.learned.clone()).collect()
}
