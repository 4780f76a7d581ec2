//! One run folder with its program, and functions that read the process table.
//!
//! It reads `/proc` by itself, so that the tests do not rely on the code under test.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use sandbox::{ExitRecord, KeeperRecord, RunSpec, RunView, StopSignal};
use tempfile::TempDir;

pub(crate) const KEEPER: &str = env!("CARGO_BIN_EXE_keeper-for-tests");

/// Long enough for any machine: a wait that takes longer is a fault.
const PATIENCE: Duration = Duration::from_mins(1);

/// A folder for one run. Dropping it ends every process of the run.
pub(crate) struct Scene {
    folder: TempDir,
    work: PathBuf,
    pub(crate) spec: RunSpec,
}

impl Scene {
    /// A shell script with generous limits; its working folder is [`Self::work`].
    pub(crate) fn script(script: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let work = fs::canonicalize(folder.path()).unwrap().join("work");
        fs::create_dir(&work).unwrap();
        let path = ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned());
        let spec = RunSpec {
            run_id: "login-1/1/implement".to_owned(),
            program: "sh".to_owned(),
            args: vec!["-c".to_owned(), script.to_owned()],
            cwd: work.clone(),
            env: BTreeMap::from([path]),
            pass_env: Vec::new(),
            pass_env_file: None,
            marks: Vec::new(),
            unnamed: false,
            stdin: None,
            wall_secs: 120,
            idle_secs: None,
            grace_secs: 1,
            output_bytes_max: 1 << 20,
            stop_signal: StopSignal::Term,
            ends_with: None,
            stream: None,
            takes_ports: false,
            unflushed: false,
            jail: None,
        };
        Self { folder, work, spec }
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut RunSpec)) -> Self {
        change(&mut self.spec);
        self
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn run_dir(&self) -> PathBuf {
        self.folder.path().join("run")
    }

    pub(crate) fn work(&self, name: &str) -> PathBuf {
        self.work.join(name)
    }

    pub(crate) fn prepare(self) -> Self {
        sandbox::prepare(&self.run_dir(), &self.spec).unwrap();
        self
    }

    pub(crate) fn launch(self) -> Self {
        let scene = self.prepare();
        sandbox::launch(Path::new(KEEPER), &scene.run_dir()).unwrap();
        scene
    }

    /// Keeps the run in the foreground, as a user without any privileges.
    pub(crate) fn keep_as_plain_user(self) -> Self {
        let scene = self.prepare();
        let program = scene.folder.path().join("keeper");
        fs::copy(KEEPER, &program).unwrap();
        let mut command = Command::new(&program);
        if rustix::process::geteuid().is_root() {
            let chown = Command::new("chown")
                .args(["-R", "4242:4242"])
                .arg(scene.folder.path())
                .status();
            assert!(chown.unwrap().success());
            command = Command::new("setpriv");
            command
                .args(["--reuid=4242", "--regid=4242", "--clear-groups", "--"])
                .arg(&program);
        }
        let status = command.arg("keeper").arg(scene.run_dir()).status().unwrap();
        assert!(status.success(), "{status}");
        scene
    }

    pub(crate) fn look(&self) -> RunView {
        sandbox::look(&self.run_dir()).unwrap()
    }

    pub(crate) fn exit(&self) -> ExitRecord {
        wait_for("the exit record", || match self.look() {
            RunView::Ended(exit) => Some(exit),
            RunView::NotStarted | RunView::Running(_) => None,
            lost @ (RunView::Lost(_) | RunView::Rebooted(_)) => panic!("{lost:?}"),
        })
    }

    pub(crate) fn keeper(&self) -> KeeperRecord {
        wait_for("the keeper", || match self.look() {
            RunView::Running(keeper) => Some(keeper),
            _ => None,
        })
    }

    /// Waits until a file that the script writes has at least `n_lines` lines.
    pub(crate) fn lines(&self, name: &str, n_lines: usize) -> Vec<String> {
        wait_for(name, || {
            let text = fs::read_to_string(self.work(name)).unwrap_or_default();
            let lines: Vec<String> = text.lines().map(str::to_owned).collect();
            (lines.len() >= n_lines && text.ends_with('\n')).then_some(lines)
        })
    }

    /// Waits for the process ids that the script writes, one per line.
    pub(crate) fn pids(&self, name: &str, n_lines: usize) -> Vec<i32> {
        self.lines(name, n_lines)
            .iter()
            .map(|line| line.parse().unwrap())
            .collect()
    }

    pub(crate) fn captured(&self, name: &str) -> String {
        fs::read_to_string(self.run_dir().join(name)).unwrap()
    }

    /// How many processes are left of this run's jail: those that see its work folder as their
    /// workspace. The shim hides what it sees, so it is known by its parent or by its record.
    pub(crate) fn n_jailed(&self) -> usize {
        let run_dir = fs::canonicalize(self.run_dir()).unwrap();
        let mark = format!("LOOPWRIGHT_RUN_DIR={}", run_dir.display());
        let work = format!(" {} /workspace ", self.work.display());
        let is_jailed = |entry: &fs::DirEntry| {
            let read = |file: &str| fs::read(entry.path().join(file)).unwrap_or_default();
            let mounts = String::from_utf8_lossy(&read("mountinfo")).into_owned();
            // A mount on another file system shows its path without the mount point.
            let tail = self.work.iter().rev().take(2).collect::<Vec<_>>();
            let tail = format!("{}/{} /workspace ", tail[1].display(), tail[0].display());
            let sees = mounts.contains(&work) || mounts.contains(&tail);
            read("cmdline").starts_with(mark.as_bytes()) || sees
        };
        let shim = fs::read(self.run_dir().join("jail.json")).unwrap_or_default();
        let shim = serde_json::from_slice::<sandbox::JailRecord>(&shim);
        let n_shims = usize::from(shim.is_ok_and(|shim| is_alive(shim.pid)));
        let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        entries.filter(is_jailed).count() + n_shims
    }

    /// How many processes carry this run's mark.
    pub(crate) fn n_processes(&self) -> usize {
        let run_dir = fs::canonicalize(self.run_dir()).unwrap();
        let mark = format!("LOOPWRIGHT_RUN_DIR={}", run_dir.display());
        let has_mark = |entry: &fs::DirEntry| {
            let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
            environment
                .split(|byte| *byte == 0)
                .any(|variable| variable == mark.as_bytes())
        };
        fs::read_dir("/proc")
            .unwrap()
            .filter_map(Result::ok)
            .filter(has_mark)
            .count()
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let run_dir = self.run_dir();
        let _ = sandbox::request_stop(&run_dir, "the test is over");
        let started = Instant::now();
        while matches!(sandbox::look(&run_dir), Ok(RunView::Running(_)))
            && started.elapsed() < PATIENCE
        {
            thread::sleep(Duration::from_millis(10));
        }
        let _ = sandbox::sweep(&run_dir);
    }
}

/// Polls until `poll` returns a value.
pub(crate) fn wait_for<T>(what: &str, mut poll: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(answer) = poll() {
            return answer;
        }
        assert!(started.elapsed() < PATIENCE, "{what}: waited too long");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Polls without pausing, to react as early as possible.
pub(crate) fn spin_until(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "{what}: waited too long");
        thread::yield_now();
    }
}

/// The state letter and the parent of a process.
pub(crate) fn state_and_parent(pid: i32) -> Option<(char, i32)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

pub(crate) fn is_alive(pid: i32) -> bool {
    state_and_parent(pid).is_some_and(|(state, _)| state != 'Z' && state != 'X')
}

pub(crate) fn kill_nine(pid: i32) {
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    wait_for("the death of a process", || (!is_alive(pid)).then_some(()));
}
