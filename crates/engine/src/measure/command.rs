//! One command of the project, run once in a checkout: instrumented, kept, read.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use checks::compare::Measured;
use checks::instrument::instrument_some;
use checks::results::{Format, read_results, sniff, without_root};
use home::CheckSettings;
use sandbox::{ExitCause, ExitRecord, RunSpec, RunView, StopSignal, Stream};
use workspace::TreeId;

use super::confined::{self, Purpose, Seen};
use super::lane::Lane;
use crate::fault::Fault;
use crate::ports::Repository;
use crate::run::measurement::CheckPlan;
use crate::run::project_tree::ProjectTree;
use crate::run::untracked::is_plain;
use crate::run::walls::limit_words;

/// Bytes of a command's output that are kept and read.
const OUTPUT_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Bytes of a report file that are read; runners write one line per test.
const REPORT_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// Bytes of the end of a command's output that go into the run's own log.
const SAID_BYTES_MAX: usize = 64 * 1024;

/// Runs commands, one after the other.
pub(super) struct Commands<'a> {
    pub(super) plan: &'a CheckPlan,
    pub(super) repository: &'a dyn Repository,
    pub(super) run_folder: &'a Path,
    pub(super) program: &'a Path,
    pub(super) lane: &'a Lane<'a>,
    /// Where trees are written out, if they are shown in layers.
    pub(super) store: Option<&'a Path>,
    /// How long a command may take, where that is less than the project allows.
    pub(super) wall_secs: Option<u64>,
    pub(super) n_run: usize,
}

