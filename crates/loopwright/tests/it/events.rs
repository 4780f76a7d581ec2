//! `loopwright send`: the event interface.

use serde_json::{Value, json};

use crate::scene::{IMPLEMENT, Scene, wait_until};
use crate::support::Answer;

const ID: &str = "01J0000000000000000000000A";

fn send(scene: &Scene, name: &str, data: &Value) -> Answer {
    scene
        .env
        .run(&["send", name, "--data", &data.to_string(), "--json"])
}

#[test]
fn an_event_starts_one_loop_however_often_it_is_sent() {
    let scene = Scene::new(&["one", "two"]);
    let data = json!({ "loopId": ID, "project": "project", "prdPath": "prd.json", "maxRetries": 1, "retryLadder": ["builder"],
                       "toolAssignments": { "two": { "implementor": "judge" } } });
    let first = send(&scene, "agent/loop.start", &data);
    assert_eq!(
        (first.exit, &first.json()["result"]["loopId"]),
        (0, &json!(ID)),
        "{}",
        first.whole()
    );
    assert_eq!(first.json()["command"], "send");
    let again = send(&scene, "agent/loop.start", &data);
    assert_eq!(
        (again.exit, &again.json()["result"]["loopId"]),
        (0, &json!(ID)),
        "{}",
        again.whole()
    );
    assert_eq!(scene.env.run(&["list"]).stdout.lines().count(), 1);
    scene.wait_for(&["completed"]);
    let events = scene.env.run(&["events", ID, "--json"]).json();
    let of = |name: &str| -> Vec<Value> {
        let all = events["result"]["events"].as_array().expect("events");
        all.iter()
            .filter(|event| event["name"] == name)
            .map(|event| event["data"].clone())
            .collect()
    };
    let start = of("agent/loop.start");
    assert_eq!(
        (&start[0]["maxRetries"], &start[0]["retryLadder"]),
        (&json!(1), &json!(["builder"]))
    );
    let tools: Vec<Value> = of("agent/loop.implement")
        .iter()
        .map(|data| data["tool"].clone())
        .collect();
    assert_eq!(
        tools[..2],
        [json!("builder"), json!("judge")],
        "the story's own agent"
    );
}

#[test]
fn a_start_that_was_told_can_be_sent_as_it_is() {
    let scene = Scene::new(&["one"]);
    let id = "shop_2026.11-a";
    let data = json!({ "loopId": id, "project": "project", "prdPath": "prd.json", "budget": { "hours": 2.5 } });
    let first = send(&scene, "agent/loop.start", &data);
    assert_eq!(first.exit, 0, "{}", first.whole());
    scene.wait_for(&["completed"]);
    let events = scene.env.run(&["events", "11-a", "--json"]).json();
    let told = events["result"]["events"]
        .as_array()
        .expect("events")
        .clone();
    assert_eq!(told[0]["name"], "agent/loop.start");
    assert_eq!(told[0]["data"]["prdPath"], "prd.json");
    assert!(
        told.iter()
            .all(|event| event["id"].is_string() && event["record"].is_u64())
    );
    // The same loop is there, and one is enough.
    let again = send(&scene, "agent/loop.start", &told[0]["data"]);
    assert_eq!(
        (again.exit, &again.json()["result"]["loopId"]),
        (0, &json!(id)),
        "{}",
        again.whole()
    );
    let runs = scene.env.run(&["runs", id, "--json"]).json();
    let run_id = runs["result"]["runs"][0]["runId"]
        .as_str()
        .expect("an id")
        .to_owned();
    assert_eq!(scene.env.run(&["run", &run_id]).exit, 0, "{run_id}");
}

#[test]
fn an_event_cancels_a_loop_and_data_may_come_from_a_file_or_a_pipe() {
    let scene = Scene::new(&["one"]);
    let gate = scene.env.path("gate");
    scene.env.write(
        "agents/implement.sh",
        format!(
            "while [ ! -f {} ]; do sleep 0.05; done\n{IMPLEMENT}",
            gate.display()
        ),
    );
    scene.env.write(
        "event.json",
        json!({ "project": "project", "prdPath": "prd.json" }).to_string(),
    );
    let started = scene.env.run(&[
        "send",
        "agent/loop.start",
        "--data",
        "@event.json",
        "--json",
    ]);
    let id = started.json()["result"]["loopId"]
        .as_str()
        .expect("an id")
        .to_owned();
    wait_until("the loop", || {
        (scene.status()["status"] == "running").then_some(())
    });
    let cancel = json!({ "loopId": id, "reason": "enough" }).to_string();
    let cancelled = scene.env.run_with_input(
        &["send", "agent/loop.cancel", "--data", "-"],
        cancel.as_bytes(),
    );
    assert_eq!(cancelled.exit, 0, "{}", cancelled.whole());
    assert_eq!(scene.wait_for(&["cancelled"])["reason"], "enough");
}

