//! Secrets that an agent prints, tells or commits: none is recorded, logged, shown or passed on, and
//! none gets onto the branch.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::flow_scene::flow_scene;
use crate::scene::{IMPLEMENT, JUDGE, Scene};
use crate::support::Answer;

/// The key that the loop's agents get from the person's shell.
const KEY: &str = "hunter-q8Zt5Kf2Lm";

/// Somebody else's token, which nobody told us about. It is put together when the tests run, or whoever
/// looks for tokens would find one here.
fn token() -> String {
    ["ghp", "_Zk3vQ9xLp2Rt7Wm4Yb8Nc1Hd6Js5Gf0TuXa2"].concat()
}

/// A private key, put together for the same reason.
fn private_key() -> String {
    let label = "OPENSSH PRIVATE KEY";
    let body = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW";
    format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n")
}

/// A scene whose implementor gets the key, and leaves its prompt outside.
fn scene(implement: &str, judge: &str, more: &str) -> Scene {
    let tell = "cat > \"$STARTS-told-$LOOPWRIGHT_ATTEMPT\"\n";
    let honest = IMPLEMENT.replace("cat > prompt-seen\nrm prompt-seen\n", "");
    let scene = Scene::with_agents(&["one"], &format!("{tell}{implement}{honest}"), judge);
    scene.configure(more);
    let config = scene.env.read("project/loopwright.toml").replacen(
        "env = {",
        "pass_env = [\"SECRET_TOKEN\"]\nenv = {",
        1,
    );
    scene.env.write("project/loopwright.toml", config);
    scene
}