impl Commands<'_> {
    /// Runs one check in the checkout of a tree.
    pub(super) fn run(
        &mut self,
        what: &str,
        tree: &TreeId,
        check: &CheckSettings,
    ) -> Result<Measured, Fault> {
        self.run_some(what, tree, check, &[])
    }

    /// Runs the tests of some files, where the runner can be told; else the whole check.
    pub(super) fn run_some(
        &mut self,
        what: &str,
        tree: &TreeId,
        check: &CheckSettings,
        files: &[String],
    ) -> Result<Measured, Fault> {
        self.n_run += 1;
        say(&format!("== {what}: {}", check.name));
        let place = self
            .run_folder
            .join("commands")
            .join(format!("{:02}", self.n_run));
        // A try that was interrupted starts over in a folder of its own; inside one, nothing is
        // left from before.
        fs::create_dir_all(&place).map_err(|error| Fault::io("make", &place, error))?;
        let checkout = self.lane.tree();
        let inner = checkout.join(&self.plan.subdir);
        if !is_plain(&checkout, &inner) || !inner.is_dir() {
            return Ok(refused(check, "the project's folder is gone, or a link"));
        }
        self.lane.clear_report();
        let seen = Seen::of(self.plan, self.lane);
        let command = self.instrumented(tree, check, &seen.report, files)?;
        let mut spec = self.spec(&place, &seen, &command, Purpose::of(&check.name))?;
        self.lead_cargo(&mut spec, &seen);
        let exit = self.keep(&place, &spec)?;
        let report_file = self.lane.report();
        let measured = read_measured(check, &command, &place, &report_file, &seen.checkout, &exit);
        say(sandbox::output(&place, Stream::Stdout)
            .unwrap_or_default()
            .text(SAID_BYTES_MAX, None)
            .trim_end());
        if !measured.is_green() && !sandbox::has_room(&checkout) {
            return Err(Fault::DiskFull);
        }
        say(&format!(
            "== {what}: {} ended: {}",
            check.name,
            ending(&exit)
        ));
        Ok(measured)
    }

    /// Fetches what a crate needs while the network may be used, where nobody names a setup: its checks
    /// run without one. It decides nothing: what is missing then shows in the checks.
    pub(super) fn fetch(&mut self, what: &str) -> Result<(), Fault> {
        let inner = self.lane.tree().join(&self.plan.subdir);
        let has_setup = self.plan.checks.iter().any(|check| check.name == "setup");
        if self.plan.jail.is_none() || has_setup || !inner.join("Cargo.toml").exists() {
            return Ok(());
        }
        self.run_line(what, "cargo fetch", Purpose::Setup).map(drop)
    }

    /// Runs a command of ours in the project's folder, as checks are run; returns what it said.
    pub(super) fn ask(&mut self, what: &str, line: &str) -> Result<String, Fault> {
        let place = self.run_line(what, line, Purpose::Measure)?;
        let output = sandbox::output(&place, Stream::Stdout).unwrap_or_default();
        Ok(output.text(SAID_BYTES_MAX, None))
    }

    /// The place of the runner's report, as commands see it.
    pub(super) fn report_inside(&self) -> String {
        let seen = Seen::of(self.plan, self.lane);
        seen.report.to_string_lossy().into_owned()
    }

    fn run_line(&mut self, what: &str, line: &str, purpose: Purpose) -> Result<PathBuf, Fault> {
        self.n_run += 1;
        say(&format!("== {what}: {line}"));
        let place = self
            .run_folder
            .join("commands")
            .join(format!("{:02}", self.n_run));
        fs::create_dir_all(&place).map_err(|error| Fault::io("make", &place, error))?;
        let command = Instrumented {
            line: line.to_owned(),
            env: Vec::new(),
            format: Format::ExitCode,
        };
        let seen = Seen::of(self.plan, self.lane);
        let mut spec = self.spec(&place, &seen, &command, purpose)?;
        self.lead_cargo(&mut spec, &seen);
        self.keep(&place, &spec)?;
        Ok(place)
    }

    /// Tells cargo where to build, and to keep nothing for the next build: there is none in this tree.
    fn lead_cargo(&self, spec: &mut RunSpec, seen: &Seen) {
        let checkout = self.lane.tree();
        if needs_own_build_folder(&checkout, &checkout.join(&self.plan.subdir)) {
            let folder = seen.inner.join("target").to_string_lossy().into_owned();
            spec.env.insert("CARGO_TARGET_DIR".to_owned(), folder);
            let incremental = spec.env.entry("CARGO_INCREMENTAL".to_owned());
            incremental.or_insert_with(|| "0".to_owned());
        }
    }

    fn instrumented(
        &self,
        tree: &TreeId,
        check: &CheckSettings,
        report_file: &Path,
        files: &[String],
    ) -> Result<Instrumented, Fault> {
        if check.name != "test" {
            return Ok(Instrumented {
                line: check.command.clone(),
                env: Vec::new(),
                format: Format::ExitCode,
            });
        }
        let project = ProjectTree::of(self.repository, tree, &self.plan.subdir)?;
        let report = report_file.to_string_lossy();
        let made = instrument_some(&check.command, &project, &report, files);
        Ok(Instrumented {
            line: made.command,
            env: made.env,
            format: made.format,
        })
    }

    fn spec(
        &self,
        place: &Path,
        seen: &Seen,
        command: &Instrumented,
        purpose: Purpose,
    ) -> Result<RunSpec, Fault> {
        let mut env = confined::environment(self.plan, self.lane, purpose);
        env.extend(command.env.iter().cloned());
        let jail = confined::jail(self.plan, self.lane, purpose, &mut env)?;
        Ok(RunSpec {
            run_id: place.to_string_lossy().into_owned(),
            program: "/bin/sh".to_owned(),
            // One stream, so that what a runner says about a target stands before the tests of it.
            args: vec!["-c".to_owned(), format!("( {}\n) 2>&1", command.line)],
            cwd: seen.inner.clone(),
            env,
            pass_env: Vec::new(),
            pass_env_file: None,
            marks: vec![self.lane.mark()],
            unnamed: true,
            stdin: None,
            wall_secs: self.wall_secs.map_or(self.plan.timeout_secs, |own| {
                own.min(self.plan.timeout_secs)
            }),
            idle_secs: None,
            grace_secs: 10,
            output_bytes_max: OUTPUT_BYTES_MAX,
            stop_signal: StopSignal::Term,
            ends_with: None,
            stream: None,
            takes_ports: false,
            unflushed: true,
            jail,
        })
    }

    /// Runs one command to its end, with nothing left of it afterwards.
    fn keep(&self, place: &Path, spec: &RunSpec) -> Result<ExitRecord, Fault> {
        sandbox::prepare(place, spec).map_err(|error| Fault::keeper(place, error))?;
        let mut keeper = Command::new(self.program);
        keeper
            .arg("keeper")
            .arg(place)
            .env("LOOPWRIGHT_WAKE", "off");
        keeper
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        keeper
            .status()
            .map_err(|error| Fault::io("start", self.program, error))?;
        match sandbox::look(place).map_err(|error| Fault::keeper(place, error))? {
            RunView::Ended(exit) => started(exit),
            RunView::NotStarted | RunView::Running(_) | RunView::Lost(_) | RunView::Rebooted(_) => {
                Err(Fault::transient("keep a command", "its keeper was lost"))
            }
        }
    }
}

