//! Reads what a person wrote into a validated [`Prd`], and reports everything that is wrong with
//! it.
//!
//! Pure: bytes in, values out. The reader accepts the whole family of PRD files found in the wild
//! (JSON with mistakes, YAML, task graphs, folders of Markdown tickets, plans in Markdown, exports of
//! issue trackers). It reports everything that it normalised, with its place, and can change the state of one story in the original text
//! without touching any other byte. It reads and writes no files itself.

mod canonical;
mod change;
mod diagnostic;
mod graph;
mod keys;
mod letter_case;
pub mod limits;
mod mark;
mod near;
mod node;
mod order;
mod parse;
mod plan;
mod read;
mod render;
mod source;
mod story;

pub use canonical::{Syntax, canonical};
pub use change::Change;
pub use diagnostic::{Diagnostic, Severity};
pub use graph::{GraphFormat, graph};
pub use keys::is_known_tool;
pub use mark::{Mark, Marked, StatusWords, mark, mark_for_review, status_words, swap_word};
pub use near::nearest;
pub use order::{Order, order};
pub use read::{Format, Input, Options, ReadOnly, Reading, read};
pub use render::{Paint, render, render_place};
pub use source::{Position, Source, Sources, Span};
pub use story::{
    Check, Criterion, Extra, Group, Prd, Priority, Story, StoryId, StoryState, UnusableId,
};

/// The JSON Schema of the canonical form.
pub const SCHEMA: &str = include_str!("schema.json");
