//! `loopwright prd check FILE`

use prd::{Format, Reading};
use serde_json::json;

use super::report::{self, Shown, Strictness};
use crate::args::PrdSource;
use crate::failure::{Exit, Failure};
use crate::output::{NextAction, Output};

pub(crate) fn run(
    source: &PrdSource,
    all: bool,
    strict: bool,
    output: &mut Output,
) -> Result<Exit, Failure> {
    output.command("prd check");
    let Some(input) = super::read(source, output)? else {
        return Ok(Exit::BadInput);
    };
    let reading = &input.reading;
    report::talk_about(reading, if all { Shown::All } else { Shown::Some }, output);
    let name = source.file.display().to_string();
    let (errors, warnings) = report::counts(reading);
    let line = format!(
        "{name}: {}, {}, {}\n",
        report::story_counts(reading),
        report::plural(errors, "error", "errors"),
        report::plural(warnings, "warning", "warnings"),
    );
    output.data(&line)?;
    if let Some(read_only) = report::read_only(reading) {
        output.talk(&format!("{name}: {read_only}\n"));
    }
    output.result(|| {
        json!({
            "file": name,
            "format": format_word(reading.format),
            "readOnly": reading.read_only.map(prd::ReadOnly::reason),
            "stories": report::story_counts_json(reading),
            "errors": errors,
            "warnings": warnings,
            "diagnostics": report::diagnostics(reading),
            "diagnosticsLeftOut": left_out(reading),
            "changes": report::changes(reading),
            "changesLeftOut": reading.changes_left_out,
        })
    })?;
    if reading.has_errors() || (strict && warnings > 0) {
        let strictness = if strict {
            Strictness::Warnings
        } else {
            Strictness::Errors
        };
        output.bad_news(report::summary_failure(reading, source, strictness));
        let code = reading
            .diagnostics
            .first()
            .map_or("CODE", |diagnostic| diagnostic.code);
        output.next(NextAction::new(
            format!("loopwright explain {code}"),
            "read what the complaint means",
        ));
        return Ok(Exit::BadInput);
    }
    output.next(NextAction::new(
        format!("loopwright prd order {name}"),
        "see the order in which stories would run",
    ));
    if !reading.changes.is_empty() {
        output.next(NextAction::new(
            format!("loopwright prd show {name}"),
            "see how the PRD was understood",
        ));
    }
    Ok(Exit::Done)
}

fn left_out(reading: &Reading) -> Vec<serde_json::Value> {
    reading
        .diagnostics_left_out
        .iter()
        .map(|(code, count)| json!({ "code": code, "count": count }))
        .collect()
}

pub(crate) fn format_word(format: Format) -> &'static str {
    match format {
        Format::Json => "json",
        Format::Yaml => "yaml",
        Format::Tickets => "tickets",
        Format::JsonLines => "json-lines",
        Format::Markdown => "markdown",
    }
}
