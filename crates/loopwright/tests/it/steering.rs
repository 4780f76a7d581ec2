//! People steer stories with the real binary: the cases of `steering/`, each a script of its own. CI
//! plays one of each group, the soak all.

use std::path::PathBuf;
use std::process::Command;

use crate::sample::sample;
use crate::scene::{Scene, wait_until};
use crate::support::{Answer, TestEnv, project};

/// The scripts whose names begin like this.
fn cases(group: &str) -> Vec<PathBuf> {
    let folder = project().join("steering/cases");
    let files = std::fs::read_dir(folder).expect("the cases");
    let files = files.map(|file| file.expect("a file").path());
    let is_of_group = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(group)
    };
    let mut cases: Vec<PathBuf> = files.filter(is_of_group).collect();
    cases.sort();
    cases
}

fn play_some(class: &str, cases: &[PathBuf]) {
    for case in sample(class, cases) {
        let env = TestEnv::new();
        let mut command = Command::new("bash");
        command
            .arg(&case)
            .env("LW", env!("CARGO_BIN_EXE_loopwright"))
            .env("TMPDIR", env.path(""));
        let output = env.output(&mut command);
        let said = String::from_utf8_lossy(&output.stdout);
        let more = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}\n{more}");
    }
}

/// Honest and hostile cases of these verbs.
fn play_both(verb: &str) {
    let [honest, hostile] = ["h", "x"].map(|kind| cases(&format!("{kind}_{verb}")));
    assert!(!honest.is_empty() && !hostile.is_empty(), "{verb}");
    play_some(verb, &[honest, hostile].concat());
}

#[test]
fn a_story_is_tried_again() {
    play_both("retry");
}

#[test]
fn a_story_is_set_aside() {
    play_both("skip");
}

#[test]
fn i01_a_person_accepts_a_candidate() {
    play_some("honest accept", &cases("h_accept"));
    play_some("hostile accept", &cases("x_accept"));
}

#[test]
fn a_person_does_a_story() {
    play_both("take");
}

#[test]
fn steering_is_explained_and_refused_in_words() {
    let is_of_verb = |case: &PathBuf| {
        let name = case.file_name().unwrap_or_default().to_string_lossy();
        let verb = name.split(['_', '.']).nth(1).unwrap_or_default();
        ["retry", "skip", "accept", "take"].contains(&verb)
    };
    let all = cases("").into_iter();
    let others: Vec<PathBuf> = all.filter(|case| !is_of_verb(case)).collect();
    play_some("all verbs", &others);
}

