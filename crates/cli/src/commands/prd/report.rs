//! What a reading has to say, as text for people and as JSON for programs.

use std::collections::{BTreeMap, HashMap};

use prd::{Diagnostic, Reading, Severity, Sources, StoryState};
use serde_json::{Value, json};

use crate::args::PrdSource;
use crate::failure::Failure;
use crate::output::Output;

/// Which complaints to draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// All of them.
    All,
    /// All errors, and the first few warnings of each code.
    Some,
    /// Errors only.
    Errors,
}

/// What counts as bad news.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strictness {
    Errors,
    Warnings,
}

const WARNINGS_PER_CODE_SHOWN: usize = 3;

/// Draws the complaints on stderr, errors last so that they are what one sees first in a terminal.
pub(crate) fn talk_about(reading: &Reading, shown: Shown, output: &mut Output) {
    let paint = output.paint();
    let mut drawn_of_code: HashMap<&str, usize> = HashMap::new();
    let mut hidden: BTreeMap<&str, usize> = BTreeMap::new();
    let mut text = String::new();
    for diagnostic in of_severity(reading, Severity::Warning) {
        let drawn = drawn_of_code.entry(diagnostic.code).or_default();
        match shown {
            Shown::Errors => {}
            Shown::Some if *drawn >= WARNINGS_PER_CODE_SHOWN => {
                *hidden.entry(diagnostic.code).or_default() += 1;
            }
            Shown::Some | Shown::All => {
                *drawn += 1;
                text += &prd::render(diagnostic, &reading.sources, paint);
                text.push('\n');
            }
        }
    }
    for (code, count) in hidden {
        text += &format!("… and {count} more {code} (`--all` shows them)\n\n");
    }
    for diagnostic in of_severity(reading, Severity::Error) {
        text += &prd::render(diagnostic, &reading.sources, paint);
        text.push('\n');
    }
    for (code, count) in &reading.diagnostics_left_out {
        text += &format!("… and {count} more {code}, too many to keep\n\n");
    }
    output.talk(&text);
}

fn of_severity(reading: &Reading, severity: Severity) -> impl Iterator<Item = &Diagnostic> {
    reading
        .diagnostics
        .iter()
        .filter(move |diagnostic| diagnostic.severity == severity)
}

/// `2 errors, 1 warning`, with what was left out.
pub(crate) fn counts(reading: &Reading) -> (usize, usize) {
    (
        of_severity(reading, Severity::Error).count(),
        of_severity(reading, Severity::Warning).count(),
    )
}

pub(crate) fn plural(count: usize, one: &str, many: &str) -> String {
    match count {
        0 => format!("no {many}"),
        1 => format!("1 {one}"),
        _ => format!("{count} {many}"),
    }
}

/// `22 stories (20 passed, 2 open)`
pub(crate) fn story_counts(reading: &Reading) -> String {
    let Some(prd) = &reading.prd else {
        return "no stories".to_owned();
    };
    let counted = |state: StoryState| {
        prd.stories
            .iter()
            .filter(|story| story.state == state)
            .count()
    };
    let parts: Vec<String> = STATES
        .iter()
        .map(|state| (counted(*state), state))
        .filter(|(count, _)| *count > 0)
        .map(|(count, state)| format!("{count} {}", state.word()))
        .collect();
    let noun = if prd.stories.len() == 1 {
        "story"
    } else {
        "stories"
    };
    format!("{} {noun} ({})", prd.stories.len(), parts.join(", "))
}

const STATES: &[StoryState] = &[
    StoryState::Passed,
    StoryState::Open,
    StoryState::Skipped,
    StoryState::WontFix,
    StoryState::Blocked,
    StoryState::Stuck,
    StoryState::Failed,
];

