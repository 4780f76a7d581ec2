//! Measures trees: the project's commands in fresh checkouts that we made, each under a keeper of
//! its own.
//!
//! It runs as a process of its own (`loopwright measure RUN_FOLDER`) under the keeper of a check's
//! run, so that a worker never waits for a command. What it finds lies in `measured.json` beside
//! its plan; what that means for a candidate is decided elsewhere. A tree that was measured with
//! the same commands is not measured again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use checks::compare::{Measured, Measurement, RERUNS_MAX, Wanted};
use checks::instrument::instrument;
use checks::results::{Format, read_results, sniff, without_root};
use home::{CheckSettings, remove_folder};
use sandbox::{ExitCause, ExitRecord, RunSpec, RunView, StopSignal, Stream};
use workspace::TreeId;

use crate::fault::Fault;
use crate::local::repository::open_at;
use crate::ports::Repository;
use crate::run::measurement::{CheckPlan, Kept, PLAN_FILE, REPORT_FILE, Report, cache_file, known};
use crate::run::project_tree::ProjectTree;
use crate::run::untracked::{copy_untracked, is_plain};

/// Bytes of a command's output that are kept and read.
const OUTPUT_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Bytes of a report file that are read; runners write one line per test.
const REPORT_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// Bytes of the end of a command's output that go into the run's own log.
const SAID_BYTES_MAX: usize = 64 * 1024;

/// Carries out the plan of a run's folder.
pub fn measure(run_folder: &Path, program: &Path) -> Result<(), Fault> {
    let path = run_folder.join(PLAN_FILE);
    let text = fs::read(&path).map_err(|error| Fault::io("read", &path, error))?;
    let plan: CheckPlan = serde_json::from_slice(&text)?;
    let repository = open_at(&plan.repository)?;
    fs::create_dir_all(&plan.cache).map_err(|error| Fault::io("make", &plan.cache, error))?;
    let mut meter = Meter {
        plan: &plan,
        repository,
        run_folder,
        program,
        report: Report::default(),
        n_commands: 0,
    };
    meter.measure_all()?;
    let report = serde_json::to_vec(&meter.report)?;
    write_atomically(&run_folder.join(REPORT_FILE), &report)
}

struct Meter<'a> {
    plan: &'a CheckPlan,
    repository: Box<dyn Repository>,
    run_folder: &'a Path,
    program: &'a Path,
    report: Report,
    n_commands: usize,
}

