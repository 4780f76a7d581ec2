//! Writes a story's new state into the author's own text and leaves every other byte as it was.
//!
//! It uses the field and the word that the file itself uses, and proves its work before giving it
//! back: the new text is read again and must differ from the old in that one state. Putting it on
//! the disk is somebody else's.

mod insert;
mod vocabulary;

use std::ops::Range;

use crate::change::Changes;
use crate::diagnostic::{Complaints, Diagnostic};
use crate::keys::Fields;
use crate::near::nearest;
use crate::node::{Entry, MapStyle, Node, Origin, Value};
use crate::read::locate::Found;
use crate::read::state::{StateFields, flag_meaning, further_flags, status_meaning};
use crate::read::{self, Context, Input, Options, Reading};
use crate::source::{Sources, Span};
use crate::story::{Prd, StoryState};
use vocabulary::{StateField, Vocabulary};

/// The state that a story gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// It was accepted.
    Passed,
    /// It was set aside.
    Skipped,
}

impl Mark {
    fn state(self) -> StoryState {
        match self {
            Self::Passed => StoryState::Passed,
            Self::Skipped => StoryState::Skipped,
        }
    }
}

/// The one file that changed, with its new text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marked {
    /// Index of the file in the reading's sources.
    pub file: usize,
    /// The whole new text.
    pub text: String,
}

/// Marks one story; refuses when that cannot be done without changing something else.
pub fn mark(
    reading: &Reading,
    id: &str,
    mark: Mark,
    options: &Options,
) -> Result<Marked, Box<Diagnostic>> {
    let Some(before) = &reading.prd else {
        return Err(unknown_story(id, None));
    };
    let edit = plan(reading, before, id, mark, options)?;
    let source = &reading.sources.files()[edit.file];
    let text = apply(source.text(), edit.edits);
    let marked = Marked {
        file: edit.file,
        text,
    };
    if proves(reading, before, id, mark, &marked, options) {
        return Ok(marked);
    }
    let message = format!("the state of `{id}` cannot be written without changing something else");
    let help = "set the state by hand, or bring the file into the canonical form with `loopwright prd fmt`"
        .to_owned();
    Err(refusal(message, None, help))
}

struct Plan {
    file: usize,
    edits: Vec<Edit>,
}

/// Bytes to replace; an empty range inserts.
pub(crate) struct Edit {
    pub(crate) range: Range<usize>,
    pub(crate) text: String,
}

/// Finds the story again in a fresh parse (the reading keeps no tree) and says which bytes must
/// change.
fn plan(
    reading: &Reading,
    before: &Prd,
    id: &str,
    mark: Mark,
    options: &Options,
) -> Result<Plan, Box<Diagnostic>> {
    let mut context = Context {
        complaints: Complaints::default(),
        changes: Changes::default(),
        options,
    };
    let documents = read::parse(&reading.sources, reading.format, &mut context);
    let layout = read::locate::locate(&documents, reading.format, &mut context)
        .ok_or_else(|| unknown_story(id, None))?;
    let ids = read::story::identify(&layout, &reading.sources, &mut context);
    let is_it = |identity: &read::story::Identity| {
        identity
            .as_ref()
            .is_some_and(|(found, _)| found.as_str() == id)
    };
    let mut matching = layout
        .stories
        .iter()
        .zip(&ids)
        .filter(|(_, identity)| is_it(identity));
    let near = || nearest(id, before.stories.iter().map(|story| story.id.as_str()));
    let (found, _) = matching.next().ok_or_else(|| unknown_story(id, near()))?;
    if matching.next().is_some() {
        let message = format!("two stories have the id `{id}`, so it is not clear which to mark");
        return Err(refusal(
            message,
            Some(found.node.span),
            "give each story an id of its own".to_owned(),
        ));
    }
    if found.node.origin == Origin::Shared {
        let message =
            format!("the story `{id}` is a YAML alias: marking it would mark other places too");
        return Err(refusal(
            message,
            Some(found.node.span),
            "write the story out in full".to_owned(),
        ));
    }
    let vocabulary = Vocabulary::of(layout.stories.iter().map(|found| found.map));
    let marker = Marker {
        sources: &reading.sources,
        found,
        vocabulary: &vocabulary,
    };
    let edits = marker.edits(mark).ok_or_else(|| {
        let message =
            format!("the story `{id}` is written in a way that leaves no room for a state");
        let help = "write the story as an object with a state field, for example `passes: false`"
            .to_owned();
        refusal(message, Some(found.node.span), help)
    })?;
    Ok(Plan {
        file: found.node.span.file as usize,
        edits,
    })
}

