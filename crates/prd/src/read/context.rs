//! What every step of reading needs: the options, the format, and where findings go.

use crate::change::{ChangeKind, Changes};
use crate::diagnostic::Complaints;
use crate::node::Node;
use crate::parse::front_matter::Body;
use crate::source::Span;

/// What the reader needs to know from outside.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Further agents that a story's `tool` may name.
    pub tools: Vec<String>,
    /// Whether a story may name any agent at all: for readers that start none.
    pub takes_any_tool: bool,
}

/// How the PRD is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON, with or without mistakes.
    Json,
    /// YAML.
    Yaml,
    /// Markdown tickets with YAML front matter.
    Tickets,
    /// One JSON object per line.
    JsonLines,
    /// A plan in Markdown.
    Markdown,
}

/// Why a file is never written to: the states of its stories stay with the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadOnly {
    /// It is a copy of issues that are kept elsewhere.
    Export,
    /// It has no place for a state.
    NoState,
}

impl ReadOnly {
    /// The reason as a sentence.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Export => {
                "it is an export of issues, and closing one is done where the issues are kept"
            }
            Self::NoState => "it has no check box or other place for a story's state",
        }
    }
}

/// Where every step writes its findings.
pub(crate) struct Context<'o> {
    pub(crate) complaints: Complaints,
    pub(crate) changes: Changes,
    pub(crate) read_only: Option<ReadOnly>,
    pub(crate) is_task_graph: bool,
    pub(crate) options: &'o Options,
}

impl<'o> Context<'o> {
    /// A context without findings.
    pub(crate) fn new(options: &'o Options) -> Self {
        Self {
            complaints: Complaints::default(),
            changes: Changes::default(),
            read_only: None,
            is_task_graph: false,
            options,
        }
    }
}

impl Context<'_> {
    pub(crate) fn changed(&mut self, at: Span, kind: ChangeKind) {
        self.changes.push(at, kind);
    }
}

/// One parsed file.
pub(crate) struct Document<'s> {
    pub(crate) root: Node<'s>,
    pub(crate) file: u32,
    /// The text below the front matter of a ticket.
    pub(crate) body: Option<Body<'s>>,
}
