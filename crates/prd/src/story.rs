//! The PRD as a value: validated ids, one state per story, criteria as sentences.
//!
//! Only the reader makes these values, so the ids in a `Prd` are unique and usable. How a PRD looks
//! as a file is `canonical`'s concern.

use std::fmt;

use crate::limits::ID_CHARS_MAX;

/// What a person wants built: stories in file order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prd {
    /// The title of the whole PRD.
    pub title: Option<String>,
    /// The description of the whole PRD.
    pub description: Option<String>,
    /// What the author notes for all stories.
    pub notes: Option<String>,
    /// The branch that the author named.
    pub branch: Option<String>,
    /// Commands or rules that hold for every story.
    pub checks: Vec<Check>,
    /// The stories, in file order; ids are unique.
    pub stories: Vec<Story>,
    /// The phases, epics or milestones that the stories were grouped in.
    pub groups: Vec<Group>,
    /// Ids that stories depend on and that are not in the file, such as closed issues. Nothing waits
    /// for them.
    pub outside: Vec<String>,
    /// Unknown keys of the document, kept as they were.
    pub extra: Vec<(String, Extra)>,
}

impl Prd {
    /// Says whether there is a story with this id that has passed.
    pub(crate) fn has_passed(&self, id: &str) -> bool {
        let mut stories = self.stories.iter();
        stories.any(|story| story.id.as_str() == id && story.state == StoryState::Passed)
    }
}

/// One story of the PRD.
#[derive(Debug, Clone, PartialEq)]
pub struct Story {
    /// The author's id for the story.
    pub id: StoryId,
    /// The title, one line.
    pub title: String,
    /// Everything else that the author says about the story.
    pub description: String,
    /// What the author notes beside the description.
    pub notes: Option<String>,
    /// When the story is done. Never empty.
    pub criteria: Vec<Criterion>,
    /// The priority, lowest number first. Stories without one come last.
    pub priority: Option<Priority>,
    /// The state that the file gives.
    pub state: StoryState,
    /// Stories that must pass before this one starts, and ids of [`Prd::outside`].
    pub depends_on: Vec<StoryId>,
    /// The agent that the author asks for.
    pub tool: Option<String>,
    /// The model that the author asks for.
    pub model: Option<String>,
    /// Files that the author expects to change.
    pub files: Vec<String>,
    /// Commands for this story alone.
    pub checks: Vec<Check>,
    /// The name of the story's group.
    pub group: Option<String>,
    /// Unknown keys, kept as they were.
    pub extra: Vec<(String, Extra)>,
}

/// One sentence that must be true when the story is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Criterion {
    /// The sentence.
    pub text: String,
    /// A command that checks it, if the author gave one.
    pub command: Option<String>,
}

/// A command or rule of the project that every story must meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// A name such as `test` or `lint`, if the author gave one.
    pub name: Option<String>,
    /// What the author wrote: usually a command line, sometimes a sentence.
    pub text: String,
}

/// A phase, epic or milestone.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The group's id, name or position.
    pub name: String,
    /// The group's keys besides its stories.
    pub extra: Vec<(String, Extra)>,
}

/// A value that we keep without understanding it. Numbers are kept as text, so that none changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Extra {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number as it was written.
    Number(String),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Extra>),
    /// An object, in file order.
    Map(Vec<(String, Extra)>),
}

/// The state of a story.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StoryState {
    /// Not finished: it will run.
    Open,
    /// Done.
    Passed,
    /// Set aside.
    Skipped,
    /// Decided against.
    WontFix,
    /// Waiting for something outside the PRD.
    Blocked,
    /// Unable to continue without a person.
    Stuck,
    /// Tried without success.
    Failed,
}

impl StoryState {
    /// The state's name in output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Passed => "passed",
            Self::Skipped => "skipped",
            Self::WontFix => "wont-fix",
            Self::Blocked => "blocked",
            Self::Stuck => "stuck",
            Self::Failed => "failed",
        }
    }
}

/// A story's priority; low comes first. It is kept in thousandths, because people write `1.5` too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Priority(i64);

impl Priority {
    /// The largest absolute value of a priority.
    const MAX: f64 = 1e9;

