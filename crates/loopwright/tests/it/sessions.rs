//! Tries that go on with an earlier one's session, and what happens where that cannot be: a
//! stand-in for a CLI says what the real one says, and dies when the test wants it to.

use rustix::process::{Signal, kill_process};

use crate::scene::{JUDGE, Scene, processes_with, wait_until};
use crate::sigkill::{ours, serve};

/// Speaks as codex does. A fresh session begins a file and hangs once; one that is gone on with
/// finishes it, or is lost.
const CODEX: &str = r#"cat > "$HOME/prompt-$(wc -l < "$SESSIONS" | tr -d ' ')"
case " $* " in *" resume "*) mode=resume ;; *) mode=fresh ;; esac
echo "$mode" >> "$SESSIONS"
if [ "$mode" = resume ] && [ -e "$HOME/lost" ]; then
  echo 'Error: thread/resume: no rollout found for thread id s1' >&2
  exit 1
fi
echo '{"type":"thread.started","thread_id":"s1"}'
echo '{"type":"turn.started"}'
echo '{"type":"item.started","item":{"id":"i0","type":"command_execution","command":"true","aggregated_output":"","exit_code":null,"status":"in_progress"}}'
echo '{"type":"item.completed","item":{"id":"i0","type":"command_execution","command":"true","aggregated_output":"","exit_code":0,"status":"completed"}}'
echo "$mode" >> work.txt
case "$(sed -n "$(wc -l < "$SESSIONS")p" "$HOME/plan")" in
  limit) echo '{"type":"turn.failed","error":{"message":"You have hit your usage limit. Try again later."}}'; exit 1 ;;
  overflow) echo '{"type":"turn.failed","error":{"message":"Codex ran out of room in the model'"'"'s context window."}}'; exit 1 ;;
esac
# Of a session that is gone on with, the tokens of its earlier runs are told once more.
[ "$mode" = resume ] && tokens=25 || tokens=10
[ -e "$HOME/tells" ] && echo "{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":$tokens,\"cached_input_tokens\":0,\"output_tokens\":0}}"
touch "$HOME/begun"
while [ -e "$HOME/hang" ]; do sleep 0.1; done
echo '{"type":"item.completed","item":{"id":"i1","type":"agent_message","text":"Done."}}'
echo "{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":$tokens,\"cached_input_tokens\":0,\"output_tokens\":0}}"
"#;

fn scene() -> Scene {
    let scene = Scene::with_agents(&["one"], "", JUDGE);
    scene
        .env
        .write("agents/codex", format!("#!/bin/sh\n{CODEX}"));
    make_executable(&scene.env.path("agents/codex"));
    let path = |name: &str| scene.env.path(name).display().to_string();
    let agent = format!(
        "[agents.coder]\nkind = \"codex\"\nprogram = \"{}\"\nenv = {{ SESSIONS = \"{}\", HOME = \"{}\" }}\n",
        path("agents/codex"),
        path("sessions"),
        path("")
    );
    scene.env.write("sessions", "");
    scene.env.write("hang", "");
    scene.env.write("plan", "");
    scene.configure("");
    let config = scene.env.read("project/loopwright.toml");
    scene.env.write(
        "project/loopwright.toml",
        config.replace("agent = \"builder\"", "agent = \"coder\"") + &agent,
    );
    scene
}

fn make_executable(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
        .expect("made executable");
}

/// Waits until the agent has begun, and kills everything: worker, keeper, agent.
fn kill_in_the_middle(scene: &Scene) {
    wait_until("the agent's work", || {
        scene.env.path("begun").exists().then_some(())
    });
    wait_until("no process", || {
        // Whoever could start something anew goes first.
        let all = [
            ours(scene, "serve"),
            ours(scene, "keeper"),
            processes_with(&scene.home()),
        ]
        .concat();
        for process in &all {
            let _ = kill_process(*process, Signal::KILL);
        }
        all.is_empty().then_some(())
    });
    std::fs::remove_file(scene.env.path("begun")).expect("there");
}

/// Starts a worker, as a service manager would, and waits for the loop's end; gives what landed of
/// the agent's work.
fn finish(scene: &Scene) -> String {
    let mut worker = serve(scene);
    let view = scene.wait_for(&["completed", "needs_human", "failed"]);
    worker.wait().expect("ended");
    let story = &view["stories"][0];
    assert_eq!(
        (&story["status"], story["attempts"].as_u64()),
        (&"passed".into(), Some(1)),
        "{view}"
    );
    scene.git(&[
        "show",
        &format!("{}:work.txt", view["branch"].as_str().expect("a branch")),
    ])
}

#[test]
fn i04_a_try_that_was_killed_is_gone_on_with() {
    let scene = scene();
    assert_eq!(scene.start(&["--no-preflight"]).exit, 0);
    kill_in_the_middle(&scene);
    std::fs::remove_file(scene.env.path("hang")).expect("there");
    assert_eq!(finish(&scene), "fresh\nresume", "the same files");
    assert_eq!(scene.env.read("sessions"), "fresh\nresume\n");
    assert!(
        scene.env.read("prompt-0").contains("it is there"),
        "the whole task"
    );
    let second = scene.env.read("prompt-1");
    assert!(
        second.contains("You were cut off") && !second.contains("it is there"),
        "{second}"
    );
}

