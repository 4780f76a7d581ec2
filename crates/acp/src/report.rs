//! The lines that tell what happens. Each is written and flushed at once, since whoever watches for
//! silence watches these; pieces of one message are put together first, because agents send them
//! word by word.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;

/// Bytes of a message that are held back at most.
const TEXT_BYTES_MAX: usize = 4 * 1024;

/// How long a piece of a message is held back, and how often it is told that there is life but
/// nothing to tell.
const HELD_BACK: Duration = Duration::from_secs(1);

/// Characters of a line that is no message of the protocol.
const STRANGE_CHARS: usize = 300;

/// One thing that happened.
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
    /// Something that people should know and that changes nothing.
    Notice {
        text: &'a str,
    },
    Text {
        text: &'a str,
    },
    /// It thinks, plans or tells of its state.
    Alive,
    ToolStarted {
        tool: &'a str,
        detail: &'a str,
    },
    ToolEnded {
        failed: bool,
    },
    Permission {
        what: &'a str,
        allowed: bool,
    },
    /// A request of its own failed, and it tries again.
    Retrying {
        why: &'a str,
    },
    /// It says that its turn has failed, or that it is at work again.
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
    /// We were asked to end and told the agent so; what follows is its answer to that.
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

/// Where the lines go, and what is needed to write them well.
pub(crate) struct Report {
    out: Box<dyn Write + Send>,
    text: String,
    message: Option<String>,
    told_at: Instant,
    /// Calls of tools that were told, and whether their end was.
    calls: BTreeMap<String, bool>,
}

impl Report {
    pub(crate) fn new(out: Box<dyn Write + Send>) -> Self {
        Self {
            out,
            text: String::new(),
            message: None,
            told_at: Instant::now(),
            calls: BTreeMap::new(),
        }
    }

    pub(crate) fn tell(&mut self, event: &Event<'_>) {
        self.flush_text();
        self.write(event);
    }

    /// A piece of a message; one that is named differently is another message.
    pub(crate) fn say(&mut self, message: Option<&str>, text: &str) {
        if self.message.as_deref() != message {
            self.flush_text();
            self.message = message.map(str::to_owned);
        }
        self.text.push_str(text);
        if self.text.len() >= TEXT_BYTES_MAX || self.told_at.elapsed() >= HELD_BACK {
            self.flush_text();
        }
    }

    pub(crate) fn alive(&mut self) {
        if self.told_at.elapsed() >= HELD_BACK {
            self.tell(&Event::Alive);
        }
    }

    /// A call is told when it is first heard of, wherever that is: some agents ask for permission
    /// first, some tell only ends.
    pub(crate) fn tool_started(&mut self, call: &str, tool: &str, detail: &str) {
        if self.calls.contains_key(call) {
            return self.alive();
        }
        self.calls.insert(call.to_owned(), false);
        self.tell(&Event::ToolStarted { tool, detail });
    }

    pub(crate) fn tool_ended(&mut self, call: &str, failed: bool) {
        if let Some(is_told) = self.calls.get_mut(call)
            && !std::mem::replace(is_told, true)
        {
            self.tell(&Event::ToolEnded { failed });
        }
    }

    /// A line that is no message of the protocol. It is written as a quoted text, so that no reader
    /// takes it for one of ours, whatever is in it.
    pub(crate) fn strange(&mut self, line: &str) {
        self.flush_text();
        let cut: String = line.chars().take(STRANGE_CHARS).collect();
        let _ = writeln!(self.out, "the agent printed: {cut:?}");
        let _ = self.out.flush();
        self.told_at = Instant::now();
    }

    pub(crate) fn flush_text(&mut self) {
        if !self.text.is_empty() {
            let text = std::mem::take(&mut self.text);
            self.write(&Event::Text { text: &text });
        }
    }

    /// Where nobody reads any more there is nobody to tell; the keeper ends us then.
    fn write(&mut self, event: &Event<'_>) {
        let line = serde_json::to_string(event).unwrap_or_default();
        let _ = writeln!(self.out, "{line}");
        let _ = self.out.flush();
        self.told_at = Instant::now();
    }
}
