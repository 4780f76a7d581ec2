//! What a parser gives: events while the run goes on, a summary when it has ended.

use crate::outcome::Outcome;
use crate::session::SessionId;
use crate::usage::Usage;

/// Something that an agent did, for eyes; nothing is decided by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentEvent {
    /// The session has a name.
    SessionStarted {
        /// The name.
        id: SessionId,
    },
    /// A tool was called.
    ToolStarted {
        /// The tool, such as `Bash`.
        tool: String,
        /// What for: the command or the file, cut short.
        detail: String,
    },
    /// A tool ended.
    ToolEnded {
        /// Whether the tool says that it failed; that is no failure of the run.
        failed: bool,
    },
    /// The agent said something.
    Said {
        /// What, cut short.
        text: String,
    },
    /// A request failed and the CLI tries again by itself.
    Retrying {
        /// Why, cut short.
        why: String,
    },
}

/// One call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The tool, such as `Bash`.
    pub tool: String,
    /// What for, cut short.
    pub detail: String,
    /// Whether it failed; nothing while it has not ended.
    pub failed: Option<bool>,
}

/// What became of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSummary {
    /// How it ended.
    pub outcome: Outcome,
    /// What the CLI said of its failure, in its own words, cut short.
    pub message: Option<String>,
    /// The session, if it was named.
    pub session: Option<SessionId>,
    /// Whether the session that was to be gone on with is not there any more: resuming again cannot
    /// help.
    pub is_session_lost: bool,
    /// The final answer; only of a run that is [`Outcome::Done`], so that nobody takes the words of
    /// a failed one for it.
    pub answer: Option<String>,
    /// What it used.
    pub usage: Usage,
    /// The model that answered, if told.
    pub model: Option<String>,
    /// The first calls of tools.
    pub tool_calls: Vec<ToolCall>,
    /// How many calls there were in all.
    pub n_tool_calls: u64,
    /// How many events were of no type that we know. They are not understood and not needed.
    pub n_unknown_events: u64,
    /// How many lines were no events at all.
    pub n_strange_lines: u64,
    /// The first line that was no event, cut short.
    pub strange_line: Option<String>,
}
