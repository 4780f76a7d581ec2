//! Accepted work reaches the operator's repository, whatever stood in its way when it landed.

use rustix::process::{Signal, kill_process};
use serde_json::Value;

use crate::scene::{IMPLEMENT, JUDGE, Scene, wait_until};
use crate::sigkill::ours;

fn id_of(scene: &Scene) -> String {
    let loops = scene.status();
    loops["loopId"].as_str().expect("an id").to_owned()
}

fn branch_at(scene: &Scene, branch: &str) -> String {
    scene.git(&[
        "for-each-ref",
        "--format=%(objectname)",
        &format!("refs/heads/{branch}"),
    ])
}

/// Waits until the branch shows what the loop accepted, and the loop knows it.
fn wait_for_published(scene: &Scene) -> Value {
    let view = scene.wait_for_view("published", |view| {
        view["status"] == "completed" && view["unpublished"].is_null()
    });
    let branch = view["branch"].as_str().expect("a branch");
    assert_eq!(view["headSha"], branch_at(scene, branch), "{view}");
    view
}

/// A scene whose second story waits until the file `gate` is there.
fn gated() -> Scene {
    let scene = Scene::new(&["one", "two"]);
    let gate = scene.env.path("gate");
    scene.env.write(
        "agents/implement.sh",
        format!(
            "[ \"$LOOPWRIGHT_STORY_ID\" = two ] && while [ ! -f {} ]; do sleep 0.05; done\n{IMPLEMENT}",
            gate.display()
        ),
    );
    scene
}

#[test]
fn e02_a_ref_lock_at_the_last_story_ends_published_and_the_next_loop_is_built_on_it() {
    let scene = Scene::new(&["one"]);
    let locks = "mkdir -p \"$HEADS\"; : > \"$HEADS/$LOOPWRIGHT_LOOP_ID.lock\"\n";
    let heads = scene.env.path("project/.git/refs/heads/agent-loop");
    scene.env.write(
        "agents/judge.sh",
        format!("HEADS={}\n{locks}{JUDGE}", heads.display()),
    );
    let ended = scene.start(&["--foreground", "--json"]);
    assert_eq!(ended.exit, 1, "{}", ended.whole());
    let view = ended.json()["result"].clone();
    let why = view["unpublished"].as_str().expect("a reason");
    let id = id_of(&scene);
    let lock = heads.join(format!("{id}.lock"));
    assert!(why.contains(&lock.display().to_string()), "{why}");
    assert!(
        !why.contains('\n') && !why.contains("the loop's repository"),
        "{why}"
    );
    let said = scene.env.run(&["status", &id]);
    assert!(
        said.stdout.contains("it is published by itself"),
        "{}",
        said.whole()
    );
    assert!(scene.env.run(&["list"]).stdout.contains("not published"));
    std::fs::remove_file(lock).expect("unlocked");
    let view = wait_for_published(&scene);
    let branch = view["branch"].as_str().expect("a branch").to_owned();
    let next = scene.start(&[]);
    assert_eq!(next.exit, 2, "{}", next.whole());
    assert!(
        next.stderr.contains(&format!("--onto {branch}")),
        "{}",
        next.whole()
    );
}

#[test]
fn e02_a_branch_checked_out_until_after_the_end_is_published_by_the_next_verb() {
    let scene = gated();
    scene.start(&[]);
    let id = id_of(&scene);
    let branch = format!("agent-loop/{id}");
    wait_until("the first story", || {
        (!branch_at(&scene, &branch).is_empty()).then_some(())
    });
    scene.wait_for_view("the first story's end", |view| {
        view["stories"][0]["status"] == "passed"
    });
    let before = scene.git(&["rev-parse", "--abbrev-ref", "HEAD"]);
    scene.git(&["checkout", "--quiet", "--force", &branch]);
    scene.env.write("gate", "");
    let view = scene.wait_for(&["completed"]);
    let why = view["unpublished"].as_str().expect("a reason");
    assert!(why.contains("checked out"), "{why}");
    // While nothing can be published, `start` does not build without the work.
    let refused = scene.start(&["--dry-run", "--base", &before]);
    assert_eq!(refused.exit, 2, "{}", refused.whole());
    assert!(
        refused.stderr.contains("checked out"),
        "{}",
        refused.whole()
    );
    for worker in ours(&scene, "serve") {
        let _ = kill_process(worker, Signal::KILL);
    }
    scene.git(&["checkout", "--quiet", "--force", &before]);
    let watched = scene.env.run(&["watch", &id]);
    assert!(
        watched.exit == 0 || watched.exit == 1,
        "{}",
        watched.whole()
    );
    wait_for_published(&scene);
    let next = scene.start(&["--dry-run", "--onto", &branch]);
    assert_eq!(next.exit, 0, "{}", next.whole());
}

