//! What people are told is in their words, and true: what can be done instead, which loops stayed,
//! in which zone a time is.

use kernel::{EndReason, Event};

use crate::prepared::prepared_as;
use crate::scene::{IMPLEMENT, JUDGE, Scene};
use crate::support::TestEnv;

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
    let me = ["-c", "user.name=T", "-c", "user.email=t@t"];
    let theirs = scene.git(&[&me[..], &["commit-tree", "HEAD^{tree}", "-m", "theirs"]].concat());
    scene.git(&["branch", &format!("agent-loop/{kept}"), &theirs]);
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
    let stuck = prepared_as(&scene, "01CCCCCCCCCCCCCCCCCCCCCCCC");
    record(&scene, &stuck, 1, &completed());
    // A file where the loop's folder belongs is nothing that can be removed as one.
    scene
        .env
        .write(&format!(".local/state/loopwright/loops/{stuck}"), "");

    // A dry run says the same and does nothing.
    for force in [&[][..], &["--force"]] {
        let dry = scene
            .env
            .run(&[&["nuke", "dead", "--dry-run"], force].concat());
        assert_eq!(dry.exit, 0, "{}", dry.whole());
        let line = format!("would remove  {removed}  0 B\n");
        assert!(dry.stdout.contains(&line), "{}", dry.whole());
        let also = dry.stdout.contains(&format!("would remove  {kept}"));
        assert_eq!(also, !force.is_empty(), "{}", dry.whole());
    }
    let answer = scene.env.run(&["nuke", "dead", "--json"]);
    let json = answer.json();
    let result = &json["result"];
    assert_eq!(answer.exit, 1, "{}", answer.whole());
    assert_eq!(result["removed"], serde_json::json!([removed]));
    assert_eq!(result["kept"][0]["loopId"], kept, "{json}");
    assert_eq!(result["failed"][0]["loopId"], stuck, "{json}");
    assert_eq!(json["ok"], false, "{json}");

    // What may not go is no failure.
    std::fs::remove_file(scene.home().join("loops").join(&stuck)).expect("removed");
    let again = scene.env.run(&["nuke", "dead"]);
    let said = again.whole();
    assert_eq!(again.exit, 0, "{said}");
    assert!(
        again
            .stdout
            .contains(&format!("kept    loop {kept} has accepted commits"))
            && again.stdout.contains(&format!("removed {stuck};"))
            && again.stderr.contains("1 loop was kept; `--force`"),
        "{said}"
    );
    // Who names it wants that one.
    assert_eq!(scene.env.run(&["nuke", kept]).exit, 2);
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
        answer.stdout.contains("ended 2023-11-14 22:13 +00:00  "),
        "{}",
        answer.whole()
    );
}

#[test]
fn a_prd_in_which_everything_has_passed_makes_no_loop() {
    let scene = Scene::new(&["one", "two"]);
    let prd = scene.env.read("project/prd.json");
    let passed = prd.replace("\"passes\": false", "\"passes\": true");
    for (prd, exit, expected) in [
        (
            passed.clone(),
            0,
            "2 stories have passed; no loop was started",
        ),
        (
            passed.replacen(
                "\"passes\": true",
                "\"passes\": false, \"skipped\": true",
                1,
            ),
            1,
            "1 story has passed, and 1 story is set aside: one; no loop was started",
        ),
    ] {
        scene.env.write("project/prd.json", prd);
        for more in [&[][..], &["--foreground"], &["--dry-run"]] {
            let answer = scene.start(more);
            let said = answer.whole();
            assert!(answer.exit == exit && said.contains(expected), "{said}");
        }
        let json = scene.start(&["--json"]).json();
        assert_eq!(json["result"]["loopId"], serde_json::Value::Null, "{json}");
        assert_eq!(json["ok"], exit == 0, "{json}");
        assert_eq!(scene.env.run(&["list"]).stdout, "");
    }
}

#[test]
fn a_branch_that_does_not_exist_is_not_named_as_if_it_did() {
    let scene = Scene::new(&["one"]);
    let id = prepared_as(&scene, "01AAAAAAAAAAAAAAAAAAAAAAAA");
    let status = || scene.env.run(&["status", &id]).stdout;
    let expected = "\nbranch  none yet; the first story that lands makes agent-loop/01A";
    assert!(status().contains(expected), "{}", status());
    record(&scene, &id, 1, &completed());
    let expected = "\nbranch  none, since no story landed; the project is as it was at ";
    assert!(status().contains(expected), "{}", status());
}

