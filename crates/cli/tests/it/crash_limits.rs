//! The power fails around a stand-in and around a session that is gone on with, and the loop ends
//! as if it had not.
//!
//! CI cuts the power at every third moment, the soak (`LOOPWRIGHT_SOAK=1`) at each.

use std::os::unix::fs::PermissionsExt as _;

use crate::crash::{Ending, ending, play_out, prepared};
use crate::scene::{IMPLEMENT, JUDGE, Scene};

/// Every start of an agent is counted from outside.
const COUNTED: &str = "echo \"$LOOPWRIGHT_RUN_ID\" >> \"$STARTS\"\n";

/// Speaks as codex does, and dies in its first run when its work has begun.
const DIES_ONCE: &str = r#"cat > /dev/null
case " $* " in *" resume "*) mode=resume ;; *) mode=fresh ;; esac
echo '{"type":"thread.started","thread_id":"s1"}'
echo '{"type":"item.started","item":{"id":"i0","type":"command_execution","command":"true","status":"in_progress"}}'
echo '{"type":"item.completed","item":{"id":"i0","type":"command_execution","command":"true","exit_code":0,"status":"completed"}}'
echo "$mode" >> work.txt
[ "$mode" = fresh ] && kill -9 $$
echo '{"type":"turn.completed","usage":{"input_tokens":25,"cached_input_tokens":0,"output_tokens":0}}'
"#;

/// Plays a scene with the power failing at one moment, or never; says how many moments there were.
fn play(make: fn() -> Scene, moment: Option<usize>) -> (Ending, usize) {
    let scene = make();
    let loop_id = prepared(&scene);
    let n_moments = play_out(&scene, &loop_id, move |count, _| Some(count) == moment);
    (ending(&scene, &loop_id), n_moments)
}

fn survives(make: fn() -> Scene, wanted: &str) {
    let (calm, moments) = play(make, None);
    assert!(
        calm.events.iter().any(|event| event.contains(wanted)),
        "{:?}",
        calm.events
    );
    assert!(
        calm.events
            .last()
            .is_some_and(|last| last.contains("1 passed")),
        "{:?}",
        calm.events
    );
    let step = if std::env::var_os("LOOPWRIGHT_SOAK").is_some() {
        1
    } else {
        3
    };
    for moment in (1..=moments).step_by(step) {
        let (crashed, _) = play(make, Some(moment));
        assert_eq!(
            crashed, calm,
            "the power failed at moment {moment} of {moments}"
        );
    }
}

/// The builder is at its limit for an hour, and another one of the ladder stands in.
fn with_a_stand_in() -> Scene {
    let scene = Scene::with_agents(&["one"], "cat > /dev/null\nexit 75\n", JUDGE);
    scene
        .env
        .write("agents/other.sh", format!("{COUNTED}{IMPLEMENT}"));
    let path = |name: &str| scene.env.path(name).display().to_string();
    scene.configure(&format!(
        "[agents.other]\ncommand = [\"sh\", \"{}\"]\nenv = {{ STARTS = \"{}\" }}\n\n[retry]\nwait = \"1h\"\n\
         ladder = [\"builder\", \"other\"]\n\n[policy]\non_limit = \"failover\"\n",
        path("agents/other.sh"),
        path("starts")
    ));
    scene
}

/// The coder dies once, and goes on.
fn with_a_session() -> Scene {
    let scene = Scene::with_agents(&["one"], "", JUDGE);
    scene
        .env
        .write("agents/codex", format!("#!/bin/sh\n{COUNTED}{DIES_ONCE}"));
    let codex = scene.env.path("agents/codex");
    std::fs::set_permissions(&codex, std::fs::Permissions::from_mode(0o755))
        .expect("made executable");
    let starts = scene.env.path("starts").display().to_string();
    let config = scene.env.read("project/loopwright.toml");
    scene.env.write(
        "project/loopwright.toml",
        config.replace("agent = \"builder\"", "agent = \"coder\"")
            + &format!(
                "[agents.coder]\nkind = \"codex\"\nprogram = \"{}\"\nenv = {{ STARTS = \"{starts}\" }}\n",
                codex.display()
            ),
    );
    scene
}

#[test]
fn i04_a_crash_around_a_stand_in_changes_nothing() {
    survives(with_a_stand_in, "agent/loop.agent_switched");
}

#[test]
fn i04_a_crash_around_a_session_that_goes_on_changes_nothing() {
    survives(with_a_session, "agent/loop.story.pass");
    let scene = with_a_session();
    let loop_id = prepared(&scene);
    play_out(&scene, &loop_id, |_, _| false);
    let landed = scene.git(&["show", &format!("agent-loop/{loop_id}:work.txt")]);
    assert_eq!(
        landed, "fresh\nresume",
        "the files are those of the first run"
    );
}
