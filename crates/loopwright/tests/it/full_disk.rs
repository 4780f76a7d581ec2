//! A real file system of a few megabytes runs full while loops run on it: they wait, say so, and go
//! on by themselves.
//!
//! It is mounted over the state folder, which needs the right to mount; without it these tests fail.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use crate::scene::{JUDGE, Scene, wait_until};

/// A file system in memory over the scene's state folder.
struct SmallDisk {
    at: PathBuf,
}

impl SmallDisk {
    /// Without the right to mount the test fails and says so.
    fn over(scene: &Scene, size: &str) -> Self {
        let at = scene.home();
        fs::create_dir_all(&at).expect("made");
        let size = format!("size={size},mode=0700");
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "tmpfs"])
            .arg(&at)
            .output();
        let output = mount.expect("a program `mount`");
        assert!(
            output.status.success(),
            "cannot mount a small disk; run as root, or leave this out by -E 'not test(/full_disk/)': {}",
            String::from_utf8_lossy(&output.stderr)
        );
        Self { at }
    }

    fn free_bytes(&self) -> u64 {
        let disk = rustix::fs::statvfs(&self.at).expect("a disk");
        disk.f_bavail * disk.f_frsize
    }

    /// Takes all room but this much.
    fn fill(&self, but_bytes: u64) {
        let mut filler = File::options()
            .create(true)
            .append(true)
            .open(self.at.join("filler"))
            .expect("made");
        while self.free_bytes() > but_bytes {
            if filler.write_all(&[0; 4096]).is_err() {
                break;
            }
        }
    }

    fn make_room(&self) {
        fs::remove_file(self.at.join("filler")).expect("removed");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // The worker may hold files in it; the disk goes with its last user.
        let _ = Command::new("umount").arg("--lazy").arg(&self.at).output();
    }
}

/// An implementor that shows that it runs, waits for a gate and then does `rest`.
fn gated(scene: &Scene, before: &str, rest: &str) -> PathBuf {
    let (gate, running) = (scene.env.path("gate"), scene.env.path("running"));
    let script = format!(
        "echo \"$LOOPWRIGHT_RUN_ID\" >> \"$STARTS\"\ncat > /dev/null\n{before}\ntouch {}\nwhile [ ! -f {} ]; do sleep 0.05; done\n{rest}\n",
        running.display(),
        gate.display()
    );
    scene.env.write("agents/implement.sh", script);
    gate
}

fn wait_for_agent(scene: &Scene) {
    wait_until("the agent", || {
        scene.env.path("running").exists().then_some(())
    });
}

/// What `status` says in words, and the view.
fn wait_for_full(scene: &Scene) -> serde_json::Value {
    wait_until("the message about the disk", || {
        let view = scene.status();
        let reason = view["reason"].as_str().unwrap_or_default();
        (view["status"] == "waiting" && reason.contains("is full; free some room")).then_some(view)
    })
}

/// The process that holds the worker's lock. Mounts do not tell it: the small disk is one that every
/// process sees.
fn worker_pid(scene: &Scene) -> Pid {
    let signed = fs::read_to_string(scene.home().join("worker.lock")).expect("a worker");
    Pid::from_raw(signed.trim().parse().expect("a number")).expect("a pid")
}

/// The stories' ends, the commits' subjects and trees: what a calm run has too.
fn ending(scene: &Scene, view: &serde_json::Value) -> Vec<String> {
    let branch = view["branch"].as_str().expect("a branch");
    let subjects = scene.git(&["log", "--format=%T %s", branch]);
    let id = view["loopId"].as_str().expect("an id");
    let story = |story: &serde_json::Value| format!("{} {}", story["status"], story["attempts"]);
    let stories = view["stories"]
        .as_array()
        .expect("stories")
        .iter()
        .map(story);
    stories
        .chain(subjects.lines().map(|line| line.replace(id, "ID")))
        .collect()
}

fn calm_ending() -> Vec<String> {
    let scene = Scene::new(&["one", "two"]);
    gated(&scene, "", "echo work > \"$LOOPWRIGHT_STORY_ID.txt\"");
    fs::write(scene.env.path("gate"), "").expect("written");
    scene.start(&["--foreground", "--no-preflight"]);
    ending(&scene, &scene.status())
}