#[test]
fn e02_a_project_that_was_away_for_a_while_gets_its_branch_and_its_marks() {
    let scene = Scene::new(&["one"]);
    let project = scene.project();
    let away = scene.env.path("away");
    scene.env.write(
        "agents/judge.sh",
        format!("mv {} {}\n{JUDGE}", project.display(), away.display()),
    );
    scene.start(&[]);
    let view = scene.wait_for(&["completed"]);
    assert!(view["unpublished"].is_string(), "{view}");
    std::fs::rename(&away, &project).expect("back again");
    wait_for_published(&scene);
    assert!(scene.env.read("project/prd.json").contains("true"));
}

#[test]
fn a_branch_that_somebody_removed_is_made_again_when_they_ask() {
    let scene = gated();
    scene.start(&[]);
    let id = id_of(&scene);
    let branch = format!("agent-loop/{id}");
    scene.wait_for_view("the first story's end", |view| {
        view["stories"][0]["status"] == "passed"
    });
    scene.git(&["branch", "--quiet", "-D", &branch]);
    scene.env.write("gate", "");
    let view = scene.wait_for(&["completed"]);
    assert_eq!(view["unpublished"], "somebody removed the branch");
    assert_eq!(view["branchTaken"], true);
    let status = scene.env.run(&["status", &id]);
    assert!(
        status.stdout.contains("loopwright resume"),
        "{}",
        status.whole()
    );
    assert_eq!(branch_at(&scene, &branch), "", "it is left alone");
    let resumed = scene.env.run(&["resume", &id]);
    assert_eq!(resumed.exit, 0, "{}", resumed.whole());
    wait_for_published(&scene);
    let again = scene.env.run(&["resume", &id]);
    assert_eq!(
        again.exit,
        2,
        "nothing is left to publish: {}",
        again.whole()
    );
}

/// Everything in a repository that a ref could be kept in.
fn refs(scene: &Scene) -> String {
    scene.git(&["for-each-ref", "--format=%(objectname) %(refname)"])
}

/// Adds an open story to the PRD, so that there is something to start.
fn add_story_two(scene: &Scene) {
    let more = scene.env.read("project/prd.json").replace(
        "\n  ]",
        ",\n    { \"id\": \"two\", \"title\": \"Two\", \"acceptance_criteria\": [\"it is there\"], \"passes\": false }\n  ]",
    );
    scene.env.write("project/prd.json", more);
}

#[test]
fn a_dry_run_onto_a_removed_branch_plans_from_its_commit_and_changes_nothing() {
    let scene = Scene::new(&["one"]);
    assert_eq!(scene.start(&["--foreground"]).exit, 0);
    let branch = format!("agent-loop/{}", id_of(&scene));
    let head = branch_at(&scene, &branch);
    scene.git(&["branch", "--quiet", "-D", &branch]);
    add_story_two(&scene);
    let before = refs(&scene);
    let dry = scene.start(&["--dry-run", "--json", "--onto", &branch]);
    assert_eq!(dry.exit, 0, "{}", dry.whole());
    assert_eq!(dry.json()["result"]["spec"]["base"], head);
    assert_eq!(refs(&scene), before, "a dry run only looks");
    assert!(
        dry.whole().contains("is gone; `start` makes it again"),
        "{}",
        dry.whole()
    );
}

#[test]
fn a_dry_run_publishes_nothing_of_earlier_loops() {
    let scene = Scene::new(&["one"]);
    let locks = "mkdir -p \"$HEADS\"; : > \"$HEADS/$LOOPWRIGHT_LOOP_ID.lock\"\n";
    let heads = scene.env.path("project/.git/refs/heads/agent-loop");
    scene.env.write(
        "agents/judge.sh",
        format!("HEADS={}\n{locks}{JUDGE}", heads.display()),
    );
    assert_eq!(scene.start(&["--foreground"]).exit, 1);
    // A worker that is stopped publishes nothing, and keeps its place so that no other one does. A git
    // that it started waits for a lock no longer than this.
    let workers = ours(&scene, "serve");
    let signal = |signal| {
        for worker in &workers {
            let _ = kill_process(*worker, signal);
        }
    };
    signal(Signal::STOP);
    std::thread::sleep(std::time::Duration::from_millis(300));
    std::fs::remove_file(heads.join(format!("{}.lock", id_of_quietly(&scene)))).expect("unlocked");
    add_story_two(&scene);
    let before = refs(&scene);
    let dry = scene.start(&["--dry-run"]);
    assert_eq!(dry.exit, 2, "{}", dry.whole());
    assert!(dry.stderr.contains("holds one"), "{}", dry.whole());
    assert_eq!(refs(&scene), before, "a dry run only looks");
    signal(Signal::CONT);
    wait_for_published(&scene);
}

