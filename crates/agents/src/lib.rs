//! Adapters for agent CLIs, one file each. An adapter has two pure halves and a table of facts: it
//! builds a command line, and it parses the transcript that comes back.
//!
//! Nothing here starts a program, reads a file or looks at a clock. The behaviour of each CLI was
//! measured with the real program; the recorded streams are in `tests/cases`. An [`Outcome`] is
//! always derived in the same order: whether the run failed by the CLI's own rule, then structured
//! fields, then the text of the terminal error. Tool output and model text are never searched,
//! because a review that mentions a rate limit is not a rate limit.

mod acp;
mod activity;
mod classify;
mod claude;
mod codex;
mod command;
mod evidence;
mod exit;
mod facts;
mod gateway;
mod gemini;
mod json;
mod kind;
mod lines;
mod login_file;
mod opencode;
mod outcome;
mod parser;
mod phrases;
mod pi;
mod prices;
mod reader;
mod record;
mod renewal;
mod reset;
mod rounds;
mod session;
mod spec;
mod summary;
mod tools;
mod usage;
mod version;
mod web_token;

pub use activity::Activity;
pub use exit::{Clock, Ended, Exit};
pub use facts::{Facts, Family, LoginCheck, LoginState, Sessions};
pub use gateway::{Gateway, ToldBy};
pub use kind::Kind;
pub use login_file::{HELD_BACK, is_refreshed_login};
pub use outcome::{Outcome, Remedy};
pub use parser::Parser;
pub use prices::{Price, Prices};
pub use reader::Reader;
pub use renewal::{Renewal, TokenAnswer};
pub use reset::{When, find_reset};
pub use session::{Session, SessionId};
pub use spec::{CommandSpec, HomeFile, HomeLink, Keep, StopSignal, Task};
pub use summary::{RunSummary, ToolCall};
pub use usage::{Counted, Tokens, Usage};
pub use version::{BadVersion, Version, VersionVerdict};
pub use web_token::web_token_ends;
