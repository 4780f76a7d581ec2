//! A plain shell loop as the peer: the same scripted agents on the same stories, one after the
//! other, with a commit after each that the judge lets pass; no journal, no checkouts, no keepers,
//! nothing after a crash.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::driven::program;
use crate::loops::millis;
use crate::talk::{Outcome, say};

const STORIES: usize = 10;

const IMPLEMENT: &str =
    "cat > /dev/null\necho \"work of $LOOPWRIGHT_STORY_ID\" > \"$LOOPWRIGHT_STORY_ID.txt\"\n";
const JUDGE: &str = "cat > /dev/null\necho \"{\\\"verdict\\\": \\\"PASS\\\", \\\"commit\\\": \\\"$LOOPWRIGHT_CANDIDATE\\\", \\\"criteria\\\": [{\\\"criterion\\\": \\\"it is there\\\", \\\"pass\\\": true, \\\"evidence\\\": \\\"seen\\\"}]}\"\n";

/// What people run when they have nothing else.
const RALPH: &str = r#"set -e
for number in $(seq 0 $((STORIES - 1))); do
  export LOOPWRIGHT_STORY_ID="s$number"
  while :; do
    echo "do story $LOOPWRIGHT_STORY_ID" | sh "$AGENTS/implement.sh"
    test -f README || continue
    git add -A
    git commit -q -m "feat: $LOOPWRIGHT_STORY_ID"
    export LOOPWRIGHT_CANDIDATE=$(git rev-parse HEAD)
    git show HEAD | sh "$AGENTS/judge.sh" | grep -q PASS && break
    git reset -q --hard HEAD~1
  done
done
"#;

pub(crate) fn run() -> Outcome<()> {
    let (mut ours, mut theirs) = (Duration::MAX, Duration::MAX);
    for _ in 0..3 {
        let scratch = tempfile::tempdir()?;
        write_agents(scratch.path())?;
        theirs = theirs.min(shell_loop(scratch.path())?);
        ours = ours.min(our_loop(scratch.path())?);
    }
    let each = |time: Duration| millis(time) / 10.0;
    say(&format!(
        "{STORIES} stories with scripted agents: loopwright {:.0} ms a story, a plain shell loop {:.0} ms; what durability costs a story: {:.0} ms",
        each(ours),
        each(theirs),
        each(ours) - each(theirs)
    ));
    Ok(())
}

fn write_agents(folder: &Path) -> Outcome<()> {
    std::fs::create_dir_all(folder.join("agents"))?;
    std::fs::write(folder.join("agents/implement.sh"), IMPLEMENT)?;
    std::fs::write(folder.join("agents/judge.sh"), JUDGE)?;
    Ok(())
}

fn project(folder: &Path, name: &str) -> Outcome<std::path::PathBuf> {
    let project = folder.join(name);
    std::fs::create_dir_all(&project)?;
    std::fs::write(project.join("README"), "a project\n")?;
    workspace::init_repository(&project, "start")?;
    Ok(project)
}

fn shell_loop(folder: &Path) -> Outcome<Duration> {
    let project = project(folder, "theirs")?;
    let started = Instant::now();
    let mut command = Command::new("bash");
    command
        .args(["-c", RALPH])
        .current_dir(&project)
        .env("STORIES", STORIES.to_string());
    command
        .env("AGENTS", folder.join("agents"))
        .env("GIT_CONFIG_GLOBAL", "/dev/null");
    for role in ["AUTHOR", "COMMITTER"] {
        command
            .env(format!("GIT_{role}_NAME"), "x")
            .env(format!("GIT_{role}_EMAIL"), "x@localhost");
    }
    if !command.status()?.success() {
        return Err("the shell loop failed".into());
    }
    Ok(started.elapsed())
}

fn our_loop(folder: &Path) -> Outcome<Duration> {
    let project = project(folder, "ours")?;
    let agents = folder.join("agents");
    let stories: Vec<String> = (0..STORIES)
        .map(|number| format!(r#"{{"id":"s{number}","title":"Story {number}","acceptance_criteria":["it is there"],"passes":false}}"#))
        .collect();
    std::fs::write(
        project.join("prd.json"),
        format!("{{\"stories\":[{}]}}\n", stories.join(",")),
    )?;
    let config = format!(
        "[agents.builder]\ncommand = [\"sh\", \"{0}/implement.sh\"]\n[agents.judge]\ncommand = [\"sh\", \"{0}/judge.sh\"]\n\
         [roles.implementor]\nagent = \"builder\"\n[roles.judge]\nagent = \"judge\"\n[checks]\ntest = \"test -f README\"\n",
        agents.display()
    );
    std::fs::write(project.join("loopwright.toml"), config)?;
    let started = Instant::now();
    let mut command = Command::new(program()?);
    command
        .args([
            "start",
            "--foreground",
            "--prd",
            "prd.json",
            "--project",
            ".",
        ])
        .current_dir(&project);
    command
        .env("LOOPWRIGHT_HOME", folder.join("state"))
        .env("LOOPWRIGHT_SANDBOX_KIND", "host")
        .env("LOOPWRIGHT_WAKE", "off");
    let status = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    if !status.success() {
        return Err(format!("our loop ended with {status}").into());
    }
    Ok(started.elapsed())
}
