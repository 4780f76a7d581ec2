//! How loops, stories and runs are named: by any part that only one of them has, and not at all where
//! there is only one to mean.

use crate::scene::{JUDGE, Scene};
use crate::support::Answer;

/// A project whose loops never get anywhere: the implementor of the first story works for ever.
pub(crate) struct Still {
    pub(crate) scene: Scene,
}

impl Still {
    pub(crate) fn new(stories: &[&str]) -> Self {
        Self {
            scene: Scene::with_agents(stories, "while :; do sleep 1; done\n", JUDGE),
        }
    }

    pub(crate) fn run_in(&self, folder: &str, words: &[&str]) -> Answer {
        let mut command = self.scene.env.command(words);
        command.current_dir(self.scene.env.path(folder));
        let output = self.scene.env.output(&mut command);
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8 output");
        Answer {
            exit: output.status.code().unwrap_or(-1),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// One more loop, by its id.
    pub(crate) fn start(&self) -> String {
        let words = [
            "start",
            "prd.json",
            "--flow",
            "judged",
            "--again",
            "--json",
            "--no-preflight",
        ];
        let answer = self.run_in("project", &words);
        assert_eq!(answer.exit, 0, "{}", answer.whole());
        let id = answer.json()["result"]["loopId"]
            .as_str()
            .map(str::to_owned);
        id.expect("an id")
    }

    /// What a verb said, which must be well.
    fn well(&self, words: &[&str]) -> String {
        let answer = self.run_in("project", words);
        assert_eq!(answer.exit, 0, "{words:?}: {}", answer.whole());
        answer.stdout
    }

    fn refused(&self, folder: &str, words: &[&str], says: &[&str]) {
        let answer = self.run_in(folder, words);
        assert_eq!(answer.exit, 2, "{words:?}: {}", answer.whole());
        for says in says {
            assert!(
                answer.stderr.contains(says),
                "{words:?}: {}",
                answer.whole()
            );
        }
    }
}

#[test]
fn a_verb_that_changes_something_needs_an_id_unless_one_loop_is_live_here() {
    let still = Still::new(&["one"]);
    std::fs::create_dir(still.scene.env.path("elsewhere")).expect("a folder");
    let changing = [
        &["pause"][..],
        &["resume"],
        &["cancel"],
        &["answer", "retry"],
    ];
    for words in changing {
        still.refused("project", words, &["no loop is live in this folder"]);
    }
    let first = still.start();
    assert!(still.well(&["pause"]).contains(&first));
    // Not from another folder: nobody there means this loop.
    still.refused(
        "elsewhere",
        &["resume"],
        &["no loop is live in this folder"],
    );
    assert!(still.well(&["resume"]).contains(&first));
    still.refused(
        "project",
        &["answer", "retry"],
        &[&first, "asks nothing now"],
    );
    still.refused(
        "project",
        &["answer", &first],
        &[&first, "asks nothing now"],
    );

    let second = still.start();
    for words in changing {
        let says = ["2 loops are live", &first, &second, "say which one"];
        still.refused("project", words, &says);
    }
    assert!(
        still
            .well(&["cancel", &first[first.len() - 6..]])
            .contains(&first)
    );
}

#[test]
fn a_story_may_be_named_alone() {
    let still = Still::new(&["US-1", "US-2", "other"]);
    let first = still.start();
    for words in [
        &["story", "us-2"][..],
        &["story", "US-2", "--markdown"],
        &["story", &first, "us-2"],
        &["story", &first[20..], "S-2"],
        &["story", &first, "--markdown", "us-2"],
    ] {
        assert!(still.well(words).contains("US-2: Story US-2"), "{words:?}");
    }
    still.refused(
        "project",
        &["story", "us"],
        &["`us` may mean several stories", "US-1\n", "US-2\n"],
    );
    still.refused("project", &["story", "othre"], &["did you mean `other`?"]);
    // Nobody has worked on it, so that there is nothing to see; but it is the story that is meant.
    for words in [
        &["diff", "other"][..],
        &["diff", &first, "other"],
        &["checkout", "other"],
        &["checkout", "other", "folder"],
        &["checkout", &first, "other"],
        &["checkout", &first, "other", "folder"],
    ] {
        still.refused("project", words, &["nobody has worked on `other` yet"]);
    }
    still.refused(
        "project",
        &["diff", "nothing"],
        &["there is no loop `nothing`"],
    );
    still.refused(
        "project",
        &["diff", "--attempt", "1"],
        &["is of a story, and none is named"],
    );
    assert_eq!(
        still.well(&["diff"]),
        "",
        "the newest loop, which accepted nothing"
    );
    still.refused("project", &["checkout"], &["which story?"]);
    still.refused("project", &["story"], &["which story?"]);
    still.refused("project", &["answer"], &["asks nothing now"]);
    still.refused("project", &["logs", "--story", "othe"], &["no run fits"]);

    // From a folder without loops it is found where only one loop has it.
    std::fs::create_dir(still.scene.env.path("elsewhere")).expect("a folder");
    let found = still.run_in("elsewhere", &["story", "us-1"]);
    assert!(
        found.stdout.contains("US-1: Story US-1"),
        "{}",
        found.whole()
    );
    let second = still.start();
    let says = [
        "`us-1` may mean several stories",
        &first,
        &second,
        "give the loop's id too",
    ];
    still.refused("elsewhere", &["story", "us-1"], &says);
    // Here it is the newest loop's.
    let json = still.well(&["story", "us-1", "--json"]);
    assert!(json.contains(&second) && !json.contains(&first), "{json}");
    still.refused(
        "project",
        &["status", &first[..4]],
        &["may mean several loops", &first, &second, "running"],
    );
}

#[test]
fn a_run_may_be_named_by_its_end() {
    let scene = Scene::new(&["one", "two"]);
    let started = scene.start(&["--foreground", "--flow", "solo"]);
    assert_eq!(started.exit, 0, "{}", started.whole());
    let say = |word: &str| scene.env.run(&["run", word]);
    let one = say("0001-1-implement-1");
    assert!(
        one.exit == 0 && one.stdout.starts_with("run_"),
        "{}",
        one.whole()
    );
    assert!(
        say("1-implement-1")
            .stderr
            .contains("may mean several runs:\n  run_")
    );
    assert!(say("nothing").stderr.contains("there is no run `nothing`"));
}
