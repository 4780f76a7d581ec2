//! What is kept and what goes: `clean`, the worker's sweep, and the room that loops take.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use testkit::git as git_in;

use crate::scene::{IMPLEMENT, Scene, wait_until};

/// An id that no loop has.
const NOBODYS: &str = "01AAAAAAAAAAAAAAAAAAAAAAAA";

fn loop_folder(scene: &Scene, id: &str) -> PathBuf {
    scene.home().join("loops").join(id)
}

fn done_loop(scene: &Scene) -> String {
    let answer = scene.start(&["--foreground", "--json"]);
    answer.json()["result"]["loopId"]
        .as_str()
        .unwrap_or_else(|| panic!("{}", answer.whole()))
        .to_owned()
}

/// A process that ends with the test at the latest.
struct Orphan(Child);

impl Drop for Orphan {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A process that nobody keeps, with the mark of a run or without one.
fn orphan(mark: Option<&Path>) -> Orphan {
    let mut command = Command::new("sleep");
    command
        .arg("600")
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default());
    if let Some(run) = mark {
        command.env("LOOPWRIGHT_RUN_DIR", run);
    }
    Orphan(
        command
            .stdin(Stdio::null())
            .process_group(0)
            .spawn()
            .expect("started"),
    )
}

/// Serves once the worker that `start` left behind has ended for want of work.
fn serve(scene: &Scene) -> crate::support::Answer {
    wait_until("the last worker's end", || {
        workers(scene).is_empty().then_some(())
    });
    scene.env.run(&["serve", "--until-idle"])
}

#[test]
fn clean_removes_the_files_of_loops_that_are_over_and_keeps_what_happened() {
    let scene = Scene::new(&["one"]);
    let id = done_loop(&scene);
    let view = scene.env.run(&["status", &id, "--json"]).json();
    assert!(
        view["result"]["diskBytes"]
            .as_u64()
            .is_some_and(|bytes| bytes > 10_000),
        "{view}"
    );
    let young = scene.env.run(&["clean"]);
    assert_eq!(
        (young.exit, young.stdout.as_str()),
        (0, ""),
        "{}",
        young.whole()
    );
    assert_eq!(young.stderr, "there is nothing to remove\n");
    let dry = scene.env.run(&["clean", "--older-than", "0", "--dry-run"]);
    assert!(
        dry.stdout
            .starts_with(&format!("would remove  {id}  ended 2")),
        "{}",
        dry.whole()
    );
    assert!(
        loop_folder(&scene, &id).exists(),
        "a dry run removes nothing"
    );
    let done = scene
        .env
        .run(&["clean", "--older-than", "0", "--json"])
        .json();
    assert_eq!(
        done["result"]["removed"][0]["loopId"],
        id.as_str(),
        "{done}"
    );
    assert!(
        done["result"]["bytes"]
            .as_u64()
            .is_some_and(|bytes| bytes > 10_000),
        "{done}"
    );
    assert!(!loop_folder(&scene, &id).exists());
    assert_eq!(
        scene.env.run(&["status", &id, "--json"]).json()["result"]["status"],
        "completed"
    );
    assert!(
        scene
            .env
            .run(&["events", &id])
            .stdout
            .contains("agent/loop.complete")
    );
    let logs = scene.env.run(&["logs", &id]);
    assert!(
        logs.exit == 0 && logs.stderr.contains("files were removed"),
        "{}",
        logs.whole()
    );
    let again = scene.env.run(&["clean", "--older-than", "0"]);
    assert_eq!(again.stdout, "", "there is nothing left to remove");
}

