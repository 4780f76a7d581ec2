//! `loopwright runs` as people type it.

use clap::{Args as ClapArgs, ValueEnum};

/// Which runs somebody wants to see.
#[derive(Debug, ClapArgs)]
pub(crate) struct RunsArgs {
    /// The loop's id, or the beginning or end of it; without one, the newest runs of all loops
    pub(crate) id: Option<String>,
    /// Only this role or stage, such as `judge` or `check`
    #[arg(long)]
    pub(crate) role: Option<String>,
    /// Only this agent
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Only runs that ended so, or that are `running`
    #[arg(long, value_name = "STATE")]
    pub(crate) outcome: Option<RunState>,
}

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RunState {
    Running,
    Worked,
    Reviewed,
    Ruled,
    Green,
    Red,
    Passed,
    Rejected,
    Failed,
    BadAnswer,
    PutOff,
    Asks,
    Interrupted,
    Stopped,
}

impl RunState {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Worked => "worked",
            Self::Reviewed => "reviewed",
            Self::Ruled => "ruled",
            Self::Green => "green",
            Self::Red => "red",
            Self::Passed => "passed",
            Self::Rejected => "rejected",
            Self::Failed => "failed",
            Self::BadAnswer => "bad-answer",
            Self::PutOff => "put-off",
            Self::Asks => "asks",
            Self::Interrupted => "interrupted",
            Self::Stopped => "stopped",
        }
    }
}
