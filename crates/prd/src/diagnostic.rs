//! Everything the reader can report: one constructor per code, so that the list of constructors is
//! the list of diagnostics.
//!
//! A diagnostic is data: `render` draws it for a terminal, and the CLI turns it into JSON. Programs
//! branch on the code and the severity, never on a text.

use crate::limits::{
    CYCLE_STORIES_SHOWN_MAX, DIAGNOSTICS_PER_CODE_MAX, ID_CHARS_MAX, MORE_PLACES_MAX,
};
use crate::source::Span;
use crate::story::{StoryId, UnusableId};

/// How serious a diagnostic is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// A loop cannot be started from this PRD.
    Error,
    /// A loop can be started, but a person should look at this.
    Warning,
}

impl Severity {
    /// The word in front of the code.
    pub fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// One finding: what is wrong, where, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable code with a page in `docs/errors/`.
    pub code: &'static str,
    /// Error or warning.
    pub severity: Severity,
    /// One lower-case sentence without a full stop.
    pub message: String,
    /// The place in a file, if there is one.
    pub at: Option<Span>,
    /// The text beside the marker under the source line. May be empty.
    pub label: String,
    /// What the person can do about it.
    pub help: Option<String>,
    /// Further places with the same problem.
    pub more: Vec<Span>,
}

/// Where a dependency was written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum NamedBy<'a> {
    DependsOn(&'a StoryId),
    Blocks(&'a StoryId),
    Edge,
}

/// A value that a field cannot have: what was found, what the reader did instead, and what would be
/// right.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unusable<'a> {
    pub(crate) field: &'a str,
    pub(crate) found: &'a str,
    pub(crate) instead: &'a str,
    pub(crate) help: &'a str,
}

/// The kind of a syntax mistake that was repaired while reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Repair {
    Comment,
    TrailingComma,
    MissingComma,
    ControlCharacter,
    Escape,
    PythonWord,
    CodeFence,
}

impl Repair {
    /// The message and the label.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Comment => (
                "a comment, which JSON does not have, was passed over",
                "comment",
            ),
            Self::TrailingComma => (
                "a comma without a value after it was passed over",
                "this comma is one too many",
            ),
            Self::MissingComma => (
                "a missing comma was read as if it were there",
                "a comma is missing here",
            ),
            Self::ControlCharacter => (
                "a raw control character inside a string was taken as it is",
                "JSON wants this character escaped",
            ),
            Self::Escape => (
                "an escape that JSON does not know was taken as it stands",
                "not a JSON escape",
            ),
            Self::PythonWord => (
                "a Python word was read as its JSON one",
                "JSON writes `true`, `false` and `null`",
            ),
            Self::CodeFence => (
                "the Markdown code fence around the document was passed over",
                "code fence",
            ),
        }
    }
}

impl Diagnostic {
    fn new(code: &'static str, severity: Severity, message: String) -> Self {
        Self {
            code,
            severity,
            message,
            at: None,
            label: String::new(),
            help: None,
            more: Vec::new(),
        }
    }

    fn error(code: &'static str, message: String) -> Self {
        Self::new(code, Severity::Error, message)
    }

    fn warning(code: &'static str, message: String) -> Self {
        Self::new(code, Severity::Warning, message)
    }

