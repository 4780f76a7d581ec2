//! An agent at its limit, and another one of the ladder in its place.

use serde_json::Value;

use crate::scene::{IMPLEMENT, JUDGE, Scene};

/// Says that it should be tried later, and notes that it was asked.
const TRY_LATER: &str = "cat > /dev/null\nexit 75\n";

/// A builder that is at its limit for an hour, somebody else on the ladder, and what is done about
/// limits.
fn scene(on_limit: &str) -> Scene {
    let scene = Scene::with_agents(&["one", "two"], TRY_LATER, JUDGE);
    scene.env.write("agents/other.sh", IMPLEMENT);
    let other = scene.env.path("agents/other.sh").display().to_string();
    scene.configure(&format!(
        "[agents.other]\ncommand = [\"sh\", \"{other}\"]\n\n[retry]\nwait = \"1h\"\nladder = [\"builder\", \"other\"]\n\n\
         [policy]\non_limit = \"{on_limit}\"\n"
    ));
    scene
}

fn implementors(scene: &Scene) -> Vec<(String, String)> {
    let id = scene.status()["loopId"]
        .as_str()
        .expect("a loop")
        .to_owned();
    let runs = scene.env.run(&["runs", &id, "--json"]).json();
    let text = |run: &Value, key: &str| run[key].as_str().unwrap_or_default().to_owned();
    let all = runs["result"]["runs"].as_array().expect("runs");
    let implementing = all.iter().filter(|run| run["stage"] == "implement");
    implementing
        .map(|run| (text(run, "storyId"), text(run, "agent")))
        .collect()
}

#[test]
fn another_agent_of_the_ladder_stands_in_and_no_attempt_is_lost() {
    let scene = scene("failover");
    let answer = scene.start(&["--foreground"]);
    let view = scene.status();
    assert_eq!(view["status"], "completed", "{}", answer.whole());
    for story in view["stories"].as_array().expect("stories") {
        assert_eq!(
            (&story["status"], story["attempts"].as_u64()),
            (&"passed".into(), Some(1)),
            "{view}"
        );
    }
    let pair = |story: &str, agent: &str| (story.to_owned(), agent.to_owned());
    // The second story's own agent is known to be at its limit, and is not asked at all.
    assert_eq!(
        implementors(&scene),
        [
            pair("one", "builder"),
            pair("one", "other"),
            pair("two", "other")
        ]
    );
    let id = view["loopId"].as_str().expect("a loop");
    let events = scene.env.run(&["events", id]).stdout;
    let switches = events.matches("agent/loop.agent_switched").count();
    assert_eq!(switches, 2, "every switch is in the journal: {events}");
    let report = scene.env.run(&["story", id, "one"]).stdout;
    assert!(report.contains("other"), "{report}");
}

#[test]
fn without_the_policy_the_loop_waits_and_a_person_can_cut_it_short() {
    let scene = scene("wait");
    assert_eq!(scene.start(&[]).exit, 0);
    let view = scene.wait_for(&["waiting"]);
    let until = view["waitingUntil"].as_str().expect("a time");
    let until_ms = testkit::ms_of(until);
    let id = view["loopId"].as_str().expect("a loop").to_owned();
    let said = scene.env.run(&["status", &id]).stdout;
    assert!(
        said.contains(&format!("waiting until {}: ", home::local(until_ms))),
        "{said}"
    );
    let on_host = "on this host with your rights, in no sandbox\n";
    assert!(said.contains(&format!("agents  run {on_host}")), "{said}");
    let all = scene.env.run(&["status"]).stderr;
    let note = format!("note: agents of 1 loop run {on_host}");
    assert!(all.contains(&note), "{all}");
    scene.env.write("agents/implement.sh", IMPLEMENT);
    assert_eq!(scene.env.run(&["resume", &id]).exit, 0);
    let view = scene.wait_for(&["completed"]);
    assert_eq!(view["stories"][0]["attempts"], 1, "{view}");
    assert!(
        implementors(&scene)
            .iter()
            .all(|(_, agent)| agent == "builder")
    );
    let said = scene.env.run(&["status", &id]).stdout;
    assert!(said.contains(&format!("agents  ran {on_host}")), "{said}");
    // Nobody can do anything about it any more.
    let all = scene.env.run(&["status"]).stderr;
    assert!(!all.contains(&note), "{all}");
}

#[test]
fn a_policy_that_nobody_could_follow_is_refused() {
    let scene = Scene::new(&["one"]);
    scene.configure("[policy]\non_limit = \"failover\"\n");
    let answer = scene.start(&[]);
    assert_eq!(answer.exit, 2, "{}", answer.whole());
    assert!(
        answer.stderr.contains("[retry] ladder"),
        "{}",
        answer.whole()
    );
}

/// What a CLI prints that has done its work, and what it was started with.
fn write_cli(scene: &Scene, name: &str, prints: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let seen = scene
        .env
        .path(&format!("{name}-arguments"))
        .display()
        .to_string();
    let work = "echo \"attempt $LOOPWRIGHT_ATTEMPT\" >> work.txt";
    let file = format!("agents/{name}");
    scene.env.write(
        &file,
        format!(
            "#!/bin/sh\ncat > /dev/null\necho \"$*\" > {seen}\n{work}\ncat <<'END'\n{prints}\nEND\n"
        ),
    );
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(scene.env.path(&file), mode).expect("made executable");
}

