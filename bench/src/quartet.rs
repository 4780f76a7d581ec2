//! A quartet story with two agents of equal length beside one of them and the checks: implementor
//! and test writer overlap.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use journal::Journal;
use kernel::{Event, Stage};

use crate::driven::program;
use crate::loops::millis;
use crate::talk::{Outcome, say};

/// How long the implementor works, and the test writer too.
const AGENT_SECS: u32 = 3;
/// How often each is measured, in turns; the best counts.
const ROUNDS: u32 = 3;

const RUNNER: &str = "n=0; code=0\nfor test in tests/*.sh; do n=$((n + 1)); name=$(basename \"$test\" .sh)\n\
    if sh \"$test\" > /dev/null 2>&1; then echo \"ok $n - $name\"; else echo \"not ok $n - $name\"; code=1; fi\ndone\n\
    sleep 0.3; echo \"1..$n\"; exit $code\n";
const AGENT: &str = r#"cat > /dev/null
case "$LOOPWRIGHT_STAGE" in
  implement) sleep SECS; echo 'echo $(($1 * 2))' > double.sh ;;
  write-tests) sleep SECS; echo '[ "$(sh double.sh 4)" = 8 ]' > tests/double.sh; echo '{"summary": "one"}' ;;
  review) echo '{"summary": "seen", "criteria": [], "findings": []}' ;;
  judge) echo "{\"verdict\": \"PASS\", \"commit\": \"$LOOPWRIGHT_CANDIDATE\", \"reason\": \"r\", \"criteria\": [{\"criterion\": \"it doubles\", \"pass\": true, \"evidence\": \"seen\"}]}" ;;
esac
"#;

pub(crate) fn run() -> Outcome<()> {
    let program = program()?;
    let scratch = tempfile::tempdir()?;
    let (mut whole, mut apart) = (Duration::MAX, Duration::MAX);
    let mut best = f64::MAX;
    for round in 0..ROUNDS {
        let folder = scratch.path().join(round.to_string());
        project(&folder)?;
        apart = apart.min(agent_and_checks(&folder)?);
        whole = whole.min(story(&program, &folder)?);
        best = best.min(beside_its_own_parts(&folder.join("home"))?);
    }
    let ratio = whole.as_secs_f64() / apart.as_secs_f64();
    say(&format!(
        "a quartet story with two agents of {AGENT_SECS} s each: {:.0} ms; one of them and the same checks: {:.0} ms ({ratio:.2}×)",
        millis(whole),
        millis(apart)
    ));
    say(&format!(
        "the same story beside its own implementor's run and its own runs of the checks, by the journal: {best:.2}×"
    ));
    Ok(())
}

/// From the plan of the story to its last verdict, over the implementor and the checks of the same
/// run.
fn beside_its_own_parts(home: &Path) -> Outcome<f64> {
    let journal = Journal::open(home)?;
    let loop_id = journal
        .loops()?
        .first()
        .ok_or("no loop was recorded")?
        .loop_id
        .clone();
    let (mut planned, mut judged, mut started, mut parts) = (0, 0, BTreeMap::new(), 0);
    for record in home::load(&journal, &loop_id)?.records {
        match record.event {
            Event::StoryPlanned { .. } => planned = record.at_ms,
            Event::RunStarted { run } => drop(started.insert(run.stage, record.at_ms)),
            Event::RunEnded { run, .. } => {
                judged = record.at_ms;
                if run.stage.is_check() || run.stage == Stage::Implement {
                    parts +=
                        record.at_ms - started.get(&run.stage).ok_or("a run that never started")?;
                }
            }
            _ => {}
        }
    }
    Ok(f64::from(i32::try_from(judged - planned)?) / f64::from(i32::try_from(parts)?))
}

fn project(folder: &Path) -> Outcome<()> {
    fs::create_dir_all(folder.join("project/tests"))?;
    for (name, text) in [
        ("project/run-tests.sh", RUNNER.to_owned()),
        ("project/tests/old.sh", "true\n".to_owned()),
        ("project/prd.json", r#"{"stories":[{"id":"double","title":"Double","acceptance_criteria":["it doubles"],"passes":false}]}"#.to_owned()),
        ("agent.sh", AGENT.replace("SECS", &AGENT_SECS.to_string())),
    ] {
        fs::write(folder.join(name), text)?;
    }
    workspace::init_repository(&folder.join("project"), "start")?;
    let agent = folder.join("agent.sh");
    let roles: String = ["implementor", "reviewer", "judge"]
        .iter()
        .map(|role| format!("[roles.{role}]\nagent = \"any\"\n"))
        .collect();
    let config = format!(
        "[agents.any]\ncommand = [\"sh\", \"{}\"]\n{roles}[checks]\ntest = \"sh run-tests.sh\"\n",
        agent.display()
    );
    fs::write(folder.join("project/loopwright.toml"), config)?;
    Ok(())
}

/// One agent, and the test command on each of the trees that a verdict needs: base, base with the
/// tests, candidate.
fn agent_and_checks(folder: &Path) -> Outcome<Duration> {
    let copy = folder.join("copy");
    let status = Command::new("cp")
        .arg("-r")
        .arg(folder.join("project"))
        .arg(&copy)
        .status()?;
    assert!(status.success(), "the project is copied");
    let start = Instant::now();
    let mut agent = Command::new("sh");
    agent
        .arg(folder.join("agent.sh"))
        .env("LOOPWRIGHT_STAGE", "implement")
        .current_dir(&copy);
    agent.stdin(std::process::Stdio::null()).status()?;
    for _ in 0..3 {
        Command::new("sh")
            .arg("run-tests.sh")
            .current_dir(&copy)
            .output()?;
    }
    Ok(start.elapsed())
}

/// The story through the program, from its start to its end.
fn story(program: &Path, folder: &Path) -> Outcome<Duration> {
    let mut command = Command::new(program);
    command.args([
        "start",
        "--project",
        "project",
        "--prd",
        "project/prd.json",
        "--flow",
        "quartet",
    ]);
    command.args(["--foreground", "--json"]).current_dir(folder);
    command
        .env("HOME", folder)
        .env("LOOPWRIGHT_HOME", folder.join("home"))
        .env("LOOPWRIGHT_SANDBOX_KIND", "host");
    let start = Instant::now();
    let output = command.output()?;
    let took = start.elapsed();
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stdout).into_owned().into());
    }
    Ok(took)
}
