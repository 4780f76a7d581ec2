//! The PRD in its canonical meaning: validated ids, one state per story, criteria as sentences.
//!
//! Values here are only made by the reader, so whoever holds a `Prd` holds unique, usable ids. How
//! it looks as a file is `canonical`'s concern.

use std::fmt;

use crate::limits::ID_CHARS_MAX;

/// What a person wants built: stories in file order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prd {
    /// What the whole is called.
    pub title: Option<String>,
    /// What the whole is about.
    pub description: Option<String>,
    /// The branch that the author had in mind.
    pub branch: Option<String>,
    /// Commands or rules that hold for every story.
    pub checks: Vec<Check>,
    /// The stories, in file order; ids are unique.
    pub stories: Vec<Story>,
    /// Phases, epics or milestones that the stories were grouped in.
    pub groups: Vec<Group>,
    /// Keys of the document that we do not know, kept as they were.
    pub extra: Vec<(String, Extra)>,
}

/// One item of the PRD.
#[derive(Debug, Clone, PartialEq)]
pub struct Story {
    /// The author's own word for it.
    pub id: StoryId,
    /// One line.
    pub title: String,
    /// The rest of what the author says.
    pub description: String,
    /// When it is done; never empty.
    pub criteria: Vec<Criterion>,
    /// Low number first; stories without one come last.
    pub priority: Option<Priority>,
    /// Where it stands.
    pub state: StoryState,
    /// Stories that must pass before this one begins.
    pub depends_on: Vec<StoryId>,
    /// The agent that the author wants for it.
    pub tool: Option<String>,
    /// The model that the author wants for it.
    pub model: Option<String>,
    /// Files that the author expects to change.
    pub files: Vec<String>,
    /// Commands that belong to this story alone.
    pub checks: Vec<Check>,
    /// The group that it stood in.
    pub group: Option<String>,
    /// Keys that we do not know, kept as they were.
    pub extra: Vec<(String, Extra)>,
}

/// One sentence that must be true when the story is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Criterion {
    /// The sentence.
    pub text: String,
    /// A command that shows it, where the author gave one.
    pub command: Option<String>,
}

/// A command or rule of the project that every story must meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// `test`, `lint`, …, where the author named it.
    pub name: Option<String>,
    /// The author's words: mostly a command line, at times a sentence.
    pub text: String,
}

/// A phase, epic or milestone.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Its id, name or position.
    pub name: String,
    /// What it says beside its stories.
    pub extra: Vec<(String, Extra)>,
}

/// A value that we keep without understanding it. Numbers are their text, so that none is bent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Extra {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number as it was written.
    Number(String),
    /// Text
    Text(String),
    /// A list
    List(Vec<Extra>),
    /// An object, in file order
    Map(Vec<(String, Extra)>),
}

/// Where a story stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StoryState {
    /// Not begun, or begun and not finished: it will run.
    Open,
    /// Done.
    Passed,
    /// Set aside.
    Skipped,
    /// Decided against.
    WontFix,
    /// Waits for something outside the PRD.
    Blocked,
    /// Somebody could not go on.
    Stuck,
    /// Tried and not achieved.
    Failed,
}

impl StoryState {
    /// The word for it in output.
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

/// How soon a story is wanted, in thousandths so that `1.5` has a place: low comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Priority(i64);

impl Priority {
    /// The largest size of a priority, either way.
    const MAX: f64 = 1e9;

    /// From a number as written; nothing when it is not a sane one.
    pub(crate) fn from_number(text: &str) -> Option<Self> {
        let number: f64 = text.parse().ok()?;
        (number.abs() <= Self::MAX).then(|| Self::rounded(number))
    }

    /// From a whole number.
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
        let (sign, size) = (if self.0 < 0 { "-" } else { "" }, self.0.unsigned_abs());
        let (whole, rest) = (size / 1000, size % 1000);
        if rest == 0 {
            return write!(out, "{sign}{whole}");
        }
        let digits = format!("{rest:03}");
        write!(out, "{sign}{whole}.{}", digits.trim_end_matches('0'))
    }
}

/// The author's word for a story, safe to use in file names, options and commit subjects. It may
/// hold blanks and other characters that git refuses in refs: whoever makes a ref from it must
/// escape those.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StoryId(String);

/// Why a word cannot be an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnusableId {
    /// Nothing but blanks.
    Empty,
    /// A blank at either end.
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
    /// Checks a word.
    pub fn new(word: &str) -> Result<Self, UnusableId> {
        if word.trim().is_empty() {
            return Err(UnusableId::Empty);
        }
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

    /// The word itself.
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

/// Characters that change how a line reads without being seen: direction marks, zero-width and line
/// separators.
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