fn unknown_story(id: &str, near: Option<&str>) -> Box<Diagnostic> {
    let help = near.map_or_else(
        || "`loopwright prd show` lists the stories".to_owned(),
        |near| format!("a story with a similar id exists: `{near}`"),
    );
    refusal(
        format!("there is no story `{}`", crate::diagnostic::shown(id)),
        None,
        help,
    )
}

fn refusal(message: String, at: Option<Span>, help: String) -> Box<Diagnostic> {
    Box::new(Diagnostic::cannot_mark(message, at, help))
}

fn apply(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| edit.range.start);
    let mut out = String::with_capacity(text.len() + 32);
    let mut at = 0;
    for edit in edits {
        out.push_str(&text[at..edit.range.start]);
        out.push_str(&edit.text);
        at = edit.range.end;
    }
    out.push_str(&text[at..]);
    out
}

/// Reads the new text: it must be the same PRD but for that one state.
fn proves(
    reading: &Reading,
    before: &Prd,
    id: &str,
    mark: Mark,
    marked: &Marked,
    options: &Options,
) -> bool {
    let texts = reading
        .sources
        .files()
        .iter()
        .enumerate()
        .map(|(index, source)| {
            let text = if index == marked.file {
                &marked.text
            } else {
                source.text()
            };
            (source.name().to_owned(), text.as_bytes().to_vec())
        });
    let mut files: Vec<(String, Vec<u8>)> = texts.collect();
    let input = match (reading.format, files.pop()) {
        (read::Format::Json | read::Format::Yaml, Some((name, bytes))) => {
            Input::File { name, bytes }
        }
        (_, last) => {
            files.extend(last);
            Input::Tickets {
                name: String::new(),
                files,
            }
        }
    };
    let after = read::read(input, options);
    let mut expected = before.clone();
    for story in expected
        .stories
        .iter_mut()
        .filter(|story| story.id.as_str() == id)
    {
        story.state = mark.state();
    }
    after.prd.as_ref() == Some(&expected)
}

struct Marker<'r, 'a, 's> {
    sources: &'r Sources,
    found: &'r Found<'a, 's>,
    vocabulary: &'r Vocabulary,
}

