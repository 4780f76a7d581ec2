//! What each role is asked, and how its answer is read.
//!
//! Pure: values in, text out, and the other way round. It starts nobody and knows no agent.

mod prompt;
mod verdict;

pub use prompt::{implementor_prompt, judge_prompt, recheck_prompt};
pub use verdict::{last_json_object, read_verdict};