#[test]
fn a_disk_that_runs_full_under_an_agent_costs_no_attempt_and_nothing_is_lost() {
    let scene = Scene::new(&["one", "two"]);
    scene.configure("[retry]\nwait = 1\n");
    let disk = SmallDisk::over(&scene, "12m");
    // The agent fails: it cannot write its file, which lies on the same disk.
    let failed = scene.env.path("failed");
    let rest = format!(
        "echo work > \"$LOOPWRIGHT_STORY_ID.txt\" || {{ touch {}; exit 9; }}",
        failed.display()
    );
    let gate = gated(&scene, "", &rest);
    let id = scene.start(&["--json", "--no-preflight"]).json()["result"]["loopId"]
        .as_str()
        .expect("an id")
        .to_owned();
    wait_for_agent(&scene);
    let worker = worker_pid(&scene);
    disk.fill(0);
    fs::write(&gate, "").expect("written");
    wait_until("the agent's failure", || failed.exists().then_some(()));
    wait_for_full(&scene);
    let told = scene.env.run(&["status", &id]);
    assert!(
        told.exit == 0 && told.stdout.contains("goes on by itself"),
        "{}",
        told.whole()
    );
    let refused = scene.start(&["--no-preflight", "--again"]);
    assert!(
        refused.exit == 3 && refused.stderr.contains("the disk is full"),
        "{}",
        refused.whole()
    );
    assert_eq!(
        scene.starts().len(),
        1,
        "no agent is started on a full disk"
    );
    // Looked at before the end: a worker without work goes away by itself.
    assert_eq!(
        worker_pid(&scene),
        worker,
        "it is the same worker all the time"
    );
    disk.make_room();
    let view = scene.wait_for(&["completed", "failed"]);
    assert_eq!(ending(&scene, &view), calm_ending());
    let runs = scene.env.run(&["runs", &id]).stdout;
    assert!(runs.contains("0001-1-implement-2  one"), "{runs}");
}

#[test]
fn an_agent_that_ended_on_a_full_disk_is_heard_once_there_is_room() {
    // Without words there is nothing but the exit record to wait for room with.
    for words in ["the last words\n", ""] {
        let scene = Scene::new(&["one", "two"]);
        ends_on_a_full_disk(&scene, &SmallDisk::over(&scene, "12m"), words);
    }
}

fn ends_on_a_full_disk(scene: &Scene, disk: &SmallDisk, words: &str) {
    let gate = gated(
        scene,
        "echo work > \"$LOOPWRIGHT_STORY_ID.txt\"",
        &format!("printf '{words}'; touch $ENDED"),
    );
    let ended = scene.env.path("ended");
    let config = scene.env.read("project/loopwright.toml");
    let config = config.replace(
        "env = { ",
        &format!("env = {{ ENDED = \"{}\", ", ended.display()),
    );
    scene.env.write("project/loopwright.toml", config);
    let id = scene.start(&["--json", "--no-preflight"]).json()["result"]["loopId"]
        .as_str()
        .expect("an id")
        .to_owned();
    wait_for_agent(scene);
    disk.fill(0);
    fs::write(&gate, "").expect("written");
    wait_until("the agent's end", || ended.exists().then_some(()));
    wait_for_full(scene);
    let run = scene
        .home()
        .join("loops")
        .join(&id)
        .join("runs/0001-1-implement-1");
    assert!(!run.join("exit.json").exists(), "there is no room for it");
    disk.make_room();
    let view = scene.wait_for(&["completed", "failed"]);
    assert_eq!(ending(scene, &view), calm_ending());
    assert_eq!(fs::read_to_string(run.join("stdout")).expect("read"), words);
    assert_eq!(
        scene.starts().len(),
        4,
        "every run has one try: {:?}",
        scene.starts()
    );
}

