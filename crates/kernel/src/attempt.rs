//! One try at a story: what it has made so far, and how far it is.
//!
//! What belongs to a step lives in that step. An attempt that proves a candidate has one, and an
//! attempt that still writes it cannot be asked for it.

use std::collections::BTreeMap;

use crate::commit::Commit;
use crate::facts::Facts;
use crate::flow::{Flow, FlowStep, Role, Stage};
use crate::gate::Finding;
use crate::ids::AgentName;
use crate::lane::Lane;
use crate::restacked::RestackClass;
use crate::spec::Cast;
use crate::verdict::{Proof, Review, Verdict};
use crate::wishes::{Acceptance, Rejected, Source};

/// One try at a story.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Attempt number, starting at 1.
    pub number: u32,
    /// The attempt that made what it is about: itself, or an earlier one whose candidate a person accepted.
    pub made_in: u32,
    /// The flow that it follows.
    pub flow: Flow,
    /// Who takes part.
    pub cast: Cast,
    /// The commit that it starts from.
    pub base: Commit,
    /// When it was planned. This is the candidate's date, so that making it again gives the same
    /// id.
    pub planned_at_ms: i64,
    /// Whether it only looks again at a skipped story.
    pub is_recheck: bool,
    /// Whether no attempt at the story began at this commit before.
    pub is_first_here: bool,
    /// Whose work it is about.
    pub source: Source,
    /// The last try of each stage that was started.
    pub tries: BTreeMap<Stage, LastTry>,
    /// Agents that took over from one at its limit, by stage.
    pub stand_ins: BTreeMap<Stage, AgentName>,
    /// How far it is.
    pub step: Step,
    /// What a person is asked before this step can be done, where it could not.
    pub hindered: Option<String>,
    /// What was accepted before the candidate was put onto what landed since; none while it stands
    /// where it was made.
    pub judged: Option<Judged>,
    /// How often the candidate was put onto another commit.
    pub restacks: u32,
}

/// The last try of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastTry {
    /// Try number, starting at 1.
    pub number: u32,
    /// The try whose checkout it worked in: its own, unless it resumed an earlier one's session.
    pub checkout_try: u32,
    /// Whether a session of this stage grew larger than the model can take.
    pub has_outgrown: bool,
}

/// How far an attempt is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Runs are owed or under way.
    Runs {
        /// The position in the flow.
        at: usize,
        /// The runs that may be under way at the same time.
        lanes: Vec<Lane>,
        /// What the runs work on.
        material: Material,
    },
    /// The same tests are red again: is it the work, or do the tests ask for too much?
    Arbitrate {
        /// The arbiter's run.
        lane: Lane,
        /// The candidate that the tests refuse.
        candidate: Box<Candidate>,
        /// What the attempt is told if the tests stand.
        feedback: String,
    },
    /// The story's tests stand on a commit that the branch has left behind, and must be put onto its
    /// head.
    MoveTests {
        /// What the attempt begins with.
        drafts: Drafts,
    },
    /// What the test writer left must become a commit.
    MakeTests {
        /// The position in the flow.
        at: usize,
        /// How far the implementor is.
        code: Code,
        /// What the test writer said of the tests.
        review: Review,
    },
    /// What the authors left must become the candidate.
    MakeCandidate {
        /// The position in the flow.
        at: usize,
        /// Whose checkout it is made from.
        author: Author,
    },
    /// A person must agree.
    Approve {
        /// The proven candidate.
        candidate: Box<Candidate>,
        /// What the person is asked.
        question: String,
    },
    /// The accepted candidate waits for its turn to land.
    Queued {
        /// The accepted candidate.
        candidate: Box<Candidate>,
    },
    /// It has landed by a measurement that reused an earlier build, and is measured again with
    /// everything built anew before anybody is shown it.
    Confirm {
        /// The run that measures it.
        lane: Lane,
        /// The candidate that landed.
        candidate: Box<Candidate>,
    },
    /// It has landed and is red when everything is built anew: it must be taken back.
    Retract {
        /// The candidate that landed.
        candidate: Box<Candidate>,
        /// What is red, for the next attempt.
        why: String,
    },
    /// The operator must be shown.
    Announce {
        /// The commit that landed, or that a recheck found good.
        commit: Commit,
        /// The candidate that landed: it may have to land again, on another commit. A recheck has
        /// none.
        landed: Option<Box<Candidate>>,
    },
    /// It failed: another attempt is owed, or the skip.
    Rejected,
    /// No further attempt would help: the skip is owed.
    GivenUp {
        /// The reason, for people.
        why: String,
    },
}

