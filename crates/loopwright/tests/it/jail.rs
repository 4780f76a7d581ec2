//! Agents and checks in a jail, through the whole program: what they see, what they cannot reach, and
//! what `start` says on a machine that has none.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::scene::{Scene, TAP_RUNNER};
use crate::support::Answer;

/// Tries everything that an agent on the host could do, and tells on its standard output.
const NOSY: &str = r#"cat > /dev/null
tell() { echo "seen $1: $2"; }
tell cwd "$(pwd)"
tell home "$HOME"
tell secret "$(cat "$SECRET" 2>/dev/null || echo hidden)"
tell state "$(ls "$STATE" 2>/dev/null || echo hidden)"
tell project "$(ls "$PROJECT" 2>/dev/null || echo hidden)"
echo planted 2>/dev/null > "$PLANT" || true
tell processes "$(ls /proc | grep -c '^[0-9]')"
echo "work of $LOOPWRIGHT_STORY_ID" > "$LOOPWRIGHT_STORY_ID.txt"
"#;

/// Passes, and tells whether it could have changed what it judged.
pub(crate) const CAREFUL: &str = concat!(
    testkit::criteria_of_prompt!(),
    r#"if echo x 2>/dev/null > forged.txt; then word=FAIL; else word=PASS; fi
echo "{\"verdict\": \"$word\", \"commit\": \"$LOOPWRIGHT_CANDIDATE\", \"reason\": \"scripted\", \"criteria\": [$CRITERIA], \"guidance\": [\"the judge could write\"]}"
"#
);

/// A scene whose agents run in a jail.
pub(crate) fn jailed(stories: &[&str], implement: &str, judge: &str, more: &str) -> Scene {
    let scene = Scene::with_agents(stories, implement, judge);
    configure(&scene, more);
    scene
}

/// The scene's agents, told where everything is that they must not reach. The configuration is the
/// person's own: it is not committed.
fn configure(scene: &Scene, more: &str) {
    let path = |name: &str| scene.env.path(name).display().to_string();
    scene.env.write("secret", "the operator's secret\n");
    let env = format!(
        "env = {{ SECRET = \"{}\", STATE = \"{}\", PROJECT = \"{}\", PLANT = \"{}\", STARTS = \"/dev/null\" }}",
        path("secret"),
        scene.home().display(),
        path("project"),
        path("planted"),
    );
    let agent = |name: &str, script: &str| {
        format!(
            "[agents.{name}]\ncommand = [\"sh\", \"{}\"]\n{env}\n",
            path(script)
        )
    };
    let config = format!(
        "{}{}[roles.implementor]\nagent = \"builder\"\n[roles.judge]\nagent = \"judge\"\n{more}",
        agent("builder", "agents/implement.sh"),
        agent("judge", "agents/judge.sh"),
    );
    let checks = if more.contains("[checks]") {
        ""
    } else {
        "[checks]\ntest = \"test -f README\"\n"
    };
    scene.env.write("project/loopwright.toml", config + checks);
}

fn start(scene: &Scene, more: &[&str]) -> Answer {
    scene.start(&[&["--sandbox", "bwrap", "--flow", "judged"][..], more].concat())
}

