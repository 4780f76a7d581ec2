//! Real `kill -9` of the shipped program, at random moments, over whole loops.
//!
//! `LOOPWRIGHT_KILLS` sets how many (CI: a sample), `LOOPWRIGHT_KILL_SEED` replays the choice of
//! moments and victims.

use std::process::{Child, Stdio};
use std::time::Duration;

use kernel::Event;
use rustix::process::{Pid, Signal, kill_process};
use testkit::{Random, number};

use crate::flow_scene::flow_scene;
use crate::scene::{JUDGE, Scene, newest_view, processes_with, wait_until};

/// Processes of ours in this state folder that run as `verb`.
pub(crate) fn ours(scene: &Scene, verb: &str) -> Vec<Pid> {
    let of_verb = |pid: &Pid| {
        let line =
            std::fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
        let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
        words
            .first()
            .is_some_and(|program| program.ends_with(b"loopwright"))
            && words.get(1) == Some(&verb.as_bytes())
    };
    processes_with(&scene.home())
        .into_iter()
        .filter(of_verb)
        .collect()
}

/// Starts another worker, as a service manager would.
pub(crate) fn serve(scene: &Scene) -> Child {
    let mut command = scene.env.command(&["serve", "--until-idle"]);
    command
        .env("LOOPWRIGHT_HOME", scene.home())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().expect("started")
}

/// Kills at random until the loop is over or enough were killed; says how many.
fn rampage(scene: &Scene, random: &mut Random, kills_max: u64, victims: &[&str]) -> u64 {
    let mut workers = vec![serve(scene)];
    let mut kills = 0;
    let journal = journal::Journal::open(&scene.home()).expect("a journal");
    let is_over = || newest_view(&journal)["status"] == "completed";
    while kills < kills_max && !is_over() {
        std::thread::sleep(Duration::from_millis(20 + random.below(150_u64)));
        let verb = *random.pick(victims);
        if let Some(victim) = ours(scene, verb).first().copied()
            && kill_process(victim, Signal::KILL).is_ok()
        {
            kills += 1;
        }
        if ours(scene, "serve").is_empty() {
            workers.push(serve(scene));
        }
    }
    wait_until("the end of the loop", || {
        if ours(scene, "serve").is_empty() {
            workers.push(serve(scene));
        }
        is_over().then_some(())
    });
    for mut worker in workers {
        worker.wait().expect("ended");
    }
    kills
}

fn scene() -> Scene {
    scene_started(&[])
}

/// The same with every agent and every check in a jail, which may only count its starts outside.
fn jailed_scene() -> Scene {
    scene_started(&["--sandbox", "bwrap", "--set", "sandbox.write=../starts"])
}

fn scene_started(more: &[&str]) -> Scene {
    let implement = "cat > /dev/null\nsleep 0.2\necho \"work of $LOOPWRIGHT_STORY_ID\" > \"$LOOPWRIGHT_STORY_ID.txt\"\nsleep 0.2\n";
    let scene = Scene::with_agents(&["one", "two", "three", "four"], implement, JUDGE);
    // A run whose keeper is killed again and again waits longer each time; here the first wait is a
    // second.
    scene.configure("[retry]\nwait = 1\n");
    scene.env.write("starts", "");
    let prepared = scene.start(more);
    assert_eq!(prepared.exit, 0, "{}", prepared.whole());
    scene
}

/// What must hold after any number of kills.
fn check(scene: &Scene, seed: u64, only_workers: bool) {
    let view = scene.status();
    let passed = view["stories"]
        .as_array()
        .expect("stories")
        .iter()
        .filter(|story| story["status"] == "passed")
        .count();
    assert_eq!(passed, 4, "seed {seed}: no story is lost: {view}");
    let branch = view["branch"].as_str().expect("a branch");
    let mut subjects: Vec<String> = scene
        .git(&["log", "--format=%s", branch])
        .lines()
        .map(str::to_owned)
        .collect();
    assert_eq!(subjects.len(), 5, "seed {seed}: one commit per story");
    subjects.sort();
    subjects.dedup();
    assert_eq!(subjects.len(), 5, "seed {seed}: no commit twice");
    let journal = journal::Journal::open(&scene.home()).expect("a journal");
    let records = home::load(&journal, view["loopId"].as_str().expect("an id"))
        .expect("a loop")
        .records;
    let runs: Vec<_> = records
        .iter()
        .filter_map(|record| match &record.event {
            Event::RunStarted { run } if !run.stage.is_check() => Some(run.clone()),
            _ => None,
        })
        .collect();
    let mut starts = scene.starts();
    let all_starts = starts.len();
    starts.sort();
    starts.dedup();
    assert_eq!(
        starts.len(),
        all_starts,
        "seed {seed}: an agent was started twice for one try"
    );
    if only_workers {
        let ends: Vec<&Event> = records
            .iter()
            .map(|record| &record.event)
            .filter(|event| matches!(event, Event::RunEnded { .. }))
            .collect();
        assert!(
            runs.iter().all(|run| run.try_number == 1),
            "seed {seed}: a run was tried again although its keeper lived: {ends:#?}"
        );
        assert_eq!(
            starts.len(),
            runs.len(),
            "seed {seed}: every try is one start"
        );
    }
    assert!(
        starts.len() <= runs.len(),
        "seed {seed}: more starts than tries"
    );
    let left: Vec<Pid> = processes_with(&scene.home().join("loops"));
    assert!(
        left.is_empty(),
        "seed {seed}: i11: processes are left: {left:?}"
    );
}

