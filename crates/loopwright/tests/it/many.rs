//! Many loops at the same time through the program, and ends in the middle of each role.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use engine::{Execution, GitRepositories, KeptRuns, Limits, Ports, Worker};
use home::Home;
use journal::Journal;
use testkit::git;

use crate::prepared::prepared_as;
use crate::scene::{IMPLEMENT, JUDGE, Scene, processes_with, wait_until};

/// Agents that may run at once, over all loops.
const AGENTS_MAX: usize = 4;

/// An agent that marks its start and its end in a log of its own making, from outside of our
/// journal.
fn marked(scene: &Scene, body: &str) -> String {
    let marks = scene.env.path("marks");
    format!(
        "echo \"start $LOOPWRIGHT_RUN_ID\" >> {0}\n{body}echo \"end $LOOPWRIGHT_RUN_ID\" >> {0}\n",
        marks.display()
    )
}

/// How many agents there were at once, at most.
fn most_at_once(scene: &Scene) -> usize {
    let (mut now, mut most) = (BTreeSet::new(), 0);
    for line in scene.env.read("marks").lines() {
        match line.split_once(' ').expect("two words") {
            ("start", run) => assert!(now.insert(run.to_owned()), "{run} was started twice"),
            (_, run) => assert!(now.remove(run), "{run} ended without a start"),
        }
        most = most.max(now.len());
    }
    assert!(now.is_empty(), "left: {now:?}");
    most
}

#[test]
fn ten_loops_on_ten_projects_and_two_on_one_share_the_slots_without_a_collision() {
    let scene = Scene::new(&["one", "two"]);
    // The first implementor waits for another one, so that two are at work at the same time for
    // certain.
    let met = scene.env.path("met");
    fs::create_dir(&met).expect("a folder");
    let rendezvous = format!(
        "touch {0}/$LOOPWRIGHT_LOOP_ID\nuntil [ \"$(ls {0} | wc -l)\" -gt 1 ]; do sleep 0.05; done\n",
        met.display()
    );
    scene.env.write(
        "agents/implement.sh",
        marked(&scene, &(rendezvous + IMPLEMENT)),
    );
    scene.env.write("agents/judge.sh", marked(&scene, JUDGE));
    let mut projects: Vec<String> = (0..9).map(|number| format!("project-{number}")).collect();
    for project in &projects {
        for name in ["prd.json", "README", "loopwright.toml"] {
            scene.env.write(
                &format!("{project}/{name}"),
                scene.env.read(&format!("project/{name}")),
            );
        }
        testkit::init(&scene.env.path(project), &["README", "prd.json"]);
    }
    // The tenth project has two loops, on two PRDs.
    scene
        .env
        .write("project/other.json", scene.env.read("project/prd.json"));
    projects.push("project".to_owned());
    let mut wanted: Vec<(String, String)> = projects
        .iter()
        .map(|project| (project.clone(), format!("{project}/prd.json")))
        .collect();
    wanted.push(("project".to_owned(), "project/other.json".to_owned()));
    let ids: Vec<String> = wanted
        .iter()
        .map(|(project, prd)| {
            let answer = scene
                .env
                .run(&["start", "--project", project, "--prd", prd, "--json"]);
            answer.json()["result"]["loopId"]
                .as_str()
                .expect("an id")
                .to_owned()
        })
        .collect();
    let journal = Journal::open(&scene.home()).expect("a journal");
    wait_until("the end of all loops", || {
        let heads = journal.heads().expect("a journal");
        let is_over = |head: &journal::LoopHead| head.last_kind.as_deref() == Some("loop-ended");
        heads.iter().all(is_over).then_some(())
    });
    for (id, (project, prd)) in ids.iter().zip(&wanted) {
        let subjects = git(
            &scene.env.path(project),
            &["log", "--format=%s", &format!("agent-loop/{id}")],
        );
        let expected = format!(
            "feat: [{id}] [two] attempt-1 — Story two\nfeat: [{id}] [one] attempt-1 — Story one\nstart"
        );
        assert_eq!(subjects, expected, "{project}");
        assert_eq!(
            scene.env.read(prd).matches("\"passes\": true").count(),
            2,
            "{prd}"
        );
    }
    let branches = git(
        &scene.env.path("project"),
        &["for-each-ref", "refs/heads/agent-loop"],
    );
    assert_eq!(
        branches.lines().count(),
        2,
        "two loops on one project have a branch each"
    );
    let most = most_at_once(&scene);
    assert!((2..=AGENTS_MAX).contains(&most), "{most} agents at once");
}