impl<'s> Marker<'_, '_, 's> {
    /// All edits, or nothing when there is no place for a state field.
    fn edits(&self, mark: Mark) -> Option<Vec<Edit>> {
        let own = |entry: &&Entry<'_>| {
            entry.value.origin == Origin::Own
                && self
                    .found
                    .node
                    .span
                    .range()
                    .contains(&(entry.key_span.start as usize))
        };
        let fields = StateFields::of(self.found.map);
        let (flag, skipped, status) = (
            fields.flag.filter(own),
            fields.skipped.filter(own),
            fields.status.filter(own),
        );
        let mut edits = Vec::new();
        let passed = mark == Mark::Passed;
        let replaceable = [flag, status, skipped]
            .into_iter()
            .flatten()
            .all(|entry| self.is_one_token(entry));
        if !replaceable {
            return None;
        }
        let further: Vec<&Entry<'_>> = further_flags(&Fields::of(self.found.map))
            .filter(own)
            .collect();
        edits.extend(
            flag.into_iter()
                .chain(further)
                .filter_map(|entry| self.set_flag(entry, passed)),
        );
        let status_follows = status.filter(|entry| self.status_differs(entry, mark));
        edits.extend(
            status_follows.and_then(|entry| self.set_word(entry, self.vocabulary.word_for(mark))),
        );
        edits.extend(skipped.and_then(|entry| self.set_flag(entry, !passed)));
        let said = match mark {
            Mark::Passed => flag.is_some() || status.is_some(),
            Mark::Skipped => skipped.is_some() || status.is_some(),
        };
        if !said {
            edits.push(self.add_field(mark)?);
        }
        Some(edits)
    }

    /// A block scalar, or bytes that a comment has part in, are not ours to replace: a YAML value
    /// must be one token.
    fn is_one_token(&self, entry: &Entry<'_>) -> bool {
        let old = self.sources.text(entry.value.span);
        self.found.map.style == MapStyle::Json
            || !(old.contains('\n') || old.contains(" #") || old.contains("\t#"))
    }

    /// A status word is changed when it says something else; beside a flag only when we know what
    /// it says.
    fn status_differs(&self, entry: &Entry<'_>, mark: Mark) -> bool {
        let alone = StateFields::of(self.found.map).flag.is_none();
        status_meaning(&entry.value).map_or(alone || mark == Mark::Skipped, |state| {
            state != mark.state()
        })
    }

    fn add_field(&self, mark: Mark) -> Option<Edit> {
        let (key, word) = match (mark, self.vocabulary.field()) {
            (Mark::Passed, StateField::Flag(key)) => (key, None),
            (Mark::Passed | Mark::Skipped, StateField::Status(key)) => {
                (key, Some(self.vocabulary.word_for(mark)))
            }
            (Mark::Skipped, StateField::Flag(_)) => ("skipped", None),
        };
        let value = word.map_or_else(|| "true".to_owned(), |word| self.literal(word, ""));
        insert::entry(self.sources, self.found, key, &value)
    }

    fn set_flag(&self, entry: &Entry<'s>, meaning: bool) -> Option<Edit> {
        if flag_meaning(&entry.value) == Some(meaning) {
            return None;
        }
        let yes_no = |yes: &'static str, no: &'static str| if meaning { yes } else { no };
        let old = self.sources.text(entry.value.span);
        let text = match &entry.value.value {
            Value::Number(_) => yes_no("1", "0").to_owned(),
            Value::Text(text) if matches!(text.to_lowercase().as_str(), "yes" | "no") => {
                self.literal(yes_no("yes", "no"), old)
            }
            Value::Text(text) if matches!(text.to_lowercase().as_str(), "true" | "false") => {
                self.literal(yes_no("true", "false"), old)
            }
            _ => yes_no("true", "false").to_owned(),
        };
        Some(self.replace(entry, text))
    }

    fn set_word(&self, entry: &Entry<'s>, word: &str) -> Option<Edit> {
        let old = self.sources.text(entry.value.span);
        let cased = entry.value.as_word().map_or_else(
            || word.to_owned(),
            |like| vocabulary::in_case_of(like, word),
        );
        let text = self.literal(&cased, old);
        (text != old).then(|| self.replace(entry, text))
    }

    /// A word as this syntax writes it; in YAML with the quotes of what stood there before.
    fn literal(&self, word: &str, old: &str) -> String {
        let json = self.found.map.style == MapStyle::Json;
        match old.chars().next() {
            Some('\'') if !json => format!("'{word}'"),
            Some('"') => format!("\"{word}\""),
            _ if json => format!("\"{word}\""),
            _ => word.to_owned(),
        }
    }

    fn replace(&self, entry: &Entry<'s>, text: String) -> Edit {
        let range = entry.value.span.range();
        if !range.is_empty() {
            return Edit { range, text };
        }
        self.fill(entry, &entry.value, &text)
    }

    /// A YAML key without a value: what it gets goes behind the colon, which may be missing in
    /// `{key}`.
    fn fill(&self, entry: &Entry<'s>, value: &Node<'s>, text: &str) -> Edit {
        let source = self
            .sources
            .file(value.span)
            .map_or("", |source| source.text());
        let key_end = entry.key_span.end as usize;
        let blanks =
            source[key_end..].len() - source[key_end..].trim_start_matches([' ', '\t']).len();
        let at = key_end + blanks;
        if source[at..].starts_with(':') {
            return Edit {
                range: at + 1..at + 1,
                text: format!(" {text}"),
            };
        }
        Edit {
            range: key_end..key_end,
            text: format!(": {text}"),
        }
    }
}
