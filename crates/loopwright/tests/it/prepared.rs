//! A loop that is recorded and that no worker has seen yet: its id and its time are fixed, so that
//! the commits of two plays are the same.

use kernel::Event;
use serde_json::Value;

use crate::scene::Scene;

/// When the loop was started, and what the clock shows for as long as a test stops it.
pub(crate) const CLOCK_MS: i64 = 1_800_000_000_000;

/// Records a loop with this id.
pub(crate) fn prepared_as(scene: &Scene, loop_id: &str) -> String {
    prepared_with(scene, loop_id, &[])
}

/// Records a loop with this id, as `start` would with these options.
pub(crate) fn prepared_with(scene: &Scene, loop_id: &str, options: &[&str]) -> String {
    let start = [
        "start",
        "--project",
        "project",
        "--prd",
        "project/prd.json",
        "--max-retries",
        "1",
    ];
    // The program says what it would record; the id alone is another one.
    let answer = scene.env.run(
        &[
            &start[..],
            &["--json", "--dry-run", "--again", "--no-preflight"],
            options,
        ]
        .concat(),
    );
    let mut spec: kernel::LoopSpec =
        serde_json::from_value(recorded_form(answer.json()["result"]["spec"].clone()))
            .expect("a spec");
    loop_id.clone_into(&mut spec.loop_id);
    spec.branch = format!("agent-loop/{loop_id}");
    let event = Event::LoopStarted {
        spec: Box::new(spec),
    };
    let body = serde_json::to_string(&event).expect("JSON");
    let record = journal::NewRecord {
        at_ms: CLOCK_MS,
        kind: event.kind(),
        body: &body,
    };
    let journal = journal::Journal::open(&scene.home()).expect("a journal");
    journal
        .append(loop_id, 0, None, &[record])
        .expect("recorded");
    loop_id.to_owned()
}

/// A spec as the journal has it, from the form in which programs are told of it.
fn recorded_form(mut spec: Value) -> Value {
    let settings = with_recorded_keys(spec["settings"].take()).to_string();
    let mut spec = with_recorded_keys(spec);
    spec["settings"] = settings.into();
    spec
}

fn with_recorded_keys(value: Value) -> Value {
    // Names of agents, files and variables are nobody's keys.
    const FREE: [&str; 5] = ["agents", "env", "families", "files", "prompts"];
    match value {
        Value::Object(members) => members
            .into_iter()
            .map(|(key, value)| match value {
                Value::Object(named) if FREE.contains(&key.as_str()) => {
                    let named = named.into_iter();
                    let named = named.map(|(name, value)| (name, with_recorded_keys(value)));
                    (key, Value::Object(named.collect()))
                }
                other => (snake_case(&key), with_recorded_keys(other)),
            })
            .collect::<serde_json::Map<_, _>>()
            .into(),
        Value::Array(items) => items.into_iter().map(with_recorded_keys).collect(),
        plain => plain,
    }
}

fn snake_case(key: &str) -> String {
    let mut name = String::new();
    for letter in key.chars() {
        if letter.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

/// Everything that the journal has of a loop.
pub(crate) fn records(scene: &Scene, loop_id: &str) -> Vec<kernel::Stamped> {
    let journal = journal::Journal::open(&scene.home()).expect("a journal");
    home::load(&journal, loop_id).expect("a loop").records
}
