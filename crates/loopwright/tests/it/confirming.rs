//! What landed by a reused build is measured again by the real program before anybody is shown it. The
//! journals say of their checks that they reused a build; everything that follows is real.

use journal::{Journal, NewRecord};
use kernel::{EndReason, Event, RunOutcome, Stage, Stamped};

use crate::scene::{JUDGE, Scene, processes_with, wait_until};

/// The first attempt is red, and the second one green.
const IMPLEMENT: &str = "cat > prompt-seen\nrm prompt-seen\n\
    if [ \"$LOOPWRIGHT_ATTEMPT\" = 1 ]; then echo bad; else echo good; fi > one.txt\n";

const GOOD: &str = "cat > prompt-seen\nrm prompt-seen\necho good > one.txt\n";

fn scene(implement: &str) -> Scene {
    let scene = Scene::with_agents(&["one"], implement, JUDGE);
    scene.configure("[checks]\ntest = \"! grep -qs bad one.txt\"\n");
    scene
}

/// Plays a loop to its end; gives its id and what happened.
fn played(scene: &Scene, retries: &str) -> (String, Vec<Stamped>) {
    let answer = scene.start(&["--foreground", "--max-retries", retries]);
    let loop_id = scene.status()["loopId"].as_str().map(str::to_owned);
    let loop_id = loop_id.unwrap_or_else(|| panic!("no loop: {}", answer.whole()));
    // The worker has the journal open until it ends by itself.
    wait_until("the worker's end", || {
        processes_with(&scene.home()).is_empty().then_some(())
    });
    let records = records_of(scene, &loop_id);
    (loop_id, records)
}

/// The same records, with checks that say yes because they reused a build.
fn believed(mut records: Vec<Stamped>) -> Vec<Stamped> {
    for record in &mut records {
        if let Event::RunEnded { run, outcome, .. } = &mut record.event
            && run.stage == Stage::Check
            && let RunOutcome::Checked { passed, facts, .. } = outcome
        {
            let facts = facts.as_mut().expect("facts");
            *passed = true;
            facts.failed_checks.clear();
            facts.warm = true;
        }
    }
    records
}

fn upto(records: &[Stamped], is_last: impl Fn(&Event) -> bool) -> Vec<Stamped> {
    let last = records.iter().position(|record| is_last(&record.event));
    records[..=last.expect("it happened")].to_vec()
}

/// Puts the loop, the project's branch and its PRD back to where these records end.
fn put_back(scene: &Scene, loop_id: &str, records: &[Stamped]) {
    for file in ["journal.db", "journal.db-wal", "journal.db-shm"] {
        let _ = std::fs::remove_file(scene.home().join(file));
    }
    let journal = Journal::open(&scene.home()).expect("a journal");
    for (number, record) in (0..).zip(records) {
        let body = serde_json::to_string(&record.event).expect("JSON");
        let new = NewRecord {
            at_ms: record.at_ms,
            kind: record.event.kind(),
            body: &body,
        };
        journal
            .append(loop_id, number, None, &[new])
            .expect("appended");
    }
    scene.git(&["checkout", "--quiet", "prd.json"]);
    let branch = format!("refs/heads/agent-loop/{loop_id}");
    scene.git(&["update-ref", "-d", &branch]);
}

fn records_of(scene: &Scene, loop_id: &str) -> Vec<Stamped> {
    let journal = Journal::open(&scene.home()).expect("a journal");
    home::load(&journal, loop_id).expect("the loop").records
}

#[test]
fn i01_a_red_confirmation_takes_the_story_back_and_nobody_has_seen_it() {
    let scene = scene(IMPLEMENT);
    let (loop_id, records) = played(&scene, "0");
    let mut records = upto(
        &believed(records),
        |event| matches!(event, Event::RunEnded { run, .. } if run.stage == Stage::Check),
    );
    if let Event::LoopStarted { spec } = &mut records[0].event {
        spec.max_retries = 1;
    }
    put_back(&scene, &loop_id, &records);
    scene.env.run(&["status", &loop_id]);
    scene.wait_for(&["completed"]);
    let records = records_of(&scene, &loop_id);
    let told: Vec<&str> = records
        .iter()
        .map(|record| record.event.kind())
        .filter(|kind| ["integrated", "retracted", "announced"].contains(kind))
        .collect();
    assert_eq!(told, ["integrated", "retracted", "integrated", "announced"]);
    let retracted = records.iter().find_map(|record| match &record.event {
        Event::Retracted { commit, .. } => Some(commit.to_string()),
        _ => None,
    });
    let retracted = retracted.expect("it was taken back");
    let objects = scene.git(&["cat-file", "--batch-check", "--batch-all-objects"]);
    assert!(!objects.contains(&retracted), "it is in the project");
    let branch = format!("agent-loop/{loop_id}");
    let count = scene.git(&["rev-list", "--count", &branch]);
    assert_eq!(count.trim(), "2", "the base and the second attempt");
    let shown = scene.git(&["show", &format!("{branch}:one.txt")]);
    assert_eq!(shown.trim(), "good");
    assert!(
        scene
            .env
            .read("project/prd.json")
            .contains("\"passes\": true")
    );
    let story = scene.env.run(&["story", &loop_id, "one"]);
    assert!(story.stdout.contains("taken back"), "{}", story.whole());
    let status = scene.env.run(&["status", &loop_id]);
    assert!(
        status
            .stdout
            .contains("builds  none is reused any more: `one` was green"),
        "{}",
        status.whole()
    );
}

#[test]
fn what_a_cancel_left_unconfirmed_is_confirmed_and_published_by_resume() {
    let scene = scene(GOOD);
    let (loop_id, records) = played(&scene, "0");
    let mut records = upto(&believed(records), |event| {
        matches!(event, Event::Integrated { .. })
    });
    let at_ms = records.last().expect("a record").at_ms;
    let why = "enough".to_owned();
    for event in [
        Event::CancelRequested {
            reason: why.clone(),
        },
        Event::LoopEnded {
            reason: EndReason::Cancelled { why },
        },
    ] {
        records.push(Stamped { at_ms, event });
    }
    put_back(&scene, &loop_id, &records);
    let branch = format!("refs/heads/agent-loop/{loop_id}");
    let is_there = || !scene.git(&["for-each-ref", &branch]).is_empty();
    let status = scene.env.run(&["status", &loop_id]);
    assert!(
        status
            .stdout
            .contains("landed, not confirmed, not published"),
        "{}",
        status.whole()
    );
    let hint = format!("`loopwright resume {loop_id}` confirms and publishes it");
    assert!(status.stdout.contains(&hint), "{}", status.whole());
    assert!(!is_there(), "nobody was shown it");
    let resume = scene.env.run(&["resume", &loop_id]);
    assert_eq!(resume.exit, 0, "{}", resume.whole());
    scene.wait_for_view("confirmed", |view| view["stories"][0]["status"] == "passed");
    assert!(is_there(), "it is published");
    assert!(
        scene
            .env
            .read("project/prd.json")
            .contains("\"passes\": true")
    );
    let records = records_of(&scene, &loop_id);
    let has_run = records.iter().any(|record| {
        matches!(&record.event, Event::RunEnded { run, .. } if run.stage == Stage::Confirm)
    });
    assert!(has_run, "it was measured");
}
