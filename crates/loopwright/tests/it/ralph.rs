//! The task-graph loop with scripted agents: real processes, real claims, real signals. Each failure
//! of the loop that came before ours has a test with its number.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::Value;

use crate::support::{Answer, TestEnv};

/// Two tasks, the second after the first.
const TWO: &str = "nodes:
  - {id: T-1, title: First, status: ready}
  - {id: T-2, title: Second, status: pending}
edges:
  - {from: T-1, to: T-2}
";

/// An agent that does what it is asked.
const GOOD: &str =
    "cat > /dev/null\nloopwright task complete \"$LOOPWRIGHT_TASK_ID\" > /dev/null\n";

/// A repository with a graph, and agents beside it.
pub(crate) struct Scene {
    pub(crate) env: TestEnv,
}

impl Scene {
    pub(crate) fn new(graph: &str) -> Self {
        let env = TestEnv::new();
        env.write("repo/task-graph.yaml", graph);
        testkit::init(&env.path("repo"), &["task-graph.yaml"]);
        Self { env }
    }

    /// Writes an agent, and gives the command that starts it.
    pub(crate) fn agent(&self, name: &str, script: &str) -> String {
        self.env.write(name, script);
        format!("sh {}", self.env.path(name).display())
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.env.path("repo")
    }

