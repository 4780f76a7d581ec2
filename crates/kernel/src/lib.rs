//! The life of a loop as a function: [`State::apply`] takes what happened, [`decide`] says all that
//! is owed now, as complete orders.
//!
//! Pure: no clock, no files, no processes, no randomness. Time and ids come in as values. An engine
//! records events and carries out orders; asking `decide` again at any moment gives everything that
//! is still owed, so no event's loss can stall a loop.

mod answers;
mod apply;
mod attempt;
mod begin;
mod budget;
mod commit;
mod confirming;
mod criterion;
mod decide;
mod event;
mod facts;
mod failover;
mod flow;
mod gate;
mod guard;
mod ids;
mod judgment;
mod landing;
mod landing_orders;
mod lane;
mod numbered;
mod obliged;
mod order;
mod outcome;
mod planning;
mod publishing;
mod reload;
mod restacked;
mod run_end;
mod spec;
mod starting;
mod state;
mod steer;
mod together;
mod verdict;
mod walls;
mod wishes;

pub use apply::IllegalMove;
pub use attempt::{
    Attempt, Author, Candidate, Checked, Code, Drafts, Judged, LastTry, Material, Step, TestsDraft,
};
pub use commit::{Commit, NotACommit};
pub use criterion::{criteria_left_out, criterion_named, quotes_criterion};
pub use decide::{decide, needs_person};
pub use event::{EndReason, Event, PublishResult, RunKey, Stamped, WriteBack};
pub use facts::{
    Doubt, Doubted, Facts, Flag, FlagKind, Mutants, Obligation, ObligationKind, Setup, StoredGate,
};
pub use failover::StandIn;
pub use flow::{Base, Flow, FlowStep, Role, Stage, StageRow, Writes};
pub use gate::{Closed, Finding, Gate, Situation, gate};
pub use ids::{AgentName, StoryId};
pub use lane::{Lane, Resume, Run, RunFault, RunState};
pub use numbered::{Numbered, numbered};
pub use obliged::is_same_test;
pub use order::{
    AcceptedOrder, Credits, Deed, LandingCheck, MakeCandidateOrder, MakeTestsOrder, Order, Plan,
    PublishOrder, RestackOrder, RetractOrder, RunOrder, RunPlace, StopOrder, Told, WaitOrder,
};
pub use outcome::{Balance, FaultCause, InterruptCause, RunOutcome, RunUsage};
pub use publishing::{is_over, may_be_filed_as, record_kind};
pub use restacked::{RestackClass, Restackable};
pub use spec::{
    Allowance, Assigned, Cast, FirstStory, LoopSpec, StoryCommand, StorySpec, StoryStart,
    TimeBudget,
};
pub use state::{Choice, Question, Rewrite, Spent, State, StoryProgress, StoryStatus, Tests, Wait};
pub use together::{OnQuestion, Rejudge, Together};
pub use verdict::{Coverage, CriterionVerdict, Obliged, Proof, Review, Verdict};
pub use walls::{JailLimit, RefusedHost, Walls};
pub use wishes::{Acceptance, PersonsWork, Rejected, Source, Wish};