#[test]
fn clean_keeps_a_loop_that_is_not_over_and_commits_that_are_nowhere_else() {
    let scene = Scene::new(&["one", "two"]);
    let gate = scene.env.path("gate");
    let wait = format!("while [ ! -f {} ]; do sleep 0.05; done", gate.display());
    scene.env.write(
        "agents/implement.sh",
        format!("[ \"$LOOPWRIGHT_STORY_ID\" = two ] && {wait}\n{IMPLEMENT}"),
    );
    let id = scene.start(&["--json"]).json()["result"]["loopId"]
        .as_str()
        .expect("an id")
        .to_owned();
    let branch = format!("agent-loop/{id}");
    wait_until("the first story", || {
        scene
            .env
            .read("project/prd.json")
            .contains("true")
            .then_some(())
    });
    let live = scene
        .env
        .run(&["clean", "--older-than", "0", "--json"])
        .json();
    assert_eq!(live["result"]["removed"], serde_json::json!([]), "{live}");
    scene.git(&["checkout", "--quiet", "--force", &branch]);
    std::fs::write(&gate, "").expect("written");
    scene.wait_for(&["completed"]);
    let kept = scene.env.run(&["clean", "--older-than", "0"]);
    assert!(
        kept.stdout
            .contains("its accepted commits are nowhere else"),
        "{}",
        kept.whole()
    );
    assert!(loop_folder(&scene, &id).join("repo.git").exists());
}

#[test]
fn a_worker_ends_orphans_and_removes_what_nobody_knows_and_touches_nothing_else() {
    let scene = Scene::new(&["one"]);
    let id = done_loop(&scene);
    wait_until("the last worker's end", || {
        workers(&scene).is_empty().then_some(())
    });
    let loops = std::fs::canonicalize(scene.home().join("loops")).expect("a folder");
    let (over, gone) = (
        loops.join(&id).join("runs/0001-1-implement-1"),
        loops.join(NOBODYS).join("runs/lost"),
    );
    // Leftovers: a checkout of a run that is over, a loop that the journal does not have, and three
    // live processes.
    std::fs::create_dir_all(loops.join(&id).join("checkouts/0001-1-implement-1")).expect("made");
    std::fs::create_dir_all(loops.join(NOBODYS).join("checkouts/0001-1-judge-1")).expect("made");
    std::fs::create_dir_all(loops.join("not-a-loop")).expect("made");
    let mut ours = [orphan(Some(&over)), orphan(Some(&gone))];
    let elsewhere = scene.env.path("elsewhere/loops/X/runs/Y");
    // No mark, the mark of another state folder, and marks that no run of ours ever had.
    let strange = [
        loops.clone(),
        loops.join(&id).join("other/0001-1-implement-1"),
    ];
    let mut foreign = [
        orphan(None),
        orphan(Some(&elsewhere)),
        orphan(Some(&strange[0])),
        orphan(Some(&strange[1])),
    ];
    let served = serve(&scene);
    assert!(
        served
            .stderr
            .contains("swept: 2 processes, 2 folders, 0 expired loops"),
        "{}",
        served.whole()
    );
    for child in &mut ours {
        wait_until("the orphan's end", || child.0.try_wait().expect("waited"));
    }
    for child in &mut foreign {
        assert!(
            child.0.try_wait().expect("waited").is_none(),
            "a foreign process was ended"
        );
    }
    assert!(
        !loops.join(NOBODYS).exists()
            && !loops
                .join(&id)
                .join("checkouts")
                .join("0001-1-implement-1")
                .exists()
    );
    assert!(loops.join("not-a-loop").exists() && loops.join(&id).join("repo.git").exists());
    let again = serve(&scene);
    assert!(!again.stderr.contains("swept"), "{}", again.whole());
}

/// `start` keeps a loop's keys before its first record. A worker that looked in between took the
/// folder for nobody's.
#[test]
fn a_worker_does_not_sweep_a_loop_that_is_just_beginning() {
    let scene = Scene::new(&["one"]);
    done_loop(&scene);
    let beginning = scene.home().join("loops").join(NOBODYS);
    std::fs::create_dir_all(&beginning).expect("made");
    std::fs::write(beginning.join("keys.json"), "{}").expect("written");
    let served = serve(&scene);
    assert!(
        beginning.join("keys.json").exists(),
        "it was swept: {}",
        served.whole()
    );
    // What is more than that, and unknown, is nobody's.
    std::fs::create_dir_all(beginning.join("runs")).expect("made");
    serve(&scene);
    assert!(!beginning.exists());
}