impl Meter<'_> {
    fn measure_all(&mut self) -> Result<(), Fault> {
        let trees = &self.plan.trees;
        let base = self.known_or_measured("base", &trees.base)?;
        (self.report.base, self.report.baseline_ms) = (base.measurement, base.took_ms);
        let Some(candidate) = &trees.candidate else {
            return Ok(());
        };
        if let Some(tree) = &trees.base_with_tests {
            self.report.base_with_tests = Some(
                self.known_or_measured("base with the new tests", tree)?
                    .measurement,
            );
        }
        let folder = self.check_out("candidate", candidate)?;
        let measured = self.measure("candidate", candidate, &folder)?;
        self.keep_for_later(candidate, &measured)?;
        self.report.candidate = Some(measured.measurement);
        if let Some(tree) = &trees.with_base_tests {
            self.report.with_base_tests = Some(
                self.known_or_measured("candidate with the older tests", tree)?
                    .measurement,
            );
        }
        self.run_reds_again(candidate, &folder)?;
        remove(&folder);
        if let Some(tree) = trees
            .without_tests
            .as_ref()
            .filter(|_| self.wants(Wanted::CandidateWithoutTests))
        {
            self.report.without_tests = Some(
                self.known_or_measured("candidate without the new tests", tree)?
                    .measurement,
            );
        }
        Ok(())
    }

    /// A red may be chance: the tests run again, and both outcomes are kept.
    fn run_reds_again(&mut self, tree: &str, folder: &Path) -> Result<(), Fault> {
        while self.report.reruns.len() < RERUNS_MAX && self.wants(Wanted::Rerun) {
            let tests = self.plan.checks.iter().filter(|check| check.name == "test");
            let mut again = Measurement::default();
            for check in tests {
                again
                    .checks
                    .push(self.run_check("candidate, again", tree, folder, check)?);
            }
            self.report.reruns.push(again);
        }
        Ok(())
    }

    fn wants(&self, wanted: Wanted) -> bool {
        self.report
            .comparison(self.plan)
            .is_some_and(|comparison| comparison.wanted.contains(&wanted))
    }

    fn known_or_measured(&mut self, what: &str, tree: &str) -> Result<Kept, Fault> {
        if let Some(known) = known(&self.plan.cache, tree, &self.plan.checks) {
            return Ok(known);
        }
        let folder = self.check_out(what, tree)?;
        let measured = self.measure(what, tree, &folder)?;
        remove(&folder);
        self.keep_for_later(tree, &measured)?;
        Ok(measured)
    }

    /// What ran out of time, or could not be set up, may go otherwise the next time.
    fn keep_for_later(&self, tree: &str, measured: &Kept) -> Result<(), Fault> {
        let is_uncertain = |check: &Measured| {
            check.timed_out
                || check.exit_code.is_none()
                || (check.name == "setup" && !check.is_green())
        };
        if measured.measurement.checks.iter().any(is_uncertain) {
            return Ok(());
        }
        let bytes = serde_json::to_vec(measured)?;
        write_atomically(
            &cache_file(&self.plan.cache, tree, &self.plan.checks),
            &bytes,
        )
    }

    fn check_out(&self, what: &str, tree: &str) -> Result<PathBuf, Fault> {
        let folder = self.plan.scratch.join(what.replace([' ', ','], "-"));
        remove(&folder);
        let tree = TreeId::parse(tree)?;
        self.repository.checkout_tree(&tree, &folder)?;
        let inner = folder.join(&self.plan.subdir);
        if is_plain(&folder, &inner) && inner.is_dir() {
            copy_untracked(
                &self.plan.copy,
                &self.plan.project,
                &folder,
                &self.plan.subdir,
            );
        }
        Ok(folder)
    }

    fn measure(&mut self, what: &str, tree: &str, folder: &Path) -> Result<Kept, Fault> {
        let began = Instant::now();
        let mut measurement = Measurement::default();
        for check in &self.plan.checks {
            let measured = self.run_check(what, tree, folder, check)?;
            let stop = check.name == "setup" && measured.exit_code != Some(0);
            measurement.checks.push(measured);
            // Without its setup a project cannot be checked, and what its commands then say means
            // nothing.
            if stop {
                break;
            }
        }
        let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.report.took_ms.insert(what.to_owned(), took_ms);
        Ok(Kept {
            measurement,
            took_ms,
        })
    }

    fn run_check(
        &mut self,
        what: &str,
        tree: &str,
        folder: &Path,
        check: &CheckSettings,
    ) -> Result<Measured, Fault> {
        self.n_commands += 1;
        say(&format!("== {what}: {}", check.name));
        let place = self
            .run_folder
            .join("commands")
            .join(format!("{:02}", self.n_commands));
        // A try that was interrupted starts over in a folder of its own; inside one, nothing is
        // left from before.
        fs::create_dir_all(&place).map_err(|error| Fault::io("make", &place, error))?;
        let inner = folder.join(&self.plan.subdir);
        if !is_plain(folder, &inner) || !inner.is_dir() {
            return Ok(refused(check, "the project's folder is gone, or a link"));
        }
        let report_file = place.join("report");
        let command = self.instrumented(tree, check, &report_file)?;
        let mut spec = self.command_spec(&place, &inner, &command);
        spec.env.extend(own_build_folder(folder, &inner));
        let exit = self.keep(&place, &spec)?;
        let measured = read_measured(check, &command, &place, &report_file, folder, &exit);
        say(sandbox::output(&place, Stream::Stdout)
            .unwrap_or_default()
            .text(SAID_BYTES_MAX, None)
            .trim_end());
        if !measured.is_green() && !sandbox::has_room(&self.plan.scratch) {
            return Err(Fault::DiskFull);
        }
        say(&format!(
            "== {what}: {} ended: {}",
            check.name,
            ending(&exit)
        ));
        Ok(measured)
    }

    fn instrumented(
        &self,
        tree: &str,
        check: &CheckSettings,
        report_file: &Path,
    ) -> Result<Instrumented, Fault> {
        if check.name != "test" {
            return Ok(Instrumented {
                line: check.command.clone(),
                env: Vec::new(),
                format: Format::ExitCode,
            });
        }
        let tree = TreeId::parse(tree)?;
        let project = ProjectTree::of(&*self.repository, &tree, &self.plan.subdir)?;
        let made = instrument(&check.command, &project, &report_file.to_string_lossy());
        Ok(Instrumented {
            line: made.command,
            env: made.env,
            format: made.format,
        })
    }

    fn command_spec(&self, place: &Path, cwd: &Path, command: &Instrumented) -> RunSpec {
        let mut env = self.plan.env.clone();
        env.extend(command.env.iter().cloned());
        RunSpec {
            run_id: place.to_string_lossy().into_owned(),
            program: "/bin/sh".to_owned(),
            // One stream, so that what a runner says about a target stands before the tests of it.
            args: vec!["-c".to_owned(), format!("( {}\n) 2>&1", command.line)],
            cwd: cwd.to_owned(),
            env,
            pass_env: Vec::new(),
            pass_env_file: None,
            stdin: None,
            wall_secs: self.plan.timeout_secs,
            idle_secs: None,
            grace_secs: 10,
            output_bytes_max: OUTPUT_BYTES_MAX,
            stop_signal: StopSignal::Term,
        }
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
            RunView::Ended(exit) => Ok(exit),
            RunView::NotStarted | RunView::Running(_) | RunView::Lost(_) | RunView::Rebooted(_) => {
                Err(Fault::transient("keep a command", "its keeper was lost"))
            }
        }
    }
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
        excerpt: checks::excerpt(&output),
        format: Some(if format == Format::Sniff {
            sniff(&output)
        } else {
            format
        }),
    }
}

