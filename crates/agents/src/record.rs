//! What a parser has seen so far, within bounds. All adapters write into the same record.

use serde_json::Value;

use crate::activity::Activity;
use crate::evidence::Evidence;
use crate::rounds::{Rounds, digest};
use crate::session::SessionId;
use crate::summary::ToolCall;
use crate::usage::{Tokens, Usage};

/// How many tool calls are kept individually. Later ones are only counted.
const TOOL_CALLS_MAX: usize = 200;
/// Length of texts for people: a tool's name or detail, an intermediate message, a line that was
/// not understood.
const SHORT_CHARS: usize = 300;
/// Size limit of the final answer.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;
/// Size limit of one text of an activity.
const TOLD_BYTES_MAX: usize = 16 * 1024;
/// How many tool calls that have not ended are remembered by name.
const OPEN_CALLS_MAX: usize = 64;

/// A tool call as a stream reports it.
#[derive(Debug, Default)]
pub(crate) struct Call<'a> {
    /// What the stream calls it when it ends; empty if it does not say.
    pub(crate) id: &'a str,
    pub(crate) tool: &'a str,
    /// The main argument, such as a command or a file.
    pub(crate) detail: &'a str,
    /// All arguments, where the main one is not all.
    pub(crate) input: Option<&'a Value>,
    /// The files that it changes if it succeeds.
    pub(crate) edits: Vec<String>,
}

/// The end of a tool call as a stream reports it.
#[derive(Debug, Default)]
pub(crate) struct CallEnd<'a> {
    /// What the stream called it when it began; empty if it does not say.
    pub(crate) id: &'a str,
    pub(crate) failed: bool,
    /// What came of it, if the stream says.
    pub(crate) result: Option<&'a Value>,
}

/// A call that has not ended.
#[derive(Debug)]
struct Open {
    id: String,
    tool: String,
    edits: Vec<String>,
    /// Stands for the tool and its arguments.
    digest: u64,
}

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
    /// Whether somebody wants to see what the agent does.
    is_telling: bool,
    activities: Vec<Activity>,
    /// Pieces of a message whose end has not come yet.
    unsaid: String,
    open_calls: Vec<Open>,
    pub(crate) rounds: Rounds,
}

impl Record {
    /// A record that also tells what the agent does.
    pub(crate) fn telling() -> Self {
        Self {
            is_telling: true,
            ..Self::default()
        }
    }

    pub(crate) fn take_activities(&mut self) -> Vec<Activity> {
        std::mem::take(&mut self.activities)
    }

    fn tell(&mut self, activity: Activity) {
        if self.is_telling {
            self.say_the_rest();
            self.activities.push(activity);
        }
    }

    /// Tells the pieces of a message as one: nothing more of it will come.
    pub(crate) fn say_the_rest(&mut self) {
        let text = std::mem::take(&mut self.unsaid);
        if !text.trim().is_empty() {
            self.activities.push(Activity::Said {
                text: bounded(text.trim()),
            });
        }
    }

    fn tell_said(&mut self, text: &str) {
        if !text.trim().is_empty() {
            let text = bounded(text.trim());
            self.tell(Activity::Said { text });
        }
    }

    pub(crate) fn name_session(&mut self, id: Option<&str>) {
        let Some(id) = id.and_then(SessionId::parse) else {
            return;
        };
        self.session = Some(id);
    }

    pub(crate) fn name_model(&mut self, model: Option<&str>) {
        if let Some(model) = model {
            self.model = Some(short(model));
        }
    }

    pub(crate) fn tool_started(&mut self, call: Call<'_>) {
        self.progress();
        self.n_tool_calls += 1;
        self.is_tool_stopped = false;
        self.n_tools_running += 1;
        if self.tool_calls.len() < TOOL_CALLS_MAX {
            self.tool_calls.push(ToolCall {
                tool: short(call.tool),
                detail: short(call.detail),
                failed: None,
            });
        }
        if !self.is_telling {
            return;
        }
        self.tell(Activity::ToolStarted {
            tool: bounded(call.tool),
            target: bounded(call.detail),
        });
        if self.open_calls.len() == OPEN_CALLS_MAX {
            self.open_calls.remove(0);
        }
        self.open_calls.push(Open {
            id: bounded(call.id),
            tool: bounded(call.tool),
            edits: call.edits,
            digest: digest(&(call.tool, call.detail, call.input.map(Value::to_string))),
        });
    }