    pub(crate) fn run(&self, words: &[&str]) -> Answer {
        let mut command = self.env.command(words);
        let output = self.env.output(command.current_dir(self.repo()));
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8 output");
        Answer {
            exit: output.status.code().unwrap_or(-1),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    fn ralph(&self, agent: &str, more: &[&str]) -> Answer {
        self.run(&[&["ralph", "--agent", agent, "--pause", "0"], more].concat())
    }

    /// The same in the background.
    fn start(&self, agent: &str, more: &[&str]) -> Child {
        let words = [&["ralph", "--agent", agent, "--pause", "0"], more].concat();
        let mut command = self.env.command(&words);
        command
            .current_dir(self.repo())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.spawn().expect("started")
    }

    fn log(&self) -> Vec<Value> {
        let text = self.env.read("repo/logs/ralph.jsonl");
        let line = |line: &str| serde_json::from_str(line).expect("a line of JSON");
        text.lines().map(line).collect()
    }

    /// The actions of the log with their tasks.
    fn actions(&self) -> Vec<String> {
        let words = |line: &Value| {
            let task = line["task_id"].as_str().unwrap_or("-");
            format!("{} {task}", line["action"].as_str().unwrap_or_default())
        };
        self.log().iter().map(words).collect()
    }

    fn states(&self) -> String {
        let answer = self.run(&["task", "status", "--json"]).json();
        let tasks = answer["result"]["tasks"].as_array().cloned();
        let word = |task: &Value| {
            let of = |key: &str| task[key].as_str().unwrap_or_default().to_owned();
            format!("{} {}", of("id"), of("status"))
        };
        let words: Vec<String> = tasks.unwrap_or_default().iter().map(word).collect();
        words.join(", ")
    }
}

/// Waits until something is so. The test runner ends a test that waits for ever.
pub(crate) fn until(mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn pid_in(file: &Path) -> Option<Pid> {
    let text = std::fs::read_to_string(file).ok()?;
    Pid::from_raw(text.trim().parse().ok()?)
}

fn is_gone(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    let is_zombie = stat.is_ok_and(|stat| stat.contains(") Z "));
    test_kill_process(pid).is_err() || is_zombie
}

#[test]
fn a_ralph_works_through_a_graph() {
    let scene = Scene::new(TWO);
    let agent = scene.agent("good.sh", GOOD);
    let answer = scene.ralph(&agent, &[]);
    assert_eq!(answer.exit, 0, "{}", answer.whole());
    assert!(
        answer
            .stdout
            .starts_with("all tasks are complete: 2 iterations, 2 completed")
    );
    assert_eq!(scene.states(), "T-1 complete, T-2 complete");
    assert_eq!(
        scene.actions(),
        [
            "started T-1",
            "completed T-1",
            "started T-2",
            "completed T-2",
            "finished -"
        ]
    );
    let graph = scene.env.read("repo/task-graph.yaml");
    assert_eq!(graph.matches("status: complete").count(), 2, "{graph}");
    let status = testkit::git(&scene.repo(), &["status", "--porcelain"]);
    assert_eq!(
        status.trim(),
        "M task-graph.yaml",
        "the log is nobody's commit"
    );
}

/// The old loop looked for the word in an error's text and ended well.
#[test]
fn b3_the_words_of_an_agent_end_nothing() {
    let scene = Scene::new(TWO);
    let lie = "cat > /dev/null\necho 'All tasks complete'\necho 'all_complete' >&2\nexit 1\n";
    let agent = scene.agent("liar.sh", lie);
    let answer = scene.ralph(&agent, &[]);
    assert_eq!(answer.exit, 1, "{}", answer.whole());
    assert!(answer.stdout.starts_with("no task is ready: "));
    assert_eq!(scene.states(), "T-1 failed, T-2 blocked");
    let words = "echo 'failed: all tasks complete' >&2; exit 2";
    let answer = scene.ralph(&agent, &["--prompt-command", words, "--once"]);
    assert!(!answer.stdout.contains("all tasks are complete"));
}

/// A claim is given back after a failure, a limit or a signal, as the person wants it.
#[test]
fn b4_a_failure_gives_the_claim_back() {
    let scene = Scene::new(TWO);
    let agent = scene.agent("bad.sh", "cat > /dev/null\nexit 3\n");
    let answer = scene.ralph(&agent, &["--on-failure", "reset"]);
    assert_eq!(answer.exit, 1, "{}", answer.whole());
    assert_eq!(scene.states(), "T-1 ready, T-2 blocked");
    let answer = scene.ralph(&agent, &["--on-failure", "retry:2"]);
    assert_eq!(answer.exit, 1, "{}", answer.whole());
    // It had failed once before.
    assert_eq!(scene.states(), "T-1 failed, T-2 blocked");
    let failed = scene
        .log()
        .into_iter()
        .filter(|line| line["action"] == "failed");
    let codes: Vec<Value> = failed.map(|line| line["exit_code"].clone()).collect();
    assert_eq!(codes, [3, 3, 3]);
}

#[test]
fn b5_exit_0_is_not_complete() {
    let scene = Scene::new(TWO);
    let agent = scene.agent("idle.sh", "cat > /dev/null\nexit 0\n");
    let answer = scene.ralph(&agent, &[]);
    assert_eq!(answer.exit, 1, "{}", answer.whole());
    assert_eq!(scene.states(), "T-1 failed, T-2 blocked");
    // And what is complete stays so, whatever the exit code.
    let late = format!("{GOOD}exit 7\n");
    let agent = scene.agent("late.sh", &late);
    scene.run(&["task", "reset", "T-1"]);
    let answer = scene.ralph(&agent, &[]);
    assert_eq!(answer.exit, 0, "{}", answer.whole());
}

#[test]
fn b6_iterations_and_a_tasks_time_have_limits() {
    let scene = Scene::new(TWO);
    let agent = scene.agent("good.sh", GOOD);
    let answer = scene.ralph(&agent, &["--max-iterations", "1"]);
    assert_eq!(answer.exit, 0, "{}", answer.whole());
    assert_eq!(scene.states(), "T-1 complete, T-2 ready");
    let slow = format!(
        "cat > /dev/null\nsleep 600 &\necho $! > {}\nwait\n",
        scene.env.path("sleeper").display()
    );
    let agent = scene.agent("slow.sh", &slow);
    let answer = scene.ralph(&agent, &["--task-timeout", "1s", "--once"]);
    assert_eq!(answer.exit, 1, "{}", answer.whole());
    assert_eq!(scene.states(), "T-1 complete, T-2 failed");
    let sleeper = pid_in(&scene.env.path("sleeper")).expect("a process");
    assert!(is_gone(sleeper), "the whole tree is ended");
    let beat = scene.env.read("repo/logs/ralph.heartbeat");
    assert!(beat.starts_with("20") && beat.ends_with("Z\n"), "{beat}");
}

/// The agent ends only when it has seen the heart beat twice while it was at work.
#[test]
fn b6_the_heart_beats_while_a_task_runs() {
    let scene = Scene::new(TWO);
    let script = format!(
        "for beat in 1 2; do old=$(cat logs/ralph.heartbeat)\n\
         while [ \"$(cat logs/ralph.heartbeat)\" = \"$old\" ]; do sleep 0.01; done; done\n{GOOD}"
    );
    let agent = scene.agent("waiting.sh", &script);
    let answer = scene.ralph(&agent, &["--heartbeat", "20ms", "--once"]);
    assert_eq!(answer.exit, 0, "{}", answer.whole());
    assert_eq!(scene.states(), "T-1 complete, T-2 ready");
}

/// With several at once each agent has a checkout, a branch and the history to look at; what it made is on
/// the branch of its task and on that of all, and the person's checkout is as it was.
#[test]
fn an_agent_of_several_has_a_branch_and_the_history() {
    let scene = Scene::new("nodes:\n  - {id: T-1, title: One}\n  - {id: T-2, title: Two}\n");
    testkit::git(
        &scene.repo(),
        &["commit", "-q", "--allow-empty", "-m", "second"],
    );
    let head = testkit::git(&scene.repo(), &["rev-parse", "HEAD"]);
    let seen = scene.env.path("seen").display().to_string();
    let script = format!(
        "cat > /dev/null\n\
         echo \"$(git branch --show-current) $(git rev-list --count HEAD) $(git status --porcelain | wc -l)\" >> {seen}\n\
         echo \"$LOOPWRIGHT_TASK_ID\" > \"$LOOPWRIGHT_TASK_ID.txt\"\n\
         git add -A && git commit -q -m mine\n\
         loopwright task complete \"$LOOPWRIGHT_TASK_ID\" > /dev/null\n"
    );
    let agent = scene.agent("par.sh", &script);
    // One after the other, so that the second sees what the first has landed.
    let first = scene.ralph(&agent, &["--parallel", "2", "--story", "T-1"]);
    assert_eq!(first.exit, 0, "{}", first.whole());
    let second = scene.ralph(&agent, &["--parallel", "2", "--story", "T-2"]);
    assert_eq!(second.exit, 0, "{}", second.whole());
    assert_eq!(scene.env.read("seen"), "ralph/T-1 2 0\nralph/T-2 2 0\n");
    assert_eq!(scene.states(), "T-1 complete, T-2 complete");
    for id in ["T-1", "T-2"] {
        let file = format!("ralph/{id}:{id}.txt");
        assert_eq!(testkit::git(&scene.repo(), &["show", &file]), id);
    }
    let line = "the work is on the branch ralph/";
    let branch = first
        .stdout
        .lines()
        .find_map(|found| found.strip_prefix(line));
    let branch = format!("ralph/{}", branch.expect("a branch"));
    assert_eq!(
        testkit::git(&scene.repo(), &["rev-parse", &branch, "ralph/T-1"])
            .lines()
            .count(),
        2
    );
    let subjects = testkit::git(&scene.repo(), &["log", "--format=%s", "-2", &branch]);
    assert_eq!(subjects, "feat: [T-1] One\nsecond");
    assert_eq!(testkit::git(&scene.repo(), &["rev-parse", "HEAD"]), head);
    let status = testkit::git(&scene.repo(), &["status", "--porcelain"]);
    assert_eq!(status.trim(), "M task-graph.yaml", "the words of the plan");
}

#[test]
fn a_signal_ends_the_agent_and_gives_the_claim_back() {
    for (signal, exit) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let scene = Scene::new(TWO);
        let file = scene.env.path("agent");
        let script = format!(
            "cat > /dev/null\necho $$ > {}\nexec sleep 600\n",
            file.display()
        );
        let agent = scene.agent("slow.sh", &script);
        let mut ralph = scene.start(&agent, &[]);
        until(|| pid_in(&file).is_some());
        assert_eq!(scene.states(), "T-1 in_progress, T-2 blocked");
        kill_process(Pid::from_child(&ralph), signal).expect("sent");
        let status = ralph.wait().expect("ended");
        assert_eq!(status.code(), Some(exit));
        let graph = scene.env.read("repo/task-graph.yaml");
        assert_eq!(graph, TWO, "the word of the claim is taken back");
        let answer = scene.run(&["task", "status"]);
        assert!(!answer.stdout.contains("Stale"), "{}", answer.whole());
        assert!(is_gone(pid_in(&file).expect("a pid")), "the agent is gone");
        assert_eq!(scene.states(), "T-1 ready, T-2 blocked");
        let actions = scene.actions();
        assert!(
            actions.contains(&"interrupted T-1".to_owned()),
            "{actions:?}"
        );
    }
}

/// `kill -9` of the loop: its agent ends by itself, and whoever comes next takes the task over.
#[test]
fn b4_a_killed_ralph_is_taken_over() {
    let scene = Scene::new(TWO);
    let file = scene.env.path("agent");
    let script = format!(
        "cat > /dev/null\necho $$ > {}\nexec sleep 600\n",
        file.display()
    );
    let agent = scene.agent("slow.sh", &script);
    let mut ralph = scene.start(&agent, &[]);
    until(|| pid_in(&file).is_some());
    ralph.kill().expect("killed");
    ralph.wait().expect("ended");
    assert_eq!(scene.states(), "T-1 ready, T-2 blocked");
    let good = scene.agent("good.sh", GOOD);
    let answer = scene.ralph(&good, &[]);
    assert_eq!(answer.exit, 0, "{}", answer.whole());
    assert!(
        is_gone(pid_in(&file).expect("a pid")),
        "the old agent is gone"
    );
    assert_eq!(scene.states(), "T-1 complete, T-2 complete");
}

/// A plan with one task.
fn one_task(scene: &Scene, file: &str, task: &str) {
    let text = format!("nodes:\n  - {{id: {task}, title: One, status: ready}}\n");
    scene.env.write(&format!("repo/{file}"), text);
}

/// Claims are numbered per plan, and a repository may have several plans: their runs must not meet.
#[test]
fn the_second_plan_of_a_repository_runs() {
    let scene = Scene::new(TWO);
    let agent = scene.agent("good.sh", GOOD);
    for (file, task) in [("a.yaml", "T-1"), ("b.yaml", "T-2")] {
        one_task(&scene, file, task);
        let answer = scene.ralph(&agent, &["--prd", file]);
        assert_eq!(answer.exit, 0, "{file}: {}", answer.whole());
    }
    // What is left there from a store that was put back is in nobody's way either.
    let store = std::fs::read_dir(scene.env.path(".local/state/loopwright/tasks"));
    let store = store.expect("a store").flatten().next().expect("a store");
    for entry in std::fs::read_dir(store.path()).expect("files").flatten() {
        if entry.file_name().to_string_lossy().starts_with("journal") {
            std::fs::remove_file(entry.path()).expect("removed");
        }
    }
    one_task(&scene, "b.yaml", "T-2");
    let answer = scene.ralph(&agent, &["--prd", "b.yaml"]);
    assert_eq!(answer.exit, 0, "{}", answer.whole());
}

/// A command that is named addresses the plan that was named, and not the usual one.
#[test]
fn hints_carry_the_plan_that_was_named() {
    let scene = Scene::new(TWO);
    one_task(&scene, "b.yaml", "T-1");
    let agent = scene.agent("bad.sh", "cat > /dev/null\nexit 3\n");
    let plan = ["--prd", "b.yaml"];
    let answer = scene.ralph(&agent, &plan);
    let hint = "`loopwright task reset ID --prd b.yaml` makes";
    assert!(answer.stderr.contains(hint), "{}", answer.whole());
    let status = scene.run(&[&["task", "status"], &plan[..]].concat());
    let hint = "`loopwright task reset T-1 --prd b.yaml` makes it available again";
    assert!(status.stdout.contains(hint), "{}", status.whole());
    let next = scene.run(&[&["task", "next", "--json"], &plan[..]].concat());
    let next = next.json()["next_actions"][0]["command"].clone();
    assert_eq!(next, "loopwright task status --prd b.yaml");
    let reset = scene.run(&["task", "reset", "T-1", "--prd", "b.yaml"]);
    assert_eq!(reset.exit, 0, "{}", reset.whole());
    let good = scene.agent("good.sh", GOOD);
    assert_eq!(scene.ralph(&good, &plan).exit, 0);
    let claim = scene.run(&["task", "claim", "T-1", "--prd", "b.yaml"]);
    let hint = "`loopwright task reset T-1 --prd b.yaml`";
    assert!(claim.stderr.contains(hint), "{}", claim.whole());
    let usual = scene.run(&["task", "status"]);
    assert!(!usual.stdout.contains("--prd"), "{}", usual.whole());
}

/// Whoever takes a task over ends the runs of the dead, and nobody else's of the same number.
#[test]
fn two_plans_at_the_same_time_leave_each_other_alone() {
    let scene = Scene::new(TWO);
    one_task(&scene, "a.yaml", "T-1");
    one_task(&scene, "b.yaml", "T-2");
    let (began, go) = (scene.env.path("began-"), scene.env.path("go"));
    let script = format!(
        "echo $$ > {}$LOOPWRIGHT_TASK_ID\nwhile [ ! -f {} ]; do sleep 0.02; done\n{GOOD}",
        began.display(),
        go.display()
    );
    let slow = scene.agent("slow.sh", &script);
    let mut first = scene.start(&slow, &["--prd", "a.yaml"]);
    until(|| pid_in(&scene.env.path("began-T-1")).is_some());
    let mut second = scene.start(&slow, &["--prd", "b.yaml"]);
    until(|| pid_in(&scene.env.path("began-T-2")).is_some());
    second.kill().expect("killed");
    second.wait().expect("ended");
    let good = scene.agent("good.sh", GOOD);
    let answer = scene.ralph(&good, &["--prd", "b.yaml"]);
    assert_eq!(answer.exit, 0, "{}", answer.whole());
    std::fs::write(&go, "").expect("written");
    let status = first.wait().expect("ended");
    assert_eq!(status.code(), Some(0), "its agent was left alone");
}

/// The checks decide, not the agent; an agent that worked and forgot to say so is completed by them.
#[test]
fn red_checks_complete_nothing() {
    let scene = Scene::new(TWO);
    scene.env.write(
        "repo/loopwright.toml",
        "[checks]\ntest = \"test -f green\"\n",
    );
    let agent = scene.agent("good.sh", GOOD);
    let answer = scene.ralph(&agent, &[]);
    assert_eq!(answer.exit, 1, "{}", answer.whole());
    assert_eq!(scene.states(), "T-1 failed, T-2 blocked");
    assert!(
        answer.stderr.contains("the check test is red"),
        "{}",
        answer.whole()
    );
    scene.run(&["task", "reset", "T-1"]);
    let agent = scene.agent(
        "mute.sh",
        "cat > /dev/null\ntouch green $LOOPWRIGHT_TASK_ID\n",
    );
    let answer = scene.ralph(&agent, &[]);
    assert_eq!(answer.exit, 0, "{}", answer.whole());
    assert_eq!(scene.states(), "T-1 complete, T-2 complete");
}

/// A plan that cannot be read is an error in the log, and the loop goes on when it is mended.
#[test]
fn a_broken_graph_is_waited_for() {
    let scene = Scene::new("nodes: [ # all tasks complete\n");
    let agent = scene.agent("good.sh", GOOD);
    let mut ralph = scene.start(&agent, &[]);
    until(|| scene.env.path("repo/logs/ralph.jsonl").exists());
    scene.env.write("repo/task-graph.yaml", TWO);
    let status = ralph.wait().expect("ended");
    assert_eq!(status.code(), Some(0));
    assert_eq!(scene.actions()[0], "error -");
    assert_eq!(scene.states(), "T-1 complete, T-2 complete");
}

#[test]
fn a_missing_program_is_said_before_anything_is_claimed() {
    let scene = Scene::new(TWO);
    let answer = scene.ralph("/no/such/agent", &[]);
    assert_eq!(answer.exit, 3, "{}", answer.whole());
    assert!(answer.stderr.contains("/no/such/agent"));
    assert!(answer.stderr.contains("--agent \"COMMAND\""));
    // The usual agent, on a machine that has nothing but git.
    let path = std::env::var_os("PATH").expect("a PATH");
    let mut places = std::env::split_paths(&path).map(|folder| folder.join("git"));
    let git = places.find(|path| path.is_file()).expect("git");
    std::fs::create_dir(scene.env.path("bin")).expect("made");
    std::os::unix::fs::symlink(git, scene.env.path("bin/git")).expect("linked");
    let mut command = scene.env.command(&["ralph", "--dry-run"]);
    command.env("PATH", scene.env.path("bin"));
    let usual = scene.env.output(command.current_dir(scene.repo()));
    let said = String::from_utf8_lossy(&usual.stderr);
    assert_eq!(usual.status.code(), Some(3), "{said}");
    for word in ["`claude`", "install it", "--agent \"COMMAND\""] {
        assert!(said.contains(word), "{said}");
    }
    assert_eq!(scene.states(), "T-1 ready, T-2 blocked");
}

/// Whoever reads that an agent failed wants to know what it said.
#[test]
fn an_agents_bad_end_is_told_with_its_last_line_and_where_the_rest_is() {
    for (script, last) in [
        ("echo working\necho 'I give up'\n", Some("I give up")),
        (
            "echo working\necho 'no key' >&2\necho >&2\nexit 3\n",
            Some("no key"),
        ),
        ("echo working\nexit 3\n", Some("working")),
        ("exit 0\n", None),
    ] {
        let scene = Scene::new(TWO);
        let agent = scene.agent("bad.sh", &format!("cat > /dev/null\n{script}"));
        let answer = scene.ralph(&agent, &[]);
        let status = scene.run(&["task", "status"]);
        for said in [&answer.stderr, &status.stdout] {
            let line = last.map(|last| format!("its last line: {last};"));
            let line = line.unwrap_or_else(|| "; its output is in ".to_owned());
            assert!(said.contains(&line), "{said}");
            assert_eq!(said.contains("its last line"), last.is_some(), "{said}");
            let (_, folder) = said.split_once("its output is in ").expect("a folder");
            let folder = folder.split([';', ' ', '\n']).next().unwrap_or_default();
            let output = std::fs::read_to_string(Path::new(folder).join("stdout"));
            let printed = output.unwrap_or_default();
            assert_eq!(printed.contains("working"), script.contains("working"));
        }
    }
}

/// One that waits for its own agents waits for nobody else.
#[test]
fn only_others_are_waited_for_aloud() {
    let waits = |scene: &Scene| {
        let log = std::fs::read_to_string(scene.env.path("repo/logs/ralph.jsonl"));
        log.unwrap_or_default().contains("waiting for others")
    };
    let scene = Scene::new(TWO);
    let script = format!("sleep 1\ntouch \"$LOOPWRIGHT_TASK_ID.txt\"\n{GOOD}");
    let agent = scene.agent("slow.sh", &script);
    let answer = scene.ralph(&agent, &["--parallel", "2"]);
    assert_eq!(answer.exit, 0, "{}", answer.whole());
    assert!(!answer.stderr.contains("waiting"), "{}", answer.whole());
    assert!(!waits(&scene));

    let scene = Scene::new(TWO);
    let go = scene.env.path("go");
    let script = format!(
        "while [ ! -f {} ]; do sleep 0.02; done\n{GOOD}",
        go.display()
    );
    let agent = scene.agent("slow.sh", &script);
    let mut first = scene.start(&agent, &[]);
    until(|| scene.states().starts_with("T-1 in_progress"));
    let mut second = scene.start(&agent, &[]);
    until(|| waits(&scene));
    std::fs::write(&go, "").expect("written");
    for ralph in [&mut first, &mut second] {
        assert_eq!(ralph.wait().expect("ended").code(), Some(0));
    }
}

/// What `just prompt` does: under a claim it gives the claimed task, and never another one.
#[test]
fn a_prompt_command_may_be_our_own_verb() {
    let scene = Scene::new(TWO);
    let agent = scene.agent("good.sh", GOOD);
    let command = format!("{} task next", env!("CARGO_BIN_EXE_loopwright"));
    let answer = scene.ralph(&agent, &["--prompt-command", &command]);
    assert_eq!(answer.exit, 0, "{}", answer.whole());
    assert_eq!(scene.states(), "T-1 complete, T-2 complete");
}