/// What the runs of a step work on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Material {
    /// There is no candidate yet.
    Drafts(Drafts),
    /// There is one.
    Candidate(Box<Candidate>),
}

/// What the authors have made so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Drafts {
    /// The implementor's part.
    pub code: Code,
    /// The test writer's part.
    pub tests: TestsDraft,
}

/// How far the implementor is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Code {
    /// Its work is still to be done.
    #[default]
    Owed,
    /// Its work lies in its checkout.
    Written,
    /// It failed, which rejects the attempt once nothing of it runs any more.
    Failed(String),
}

/// How far the test writer is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum TestsDraft {
    /// Nothing is waiting to become a commit.
    #[default]
    Nothing,
    /// Tests lie in its checkout, and this is what it said of them.
    Written(Review),
    /// It failed for good, so nothing could ever be proven.
    Failed(String),
}

/// Whose work becomes the candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Author {
    /// The implementor's, or that of the person who took the story.
    Implementor,
    /// It is a candidate already, and a person accepted it.
    Accepted(Acceptance),
    /// The prover's, who worked on an earlier candidate.
    Prover(Box<Candidate>),
}

/// A commit that an attempt proposes, and what has been found out about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The commit.
    pub commit: Commit,
    /// What a judge must know of how it was made.
    pub notes: Vec<String>,
    /// Why a person must agree before it lands, where one must.
    pub ask: Option<String>,
    /// What the checks showed, once they ran.
    pub checked: Option<Checked>,
    /// What the prover showed of its work on it, where one worked on it.
    pub proof: Option<Box<Proof>>,
    /// Why the prover showed none, where it did its work and said nothing usable.
    pub proof_missing: Option<String>,
    /// What the reviewer said, once it did.
    pub review: Option<Review>,
    /// What the judge said, once it did.
    pub verdict: Option<Verdict>,
}

/// What was accepted before the candidate was put onto what landed since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// The commit that it stands on.
    pub base: Commit,
    /// The candidate with everything that was found out about it.
    pub candidate: Box<Candidate>,
    /// How the restacked candidate met what landed.
    pub class: RestackClass,
}

/// What the checks showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// The commit that they ran on.
    pub commit: Commit,
    /// The results in words, bounded.
    pub report: String,
    /// The results as types.
    pub facts: Option<Box<Facts>>,
}

impl Candidate {
    /// A commit of which nothing is known yet.
    pub(crate) fn new(commit: Commit, notes: Vec<String>, ask: Option<String>) -> Self {
        Self {
            commit,
            notes,
            ask,
            checked: None,
            proof: None,
            proof_missing: None,
            review: None,
            verdict: None,
        }
    }

    /// The typed results of its checks.
    pub fn facts(&self) -> Option<&Facts> {
        self.checked.as_ref()?.facts.as_deref()
    }

    /// As it is remembered once it is set aside.
    pub(crate) fn as_rejected(&self, base: &Commit, made_in: u32) -> Rejected {
        let facts = self.facts();
        let finding = facts.map(Facts::finding);
        Rejected {
            made_in,
            commit: self.commit.clone(),
            base: base.clone(),
            is_green: matches!(finding, Some(Finding::Green | Finding::Unproven)),
            is_warm: facts.is_some_and(|facts| facts.warm),
        }
    }
}

impl Attempt {
    /// An attempt before its first step. It stands nowhere yet: `enter` takes it there.
    pub(crate) fn new(number: u32, flow: Flow, cast: Cast, base: Commit, at_ms: i64) -> Self {
        Self {
            number,
            made_in: number,
            flow,
            cast,
            base,
            planned_at_ms: at_ms,
            is_recheck: false,
            is_first_here: number == 1,
            source: Source::Agents,
            tries: BTreeMap::new(),
            stand_ins: BTreeMap::new(),
            step: Step::Rejected,
            hindered: None,
            judged: None,
            restacks: 0,
        }
    }