/// What the first run of a stage printed.
fn printed(scene: &Scene, stage: &str) -> String {
    let status = scene.status();
    let loop_id = status["loopId"].as_str().expect("a loop");
    let runs = scene.env.run(&["runs", loop_id, "--json"]).json();
    let runs = runs["result"]["runs"].as_array().expect("runs").clone();
    let run = runs.iter().find(|run| run["stage"] == stage);
    let id = run.expect("a run")["runId"].as_str().expect("an id");
    let run = scene.env.run(&["run", id, "--json"]).json();
    run["result"]["stdout"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

fn assert_passed(view: &Value) {
    for story in view["stories"].as_array().expect("stories") {
        assert_eq!(story["status"], "passed", "{view}");
    }
}

#[test]
fn i09_an_agent_sees_its_checkout_and_nothing_of_the_operators() {
    let scene = jailed(&["one"], NOSY, CAREFUL, "");
    let started = start(&scene, &[]);
    assert_eq!(started.exit, 0, "{}", started.whole());
    let view = scene.wait_for(&["completed", "failed", "needs_human"]);
    assert_passed(&view);
    assert_eq!(view["isolation"], "bwrap");
    let id = view["loopId"].as_str().expect("a loop");
    let status = scene.env.run(&["status", id]).stdout;
    assert!(
        status.contains("agents  ran in a jail of bwrap\n"),
        "{status}"
    );
    let said = printed(&scene, "implement");
    for line in [
        "seen cwd: /workspace",
        "seen home: /home/agent",
        "seen secret: hidden",
        "seen state: hidden",
        "seen project: hidden",
    ] {
        assert!(said.contains(line), "no `{line}` in:\n{said}");
    }
    // The shell, its children and the first process of the jail, and none of the host's.
    let n_processes = said
        .lines()
        .find_map(|line| line.strip_prefix("seen processes: "));
    let n_processes: u32 = n_processes.and_then(|n| n.parse().ok()).expect("a number");
    assert!(n_processes < 10, "{said}");
    assert!(!scene.env.path("planted").exists());
    assert_eq!(scene.env.read("secret"), "the operator's secret\n");
}

#[test]
fn a_jail_that_is_told_of_a_place_shows_it() {
    let look = "cat > /dev/null\ncat \"$SECRET\" > one.txt\necho in > \"$PLANT/from\"\n";
    let scene = jailed(&["one"], look, CAREFUL, "");
    fs::create_dir(scene.env.path("planted")).expect("made");
    let set = |key: &str, name: &str| format!("sandbox.{key}={}", scene.env.path(name).display());
    let more = [set("read", "secret"), set("write", "planted")];
    let started = start(&scene, &["--set", &more[0], "--set", &more[1]]);
    assert_eq!(started.exit, 0, "{}", started.whole());
    assert_passed(&scene.wait_for(&["completed", "failed", "needs_human"]));
    assert_eq!(scene.env.read("planted/from"), "in\n");
    let branch = scene.git(&[
        "for-each-ref",
        "--format=%(refname:short)",
        "refs/heads/agent-loop",
    ]);
    let landed = scene.git(&["show", &format!("{}:one.txt", branch.trim())]);
    assert_eq!(landed.trim(), "the operator's secret");
}

/// A check has a `/tmp` of its own, and sees what the person shows below it.
#[test]
fn a_check_sees_a_place_below_tmp_that_it_is_told_of() {
    let scene = jailed(
        &["one"],
        "cat > /dev/null\necho one > one.txt\n",
        CAREFUL,
        "[checks]\ntest = \"sh run-tests.sh\"\n",
    );
    let shown = tempfile::tempdir_in("/var/tmp").expect("a folder");
    fs::write(shown.path().join("word"), "shown").expect("written");
    let test = format!("[ \"$(cat {}/word)\" = shown ]", shown.path().display());
    scene.env.write("project/run-tests.sh", TAP_RUNNER);
    scene
        .env
        .write("project/tests/shown.sh", on_candidate(&test));
    scene.git(&["add", "run-tests.sh", "tests"]);
    scene.git(&["commit", "-qm", "tests"]);
    let set = format!("sandbox.read={}", shown.path().display());
    let started = start(&scene, &["--set", &set]);
    assert_eq!(started.exit, 0, "{}", started.whole());
    assert_passed(&scene.wait_for(&["completed", "failed", "needs_human"]));
}

/// A test that is green before the story: what is red on the base fails nobody.
fn on_candidate(test: &str) -> String {
    format!("[ ! -e one.txt ] || {{ {test}; }}\n")
}

#[test]
fn checks_run_in_a_jail_with_a_loopback_of_their_own() {
    let scene = jailed(
        &["one"],
        "cat > /dev/null\necho one > one.txt\n",
        CAREFUL,
        "[checks]\ntest = \"sh run-tests.sh\"\n",
    );
    scene.env.write("project/run-tests.sh", TAP_RUNNER);
    let secret = scene.env.path("secret").display().to_string();
    for (name, test) in [
        ("place", "[ \"$(pwd)\" = /workspace ]".to_owned()),
        ("secret", format!("[ ! -e {secret} ]")),
        ("loopback", "[ \"$(ls /sys/class/net 2>/dev/null || echo lo)\" = lo ] || [ \"$(cut -d: -f1 -s /proc/net/dev | tr -d ' ')\" = lo ]".to_owned()),
        (
            "server",
            "python3 -c \"import socket as s; a=s.socket(); a.bind(('127.0.0.1', 47119)); a.listen(); b=s.create_connection(('127.0.0.1', 47119)); a.accept()\"".to_owned(),
        ),
    ] {
        scene
            .env
            .write(&format!("project/tests/{name}.sh"), on_candidate(&test));
    }
    scene.git(&["add", "run-tests.sh", "tests"]);
    scene.git(&["commit", "-qm", "tests"]);
    // On the host the port is taken: inside of a jail nobody has it.
    let _taken = std::net::TcpListener::bind("127.0.0.1:47119");
    let started = start(&scene, &[]);
    assert_eq!(started.exit, 0, "{}", started.whole());
    let view = scene.wait_for(&["completed", "failed", "needs_human"]);
    assert_passed(&view);
    let story = scene.env.run(&["story", "one", "--all", "--json"]).json();
    let text = story.to_string();
    for name in ["place", "secret", "loopback", "server"] {
        assert!(
            !text.contains(&format!("\"failing\":[\"{name}\"")),
            "{text}"
        );
    }
    assert!(!text.contains("red on the base"), "{text}");
}

/// Setup reaches the proxy, and what it fetched for the base is there for every later tree. Checks reach
/// nothing, and are told so.
#[test]
fn only_setup_reaches_the_proxy_and_what_it_fetched_is_kept() {
    let scene = jailed(
        &["one"],
        "cat > /dev/null\necho one > one.txt\n",
        CAREFUL,
        "[checks]\nsetup = \"sh setup.sh\"\ntest = \"sh run-tests.sh\"\n",
    );
    let bridge = "bash -c 'exec 3<>/dev/tcp/127.0.0.1/8119'";
    let setup = format!(
        "set -e\n[ \"$https_proxy\" = http://127.0.0.1:8119 ]\n{bridge}\nmkdir -p \"$CARGO_HOME\"\n\
         n=$(cat \"$CARGO_HOME/n\" 2>/dev/null || echo 0)\necho $((n + 1)) > \"$CARGO_HOME/n\"\n"
    );
    scene.env.write("project/setup.sh", setup);
    scene.env.write("project/run-tests.sh", TAP_RUNNER);
    let tests = [
        (
            "offline",
            "[ \"$CARGO_NET_OFFLINE\" = true ] && [ -z \"$https_proxy\" ]".to_owned(),
        ),
        ("bridge", format!("! {bridge} 2> /dev/null")),
        (
            "home",
            "[ \"$CARGO_HOME\" = \"$HOME/.downloads/cargo\" ] && [ \"${HOME%/*}\" = /home ]"
                .to_owned(),
        ),
        // A candidate is the second tree, and no tree after it counts further.
        ("fetched", "[ \"$(cat \"$CARGO_HOME/n\")\" = 2 ]".to_owned()),
    ];
    for (name, test) in &tests {
        scene
            .env
            .write(&format!("project/tests/{name}.sh"), on_candidate(test));
    }
    scene.git(&["add", "setup.sh", "run-tests.sh", "tests"]);
    scene.git(&["commit", "-qm", "tests"]);
    let started = start(&scene, &[]);
    assert_eq!(started.exit, 0, "{}", started.whole());
    let view = scene.wait_for(&["completed", "failed", "needs_human"]);
    assert_passed(&view);
    assert_eq!(view["stories"][0]["attempts"], 1, "{view}");
    let story = scene.env.run(&["story", "one", "--all", "--json"]).json();
    let text = story.to_string();
    for (name, _) in &tests {
        let failing = format!("\"failing\":[\"{name}\"");
        assert!(!text.contains(&failing), "{text}");
    }
    assert!(!text.contains("red on the base"), "{text}");
}

#[test]
fn a_machine_without_a_jail_is_refused_with_the_reason() {
    let scene = jailed(&["one"], NOSY, CAREFUL, "");
    // A PATH with git and a shell, and without bwrap.
    let programs = scene.env.path("bin");
    fs::create_dir(&programs).expect("made");
    for name in ["git", "sh", "cat", "ls", "sed", "grep", "test"] {
        let found = find(name);
        std::os::unix::fs::symlink(found, programs.join(name)).expect("linked");
    }
    let start = |more: &[&str]| {
        let arguments = [
            "start",
            "--project",
            "project",
            "--prd",
            "project/prd.json",
            "--flow",
            "judged",
        ];
        let mut command = scene.env.command(&[&arguments[..], more].concat());
        command
            .env("PATH", &programs)
            .env_remove("LOOPWRIGHT_SANDBOX_KIND");
        let output = scene.env.output(&mut command);
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    let (exit, said) = start(&[]);
    assert_eq!(exit, Some(3), "{said}");
    for word in ["bwrap", "bubblewrap", "--sandbox host"] {
        assert!(said.contains(word), "no `{word}` in: {said}");
    }
    let (exit, said) = start(&["--no-preflight"]);
    assert_eq!(exit, Some(3), "{said}");
    let (exit, said) = start(&["--sandbox", "host", "--dry-run"]);
    assert_eq!(exit, Some(0), "{said}");
}

fn find(program: &str) -> std::path::PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| file.exists())
        .expect("a program")
}

#[test]
fn i09_a_committed_configuration_cannot_open_the_jail() {
    let scene = jailed(&["one"], NOSY, CAREFUL, "");
    let config = scene.env.read("project/loopwright.toml");
    for (more, key) in [
        ("[sandbox]\nkind = \"host\"\n", "sandbox.kind"),
        ("[sandbox]\nread = [\"/etc\"]\n", "sandbox.read"),
        ("[sandbox]\nwrite = [\"/tmp\"]\n", "sandbox.write"),
        ("[sandbox]\nallow = [\"evil.example\"]\n", "sandbox.allow"),
        ("[sandbox]\nnetwork = \"open\"\n", "sandbox.network"),
        (
            "[roles.prover]\nnetwork = \"open\"\n",
            "roles.prover.network",
        ),
        ("[sandbox]\ninject_keys = false\n", "sandbox.inject_keys"),
        (
            "[agents.builder.files]\nx = \"/etc/shadow\"\n",
            "agents.builder.files.x",
        ),
    ] {
        scene
            .env
            .write("project/loopwright.toml", format!("{config}{more}"));
        // What a person wrote and keeps to themselves counts as theirs.
        scene.git(&[
            "rm",
            "-q",
            "-f",
            "--cached",
            "--ignore-unmatch",
            "loopwright.toml",
        ]);
        let own = scene.env.run(&["config", "show", "--project", "project"]);
        assert_eq!(own.exit, 0, "{more}: {}", own.whole());
        scene.git(&["add", "loopwright.toml"]);
        let committed = scene.env.run(&["config", "show", "--project", "project"]);
        assert_eq!(committed.exit, 2, "{more}: {}", committed.whole());
        let said = committed.whole();
        assert!(said.contains(key), "{more}: {said}");
    }
    let stricter = "[sandbox]\nkind = \"bwrap\"\nnetwork = \"none\"\nmemory_mb = 500\n";
    scene
        .env
        .write("project/loopwright.toml", format!("{config}{stricter}"));
    let committed = scene.env.run(&["config", "show", "--project", "project"]);
    assert_eq!(committed.exit, 0, "{}", committed.whole());
}

#[test]
fn i11_a_cancel_leaves_nothing_of_a_jail() {
    let stubborn = "trap '' TERM INT\ncat > /dev/null\necho up > started\nsetsid sh -c 'trap \"\" TERM INT; sleep 613' &\nsleep 613\n";
    let scene = jailed(&["one"], stubborn, CAREFUL, "");
    let started = start(&scene, &[]);
    assert_eq!(started.exit, 0, "{}", started.whole());
    let home = scene.home();
    crate::scene::wait_until("the agent's mark", || {
        let loops = fs::read_dir(home.join("loops")).ok()?;
        let mark = |folder: &Path| {
            let checkouts = fs::read_dir(folder.join("checkouts")).ok()?;
            checkouts
                .flatten()
                .find(|entry| entry.path().join("upper/started").exists())
        };
        loops.flatten().find_map(|entry| mark(&entry.path()))
    });
    let cancelled = scene.env.run(&["cancel"]);
    assert_eq!(cancelled.exit, 0, "{}", cancelled.whole());
    scene.wait_for(&["cancelled"]);
    let left = sleepers();
    assert!(left.is_empty(), "{left:?}");
}

/// Processes that sleep for as long as the stubborn agent's.
fn sleepers() -> Vec<String> {
    let processes = fs::read_dir("/proc").expect("a proc folder").flatten();
    processes
        .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.starts_with("sleep 613"))
        .collect()
}

