//! Agents of kind `acp` in everything but a whole loop with a real one: configuration, `doctor`,
//! budgets, and our client.

use crate::scene::Scene;
use crate::support::TestEnv;

/// An agent that speaks the protocol, of the crate that has the client.
fn fake() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../acp/tests/fake/agent.py").to_owned()
}

fn guest(program: &str, args: &str) -> String {
    format!("[agents.guest]\nkind = \"acp\"\nprogram = \"{program}\"\nargs = [{args}]\n")
}

#[test]
fn an_acp_agent_needs_a_program() {
    let env = TestEnv::new();
    env.write(
        "project/loopwright.toml",
        "[agents.guest]\nkind = \"acp\"\n",
    );
    let answer = env.run(&["config", "show", "--project", "project"]);
    assert_eq!(answer.exit, 2, "{}", answer.whole());
    for expected in [
        "error: the agent `guest` is of kind `acp` and names no program\n --> ",
        "loopwright.toml:1:9\n",
        "help: name the agent's own, with its arguments: program = \"gemini\", args = [\"--acp\"]\n",
    ] {
        assert!(answer.stderr.contains(expected), "{}", answer.whole());
    }
}

#[test]
fn doctor_and_agents_see_an_acp_agent() {
    let scene = Scene::new(&["one"]);
    scene
        .env
        .write("project/loopwright.toml", guest("sh", "\"--acp\""));
    let answer = scene.env.run(&["doctor", "--project", "project"]);
    let expected = "ok   agent: guest speaks ACP with `sh --acp`; a login cannot be seen\n";
    assert!(answer.stdout.contains(expected), "{}", answer.whole());
    let listed = scene
        .env
        .run(&["agents", "--project", "project", "--json"])
        .json();
    let agent = &listed["result"]["agents"][0];
    assert_eq!(
        (&agent["kind"], &agent["version"]),
        (&"acp".into(), &serde_json::Value::Null),
        "{agent}"
    );
    scene
        .env
        .write("project/loopwright.toml", guest("gone", ""));
    let answer = scene.env.run(&["doctor", "--project", "project"]);
    let expected =
        "bad  agent: guest: there is no program `gone`\n     install it, or write its whole path\n";
    assert!(answer.stdout.contains(expected), "{}", answer.whole());
}

const SOLO: &str = "[loop]\nflow = \"solo\"\n[checks]\ntest = \"test -f README\"\n";

#[test]
fn a_budget_is_refused_where_an_acp_agent_need_not_tell() {
    let scene = Scene::new(&["one"]);
    for budget in ["usd = 5.0", "tokens = 1000"] {
        let config = format!("{SOLO}{}[budget]\n{budget}\n", guest("sh", ""));
        scene.env.write("project/loopwright.toml", config);
        let answer = scene.start(&[]);
        assert_eq!(answer.exit, 2, "{}", answer.whole());
        assert!(
            answer.stderr.contains("`guest` speaks ACP"),
            "{}",
            answer.whole()
        );
    }
}

#[test]
fn a_missing_acp_agent_asks_a_person() {
    let scene = Scene::new(&["one"]);
    let config = format!("{SOLO}{}", guest("/nowhere/agent", "\"--acp\""));
    scene.env.write("project/loopwright.toml", config);
    assert_eq!(scene.start(&["--no-preflight"]).exit, 0);
    let view = scene.wait_for(&["needs_human"]);
    let reason = view["reason"].as_str().unwrap_or_default();
    assert!(
        reason.contains("cannot be started") && reason.contains("`/nowhere/agent`"),
        "{view}"
    );
    assert!(reason.contains(agents::Kind::Acp.facts().install), "{view}");
    let id = view["loopId"].as_str().unwrap_or_default().to_owned();
    assert_eq!(scene.env.run(&["cancel", &id]).exit, 0);
    scene.wait_for(&["cancelled"]);
}

#[test]
fn the_client_ends_with() {
    let env = TestEnv::new();
    let fake = fake();
    for (words, exit, stdout, stderr) in [
        (
            &["python3", &fake, "well"][..],
            0,
            "{\"type\":\"stopped\",\"reason\":\"end_turn\"}\n",
            "",
        ),
        (
            &["python3", &fake, "dies"],
            3,
            "I begin.",
            "the turn failed: the agent ended before it had answered",
        ),
        (
            &["/nowhere/agent", "--acp"],
            3,
            "",
            "cannot start `/nowhere/agent`: command not found",
        ),
    ] {
        let answer = env.run_with_input(&[&["acp-client", "--"][..], words].concat(), b"Do it.");
        assert_eq!(answer.exit, exit, "{words:?}: {}", answer.whole());
        assert!(
            answer.stdout.contains(stdout) && answer.stderr.contains(stderr),
            "{}",
            answer.whole()
        );
    }
}