#[test]
fn a_journal_without_room_waits_with_all_that_it_was_to_record() {
    let scene = Scene::new(&["one", "two"]);
    let disk = SmallDisk::over(&scene, "12m");
    let gate = gated(&scene, "", "echo work > \"$LOOPWRIGHT_STORY_ID.txt\"");
    let id = scene.start(&["--json", "--no-preflight"]).json()["result"]["loopId"]
        .as_str()
        .expect("an id")
        .to_owned();
    wait_for_agent(&scene);
    // The worker sleeps while the agent ends and the disk fills up.
    let worker = worker_pid(&scene);
    kill_process(worker, Signal::STOP).expect("stopped");
    fs::write(&gate, "").expect("written");
    let exit = scene
        .home()
        .join("loops")
        .join(&id)
        .join("runs/0001-1-implement-1/exit.json");
    wait_until("the agent's end", || exit.exists().then_some(()));
    disk.fill(0);
    kill_process(worker, Signal::CONT).expect("woken");
    wait_for_full(&scene);
    // A few turns on the full disk; it cannot tell us of them. What a turn clears away makes room for
    // the next record, so that the disk is filled each time.
    for _ in 0..30 {
        disk.fill(0);
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    test_kill_process(worker).expect("the worker lives");
    wait_for_full(&scene);
    assert_eq!(scene.starts().len(), 1, "no agent is started");
    disk.make_room();
    let view = scene.wait_for(&["completed", "failed"]);
    assert_eq!(ending(&scene, &view), calm_ending());
    assert_eq!(
        scene.starts().len(),
        4,
        "every run has one try: {:?}",
        scene.starts()
    );
}

#[test]
fn a_checkout_that_does_not_fit_is_made_when_there_is_room() {
    let scene = Scene::with_agents(
        &["one", "two"],
        "cat > /dev/null\necho work > \"$LOOPWRIGHT_STORY_ID.txt\"\n",
        JUDGE,
    );
    scene.configure("[retry]\nwait = 1\n");
    // Three megabytes that do not get smaller.
    let mut random = testkit::Random::new(5);
    let large: Vec<u8> = (0..3_000_000 / 8)
        .flat_map(|_| random.draw().to_le_bytes())
        .collect();
    fs::write(scene.env.path("project/large"), large).expect("written");
    scene.git(&["add", "large"]);
    scene.git(&["commit", "--quiet", "-m", "large"]);
    let disk = SmallDisk::over(&scene, "24m");
    for but_bytes in [0, 2_000_000] {
        let gate = gated(&scene, "", "echo work > \"$LOOPWRIGHT_STORY_ID.txt\"");
        let _ = fs::remove_file(scene.env.path("running"));
        let id = scene.start(&["--json", "--no-preflight"]).json()["result"]["loopId"]
            .as_str()
            .expect("an id")
            .to_owned();
        wait_for_agent(&scene);
        // The next run is owed when the disk is full: its checkout needs more than there is.
        scene.env.run(&["pause", &id]);
        fs::write(&gate, "").expect("written");
        wait_until("the pause", || {
            (scene.status()["stories"][0]["detail"] == "attempt 1, check").then_some(())
        });
        disk.fill(but_bytes);
        if but_bytes == 0 {
            let refused = scene.env.run(&["resume", &id]);
            assert!(
                refused.exit == 3 && refused.stderr.contains("the disk is full"),
                "{}",
                refused.whole()
            );
        } else {
            assert_eq!(scene.env.run(&["resume", &id]).exit, 0);
            // While the checkout is tried the disk is full, and said to be; then it waits with
            // git's own words.
            wait_until("the wait", || {
                let view = scene.status();
                (view["status"] == "waiting"
                    && ["git", "unable to write", "is full"]
                        .iter()
                        .any(|word| view["reason"].as_str().unwrap_or("").contains(word)))
                .then_some(())
            });
        }
        disk.make_room();
        scene.env.run(&["resume", &id]);
        let view = scene.wait_for(&["completed", "failed"]);
        let stories: Vec<&str> = view["stories"]
            .as_array()
            .expect("stories")
            .iter()
            .filter_map(|story| story["status"].as_str())
            .collect();
        assert_eq!(stories, ["passed", "passed"], "{view}");
        scene.env.run(&["nuke", &id]);
        fs::remove_file(&gate).expect("removed");
        scene.git(&["checkout", "--quiet", "prd.json"]);
    }
}

#[test]
fn start_refuses_a_disk_that_is_nearly_full_before_anything_is_recorded() {
    let scene = Scene::new(&["one"]);
    let _disk = SmallDisk::over(&scene, "64M");
    let refused = scene.start(&[]);
    let is_told = refused.stderr.contains("  disk: ") && refused.stderr.contains("make room");
    assert!(refused.exit == 3 && is_told, "{}", refused.whole());
    assert_eq!(scene.env.run(&["list"]).stdout, "");
    let doctor = scene.env.run(&["doctor", "--project", "project"]);
    assert!(doctor.stdout.contains("bad  disk: "), "{}", doctor.whole());
}
