//! One file per agent CLI, each two pure halves and a table of facts: a command line out, a
//! transcript's events in.
//!
//! Nothing here starts a program, reads a file or looks at a clock. What a CLI really does was
//! measured with the real programs; their recorded streams are in `tests/cases`. The order of
//! evidence for an [`Outcome`] is always the same: did the run fail by the CLI's own rule, then
//! structured fields, then the text of the terminal error. What a tool printed or a model said
//! decides nothing.

mod acp;
mod civil;
mod classify;
mod claude;
mod codex;
mod command;
mod evidence;
mod exit;
mod facts;
mod gemini;
mod json;
mod kind;
mod lines;
mod opencode;
mod outcome;
mod parser;
mod phrases;
mod pi;
mod prices;
mod record;
mod reset;
mod session;
mod spec;
mod summary;
mod usage;
mod version;

pub use exit::{Clock, Ended, Exit};
pub use facts::{Facts, Family, LoginCheck, LoginState, Sessions};
pub use kind::Kind;
pub use outcome::{Outcome, Remedy};
pub use parser::Parser;
pub use prices::{Price, Prices};
pub use reset::{When, find_reset};
pub use session::{Session, SessionId};
pub use spec::{CommandSpec, HomeFile, HomeLink, Keep, StopSignal, Task};
pub use summary::{AgentEvent, RunSummary, ToolCall};
pub use usage::{Counted, Tokens, Usage};
pub use version::{BadVersion, Version, VersionVerdict};
