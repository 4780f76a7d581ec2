//! A broken rule: where, which one, what is wrong there, and how to mend it.
//!
//! All complaints are alike in weight. A rule that may be broken is no rule, so there are no
//! warnings.

use std::fmt;

/// The rules by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rule {
    Edges,
    Homes,
    Versions,
    Header,
    FileSize,
    FunctionSize,
    Words,
    Paths,
    Errors,
    Decisions,
    Lockfiles,
    Modules,
    ProseBranches,
    StringErrors,
    DebugWords,
    Changelog,
}

impl Rule {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Edges => "edges",
            Self::Homes => "homes",
            Self::Versions => "versions",
            Self::Header => "header",
            Self::FileSize => "file-size",
            Self::FunctionSize => "function-size",
            Self::Words => "words",
            Self::Paths => "paths",
            Self::Errors => "errors",
            Self::Decisions => "decisions",
            Self::Lockfiles => "lockfiles",
            Self::Modules => "modules",
            Self::ProseBranches => "prose-branches",
            Self::StringErrors => "string-errors",
            Self::DebugWords => "debug-words",
            Self::Changelog => "changelog",
        }
    }

    /// Says how to mend it; shown once, however many complaints there are.
    pub(super) fn mend(self) -> &'static str {
        match self {
            Self::Edges => {
                "remove the dependency; a new edge or crate is a design change: a page in docs/decisions, \
                 then a row in xtask/src/tidy/edges.rs"
            }
            Self::Homes => {
                "move the code to the crate that is home to the dependency, or ask that crate for it"
            }
            Self::Versions => {
                "put the version into [workspace.dependencies] of the root manifest, below a comment that says \
                 why we take the crate, and write `name.workspace = true` in the member"
            }
            Self::Header => {
                "start the file with `//!`: what it is for and what it deliberately does not do"
            }
            Self::FileSize => {
                "split the file along its subjects; an entry in xtask/tidy-exceptions.txt only shrinks"
            }
            Self::FunctionSize => {
                "split the function; an entry in xtask/tidy-exceptions.txt only shrinks"
            }
            Self::Words => {
                "a task is an issue, a limit is a sentence in the docs, a test that cannot run is removed"
            }
            Self::Paths => {
                "write the path relative to the workspace, or invent one: `/home/you/project`"
            }
            Self::Errors => {
                "write docs/errors/CODE.md with `# CODE: what is wrong` on top, and a test that names the code"
            }
            Self::Decisions => {
                "name the file `NNNN-words-with-dashes.md`, with the next free number"
            }
            Self::Changelog => "run `cargo xtask changelog`",
            Self::Lockfiles => {
                "generate the lock file again with `npm config set omit-lockfile-registry-resolved true`"
            }
            Self::Modules => {
                "move what both modules use into a third below them; an entry in xtask/tidy-exceptions.txt only \
                 shrinks"
            }
            Self::ProseBranches => {
                "carry the case in an enum beside the text, and branch on the enum: text may be reworded at any time"
            }
            Self::StringErrors => {
                "name the ways to fail in an error enum (`thiserror`); the text is made where it is shown"
            }
            Self::DebugWords => {
                "say it in words: give the type a `word()` or `Display`, and show a path with `display()`"
            }
        }
    }
}

/// One complaint. The order of the fields is the order in which complaints are shown.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Complaint {
    pub(super) path: String,
    pub(super) line_number: usize,
    pub(super) rule: Rule,
    pub(super) message: String,
}

impl Complaint {
    pub(super) fn new(
        rule: Rule,
        path: &str,
        line_number: usize,
        message: impl Into<String>,
    ) -> Self {
        Self {
            path: path.to_owned(),
            line_number,
            rule,
            message: message.into(),
        }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}: {} ({})",
            self.path,
            self.line_number,
            self.message,
            self.rule.name()
        )
    }
}

/// Shows complaints as a person sees them, for tests that compare whole values.
#[cfg(test)]
pub(super) fn shown(complaints: &[Complaint]) -> Vec<String> {
    complaints.iter().map(ToString::to_string).collect()
}