#[test]
fn i04_a_killed_worker_disturbs_no_agent() {
    let seed = number("LOOPWRIGHT_KILL_SEED", 7);
    let mut random = Random::new(seed);
    let (mut killed, mut loops) = (0, 0);
    let wanted = number("LOOPWRIGHT_KILLS", 12);
    while killed < wanted {
        let scene = scene();
        killed += rampage(&scene, &mut random, wanted - killed, &["serve"]);
        check(&scene, seed, true);
        loops += 1;
    }
    println!("{killed} workers killed over {loops} loops, seed {seed}");
}

#[test]
fn i04_killed_keepers_and_workers_lose_nothing() {
    let seed = number("LOOPWRIGHT_KILL_SEED", 11);
    let mut random = Random::new(seed);
    let (mut killed, mut loops) = (0, 0);
    let wanted = number("LOOPWRIGHT_KILLS", 12);
    while killed < wanted {
        let scene = scene();
        killed += rampage(
            &scene,
            &mut random,
            (wanted - killed).min(15),
            &["keeper", "serve", "keeper"],
        );
        check(&scene, seed, false);
        loops += 1;
    }
    println!("{killed} processes killed over {loops} loops, seed {seed}");
}

/// Adopted or swept: a jail is part of its run, and its agent is started once for each try.
#[test]
fn i04_killed_keepers_and_workers_lose_nothing_in_jails() {
    let seed = number("LOOPWRIGHT_KILL_SEED", 5);
    let mut random = Random::new(seed);
    let (mut killed, mut loops) = (0, 0);
    let wanted = number("LOOPWRIGHT_KILLS", 8);
    while killed < wanted {
        let scene = jailed_scene();
        let kills_max = (wanted - killed).min(15);
        killed += rampage(&scene, &mut random, kills_max, &["keeper", "serve"]);
        check(&scene, seed, false);
        assert_no_jail_left(&scene);
        loops += 1;
    }
    println!("{killed} processes killed over {loops} loops in jails, seed {seed}");
}

#[test]
fn i04_a_killed_worker_disturbs_no_agent_in_a_jail() {
    let seed = number("LOOPWRIGHT_KILL_SEED", 3);
    let mut random = Random::new(seed);
    let scene = jailed_scene();
    let killed = rampage(
        &scene,
        &mut random,
        number("LOOPWRIGHT_KILLS", 4),
        &["serve"],
    );
    check(&scene, seed, true);
    assert_no_jail_left(&scene);
    println!("{killed} workers killed, seed {seed}");
}

/// No process of a jail, no control group and no socket is left.
fn assert_no_jail_left(scene: &Scene) {
    let home = scene.home().display().to_string();
    let lines = std::fs::read_dir("/proc").expect("a proc folder").flatten();
    let lines = lines.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    let left: Vec<String> = lines.filter(|line| line.contains(&home)).collect();
    assert!(left.is_empty(), "i11: {left:?}");
    let mut n_jails = 0;
    for runs in std::fs::read_dir(scene.home().join("loops"))
        .expect("loops")
        .flatten()
    {
        for run in std::fs::read_dir(runs.path().join("runs"))
            .expect("runs")
            .flatten()
        {
            for name in ["alive.sock", "net.sock"] {
                assert!(!run.path().join(name).exists(), "{name} of {run:?}");
            }
            let Ok(record) = std::fs::read(run.path().join("jail.json")) else {
                continue;
            };
            n_jails += 1;
            let record: serde_json::Value = serde_json::from_slice(&record).expect("JSON");
            for group in record["cgroups"].as_array().into_iter().flatten() {
                let group = group.as_str().expect("a path");
                assert!(!std::path::Path::new(group).exists(), "i11: {group}");
            }
        }
    }
    assert!(n_jails >= 8, "{n_jails} jails");
}

