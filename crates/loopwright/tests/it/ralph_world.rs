//! Eight `ralph`s in eight worktrees of one repository, and somebody who kills loops and agents at
//! random. Every task is completed exactly once, none before what it depends on, and nothing is left
//! claimed by the dead.
//!
//! CI plays a few seeds of a small graph, the soak (`LOOPWRIGHT_SOAK=1`) fifty of a hundred tasks.
//! `LOOPWRIGHT_RALPH_SEED=N` plays one.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

use journal::Journal;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use testkit::{Random, git, number};

use crate::ralph::Scene;
use crate::sample::is_soak;

const RALPHS: usize = 8;

/// Says who works on a task, and complains if somebody else does at the same time. A number alone does not
/// tell who: on a busy machine another process has it soon, and the dead keep theirs until they are buried.
const AGENT: &str = r#"cat > /dev/null
began() {
  text=$(cat "/proc/$1/stat" 2>/dev/null) || return
  set -- ${text##*) }
  case $1 in Z|X) ;; *) echo "${20}" ;; esac
}
live="$LIVE/$LOOPWRIGHT_TASK_ID"
if ! mkdir "$live" 2>/dev/null; then
  other=$(cat "$live/pid" 2>/dev/null); since=$(cat "$live/began" 2>/dev/null)
  if [ -n "$other" ] && [ -n "$since" ] && [ "$(began "$other")" = "$since" ]; then echo "$LOOPWRIGHT_TASK_ID" >> "$LIVE/overlap"; fi
fi
began $$ > "$live/began"; echo $$ > "$live/pid"
loopwright task complete "$LOOPWRIGHT_TASK_ID" > /dev/null
rm -rf "$live"
"#;

#[test]
fn ralphs_that_are_killed_complete_every_task_once() {
    let (n_seeds, n_tasks, n_kills) = if is_soak() { (50, 100, 40) } else { (2, 20, 6) };
    let one = number("LOOPWRIGHT_RALPH_SEED", 0);
    let seeds = if one > 0 {
        one..one + 1
    } else {
        1..n_seeds + 1
    };
    for seed in seeds {
        World::new(seed, n_tasks).play(n_kills);
    }
}

struct World {
    scene: Scene,
    random: Random,
    seed: u64,
    depends_on: BTreeMap<String, Vec<String>>,
    trees: Vec<PathBuf>,
    agent: String,
}

impl World {
    fn new(seed: u64, n_tasks: usize) -> Self {
        let mut random = Random::new(seed);
        let mut depends_on = BTreeMap::new();
        let (mut nodes, mut edges) = (String::from("nodes:\n"), String::from("edges:\n"));
        for task in 0..n_tasks {
            // Writing to a String cannot fail.
            let _ = writeln!(nodes, "  - {{id: T{task}, title: Task, status: pending}}");
            let mut on = BTreeSet::new();
            for _ in 0..random.below(3_usize).min(task) {
                on.insert(format!("T{}", random.below(task)));
            }
            for from in &on {
                let _ = writeln!(edges, "  - {{from: {from}, to: T{task}}}");
            }
            depends_on.insert(format!("T{task}"), on.into_iter().collect());
        }
        if edges == "edges:\n" {
            "edges: []\n".clone_into(&mut edges);
        }
        let scene = Scene::new(&format!("{nodes}{edges}"));
        std::fs::create_dir(scene.env.path("live")).expect("a folder");
        let agent = scene.agent("agent.sh", AGENT);
        let trees = (0..RALPHS).map(|n| {
            let name = format!("wt{n}");
            let path = scene.env.path(&name);
            let words = [
                "worktree",
                "add",
                "-q",
                "-b",
                &name,
                &path.display().to_string(),
            ];
            git(&scene.repo(), &words);
            path
        });
        let trees = trees.collect();
        Self {
            scene,
            random,
            seed,
            depends_on,
            trees,
            agent,
        }
    }

