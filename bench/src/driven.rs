//! The program driven from outside, as people drive it: found, started, asked, and ended by pid
//! with everything that it started. No type of the engine is used here, so that two builds of the
//! program can be measured with the same measurement.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use serde_json::Value;

use crate::talk::Outcome;

/// Names another build of the program than the one beside this one.
const PROGRAM_VARIABLE: &str = "BENCH_PROGRAM";
/// The longest that anything is waited for.
const PATIENCE: Duration = Duration::from_mins(5);

const IMPLEMENT: &str =
    "cat > /dev/null\necho \"work of $LOOPWRIGHT_STORY_ID\" > \"$LOOPWRIGHT_STORY_ID.txt\"\n";
const SLEEP: &str = "cat > /dev/null\nexec sleep 900\n";
const PRD: &str = r#"{"stories":[{"id":"s1","title":"One","acceptance_criteria":["it is there"],"passes":false}]}"#;

/// What the scripted implementor of a project does.
#[derive(Clone, Copy)]
pub(crate) enum Agent {
    /// Writes one file and ends.
    Instant,
    /// Sleeps until it is ended.
    Sleeper,
}

/// A scratch folder with projects and state folders. When it is dropped, every process is ended
/// whose environment names it.
pub(crate) struct Place {
    program: PathBuf,
    scratch: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Outcome<Self> {
        let place = Self {
            program: program()?,
            scratch: tempfile::tempdir()?,
        };
        fs::write(place.path("instant.sh"), IMPLEMENT)?;
        fs::write(place.path("sleeper.sh"), SLEEP)?;
        Ok(place)
    }

    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// A committed project of so many small files, 100 to a folder, and of `first`, the file that a
    /// checkout writes first.
    pub(crate) fn project(
        &self,
        name: &str,
        agent: Agent,
        first: &str,
        n_files: usize,
    ) -> Outcome<()> {
        let folder = self.path(name);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(first), "the first of all\n")?;
        for number in 1..n_files {
            let parent = folder.join(format!("part-{:03}", number / 100));
            fs::create_dir_all(&parent)?;
            let text = format!("line of file {number}\n").repeat(10);
            fs::write(parent.join(format!("file-{number:05}.txt")), text)?;
        }
        for arguments in [
            &["init", "--quiet"][..],
            &["add", "--all"],
            &["commit", "--quiet", "--message", "start"],
        ] {
            succeed(self.git().arg("-C").arg(&folder).args(arguments))?;
        }
        let script = match agent {
            Agent::Instant => self.path("instant.sh"),
            Agent::Sleeper => self.path("sleeper.sh"),
        };
        let config = format!(
            "[agents.builder]\ncommand = [\"sh\", \"{}\"]\n[roles.implementor]\nagent = \"builder\"\n\
             [roles.judge]\nagent = \"builder\"\n[checks]\ntest = \"true\"\n",
            script.display()
        );
        fs::write(folder.join("loopwright.toml"), config)?;
        Ok(())
    }

    /// A `git` that knows nobody's configuration.
    pub(crate) fn git(&self) -> Command {
        git(self.scratch.path())
    }

    /// The program on one of the state folders.
    pub(crate) fn command(&self, home: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .current_dir(self.scratch.path())
            .env("HOME", self.scratch.path())
            .env("LOOPWRIGHT_HOME", self.path(home))
            .env("LOOPWRIGHT_SANDBOX_KIND", "host")
            .stdin(Stdio::null());
        command
    }

    /// What the program answers with `--json`.
    pub(crate) fn ask(&self, home: &str, arguments: &[&str]) -> Outcome<Value> {
        let output = self.command(home, arguments).arg("--json").output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        let answer: Value = serde_json::from_str(&said)
            .map_err(|error| format!("`{}`: {error}: {said}", arguments.join(" ")))?;
        if answer["ok"] == true {
            Ok(answer["result"].clone())
        } else {
            Err(format!("`{}`: {}", arguments.join(" "), answer["error"]).into())
        }
    }

    /// Starts a loop on a project, with a fresh PRD, and returns its id.
    pub(crate) fn start(&self, home: &str, project: &str, more: &[&str]) -> Outcome<String> {
        let prd = format!("{home}-{project}.json");
        fs::write(self.path(&prd), PRD)?;
        let usual = [
            "start",
            "--project",
            project,
            "--prd",
            &prd,
            "--flow",
            "solo",
        ];
        let view = self.ask(home, &[&usual[..], more].concat())?;
        Ok(view["loopId"]
            .as_str()
            .ok_or("a loop without an id")?
            .to_owned())
    }

    /// A worker for one of the state folders, once it says that it is at work.
    pub(crate) fn serve(&self, home: &str) -> Outcome<Child> {
        let log = self.path(&format!("{home}.log"));
        let written = fs::File::create(&log)?;
        let child = self
            .command(home, &["serve"])
            .stdout(written.try_clone()?)
            .stderr(written)
            .spawn()?;
        // A build that says nothing is given two seconds.
        let begun = Instant::now();
        while fs::metadata(&log)?.len() == 0 && begun.elapsed() < Duration::from_secs(2) {
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(child)
    }

    /// Waits until a loop has this status, and returns its view.
    pub(crate) fn wait_for(
        &self,
        home: &str,
        loop_id: &str,
        status: &str,
        pause: Duration,
    ) -> Outcome<Value> {
        until(&format!("{status} of the loop in `{home}`"), pause, || {
            let view = self.ask(home, &["status", loop_id])?;
            match view["status"].as_str() {
                Some(found) if found == status => Ok(Some(view)),
                Some("completed" | "cancelled" | "failed") => {
                    Err(format!("the loop in `{home}` is not {status}: {view}").into())
                }
                _ => Ok(None),
            }
        })
    }

    /// Ends every process of one of the state folders, each by its pid.
    pub(crate) fn end_those_of(&self, home: &str) -> Outcome<()> {
        end_all(&self.path(home))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = end_all(self.scratch.path());
    }
}

