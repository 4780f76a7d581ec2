//! Writes a story's new state into the author's own text and leaves every other byte as it was.
//!
//! It uses the field and the word that the file itself uses. It verifies the result before
//! returning it: the new text is read again and must differ from the old one in that state alone.
//! Writing the file is the caller's job.

mod edit;
mod insert;
mod note;
mod progress;
mod vocabulary;

use crate::diagnostic::Diagnostic;
use crate::keys::Fields;
use crate::letter_case::in_case_of;
use crate::near::nearest;
use crate::node::{Entry, MapStyle, Node, Origin, Value};
use crate::parse::Piece;
use crate::plan;
use crate::read::locate::Found;
use crate::read::state::{StateFields, flag_meaning, further_flags, status_meaning};
use crate::read::{self, Context, Input, Options, Reading};
use crate::source::{Sources, Span};
use crate::story::Prd;
use edit::Edit;
pub use edit::Mark;
pub use progress::{StatusWords, status_words, swap_word};
use vocabulary::{StateField, Vocabulary};

/// The one file that changed, with its new text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marked {
    /// Index of the file in the reading's sources.
    pub file: usize,
    /// The whole new text.
    pub text: String,
}

/// Marks one story. Refuses if that cannot be done without changing something else. A request for
/// review that stands in its notes goes when somebody marks it as anything but skipped.
pub fn mark(
    reading: &Reading,
    id: &str,
    mark: Mark,
    options: &Options,
) -> Result<Marked, Box<Diagnostic>> {
    mark_with(reading, id, mark, None, options)
}

/// Marks a story as skipped. If it has a field for notes, the reason is noted there, for a person to
/// look at; where there is no room for that, the mark alone must do.
pub fn mark_for_review(
    reading: &Reading,
    id: &str,
    reason: &str,
    options: &Options,
) -> Result<Marked, Box<Diagnostic>> {
    mark_with(reading, id, Mark::Skipped, Some(reason), options)
        .or_else(|_| mark(reading, id, Mark::Skipped, options))
}