#[test]
fn i04_a_try_that_is_killed_twice_keeps_its_files() {
    let scene = scene();
    assert_eq!(scene.start(&["--no-preflight"]).exit, 0);
    kill_in_the_middle(&scene);
    let mut worker = serve(&scene);
    kill_in_the_middle(&scene);
    worker.wait().expect("killed");
    std::fs::remove_file(scene.env.path("hang")).expect("there");
    assert_eq!(finish(&scene), "fresh\nresume\nresume");
}

#[test]
fn a_session_that_is_lost_is_begun_anew_from_the_base() {
    let scene = scene();
    assert_eq!(scene.start(&["--no-preflight"]).exit, 0);
    kill_in_the_middle(&scene);
    std::fs::remove_file(scene.env.path("hang")).expect("there");
    scene.env.write("lost", "");
    assert_eq!(
        finish(&scene),
        "fresh",
        "nothing of the lost session's work is taken"
    );
    assert_eq!(scene.env.read("sessions"), "fresh\nresume\nfresh\n");
}

#[test]
fn files_that_are_lost_are_made_anew_and_the_session_with_them() {
    let scene = scene();
    assert_eq!(scene.start(&["--no-preflight"]).exit, 0);
    kill_in_the_middle(&scene);
    std::fs::remove_file(scene.env.path("hang")).expect("there");
    let loops = std::fs::read_dir(scene.home().join("loops"))
        .expect("loops")
        .flatten();
    for folder in loops {
        let _ = std::fs::remove_dir_all(folder.path().join("checkouts"));
    }
    assert_eq!(finish(&scene), "fresh");
    assert_eq!(scene.env.read("sessions"), "fresh\nfresh\n");
}

#[test]
fn files_that_are_lost_in_a_wait_are_made_anew() {
    let scene = scene();
    scene.env.write("plan", "limit\n");
    std::fs::remove_file(scene.env.path("hang")).expect("there");
    assert_eq!(scene.start(&["--no-preflight"]).exit, 0);
    let view = scene.wait_for(&["waiting"]);
    let id = view["loopId"].as_str().expect("a loop");
    std::fs::remove_dir_all(scene.home().join("loops").join(id).join("checkouts")).expect("there");
    assert_eq!(scene.env.run(&["resume", id]).exit, 0);
    assert_eq!(finish(&scene), "fresh");
    assert_eq!(scene.env.read("sessions"), "fresh\nfresh\n");
}

#[test]
fn what_a_session_used_is_counted_once() {
    let scene = scene();
    scene.env.write("tells", "");
    assert_eq!(scene.start(&["--no-preflight"]).exit, 0);
    wait_until("the agent's work", || {
        scene.env.path("begun").exists().then_some(())
    });
    // The agent alone dies: its keeper tells how, and what it had said of tokens counts.
    let agent = processes_with(&scene.home())
        .into_iter()
        .find(|pid| is_codex(*pid))
        .expect("the agent");
    std::fs::remove_file(scene.env.path("begun")).expect("there");
    kill_process(agent, Signal::KILL).expect("killed");
    wait_until("the next try", || {
        scene.env.path("begun").exists().then_some(())
    });
    std::fs::remove_file(scene.env.path("hang")).expect("there");
    assert_eq!(finish(&scene), "fresh\nresume");
    assert_eq!(
        scene.status()["tokens"],
        25,
        "10 of the first run, and 15 of the second"
    );
}

/// Starts a loop whose agent meets these troubles in turn; every wait is cut short.
fn attempts_after(plan: &str) -> (String, Option<u64>) {
    let scene = scene();
    scene.env.write("plan", plan);
    std::fs::remove_file(scene.env.path("hang")).expect("there");
    assert_eq!(scene.start(&["--no-preflight"]).exit, 0);
    let view = loop {
        let view = scene.wait_for(&["waiting", "completed"]);
        if view["status"] == "completed" {
            break view;
        }
        // The wait may just have ended by itself.
        scene
            .env
            .run(&["resume", view["loopId"].as_str().expect("a loop")]);
    };
    (
        scene.env.read("sessions").replace('\n', " "),
        view["stories"][0]["attempts"].as_u64(),
    )
}

#[test]
fn a_session_that_outgrows_the_model_is_begun_anew_once() {
    for (plan, sessions, attempts) in [
        ("overflow\n", "fresh fresh ", 1),
        ("limit\noverflow\n", "fresh resume fresh ", 1),
        ("overflow\noverflow\n", "fresh fresh fresh ", 2),
    ] {
        assert_eq!(
            attempts_after(plan),
            (sessions.to_owned(), Some(attempts)),
            "{plan}"
        );
    }
}

fn is_codex(pid: rustix::process::Pid) -> bool {
    let line = std::fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
    String::from_utf8_lossy(&line).contains("agents/codex")
}

#[test]
fn a_token_that_an_agent_refreshed_by_renaming_is_the_operators() {
    let scene = scene();
    std::fs::remove_file(scene.env.path("hang")).expect("there");
    scene.env.write(".codex/auth.json", "spent");
    let refresh = "echo '{\"tokens\": {\"access_token\": \"new\"}}' > \"$CODEX_HOME/new\" && mv \"$CODEX_HOME/new\" \"$CODEX_HOME/auth.json\"\n";
    scene
        .env
        .write("agents/codex", format!("#!/bin/sh\n{refresh}{CODEX}"));
    scene.start(&["--foreground", "--no-preflight"]);
    assert_eq!(scene.status()["stories"][0]["status"], "passed");
    let login = "{\"tokens\": {\"access_token\": \"new\"}}\n";
    assert_eq!(scene.env.read(".codex/auth.json"), login);
}
