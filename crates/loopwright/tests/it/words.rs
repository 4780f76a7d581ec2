//! What people are told is in their words, and true: what can be done instead, which loops stayed,
//! in which zone a time is.

use kernel::{EndReason, Event};

use crate::prepared::prepared_as;
use crate::scene::Scene;

/// When such a loop ended.
const ENDED_MS: i64 = 1_700_000_000_000;

/// Adds a record to a loop that has this many.
fn record(scene: &Scene, loop_id: &str, after: u64, event: &Event) {
    let body = serde_json::to_string(event).expect("JSON");
    let record = journal::NewRecord {
        at_ms: ENDED_MS,
        kind: event.kind(),
        body: &body,
    };
    let journal = journal::Journal::open(&scene.home()).expect("a journal");
    journal
        .append(loop_id, after, None, &[record])
        .expect("recorded");
}

fn completed() -> Event {
    Event::LoopEnded {
        reason: EndReason::Completed,
    }
}

#[test]
fn a_request_that_a_loop_cannot_take_says_what_can_be_done_instead() {
    let scene = Scene::new(&["one"]);
    let running = prepared_as(&scene, "01AAAAAAAAAAAAAAAAAAAAAAAA");
    let paused = prepared_as(&scene, "01BBBBBBBBBBBBBBBBBBBBBBBB");
    record(&scene, &paused, 1, &Event::PauseRequested);
    let over = prepared_as(&scene, "01CCCCCCCCCCCCCCCCCCCCCCCC");
    record(&scene, &over, 1, &completed());
    for (arguments, expected, help) in [
        (
            ["answer", &running, "retry"],
            "asks nothing now; it is running",
            "loopwright watch 01A",
        ),
        (
            ["answer", &paused, "retry"],
            "asks nothing now; it is paused",
            "loopwright resume 01B",
        ),
        (
            ["answer", &over, "retry"],
            "is over (completed), so there is nothing to answer",
            "loopwright start --project ",
        ),
        (
            ["cancel", &over, "--json"],
            "is over (completed), so there is nothing to cancel",
            "loopwright status 01C",
        ),
    ] {
        let refused = scene.env.run(&arguments);
        let said = refused.whole();
        assert_eq!(refused.exit, 2, "{said}");
        assert!(said.contains(expected) && said.contains(help), "{said}");
        for inside in ["answered", "cancel-requested", "cannot happen"] {
            assert!(!said.contains(inside), "{inside} in {said}");
        }
    }
}

#[test]
fn nuke_dead_goes_on_past_a_loop_that_it_may_not_remove_and_reports_it() {
    let scene = Scene::new(&["one"]);
    // Somebody has a branch of that name, so what lands is in the loop's own repository alone.
    let kept = "01AAAAAAAAAAAAAAAAAAAAAAAA";
    scene.git(&["branch", &format!("agent-loop/{kept}")]);
    let data =
        format!("{{\"project\": \"project\", \"prdPath\": \"prd.json\", \"loopId\": \"{kept}\"}}");
    let sent = scene
        .env
        .run(&["send", "agent/loop.start", "--data", &data]);
    assert_eq!(sent.exit, 0, "{}", sent.whole());
    scene.wait_for(&["completed"]);
    scene.git(&["checkout", "--quiet", "prd.json"]);
    let removed = prepared_as(&scene, "01BBBBBBBBBBBBBBBBBBBBBBBB");
    record(&scene, &removed, 1, &completed());
    let answer = scene.env.run(&["nuke", "dead", "--json"]);
    let json = answer.json();
    assert_eq!(answer.exit, 1, "{}", answer.whole());
    assert_eq!(json["result"]["removed"], serde_json::json!([removed]));
    assert_eq!(json["result"]["kept"][0]["loopId"], kept, "{json}");
    assert_eq!(json["ok"], false, "{json}");
    let again = scene.env.run(&["nuke", "dead"]);
    let said = again.whole();
    assert_eq!(again.exit, 1, "{said}");
    assert!(
        again
            .stdout
            .contains(&format!("kept  loop {kept} has accepted commits"))
            && again.stderr.contains("1 loop was kept; 0 removed")
            && again.stderr.contains("--force"),
        "{said}"
    );
    let forced = scene.env.run(&["nuke", "dead", "--force"]);
    assert_eq!(forced.exit, 0, "{}", forced.whole());
}

#[test]
fn a_time_is_shown_with_its_zone() {
    let scene = Scene::new(&["one"]);
    let over = prepared_as(&scene, "01AAAAAAAAAAAAAAAAAAAAAAAA");
    record(&scene, &over, 1, &completed());
    std::fs::create_dir_all(scene.home().join("loops").join(&over)).expect("a folder");
    let answer = scene.env.run(&["clean", "--older-than", "0", "--dry-run"]);
    assert!(
        answer.stdout.contains("ended 2023-11-14 22:13 UTC  "),
        "{}",
        answer.whole()
    );
}