    fn at(mut self, span: Span, label: impl Into<String>) -> Self {
        self.at = Some(span);
        self.label = label.into();
        self
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    fn more(mut self, places: impl IntoIterator<Item = Span>) -> Self {
        self.more = places.into_iter().take(MORE_PLACES_MAX).collect();
        self
    }

    /// PRD001: the file cannot be read.
    pub fn not_readable(name: &str, reason: &str, help: &str) -> Self {
        Self::error("PRD001", format!("cannot read `{name}`: {reason}")).help(help)
    }

    /// PRD002: the file is not UTF-8 text.
    pub(crate) fn not_text(at: Span, label: &str, help: &str) -> Self {
        Self::error("PRD002", "this is not UTF-8 text".to_owned())
            .at(at, label)
            .help(help)
    }

    /// PRD003: the syntax is broken beyond repair.
    pub(crate) fn broken_syntax(
        format: &str,
        message: &str,
        at: Span,
        help: Option<String>,
    ) -> Self {
        let mut broken =
            Self::error("PRD003", format!("broken {format}: {message}")).at(at, "here");
        broken.help = help;
        broken
    }

    /// PRD004: a dependency names no story.
    pub(crate) fn unknown_dependency(
        wanted: &str,
        named_by: &NamedBy<'_>,
        at: Span,
        near: Option<&str>,
    ) -> Self {
        let wanted = shown(wanted);
        let message = match named_by {
            NamedBy::DependsOn(story) => {
                format!("story `{story}` depends on `{wanted}`, which does not exist")
            }
            NamedBy::Blocks(story) => {
                format!("story `{story}` says that it blocks `{wanted}`, which does not exist")
            }
            NamedBy::Edge => format!("an edge names `{wanted}`, which does not exist"),
        };
        let help = near.map_or_else(
            || "name the id of a story of this PRD, or remove the dependency".to_owned(),
            |near| format!("a story with a similar id exists: `{near}`"),
        );
        // Who is blocked may be done and gone; nothing of this PRD waits for it.
        let found = match named_by {
            NamedBy::Blocks(_) => Self::warning("PRD004", message),
            NamedBy::DependsOn(_) | NamedBy::Edge => Self::error("PRD004", message),
        };
        found.at(at, "no story has this id").help(help)
    }

    /// PRD004 as a warning: a dependency names something outside of the file.
    pub(crate) fn dependency_outside(
        wanted: &str,
        story: &StoryId,
        at: Span,
        near: Option<&str>,
    ) -> Self {
        let message = format!(
            "story `{story}` depends on `{}`, which is not in this file: no loop waits for it",
            shown(wanted)
        );
        let help = near.map_or_else(
            || {
                "if it is not done yet, do it first, or start a loop on a plan that has both"
                    .to_owned()
            },
            |near| format!("a story with a similar id exists: `{near}`"),
        );
        Self::warning("PRD004", message)
            .at(at, "no story of this file has this id")
            .help(help)
    }

    /// PRD005: there are no stories.
    pub(crate) fn no_stories(at: Option<Span>, label: &str, help: String) -> Self {
        let found = Self::error("PRD005", "no stories were found".to_owned()).help(help);
        match at {
            Some(at) => found.at(at, label),
            None => found,
        }
    }

    /// PRD006: a story has no text at all.
    pub(crate) fn missing_title(id: &str, at: Span) -> Self {
        Self::error(
            "PRD006",
            format!("story `{}` has no title and no other text", shown(id)),
        )
        .at(at, "nothing says what this story is about")
        .help("give it a `title`, or at least a `description`")
    }

    /// PRD006 as a warning: there is no title, but another text can serve as one.
    pub(crate) fn title_borrowed(id: &StoryId, from: &str, at: Span) -> Self {
        Self::warning(
            "PRD006",
            format!("story `{id}` has no title; {from} stands in for it"),
        )
        .at(at, "no `title`, `name`, `description` or `goal`")
        .help("give it a `title`")
    }

    /// PRD007: nothing says when a story is done.
    pub(crate) fn missing_criteria(id: &StoryId, at: Span, stands_in: &str) -> Self {
        Self::warning(
            "PRD007",
            format!("story `{id}` has no acceptance criteria; {stands_in} stands in for them"),
        )
        .at(at, "nothing says when this story is done")
        .help("add `acceptance_criteria`, one checkable sentence each: the verdict is given per criterion")
    }

    /// PRD008: two stories have the same id.
    pub(crate) fn duplicate_id(id: &StoryId, at: Span, first: Span) -> Self {
        Self::error("PRD008", format!("two stories have the id `{id}`"))
            .at(at, "this id is taken")
            .more([first])
            .help("give each story an id of its own; dependencies and commits name it")
    }

    /// PRD009: stories wait for each other.
    pub(crate) fn dependency_cycle(cycle: &[&StoryId], edges: &[Span], severity: Severity) -> Self {
        let mut path: Vec<String> = cycle
            .iter()
            .take(CYCLE_STORIES_SHOWN_MAX)
            .map(|id| format!("`{id}`"))
            .collect();
        if cycle.len() > CYCLE_STORIES_SHOWN_MAX {
            path.push(format!(
                "… {} more …",
                cycle.len() - CYCLE_STORIES_SHOWN_MAX
            ));
        }
        // Repeat the first story to show that the path closes.
        path.extend(cycle.first().map(|id| format!("`{id}`")));
        let message = if cycle.len() == 1 {
            format!("story {} depends on itself", path[0])
        } else {
            format!("these stories wait for each other: {}", path.join(" → "))
        };
        let found = Self::new("PRD009", severity, message)
            .help("remove one of the dependencies of the cycle");
        match edges.split_first() {
            Some((first, rest)) => found
                .at(*first, "part of the cycle")
                .more(rest.iter().copied()),
            None => found,
        }
    }

    /// PRD010: an id cannot be used in refs, file names and commit subjects.
    pub(crate) fn unusable_id(id: &str, because: UnusableId, at: Span) -> Self {
        let because = match because {
            UnusableId::Empty => "it is empty".to_owned(),
            UnusableId::OuterBlank => "it begins or ends with a blank".to_owned(),
            UnusableId::ControlCharacter => "it holds control or invisible characters".to_owned(),
            UnusableId::PathSeparator => "it holds a path separator".to_owned(),
            UnusableId::LeadingDash => {
                "it starts with `-`, which programs read as an option".to_owned()
            }
            UnusableId::Dots => "it names a folder".to_owned(),
            UnusableId::TooLong => format!("it is longer than {ID_CHARS_MAX} characters"),
            UnusableId::NotAWord => "it is not a word or a number".to_owned(),
        };
        let word = if id.trim().is_empty() {
            "an empty word".to_owned()
        } else {
            format!("`{}`", shown(id))
        };
        Self::error(
            "PRD010",
            format!("{word} cannot be used as a story's id: {because}"),
        )
        .at(at, "unusable id")
        .help("use letters, digits, `-`, `_` and `.`, for example `login-1`")
    }

    /// PRD011: a story asks for an unknown agent.
    pub(crate) fn unknown_tool(
        tool: &str,
        story: &StoryId,
        at: Span,
        near: Option<&str>,
        known: &[&str],
    ) -> Self {
        let help = near.map_or_else(
            || {
                format!(
                    "known are {}; `--tool NAME` makes another one known",
                    known.join(", ")
                )
            },
            |near| format!("did you mean `{near}`?"),
        );
        Self::error(
            "PRD011",
            format!(
                "story `{story}` asks for the tool `{}`, which is not known",
                shown(tool)
            ),
        )
        .at(at, "no agent has this name")
        .help(help)
    }

    /// PRD012: the input exceeds one of the reader's limits.
    pub(crate) fn limit_exceeded(what: &str, limit: &str, at: Option<Span>, help: &str) -> Self {
        let found = Self::error("PRD012", format!("{what}: the limit is {limit}")).help(help);
        match at {
            Some(at) => found.at(at, "the limit is hit here"),
            None => found,
        }
    }

    /// PRD013: a syntax mistake was repaired while reading. The file itself is unchanged. One
    /// diagnostic covers all places of a kind, because a generated file may repeat a mistake
    /// hundreds of times.
    pub(crate) fn repaired(repair: Repair, places: &[Span]) -> Option<Self> {
        let (message, label) = repair.words();
        let (first, rest) = places.split_first()?;
        let times = if rest.is_empty() {
            String::new()
        } else {
            format!(" ({} places)", places.len())
        };
        let found = Self::warning("PRD013", format!("{message}{times}")).at(*first, label);
        Some(
            found
                .more(rest.iter().copied())
                .help("other programs may refuse the file: mend it, or use `loopwright prd fmt`"),
        )
    }

    /// PRD014: an object has the same key twice, perhaps in two spellings.
    pub(crate) fn duplicate_key(
        key: &str,
        other: &str,
        at: Span,
        first: Span,
        severity: Severity,
    ) -> Self {
        let spelt = if key == other {
            String::new()
        } else {
            format!(", also spelt `{}`", shown(other))
        };
        let message = format!("the key `{}` stands twice in one object{spelt}", shown(key));
        let found = Self::new("PRD014", severity, message)
            .at(at, "this one was read")
            .more([first]);
        found.help("keep one of the two; programs differ in which they read")
    }

    /// PRD015: a value that the field cannot have.
    pub(crate) fn unusable_value(unusable: &Unusable<'_>, at: Span, severity: Severity) -> Self {
        let Unusable {
            field,
            found,
            instead,
            help,
        } = unusable;
        // A field with a space is a description (`an edge`), not a key to be quoted.
        let field = if field.contains(' ') {
            (*field).to_owned()
        } else {
            format!("`{}`", shown(field))
        };
        let message = format!("{field} cannot be {found}; {instead}");
        Self::new("PRD015", severity, message)
            .at(at, "not usable here")
            .help(*help)
    }

    /// PRD016: two state fields of a story contradict each other.
    pub(crate) fn contradictory_state(
        id: &StoryId,
        winner: &str,
        loser: &str,
        at: Span,
        other: Span,
    ) -> Self {
        let message = format!(
            "story `{id}` contradicts itself: `{winner}` counts, and `{loser}` says otherwise"
        );
        let found = Self::warning("PRD016", message)
            .at(at, "this one counts")
            .more([other]);
        found.help("bring both in line; `loopwright prd mark` sets every state field of a story")
    }

    /// PRD017: an item in a list of stories is not a story.
    pub(crate) fn not_a_story(found: &str, at: Span) -> Self {
        Self::warning(
            "PRD017",
            format!("{found} stands where a story was expected and was passed over"),
        )
        .at(at, "not a story")
        .help("a story is an object with at least a `title` and `acceptance_criteria`")
    }

    /// PRD017: a Markdown file is not a ticket.
    pub(crate) fn not_a_ticket(at: Span) -> Self {
        Self::warning(
            "PRD017",
            "a Markdown file without front matter was passed over".to_owned(),
        )
        .at(at, "no front matter begins here")
        .help("a ticket begins with `---`, then `id:`, `title:` and so on as YAML, then `---`")
    }

    /// PRD018: a status word is unknown.
    pub(crate) fn unknown_status(word: &str, id: &StoryId, at: Span) -> Self {
        let message = format!(
            "story `{id}` has the status `{}`, which is not known and was passed over",
            shown(word)
        );
        Self::warning("PRD018", message)
            .at(at, "unknown status")
            .help("known are pending, in-progress, done, skipped, wont-fix, blocked, stuck and failed")
    }

    /// PRD019: the file changed after it was read.
    pub fn file_changed(name: &str) -> Self {
        Self::error(
            "PRD019",
            format!("`{name}` changed while it was being worked on; nothing was written"),
        )
        .help("run the command again: it will read the file anew")
    }

    /// PRD020: the state of a story cannot be written.
    pub(crate) fn cannot_mark(message: String, at: Option<Span>, help: String) -> Self {
        let found = Self::error("PRD020", message).help(help);
        match at {
            Some(at) => found.at(at, "this story"),
            None => found,
        }
    }

    /// PRD021: the file has no place for the state, so it stays with the loop.
    pub(crate) fn no_place_for_state(message: String, at: Option<Span>, help: &str) -> Self {
        let found = Self::error("PRD021", message).help(help);
        match at {
            Some(at) => found.at(at, "this story"),
            None => found,
        }
    }
}

/// Makes text from a file safe and short enough for a message. A hostile file may contain terminal
/// escapes.
pub(crate) fn shown(text: &str) -> String {
    const SHOWN_CHARS_MAX: usize = 80;
    let mut out: String = text.chars().take(SHOWN_CHARS_MAX).map(visible).collect();
    if text.chars().nth(SHOWN_CHARS_MAX).is_some() {
        out.push('…');
    }
    out
}

/// Replaces a control or direction-changing character with a replacement mark.
pub(crate) fn visible(character: char) -> char {
    if character.is_control() || crate::story::is_invisible(character) {
        '\u{FFFD}'
    } else {
        character
    }
}

/// Collects diagnostics, bounded per code so that a hostile file cannot make the output larger than
/// itself.
#[derive(Debug, Default)]
pub(crate) struct Complaints {
    kept: Vec<Diagnostic>,
    counts: std::collections::BTreeMap<&'static str, usize>,
    has_error: bool,
}

impl Complaints {
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        // Counted even if it is not kept: the two hundredth error is still an error.
        self.has_error |= diagnostic.severity == Severity::Error;
        let count = self.counts.entry(diagnostic.code).or_default();
        *count += 1;
        if *count <= DIAGNOSTICS_PER_CODE_MAX {
            self.kept.push(diagnostic);
        }
    }

    /// How many diagnostics of a code there were, so that a costly help can be left out after many.
    pub(crate) fn count(&self, code: &str) -> usize {
        self.counts.get(code).copied().unwrap_or_default()
    }

    pub(crate) fn has_error(&self) -> bool {
        self.has_error
    }

    /// The diagnostics that were kept, in file order, and per code how many were left out.
    pub(crate) fn finish(mut self) -> (Vec<Diagnostic>, Vec<(&'static str, usize)>) {
        // Those without a place come first. Diagnostics of one place keep their order.
        self.kept.sort_by_key(|diagnostic| diagnostic.at);
        let left_out = self
            .counts
            .into_iter()
            .map(|(code, count)| (code, count.saturating_sub(DIAGNOSTICS_PER_CODE_MAX)))
            .filter(|(_, count)| *count > 0)
            .collect();
        (self.kept, left_out)
    }
}
