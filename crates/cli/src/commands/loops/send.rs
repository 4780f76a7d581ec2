//! `loopwright send NAME --data JSON`: the event interface for other programs.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use home::Home;
use journal::Journal;
use kernel::Event;
use serde_json::{Map, Value};

use super::lookup::open;
use super::start_request::{Assignment, StartRequest};
use super::{look, start};
use crate::config::{Flag, probably_meant};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::state_folder::home;

const NAMES: [&str; 3] = ["agent/loop.start", "agent/loop.cancel", "agent/story.start"];

/// An event is a few names and numbers; what is larger is a mistake.
const DATA_BYTES_MAX: u64 = 1024 * 1024;

/// The longest id of a loop.
const ID_BYTES_MAX: usize = 80;

const START: &[&str] = &[
    "loopId",
    "project",
    "prdPath",
    "maxRetries",
    "maxIterations",
    "toolAssignments",
    "retryLadder",
    "flow",
    "budget",
    "again",
];
const STORY: &[&str] = &[
    "loopId",
    "project",
    "prdPath",
    "storyId",
    "attempt",
    "judgment",
    "only",
    "maxRetries",
    "flow",
    "again",
];
const ROLES: &[&str] = &["implementor", "reviewer", "judge"];
const BUDGET: &[&str] = &["usd", "tokens", "hours"];

pub(super) fn run(name: &str, data: &str, output: &mut Output) -> Result<Exit, Failure> {
    output.command("send");
    match name {
        "agent/loop.start" => {
            let data = read(data)?;
            start_loop(&home()?, &request(&Fields::of(&data, "", START)?)?, output)
        }
        "agent/story.start" => {
            let data = read(data)?;
            let fields = Fields::of(&data, "", STORY)?;
            start_loop(&home()?, &story_wish(&fields)?, output)
        }
        "agent/loop.cancel" => cancel(
            &Fields::of(&read(data)?, "", &["loopId", "reason"])?,
            output,
        ),
        other => Err(with_hint(
            Failure::bad_input(format!("`{other}` is no event that can be sent")),
            other,
            &NAMES,
        )),
    }
}

/// The event's data: the JSON itself, a file, or standard input.
fn read(data: &str) -> Result<Value, Failure> {
    let refused =
        |error: std::io::Error| Failure::environment("cannot read the event's data", &error);
    let mut text = String::new();
    match data.strip_prefix('@') {
        Some(file) => {
            let file = std::fs::File::open(file).map_err(|error| {
                let mut failure = Failure::environment(&format!("cannot read `{file}`"), &error);
                failure.exit = Exit::BadInput;
                failure
            })?;
            file.take(DATA_BYTES_MAX + 1)
                .read_to_string(&mut text)
                .map_err(refused)?;
        }
        None if data == "-" => {
            std::io::stdin()
                .lock()
                .take(DATA_BYTES_MAX + 1)
                .read_to_string(&mut text)
                .map_err(refused)?;
        }
        None => data.clone_into(&mut text),
    }
    if text.len() as u64 > DATA_BYTES_MAX {
        return Err(Failure::bad_input(
            "the event's data is larger than a megabyte",
        ));
    }
    serde_json::from_str(&text).map_err(|error| {
        Failure::bad_input(format!("the event's data is not JSON: {error}"))
            .hint("give it as --data '{\"project\": \".\", \"prdPath\": \"prd.json\"}', --data @FILE, or --data - for standard input")
    })
}

fn with_hint(failure: Failure, wanted: &str, known: &[&str]) -> Failure {
    match probably_meant(wanted, known) {
        Some(near) => failure.hint(format!("did you mean `{near}`?")),
        None => failure.hint(format!("known are {}", known.join(", "))),
    }
}

/// The fields of one object; every one of them is known.
struct Fields<'f> {
    place: &'f str,
    map: &'f Map<String, Value>,
}

impl<'f> Fields<'f> {
    fn of(value: &'f Value, place: &'f str, known: &[&str]) -> Result<Self, Failure> {
        let named = |name: &str| {
            if place.is_empty() {
                name.to_owned()
            } else {
                format!("{place}.{name}")
            }
        };
        let Value::Object(map) = value else {
            let what = if place.is_empty() {
                "the event's data"
            } else {
                place
            };
            return Err(Failure::bad_input(format!("{what} must be an object")));
        };
        let unknown: Vec<&String> = map
            .keys()
            .filter(|name| !known.contains(&name.as_str()))
            .collect();
        let Some(first) = unknown.first() else {
            return Ok(Self { place, map });
        };
        let listed: Vec<String> = unknown
            .iter()
            .map(|name| format!("`{}`", named(name)))
            .collect();
        Err(with_hint(
            Failure::bad_input(format!("unknown field {}", listed.join(", "))),
            first,
            known,
        ))
    }

