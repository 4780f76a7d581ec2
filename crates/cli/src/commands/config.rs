//! `loopwright config show`: every value that holds, and where it comes from.

use std::path::Path;

use serde_json::{Value as Json, json};

use crate::args::ConfigCommand;
use crate::config::{Complaint, Entry, Flag, Origin, Places, Settled, Value, failure_of, settle};
use crate::failure::{Exit, Failure};
use crate::output::{NextAction, Output};
use crate::project_folder::project_folder;

/// Parts of a variable's name that say that its value is nobody's business.
const SECRET_WORDS: &[&str] = &["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"];

pub(crate) fn run(command: &ConfigCommand, output: &mut Output) -> Result<Exit, Failure> {
    match command {
        ConfigCommand::Show { project, set } => {
            show(&project_folder(project.as_deref()), set, output)
        }
    }
}

fn show(project: &Path, set: &[String], output: &mut Output) -> Result<Exit, Failure> {
    output.command("config show");
    let places = Places::of_project(project);
    match settle(&places, &flags(set)?)? {
        Ok(settled) => tell(&places, &settled, output),
        Err(complaints) => refuse(&complaints, output),
    }
}

fn refuse(complaints: &[Complaint], output: &mut Output) -> Result<Exit, Failure> {
    output.result(|| json!({ "complaints": complaints }))?;
    let failure = failure_of(complaints);
    output.say(&failure);
    output.bad_news(failure);
    Ok(Exit::BadInput)
}

fn tell(places: &Places, settled: &Settled, output: &mut Output) -> Result<Exit, Failure> {
    for (word, path) in [
        ("your own", &places.user),
        ("the project's", &places.project),
    ] {
        if let Some(path) = path {
            let there = if path.is_file() { "" } else { " (not there)" };
            output.talk(&format!("{word} file: {}{there}\n", path.display()));
        }
    }
    let rows: Vec<(String, String, String)> = settled
        .entries
        .iter()
        .map(|(path, entry)| {
            (
                spelt(path),
                shown(path, entry).to_string(),
                words(&entry.origin),
            )
        })
        .collect();
    // One long value is no reason to push all origins out of sight.
    let width = |pick: fn(&(String, String, String)) -> &String, chars_max: usize| {
        let lengths = rows.iter().map(|row| pick(row).chars().count());
        lengths
            .filter(|length| *length <= chars_max)
            .max()
            .unwrap_or_default()
    };
    let (names, values) = (width(|row| &row.0, 60), width(|row| &row.1, 30));
    let line = |(name, value, origin): &(String, String, String)| {
        format!("{name:<names$} = {value:<values$}  # {origin}\n")
    };
    output.data(&rows.iter().map(line).collect::<String>())?;
    output.result(|| {
        let one = |(path, entry): (&Vec<String>, &Entry)| {
            json!({ "key": spelt(path), "value": shown(path, entry), "origin": origin(&entry.origin) })
        };
        json!({
            "files": { "user": places.user, "project": places.project },
            "values": settled.entries.iter().map(one).collect::<Vec<_>>(),
        })
    })?;
    output.next(NextAction::new(
        "loopwright doctor",
        "see whether everything that is named is there",
    ));
    Ok(Exit::Done)
}

/// `KEY=VALUE` as typed on the command line.
pub(crate) fn flags(set: &[String]) -> Result<Vec<Flag>, Failure> {
    let one = |text: &String| {
        let (key, value) = text.split_once('=').ok_or_else(|| {
            Failure::bad_input(format!("`--set {text}` sets nothing"))
                .hint("write KEY=VALUE, such as --set loop.max_retries=3")
        })?;
        let (key, value) = (key.trim().to_owned(), value.trim().to_owned());
        Ok(Flag {
            name: format!("--set {key}"),
            key,
            value,
        })
    };
    set.iter().map(one).collect()
}

/// A path as TOML writes it.
fn spelt(path: &[String]) -> String {
    let bare = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
    };
    let part = |part: &String| {
        if bare(part) {
            part.clone()
        } else {
            json!(part).to_string()
        }
    };
    path.iter().map(part).collect::<Vec<_>>().join(".")
}

/// A value as it may be shown: what looks like a secret by its name is not.
fn shown(path: &[String], entry: &Entry) -> Value {
    let in_environment = path.len() == 4 && path[0] == "agents" && path[2] == "env";
    let name = path
        .last()
        .map(|name| name.to_uppercase())
        .unwrap_or_default();
    if in_environment && SECRET_WORDS.iter().any(|word| name.contains(word)) {
        return Value::Text("***".to_owned());
    }
    entry.value.clone()
}

fn words(origin: &Origin) -> String {
    match origin {
        Origin::Default => "default".to_owned(),
        Origin::User { file, line_number } => format!("user {file}:{line_number}"),
        Origin::Project { file, line_number } => format!("project {file}:{line_number}"),
        Origin::Variable(name) => format!("env {name}"),
        Origin::Flag(name) => format!("flag {name}"),
    }
}

fn origin(origin: &Origin) -> Json {
    match origin {
        Origin::Default => json!({ "layer": "default" }),
        Origin::User { file, line_number } => {
            json!({ "layer": "user", "file": file, "line": line_number })
        }
        Origin::Project { file, line_number } => {
            json!({ "layer": "project", "file": file, "line": line_number })
        }
        Origin::Variable(name) => json!({ "layer": "env", "name": name }),
        Origin::Flag(name) => json!({ "layer": "flag", "name": name }),
    }
}
