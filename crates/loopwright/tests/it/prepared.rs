//! A loop that is recorded and that no worker has seen yet: its id and its time are fixed, so that
//! the commits of two plays are the same.

use kernel::Event;

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
            &["--json", "--dry-run", "--no-preflight"],
            options,
        ]
        .concat(),
    );
    let mut spec: kernel::LoopSpec =
        serde_json::from_value(answer.json()["result"]["spec"].clone()).expect("a spec");
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

/// Everything that the journal has of a loop.
pub(crate) fn records(scene: &Scene, loop_id: &str) -> Vec<kernel::Stamped> {
    let journal = journal::Journal::open(&scene.home()).expect("a journal");
    home::load(&journal, loop_id).expect("a loop").records
}