/// The program that is measured: the one beside this one, unless the environment names another.
pub(crate) fn program() -> Outcome<PathBuf> {
    if let Some(path) = std::env::var_os(PROGRAM_VARIABLE) {
        return Ok(fs::canonicalize(path)?);
    }
    let program = std::env::current_exe()?.with_file_name("loopwright");
    if program.exists() {
        Ok(program)
    } else {
        Err("build `loopwright` in the same profile first".into())
    }
}

/// A `git` that is at home in this folder.
pub(crate) fn git(home: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .args(["-c", "user.name=x", "-c", "user.email=x@localhost"])
        .env("HOME", home)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(Stdio::null());
    command
}

/// The living processes whose environment names this folder.
pub(crate) fn processes_of(folder: &Path) -> Outcome<Vec<Pid>> {
    let wanted = folder.display().to_string();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")?.flatten() {
        let number = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        if String::from_utf8_lossy(&environment).contains(&wanted) {
            found.extend(number.and_then(Pid::from_raw));
        }
    }
    Ok(found)
}

/// One that is ended may just have started another, so all are looked for again.
fn end_all(folder: &Path) -> Outcome<()> {
    until(
        "the end of all processes",
        Duration::from_millis(20),
        || {
            let left = processes_of(folder)?;
            for process in &left {
                let _ = rustix::process::kill_process(*process, Signal::KILL);
            }
            Ok(left.is_empty().then_some(()))
        },
    )
}

/// Something was waited for in vain.
#[derive(Debug)]
pub(crate) struct NotSeen(String);

impl std::error::Error for NotSeen {}

impl std::fmt::Display for NotSeen {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            "not seen within {} s: {}",
            PATIENCE.as_secs(),
            self.0
        )
    }
}

/// Looks until something is there, and gives up after [`PATIENCE`] with [`NotSeen`].
pub(crate) fn until<T>(
    what: &str,
    pause: Duration,
    mut look: impl FnMut() -> Outcome<Option<T>>,
) -> Outcome<T> {
    let begun = Instant::now();
    loop {
        if let Some(found) = look()? {
            return Ok(found);
        }
        if begun.elapsed() > PATIENCE {
            return Err(NotSeen(what.to_owned()).into());
        }
        std::thread::sleep(pause);
    }
}

pub(crate) fn succeed(command: &mut Command) -> Outcome<()> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)).into())
}

/// The middle one of some figures, the upper one of two; NaN of none.
pub(crate) fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}