/// The answer comes after more than is kept, and when nobody who asked for it lives any more.
#[test]
fn i04_a_long_answer_outlives_the_worker_that_asked_for_it() {
    let scene = Scene::new(&["one"]);
    let (gate, printed) = (scene.env.path("gate"), scene.env.path("printed"));
    let judge = format!(
        "echo \"$LOOPWRIGHT_RUN_ID\" >> \"$STARTS\"\nhead -c 6000000 /dev/zero | tr '\\0' 'x'\necho\ntouch {}\n\
         while [ ! -f {} ]; do sleep 0.05; done\n{JUDGE}",
        printed.display(),
        gate.display()
    );
    scene.env.write("agents/judge.sh", judge);
    scene.start(&[]);
    wait_until("the judge", || printed.exists().then_some(()));
    for worker in ours(&scene, "serve") {
        kill_process(worker, Signal::KILL).expect("killed");
    }
    std::fs::write(&gate, "").expect("written");
    let view = scene.wait_for(&["completed"]);
    assert_eq!(view["stories"][0]["status"], "passed", "{view}");
    assert_eq!(scene.starts().len(), 2, "one start for each of two runs");
}

#[test]
fn i04_a_run_that_ends_without_a_worker_starts_one() {
    let scene = scene();
    wait_until("the first agent", || {
        (!scene.starts().is_empty()).then_some(())
    });
    // Nobody starts another worker: the keeper of the run that is under way has to.
    for worker in ours(&scene, "serve") {
        kill_process(worker, Signal::KILL).expect("killed");
    }
    scene.wait_for(&["completed"]);
    check(&scene, 0, true);
}

/// Implementor and test writer are both at work, and neither notices that worker after worker dies.
#[test]
fn i04_both_lanes_outlive_every_worker_that_is_killed() {
    let scene = flow_scene("quartet", &["one"]);
    let gate = scene.env.path("gate");
    for stage in ["implement", "write-tests"] {
        let name = format!("agents/{stage}.sh");
        let wait = format!("while [ ! -f {} ]; do sleep 0.05; done\n", gate.display());
        scene.env.write(&name, wait + &scene.env.read(&name));
    }
    scene.start(&["--flow", "quartet"]);
    wait_until("both lanes", || (scene.starts().len() == 2).then_some(()));
    let mut workers = Vec::new();
    for _ in 0..3 {
        let worker = wait_until("a worker", || ours(&scene, "serve").first().copied());
        kill_process(worker, Signal::KILL).expect("killed");
        wait_until("its end", || {
            (!ours(&scene, "serve").contains(&worker)).then_some(())
        });
        workers.push(serve(&scene));
    }
    std::fs::write(&gate, "").expect("written");
    let view = scene.wait_for(&["completed"]);
    assert_eq!(view["stories"][0]["status"], "passed", "{view}");
    let mut starts = scene.starts();
    starts.sort();
    starts.dedup();
    let stages = ["implement", "judge", "review", "write-tests"];
    let seen = stages.map(|stage| starts.iter().filter(|start| start.contains(stage)).count());
    assert_eq!(
        (seen, scene.starts().len()),
        ([1; 4], 4),
        "each was started once: {starts:?}"
    );
    for mut worker in workers {
        worker.wait().expect("ended");
    }
}

/// Nothing runs while a loop waits, so no keeper could start a worker.
#[test]
fn i04_a_wait_outlives_its_worker_and_ends_by_itself() {
    let scene = Scene::new(&["one"]);
    scene.env.write(
        "agents/implement.sh",
        format!(
            "echo x >> \"$STARTS\"\n[ \"$(wc -l < \"$STARTS\")\" -gt 1 ] || exit 75\n{}",
            crate::scene::IMPLEMENT
        ),
    );
    scene.configure("[retry]\nwait = 3\n");
    scene.start(&[]);
    scene.wait_for(&["waiting"]);
    let workers = || {
        let of_worker = |pid: &Pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains("serve")
        };
        processes_with(&scene.home())
            .into_iter()
            .filter(of_worker)
            .collect::<Vec<Pid>>()
    };
    let killed = workers();
    assert!(!killed.is_empty(), "a worker was at work");
    for pid in killed {
        let _ = rustix::process::kill_process(pid, Signal::KILL);
    }
    let view = scene.wait_for(&["completed"]);
    assert_eq!(
        (
            &view["stories"][0]["status"],
            &view["stories"][0]["attempts"]
        ),
        (&"passed".into(), &1.into())
    );
}