/// Runs the program in the project.
fn in_project(scene: &Scene, words: &[&str]) -> Answer {
    let mut command = scene.env.command(words);
    let output = scene.env.output(command.current_dir(scene.project()));
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8 output");
    Answer {
        exit: output.status.code().unwrap_or(-1),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

#[test]
fn a_story_is_tried_again_after_its_loop_has_ended() {
    let scene = Scene::new(&["never-one"]);
    let ended = scene.start(&["--foreground"]);
    assert_eq!(ended.exit, 1, "{}", ended.whole());
    let id = scene.status()["loopId"].as_str().expect("an id").to_owned();
    // A newer loop that does not have the story is not meant.
    let other = r#"{"stories": [{"id": "other", "title": "Other", "acceptance_criteria": ["x"]}]}"#;
    scene.env.write("project/other.json", other);
    let newer = in_project(&scene, &["start", "other.json", "--foreground"]);
    assert_eq!(newer.exit, 0, "{}", newer.whole());
    let answer = in_project(&scene, &["retry", "never-one"]);
    assert_eq!(answer.exit, 0, "{}", answer.whole());
    let expected = format!("{id}: `never-one`: it is tried again, as attempt 4 of at most 6\n");
    assert_eq!(answer.stdout, expected, "{}", answer.whole());
    let unknown = in_project(&scene, &["retry", "nobody"]);
    assert!(
        unknown.exit == 2 && unknown.stderr.contains("has no story `nobody`"),
        "{}",
        unknown.whole()
    );
    let wait_for_end = || {
        wait_until("the end", || {
            let view = in_project(&scene, &["status", &id, "--json"]).json();
            (view["result"]["status"] == "completed").then_some(())
        });
    };
    wait_for_end();
    // What is accepted keeps the number under which it was made, on every page.
    let accept = [
        "accept",
        &id,
        "never-one",
        "--attempt",
        "5",
        "--reason",
        "fine",
    ];
    assert_eq!(in_project(&scene, &accept).exit, 0);
    wait_for_end();
    let pages: Vec<String> = [
        &["status", &id][..],
        &["report", &id],
        &["story", &id, "never-one"],
    ]
    .map(|words| in_project(&scene, words).stdout)
    .into();
    for (page, expected) in pages.iter().zip([
        &["  6 attempts  ", "[never-one] passed, attempt 5, "][..],
        &["6 attempts, "],
        &["\nattempt 5, accepted by a person: passed, base "],
    ]) {
        for words in expected {
            assert!(page.contains(words), "{words}: {page}");
        }
    }
    let branch = format!("agent-loop/{id}");
    let subject = scene.git(&["log", "-1", "--format=%s", &branch]);
    assert!(subject.contains("attempt-5"), "{subject}");
}

/// No verb names a command that is refused in turn.
#[test]
fn whoever_names_no_loop_is_told_what_can_be_done() {
    let scene = Scene::new(&["one", "two"]);
    let ended = scene.start(&["--foreground", "--max-iterations", "1"]);
    assert_eq!(ended.exit, 1, "{}", ended.whole());
    let id = scene.status()["loopId"].as_str().expect("an id").to_owned();
    for verb in ["resume", "cancel", "pause"] {
        let refused = in_project(&scene, &[verb]);
        assert_eq!(refused.exit, 2, "{}", refused.whole());
        let (said, again) = (&refused.stderr, format!("loopwright {verb}"));
        assert!(!said.contains(&again), "{}", refused.whole());
        let over = format!("the newest one here, {id}, is over (completed)");
        assert!(said.contains(&over), "{}", refused.whole());
        let onto = format!("--onto agent-loop/{id}");
        assert!(said.contains(&onto), "{}", refused.whole());
    }
    scene.git(&["branch", "-D", &format!("agent-loop/{id}")]);
    let refused = in_project(&scene, &["resume"]);
    let named = format!("loopwright resume {id}");
    assert!(refused.stderr.contains(&named), "{}", refused.whole());
    let resumed = in_project(&scene, &["resume", &id]);
    assert_eq!(resumed.exit, 0, "{}", resumed.whole());
}

/// A cancelled loop goes on for what is asked for alone, and for nothing that cannot begin.
#[test]
fn whoever_gives_a_story_back_is_told_what_becomes_of_it() {
    let scene = Scene::new(&["one"]);
    let prd = r#"{"stories": [
        {"id": "one", "title": "One", "acceptance_criteria": ["x"]},
        {"id": "two", "title": "Two", "depends_on": ["one"], "acceptance_criteria": ["x"]}]}"#;
    scene.env.write("project/prd.json", prd);
    let gate = scene.env.path("gate");
    let script = scene.env.read("agents/implement.sh");
    let wait = format!(
        "while [ ! -f {} ]; do sleep 0.05; done\n{script}",
        gate.display()
    );
    scene.env.write("agents/implement.sh", wait);
    let id = scene.start(&["--json"]).json()["result"]["loopId"].clone();
    let id = id.as_str().expect("an id");
    scene.wait_for_view("the first story", |view| {
        view["stories"][0]["status"] == "running"
    });
    let cancelled = scene.env.run(&["cancel", id]);
    assert_eq!(cancelled.exit, 0, "{}", cancelled.whole());
    scene.wait_for(&["cancelled"]);
    std::fs::write(&gate, "").expect("written");
    for (story, says) in [
        (
            "two",
            "no agent begins it, since it depends on `one`, which has not passed; the loop is over again \
             (cancelled); your work tree stays as it is\n",
        ),
        (
            "one",
            "the loop was over (cancelled); the agents go on with this story alone, then it is over \
             again; your work tree stays as it is\n",
        ),
    ] {
        let taken = scene.env.run(&["take", id, story]);
        assert_eq!(taken.exit, 0, "{}", taken.whole());
        scene.wait_for(&["needs_human"]);
        let back = scene.env.run(&["take", id, story, "--give-back"]);
        let expected = format!("{id}: `{story}`: {says}");
        assert_eq!(back.stdout, expected, "{}", back.whole());
        scene.wait_for(&["cancelled"]);
    }
    let stories = scene.status()["stories"].clone();
    assert_eq!(stories[0]["status"], "passed", "{stories}");
    assert_ne!(stories[1]["status"], "passed", "{stories}");
}
