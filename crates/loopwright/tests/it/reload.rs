//! Edits of PRD and configuration while a loop is under way.

use crate::scene::Scene;

#[test]
fn edits_count_after_resume_reload_and_only_for_what_has_not_begun() {
    let scene = Scene::new(&["one", "two"]);
    let gate = scene.env.path("gate");
    let script = scene.env.read("agents/implement.sh");
    scene.env.write(
        "agents/implement.sh",
        format!(
            "while [ ! -f {} ]; do sleep 0.05; done\n{script}",
            gate.display()
        ),
    );
    let id = scene.start(&["--json"]).json()["result"]["loopId"]
        .as_str()
        .expect("an id")
        .to_owned();
    scene.wait_for_view("the first story", |view| {
        view["stories"][0]["status"] == "running"
    });
    let prd = scene.env.read("project/prd.json");
    let third =
        r#", { "id": "three", "title": "A third", "acceptance_criteria": ["x"], "passes": false }"#;
    let edited = prd
        .replace("Story one", "Changed one")
        .replace("Story two", "Changed two")
        .replace("\n  ]", &format!("{third}\n  ]"));
    scene.env.write("project/prd.json", &edited);
    scene.configure("[checks]\ntest = \"echo checked anew\"\n");
    let answer = scene.env.run(&["resume", &id, "--reload"]);
    assert_eq!(answer.exit, 0, "{}", answer.whole());
    assert_eq!(
        answer.stderr,
        "the configuration changed; it holds from the next run on\nstory `two` changed\nstory `three` is new\n"
    );
    std::fs::write(&gate, "").expect("written");
    let view = scene.wait_for(&["completed"]);
    let titles: Vec<String> = view["stories"]
        .as_array()
        .expect("stories")
        .iter()
        .map(|story| {
            format!(
                "{} {}",
                story["title"].as_str().unwrap_or(""),
                story["status"].as_str().unwrap_or("")
            )
        })
        .collect();
    assert_eq!(
        titles,
        ["Story one passed", "Changed two passed", "A third passed"],
        "what had begun stays"
    );
    assert!(
        scene
            .env
            .run(&["logs", &id, "--story", "three"])
            .stdout
            .contains("checked anew")
    );
    let over = scene.env.run(&["resume", &id, "--reload"]);
    assert!(
        over.exit == 2 && over.stderr.contains("is over (completed)"),
        "{}",
        over.whole()
    );
}

#[test]
fn a_reload_that_takes_an_agent_away_is_refused() {
    let scene = Scene::new(&["one"]);
    let gate = scene.env.path("gate");
    let script = scene.env.read("agents/implement.sh");
    scene.env.write(
        "agents/implement.sh",
        format!(
            "while [ ! -f {} ]; do sleep 0.05; done\n{script}",
            gate.display()
        ),
    );
    let id = scene.start(&["--json"]).json()["result"]["loopId"]
        .as_str()
        .expect("an id")
        .to_owned();
    let config = scene.env.read("project/loopwright.toml");
    scene.env.write(
        "project/loopwright.toml",
        config
            .replace("[agents.judge]", "[agents.critic]")
            .replace("agent = \"judge\"", "agent = \"critic\""),
    );
    let refused = scene.env.run(&["resume", &id, "--reload"]);
    assert!(
        refused.exit == 2 && refused.stderr.contains("counts on the agent `judge`"),
        "{}",
        refused.whole()
    );
    scene.env.write("project/loopwright.toml", &config);
    let nothing = scene.env.run(&["resume", &id, "--reload", "--json"]).json();
    assert_eq!(
        nothing["result"]["reloaded"],
        serde_json::json!(["nothing changed that has not begun"])
    );
    scene.env.write(
        "project/prd.json",
        "{ \"stories\": [ { \"title\": \"no id\" } ",
    );
    let broken = scene.env.run(&["resume", &id, "--reload"]);
    assert!(
        broken.exit == 2 && broken.stderr.contains("error[PRD"),
        "{}",
        broken.whole()
    );
    std::fs::write(&gate, "").expect("written");
    scene.wait_for(&["completed"]);
}

/// Starts a loop that is over after one story.
fn trial(scene: &Scene, more: &[&str]) -> String {
    let words = ["--foreground", "--json", "--max-iterations", "1"];
    let ended = scene.start(&[&words[..], more].concat());
    let id = ended.json()["result"]["loopId"].clone();
    let id = id.as_str().map(str::to_owned);
    id.unwrap_or_else(|| panic!("{}", ended.whole()))
}

/// The command that `resume` names for what a loop that is over has left.
fn named_by_resume(scene: &Scene, id: &str) -> Option<String> {
    let refused = scene.env.run(&["resume", id]);
    assert_eq!(refused.exit, 2, "{}", refused.whole());
    assert!(refused.stderr.contains("is over"), "{}", refused.whole());
    let hint = "help: a new loop does what is still open: loopwright ";
    let mut lines = refused.stderr.lines();
    let command = lines.find_map(|line| line.strip_prefix(hint));
    command.map(str::to_owned)
}

#[test]
fn what_a_loop_has_left_is_done_by_the_command_that_resume_names() {
    let scene = Scene::new(&["one", "two", "three"]);
    let first = trial(&scene, &[]);
    let onto = format!("agent-loop/{first}");
    let command = named_by_resume(&scene, &first).expect("a command");
    assert!(command.ends_with(&format!(" --onto {onto}")), "{command}");
    let second = trial(&scene, &["--onto", &onto]);
    // The branch of the first one lacks what the second has done.
    for id in [&first, &second] {
        let command = named_by_resume(&scene, id).expect("a command");
        let expected = format!(" --onto agent-loop/{second}");
        assert!(command.ends_with(&expected), "{command}");
        let words: Vec<&str> = command.split(' ').chain(["--dry-run"]).collect();
        let dry = scene.env.run(&words);
        assert_eq!(dry.exit, 0, "{}", dry.whole());
        assert!(dry.stdout.contains("\n  1. three"), "{}", dry.whole());
    }
    // Once it is merged, no branch is needed.
    scene.git(&["merge", "--quiet", &format!("agent-loop/{second}")]);
    let command = named_by_resume(&scene, &second).expect("a command");
    assert!(command.ends_with("prd.json"), "{command}");
    let whole = scene.start(&["--foreground", "--json"]).json();
    let id = whole["result"]["loopId"].as_str().expect("an id");
    assert_eq!(named_by_resume(&scene, id), None, "nothing is left");
}