/// The end of a command that was started. One that was not says nothing about a tree: it is no red check.
fn started(exit: ExitRecord) -> Result<ExitRecord, Fault> {
    let ExitCause::CannotStart { why, is_passing } = &exit.cause else {
        return Ok(exit);
    };
    let why = home::plain(why);
    Err(if *is_passing {
        Fault::transient("start a check", why)
    } else {
        Fault::NeedsPerson {
            what: format!("the checks cannot be started ({why})"),
            remedy: "mend that".to_owned(),
        }
    })
}

/// A command as it is run.
struct Instrumented {
    line: String,
    env: Vec<(String, String)>,
    format: Format,
}

fn read_measured(
    check: &CheckSettings,
    command: &Instrumented,
    place: &Path,
    report_file: &Path,
    checkout: &Path,
    exit: &ExitRecord,
) -> Measured {
    let root = checkout.to_string_lossy();
    let output = sandbox::output(place, Stream::Stdout).unwrap_or_default();
    let kept = usize::try_from(OUTPUT_BYTES_MAX).unwrap_or(usize::MAX);
    let output = without_root(
        &output.text(kept, Some(exit.stdout_bytes + exit.stdout_dropped)),
        &root,
    );
    let report = fs::symlink_metadata(report_file)
        .ok()
        .filter(fs::Metadata::is_file);
    let report = report.map(|_| without_root(&read_bounded(report_file, REPORT_BYTES_MAX), &root));
    let format = match command.format {
        Format::ExitCode if check.name == "test" => sniff(&output),
        known => known,
    };
    let timed_out = matches!(exit.cause, ExitCause::WallTimeout | ExitCause::IdleTimeout);
    Measured {
        name: check.name.clone(),
        exit_code: exit.exit_code.filter(|_| exit.cause == ExitCause::Exited),
        timed_out,
        results: read_results(format, &output, report.as_deref()),
        excerpt: match exit.limit {
            Some(limit) => format!("{}\n{}", limit_words(limit), checks::excerpt(&output)),
            None => checks::excerpt(&output),
        },
        changed_files: Vec::new(),
        touched_files: Vec::new(),
        n_left_running: exit.swept,
        format: Some(if format == Format::Sniff {
            sniff(&output)
        } else {
            format
        }),
    }
}

/// Whether cargo must be told to build in a folder of this tree alone, whatever the operator's own
/// configuration says.
///
/// Cargo believes the times of files: in a shared folder it takes what it built of one tree for
/// another one, and a red tree is green. What the project itself says about the folder is kept,
/// since its scripts may count on it.
fn needs_own_build_folder(checkout: &Path, project: &Path) -> bool {
    if !project.join("Cargo.toml").exists() {
        return false;
    }
    let places = [checkout, project]
        .into_iter()
        .flat_map(|folder| ["config.toml", "config"].map(|name| folder.join(".cargo").join(name)));
    let is_said =
        |path: PathBuf| fs::read_to_string(path).is_ok_and(|text| text.contains("target-dir"));
    !places.into_iter().any(is_said)
}

fn refused(check: &CheckSettings, why: &str) -> Measured {
    Measured {
        name: check.name.clone(),
        exit_code: Some(1),
        excerpt: why.to_owned(),
        ..Measured::default()
    }
}

fn ending(exit: &ExitRecord) -> String {
    match (&exit.cause, exit.exit_code, exit.signal) {
        (ExitCause::WallTimeout | ExitCause::IdleTimeout, _, _) => "out of time".to_owned(),
        (_, Some(code), _) => format!("exit code {code}"),
        (_, None, Some(signal)) => format!("signal {signal}"),
        (_, None, None) => "unknown".to_owned(),
    }
}

fn read_bounded(path: &Path, bytes_max: u64) -> String {
    use std::io::Read as _;
    let read = || -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        fs::File::open(path)?
            .take(bytes_max)
            .read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
}

/// Progress goes to the run's log, which people can follow.
pub(super) fn say(line: &str) {
    use std::io::Write as _;
    if line.is_empty() {
        return;
    }
    let _ = writeln!(std::io::stdout(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_builds_in_a_folder_of_the_tree_alone() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let (root, member) = (scratch.path(), scratch.path().join("member"));
        fs::create_dir_all(member.join(".cargo")).expect("made");
        assert!(!needs_own_build_folder(root, &member), "no crate");
        fs::write(member.join("Cargo.toml"), "").expect("written");
        assert!(needs_own_build_folder(root, &member));
        fs::write(
            member.join(".cargo/config.toml"),
            "[build]\ntarget-dir = \"out\"\n",
        )
        .expect("written");
        assert!(
            !needs_own_build_folder(root, &member),
            "the project says where"
        );
    }
}
