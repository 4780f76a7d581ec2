//! Several stories at once under real `kill -9`s of workers, keepers and measuring processes, at random
//! moments: the laws hold on the journal, the branch ends with the same files as in a calm play, and
//! nothing is left over.
//!
//! `LOOPWRIGHT_KILLS` sets how many (CI: a few), `LOOPWRIGHT_KILL_SEED` replays the choice of moments and
//! victims.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use rustix::process::{Signal, kill_process};
use testkit::{Random, number};

use crate::laws::{self, Branch};
use crate::scene::{JUDGE, Scene, TAP_RUNNER, newest_view, processes_with, wait_until};
use crate::sigkill::{ours, serve};

/// `a` to `d` touch nothing of each other; `p` and `q` write the same lines of one file, and whoever
/// comes second is sent back; `never-asks` asks.
const STORIES: [&str; 7] = ["a", "p", "b", "q", "never-asks", "c", "d"];

/// Kills in one loop: a run whose keeper is killed again and again waits longer each time.
const KILLS_PER_LOOP: u64 = 25;

const IMPLEMENT: &str = r#"cat > /dev/null
sleep 0.3
case "$LOOPWRIGHT_STORY_ID" in
  never-asks) echo '{"question": "which one?"}'; exit ;;
  p|q) echo "$LOOPWRIGHT_STORY_ID" >> list; sort -o list list ;;
  *) echo "work of $LOOPWRIGHT_STORY_ID" > "src-$LOOPWRIGHT_STORY_ID" ;;
esac
echo "grep -q $LOOPWRIGHT_STORY_ID list src-$LOOPWRIGHT_STORY_ID" > "tests/$LOOPWRIGHT_STORY_ID.sh"
sleep 0.3
"#;

fn scene() -> Scene {
    let scene = Scene::with_agents(&STORIES, IMPLEMENT, JUDGE);
    for (name, text) in [
        ("run-tests.sh", TAP_RUNNER),
        ("list", "m\n"),
        ("tests/base.sh", "grep -q m list\n"),
    ] {
        scene.env.write(&format!("project/{name}"), text);
    }
    scene.git(&["add", "run-tests.sh", "list", "tests"]);
    scene.git(&["commit", "-qm", "tests"]);
    scene.configure(
        "[retry]\nwait = 1\n[budget]\nhours = 100\n[checks]\ntest = \"sh run-tests.sh\"\n",
    );
    scene
}

/// The branch of a play, as git has it.
struct Landed<'a>(&'a Scene);

impl Branch for Landed<'_> {
    fn parent(&self, commit: &str) -> String {
        let parent = self.0.git(&["rev-parse", &format!("{commit}^")]);
        parent.trim().to_owned()
    }

    fn is_green(&self, commit: &str) -> bool {
        let folder = self.0.env.path(&format!("landed-{commit}"));
        let path = folder.display().to_string();
        self.0
            .git(&["worktree", "add", "-q", "--detach", &path, commit]);
        let mut tests = std::process::Command::new("sh");
        tests.arg("run-tests.sh").current_dir(&folder);
        tests.output().expect("run").status.success()
    }
}

/// How a play ended, whatever its order was: the files of the branch, and by story its status, the
/// attempts that counted, and what it changed.
#[derive(Debug, PartialEq, Eq)]
struct Ending {
    tree: String,
    stories: BTreeMap<String, (String, u64, Vec<String>)>,
}

fn ending(scene: &Scene) -> Ending {
    let view = scene.status();
    let branch = view["branch"].as_str().expect("a branch");
    let tree = scene.git(&["rev-parse", &format!("{branch}^{{tree}}")]);
    let log = scene.git(&[
        "log",
        "--format=%H %(trailers:key=Story-Id,valueonly,separator=)",
        branch,
    ]);
    let mut stories = BTreeMap::new();
    for story in view["stories"].as_array().expect("stories") {
        let id = story["id"].as_str().expect("an id").to_owned();
        let commit = log
            .lines()
            .find_map(|line| line.strip_suffix(&format!(" {id}")));
        let changed = commit.map_or(String::new(), |commit| {
            scene.git(&["diff-tree", "-r", "--name-status", "--no-commit-id", commit])
        });
        let status = story["status"].as_str().expect("a status").to_owned();
        let attempts = story["attempts"].as_u64().expect("attempts");
        let returns = returns_of(scene, &id);
        let changed = changed.lines().map(str::to_owned).collect();
        stories.insert(id, (status, attempts - returns, changed));
    }
    Ending { tree, stories }
}

