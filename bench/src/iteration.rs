//! One iteration of the plain loop with an agent that does nothing: claim, prompt, agent, log, complete.
//! The peer is ralph-orchestrator, which is installed from the registry into `target/tools`, in a pinned
//! version. What a start costs is left out: the time of many iterations less that of one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::driven::program;
use crate::loops::millis;
use crate::talk::{Outcome, say};

const PEER: (&str, &str) = ("ralph-cli", "2.10.1");
const ITERATIONS: u32 = 21;
const ROUNDS: u32 = 3;

/// Counts itself, so that only what really ran is divided by.
const OURS: &str = "cat > /dev/null\necho x >> \"$COUNT\"\nloopwright task complete \"$LOOPWRIGHT_TASK_ID\" > /dev/null\n";
const THEIRS: &str = "#!/bin/sh\ncat > /dev/null\necho x >> \"$COUNT\"\necho done\n";

pub(crate) fn run() -> Outcome<()> {
    let peer = peer()?;
    let (mut ours, mut theirs) = (Best::default(), Best::default());
    for _ in 0..ROUNDS {
        ours.take(our_loop)?;
        theirs.take(|folder, n| their_loop(&peer, folder, n))?;
    }
    let (ours, theirs) = (ours.each(), theirs.each());
    say(&format!(
        "an iteration with an instant agent: loopwright {:.0} ms, {} {} {:.0} ms; ratio {:.2}, wanted at most 0.50",
        millis(ours),
        PEER.0,
        PEER.1,
        millis(theirs),
        ours.as_secs_f64() / theirs.as_secs_f64()
    ));
    Ok(())
}

/// The best times of one iteration and of many. Each is the best by itself: a slow start in one of two times
/// would otherwise make their difference small.
#[derive(Default)]
struct Best {
    one: Option<Duration>,
    many: Option<Duration>,
}

impl Best {
    fn take(&mut self, play: impl Fn(&Path, u32) -> Outcome<Duration>) -> Outcome<()> {
        for (best, n) in [(&mut self.one, 1), (&mut self.many, ITERATIONS)] {
            let scratch = tempfile::tempdir()?;
            let time = play(scratch.path(), n)?;
            let counted = fs::read_to_string(scratch.path().join("count")).unwrap_or_default();
            let counted = u32::try_from(counted.lines().count())?;
            if counted != n {
                return Err(format!("{counted} iterations instead of {n}").into());
            }
            *best = Some(best.map_or(time, |known| known.min(time)));
        }
        Ok(())
    }

    /// The time of one iteration.
    fn each(&self) -> Duration {
        let (one, many) = (self.one.unwrap_or_default(), self.many.unwrap_or_default());
        many.saturating_sub(one) / (ITERATIONS - 1)
    }
}

fn our_loop(folder: &Path, n_tasks: u32) -> Outcome<Duration> {
    let project = project(folder)?;
    let nodes: String = (0..n_tasks)
        .map(|n| format!("  - {{id: T-{n}, title: Task {n}, status: ready}}\n"))
        .collect();
    fs::write(project.join("task-graph.yaml"), format!("nodes:\n{nodes}"))?;
    let agent = folder.join("agent.sh");
    fs::write(&agent, OURS)?;
    let mut command = Command::new(program()?);
    command
        .args(["ralph", "--pause", "0", "--sandbox", "host", "--no-verify"])
        .arg("--agent")
        .arg(format!("sh {}", agent.display()))
        .env("LOOPWRIGHT_HOME", folder.join("state"));
    timed(command.current_dir(&project), folder)
}

fn their_loop(peer: &Path, folder: &Path, n: u32) -> Outcome<Duration> {
    use std::os::unix::fs::PermissionsExt as _;
    let project = project(folder)?;
    let agent = folder.join("agent.sh");
    fs::write(&agent, THEIRS)?;
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755))?;
    let config = format!(
        "event_loop:\n  prompt_file: PROMPT.md\n  completion_promise: LOOP_COMPLETE\n  max_iterations: {n}\n  max_runtime_seconds: 600\n\
         cli:\n  backend: custom\n  command: {}\n  prompt_mode: stdin\nfeatures:\n  preflight:\n    enabled: false\n",
        agent.display()
    );
    fs::write(project.join("ralph.yml"), config)?;
    fs::write(project.join("PROMPT.md"), "Do nothing.\n")?;
    let mut command = Command::new(peer);
    command.args(["run", "--autonomous", "--config", "ralph.yml"]);
    timed(command.current_dir(&project), folder)
}

/// Runs a loop to its end. How it ends is its own affair: a limit of iterations is an error to some.
fn timed(command: &mut Command, folder: &Path) -> Outcome<Duration> {
    let home = folder.join("home");
    fs::create_dir_all(&home)?;
    command
        .env("COUNT", folder.join("count"))
        .env("HOME", home)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let began = Instant::now();
    command.status()?;
    Ok(began.elapsed())
}

fn project(folder: &Path) -> Outcome<PathBuf> {
    let project = folder.join("project");
    fs::create_dir_all(&project)?;
    fs::write(project.join("README"), "a project\n")?;
    workspace::init_repository(&project, "start")?;
    Ok(project)
}

/// The peer's program; installed if it is not there.
fn peer() -> Outcome<PathBuf> {
    let own = std::env::current_exe()?;
    let target = own
        .ancestors()
        .nth(2)
        .ok_or("this program is in no target folder")?;
    let root = target.join("tools").join(format!("{}-{}", PEER.0, PEER.1));
    let program = root.join("bin/ralph");
    if !program.exists() {
        say(&format!(
            "installing {} {} into {}",
            PEER.0,
            PEER.1,
            root.display()
        ));
        let installed = Command::new("cargo")
            .args(["install", PEER.0, "--version", PEER.1, "--locked", "--root"])
            .arg(&root)
            .status()?;
        if !installed.success() {
            return Err(format!("{} {} cannot be installed", PEER.0, PEER.1).into());
        }
    }
    Ok(program)
}
