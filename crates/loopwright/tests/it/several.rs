//! Several stories of one loop, with the real binary: whoever asks holds up nobody, and what was worked
//! on at the same time lands one at a time.

use serde_json::Value;

use crate::scene::{IMPLEMENT, JUDGE, Scene};

const TEN: [&str; 10] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];

/// The ids of the stories with a status.
fn with_status(view: &Value, status: &str) -> Vec<String> {
    let stories = view["stories"].as_array().expect("stories").iter();
    let wanted = stories.filter(|story| story["status"] == status);
    wanted
        .map(|story| story["id"].as_str().expect("an id").to_owned())
        .collect()
}

/// The implementor of one story asks; all others work.
fn one_asks(story: &str) -> String {
    format!(
        "if [ \"$LOOPWRIGHT_STORY_ID\" = {story} ]; then\n  cat > /dev/null\n  echo '{{\"question\": \"which one?\"}}'\n  exit\nfi\n{IMPLEMENT}"
    )
}

fn nine_end_without_an_answer(parallel: &str) {
    let scene = Scene::with_agents(&TEN, &one_asks("c"), JUDGE);
    let ended = scene.start(&["--foreground", "--parallel", parallel]);
    assert_eq!(ended.exit, 4, "{}", ended.whole());
    let status = scene.status();
    assert_eq!(status["status"], "needs_human", "{status}");
    let mut nine: Vec<&str> = TEN.to_vec();
    nine.retain(|story| *story != "c");
    assert_eq!(with_status(&status, "passed"), nine, "{status}");
    assert_eq!(with_status(&status, "running"), ["c"]);
    let questions = status["questions"].as_array().expect("questions");
    assert_eq!(questions.len(), 1, "{status}");
    assert_eq!(questions[0]["storyId"], "c");
    // Nine commits, each a child of the one before, and published.
    let branch = status["branch"].as_str().expect("a branch");
    let log = scene.git(&["log", "--format=%s", &format!("HEAD..{branch}")]);
    assert_eq!(log.lines().count(), 9, "{log}");
    let merges = scene.git(&["log", "--merges", "--format=%s", branch]);
    assert_eq!(merges.trim(), "");
}

#[test]
fn a_question_in_one_story_of_ten_holds_up_nobody() {
    nine_end_without_an_answer("1");
}

#[test]
fn a_question_in_one_story_of_ten_holds_up_nobody_with_four_at_once() {
    nine_end_without_an_answer("4");
}

#[test]
fn with_the_policy_stop_nothing_begins_beside_a_question() {
    let scene = Scene::with_agents(&["a", "b"], &one_asks("a"), JUDGE);
    scene.configure("[policy]\non_question = \"stop\"\n");
    let ended = scene.start(&["--foreground"]);
    assert_eq!(ended.exit, 4, "{}", ended.whole());
    let status = scene.status();
    assert_eq!(with_status(&status, "pending"), ["b"], "{status}");
}

/// Two stories that meet: each waits for the other's agent, so both are under way at the same time.
#[test]
fn two_stories_at_once_land_one_after_the_other_and_name_both_commits() {
    // An implementor begins its work only when the other one has begun too.
    let meets = format!(
        "touch \"$STARTS-$LOOPWRIGHT_STORY_ID\"\nwhile [ ! -e \"$STARTS-a\" ] || [ ! -e \"$STARTS-b\" ]; do sleep 0.05; done\n{IMPLEMENT}"
    );
    let scene = Scene::with_agents(&["a", "b"], &meets, JUDGE);
    let ended = scene.start(&["--foreground", "--parallel", "2"]);
    assert_eq!(ended.exit, 0, "{}", ended.whole());
    let status = scene.status();
    assert_eq!(with_status(&status, "passed"), ["a", "b"], "{status}");
    let branch = status["branch"].as_str().expect("a branch");
    let messages = scene.git(&["log", "--format=%B", branch]);
    assert_eq!(
        messages.matches("Restacked-From: ").count(),
        1,
        "{messages}"
    );
    let id = status["loopId"].as_str().expect("an id");
    let events = scene.env.run(&["events", id, "--json"]).json();
    let events = events["result"]["events"]
        .as_array()
        .expect("events")
        .clone();
    let named = |name: &str| -> Vec<&Value> {
        let fitting = events.iter().filter(|event| event["name"] == name);
        fitting.map(|event| &event["data"]).collect()
    };
    let restacked = named("agent/loop.story.restacked");
    assert_eq!(restacked.len(), 1, "{events:#?}");
    let late = restacked[0]["storyId"].as_str().expect("a story");
    let passed = named("agent/loop.story.pass");
    let pass = passed.iter().find(|data| data["storyId"] == late);
    let pass = pass.expect("it passed");
    assert_eq!(pass["commitSha"], restacked[0]["commitSha"]);
    let story = scene.env.run(&["story", id, late]);
    let made = restacked[0]["fromSha"].as_str().expect("a commit");
    let landed = restacked[0]["commitSha"].as_str().expect("a commit");
    let onto = restacked[0]["ontoSha"].as_str().expect("a commit");
    for words in [
        format!("commit {}", &landed[..12]),
        format!(", candidate {}\n", &made[..12]),
        format!("landing: {} put onto", &made[..12]),
        format!("landing checks of {} on {}:", &landed[..12], &onto[..12]),
    ] {
        assert!(story.stdout.contains(&words), "{words}: {}", story.whole());
    }
    // What it changed is what it changed on top of the other one.
    let early = if late == "a" { "b" } else { "a" };
    for more in [&["--stat"][..], &[]] {
        let diff = scene.env.run(&[&["diff", id, late], more].concat());
        assert!(
            diff.stdout.contains(&format!("{late}.txt"))
                && !diff.stdout.contains(&format!("{early}.txt")),
            "{}",
            diff.whole()
        );
    }
    let diff = scene.env.run(&["diff", id, late, "--json"]).json();
    assert_eq!(diff["result"]["from"], onto);
    assert_eq!(diff["result"]["to"], landed);
}