#[test]
fn accepted_commits_survive_a_lost_journal_and_a_live_run_survives_the_sweep() {
    let scene = Scene::new(&["one"]);
    let id = done_loop(&scene);
    wait_until("the last worker's end", || {
        workers(&scene).is_empty().then_some(())
    });
    for name in ["journal.db", "journal.db-wal", "journal.db-shm"] {
        let _ = std::fs::remove_file(scene.home().join(name));
    }
    scene.git(&["checkout", "--quiet", "prd.json"]);
    let gate = scene.env.path("gate");
    scene.env.write(
        "agents/implement.sh",
        format!(
            "echo x >> \"$STARTS\"\nwhile [ ! -f {} ]; do sleep 0.05; done\n{IMPLEMENT}",
            gate.display()
        ),
    );
    let before = scene.starts().len();
    scene.start(&[]);
    wait_until("the agent", || {
        (scene.starts().len() > before).then_some(())
    });
    // The worker dies, and the next one sweeps before the agent has ended.
    for process in workers(&scene) {
        rustix::process::kill_process(process, rustix::process::Signal::KILL).expect("killed");
    }
    wait_until("the worker's end", || {
        workers(&scene).is_empty().then_some(())
    });
    let serving = scene
        .env
        .command(&["serve", "--until-idle"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    wait_until("the sweep", || {
        (!loop_folder(&scene, &id).join("runs").exists()).then_some(())
    });
    std::fs::write(&gate, "").expect("written");
    let view = scene.wait_for(&["completed"]);
    assert_eq!(view["stories"][0]["status"], "passed", "{view}");
    serving.wait_with_output().expect("ended");
    assert_eq!(
        scene.starts().len(),
        before + 2,
        "one implementor that nobody disturbed, one judge"
    );
    let repository = loop_folder(&scene, &id).join("repo.git");
    assert_eq!(
        git_in(
            &repository,
            &["log", "--format=%s", &format!("agent-loop/{id}")]
        )
        .lines()
        .count(),
        2
    );
}

/// Workers of this scene, by their command line.
fn workers(scene: &Scene) -> Vec<rustix::process::Pid> {
    let of_worker = |pid: &rustix::process::Pid| {
        let line =
            std::fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
        line.split(|byte| *byte == 0).nth(1) == Some(b"serve")
    };
    crate::scene::processes_with(&scene.home())
        .into_iter()
        .filter(of_worker)
        .collect()
}

#[test]
fn retention_says_what_the_worker_keeps() {
    let scene = Scene::new(&["one"]);
    scene.configure("[retention]\ndays = 0\n");
    let expired = done_loop(&scene);
    scene.git(&["checkout", "--quiet", "prd.json"]);
    scene.configure("[retention]\nkeep_checkouts = true\n");
    let kept = done_loop(&scene);
    serve(&scene);
    assert!(
        !loop_folder(&scene, &expired).exists(),
        "it was over, and nothing of it was to be kept"
    );
    let checkouts = loop_folder(&scene, &kept).join("checkouts");
    let mut names: Vec<String> = std::fs::read_dir(checkouts)
        .expect("checkouts")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    // Trees that are measured lie elsewhere, one after the other at the same place.
    assert_eq!(names, ["0001-1-implement-1", "0001-1-judge-1"]);
}

#[test]
fn logs_follow_a_loop_to_its_end() {
    let scene = Scene::new(&["one"]);
    let gate = scene.env.path("gate");
    scene.env.write(
        "agents/implement.sh",
        format!(
            "echo first words\nwhile [ ! -f {} ]; do sleep 0.05; done\necho last words >&2\n{IMPLEMENT}",
            gate.display()
        ),
    );
    let id = scene.start(&["--json"]).json()["result"]["loopId"]
        .as_str()
        .expect("an id")
        .to_owned();
    let seen = std::fs::File::create(scene.env.path("seen")).expect("made");
    let mut following = scene.env.command(&["logs", &id, "-f"]);
    let following = following
        .stdout(seen)
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    wait_until("the first words", || {
        scene
            .env
            .read("seen")
            .contains("first words\n")
            .then_some(())
    });
    assert!(!scene.env.read("seen").contains("last words"));
    std::fs::write(&gate, "").expect("written");
    let ended = following.wait_with_output().expect("ended");
    assert!(ended.status.success());
    let times = |text: &str, word: &str| text.matches(word).count();
    let seen = scene.env.read("seen");
    assert_eq!(
        (
            times(&seen, "first words"),
            times(&seen, "last words"),
            times(&seen, "== candidate: test ended")
        ),
        (1, 1, 1),
        "{seen}"
    );
    assert!(
        seen.contains("==== one attempt 1 judge try 1 (PASS: scripted after "),
        "{seen}"
    );
    let json = scene.env.run(&["logs", &id, "-f", "--json"]).json();
    assert_eq!(
        json["result"]["logs"].as_array().map(Vec::len),
        Some(4),
        "{json}"
    );
    let left = scene.env.run(&["logs", &id, "--story", "none", "-f"]);
    assert_eq!(left.exit, 2, "{}", left.whole());
}

#[test]
fn a_worker_ends_a_keeper_whose_loop_nobody_knows() {
    let scene = Scene::new(&["one"]);
    let run = scene
        .home()
        .join("loops")
        .join(NOBODYS)
        .join("runs/0001-1-implement-1");
    std::fs::create_dir_all(&run).expect("made");
    let marker = scene.env.path("running");
    let spec = serde_json::json!({
        "run_id": "run_x", "program": "/bin/sh", "cwd": scene.env.path(""), "wall_secs": 600, "output_bytes_max": 1000,
        "args": ["-c", format!("touch {}; sleep 600", marker.display())],
        "env": { "PATH": std::env::var("PATH").unwrap_or_default(), "STATE": scene.home() },
    });
    std::fs::write(run.join("spec.json"), spec.to_string()).expect("written");
    let mut keeper = scene.env.command(&["keeper"]);
    let mut keeper = Orphan(
        keeper
            .arg(&run)
            .env("LOOPWRIGHT_WAKE", "off")
            .spawn()
            .expect("started"),
    );
    wait_until("the agent", || marker.exists().then_some(()));
    let asked = serve(&scene);
    assert!(
        asked
            .stderr
            .contains("swept: 1 process, 0 folders, 0 expired loops"),
        "{}",
        asked.whole()
    );
    wait_until("the keeper's end", || keeper.0.try_wait().expect("waited"));
    wait_until("the record", || {
        run.join("exit.json").exists().then_some(())
    });
    assert!(
        crate::scene::processes_with(&scene.home()).is_empty(),
        "its agent is gone"
    );
    serve(&scene);
    assert!(
        !scene.home().join("loops").join(NOBODYS).exists(),
        "and so is all that was left of it"
    );
}

#[test]
fn ctrl_c_leaves_a_loop_running() {
    use std::os::unix::process::ExitStatusExt as _;
    let scene = Scene::new(&["one"]);
    let gate = scene.env.path("gate");
    scene.env.write(
        "agents/implement.sh",
        format!(
            "echo here\nwhile [ ! -f {} ]; do sleep 0.05; done\n{IMPLEMENT}",
            gate.display()
        ),
    );
    let id = scene.start(&["--json"]).json()["result"]["loopId"]
        .as_str()
        .expect("an id")
        .to_owned();
    for (arguments, way_back) in [
        (["watch", &id, "--color=never"], "watch"),
        (["logs", &id, "-f"], "logs"),
    ] {
        let (out, talk) = (scene.env.path("out"), scene.env.path("talk"));
        let file = |path: &Path| std::fs::File::create(path).expect("made");
        let mut command = scene.env.command(&arguments);
        let mut child = Orphan(
            command
                .stdout(file(&out))
                .stderr(file(&talk))
                .spawn()
                .expect("started"),
        );
        wait_until("its words", || {
            let said = scene.env.read("out") + &scene.env.read("talk");
            (said.contains("agent/loop.implement") || said.contains("here")).then_some(())
        });
        let pid = i32::try_from(child.0.id())
            .ok()
            .and_then(rustix::process::Pid::from_raw)
            .expect("a pid");
        rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("sent");
        let ended = child.0.wait().expect("ended");
        assert!(
            ended.code() == Some(130) || ended.signal() == Some(2),
            "a shell shows both as 130: {ended:?}"
        );
        assert!(
            scene
                .env
                .read("talk")
                .contains(&format!("loopwright {way_back} {id}")),
            "it says how to come back"
        );
        assert_eq!(scene.status()["status"], "running");
    }
    std::fs::write(&gate, "").expect("written");
    assert_eq!(
        scene.wait_for(&["completed"])["stories"][0]["status"],
        "passed"
    );
}