#[test]
fn a_run_that_uses_too_much_is_told_so() {
    let greedy = "cat > /dev/null\nif [ \"$LOOPWRIGHT_ATTEMPT\" = 1 ]; then head -c 200000000 /dev/zero > big; sleep 30; fi\necho one > one.txt\n";
    let scene = jailed(&["one"], greedy, CAREFUL, "[sandbox]\ndisk_mb = 50\n");
    let started = start(&scene, &[]);
    assert_eq!(started.exit, 0, "{}", started.whole());
    let view = scene.wait_for(&["completed", "failed", "needs_human"]);
    assert_passed(&view);
    assert_eq!(view["stories"][0]["attempts"], 2, "{view}");
    let events = scene.env.run(&["events", "--json"]);
    assert!(
        events.stdout.contains("agent/loop.confined"),
        "{}",
        events.whole()
    );
    assert!(events.stdout.contains("disk space"), "{}", events.whole());
    let events = scene.env.run(&["events"]).stdout;
    let line = "agent/loop.confined  storyId=one attempt=1 stage=implement limit=disk space\n";
    assert!(events.contains(line), "{events}");
}

/// Some CLIs ask again for ever. The run ends at once, and a person is told which host it was.
#[test]
fn a_run_that_may_not_reach_its_model_is_ended_and_asks() {
    let stubborn = "cat > /dev/null\nbash -c 'exec 3<>/dev/tcp/127.0.0.1/8119; printf \"CONNECT models.invalid:443 HTTP/1.1\\r\\n\\r\\n\" >&3; cat <&3'\nsleep 3600\n";
    let scene = jailed(&["one"], stubborn, CAREFUL, "");
    let config = scene.env.read("project/loopwright.toml");
    let address = "MODEL_BASE_URL = \"https://models.invalid/v1\", STARTS";
    let config = config.replace("STARTS", address);
    scene.env.write("project/loopwright.toml", config);
    let started = start(&scene, &[]);
    assert_eq!(started.exit, 0, "{}", started.whole());
    let view = scene.wait_for(&["needs_human", "failed", "completed"]);
    assert_eq!(view["status"], "needs_human", "{view}");
    let events = scene.env.run(&["events"]).stdout;
    let line = "agent/loop.confined  storyId=one attempt=1 stage=implement \
                refused=models.invalid:443 (not on the list)\n";
    assert!(events.contains(line), "{events}");
    let reason = view["reason"].as_str().expect("a reason");
    for words in ["models.invalid", "[sandbox] allow"] {
        assert!(reason.contains(words), "{reason}");
    }
    let cancelled = scene.env.run(&["cancel"]);
    assert_eq!(cancelled.exit, 0, "{}", cancelled.whole());
    scene.wait_for(&["cancelled"]);
}

