//! What is looked at before any agent is paid, and what a command that was red before means.

use crate::scene::Scene;

#[test]
fn a_setup_that_fails_on_the_base_stops_the_loop_before_any_agent_is_paid() {
    let scene = Scene::new(&["one"]);
    let mended = scene.env.path("mended");
    scene.configure(&format!(
        "[checks]\nsetup = \"test -f {0} || {{ echo no such tool; exit 1; }}\"\ntest = \"true\"\n",
        mended.display()
    ));
    let answer = scene.start(&["--foreground", "--json"]);
    assert_eq!(answer.exit, 4, "{}", answer.whole());
    let view = answer.json()["result"].clone();
    let reason = view["reason"].as_str().expect("a reason");
    assert!(
        reason.contains("`setup` fails on the base") && reason.contains("no such tool"),
        "{reason}"
    );
    assert!(
        scene.starts().is_empty(),
        "no agent was started: {:?}",
        scene.starts()
    );
    std::fs::write(&mended, "").expect("written");
    let id = view["loopId"].as_str().expect("an id");
    assert_eq!(scene.env.run(&["answer", id, "retry"]).exit, 0);
    let view = scene.wait_for(&["completed"]);
    assert_eq!(view["stories"][0]["status"], "passed", "{view}");
}

#[test]
fn i08_a_command_that_was_red_before_is_shown_as_not_gating() {
    let scene = Scene::new(&["one"]);
    scene.configure("[checks]\nlint = \"echo old sins; exit 1\"\ntest = \"test -f README\"\n");
    let answer = scene.start(&["--foreground", "--json"]);
    let id = answer.json()["result"]["loopId"]
        .as_str()
        .expect("an id")
        .to_owned();
    let story = scene.env.run(&["story", &id, "one"]).stdout;
    assert!(story.contains("passed (flow judged)"), "{story}");
    assert!(
        story.contains("NOT GATING") && story.contains("lint"),
        "{story}"
    );
}

#[test]
fn an_accepted_candidate_is_the_next_base_and_is_not_measured_again() {
    let scene = Scene::new(&["one", "two"]);
    let count = scene.env.path("count");
    scene.configure(&format!(
        "[checks]\ntest = \"echo x >> {}\"\n",
        count.display()
    ));
    let answer = scene.start(&["--foreground", "--json"]);
    assert_eq!(answer.exit, 0, "{}", answer.whole());
    let runs = std::fs::read_to_string(&count)
        .expect("a count")
        .lines()
        .count();
    assert_eq!(runs, 3, "the base once, and each of two candidates once");
}
