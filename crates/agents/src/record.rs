//! What a parser has seen so far, within bounds. All adapters write into this one.

use crate::evidence::Evidence;
use crate::session::SessionId;
use crate::summary::{AgentEvent, ToolCall};
use crate::usage::{Tokens, Usage};

/// Calls of tools that are kept one by one.
const TOOL_CALLS_MAX: usize = 200;
/// Characters of a tool's name or its detail, of what was said on the way, and of a line that was
/// not understood.
const SHORT_CHARS: usize = 300;
/// Bytes of a final answer.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;

/// What was seen.
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
    /// Whether a model has said or done anything.
    pub(crate) is_under_way: bool,
    /// The last complaint of the CLI about a request, while nothing has come after it.
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
        let (tool, detail) = (short(tool), short(detail));
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

    /// Marks the earliest call that is still open; which one it was exactly matters to nobody.
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

    /// A tool that was running was ended from outside, with the agent.
    pub(crate) fn tool_was_stopped(&mut self) {
        self.is_tool_stopped = true;
    }

    /// Says whether a tool was running when the stream ended.
    pub(crate) fn is_tool_running(&self) -> bool {
        self.n_tools_running > 0 || self.is_tool_stopped
    }

    /// The agent said something that may be its answer; what it says later takes its place.
    pub(crate) fn said(&mut self, text: &str) {
        self.answer.clear();
        self.said_more(text);
    }

    /// A piece of what the agent says.
    pub(crate) fn said_more(&mut self, text: &str) {
        self.progress();
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

    /// Adds what one request used. A cost of nothing for some tokens means that the CLI has no
    /// price for them, and from then on the sum is not known.
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

    /// The model is at work, so earlier trouble with its server is over.
    fn progress(&mut self) {
        self.is_under_way = true;
        self.trouble = None;
    }
}

/// Cuts a text to what can be shown, without control characters.
pub(crate) fn short(text: &str) -> String {
    let printable = |c: char| if c.is_control() { ' ' } else { c };
    let mut cut: String = text.chars().take(SHORT_CHARS).map(printable).collect();
    if text.chars().nth(SHORT_CHARS).is_some() {
        cut.push('…');
    }
    cut
}

/// The longest beginning of a text that has at most so many bytes and ends between characters.
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