    /// The steps that it goes through.
    pub fn steps(&self) -> &'static [FlowStep] {
        match self.source {
            _ if self.is_recheck => Flow::recheck_steps(),
            Source::Accepted(_) => Flow::acceptance_steps(),
            Source::Agents | Source::Person(_) => self.flow.steps(),
        }
    }

    /// The runs that this step is about.
    pub fn lanes(&self) -> &[Lane] {
        match &self.step {
            Step::Runs { lanes, .. } => lanes,
            Step::Arbitrate { lane, .. } | Step::Confirm { lane, .. } => std::slice::from_ref(lane),
            Step::MoveTests { .. }
            | Step::MakeTests { .. }
            | Step::MakeCandidate { .. }
            | Step::Approve { .. }
            | Step::Queued { .. }
            | Step::Retract { .. }
            | Step::Announce { .. }
            | Step::Rejected
            | Step::GivenUp { .. } => &[],
        }
    }

    pub(crate) fn lanes_mut(&mut self) -> &mut [Lane] {
        match &mut self.step {
            Step::Runs { lanes, .. } => lanes,
            Step::Arbitrate { lane, .. } | Step::Confirm { lane, .. } => std::slice::from_mut(lane),
            Step::MoveTests { .. }
            | Step::MakeTests { .. }
            | Step::MakeCandidate { .. }
            | Step::Approve { .. }
            | Step::Queued { .. }
            | Step::Retract { .. }
            | Step::Announce { .. }
            | Step::Rejected
            | Step::GivenUp { .. } => &mut [],
        }
    }

    /// The candidate, at the steps that have one.
    pub fn candidate(&self) -> Option<&Candidate> {
        match &self.step {
            Step::Runs {
                material: Material::Candidate(candidate),
                ..
            }
            | Step::Arbitrate { candidate, .. }
            | Step::MakeCandidate {
                author: Author::Prover(candidate),
                ..
            }
            | Step::Approve { candidate, .. }
            | Step::Queued { candidate }
            | Step::Confirm { candidate, .. }
            | Step::Retract { candidate, .. } => Some(candidate),
            Step::Runs { .. }
            | Step::MoveTests { .. }
            | Step::MakeTests { .. }
            | Step::MakeCandidate { .. }
            | Step::Announce { .. }
            | Step::Rejected
            | Step::GivenUp { .. } => None,
        }
    }

    /// The candidate as it is remembered once it is set aside.
    pub(crate) fn as_rejected(&self) -> Option<Rejected> {
        Some(self.candidate()?.as_rejected(&self.base, self.made_in))
    }

    /// The role of a stage.
    pub fn role(&self, stage: Stage) -> Role {
        self.flow.row(stage).role
    }

    /// Who does a stage: the agent of its role, or the one that took over from it. Checks have
    /// none.
    pub fn agent(&self, stage: Stage) -> Option<&AgentName> {
        let stand_in = self.stand_ins.get(&stage);
        stand_in.or_else(|| self.cast.agent(self.role(stage)))
    }

    /// The number of a stage's next try.
    pub(crate) fn next_try(&self, stage: Stage) -> u32 {
        self.tries.get(&stage).map_or(1, |last| last.number + 1)
    }

    /// What a person would call what it is doing.
    pub fn doing(&self) -> String {
        let busy = self.lanes().iter().filter(|lane| lane.is_open());
        let words: Vec<&str> = busy.map(|lane| lane.stage.word()).collect();
        if !words.is_empty() {
            return words.join(" and ");
        }
        let word = match &self.step {
            Step::Runs { .. } | Step::Arbitrate { .. } | Step::MakeCandidate { .. } => {
                "making the candidate"
            }
            Step::MoveTests { .. } => "moving its tests",
            Step::MakeTests { .. } => "making its tests",
            Step::Approve { .. }
            | Step::Queued { .. }
            | Step::Confirm { .. }
            | Step::Announce { .. } => "landing",
            Step::Retract { .. } => "being taken back",
            Step::Rejected => "before the next attempt",
            Step::GivenUp { .. } => "giving up",
        };
        word.to_owned()
    }
}