/// The newest loop's id, read without a verb that sees to what is owed.
fn id_of_quietly(scene: &Scene) -> String {
    let view = scene.wait_for_view("a loop", |view| !view["loopId"].is_null());
    view["loopId"].as_str().expect("an id").to_owned()
}

#[test]
fn a_published_branch_that_somebody_removed_is_told_and_resume_makes_it_again() {
    let scene = Scene::new(&["one"]);
    assert_eq!(scene.start(&["--foreground"]).exit, 0);
    let id = id_of(&scene);
    let branch = format!("agent-loop/{id}");
    let head = branch_at(&scene, &branch);
    let status = || scene.env.run(&["status", &id, "--json"]);
    assert!(status().json()["result"]["branchFault"].is_null());
    scene.git(&["branch", "--quiet", "-D", &branch]);
    let said = scene.env.run(&["status", &id]);
    assert!(
        said.stdout
            .contains(&format!("`loopwright resume {id}` makes it again")),
        "{}",
        said.whole()
    );
    let said = status().json();
    assert!(said["result"]["branchFault"].is_string(), "{said}");
    let next = said["next_actions"].to_string();
    assert!(
        next.contains("loopwright resume") && !next.contains("git log"),
        "{said}"
    );
    let resumed = scene.env.run(&["resume", &id]);
    assert_eq!(resumed.exit, 0, "{}", resumed.whole());
    assert!(
        resumed.stdout.contains("was made again"),
        "{}",
        resumed.whole()
    );
    assert_eq!(branch_at(&scene, &branch), head);
    assert!(status().json()["result"]["branchFault"].is_null());
    let again = scene.env.run(&["resume", &id]);
    assert_eq!(again.exit, 2, "nothing is left: {}", again.whole());
}

#[test]
fn a_branch_removed_while_its_loop_works_can_be_had_back_before_the_end() {
    let scene = gated();
    scene.start(&[]);
    let id = id_of(&scene);
    let branch = format!("agent-loop/{id}");
    scene.wait_for_view("the first story's end", |view| {
        view["stories"][0]["status"] == "passed" && view["unpublished"].is_null()
    });
    wait_until("the branch", || {
        (!branch_at(&scene, &branch).is_empty()).then_some(())
    });
    scene.git(&["branch", "--quiet", "-D", &branch]);
    let said = scene.env.run(&["status", &id]);
    assert!(said.stdout.contains("makes it again"), "{}", said.whole());
    let resumed = scene.env.run(&["resume", &id]);
    assert_eq!(resumed.exit, 0, "{}", resumed.whole());
    scene.env.write("gate", "");
    wait_for_published(&scene);
}

/// The command in these words that names a file, as a person would copy it.
fn command_with(said: &str, file: &str) -> String {
    let parts = said.split('`').skip(1).step_by(2);
    let mut commands = parts.filter(|part| part.contains(' ') && part.contains(file));
    commands.next().expect("a command").to_owned()
}

#[test]
fn a_garbled_ref_of_the_branch_is_told_with_a_command_after_which_it_goes_on_by_itself() {
    let scene = gated();
    scene.start(&[]);
    let id = id_of(&scene);
    let file = scene
        .env
        .path(&format!("project/.git/refs/heads/agent-loop/{id}"));
    scene.wait_for_view("the first story's end", |view| {
        view["stories"][0]["status"] == "passed" && view["unpublished"].is_null()
    });
    wait_until("the branch", || file.exists().then_some(()));
    std::fs::write(&file, "rubbish\n").expect("garbled");
    let mend = |said: &str| {
        let command = command_with(said, &file.display().to_string());
        let status = std::process::Command::new("sh")
            .args(["-c", &command])
            .status();
        assert!(status.expect("it runs").success(), "{command}");
    };
    // While nothing has to be published, it is told all the same.
    let early = scene.env.run(&["status", &id]);
    command_with(&early.stdout, &file.display().to_string());
    scene.env.write("gate", "");
    scene.wait_for(&["completed"]);
    let said = scene.env.run(&["status", &id]);
    assert!(said.stdout.contains("garbled"), "{}", said.whole());
    mend(&said.stdout);
    wait_for_published(&scene);
    std::fs::write(&file, "").expect("garbled");
    let refused = scene.env.run(&["resume", &id]);
    assert_eq!(refused.exit, 3, "{}", refused.whole());
    command_with(&refused.stderr, &file.display().to_string());
    let said = scene.env.run(&["status", &id, "--json"]).json();
    let next = said["next_actions"].to_string();
    assert!(
        !next.contains("resume") && !next.contains("git log"),
        "{next}"
    );
    let said = scene.env.run(&["status", &id]);
    mend(&said.stdout);
    let said = scene.env.run(&["status", &id, "--json"]);
    assert!(
        said.json()["result"]["branchFault"].is_null(),
        "{}",
        said.whole()
    );
}