/// Story counts by state, for programs.
pub(crate) fn story_counts_json(reading: &Reading) -> Value {
    let stories = reading
        .prd
        .as_ref()
        .map(|prd| prd.stories.as_slice())
        .unwrap_or_default();
    let mut counts = serde_json::Map::new();
    counts.insert("total".to_owned(), stories.len().into());
    for state in STATES {
        let count = stories.iter().filter(|story| story.state == *state).count();
        counts.insert(key_of(*state).to_owned(), count.into());
    }
    Value::Object(counts)
}

/// The state's word in the one case that keys have.
fn key_of(state: StoryState) -> &'static str {
    match state {
        StoryState::WontFix => "wontFix",
        other => other.word(),
    }
}

/// The one line that says that a PRD is not fit.
pub(crate) fn summary_failure(
    reading: &Reading,
    source: &PrdSource,
    strictness: Strictness,
) -> Failure {
    let (errors, warnings) = counts(reading);
    let found = match strictness {
        Strictness::Errors => plural(errors, "error", "errors"),
        Strictness::Warnings => {
            format!(
                "{}, {}",
                plural(errors, "error", "errors"),
                plural(warnings, "warning", "warnings")
            )
        }
    };
    let codes: std::collections::BTreeSet<&str> = reading
        .diagnostics
        .iter()
        .map(|diagnostic| diagnostic.code)
        .collect();
    let failure = Failure::bad_input(format!("{found} in {}", source.file.display()));
    codes.into_iter().take(3).fold(failure, |failure, code| {
        failure.hint(format!("`loopwright explain {code}` says more"))
    })
}

/// One complaint for programs.
pub(crate) fn diagnostic(diagnostic: &Diagnostic, sources: &Sources) -> Value {
    let mut value = json!({
        "code": diagnostic.code,
        "severity": diagnostic.severity.word(),
        "message": diagnostic.message,
    });
    if let Some(at) = diagnostic.at {
        value["place"] = place(at, sources);
        value["label"] = diagnostic.label.clone().into();
    }
    if let Some(help) = &diagnostic.help {
        value["help"] = help.clone().into();
    }
    if !diagnostic.more.is_empty() {
        value["more"] = diagnostic
            .more
            .iter()
            .map(|at| place(*at, sources))
            .collect();
    }
    value
}

/// Every complaint for programs.
pub(crate) fn diagnostics(reading: &Reading) -> Vec<Value> {
    reading
        .diagnostics
        .iter()
        .map(|found| diagnostic(found, &reading.sources))
        .collect()
}

/// Why a PRD is never written to, as a sentence about the file.
pub(crate) fn read_only(reading: &Reading) -> Option<String> {
    let reason = reading.read_only?.reason();
    Some(format!(
        "read-only: {reason}; a loop keeps the states of the stories itself"
    ))
}

fn place(at: prd::Span, sources: &Sources) -> Value {
    let Some(source) = sources.file(at) else {
        return Value::Null;
    };
    let position = source.position(at.start as usize);
    json!({ "file": source.name(), "line": position.line_number, "column": position.column_number })
}

/// A normalisation and how often it was made.
pub(crate) struct ChangeGroup {
    pub(crate) text: String,
    pub(crate) count: usize,
    pub(crate) first: prd::Span,
}

/// Normalisations with equal sentences counted together, in the order of their first places.
pub(crate) fn change_groups(reading: &Reading) -> Vec<ChangeGroup> {
    let mut groups: Vec<ChangeGroup> = Vec::new();
    let mut index_of: HashMap<String, usize> = HashMap::new();
    for change in &reading.changes {
        let text = change.describe(&reading.sources);
        match index_of.get(&text) {
            Some(&index) => groups[index].count += 1,
            None => {
                index_of.insert(text.clone(), groups.len());
                groups.push(ChangeGroup {
                    text,
                    count: 1,
                    first: change.at,
                });
            }
        }
    }
    groups
}

/// Every normalisation for programs, with its place.
pub(crate) fn changes(reading: &Reading) -> Vec<Value> {
    let one = |change: &prd::Change| json!({ "message": change.describe(&reading.sources), "place": place(change.at, &reading.sources) });
    reading.changes.iter().map(one).collect()
}
