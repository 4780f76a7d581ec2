//! A parser's output: the summary of a run at its end.

use crate::outcome::Outcome;
use crate::session::SessionId;
use crate::usage::Usage;

/// One call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The tool, such as `Bash`.
    pub tool: String,
    /// The tool's main argument, such as a command or a file, cut short.
    pub detail: String,
    /// Whether the call failed. `None` until it has ended.
    pub failed: Option<bool>,
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSummary {
    /// How the run ended.
    pub outcome: Outcome,
    /// The CLI's own message about its failure, cut short.
    pub message: Option<String>,
    /// The session's id, if the CLI reported it.
    pub session: Option<SessionId>,
    /// Whether the session to resume no longer exists, so that resuming it again cannot help.
    pub is_session_lost: bool,
    /// The final answer. Only a run that is [`Outcome::Done`] has one, so that the last words of a
    /// failed run cannot be mistaken for it.
    pub answer: Option<String>,
    /// The tokens and the money that the run used.
    pub usage: Usage,
    /// The model that answered, if reported.
    pub model: Option<String>,
    /// The first tool calls.
    pub tool_calls: Vec<ToolCall>,
    /// How many tool calls there were in all.
    pub n_tool_calls: u64,
    /// How many events had an unknown type. They are ignored: new versions of a CLI add types.
    pub n_unknown_events: u64,
    /// How many lines were not events.
    pub n_strange_lines: u64,
    /// The first line that was not an event, cut short.
    pub strange_line: Option<String>,
}