#[test]
fn what_is_wrong_with_an_event_is_said() {
    let scene = Scene::new(&["one"]);
    let start = "agent/loop.start";
    let project = |more: Value| {
        let mut data = json!({ "project": "project", "prdPath": "prd.json" });
        data.as_object_mut()
            .expect("an object")
            .extend(more.as_object().expect("an object").clone());
        data
    };
    for (name, data, message, hint) in [
        (
            "agent/loop.strat",
            json!({}),
            "is no event that can be sent",
            "did you mean `agent/loop.start`?",
        ),
        (start, json!([]), "must be an object", ""),
        (
            start,
            json!({ "prdPath": "prd.json" }),
            "the field `project` is missing",
            "",
        ),
        (
            start,
            project(json!({ "colour": 2, "maxRetry": 1 })),
            "unknown field `colour`, `maxRetry`",
            "known are",
        ),
        (
            start,
            project(json!({ "maxRetry": 1 })),
            "unknown field `maxRetry`",
            "did you mean `maxRetries`?",
        ),
        (
            start,
            project(json!({ "maxRetries": -1 })),
            "does not fit `loop.max_retries`",
            "",
        ),
        (
            start,
            project(json!({ "flow": "sole" })),
            "does not fit `loop.flow`",
            "",
        ),
        (
            start,
            project(json!({ "loopId": "../x" })),
            "is no loop id",
            "",
        ),
        (
            start,
            project(json!({ "budget": { "euro": 1 } })),
            "unknown field `budget.euro`",
            "",
        ),
        (
            start,
            project(json!({ "budget": { "usd": 1 } })),
            "does not say what it costs",
            "",
        ),
        (
            start,
            project(json!({ "toolAssignments": { "on": {} } })),
            "no story `on`",
            "",
        ),
        (
            start,
            project(json!({ "toolAssignments": { "one": { "judge": "x" } } })),
            "the judge of `one` is `x`",
            "known are builder, judge",
        ),
        (
            "agent/loop.cancel",
            json!({}),
            "the field `loopId` is missing",
            "",
        ),
        (
            "agent/loop.cancel",
            json!({ "loopId": "01J" }),
            "there is no loop `01J`",
            "",
        ),
    ] {
        let answer = send(&scene, name, &data);
        let error = answer.json()["error"].clone();
        assert_eq!(
            (answer.exit, &error["kind"]),
            (2, &json!("bad_input")),
            "{}",
            answer.whole()
        );
        assert!(
            error["message"]
                .as_str()
                .is_some_and(|found| found.contains(message)),
            "{message}: {error}"
        );
        assert!(error["hints"].to_string().contains(hint), "{hint}: {error}");
    }
    // An agent that is not there is the preflight's to say.
    let nobody = send(
        &scene,
        start,
        &project(json!({ "retryLadder": ["nobody"] })),
    );
    let told = nobody.stdout.contains("the ladder names `nobody`");
    assert!(nobody.exit == 3 && told, "{}", nobody.whole());
    assert_eq!(scene.env.run(&["send", start, "--data", "{"]).exit, 2);
    assert_eq!(
        scene.env.run(&["send", start, "--data", "@none.json"]).exit,
        2
    );
    assert_eq!(scene.env.run(&["list"]).stdout, "", "nothing was started");
    let first = send(&scene, start, &project(json!({ "loopId": ID })));
    assert_eq!(first.exit, 0, "{}", first.whole());
    scene
        .env
        .write("project/other.json", scene.env.read("project/prd.json"));
    let taken = send(
        &scene,
        start,
        &json!({ "project": "project", "prdPath": "other.json", "loopId": ID }),
    );
    assert!(
        taken.exit == 2 && taken.stdout.contains("belongs to another loop"),
        "{}",
        taken.whole()
    );
}