fn returns_of(scene: &Scene, story: &str) -> u64 {
    let loaded = load(scene);
    let progress = loaded.state.story(story).expect("the story");
    u64::from(progress.returns)
}

fn load(scene: &Scene) -> home::Loaded {
    let journal = journal::Journal::open(&scene.home()).expect("a journal");
    let row = journal.loops().expect("loops").pop().expect("a loop");
    home::load(&journal, &row.loop_id).expect("a loop that replays")
}

/// Lets a loop run to its end. Meanwhile processes of ours are killed at random; says how many.
fn play(scene: &Scene, random: &mut Random, kills_max: u64) -> u64 {
    let started = scene.start(&["--parallel", "4"]);
    assert_eq!(started.exit, 0, "{}", started.whole());
    let mut workers = vec![serve(scene)];
    let journal = journal::Journal::open(&scene.home()).expect("a journal");
    let has_come_to = |status: &str| newest_view(&journal)["status"] == status;
    let mut kills = 0;
    while kills < kills_max && !has_come_to("needs_human") {
        std::thread::sleep(Duration::from_millis(20 + random.below(200_u64)));
        let verb = *random.pick(&["serve", "keeper", "keeper", "measure"]);
        let found = ours(scene, verb);
        if !found.is_empty() && kill_process(*random.pick(&found), Signal::KILL).is_ok() {
            kills += 1;
        }
        if ours(scene, "serve").is_empty() {
            workers.push(serve(scene));
        }
    }
    let mut until = |status: &str| {
        wait_until(status, || {
            if ours(scene, "serve").is_empty() {
                workers.push(serve(scene));
            }
            has_come_to(status).then_some(())
        });
    };
    until("needs_human");
    let id = load(scene).state.spec().loop_id.clone();
    let answered = scene
        .env
        .run(&["answer", &id, "skip", "--story", "never-asks"]);
    assert_eq!(answered.exit, 0, "{}", answered.whole());
    until("completed");
    for mut worker in workers {
        worker.wait().expect("ended");
    }
    kills
}

/// No process, checkout, temporary file or lock of a loop that is over.
fn check_nothing_left(scene: &Scene, seed: u64) {
    let id = load(scene).state.spec().loop_id.clone();
    let home = home::Home::at(scene.home());
    wait_until("no process", || {
        processes_with(&home.loops()).is_empty().then_some(())
    });
    let mut left: Vec<String> = Vec::new();
    let places = [home.checkouts(&id), home.scratch(&id)];
    for folder in places.into_iter().chain(home.lanes(&id)) {
        let is_empty = std::fs::read_dir(&folder).map_or(true, |mut names| names.next().is_none());
        if !is_empty {
            left.push(folder.display().to_string());
        }
    }
    locks_below(&home.repository(&id), &mut left);
    locks_below(&scene.project().join(".git"), &mut left);
    assert!(left.is_empty(), "seed {seed}: i11: left over: {left:?}");
}

/// Locks that git leaves where it is killed.
fn locks_below(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            locks_below(&path, found);
        } else if path.extension().is_some_and(|end| end == "lock") {
            found.push(path.display().to_string());
        }
    }
}

fn check(scene: &Scene, seed: u64) {
    let loaded = load(scene);
    laws::check(&loaded.records, &Landed(scene));
    check_nothing_left(scene, seed);
}

#[test]
fn i04_kills_change_nothing_of_several_stories() {
    let seed = number("LOOPWRIGHT_KILL_SEED", 5);
    let mut random = Random::new(seed);
    let calm = scene();
    play(&calm, &mut random, 0);
    check(&calm, seed);
    let expected = ending(&calm);
    let landed = |story: &(String, u64, Vec<String>)| story.0 == "passed";
    let n_passed = expected
        .stories
        .values()
        .filter(|story| landed(story))
        .count();
    assert_eq!(n_passed, STORIES.len() - 1, "{expected:#?}");
    let wanted = number("LOOPWRIGHT_KILLS", 8);
    let (mut killed, mut loops) = (0, 0);
    while killed < wanted {
        let scene = scene();
        killed += play(&scene, &mut random, (wanted - killed).min(KILLS_PER_LOOP));
        check(&scene, seed);
        assert_eq!(ending(&scene), expected, "seed {seed}");
        loops += 1;
    }
    println!("{killed} processes killed over {loops} loops of several stories, seed {seed}");
}