/// What agents and checks say of files is said in the project's own terms.
#[test]
fn people_see_paths_of_the_project_and_none_of_the_jail() {
    let teller = "cat > /dev/null\necho \"look at /workspace/src/a.txt in /workspace\"\nif [ \"$LOOPWRIGHT_ATTEMPT\" = 1 ]; then echo \"cannot read /workspace/src/a.txt\" >&2; exit 1; fi\necho one > one.txt\n";
    let scene = jailed(&["one"], teller, CAREFUL, "");
    let started = start(&scene, &[]);
    assert_eq!(started.exit, 0, "{}", started.whole());
    assert_passed(&scene.wait_for(&["completed", "failed", "needs_human"]));
    let loop_id = scene.status()["loopId"].as_str().expect("an id").to_owned();
    for verb in [
        vec!["logs", loop_id.as_str()],
        vec!["story", "one", "--all"],
        vec!["events", loop_id.as_str(), "--json"],
        vec!["report", loop_id.as_str()],
    ] {
        let said = scene.env.run(&verb);
        assert_eq!(said.exit, 0, "{}", said.whole());
        assert!(
            !said.stdout.contains("/workspace"),
            "{verb:?}: {}",
            said.whole()
        );
    }
    let logs = scene.env.run(&["logs", &loop_id]).stdout;
    assert!(logs.contains("look at src/a.txt in ."), "{logs}");
    let events = scene.env.run(&["events", &loop_id, "--json"]).stdout;
    assert!(events.contains("cannot read src/a.txt"), "{events}");
}

