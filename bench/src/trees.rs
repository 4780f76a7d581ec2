//! What a loop costs by the size of its repository: a quartet story with agents that end at once, and
//! a second one, each beside one `git clone --shared` of the same repository in the same run.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use journal::Journal;
use kernel::Event;

use crate::driven::{program, succeed};
use crate::talk::{Outcome, say};

/// Files of the repositories, unless arguments say otherwise.
const SIZES: [usize; 4] = [200, 5_000, 20_000, 100_000];

const RUNNER: &str = "n=0; code=0\nfor test in tests/*.sh; do n=$((n + 1)); name=$(basename \"$test\" .sh)\n\
    if sh \"$test\" > /dev/null 2>&1; then echo \"ok $n - $name\"; else echo \"not ok $n - $name\"; code=1; fi\ndone\n\
    echo \"1..$n\"; exit $code\n";
const AGENT: &str = r#"cat > /dev/null
story=$LOOPWRIGHT_STORY_ID
case "$LOOPWRIGHT_STAGE" in
  implement) echo 'echo $(($1 * 2))' > "$story.sh" ;;
  write-tests) echo "[ \"\$(sh $story.sh 4)\" = 8 ]" > "tests/$story.sh"; echo '{"summary": "one"}' ;;
  review) echo '{"summary": "seen", "criteria": [], "findings": []}' ;;
  judge) echo "{\"verdict\": \"PASS\", \"commit\": \"$LOOPWRIGHT_CANDIDATE\", \"reason\": \"r\", \"criteria\": [{\"criterion\": \"$story doubles\", \"pass\": true, \"evidence\": \"seen\"}]}" ;;
esac
"#;

/// `bench trees [FILES…]`; with `host` among the arguments agents run on the host, where trees are
/// copied.
pub(crate) fn run(arguments: &[String]) -> Outcome<()> {
    let is_jailed = !arguments.iter().any(|word| word == "host");
    let sizes: Vec<usize> = arguments
        .iter()
        .filter_map(|word| word.parse().ok())
        .collect();
    let sizes = if sizes.is_empty() {
        SIZES.to_vec()
    } else {
        sizes
    };
    let (kind, demanded) = if is_jailed {
        ("bwrap", 3.0)
    } else {
        ("host", 6.0)
    };
    say(&format!(
        "quartet stories with instant agents ({kind}), in seconds and beside one `git clone --shared`"
    ));
    // Nothing is removed before the end: for a minute after many files were removed, ext4 looks at each
    // of their numbers again before it makes a new one, and whoever comes next would be charged for it.
    let mut kept = Vec::new();
    for n_files in sizes {
        let scratch = tempfile::tempdir()?;
        let figures = measure(scratch.path(), n_files, kind)?;
        kept.push(scratch);
        let (first, second) = (
            figures.first / figures.clone,
            figures.second / figures.clone,
        );
        let holds = if first <= demanded { "yes" } else { "NO" };
        say(&format!(
            "{n_files:>7} files: clone {:6.2}   first story {:6.2} ({first:5.2}×; demanded: at most {demanded}×; holds: {holds})   second story {:6.2} ({second:5.2}×)",
            figures.clone, figures.first, figures.second
        ));
    }
    Ok(())
}

/// Seconds.
struct Figures {
    clone: f64,
    first: f64,
    second: f64,
}

fn measure(folder: &Path, n_files: usize, kind: &str) -> Outcome<Figures> {
    project(folder, n_files)?;
    let before = clone(folder, "clone-before")?;
    let (first, second) = stories(folder, kind)?;
    // Before and after: the machine may be busier at one time than at the other.
    let clone = f64::midpoint(before, clone(folder, "clone-after")?);
    Ok(Figures {
        clone,
        first,
        second,
    })
}

fn project(folder: &Path, n_files: usize) -> Outcome<()> {
    let project = folder.join("project");
    fs::create_dir_all(project.join("tests"))?;
    let story = |id: &str| {
        format!(
            r#"{{"id":"{id}","title":"Double","acceptance_criteria":["{id} doubles"],"passes":false}}"#
        )
    };
    let prd = format!(r#"{{"stories":[{},{}]}}"#, story("one"), story("two"));
    for number in 0..n_files {
        let parent = project.join(format!("part-{:03}", number / 100));
        if number % 100 == 0 {
            fs::create_dir_all(&parent)?;
        }
        let text = format!("line of file {number}\n").repeat(10);
        fs::write(parent.join(format!("file-{number:05}.txt")), text)?;
    }
    fs::write(project.join("run-tests.sh"), RUNNER)?;
    fs::write(project.join("tests/old.sh"), "true\n")?;
    fs::write(project.join("prd.json"), prd)?;
    fs::write(project.join("agent.sh"), AGENT)?;
    workspace::init_repository(&project, "start")?;
    let roles: String = ["implementor", "reviewer", "judge"]
        .iter()
        .map(|role| format!("[roles.{role}]\nagent = \"any\"\n"))
        .collect();
    let config = format!(
        "[agents.any]\ncommand = [\"sh\", \"agent.sh\"]\n{roles}[checks]\ntest = \"sh run-tests.sh\"\nmutants = 0\n\
         [loop]\nparallel = 1\n"
    );
    fs::write(project.join("loopwright.toml"), config)?;
    Ok(())
}

fn clone(folder: &Path, name: &str) -> Outcome<f64> {
    let to = folder.join(name);
    let start = Instant::now();
    let mut git = Command::new("git");
    git.args(["clone", "--quiet", "--shared"]);
    succeed(git.arg(folder.join("project")).arg(&to))?;
    Ok(start.elapsed().as_secs_f64())
}

/// Both stories through the program: the first from the start of the loop, the second from where the
/// first was announced.
fn stories(folder: &Path, kind: &str) -> Outcome<(f64, f64)> {
    let mut command = Command::new(program()?);
    command.args(["start", "--project", "project", "--prd", "project/prd.json"]);
    command.args(["--flow", "quartet", "--foreground", "--json"]);
    command
        .current_dir(folder)
        .env("HOME", folder)
        .env("LOOPWRIGHT_HOME", folder.join("home"))
        .env("LOOPWRIGHT_SANDBOX_KIND", kind);
    let output = command.output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stdout).into_owned().into());
    }
    let journal = Journal::open(&folder.join("home"))?;
    let loops = journal.loops()?;
    let loop_id = &loops.first().ok_or("no loop was recorded")?.loop_id;
    let records = home::load(&journal, loop_id)?.records;
    let start = records.first().ok_or("an empty loop")?.at_ms;
    let announced: Vec<i64> = records
        .iter()
        .filter(|record| matches!(record.event, Event::Announced { .. }))
        .map(|record| record.at_ms)
        .collect();
    let [first, second] = announced[..] else {
        return Err("not both stories were accepted".into());
    };
    let secs = |from: i64, to: i64| Outcome::Ok(f64::from(i32::try_from(to - from)?) / 1000.0);
    Ok((secs(start, first)?, secs(first, second)?))
}
