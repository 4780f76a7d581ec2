//! Writes the lines that report what happens. Each is flushed at once, because the idle watchdog
//! watches them. Pieces of one message are joined first, because agents send them word by word.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;

/// How many bytes of a message are held back at most.
const TEXT_BYTES_MAX: usize = 4 * 1024;

/// How long a piece of a message is held back, and how often an agent that does nothing reportable
/// is reported as alive.
const HELD_BACK: Duration = Duration::from_secs(1);

/// How many characters are kept of a line that is no message of the protocol.
const STRANGE_CHARS: usize = 300;

/// An event, written as one line of JSON.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Event<'a> {
    /// The agent answered and speaks our version.
    Agent {
        name: Option<&'a str>,
        version: Option<&'a str>,
        resumes: bool,
    },
    Session {
        id: &'a str,
        resumed: bool,
    },
    Model {
        id: &'a str,
    },
    Mode {
        id: &'a str,
    },
    /// Something that people should know but that changes nothing.
    Notice {
        text: &'a str,
    },
    Text {
        text: &'a str,
    },
    /// The agent thinks or reports its state.
    Alive,
    ToolStarted {
        id: &'a str,
        tool: &'a str,
        detail: &'a str,
        /// The files that it changes, if it is a tool for that.
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        edits: &'a [&'a str],
    },
    ToolEnded {
        id: &'a str,
        failed: bool,
    },
    /// The agent made a plan or got on with it.
    Planned {
        steps: &'a Value,
    },
    Permission {
        what: &'a str,
        allowed: bool,
    },
    /// A request to the model failed, and the agent retries it.
    Retrying {
        why: &'a str,
    },
    /// The agent reports that its turn has failed, or that it is working again.
    Failing {
        is: bool,
    },
    Usage {
        input: Option<u64>,
        cached: Option<u64>,
        written_to_cache: Option<u64>,
        output: Option<u64>,
    },
    Cost {
        usd: f64,
    },
    /// We were asked to end and asked the agent to cancel. What follows is its answer to that.
    Cancelling,
    Stopped {
        reason: &'a str,
    },
    Error {
        during: &'a str,
        code: i32,
        message: &'a str,
        data: Option<&'a Value>,
    },
}

/// Writes the lines and remembers what was reported.
pub(crate) struct Report {
    out: Box<dyn Write + Send>,
    /// The text that is held back.
    text: String,
    /// The id of the message that the text belongs to, if the agent gives one.
    message: Option<String>,
    /// When the last line was written.
    written_at: Instant,
    /// The tool calls that were reported, and whether their end was.
    calls: BTreeMap<String, bool>,
}

impl Report {
    pub(crate) fn new(out: Box<dyn Write + Send>) -> Self {
        Self {
            out,
            text: String::new(),
            message: None,
            written_at: Instant::now(),
            calls: BTreeMap::new(),
        }
    }

    pub(crate) fn tell(&mut self, event: &Event<'_>) {
        // Text that was held back came before this event.
        self.flush_text();
        self.write(event);
    }

    /// Takes a piece of a message. A piece with another id starts another message.
    pub(crate) fn say(&mut self, message: Option<&str>, text: &str) {
        if self.message.as_deref() != message {
            self.flush_text();
            self.message = message.map(str::to_owned);
        }
        self.text.push_str(text);
        if self.text.len() >= TEXT_BYTES_MAX || self.written_at.elapsed() >= HELD_BACK {
            self.flush_text();
        }
    }

    /// Reports that the agent is alive, unless a line was written just now.
    pub(crate) fn alive(&mut self) {
        if self.written_at.elapsed() >= HELD_BACK {
            self.tell(&Event::Alive);
        }
    }

    /// Reports a tool call when it is first seen, wherever that is: some agents ask for permission
    /// first, some report only the end.
    pub(crate) fn tool_started(&mut self, call: &str, tool: &str, detail: &str, edits: &[&str]) {
        if self.calls.contains_key(call) {
            return self.alive();
        }
        self.calls.insert(call.to_owned(), false);
        self.tell(&Event::ToolStarted {
            id: call,
            tool,
            detail,
            edits,
        });
    }

    pub(crate) fn tool_ended(&mut self, call: &str, failed: bool) {
        // Agents may repeat the final status of a call.
        if let Some(is_reported) = self.calls.get_mut(call)
            && !std::mem::replace(is_reported, true)
        {
            self.tell(&Event::ToolEnded { id: call, failed });
        }
    }

    /// Reports a line that is no message of the protocol. It is quoted, so that no reader takes it
    /// for a line of ours, whatever it contains.
    pub(crate) fn strange(&mut self, line: &str) {
        self.flush_text();
        let cut: String = line.chars().take(STRANGE_CHARS).collect();
        let _ = writeln!(self.out, "the agent printed: \"{}\"", cut.escape_debug());
        let _ = self.out.flush();
        self.written_at = Instant::now();
    }

    pub(crate) fn flush_text(&mut self) {
        if !self.text.is_empty() {
            let text = std::mem::take(&mut self.text);
            self.write(&Event::Text { text: &text });
        }
    }

    /// Writes one line. Errors are ignored: if nobody reads our output any more, the keeper ends
    /// us.
    fn write(&mut self, event: &Event<'_>) {
        let line = serde_json::to_string(event).unwrap_or_default();
        let _ = writeln!(self.out, "{line}");
        let _ = self.out.flush();
        self.written_at = Instant::now();
    }
}