    /// Marks the earliest call that is still open. Not every CLI names the call that ended, and
    /// nothing depends on which of several parallel calls it was.
    pub(crate) fn tool_ended(&mut self, end: &CallEnd<'_>) {
        self.progress();
        self.n_tools_running = self.n_tools_running.saturating_sub(1);
        if let Some(call) = self
            .tool_calls
            .iter_mut()
            .find(|call| call.failed.is_none())
        {
            call.failed = Some(end.failed);
        }
        if self.is_telling {
            self.tell_ended(end);
        }
    }

    /// Tells the end of the call that the stream names, or else of the earliest one.
    fn tell_ended(&mut self, end: &CallEnd<'_>) {
        let failed = end.failed;
        let named = self.open_calls.iter().position(|open| open.id == end.id);
        let open = match (named, self.open_calls.is_empty()) {
            (Some(index), _) => Some(self.open_calls.remove(index)),
            (None, false) if end.id.is_empty() => Some(self.open_calls.remove(0)),
            (None, _) => None,
        };
        if let Some(open) = &open {
            let result = end
                .result
                .map(|result| digest(&(failed, result.to_string())));
            self.rounds.called(open.digest, result);
        }
        let (tool, edits) = open.map(|open| (open.tool, open.edits)).unwrap_or_default();
        self.tell(Activity::ToolEnded { tool, ok: !failed });
        for path in edits.into_iter().filter(|_| !failed) {
            let path = bounded(&path);
            self.tell(Activity::Edited { path });
        }
    }

    /// Takes a plan, or news of it.
    pub(crate) fn planned(&mut self, text: Option<String>) {
        if let Some(text) = text {
            let text = bounded(&text);
            self.tell(Activity::Planned { text });
        }
    }

    /// Tells what was used so far. The summary counts by `usage` alone.
    pub(crate) fn tell_used(&mut self, tokens: Option<Tokens>, cost_micro_usd: Option<u64>) {
        let tokens = tokens.map(|tokens| tokens.total());
        if tokens.or(cost_micro_usd).is_some() {
            self.tell(Activity::Used {
                tokens,
                cost_micro_usd,
            });
        }
    }

    /// Tells why the CLI gave up.
    pub(crate) fn gave_up(&mut self, why: &str) {
        if !why.trim().is_empty() {
            let why = bounded(why.trim());
            self.rounds.troubled(&why);
            self.tell(Activity::Troubled { why });
        }
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
        self.tell_said(text);
        self.answer.clear();
        self.add_to_answer(text);
    }

    /// Takes the final answer, which most streams have already shown as the last message.
    pub(crate) fn answered(&mut self, text: &str) {
        if prefix(text, ANSWER_BYTES_MAX) != self.answer {
            self.tell_said(text);
        }
        self.answer.clear();
        self.add_to_answer(text);
    }

    /// Takes a piece of a message.
    pub(crate) fn said_more(&mut self, text: &str) {
        self.add_to_answer(text);
        if !self.is_telling {
            return;
        }
        self.unsaid.push_str(prefix(text, TOLD_BYTES_MAX));
        if text.ends_with('\n') || self.unsaid.len() >= TOLD_BYTES_MAX {
            self.say_the_rest();
        }
    }

    fn add_to_answer(&mut self, text: &str) {
        self.progress();
        // The agent went on, so the signal that stopped its tool did not end the run.
        self.is_tool_stopped = false;
        let room = ANSWER_BYTES_MAX.saturating_sub(self.answer.len());
        self.answer.push_str(prefix(text, room));
    }

    pub(crate) fn forget_answer(&mut self) {
        self.answer.clear();
    }

    pub(crate) fn answer(&self) -> Option<String> {
        (!self.answer.trim().is_empty()).then(|| self.answer.clone())
    }

    pub(crate) fn retrying(&mut self, why: Evidence) {
        self.rounds.troubled(why.text());
        self.tell(Activity::Troubled {
            why: bounded(why.text()),
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
        self.tell_used(self.usage.tokens, self.usage.cost_micro_usd);
    }

    pub(crate) fn unknown_event(&mut self) {
        self.n_unknown_events += 1;
    }

    /// Takes a line that is no event. Whoever follows the run sees it as words.
    pub(crate) fn strange_line(&mut self, line: &[u8]) {
        self.tell_said(&String::from_utf8_lossy(line));
        self.long_line(line);
    }

    /// Takes a line that is too long to be read. Its head alone says nothing to whoever follows.
    pub(crate) fn long_line(&mut self, head: &[u8]) {
        let line = String::from_utf8_lossy(head);
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

/// A text for an activity, cut to [`TOLD_BYTES_MAX`].
fn bounded(text: &str) -> String {
    let cut = prefix(text, TOLD_BYTES_MAX);
    let more = if cut.len() < text.len() { "…" } else { "" };
    format!("{cut}{more}")
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