    /// Reads a number as written, or `None` if it is not a number or out of range.
    pub(crate) fn from_number(text: &str) -> Option<Self> {
        let number: f64 = text.parse().ok()?;
        (number.abs() <= Self::MAX).then(|| Self::rounded(number))
    }

    /// Makes a priority from a whole number.
    pub(crate) const fn whole(number: i64) -> Self {
        Self(number * 1000)
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "the caller has bounded the number"
    )]
    fn rounded(number: f64) -> Self {
        Self((number * 1000.0).round() as i64)
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let thousandths = self.0.unsigned_abs();
        let whole = thousandths / 1000;
        let rest = thousandths % 1000;
        if rest == 0 {
            return write!(out, "{sign}{whole}");
        }
        let digits = format!("{rest:03}");
        write!(out, "{sign}{whole}.{}", digits.trim_end_matches('0'))
    }
}

/// The author's id for a story, safe to use in file names, options and commit subjects. It may
/// contain spaces and other characters that git refuses in refs; code that makes a ref from it must
/// escape them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StoryId(String);

/// Why a text cannot be an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnusableId {
    /// It is empty or blank.
    Empty,
    /// It has whitespace at either end.
    OuterBlank,
    /// Control, direction-changing or zero-width characters.
    ControlCharacter,
    /// `/` or `\`.
    PathSeparator,
    /// Programs would read it as an option.
    LeadingDash,
    /// `.` or `..`.
    Dots,
    /// More than [`ID_CHARS_MAX`] characters.
    TooLong,
    /// A list, an object or a yes/no value.
    NotAWord,
}

impl StoryId {
    /// Validates an id.
    pub fn new(word: &str) -> Result<Self, UnusableId> {
        if word.trim().is_empty() {
            return Err(UnusableId::Empty);
        }
        // The reader has trimmed a given id already, but not a file's name.
        if word.trim() != word {
            return Err(UnusableId::OuterBlank);
        }
        if word
            .chars()
            .any(|character| character.is_control() || is_invisible(character))
        {
            return Err(UnusableId::ControlCharacter);
        }
        if word.contains(['/', '\\']) {
            return Err(UnusableId::PathSeparator);
        }
        if word.starts_with('-') {
            return Err(UnusableId::LeadingDash);
        }
        if matches!(word, "." | "..") {
            return Err(UnusableId::Dots);
        }
        if word.chars().nth(ID_CHARS_MAX).is_some() {
            return Err(UnusableId::TooLong);
        }
        Ok(Self(word.to_owned()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StoryId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::borrow::Borrow<str> for StoryId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// Says whether a character changes how a line reads without being visible: direction marks,
/// zero-width characters and line separators. They can make two ids look the same.
pub(crate) fn is_invisible(character: char) -> bool {
    matches!(character, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}' | '\u{061C}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_usable_or_says_why_not() {
        let long = "x".repeat(ID_CHARS_MAX + 1);
        for (word, expected) in [
            ("US-001", Ok(())),
            ("Geschichte Ü 1.2_b", Ok(())),
            (&long[1..], Ok(())),
            ("", Err(UnusableId::Empty)),
            (" ", Err(UnusableId::Empty)),
            (" a", Err(UnusableId::OuterBlank)),
            ("a\n", Err(UnusableId::OuterBlank)),
            ("a\nb", Err(UnusableId::ControlCharacter)),
            ("a\u{202E}b", Err(UnusableId::ControlCharacter)),
            ("../../x", Err(UnusableId::PathSeparator)),
            ("a\\b", Err(UnusableId::PathSeparator)),
            ("-rf", Err(UnusableId::LeadingDash)),
            ("..", Err(UnusableId::Dots)),
            (&long, Err(UnusableId::TooLong)),
        ] {
            assert_eq!(StoryId::new(word).map(drop), expected, "{word:?}");
        }
    }

    #[test]
    fn a_priority_reads_and_prints_as_written() {
        for (text, expected) in [
            ("1", Some("1")),
            ("1.5", Some("1.5")),
            ("-2", Some("-2")),
            ("007", Some("7")),
            ("1e999", None),
            ("NaN", None),
            ("1e12", None),
        ] {
            let shown = Priority::from_number(text).map(|priority| priority.to_string());
            assert_eq!(shown.as_deref(), expected, "{text}");
        }
    }
}