    /// A field that is there; `null` is as good as none.
    fn get(&self, name: &str) -> Option<&'f Value> {
        self.map.get(name).filter(|value| !value.is_null())
    }

    fn misfit(&self, name: &str, wanted: &str) -> Failure {
        let place = if self.place.is_empty() {
            String::new()
        } else {
            format!("{}.", self.place)
        };
        Failure::bad_input(format!("`{place}{name}` must be {wanted}"))
    }

    fn text(&self, name: &str) -> Result<Option<String>, Failure> {
        let text = |value: &Value| {
            value
                .as_str()
                .map(str::to_owned)
                .ok_or_else(|| self.misfit(name, "a text"))
        };
        self.get(name).map(text).transpose()
    }

    fn required(&self, name: &str) -> Result<String, Failure> {
        self.text(name)?
            .ok_or_else(|| Failure::bad_input(format!("the field `{name}` is missing")))
    }

    /// Off where it is missing.
    fn switch(&self, name: &str) -> Result<bool, Failure> {
        let value = self.get(name).unwrap_or(&Value::Bool(false));
        value
            .as_bool()
            .ok_or_else(|| self.misfit(name, "true or false"))
    }

    /// A number or a text, as the configuration takes it; whether it fits the key is for that to
    /// say.
    fn flag(&self, name: &str, key: &str) -> Result<Option<Flag>, Failure> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let value = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            // A list of texts in JSON is one in TOML too.
            Value::Array(items) if items.iter().all(Value::is_string) => value.to_string(),
            _ => return Err(self.misfit(name, "a number, a text or a list of texts")),
        };
        Ok(Some(Flag {
            name: format!("event {name}"),
            key: key.to_owned(),
            value,
        }))
    }
}

fn start_loop(home: &Home, request: &StartRequest, output: &mut Output) -> Result<Exit, Failure> {
    let journal = open(home)?;
    if let Some(loop_id) = &request.loop_id
        && is_there(&journal, loop_id, request)?
    {
        return told_already(home, &journal, loop_id, output);
    }
    match (start::carry_out(home, request, output), &request.loop_id) {
        // Somebody sent the same event at the same moment.
        (Err(_), Some(loop_id)) if is_there(&journal, loop_id, request)? => {
            told_already(home, &journal, loop_id, output)
        }
        (started, _) => started,
    }
}

fn told_already(
    home: &Home,
    journal: &Journal,
    loop_id: &str,
    output: &mut Output,
) -> Result<Exit, Failure> {
    output.talk(&format!(
        "loop {loop_id} was started before; one is enough\n"
    ));
    look::result_of(home, journal, loop_id, output)?;
    Ok(Exit::Done)
}

/// Whether this very loop was started before; one of the same id for something else is refused.
fn is_there(journal: &Journal, loop_id: &str, request: &StartRequest) -> Result<bool, Failure> {
    let rows = journal
        .loops()
        .map_err(|error| Failure::environment("cannot read the journal", &error))?;
    if !rows.iter().any(|row| row.loop_id == loop_id) {
        return Ok(false);
    }
    let same = super::lookup::load(journal, loop_id).is_ok_and(|loaded| {
        let is_at = |text: &str, path: &Path| {
            std::fs::canonicalize(path).is_ok_and(|path| path == Path::new(text))
        };
        let spec = loaded.state.spec();
        is_at(&spec.project, &request.project) && is_at(&spec.prd_path, &request.prd)
    });
    if same {
        return Ok(true);
    }
    Err(
        Failure::bad_input(format!("the id {loop_id} belongs to another loop"))
            .hint("leave loopId out, and the loop gets an id of its own"),
    )
}