/// The program, as a keeper that wakes no worker: the test alone says when there is one.
fn quiet_keeper(scene: &Scene) -> PathBuf {
    let program = env!("CARGO_BIN_EXE_loopwright");
    scene.env.write(
        "keeper.sh",
        format!("#!/bin/sh\nLOOPWRIGHT_WAKE=off exec {program} \"$@\"\n"),
    );
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(scene.env.path("keeper.sh"), mode).expect("mode set");
    scene.env.path("keeper.sh")
}

/// A worker in this very process, with room for one agent and one check.
fn take_worker(scene: &Scene, program: &std::path::Path) -> Worker {
    let home = Home::at(scene.home());
    let ports = Ports {
        home: home.clone(),
        program: program.to_owned(),
        clock: Arc::new(home::now_ms),
        runs: Box::new(KeptRuns::new(program.to_owned())),
        repositories: Box::new(GitRepositories::new(home)),
    };
    let log = Arc::new(Journal::open(&scene.home()).expect("a journal"));
    let limits = Limits {
        agents_max: 1,
        checks_max: 1,
    };
    Worker::take(ports, log, limits, Execution::Threads).expect("a worker")
}

#[test]
fn a_new_worker_counts_the_agents_that_it_adopts() {
    let scene = Scene::new(&["one"]);
    let gate = scene.env.path("gate");
    let wait = format!("while [ ! -f {} ]; do sleep 0.05; done\n", gate.display());
    scene.env.write(
        "agents/implement.sh",
        marked(&scene, &format!("{wait}{IMPLEMENT}")),
    );
    let take = || take_worker(&scene, &quiet_keeper(&scene));
    // The loop with the later name has the one slot when the worker dies.
    let later = prepared_as(&scene, "01BBBBBBBBBBBBBBBBBBBBBBBB");
    let has_marks = || fs::exists(scene.env.path("marks")).expect("a look");
    take().run(|_, _| has_marks()).expect("turns");
    let earlier = prepared_as(&scene, "01AAAAAAAAAAAAAAAAAAAAAAAA");
    let mut n_turns = 0;
    let mut worker = take();
    let few_turns = |_: &Worker, _| {
        n_turns += 1;
        n_turns > 20
    };
    worker.run(few_turns).expect("turns");
    assert_eq!(
        scene.env.read("marks").lines().count(),
        1,
        "the slot is taken by the run that was adopted"
    );
    fs::write(&gate, "").expect("written");
    worker
        .run(|worker, _| {
            worker
                .tracked(&earlier)
                .or(worker.tracked(&later))
                .is_none()
        })
        .expect("turns");
    assert_eq!(most_at_once(&scene), 1);
}

#[test]
fn i11_a_worker_and_its_agents_end_when_their_folder_is_taken_away() {
    let scene = Scene::new(&["one"]);
    scene
        .env
        .write("agents/implement.sh", marked(&scene, "sleep 300\n"));
    scene.start(&[]);
    wait_until("the agent", || {
        fs::exists(scene.env.path("marks"))
            .expect("a look")
            .then_some(())
    });
    wait_until("the folder's end", || {
        let _ = fs::remove_dir_all(scene.home());
        (!scene.home().exists()).then_some(())
    });
    wait_until("the end of all processes", || {
        processes_with(&scene.home()).is_empty().then_some(())
    });
}

