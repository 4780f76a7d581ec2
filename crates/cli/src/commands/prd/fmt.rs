//! `loopwright prd fmt FILE`

use prd::{Format, Prd, Syntax};
use serde_json::{Value, json};
use workspace::operator_file;

use crate::args::{FmtSyntax, PrdSource};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::prd_input::{Kind, PrdInput};

/// What to do with the canonical text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    Print,
    Write,
    Compare,
}

pub(crate) fn run(
    source: &PrdSource,
    to: Option<FmtSyntax>,
    then: Then,
    output: &mut Output,
) -> Result<Exit, Failure> {
    output.command("prd fmt");
    let Some(input) = super::read_sound(source, output)? else {
        return Ok(Exit::BadInput);
    };
    let Some(prd) = &input.reading.prd else {
        return Ok(Exit::BadInput);
    };
    let syntax = match (to, input.reading.format) {
        (Some(FmtSyntax::Json), _) | (None, Format::Json | Format::JsonLines) => Syntax::Json,
        (Some(FmtSyntax::Yaml), _) | (None, Format::Yaml | Format::Tickets | Format::Markdown) => {
            Syntax::Yaml
        }
    };
    let text = prd::canonical(prd, syntax);
    let old = input
        .reading
        .sources
        .files()
        .first()
        .map_or("", |file| file.text());
    let changed = old != text;
    output.result(|| as_json(source, prd, syntax, changed, &text))?;
    match then {
        Then::Print => output.data(&text)?,
        Then::Write => return write(source, &input, &text, output),
        Then::Compare if changed => {
            let message = format!("{} is not in canonical form", source.file.display());
            output.talk(&format!("{message}\n"));
            let hint = format!(
                "`loopwright prd fmt --write {}` brings it there",
                source.file.display()
            );
            output.bad_news(Failure {
                exit: Exit::Unfinished,
                message,
                hints: vec![hint],
            });
            return Ok(Exit::Unfinished);
        }
        Then::Compare => {}
    }
    Ok(Exit::Done)
}

/// The PRD itself as JSON, so that nobody has to take it out of a string; as YAML it is a text.
fn as_json(source: &PrdSource, prd: &Prd, syntax: Syntax, changed: bool, text: &str) -> Value {
    let canonical = prd::canonical(prd, Syntax::Json);
    let canonical: Value = serde_json::from_str(&canonical).unwrap_or_default();
    let file = source.file.display().to_string();
    match syntax {
        Syntax::Json => json!({ "file": file, "changed": changed, "prd": canonical }),
        Syntax::Yaml => {
            json!({ "file": file, "changed": changed, "prd": canonical, "text": text })
        }
    }
}

fn write(
    source: &PrdSource,
    input: &PrdInput,
    text: &str,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let (Kind::File, [snapshot]) = (input.kind, input.snapshots.as_slice()) else {
        return Err(
            Failure::bad_input("only a file can be replaced by its canonical form")
                .hint("print it instead, and write it where you want it"),
        );
    };
    // A plan or a tracker's file would lose everything that its author and its program have in it.
    let keeps_its_form = matches!(
        input.reading.format,
        Format::Markdown | Format::JsonLines | Format::Tickets
    );
    if keeps_its_form {
        return Err(Failure::bad_input(
            "a Markdown file or a tracker's file cannot be replaced by its canonical form",
        )
        .hint(
            "print it instead, and write it into a file of its own: `prd fmt PLAN.md > prd.yaml`",
        ));
    }
    let name = source.file.display().to_string();
    if let Err(diagnostic) =
        super::written(operator_file::replace(snapshot, text.as_bytes()), &name)?
    {
        return super::refuse(&diagnostic, &input.reading.sources, output);
    }
    output.talk(&format!("{name} is in canonical form\n"));
    Ok(Exit::Done)
}
