//! Works out a story's state from whatever state fields it has.
//!
//! Reading and marking share this code, so that a mark is read back as it was meant.

use crate::change::ChangeKind;
use crate::diagnostic::{Diagnostic, Severity, Unusable, shown};
use crate::keys::{self, Fields};
use crate::node::{Entry, Map, Node, Value};
use crate::read::Context;
use crate::story::{StoryId, StoryState};

/// The state fields of one story.
#[derive(Clone, Copy)]
pub(crate) struct StateFields<'a, 's> {
    /// The first of `passes`, `passed`, `completed`, `complete`, `done`.
    pub(crate) flag: Option<&'a Entry<'s>>,
    pub(crate) skipped: Option<&'a Entry<'s>>,
    pub(crate) status: Option<&'a Entry<'s>>,
    /// Another flag that contradicts the first.
    other_flag: Option<&'a Entry<'s>>,
}

impl<'a, 's> StateFields<'a, 's> {
    pub(crate) fn of(map: &'a Map<'s>) -> Self {
        Self::among(&Fields::of(map))
    }

    pub(crate) fn among(fields: &Fields<'a, 's>) -> Self {
        // `"state": {…}` is some other data of the author's.
        let is_scalar =
            |entry: &&Entry<'_>| !matches!(entry.value.value, Value::List(_) | Value::Map(_));
        let flag = fields.first(keys::FLAGS);
        let meaning = flag.and_then(|entry| flag_meaning(&entry.value));
        let differs = |entry: &&Entry<'_>| {
            meaning
                .zip(flag_meaning(&entry.value))
                .is_some_and(|(one, other)| one != other)
        };
        Self {
            flag,
            other_flag: fields.all(keys::FLAGS).find(differs),
            skipped: fields.first(keys::SKIPPED),
            status: fields.all(keys::STATUS).find(is_scalar),
        }
    }
}

/// The flags after the first that are plain booleans. `"done": "2026-06-13"` says more than a
/// state, so it is kept as it is.
pub(crate) fn further_flags<'a, 's>(
    fields: &Fields<'a, 's>,
) -> impl Iterator<Item = &'a Entry<'s>> {
    fields
        .all(keys::FLAGS)
        .skip(1)
        .filter(|entry| matches!(entry.value.value, Value::Bool(_)))
}

/// The meaning of a flag's value, or `None` if it is not understood.
pub(crate) fn flag_meaning(node: &Node<'_>) -> Option<bool> {
    match &node.value {
        Value::Bool(flag) => Some(*flag),
        Value::Null => Some(false),
        Value::Number(text) => text.parse::<f64>().ok().map(|number| number != 0.0),
        Value::Text(text) => match text.trim().to_lowercase().as_str() {
            // YAML 1.1's words for booleans, numbers and ticks.
            "" | "false" | "no" | "n" | "0" | "off" => Some(false),
            "true" | "yes" | "y" | "1" | "x" | "on" | "✓" | "✅" => Some(true),
            // `"done": "2026-06-13"` gives the day on which it was done.
            date if date.starts_with(|first: char| first.is_ascii_digit()) => Some(true),
            word => match keys::state_of_word(word)? {
                StoryState::Passed => Some(true),
                StoryState::Open
                | StoryState::Skipped
                | StoryState::WontFix
                | StoryState::Blocked
                | StoryState::Stuck
                | StoryState::Failed => Some(false),
            },
        },
        Value::List(_) | Value::Map(_) => None,
    }
}

/// The meaning of a status, or `None` if the word is unknown.
pub(crate) fn status_meaning(node: &Node<'_>) -> Option<StoryState> {
    node.as_word().and_then(keys::state_of_word)
}

/// Works out the state. A flag that says yes wins, then `skipped`, then the status word.
pub(crate) fn read(
    id: &StoryId,
    fields: StateFields<'_, '_>,
    context: &mut Context<'_>,
) -> StoryState {
    let passed = fields
        .flag
        .is_some_and(|entry| read_flag(entry, "passes", context));
    let skipped = fields
        .skipped
        .is_some_and(|entry| read_flag(entry, "skipped", context));
    let status = fields
        .status
        .and_then(|entry| read_status(id, entry, context));
    let mut contradicts = |winner: Option<&Entry<'_>>, loser: Option<&Entry<'_>>| {
        if let (Some(winner), Some(loser)) = (winner, loser) {
            context.complaints.push(Diagnostic::contradictory_state(
                id,
                &winner.key,
                &loser.key,
                winner.key_span,
                loser.key_span,
            ));
        }
    };
    contradicts(fields.flag, fields.other_flag);
    if passed {
        if skipped {
            contradicts(fields.flag, fields.skipped);
        // A status that was left at `pending` beside `passes: true` is not worth a warning.
        } else if !matches!(status, None | Some(StoryState::Passed | StoryState::Open)) {
            contradicts(fields.flag, fields.status);
        }
        return StoryState::Passed;
    }
    if skipped {
        return StoryState::Skipped;
    }
    match (fields.flag, status) {
        // With `passes: false` beside `status: done` the flag counts, so the story runs.
        (Some(_), Some(StoryState::Passed)) => {
            contradicts(fields.flag, fields.status);
            StoryState::Open
        }
        (_, status) => status.unwrap_or(StoryState::Open),
    }
}

fn read_flag(entry: &Entry<'_>, canonical: &'static str, context: &mut Context<'_>) -> bool {
    if entry.key != canonical {
        context.changed(entry.key_span, ChangeKind::Key(canonical));
    }
    let Some(meaning) = flag_meaning(&entry.value) else {
        let found = match entry.value.as_text() {
            Some(word) => format!("`{}`", shown(word)),
            None => entry.value.kind().to_owned(),
        };
        let help = "use `true` or `false`";
        let unusable = Unusable {
            field: &entry.key,
            found: &found,
            instead: "read as `false`",
            help,
        };
        context.complaints.push(Diagnostic::unusable_value(
            &unusable,
            entry.value.span,
            Severity::Warning,
        ));
        return false;
    };
    if !matches!(entry.value.value, Value::Bool(_)) {
        context.changed(entry.value.span, ChangeKind::FlagFromValue(meaning));
    }
    meaning
}

fn read_status(id: &StoryId, entry: &Entry<'_>, context: &mut Context<'_>) -> Option<StoryState> {
    let word = entry.value.as_word()?;
    let at = entry.value.span;
    let Some(state) = keys::state_of_word(word) else {
        context
            .complaints
            .push(Diagnostic::unknown_status(word, id, at));
        return None;
    };
    // Whether a story is ready follows from its dependencies, so the word alone means nothing.
    if word.eq_ignore_ascii_case("ready") {
        context.changed(at, ChangeKind::ReadinessComputed);
    } else if word != state.word() {
        context.changed(at, ChangeKind::State(state));
    }
    Some(state)
}