/// A child that ignores the signal, and a grandchild in a session of its own that does so too.
const STUBBORN: &str = "trap '' TERM\nsetsid sh -c 'trap \"\" TERM; sleep 300 & wait' &\necho half > half.txt\ntouch RUNNING\nsleep 300 & wait\nsleep 300\n";

fn cancel_during(role: &str) {
    let scene = Scene::new(&["one", "two"]);
    let running = scene.env.path("running");
    let stubborn = STUBBORN.replace("RUNNING", &running.display().to_string());
    match role {
        "baseline" | "check" => {
            let calm = if role == "check" {
                "[ -f one.txt ] || exit 0\n"
            } else {
                ""
            };
            scene
                .env
                .write("agents/check.sh", format!("{calm}{stubborn}"));
            let check = scene.env.path("agents/check.sh");
            scene.configure(&format!("[checks]\ntest = \"sh {}\"\n", check.display()));
        }
        role => scene.env.write(&format!("agents/{role}.sh"), stubborn),
    }
    let id = scene.start(&["--json"]).json()["result"]["loopId"]
        .as_str()
        .expect("an id")
        .to_owned();
    wait_until("the run", || running.exists().then_some(()));
    assert_eq!(
        scene.env.run(&["cancel", &id, "--reason", "enough"]).exit,
        0,
        "{role}"
    );
    let view = scene.wait_for(&["cancelled"]);
    assert_eq!(view["reason"], "enough", "{role}");
    let folder = scene.home().join("loops").join(&id);
    assert!(
        processes_with(&folder.join("runs")).is_empty(),
        "{role}: a process of the run is left"
    );
    assert!(
        !folder.join("checkouts").exists(),
        "{role}: the checkout is gone"
    );
    assert_kept(&folder.join("repo.git"), role);
    let events = scene.env.run(&["events", &id]).stdout;
    let names: Vec<&str> = events
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(
        names[names.len() - 2..],
        ["agent/loop.cancel", "agent/loop.complete"],
        "{role}: {events}"
    );
    // A worker that looks again finds nothing more to do, and the operator has nothing of it.
    assert_eq!(scene.env.run(&["resume", &id]).exit, 2, "{role}");
    assert_eq!(scene.env.run(&["events", &id]).stdout, events, "{role}");
    assert!(
        scene
            .git(&["for-each-ref", "refs/heads/agent-loop"])
            .is_empty(),
        "{role}"
    );
    assert_eq!(
        fs::read_dir(folder.join("runs")).expect("runs").count(),
        n_runs(role),
        "{role}"
    );
}

#[test]
fn i11_a_cancel_during_the_baseline_leaves_nothing_running_and_says_no_more() {
    cancel_during("baseline");
}

#[test]
fn i11_a_cancel_during_an_implementors_run_leaves_nothing_running_and_says_no_more() {
    cancel_during("implement");
}

#[test]
fn i11_a_cancel_during_a_check_leaves_nothing_running_and_says_no_more() {
    cancel_during("check");
}

#[test]
fn i11_a_cancel_during_a_judges_run_leaves_nothing_running_and_says_no_more() {
    cancel_during("judge");
}

fn n_runs(role: &str) -> usize {
    ["baseline", "implement", "check", "judge"]
        .iter()
        .position(|one| *one == role)
        .expect("a role")
        + 1
}

/// The work is kept: as it stood when the implementor was stopped, or as the candidate that was
/// looked at.
fn assert_kept(repository: &std::path::Path, role: &str) {
    let (reference, file) = match role {
        "baseline" => return,
        "implement" => ("refs/loopwright/cancelled/one/1", "half.txt"),
        _ => ("refs/loopwright/candidates/one/1", "one.txt"),
    };
    let files = git(repository, &["ls-tree", "--name-only", reference]);
    assert!(files.lines().any(|name| name == file), "{role}: {files}");
}
