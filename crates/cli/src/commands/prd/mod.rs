//! `loopwright prd …`: everything one can do with a PRD file alone.

mod check;
mod fmt;
mod mark;
mod order;
pub(crate) mod report;
mod show;
mod uses;

use ::prd::{Diagnostic, Sources};
use workspace::operator_file::FileError;

use crate::args::{PrdCommand, PrdSource};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::prd_input::{self, PrdInput};

pub(crate) fn run(command: PrdCommand, output: &mut Output) -> Result<Exit, Failure> {
    match command {
        PrdCommand::Check {
            source,
            all,
            strict,
        } => check::run(&source, all, strict, output),
        PrdCommand::Show { source } => show::run(&source, output),
        PrdCommand::Fmt {
            source,
            to,
            write,
            check,
        } => {
            let then = match (write, check) {
                (true, _) => fmt::Then::Write,
                (_, true) => fmt::Then::Compare,
                _ => fmt::Then::Print,
            };
            fmt::run(&source, to, then, output)
        }
        PrdCommand::Schema => schema(output),
        PrdCommand::Order { source, format } => order::run(&source, format, output),
        PrdCommand::Mark {
            source,
            story,
            state,
            dry_run,
        } => mark::run(&source, &story, state, dry_run, output),
    }
}

fn schema(output: &mut Output) -> Result<Exit, Failure> {
    output.command("prd schema");
    output.data(prd::SCHEMA)?;
    let schema: serde_json::Value = serde_json::from_str(prd::SCHEMA)
        .map_err(|error| Failure::environment("cannot read the schema", &error))?;
    output.result(|| serde_json::json!({ "name": "prd", "schema": schema }))?;
    Ok(Exit::Done)
}

/// Reads the PRD; when there is nothing to read, says why and gives nothing.
fn read(source: &PrdSource, output: &mut Output) -> Result<Option<PrdInput>, Failure> {
    match prd_input::read(source) {
        Ok(input) => Ok(Some(input)),
        Err(diagnostic) => {
            refuse(&diagnostic, &Sources::default(), output)?;
            Ok(None)
        }
    }
}

/// Reads a PRD that must give stories without errors; complaints are shown either way.
pub(crate) fn read_sound(
    source: &PrdSource,
    output: &mut Output,
) -> Result<Option<PrdInput>, Failure> {
    let Some(input) = read(source, output)? else {
        return Ok(None);
    };
    if !input.reading.has_errors() {
        return Ok(Some(input));
    }
    refuse_unsound(&input, source, output)?;
    Ok(None)
}

/// Shows the errors of a PRD that a command cannot work with.
fn refuse_unsound(
    input: &PrdInput,
    source: &PrdSource,
    output: &mut Output,
) -> Result<Exit, Failure> {
    report::talk_about(&input.reading, report::Shown::Errors, output);
    output.result(|| serde_json::json!({ "diagnostics": report::diagnostics(&input.reading) }))?;
    output.bad_news(report::summary_failure(
        &input.reading,
        source,
        report::Strictness::Errors,
    ));
    Ok(Exit::BadInput)
}

/// Shows the one complaint that stops a command.
fn refuse(
    diagnostic: &Diagnostic,
    sources: &Sources,
    output: &mut Output,
) -> Result<Exit, Failure> {
    output.talk(&prd::render(diagnostic, sources, output.paint()));
    output.result(
        || serde_json::json!({ "written": false, "diagnostics": [report::diagnostic(diagnostic, sources)] }),
    )?;
    output.bad_news(Failure::bad_input(diagnostic.message.clone()));
    Ok(Exit::BadInput)
}

/// What became of writing a file: a file that changed meanwhile is a complaint, anything else a
/// failure.
fn written(
    result: Result<(), FileError>,
    name: &str,
) -> Result<Result<(), Box<Diagnostic>>, Failure> {
    match result {
        Ok(()) => Ok(Ok(())),
        Err(FileError::Changed) => Ok(Err(Box::new(Diagnostic::file_changed(name)))),
        Err(error) => Err(Failure::environment(
            &format!("cannot write `{name}`"),
            &error,
        )),
    }
}