    fn start(&self, index: usize) -> Child {
        let words = [
            "ralph",
            "--agent",
            &self.agent,
            "--pause",
            "0",
            "--on-failure",
            "retry:5",
            "--no-verify",
        ];
        let mut command = self.scene.env.command(&words);
        command
            .current_dir(&self.trees[index])
            .env("LIVE", self.scene.env.path("live"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.spawn().expect("started")
    }

    fn play(mut self, mut n_kills: u32) {
        let mut ralphs: Vec<Option<Child>> = (0..RALPHS).map(|n| Some(self.start(n))).collect();
        while ralphs.iter().any(Option::is_some) {
            let wait = self.random.below(120_u64);
            std::thread::sleep(Duration::from_millis(wait));
            if n_kills > 0 {
                n_kills -= 1;
                let index = self.random.below(RALPHS);
                if self.random.chance(50) {
                    self.kill_an_agent();
                } else if let Some(ralph) = &mut ralphs[index] {
                    let _ = ralph.kill();
                }
            }
            for (index, slot) in ralphs.iter_mut().enumerate() {
                let ended = slot
                    .as_mut()
                    .and_then(|ralph| ralph.try_wait().expect("asked"));
                match ended.map(|status| status.code()) {
                    None => {}
                    Some(Some(0)) => *slot = None,
                    // Killed, or ended because of a task that was kept for a person.
                    Some(_) => *slot = Some(self.start(index)),
                }
            }
        }
        self.check();
    }

    /// Kills whoever says to work on a task.
    fn kill_an_agent(&mut self) {
        let entries = std::fs::read_dir(self.scene.env.path("live")).expect("a folder");
        let pids = entries.flatten().filter_map(|entry| {
            let text = std::fs::read_to_string(entry.path().join("pid")).ok()?;
            Pid::from_raw(text.trim().parse().ok()?)
        });
        let pids: Vec<Pid> = pids.collect();
        if !pids.is_empty() {
            let _ = kill_process(*self.random.pick(&pids), Signal::KILL);
        }
    }

    /// What must be true, by the store's own records.
    fn check(&self) {
        let seed = self.seed;
        assert!(
            !self.scene.env.path("live/overlap").exists(),
            "two agents at once, seed {seed}"
        );
        let mut done: BTreeSet<String> = BTreeSet::new();
        let mut held: BTreeSet<String> = BTreeSet::new();
        for (kind, task) in self.records() {
            match kind.as_str() {
                "TaskClaimed" => {
                    let on = &self.depends_on[&task];
                    assert!(
                        on.iter().all(|on| done.contains(on)),
                        "{task} early, seed {seed}"
                    );
                    assert!(!done.contains(&task), "{task} again, seed {seed}");
                    held.insert(task);
                }
                "TaskCompleted" => {
                    held.remove(&task);
                    assert!(done.insert(task.clone()), "{task} twice, seed {seed}");
                }
                "TaskFailed" | "ClaimReleased" => {
                    held.remove(&task);
                }
                _ => {}
            }
        }
        assert_eq!(done.len(), self.depends_on.len(), "seed {seed}");
        assert!(held.is_empty(), "left claimed: {held:?}, seed {seed}");
    }

    fn records(&self) -> Vec<(String, String)> {
        let stores = self.scene.env.path(".local/state/loopwright/tasks");
        let store = std::fs::read_dir(stores).expect("stores").flatten().next();
        let journal = Journal::open(&store.expect("a store").path()).expect("a journal");
        let records = journal.read("graph:task-graph.yaml", 0).expect("records");
        let task = |body: &str| {
            let value: Value = serde_json::from_str(body).expect("JSON");
            value["task"].as_str().unwrap_or_default().to_owned()
        };
        let pairs = records.into_iter();
        pairs
            .map(|record| (record.kind.clone(), task(&record.body)))
            .collect()
    }
}
