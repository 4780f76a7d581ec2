//! `loopwright prd show FILE`

use std::fmt::Write as _;

use prd::{Prd, Reading, Story, Syntax};
use serde::Serialize;
use serde_json::value::RawValue;

use super::report::{self, Shown};
use super::uses::{self, OF_DOCUMENT, OF_STORY, Use};
use crate::args::PrdSource;
use crate::failure::{Exit, Failure};
use crate::output::{NextAction, Output};

#[derive(Serialize)]
struct Shape {
    file: String,
    format: &'static str,
    /// Why the file is never written to, if that is so.
    #[serde(rename = "readOnly")]
    read_only: Option<&'static str>,
    prd: Option<Box<RawValue>>,
    /// What a loop does with each field.
    uses: serde_json::Value,
    /// Keys that are kept and that no loop uses.
    unused: Vec<String>,
    changes: Vec<serde_json::Value>,
    diagnostics: Vec<serde_json::Value>,
}

pub(crate) fn run(source: &PrdSource, output: &mut Output) -> Result<Exit, Failure> {
    output.command("prd show");
    let Some(input) = super::read(source, output)? else {
        return Ok(Exit::BadInput);
    };
    let reading = &input.reading;
    report::talk_about(reading, Shown::Errors, output);
    let name = source.file.display().to_string();
    if output.is_json() {
        let raw = |prd| RawValue::from_string(prd::canonical(prd, Syntax::Json));
        let canonical = reading.prd.as_ref().map(raw).transpose();
        let canonical =
            canonical.map_err(|error| Failure::environment("cannot write JSON", &error))?;
        output.result(|| Shape {
            file: name.clone(),
            format: super::check::format_word(reading.format),
            read_only: reading.read_only.map(prd::ReadOnly::reason),
            prd: canonical,
            uses: uses_as_json(),
            unused: reading.prd.as_ref().map(uses::unused).unwrap_or_default(),
            changes: report::changes(reading),
            diagnostics: report::diagnostics(reading),
        })?;
    } else if let Some(prd) = &reading.prd {
        output.data(&text(prd, reading))?;
    }
    output.next(NextAction::new(
        format!("loopwright prd fmt {name}"),
        "print the canonical form",
    ));
    if reading.has_errors() {
        output.bad_news(report::summary_failure(
            reading,
            source,
            report::Strictness::Errors,
        ));
        return Ok(Exit::BadInput);
    }
    Ok(Exit::Done)
}

/// The table of uses.
fn uses_as_json() -> serde_json::Value {
    let table = |rows: &[Use]| -> Vec<serde_json::Value> {
        let one = |row: &Use| serde_json::json!({ "field": row.field, "use": row.goes });
        rows.iter().map(one).collect()
    };
    serde_json::json!({ "prd": table(&OF_DOCUMENT), "story": table(&OF_STORY) })
}

/// The whole PRD as people read it. Text from the file is cleaned of what a terminal would act on.
fn text(prd: &Prd, reading: &Reading) -> String {
    let mut out = String::new();
    let title = prd.title.as_deref().unwrap_or("(no title)");
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{}: {}", clean(title), report::story_counts(reading));
    if let Some(read_only) = report::read_only(reading) {
        let _ = writeln!(out, "{read_only}");
    }
    if let Some(branch) = &prd.branch {
        let _ = writeln!(out, "branch {}", clean(branch));
    }
    for check in &prd.checks {
        let name = check.name.as_deref().unwrap_or("check");
        let _ = writeln!(out, "{} `{}`", clean(name), clean(&check.text));
    }
    for words in [&prd.description, &prd.notes].into_iter().flatten() {
        let _ = writeln!(out, "{}", clean(words));
    }
    for story in &prd.stories {
        out += &story_text(story);
    }
    let unused = uses::unused(prd);
    if !unused.is_empty() {
        let keys: Vec<String> = unused
            .iter()
            .map(|key| format!("`{}`", clean(key)))
            .collect();
        let _ = writeln!(out, "\nkept, and used by no loop: {}", keys.join(", "));
    }
    let groups = report::change_groups(reading);
    if !groups.is_empty() {
        out += "\nread differently from how it is written:\n";
    }
    for group in groups {
        let times = if group.count == 1 {
            String::new()
        } else {
            format!(", {} times", group.count)
        };
        let first = if group.count == 1 { "at" } else { "first at" };
        let _ = writeln!(
            out,
            "  {}{times} ({first} {})",
            clean(&group.text),
            reading.sources.place(group.first)
        );
    }
    if reading.changes_left_out > 0 {
        let _ = writeln!(out, "  and {} more", reading.changes_left_out);
    }
    out
}

fn story_text(story: &Story) -> String {
    let mut facts = vec![story.state.word().to_owned()];
    facts.extend(
        story
            .priority
            .map(|priority| format!("priority {priority}")),
    );
    facts.extend(
        story
            .group
            .as_ref()
            .map(|group| format!("in {}", clean(group))),
    );
    facts.extend(
        story
            .tool
            .as_ref()
            .map(|tool| format!("tool {}", clean(tool))),
    );
    facts.extend(
        story
            .model
            .as_ref()
            .map(|model| format!("model {}", clean(model))),
    );
    if !story.depends_on.is_empty() {
        let ids: Vec<&str> = story.depends_on.iter().map(prd::StoryId::as_str).collect();
        facts.push(format!("after {}", ids.join(", ")));
    }
    let mut out = format!(
        "\n{}  {}\n    {}\n",
        story.id,
        clean(&story.title),
        facts.join(" · ")
    );
    let notes = story.notes.as_ref().map(|notes| ("notes", clean(notes)));
    let files: Vec<String> = story.files.iter().map(|file| clean(file)).collect();
    let files = (!files.is_empty()).then(|| ("files", files.join(", ")));
    let checks = story.checks.iter().map(|check| {
        let name = check.name.as_deref().unwrap_or("check");
        ("run", format!("{} `{}`", clean(name), clean(&check.text)))
    });
    for (what, words) in notes.into_iter().chain(files).chain(checks) {
        let _ = writeln!(out, "    {what}: {words}");
    }
    for criterion in &story.criteria {
        let command = criterion
            .command
            .as_ref()
            .map(|command| format!(" [`{}`]", clean(command)));
        let _ = writeln!(
            out,
            "    - {}{}",
            clean(&criterion.text),
            command.unwrap_or_default()
        );
    }
    out
}

/// One line of safe text.
fn clean(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .map(|letter| {
            if letter.is_control() {
                '\u{FFFD}'
            } else {
                letter
            }
        })
        .collect()
}