/// One story at once, by the `proof` flow unless the event says otherwise; then the next ready
/// ones.
fn story_wish(fields: &Fields<'_>) -> Result<StartRequest, Failure> {
    let project = PathBuf::from(fields.text("project")?.unwrap_or_else(|| ".".to_owned()));
    let prd = project.join(fields.required("prdPath")?);
    let mut flags = vec![Flag {
        name: "event agent/story.start".to_owned(),
        key: "loop.flow".to_owned(),
        value: "proof".to_owned(),
    }];
    flags.extend(fields.flag("maxRetries", "loop.max_retries")?);
    flags.extend(fields.flag("flow", "loop.flow")?);
    let number = fields
        .get("attempt")
        .map(|value| value.as_u64().and_then(|value| u32::try_from(value).ok()));
    let attempt = match number {
        None => 1,
        Some(Some(attempt)) if attempt > 0 => attempt,
        Some(_) => return Err(fields.misfit("attempt", "a number from 1")),
    };
    let only = fields.switch("only")?;
    let judgment = fields.get("judgment").map(|value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    let first = Some(kernel::FirstStory {
        id: fields.required("storyId")?.into(),
        attempt,
        judgment,
        only,
    });
    let loop_id = fields.text("loopId")?.map(|id| valid_id(&id)).transpose()?;
    Ok(StartRequest {
        project,
        prd,
        flags,
        loop_id,
        first,
        again: fields.switch("again")?,
        ..StartRequest::default()
    })
}

fn request(fields: &Fields<'_>) -> Result<StartRequest, Failure> {
    let project = PathBuf::from(fields.required("project")?);
    // As others mean it: a path that is not absolute is in the project.
    let prd = project.join(fields.required("prdPath")?);
    let mut flags = Vec::new();
    for (name, key) in [
        ("maxRetries", "loop.max_retries"),
        ("maxIterations", "loop.max_iterations"),
        ("retryLadder", "retry.ladder"),
        ("flow", "loop.flow"),
    ] {
        flags.extend(fields.flag(name, key)?);
    }
    if let Some(budget) = fields.get("budget") {
        let budget = Fields::of(budget, "budget", BUDGET)?;
        for name in BUDGET {
            flags.extend(budget.flag(name, &format!("budget.{name}"))?);
        }
    }
    let loop_id = fields.text("loopId")?.map(|id| valid_id(&id)).transpose()?;
    let mut request = StartRequest {
        project,
        prd,
        flags,
        loop_id,
        again: fields.switch("again")?,
        ..StartRequest::default()
    };
    if let Some(Value::Object(assignments)) = fields.get("toolAssignments") {
        for (story, roles) in assignments {
            let roles = Fields::of(roles, "toolAssignments", ROLES)?;
            let (implementor, reviewer, judge) = (
                roles.text("implementor")?,
                roles.text("reviewer")?,
                roles.text("judge")?,
            );
            request.assignments.insert(
                story.clone(),
                Assignment {
                    implementor,
                    reviewer,
                    judge,
                },
            );
        }
    } else if fields.get("toolAssignments").is_some() {
        return Err(fields.misfit("toolAssignments", "an object of stories"));
    }
    Ok(request)
}

/// An id names a folder and a branch. Ours are ULIDs; those of other systems are taken as they are
/// where they can name both.
fn valid_id(id: &str) -> Result<String, Failure> {
    if let Ok(ulid) = ulid::Ulid::from_string(id) {
        return Ok(ulid.to_string());
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let is_usable = !id.is_empty()
        && id.len() <= ID_BYTES_MAX
        && id.chars().all(is_plain)
        && !id.starts_with(['-', '.'])
        && !id.ends_with('.')
        && !id.contains("..")
        // Git keeps its locks under such names.
        && !id.to_ascii_lowercase().ends_with(".lock");
    if is_usable {
        return Ok(id.to_owned());
    }
    Err(Failure::bad_input(format!("`{id}` is no loop id")).hint(
        "an id has up to 80 letters, digits, `.`, `_` and `-`, and can name a branch; leave loopId \
         out to get one",
    ))
}

fn cancel(fields: &Fields<'_>, output: &mut Output) -> Result<Exit, Failure> {
    let reason = fields
        .text("reason")?
        .unwrap_or_else(|| "cancelled by an event".to_owned());
    let exit = super::ask::ask(
        &fields.required("loopId")?,
        &Event::CancelRequested { reason },
        "cancel",
        output,
    );
    output.command("send");
    exit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_other_systems_are_taken_where_they_can_name_a_branch() {
        for id in [
            "loop-1",
            "a",
            "2026.11.17_shop",
            "LOOP_x.y-z",
            &"a".repeat(80),
        ] {
            assert_eq!(valid_id(id).ok().as_deref(), Some(id));
        }
        let ulid = "01j0000000000000000000000a";
        let upper = ulid.to_uppercase();
        assert_eq!(valid_id(ulid).ok(), Some(upper));
        for id in [
            "",
            "-x",
            ".x",
            "a..b",
            "x.lock",
            "x.",
            "a/b",
            "a b",
            "ä",
            "../x",
            &"a".repeat(81),
        ] {
            assert!(valid_id(id).is_err(), "{id}");
        }
    }
}