#[test]
fn a_deleted_prd_is_mentioned_by_status_by_watch_and_at_the_end() {
    let gated = format!("while [ ! -f \"$STARTS-gate\" ]; do sleep 0.05; done\n{IMPLEMENT}");
    let scene = Scene::with_agents(&["one"], &gated, JUDGE);
    scene.start(&[]);
    let view = scene.wait_for_view("the first agent", |_| !scene.starts().is_empty());
    let id = view["loopId"].as_str().expect("an id");
    std::fs::remove_file(scene.project().join("prd.json")).expect("removed");
    let prd = scene.project().join("prd.json").display().to_string();
    let status = scene.env.run(&["status", id]);
    let expected = format!("prd     {prd}: it is gone; the loop goes on");
    assert!(status.stdout.contains(&expected), "{}", status.whole());
    scene.env.write("starts-gate", "");
    let watched = scene.env.run(&["watch", id]);
    let warned = format!("warning: the PRD {prd}: it is gone");
    assert!(watched.stderr.contains(&warned), "{}", watched.whole());
    let expected = format!("prd     {prd}: it does not have the state of one: ");
    assert!(watched.stdout.contains(&expected), "{}", watched.whole());
    let json = scene.env.run(&["status", id, "--json"]).json();
    assert!(
        json["result"]["prdFault"].is_string() && json["result"]["status"] == "completed",
        "{json}"
    );
}

#[test]
fn a_prd_that_is_put_back_after_the_end_gets_its_marks_from_resume() {
    let gated = format!("while [ ! -f \"$STARTS-gate\" ]; do sleep 0.05; done\n{IMPLEMENT}");
    let scene = Scene::with_agents(&["one", "never-two"], &gated, JUDGE);
    scene.start(&[]);
    let view = scene.wait_for_view("the first agent", |_| !scene.starts().is_empty());
    let id = view["loopId"].as_str().expect("an id");
    let text = scene.env.read("project/prd.json");
    std::fs::remove_file(scene.project().join("prd.json")).expect("removed");
    scene.env.write("starts-gate", "");
    scene.wait_for(&["completed"]);
    let status = || scene.env.run(&["status", id, "--json"]);
    let refused = scene.env.run(&["resume", id]);
    assert_eq!(refused.exit, 3, "{}", refused.whole());
    assert!(
        refused.stderr.contains("cannot write into the PRD"),
        "{}",
        refused.whole()
    );
    scene.env.write("project/prd.json", &text);
    let said = scene.env.run(&["status", id]);
    let remedy = format!("`loopwright resume {id}` writes it");
    assert!(said.stdout.contains(&remedy), "{}", said.whole());
    let resumed = scene.env.run(&["resume", id]);
    assert_eq!(resumed.exit, 0, "{}", resumed.whole());
    let marked = scene.env.read("project/prd.json");
    assert!(
        marked.contains("\"passes\": true") && marked.contains("\"skipped\": true"),
        "{marked}"
    );
    assert!(status().json()["result"]["prdFault"].is_null());
    // What a person writes into it later is theirs, whoever looks.
    scene.env.write("project/prd.json", &text);
    assert_eq!(scene.env.run(&["list"]).exit, 0);
    assert!(status().json()["result"]["prdFault"].is_string());
    assert_eq!(scene.env.read("project/prd.json"), text);
}

#[test]
fn a_project_or_a_prd_that_is_missing_is_named_and_not_the_agents() {
    let env = TestEnv::new();
    env.write("project/prd.json", "{ \"stories\": [] }");
    for (project, prd, missing) in [
        ("nope", "project/prd.json", "nope"),
        ("project", "project/nope.json", "project/nope.json"),
    ] {
        let answer = env.run(&["start", "--project", project, "--prd", prd]);
        let said = answer.whole();
        assert_eq!(answer.exit, 2, "{said}");
        let words = format!("error: cannot find `{missing}`: No such file or directory\n");
        assert_eq!(answer.stderr, words, "and no agents, and no number");
    }
}

#[test]
fn a_story_at_work_says_what_it_does_now() {
    let gated = format!("while [ ! -f \"$STARTS-gate\" ]; do sleep 0.05; done\n{IMPLEMENT}");
    let scene = Scene::with_agents(&["one"], &gated, JUDGE);
    scene.start(&[]);
    let view = scene.wait_for_view("the first agent", |_| !scene.starts().is_empty());
    let id = view["loopId"].as_str().expect("an id");
    let said = scene.env.run(&["story", id, "one"]);
    assert!(said.stdout.contains("\nnow: implement"), "{}", said.whole());
    assert!(!said.stdout.contains("why:"), "{}", said.whole());
    scene.env.write("starts-gate", "");
    scene.wait_for(&["completed"]);
}