fn mark_with(
    reading: &Reading,
    id: &str,
    mark: Mark,
    reason: Option<&str>,
    options: &Options,
) -> Result<Marked, Box<Diagnostic>> {
    let Some(before) = &reading.prd else {
        return Err(unknown_story(id, None));
    };
    if let Some(read_only) = reading.read_only {
        return Err(no_place(id, None, read_only.reason()));
    }
    let Plan { file, edits, notes } = if reading.format == read::Format::Markdown {
        in_markdown(reading, before, id, mark)?
    } else {
        plan(reading, before, id, mark, reason, options)?
    };
    let text = apply(reading.sources.files()[file].text(), edits);
    let marked = Marked { file, text };
    let mut expected = before.clone();
    for story in expected
        .stories
        .iter_mut()
        .filter(|story| story.id.as_str() == id)
    {
        story.state = mark.state();
        if let Some(notes) = &notes {
            let notes = notes.trim();
            story.notes = (!notes.is_empty()).then(|| notes.to_owned());
        }
    }
    if reads_as(&expected, reading, &marked, options) {
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
    /// The story's new notes, where they change.
    notes: Option<String>,
}

/// Works out which bytes must change.
fn plan(
    reading: &Reading,
    before: &Prd,
    id: &str,
    mark: Mark,
    reason: Option<&str>,
    options: &Options,
) -> Result<Plan, Box<Diagnostic>> {
    with_marker(reading, before, id, options, |marker| {
        let mut edits = marker.edits(mark).ok_or_else(|| {
            let message =
                format!("the story `{id}` is written in a way that leaves no room for a state");
            let help =
                "write the story as an object with a state field, for example `passes: false`";
            refusal(message, Some(marker.found.node.span), help.to_owned())
        })?;
        let review = match (mark, reason) {
            // Whoever skips a story without a reason says nothing of its review.
            (Mark::Skipped, None) => None,
            _ => marker.note(reason),
        };
        let (edit, notes) = review.unzip();
        edits.extend(edit);
        if mark == Mark::Passed && !before.has_passed(id) && marker.vocabulary.is_a_board() {
            edits.extend(marker.criteria_boxes());
        }
        Ok(Plan {
            file: marker.found.node.span.file as usize,
            edits,
            notes,
        })
    })
}

/// Finds the story in a fresh parse, since the reading keeps no tree.
fn with_marker<T>(
    reading: &Reading,
    before: &Prd,
    id: &str,
    options: &Options,
    then: impl FnOnce(&Marker<'_, '_, '_>) -> Result<T, Box<Diagnostic>>,
) -> Result<T, Box<Diagnostic>> {
    let mut context = Context::new(options);
    let documents = read::parse(&reading.sources, reading.format, &mut context);
    let layout = read::locate::locate(&documents, reading.format, &mut context)
        .ok_or_else(|| unknown_story(id, None))?;
    let ids = read::identify::identify(&layout, &reading.sources, &mut context);
    let is_it = |identity: &read::identify::Identity| {
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
    // The bytes of an alias's target belong to another story as well.
    if found.node.origin == Origin::Shared {
        let message =
            format!("the story `{id}` is a YAML alias: marking it would mark other places too");
        return Err(refusal(
            message,
            Some(found.node.span),
            "write the story out in full".to_owned(),
        ));
    }
    let stories = layout.stories.iter().map(|found| found.map);
    let vocabulary = Vocabulary::of(stories, layout.style);
    then(&Marker {
        sources: &reading.sources,
        found,
        vocabulary: &vocabulary,
    })
}

/// The same for a plan in Markdown, which has no tree.
fn in_markdown(
    reading: &Reading,
    before: &Prd,
    id: &str,
    mark: Mark,
) -> Result<Plan, Box<Diagnostic>> {
    let near = || nearest(id, before.stories.iter().map(|story| story.id.as_str()));
    let source = reading.sources.files().first();
    let source = source.ok_or_else(|| unknown_story(id, None))?;
    let piece = Piece::whole(source, 0);
    let plan = plan::Plan::of(piece.text, piece.base, source.name());
    let mut ids = plan.ids.iter();
    let index = ids
        .position(|found| found.as_str() == id)
        .ok_or_else(|| unknown_story(id, near()))?;
    let at = plan.stories[index].at.clone();
    let at = Some(Span::new(0, at.start, at.end));
    let changes = plan.changes(index, mark.state(), source.text());
    let changes = changes.map_err(|why| match why {
        plan::Unmarkable::NoPlace => {
            no_place(id, at, "it has no check box and no word for a state")
        }
        plan::Unmarkable::OnlyDone => no_place(
            id,
            at,
            "a check box says that a story is done or not, and has no mark for skipped",
        ),
    })?;
    let edit = |(range, text)| Edit { range, text };
    Ok(Plan {
        file: 0,
        edits: changes.into_iter().map(edit).collect(),
        notes: None,
    })
}

fn no_place(id: &str, at: Option<Span>, reason: &str) -> Box<Diagnostic> {
    let message = format!("the state of `{id}` has no place in this file: {reason}");
    let help = "a loop keeps such states itself: `loopwright status` shows them";
    Box::new(Diagnostic::no_place_for_state(message, at, help))
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
    // Edits cannot overlap, since each one replaces the value of another entry or adds a new entry.
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

/// Reads the new text and checks that it is the expected PRD: the one before, except for that one
/// story's state and notes.
fn reads_as(expected: &Prd, reading: &Reading, marked: &Marked, options: &Options) -> bool {
    read_again(reading, marked, options).as_ref() == Some(expected)
}

/// Reads the new text beside all that stayed.
fn read_again(reading: &Reading, marked: &Marked, options: &Options) -> Option<Prd> {
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
    // All files of a folder are read again, because ids may depend on the other tickets.
    let mut files: Vec<(String, Vec<u8>)> = texts.collect();
    let input = match (reading.format, files.pop()) {
        (format, Some((name, bytes))) if format != read::Format::Tickets => {
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
    read::read(input, options).prd
}

struct Marker<'r, 'a, 's> {
    sources: &'r Sources,
    found: &'r Found<'a, 's>,
    vocabulary: &'r Vocabulary,
}

impl<'s> Marker<'_, '_, 's> {
    /// All edits, or `None` if there is no place for a state field. Every state field that the
    /// story has is changed, so that no two of them contradict each other afterwards.
    fn edits(&self, mark: Mark) -> Option<Vec<Edit>> {
        let own = |entry: &&Entry<'_>| self.is_own(entry);
        let fields = StateFields::of(self.found.map);
        let flag = fields.flag.filter(own);
        let skipped = fields.skipped.filter(own);
        let status = fields.status.filter(own);
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
        let is_skipped = mark == Mark::Skipped;
        edits.extend(skipped.and_then(|entry| self.set_flag(entry, is_skipped)));
        // A flag cannot say `skipped`, and `skipped` cannot say that a story passed.
        let has_field = match mark {
            Mark::Passed => flag.is_some() || status.is_some(),
            Mark::Skipped => skipped.is_some() || status.is_some(),
            // A story about which nothing is said is open.
            Mark::Open => true,
        };
        if !has_field {
            edits.push(self.add_field(mark)?);
        }
        Some(edits)
    }

    /// The open boxes of a ticket's criteria, ticked as the author ticks them. Backlog.md ticks them along
    /// with the state; to other tickets the state is all that a program may write.
    fn criteria_boxes(&self) -> Vec<Edit> {
        let boxes = self.found.body.map_or(&[][..], |body| &body.boxes);
        let source = self.sources.file(self.found.node.span);
        let text = source.map_or("", |source| source.text());
        let ticked = || boxes.iter().filter(|(_, ticked)| *ticked);
        let is_capital =
            ticked().next().is_some() && ticked().all(|(at, _)| &text[at.clone()] == "X");
        let tick = if is_capital { "X" } else { "x" };
        let open = boxes.iter().filter(|(_, ticked)| !ticked);
        open.map(|(at, _)| Edit {
            range: at.clone(),
            text: tick.to_owned(),
        })
        .collect()
    }

    /// Whether an entry is written here. A field that came in through an alias or a merge key is
    /// written elsewhere.
    fn is_own(&self, entry: &Entry<'_>) -> bool {
        let inside = self.found.node.span.range();
        entry.value.origin == Origin::Own && inside.contains(&(entry.key_span.start as usize))
    }

    /// The edit that puts a request for review into the story's notes, or takes it out, and the new
    /// notes. Nothing where the story has no notes, or has them in a form that we cannot add to.
    fn note(&self, reason: Option<&str>) -> Option<(Edit, String)> {
        let entry = Fields::of(self.found.map).named("notes")?;
        let old = match &entry.value.value {
            Value::Text(text) => text.as_ref(),
            Value::Null => "",
            Value::Bool(_) | Value::Number(_) | Value::List(_) | Value::Map(_) => return None,
        };
        let new = note::with_review(old, reason);
        if !self.is_own(entry) || !self.is_one_token(entry) || new == old {
            return None;
        }
        let written = self.sources.text(entry.value.span);
        let inside = written
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'));
        let inside = match inside {
            Some(inside) => note::literal_with_review(inside, reason),
            None => note::escaped(&new),
        };
        Some((self.replace(entry, format!("\"{inside}\"")), new))
    }

    /// Says whether a value can be replaced as a whole. A YAML value must be one token: a block
    /// scalar or bytes that may include a comment are left alone.
    fn is_one_token(&self, entry: &Entry<'_>) -> bool {
        let old = self.sources.text(entry.value.span);
        self.found.map.style == MapStyle::Json
            || !(old.contains('\n') || old.contains(" #") || old.contains("\t#"))
    }

    /// Says whether the status word must change. An unknown word beside a flag stays when the story
    /// passes: the flag wins, and the word may mean something to the author.
    fn status_differs(&self, entry: &Entry<'_>, mark: Mark) -> bool {
        let alone = StateFields::of(self.found.map).flag.is_none();
        status_meaning(&entry.value).map_or(alone || mark == Mark::Skipped, |state| {
            state != mark.state()
        })
    }

    fn add_field(&self, mark: Mark) -> Option<Edit> {
        let (key, word) = match (mark, self.vocabulary.field()) {
            // What is open needs no field.
            (Mark::Open, _) => return None,
            (Mark::Passed, StateField::Flag(key)) => (key, None),
            (Mark::Passed | Mark::Skipped, StateField::Status(key)) => {
                (key, Some(self.vocabulary.word_for(mark)))
            }
            // A flag is yes or no and cannot say `skipped`, so that gets a field of its own.
            (Mark::Skipped, StateField::Flag(_)) => ("skipped", None),
        };
        let value = word.map_or_else(|| "true".to_owned(), |word| self.literal(word, ""));
        insert::entry(self.sources, self.found, key, &value)
    }

    /// Sets a flag in the way that the author writes flags: as a number, as `yes` or as `true`.
    fn set_flag(&self, entry: &Entry<'s>, meaning: bool) -> Option<Edit> {
        if flag_meaning(&entry.value) == Some(meaning) {
            return None;
        }
        let pick = |yes: &'static str, no: &'static str| if meaning { yes } else { no };
        let old = self.sources.text(entry.value.span);
        let text = match &entry.value.value {
            Value::Number(_) => pick("1", "0").to_owned(),
            Value::Text(text) if matches!(text.to_lowercase().as_str(), "yes" | "no") => {
                self.literal(pick("yes", "no"), old)
            }
            Value::Text(text) if matches!(text.to_lowercase().as_str(), "true" | "false") => {
                self.literal(pick("true", "false"), old)
            }
            // Null, a date or a status word becomes a plain boolean.
            _ => pick("true", "false").to_owned(),
        };
        Some(self.replace(entry, text))
    }

    fn set_word(&self, entry: &Entry<'s>, word: &str) -> Option<Edit> {
        let old = self.sources.text(entry.value.span);
        let cased = entry
            .value
            .as_word()
            .map_or_else(|| word.to_owned(), |like| in_case_of(like, word));
        let text = self.literal(&cased, old);
        (text != old).then(|| self.replace(entry, text))
    }

    /// A word as this syntax writes it, in YAML with the quotes of the value it replaces.
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

    /// Gives a value to a YAML key that has none. The value goes after the colon, which may be
    /// missing in `{key}`.
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