/// Runs the program in a shell that has the key.
fn run(scene: &Scene, arguments: &[&str]) -> Answer {
    let mut command = scene.env.command(arguments);
    command.env("SECRET_TOKEN", KEY);
    let output = command.stdin(Stdio::null()).output().expect("ran");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Answer {
        exit: output.status.code().unwrap_or(-1),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

fn start(scene: &Scene) {
    let started = run(
        scene,
        &["start", "--project", "project", "--prd", "project/prd.json"],
    );
    assert_eq!(started.exit, 0, "{}", started.whole());
}

fn id_of(view: &Value) -> &str {
    view["loopId"].as_str().expect("an id")
}

fn attempts(view: &Value) -> (Option<&str>, Option<u64>) {
    let story = &view["stories"][0];
    (story["status"].as_str(), story["attempts"].as_u64())
}

/// The files of the state folder that hold a text, as it is.
fn holders(scene: &Scene, text: &str) -> Vec<String> {
    let found = Command::new("grep")
        .args(["-r", "-l", "-a", "-F", "-e", text])
        .arg(scene.home())
        .output()
        .expect("grep runs");
    let names = String::from_utf8(found.stdout).expect("UTF-8");
    names.lines().map(str::to_owned).collect()
}

/// The first attempt fails with the key as its last words; the second prints it in two pieces, and its
/// judge repeats it; the third is told all that.
#[test]
fn i09_no_secret_reaches_the_journal_a_log_a_prompt_or_a_screen() {
    let token = token();
    let implement = format!(
        "echo \"token {token}\"\nprintf 'key %s' \"$(printf %s \"$SECRET_TOKEN\" | cut -c1-6)\"\nsleep 0.3\n\
         printf '%s end\\n' \"$(printf %s \"$SECRET_TOKEN\" | cut -c7-)\"\n\
         if [ \"$LOOPWRIGHT_ATTEMPT\" = 1 ]; then echo \"refused: $SECRET_TOKEN {token}\" >&2; exit 1; fi\n"
    );
    let said = format!("it says {KEY} and {token}");
    let judge = JUDGE
        .replace("retry-*-1|never-*", "*-2")
        .replace("scripted", &said)
        .replace("do better", &format!("never say {KEY}"));
    let scene = scene(&implement, &judge, "[loop]\nmax_retries = 3\n");
    start(&scene);
    let view = scene.wait_for(&["completed"]);
    assert_eq!(attempts(&view), (Some("passed"), Some(3)), "{view}");
    let id = id_of(&view);
    assert_eq!(holders(&scene, KEY), Vec::<String>::new(), "the key");
    // What is nobody's known value stays in the raw output, and nowhere else.
    let raw = holders(&scene, &token);
    let is_output = |path: &&String| path.ends_with("/stdout") || path.ends_with("/stderr");
    assert!(
        !raw.is_empty() && raw.iter().all(|path| is_output(&path)),
        "{raw:?}"
    );
    let told = scene.env.read("starts-told-3");
    for expected in [
        "exit code 1: refused: [redacted: SECRET_TOKEN] [redacted: a GitHub or GitLab token]",
        "it says [redacted: SECRET_TOKEN] and [redacted: a GitHub or GitLab token]",
        "never say [redacted: SECRET_TOKEN]",
    ] {
        assert!(told.contains(expected), "{expected}: {told}");
    }
    let runs = scene.env.run(&["runs", id, "--json"]).json();
    let run_id = runs["result"]["runs"][0]["runId"].as_str().expect("a run");
    for arguments in [
        &["logs", id][..],
        &["logs", id, "--raw"],
        &["logs", id, "-f"],
        &["logs", id, "--json"],
        &["run", run_id],
        &["run", run_id, "--json"],
        &["story", id, "one"],
        &["story", id, "one", "--all"],
        &["story", id, "one", "--json"],
        &["report", id],
        &["report", id, "--markdown"],
        &["events", id],
        &["events", id, "--json"],
        &["watch", id],
        &["watch", id, "--json"],
        &["status", id, "--json"],
    ] {
        let shown = scene.env.run(arguments).whole();
        for secret in [KEY, &token] {
            assert!(!shown.contains(secret), "{arguments:?}: {shown}");
        }
    }
    let shown = scene.env.run(&["logs", id]).stdout;
    assert!(
        shown.contains("token [redacted: a GitHub or GitLab token]"),
        "{shown}"
    );
}

/// While the loop goes on, its keys are known to whoever looks at it.
#[test]
fn i09_a_key_is_not_shown_while_its_run_goes_on() {
    let implement =
        "echo \"key $SECRET_TOKEN end\"\nwhile [ ! -e \"$STARTS-gate\" ]; do sleep 0.05; done\n";
    let scene = scene(implement, JUDGE, "");
    start(&scene);
    let id = scene.wait_for(&["running"]);
    let id = id_of(&id).to_owned();
    let shown = crate::scene::wait_until("its output", || {
        let shown = scene.env.run(&["logs", &id]).stdout;
        shown.contains(" end\n").then_some(shown)
    });
    assert!(
        shown.contains("key [redacted: SECRET_TOKEN] end"),
        "{shown}"
    );
    let json = scene.env.run(&["logs", &id, "--json"]).whole();
    assert!(!json.contains(KEY), "{json}");
    scene.env.write("starts-gate", "");
    scene.wait_for(&["completed"]);
    assert_eq!(holders(&scene, KEY), Vec::<String>::new());
}

#[test]
fn i09_a_candidate_with_secrets_never_gets_onto_the_branch_and_the_next_attempt_is_told_where() {
    let (token, private_key) = (token(), private_key());
    let implement = format!(
        "case $LOOPWRIGHT_ATTEMPT in\n\
         1) printf 'url = x\\nkey = %s\\n' \"$SECRET_TOKEN\" > config.txt; mkdir \"d-$SECRET_TOKEN\"; echo x > \"d-$SECRET_TOKEN/x\" ;;\n\
         2) printf 'a\\nb\\n{token}\\n' > notes.md; cat > id_test <<'END'\n{private_key}END\n;;\nesac\n"
    );
    let scene = scene(&implement, JUDGE, "[loop]\nmax_retries = 3\n");
    start(&scene);
    let view = scene.wait_for(&["completed"]);
    assert_eq!(attempts(&view), (Some("passed"), Some(3)), "{view}");
    let told = scene.env.read("starts-told-3");
    for expected in [
        "`config.txt:2` has the value of SECRET_TOKEN",
        "the name of `d-[redacted: SECRET_TOKEN]/x`",
        "`notes.md:3` has a GitHub or GitLab token",
        "`id_test:1` has a private key",
    ] {
        assert!(told.contains(expected), "{expected}: {told}");
    }
    // Neither a prompt nor anything in the operator's repository has them.
    let branch = format!("agent-loop/{}", id_of(&view));
    let landed = scene.git(&["ls-tree", "-r", "--name-only", &branch]);
    assert_eq!(landed, "README\none.txt\nprd.json");
    for secret in [KEY, token.as_str(), "b3BlbnNzaC1rZXk"] {
        assert!(!told.contains(secret), "{told}");
        let pickaxe = scene.git(&["log", "--all", "--format=%h", "-S", secret]);
        assert_eq!(pickaxe, "", "{secret}");
    }
    let judged = scene
        .starts()
        .iter()
        .filter(|run| run.contains("judge"))
        .count();
    assert_eq!(
        judged,
        1,
        "nobody judges what is refused: {:?}",
        scene.starts()
    );
}

#[test]
fn what_the_base_has_already_is_no_leak_of_a_candidate() {
    let token = token();
    let implement = "sed -i 's/^first/changed/' old.md\nmv old.md moved.md\n";
    let scene = scene(implement, JUDGE, "");
    scene
        .env
        .write("project/old.md", format!("first\n{token}\nlast\n"));
    scene.git(&["add", "old.md"]);
    scene.git(&["commit", "-qm", "old"]);
    start(&scene);
    let view = scene.wait_for(&["completed"]);
    assert_eq!(attempts(&view), (Some("passed"), Some(1)), "{view}");
}

#[test]
fn files_that_configuration_names_may_hold_what_looks_like_a_secret_and_no_known_value() {
    let private_key = private_key();
    let implement = format!(
        "mkdir -p tests/fixtures\ncat > tests/fixtures/key.pem <<'END'\n{private_key}END\n\
         if [ \"$LOOPWRIGHT_ATTEMPT\" = 1 ]; then echo \"$SECRET_TOKEN\" > tests/fixtures/known; fi\n"
    );
    let more = "[policy]\nsecrets_allow = [\"tests/fixtures/**\"]\n";
    let scene = scene(&implement, JUDGE, more);
    start(&scene);
    let view = scene.wait_for(&["completed"]);
    assert_eq!(attempts(&view), (Some("passed"), Some(2)), "{view}");
    let told = scene.env.read("starts-told-2");
    assert!(
        told.contains("`tests/fixtures/known:1` has the value of SECRET_TOKEN"),
        "{told}"
    );
    assert!(!told.contains("key.pem"), "{told}");
}

#[test]
fn a_person_may_accept_what_was_refused() {
    let token = token();
    let implement = format!("echo {token} > made-up.txt\n");
    let scene = scene(&implement, JUDGE, "[loop]\nmax_retries = 0\n");
    start(&scene);
    let view = scene.wait_for(&["completed"]);
    assert_eq!(attempts(&view), (Some("skipped"), Some(1)), "{view}");
    let id = id_of(&view);
    let page = scene.env.run(&["story", id, "one"]).whole();
    assert!(
        page.contains("`made-up.txt:1` has a GitHub or GitLab token"),
        "{page}"
    );
    let accepted = run(&scene, &["accept", id, "one", "--reason", "it is made up"]);
    assert_eq!(accepted.exit, 0, "{}", accepted.whole());
    let view = scene.wait_for_view("the acceptance", |view| {
        attempts(view).0 == Some("passed") && view["status"] == "completed"
    });
    let branch = format!("agent-loop/{}", id_of(&view));
    assert_eq!(
        scene.git(&["show", &format!("{branch}:made-up.txt")]),
        token
    );
}

#[test]
fn tests_with_secrets_are_written_again() {
    let scene = flow_scene("quartet", &["twice"]);
    let token = token();
    let honest = scene.env.read("agents/write-tests.sh");
    // Whoever was told does not do it again.
    let leaking = format!(
        "{honest}\ngrep -q 'which must not get into a repository' \"$PROMPT\" || echo '# {token}' >> tests/twice.sh\n\
         cp \"$PROMPT\" \"$SCENE/told-$(wc -l < \"$SCENE/starts\" | tr -d ' ')\"\n"
    );
    // The answer is the last thing that it says.
    let leaking = leaking.replacen(
        "echo \"{\\\"summary\\\"",
        "answer=$(echo \"{\\\"summary\\\"",
        1,
    );
    let leaking =
        leaking.replacen("[\\\"$id\\\"]}]}\"", "[\\\"$id\\\"]}]}\")", 1) + "echo \"$answer\"\n";
    scene.env.write("agents/write-tests.sh", leaking);
    scene.start(&["--flow", "quartet"]);
    let view = scene.wait_for(&["completed"]);
    assert_eq!(attempts(&view), (Some("passed"), Some(1)), "{view}");
    let page = scene
        .env
        .run(&["story", id_of(&view), "twice", "--all"])
        .whole();
    let expected = "tests refused: it holds secrets, which must not get into a repository: \
                    `tests/twice.sh:2` has a GitHub or GitLab token";
    assert!(page.contains(expected), "{page}");
    assert!(!page.contains(&token), "{page}");
}
