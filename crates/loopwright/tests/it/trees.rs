//! The files of jailed runs: shared in layers or copied, the loop's end is the same, and nothing of them
//! is left.

use std::fs;

use crate::scene::Scene;

/// Tells what its files are, and changes some of them.
const IMPLEMENT: &str = r#"cat > /dev/null
echo "seen type: $(grep ' /workspace ' /proc/self/mountinfo | sed 's/.* - //' | cut -d' ' -f1)"
echo "seen state: $(git status --porcelain | wc -l) changes, $(git log --oneline | wc -l) commit"
echo "seen old: $(ls old 2>/dev/null | wc -l)"
rm -rf old
mkdir -p new && echo "work of $LOOPWRIGHT_STORY_ID" > "new/$LOOPWRIGHT_STORY_ID.txt"
git add -A && git commit -q -m mine
"#;

/// Passes where it sees the candidate and cannot change it, and the check left nothing.
const JUDGE: &str = concat!(
    testkit::criteria_of_prompt!(),
    r#"word=PASS
[ -e old ] && word=FAIL
[ -f "new/$LOOPWRIGHT_STORY_ID.txt" ] || word=FAIL
[ -e left ] && word=FAIL
(echo x > forged) 2>/dev/null && word=FAIL
[ -z "$(git status --porcelain)" ] || word=FAIL
echo "{\"verdict\": \"$word\", \"commit\": \"$LOOPWRIGHT_CANDIDATE\", \"reason\": \"scripted\", \"criteria\": [$CRITERIA], \"guidance\": []}"
"#
);

/// What the first run of each story's implementor printed, and the files that landed.
fn played(trees: &str) -> (Vec<String>, String) {
    let scene = Scene::with_agents(&["one", "two"], IMPLEMENT, JUDGE);
    for name in ["a", "b"] {
        scene.env.write(&format!("project/old/{name}.txt"), "old\n");
    }
    scene.git(&["add", "old"]);
    scene.git(&["commit", "-q", "-m", "more"]);
    let path = |name: &str| scene.env.path(name).display().to_string();
    let agent = |name: &str, script: &str| {
        let script = path(script);
        format!(
            "[agents.{name}]\ncommand = [\"sh\", \"{script}\"]\nenv = {{ STARTS = \"/dev/null\" }}\n"
        )
    };
    let config = format!(
        "{}{}[roles.implementor]\nagent = \"builder\"\n[roles.judge]\nagent = \"judge\"\n\
         [checks]\ntest = \"test ! -e left && test ! -e .git && touch left\"\n[workspace]\ntrees = \"{trees}\"\n",
        agent("builder", "agents/implement.sh"),
        agent("judge", "agents/judge.sh"),
    );
    scene.env.write("project/loopwright.toml", config);
    let started = scene.start(&["--sandbox", "bwrap", "--flow", "judged"]);
    assert_eq!(started.exit, 0, "{}", started.whole());
    let view = scene.wait_for(&["completed", "failed", "needs_human"]);
    for story in view["stories"].as_array().expect("stories") {
        assert_eq!(story["status"], "passed", "{view}");
    }
    let loop_id = view["loopId"].as_str().expect("an id");
    let runs = scene.env.run(&["runs", loop_id, "--json"]).json();
    let runs = runs["result"]["runs"].as_array().expect("runs").clone();
    let mut seen = Vec::new();
    for run in runs.iter().filter(|run| run["stage"] == "implement") {
        let id = run["runId"].as_str().expect("an id");
        let run = scene.env.run(&["run", id, "--json"]).json();
        seen.push(
            run["result"]["stdout"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
        );
    }
    let folder = scene.home().join("loops").join(loop_id);
    for name in ["checkouts", "trees"] {
        assert!(!folder.join(name).exists(), "{name} is left");
    }
    let branch = format!("agent-loop/{loop_id}");
    (seen, scene.git(&["ls-tree", "-r", &branch]))
}

#[test]
fn runs_that_share_their_files_end_like_those_that_do_not() {
    let (layered, landed) = played("auto");
    let lines = |kind: &str, old: u32| {
        format!("seen type: {kind}\nseen state: 0 changes, 1 commit\nseen old: {old}\n")
    };
    assert_eq!(layered, [lines("overlay", 2), lines("overlay", 0)]);
    let (copied, same) = played("copy");
    assert!(
        !copied.iter().any(|said| said.contains("overlay")),
        "{copied:?}"
    );
    assert_eq!(landed, same);
    assert!(
        landed.contains("new/two.txt") && !landed.contains("old/"),
        "{landed}"
    );
    let left = fs::read_to_string("/proc/self/mountinfo").expect("mounts");
    assert!(!left.contains(".layers/at"), "{left}");
}