/// Where cargo builds, which must be a folder of this tree alone, whatever the operator's own
/// configuration says.
///
/// Cargo believes the times of files: in a shared folder it takes what it built of one tree for
/// another one, and a red tree is green. What the project itself says about the folder is kept,
/// since its scripts may count on it.
fn own_build_folder(checkout: &Path, project: &Path) -> Option<(String, String)> {
    if !project.join("Cargo.toml").exists() {
        return None;
    }
    let places = [checkout, project]
        .into_iter()
        .flat_map(|folder| ["config.toml", "config"].map(|name| folder.join(".cargo").join(name)));
    let is_said =
        |path: PathBuf| fs::read_to_string(path).is_ok_and(|text| text.contains("target-dir"));
    let folder = project.join("target").to_string_lossy().into_owned();
    (!places.into_iter().any(is_said)).then(|| ("CARGO_TARGET_DIR".to_owned(), folder))
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
        (ExitCause::CannotStart { why, .. }, _, _) => why.clone(),
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

fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    let scratch = path.with_extension(format!("new-{}", std::process::id()));
    let write = || -> std::io::Result<()> {
        fs::write(&scratch, bytes)?;
        fs::rename(&scratch, path)
    };
    write().map_err(|error| {
        let _ = fs::remove_file(&scratch);
        Fault::io("write", path, error)
    })
}

fn remove(folder: &Path) {
    // Some file systems need a moment until nothing in a folder is busy any more.
    for _ in 0..3 {
        if remove_folder(folder).is_ok() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Progress goes to the run's log, which people can follow.
fn say(line: &str) {
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
        assert_eq!(own_build_folder(root, &member), None, "no crate");
        fs::write(member.join("Cargo.toml"), "").expect("written");
        let folder = member.join("target").to_string_lossy().into_owned();
        assert_eq!(
            own_build_folder(root, &member),
            Some(("CARGO_TARGET_DIR".to_owned(), folder))
        );
        fs::write(
            member.join(".cargo/config.toml"),
            "[build]\ntarget-dir = \"out\"\n",
        )
        .expect("written");
        assert_eq!(
            own_build_folder(root, &member),
            None,
            "the project says where"
        );
    }
}
