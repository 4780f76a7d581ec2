//! What an agent does while it runs, in one vocabulary for every CLI, to be shown to people. No
//! decision depends on it.

/// One thing that an agent did. Texts are the agent's own, control characters included: whoever
/// shows them makes those visible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Activity {
    /// The agent said something.
    Said {
        /// The words, which may have several lines.
        text: String,
    },
    /// A tool was called.
    ToolStarted {
        /// The tool, such as `Bash`.
        tool: String,
        /// The tool's main argument, such as a command or a file; may be empty.
        target: String,
    },
    /// A tool ended.
    ToolEnded {
        /// The tool; empty if the stream does not show which one ended.
        tool: String,
        /// Whether it succeeded. A failure of a tool does not make the run fail.
        ok: bool,
    },
    /// A file was changed by a tool that does nothing else. What a shell command changes is not
    /// known.
    Edited {
        /// The file, as the agent names it.
        path: String,
    },
    /// The agent made a plan or got on with it.
    Planned {
        /// How far it is, and what is next.
        text: String,
    },
    /// The agent reported what it used.
    Used {
        /// All tokens of the run so far, if reported.
        tokens: Option<u64>,
        /// The cost so far in millionths of a US dollar, if reported.
        cost_micro_usd: Option<u64>,
    },
    /// A request failed. The CLI retries it or gives up.
    Troubled {
        /// What the CLI says about it.
        why: String,
    },
}
