//! Everything that a prompt may speak of beside its story.

use kernel::{Commit, Flag, Mutants, Obligation, Proof, Review};

/// Everything that a prompt may speak of.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// The commit that the story began at.
    pub base: Option<Commit>,
    /// What is proposed.
    pub candidate: Option<Commit>,
    /// The change.
    pub diff: String,
    /// What the checks showed.
    pub checks: String,
    /// What earlier attempts taught, oldest first.
    pub feedback: Vec<String>,
    /// What people say.
    pub answers: Vec<String>,
    /// Test files that the implementor can see.
    pub tests: Vec<String>,
    /// Why tests must be written again.
    pub order: Option<String>,
    /// Where test files may be.
    pub test_paths: String,
    /// The tests in dispute.
    pub failing: Vec<String>,
    /// What a PASS must answer.
    pub obligations: Vec<Obligation>,
    /// What a judge should look at.
    pub flags: Vec<Flag>,
    /// How the story's tests did against small faults in the changed lines.
    pub mutants: Option<Mutants>,
    /// What the reviewer said.
    pub review: Option<Review>,
    /// What is to be known of how the candidate was made.
    pub notes: Vec<String>,
    /// The project's `## Codebase Patterns`.
    pub patterns: Option<String>,
    /// The project's AGENTS.md and CLAUDE.md.
    pub guides: Vec<(String, String)>,
    /// What earlier stories of the loop taught.
    pub learned: Vec<String>,
    /// Entry points, manifests and test configuration.
    pub inventory: Vec<String>,
    /// The project's commands: name and command line.
    pub commands: Vec<(String, String)>,
    /// Title and description of the whole PRD.
    pub about: Option<String>,
    /// The files that the story names.
    pub excerpts: Vec<Excerpt>,
    /// What the prover showed of its work.
    pub proof: Option<Proof>,
    /// Why the last answer could not be used.
    pub repair: Option<String>,
    /// Whether a skipped story is looked at again.
    pub recheck: bool,
    /// Whether an earlier try's session is gone on with, which knows the task already.
    pub goes_on: bool,
}

/// A file that a story names, as the base has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The path that the author wrote.
    pub path: String,
    /// What the base has there.
    pub found: Found,
}

/// What the base has at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// A text.
    Text(String),
    /// A folder with these names in it.
    Folder(Vec<String>),
    /// Something that is no text, or too large to be read.
    Unreadable,
    /// Nothing.
    Nothing,
}
