//! Everything that the reader normalised, with its place.
//!
//! A change is small (a kind and a span) because a large PRD has many of them. Its sentence is made
//! only when it is shown.

use crate::diagnostic::shown;
use crate::limits::CHANGES_MAX;
use crate::source::{Sources, Span};
use crate::story::{Priority, StoryState};

/// One thing that was normalised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The place in the file.
    pub at: Span,
    pub(crate) kind: ChangeKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    /// The key at the span is another spelling of this one.
    Key(&'static str),
    /// The document was wrapped in the key at the span.
    Wrapper,
    /// Stories were in groups under the key at the span.
    Ungrouped,
    IdFromNumber,
    // Boxed without a capacity, because the largest variant sets the size of all changes.
    IdFromPosition(Box<str>),
    IdFromKey,
    IdFromFileName(Box<str>),
    IdTrimmed,
    TitleFrom(&'static str),
    CriterionFromObject,
    CriteriaFromText,
    CriteriaFromObject,
    CriteriaFromBody,
    NotesFromList,
    PriorityFromWord(Priority),
    DependencyFromNumber,
    DependenciesFromText,
    DependencyFromBlocks,
    DependencyFromEdge,
    DependencyOnGroup(usize),
    State(StoryState),
    FlagFromValue(bool),
    ReadinessComputed,
    ToolFromAlias(&'static str),
    NumberAsText,
    /// A Markdown plan, and what was taken as a story.
    PlanRead(&'static str),
    IdFromTitle(Box<str>),
    /// The id was given to an earlier story too.
    IdTaken(Box<str>),
    /// A tracker's or a plan's story without criteria, which is judged by another text.
    CriteriaFrom(&'static str),
    /// An entry of a tracker that is no story, and why.
    PassedOver(&'static str),
}

impl Change {
    /// The change as a sentence. Equal sentences may be counted together.
    pub fn describe(&self, sources: &Sources) -> String {
        // The span of a quoted key or value includes its quotes.
        let text = shown(sources.text(self.at).trim_matches(['"', '\'']));
        match &self.kind {
            ChangeKind::Key(canonical) => format!("`{text}` read as `{canonical}`"),
            ChangeKind::Wrapper => format!("the document was read from inside `{text}`"),
            ChangeKind::Ungrouped => format!("stories were taken out of the groups in `{text}`"),
            ChangeKind::IdFromNumber => "a number as id read as a word".to_owned(),
            ChangeKind::IdFromPosition(id) => {
                format!("a story without id is called `{id}`, after its position")
            }
            ChangeKind::IdFromKey => "the key of an object read as the story's id".to_owned(),
            ChangeKind::IdFromFileName(id) => {
                format!("a ticket without id is called `{id}`, after its file")
            }
            ChangeKind::IdTrimmed => "blanks around an id were dropped".to_owned(),
            ChangeKind::TitleFrom(field) => format!("a missing title was taken from {field}"),
            ChangeKind::CriterionFromObject => {
                "a criterion written as an object read as a sentence".to_owned()
            }
            ChangeKind::CriteriaFromText => {
                "criteria written as one text read as a list".to_owned()
            }
            ChangeKind::CriteriaFromObject => {
                "criteria written as an object read as a list".to_owned()
            }
            ChangeKind::CriteriaFromBody => "criteria were read from the ticket's text".to_owned(),
            ChangeKind::NotesFromList => "notes written as a list read as one text".to_owned(),
            ChangeKind::PriorityFromWord(number) => format!("priority `{text}` read as {number}"),
            ChangeKind::DependencyFromNumber => "a number as dependency read as a word".to_owned(),
            ChangeKind::DependenciesFromText => {
                "dependencies written as one text read as a list".to_owned()
            }
            ChangeKind::DependencyFromBlocks => {
                "`blocks` read as a dependency of the other story".to_owned()
            }
            ChangeKind::DependencyFromEdge => {
                "an edge of the graph read as a dependency".to_owned()
            }
            ChangeKind::DependencyOnGroup(1) => {
                format!("a dependency on the group `{text}` read as one on its only story")
            }
            ChangeKind::DependencyOnGroup(count) => {
                format!("a dependency on the group `{text}` read as one on its {count} stories")
            }
            ChangeKind::State(state) => format!("`{text}` read as {}", state.word()),
            ChangeKind::FlagFromValue(meaning) if text.is_empty() => {
                format!("a key without a value read as {meaning}")
            }
            ChangeKind::FlagFromValue(meaning) => format!("`{text}` read as {meaning}"),
            ChangeKind::ReadinessComputed => {
                format!("`{text}` is not taken from the file but worked out from the dependencies")
            }
            ChangeKind::ToolFromAlias(tool) => format!("tool `{text}` read as `{tool}`"),
            ChangeKind::NumberAsText => "a number read as text".to_owned(),
            ChangeKind::PlanRead(how) => format!("a plan in Markdown: {how} is a story"),
            ChangeKind::IdFromTitle(id) => {
                format!("a story without id is called `{id}`, after its title")
            }
            ChangeKind::IdTaken(id) => {
                format!("the id of an earlier story stands here again; this one is called `{id}`")
            }
            ChangeKind::CriteriaFrom(text) => {
                format!("a story without criteria is judged by {text}")
            }
            ChangeKind::PassedOver(what) => format!("{what} is no story and was passed over"),
        }
    }
}

/// Collects changes up to a bound.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    kept: Vec<Change>,
    left_out: usize,
}

impl Changes {
    pub(crate) fn push(&mut self, at: Span, kind: ChangeKind) {
        if self.kept.len() < CHANGES_MAX {
            self.kept.push(Change { at, kind });
        } else {
            self.left_out += 1;
        }
    }

    /// The changes that were kept, in file order, and how many were not.
    pub(crate) fn finish(mut self) -> (Vec<Change>, usize) {
        // Changes arrive step by step: all ids first, then the stories, then the dependencies.
        self.kept.sort_by_key(|change| change.at);
        (self.kept, self.left_out)
    }
}
