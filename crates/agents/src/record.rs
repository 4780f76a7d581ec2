//! What a parser has seen so far, within bounds. All adapters write into the same record.

use crate::evidence::Evidence;
use crate::session::SessionId;
use crate::summary::{AgentEvent, ToolCall};
use crate::usage::{Tokens, Usage};

/// How many tool calls are kept individually. Later ones are only counted.
const TOOL_CALLS_MAX: usize = 200;
/// Length of texts for people: a tool's name or detail, an intermediate message, a line that was
/// not understood.
const SHORT_CHARS: usize = 300;
/// Size limit of the final answer.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;

/// What a parser has seen so far.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) session: Option<SessionId>,
    pub(crate) model: Option<String>,
    pub(crate) usage: Usage,
    pub(crate) n_events: u64,
    pub(crate) n_unknown_events: u64,
    pub(crate) n_strange_lines: u64,
    pub(crate) strange_line: Option<String>,
    pub(crate) tool_calls: Vec<ToolCall>,
    pub(crate) n_tool_calls: u64,
    n_tools_running: u64,
    is_tool_stopped: bool,
    answer: String,
    /// Whether the model has said or done anything.
    pub(crate) is_under_way: bool,
    /// The CLI's last notice of a failed request, until the model makes progress again.
    pub(crate) trouble: Option<Evidence>,
    events: Vec<AgentEvent>,
}

impl Record {
    pub(crate) fn take_events(&mut self) -> Vec<AgentEvent> {
        std::mem::take(&mut self.events)
    }

    pub(crate) fn name_session(&mut self, id: Option<&str>) {
        let Some(id) = id.and_then(SessionId::parse) else {
            return;
        };
        // opencode repeats the id in every event; claude gives it at the start and in the result.
        if self.session.as_ref() != Some(&id) {
            self.events
                .push(AgentEvent::SessionStarted { id: id.clone() });
            self.session = Some(id);
        }
    }

    pub(crate) fn name_model(&mut self, model: Option<&str>) {
        if let Some(model) = model {
            self.model = Some(short(model));
        }
    }

    pub(crate) fn tool_started(&mut self, tool: &str, detail: &str) {
        self.progress();
        let tool = short(tool);
        let detail = short(detail);
        self.n_tool_calls += 1;
        self.is_tool_stopped = false;
        self.n_tools_running += 1;
        if self.tool_calls.len() < TOOL_CALLS_MAX {
            self.tool_calls.push(ToolCall {
                tool: tool.clone(),
                detail: detail.clone(),
                failed: None,
            });
        }
        self.events.push(AgentEvent::ToolStarted { tool, detail });
    }

    /// Marks the earliest call that is still open. Not every CLI names the call that ended, and
    /// nothing depends on which of several parallel calls it was.
    pub(crate) fn tool_ended(&mut self, failed: bool) {
        self.progress();
        self.n_tools_running = self.n_tools_running.saturating_sub(1);
        if let Some(call) = self
            .tool_calls
            .iter_mut()
            .find(|call| call.failed.is_none())
        {
            call.failed = Some(failed);
        }
        self.events.push(AgentEvent::ToolEnded { failed });
    }

    /// Notes that a running tool was ended from outside, together with the agent.
    pub(crate) fn tool_was_stopped(&mut self) {
        self.is_tool_stopped = true;
    }

    /// Says whether a tool was running when the stream ended.
    pub(crate) fn is_tool_running(&self) -> bool {
        self.n_tools_running > 0 || self.is_tool_stopped
    }

    /// Takes a whole message that may be the answer. It replaces the one before.
    pub(crate) fn said(&mut self, text: &str) {
        self.answer.clear();
        self.said_more(text);
    }

    /// Takes a piece of a message.
    pub(crate) fn said_more(&mut self, text: &str) {
        self.progress();
        // The agent went on, so the signal that stopped its tool did not end the run.
        self.is_tool_stopped = false;
        let room = ANSWER_BYTES_MAX.saturating_sub(self.answer.len());
        self.answer.push_str(prefix(text, room));
        self.events.push(AgentEvent::Said { text: short(text) });
    }

    pub(crate) fn forget_answer(&mut self) {
        self.answer.clear();
    }

    pub(crate) fn answer(&self) -> Option<String> {
        (!self.answer.trim().is_empty()).then(|| self.answer.clone())
    }

    pub(crate) fn retrying(&mut self, why: Evidence) {
        self.events.push(AgentEvent::Retrying {
            why: short(why.text()),
        });
        self.trouble = Some(why);
    }

    /// Adds what one request used. A cost of zero with tokens means that the CLI has no price for
    /// the model; from then on the sum is unknown.
    pub(crate) fn add_usage(&mut self, tokens: Tokens, cost_micro_usd: Option<u64>) {
        let cost = cost_micro_usd.filter(|&cost| cost > 0 || tokens.total() == 0);
        self.usage.cost_micro_usd = match self.usage.tokens {
            None => cost,
            Some(_) => self
                .usage
                .cost_micro_usd
                .zip(cost)
                .map(|(sum, cost)| sum.saturating_add(cost)),
        };
        self.usage.tokens = Some(self.usage.tokens.unwrap_or_default().plus(tokens));
    }

    pub(crate) fn unknown_event(&mut self) {
        self.n_unknown_events += 1;
    }

    pub(crate) fn strange_line(&mut self, line: &[u8]) {
        let line = String::from_utf8_lossy(line);
        if line.trim().is_empty() {
            return;
        }
        self.n_strange_lines += 1;
        self.strange_line.get_or_insert_with(|| short(line.trim()));
    }

    /// Notes that the model is working, so earlier trouble with its server is over.
    fn progress(&mut self) {
        self.is_under_way = true;
        self.trouble = None;
    }
}

/// Cuts a text to [`SHORT_CHARS`] and removes control characters, which could drive a terminal.
pub(crate) fn short(text: &str) -> String {
    let mut cut: String = text
        .chars()
        .take(SHORT_CHARS)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if text.chars().nth(SHORT_CHARS).is_some() {
        cut.push('…');
    }
    cut
}

/// The longest prefix of a text that has at most `bytes_max` bytes and ends between characters.
pub(crate) fn prefix(text: &str, bytes_max: usize) -> &str {
    if text.len() <= bytes_max {
        return text;
    }
    let end = (0..=bytes_max)
        .rev()
        .find(|&at| text.is_char_boundary(at))
        .unwrap_or(0);
    &text[..end]
}