#[test]
fn start_names_the_command_that_publishes_what_a_removed_branch_kept_back() {
    let scene = gated();
    scene.start(&[]);
    let id = id_of(&scene);
    let branch = format!("agent-loop/{id}");
    scene.wait_for_view("the first story's end", |view| {
        view["stories"][0]["status"] == "passed"
    });
    scene.git(&["branch", "--quiet", "-D", &branch]);
    scene.env.write("gate", "");
    scene.wait_for(&["completed"]);
    for mode in [&["--dry-run"][..], &[]] {
        let refused = scene.start(mode);
        assert_eq!(refused.exit, 2, "{}", refused.whole());
        let hint = format!("`loopwright resume {id}` makes its branch again");
        assert!(refused.stderr.contains(&hint), "{}", refused.whole());
    }
    assert_eq!(branch_at(&scene, &branch), "", "it is left alone");
    assert_eq!(scene.env.run(&["resume", &id]).exit, 0);
    wait_for_published(&scene);
}

#[test]
fn two_loops_on_one_prd_are_started_only_if_somebody_says_so() {
    let scene = gated();
    scene.env.write(
        "agents/implement.sh",
        format!(
            "while [ ! -f {} ]; do sleep 0.05; done\n{IMPLEMENT}",
            scene.env.path("gate").display()
        ),
    );
    // Both at the same moment: one of them is refused.
    let start = || {
        let arguments = ["start", "--project", "project", "--prd", "project/prd.json"];
        scene.env.command(&arguments).output().expect("it runs")
    };
    let (first, second) = std::thread::scope(|scope| {
        let first = scope.spawn(start);
        let second = start();
        (first.join().expect("joined"), second)
    });
    let mut codes = [first.status.code(), second.status.code()];
    codes.sort_unstable();
    assert_eq!(codes, [Some(0), Some(2)]);
    let id = id_of(&scene);
    let refused = scene.start(&[]);
    assert_eq!(refused.exit, 2, "{}", refused.whole());
    assert!(
        refused.stderr.contains(&format!("loop {id} is at work on"))
            && refused.stderr.contains("--again"),
        "{}",
        refused.whole()
    );
    let again = scene.start(&["--again"]);
    assert_eq!(again.exit, 0, "{}", again.whole());
    for view in scene.env.run(&["list", "--json"]).json()["result"]["loops"]
        .as_array()
        .expect("loops")
    {
        let id = view["loopId"].as_str().expect("an id");
        assert_eq!(scene.env.run(&["cancel", id]).exit, 0);
    }
    scene.env.write("gate", "");
    scene.wait_for(&["cancelled"]);
}

#[test]
fn start_finds_accepted_work_whose_branch_somebody_removed() {
    let scene = Scene::new(&["one"]);
    assert_eq!(scene.start(&["--foreground"]).exit, 0);
    let branch = format!("agent-loop/{}", id_of(&scene));
    scene.git(&["branch", "--quiet", "-D", &branch]);
    let prd = scene.env.read("project/prd.json");
    let more = prd.replace(
        "\n  ]",
        ",\n    { \"id\": \"two\", \"title\": \"Two\", \"acceptance_criteria\": [\"it is there\"], \"passes\": false }\n  ]",
    );
    scene.env.write("project/prd.json", more);
    let stopped = scene.start(&[]);
    assert_eq!(stopped.exit, 2, "{}", stopped.whole());
    let hint = format!("`--onto {branch}` makes its branch again");
    assert!(stopped.stderr.contains(&hint), "{}", stopped.whole());
    let onto = scene.start(&["--foreground", "--json", "--onto", &branch]);
    assert_eq!(onto.exit, 0, "{}", onto.whole());
    let view = onto.json()["result"].clone();
    let files = scene.git(&[
        "ls-tree",
        "--name-only",
        view["branch"].as_str().expect("a branch"),
    ]);
    assert!(
        files.contains("one.txt") && files.contains("two.txt"),
        "{files}"
    );
}
