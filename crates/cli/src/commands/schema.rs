//! `loopwright schema`: the forms of what other programs read and write, as JSON Schemas.

use serde_json::{Value, json};

use crate::args::SchemaName;
use crate::config;
use crate::failure::{Exit, Failure};
use crate::output::{NextAction, Output};

/// Every schema with what it is of. The pages in `docs/schema` are what the program prints.
const ALL: [(SchemaName, &str); 4] = [
    (SchemaName::Envelope, "the answer of every verb with --json"),
    (SchemaName::Config, "loopwright.toml"),
    (
        SchemaName::Events,
        "one public event, as `events --json` tells them",
    ),
    (SchemaName::Prd, "a PRD in its canonical form"),
];

pub(crate) fn run(name: Option<SchemaName>, output: &mut Output) -> Result<Exit, Failure> {
    output.command("schema");
    match name {
        Some(name) => print(name, output),
        None => list(output),
    }
}

fn list(output: &mut Output) -> Result<Exit, Failure> {
    let line = |(name, of): &(SchemaName, &str)| format!("{:<8}  {of}\n", name.word());
    output.data(&ALL.iter().map(line).collect::<String>())?;
    let one = |(name, of): &(SchemaName, &str)| json!({ "name": name.word(), "of": of });
    output.result(|| json!({ "schemas": ALL.iter().map(one).collect::<Vec<_>>() }))?;
    output.next(NextAction::new(
        "loopwright schema envelope",
        "print one of them",
    ));
    Ok(Exit::Done)
}

fn print(name: SchemaName, output: &mut Output) -> Result<Exit, Failure> {
    let schema = match name {
        SchemaName::Envelope => read(include_str!("../../docs/schema/envelope.json"))?,
        SchemaName::Config => config::schema(),
        SchemaName::Events => read(include_str!("../../docs/schema/events.json"))?,
        SchemaName::Prd => read(::prd::SCHEMA)?,
    };
    let text = serde_json::to_string_pretty(&schema)
        .map_err(|error| Failure::environment("cannot write JSON", &error))?;
    output.data(&(text + "\n"))?;
    output.result(|| json!({ "name": name.word(), "schema": schema }))?;
    Ok(Exit::Done)
}

fn read(text: &str) -> Result<Value, Failure> {
    serde_json::from_str(text)
        .map_err(|error| Failure::environment("cannot read the schema", &error))
}
