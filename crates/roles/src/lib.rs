//! What each role is asked, and how its answer is read.
//!
//! Pure: values in, text out, and the other way round. It starts nobody and knows no agent.

mod answer;
mod context;
mod evidence;
mod prompt;
mod schema;
mod sections;
mod verdict;

pub use answer::{
    Ruling, read_coverage, read_learned, read_proof, read_question, read_review, read_ruling,
};
pub use context::{Context, Excerpt, Found};
pub use prompt::{PROMPT_BYTES, Prompt, check_template, prompt};
pub use schema::schema;
pub use verdict::{Asked, last_json_object, read_verdict};
