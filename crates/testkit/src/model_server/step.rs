//! The steps of a script, each of which is one answer of the model.

use std::time::Duration;

use serde_json::Value;

use super::fault::Fault;

/// One answer of the model.
#[derive(Debug, Clone)]
pub struct Step {
    pub(super) action: Action,
    pub(super) headers: Vec<(String, String)>,
    pub(super) delay: Duration,
    pub(super) usage: Usage,
    pub(super) is_repeated: bool,
}

#[derive(Debug, Clone)]
pub(super) enum Action {
    Shell(String),
    Write { path: String, content: String },
    Tool { name: String, arguments: Value },
    Text(String),
    Status { status: u16, body: String },
    Fault(Fault),
    StreamFault(Fault),
    Hang,
    Drop,
}

/// The token counts that an answer reports.
#[derive(Debug, Clone, Copy)]
pub(super) struct Usage {
    /// All input tokens, the cached ones included.
    pub(super) input: u64,
    pub(super) cached: u64,
    pub(super) output: u64,
}

impl Step {
    fn of(action: Action) -> Self {
        Self {
            action,
            headers: Vec::new(),
            delay: Duration::ZERO,
            usage: Usage {
                input: 1200,
                cached: 200,
                output: 30,
            },
            is_repeated: false,
        }
    }

    /// Calls the client's shell tool, whatever its name.
    pub fn shell(command: impl Into<String>) -> Self {
        Self::of(Action::Shell(command.into()))
    }

    /// Calls the client's tool for writing files, or its shell if it has none.
    pub fn write(path: impl Into<String>, content: impl Into<String>) -> Self {
        Self::of(Action::Write {
            path: path.into(),
            content: content.into(),
        })
    }

    /// Calls a tool by its exact name.
    pub fn tool(name: impl Into<String>, arguments: Value) -> Self {
        Self::of(Action::Tool {
            name: name.into(),
            arguments,
        })
    }

    /// Says something and ends the turn.
    pub fn text(text: impl Into<String>) -> Self {
        Self::of(Action::Text(text.into()))
    }

    /// Answers with exactly this status and body.
    pub fn status(status: u16, body: impl Into<String>) -> Self {
        Self::of(Action::Status {
            status,
            body: body.into(),
        })
    }

    /// Answers with a failure, in the form that the provider of the client's API uses.
    pub fn fault(fault: Fault) -> Self {
        Self::of(Action::Fault(fault))
    }

    /// Starts an answer and fails inside the stream.
    pub fn stream_fault(fault: Fault) -> Self {
        Self::of(Action::StreamFault(fault))
    }

    /// Starts an answer and sends nothing more until the client goes away.
    pub fn hang() -> Self {
        Self::of(Action::Hang)
    }

    /// Starts an answer and closes the connection.
    pub fn cut() -> Self {
        Self::of(Action::Drop)
    }

    /// Adds a header; only for answers that are a status or a failure.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Waits before it answers.
    #[must_use]
    pub fn delayed(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Sets the reported token counts: all input tokens, how many of them were cached, and output
    /// tokens.
    #[must_use]
    pub fn using(mut self, input: u64, cached: u64, output: u64) -> Self {
        self.usage = Usage {
            input,
            cached,
            output,
        };
        self
    }

    /// Answers every request from here on with this step.
    #[must_use]
    pub fn repeated(mut self) -> Self {
        self.is_repeated = true;
        self
    }
}
