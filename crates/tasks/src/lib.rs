//! The tasks of a plan: which is ready, who holds which, and what is complete, for all worktrees of a
//! repository together.
//!
//! ```text
//! plan (a worktree's file) ─┐
//!                           ├─▶ Board ─▶ claim · complete · release · reset ─▶ events ─▶ store
//! events (one per repository) ─▶ Claims ┘                                       └─▶ the file's own word
//! ```
//!
//! The plan says what the tasks are; the store is the truth about their state. Looking never claims.
//! Everything that decides (`board`, `moves`) takes values, also the time and who is alive. Only
//! [`Tasks`] reads and writes, all under one lock of the repository.

mod board;
mod claims;
mod error;
mod event;
mod file_word;
mod holding;
mod lease;
mod loops;
mod moves;
mod output;
mod owner;
mod place;
mod prompt;
mod refresh;
mod refreshing;
mod runs;
mod store;
mod verbs;
mod words;

pub use board::{Board, NoTask, Status, Task};
pub use claims::{Claims, Kept, TaskState};
pub use error::{BadGraph, Refusal, TaskError};
pub use event::{Event, Then};
pub use file_word::FileWord;
pub use holding::is_holding;
pub use lease::Lease;
pub use moves::{Caller, Force, LoopShare};
pub use output::missing_output;
pub use owner::{Owner, OwnerKind};
pub use place::{GRAPH_FILES, Place, TICKET_FOLDERS};
pub use prompt::{prompt_of, shell_word};
pub use refresh::{Refreshed, graph_text};
pub use store::{LEASE_MS, Tasks, View};
pub use verbs::{Claimed, Completed};
