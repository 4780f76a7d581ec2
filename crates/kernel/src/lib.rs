//! The life of a loop as a function: [`State::apply`] takes what happened, [`decide`] says all that
//! is owed now.
//!
//! Pure: no clock, no files, no processes, no randomness. Time and ids come in as values. An engine
//! records events and carries out effects; asking `decide` again at any moment gives everything
//! that is still owed, so no event's loss can stall a loop.

mod apply;
mod budget;
mod decide;
mod event;
mod flow;
mod limits;
mod moves;
mod reload;
mod spec;
mod state;

pub use apply::IllegalMove;
pub use decide::{Effect, EndReasonOrder, decide};
pub use event::{
    Coverage, CriterionVerdict, EndReason, Event, Facts, Gate, Obliged, PublishResult, Review,
    RunKey, RunOutcome, RunUsage, Stamped, Verdict, WriteBack,
};
pub use flow::{Answer, Base, Flow, FlowStep, Role, Stage, StageRow, Writes};
pub use spec::{
    Allowance, Assigned, Cast, Commit, FirstStory, LoopSpec, NotACommit, StorySpec, StoryStart,
    TimeBudget,
};
pub use state::{
    Attempt, GoesOn, Lane, Question, Run, RunState, Spent, State, Step, StoryProgress, StoryStatus,
    Tests, TestsOrder,
};