/// Root has rights that other people do not have; the jail must not need them.
#[test]
fn i09_a_plain_user_has_the_same_jail() {
    let scene = jailed(&["one"], NOSY, CAREFUL, "");
    let folder = scene.env.path("");
    let run = |program: &str, arguments: &[&str]| {
        let mut command = std::process::Command::new(program);
        let output = command.args(arguments).output().expect("started");
        assert!(output.status.success(), "{program}: {output:?}");
    };
    run(
        "chown",
        &["-R", "65534:65534", &folder.display().to_string()],
    );
    let user = |more: &[&str]| {
        let ids = ["--reuid=65534", "--regid=65534", "--clear-groups"];
        let program = [env!("CARGO_BIN_EXE_loopwright")];
        let all = [&ids[..], &program, more].concat();
        let mut command = std::process::Command::new("setpriv");
        command
            .args(all)
            .current_dir(&folder)
            .env_clear()
            .env("HOME", &folder)
            .env("PATH", "/usr/local/bin:/usr/bin:/bin");
        scene.env.output(&mut command)
    };
    let started = user(&[
        "start",
        "--project",
        "project",
        "--prd",
        "project/prd.json",
        "--flow",
        "judged",
        "--foreground",
    ]);
    assert!(started.status.success(), "{started:?}");
    let status = user(&["list", "--json"]);
    let text = String::from_utf8_lossy(&status.stdout).into_owned();
    let all: Value = serde_json::from_str(&text).expect("JSON");
    let view = &all["result"]["loops"][0];
    assert_eq!(view["isolation"], "bwrap", "{view}");
    assert_passed(view);
}