#[test]
fn a_roles_model_reaches_its_own_cli_and_no_other_on_the_ladder() {
    let scene = Scene::with_agents(&["retry-me"], "", JUDGE);
    write_cli(
        &scene,
        "codex",
        r#"{"type":"thread.started","thread_id":"s1"}
{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":0,"output_tokens":1}}"#,
    );
    write_cli(
        &scene,
        "claude",
        r#"{"type":"system","subtype":"init","session_id":"s2"}
{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"s2"}"#,
    );
    let program = |name: &str| {
        let path = scene
            .env
            .path(&format!("agents/{name}"))
            .display()
            .to_string();
        format!("[agents.{name}]\nkind = \"{name}\"\nprogram = \"{path}\"\n\n")
    };
    scene.configure(
        &(program("codex") + &program("claude") + "[retry]\nladder = [\"codex\", \"claude\"]\n"),
    );
    let config = scene.env.read("project/loopwright.toml");
    let role = "agent = \"codex\"\nmodel = \"gpt-special\"";
    scene.env.write(
        "project/loopwright.toml",
        config.replace("agent = \"builder\"", role),
    );
    let answer = scene.start(&["--foreground", "--flow", "judged", "--no-preflight"]);
    let view = scene.status();
    assert_eq!(view["stories"][0]["attempts"], 2, "{}", answer.whole());
    assert!(scene.env.read("codex-arguments").contains("gpt-special"));
    let claude = scene.env.read("claude-arguments");
    assert!(
        claude.contains("--output-format") && !claude.contains("gpt-special"),
        "{claude}"
    );
}

/// The agents by stage of a loop that ran to its end.
fn played_by(scene: &Scene, stage: &str) -> Vec<String> {
    let id = scene.status()["loopId"]
        .as_str()
        .expect("a loop")
        .to_owned();
    let runs = scene.env.run(&["runs", &id, "--json"]).json();
    let all = runs["result"]["runs"].as_array().expect("runs").clone();
    let of_stage = all.iter().filter(|run| run["stage"] == stage);
    of_stage
        .map(|run| run["agent"].as_str().unwrap_or_default().to_owned())
        .collect()
}

/// A program that does every role.
const ANY: &str = concat!(
    testkit::criteria_of_prompt!(),
    "echo x > \"$LOOPWRIGHT_STORY_ID-$LOOPWRIGHT_STAGE.txt\"\n\
    [ $LOOPWRIGHT_STAGE = prove ] && { echo '{\"checked\": [\"x\"], \"see\": [\"ls\"]}'; exit; }\n\
    echo \"{\\\"verdict\\\": \\\"PASS\\\", \\\"commit\\\": \\\"$LOOPWRIGHT_CANDIDATE\\\", \\\"reason\\\": \\\"r\\\", \\\"criteria\\\": [$CRITERIA]}\"\n"
);

fn with_agents_of_any_kind(names: &[&str], more: &str) -> Scene {
    let scene = Scene::new(&["one"]);
    scene.env.write("agents/any.sh", ANY);
    let path = scene.env.path("agents/any.sh").display().to_string();
    let agents: String = names
        .iter()
        .map(|name| format!("[agents.{name}]\ncommand = [\"sh\", \"{path}\"]\n\n"))
        .collect();
    scene.env.write(
        "project/loopwright.toml",
        format!(
            "{agents}[roles.implementor]\nagent = \"{}\"\n[checks]\ntest = \"test -f README\"\n{more}",
            names[0]
        ),
    );
    scene
}

#[test]
fn where_nobody_chose_a_judge_it_is_somebody_else() {
    let scene = with_agents_of_any_kind(&["zoe", "adam"], "");
    let answer = scene.start(&["--foreground"]);
    assert_eq!(
        (played_by(&scene, "implement"), played_by(&scene, "judge")),
        (vec!["zoe".to_owned()], vec!["adam".to_owned()])
    );
    assert!(
        !answer.stderr.contains("its own work"),
        "{}",
        answer.whole()
    );
    // One agent alone judges itself, and that is said.
    let scene = with_agents_of_any_kind(&["zoe"], "");
    let answer = scene.start(&["--foreground"]);
    assert!(
        answer
            .stderr
            .contains("`zoe` implements and judges its own work"),
        "{}",
        answer.whole()
    );
}

#[test]
fn where_nobody_chose_a_prover_it_is_neither_author_nor_judge() {
    let scene =
        with_agents_of_any_kind(&["zoe", "adam", "eve"], "[roles.judge]\nagent = \"adam\"\n");
    let answer = scene.start(&["--foreground", "--flow", "proof"]);
    assert_eq!(played_by(&scene, "prove"), ["eve"], "{}", answer.whole());
    let scene = with_agents_of_any_kind(&["zoe", "adam"], "[roles.judge]\nagent = \"adam\"\n");
    scene.start(&["--foreground", "--flow", "proof"]);
    assert_eq!(
        played_by(&scene, "prove"),
        ["zoe"],
        "who judges does not mend"
    );
}

#[test]
fn names_that_lead_out_of_their_folder_are_refused() {
    for config in [
        "[workspace]\ncopy = [\"../x\"]\n",
        "[workspace]\ncopy = [\"/etc/hostname\"]\n",
        "[agents.zed]\nkind = \"codex\"\nfiles = { \"../../escape\" = \"/etc/hostname\" }\n",
    ] {
        let scene = Scene::new(&["one"]);
        scene.configure(config);
        let answer = scene.start(&["--dry-run"]);
        assert!(
            answer.exit == 2 && answer.stderr.contains("leads out of its folder"),
            "{}",
            answer.whole()
        );
    }
}
