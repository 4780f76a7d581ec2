//! A folder and an environment of its own for each test, and the program's whole answer as one
//! text.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// How long a command may last, on the slowest machine. What hangs shall say where it stands, and
/// not keep everything else from being tested.
const PATIENCE: Duration = Duration::from_mins(7);

/// A new folder, and nothing of the operator's environment.
pub(crate) struct TestEnv {
    folder: tempfile::TempDir,
}

/// What a command answered.
pub(crate) struct Answer {
    pub(crate) exit: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Answer {
    /// Exit code, stdout and stderr in one block.
    pub(crate) fn whole(&self) -> String {
        format!(
            "exit {}\n----- stdout\n{}----- stderr\n{}",
            self.exit, self.stdout, self.stderr
        )
    }

    /// The envelope of `--json`.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error} in {}", self.whole()))
    }
}

impl Answer {
    /// The last line of `watch --json`, which is the envelope.
    pub(crate) fn last_json(&self) -> serde_json::Value {
        let last = self.stdout.lines().last().unwrap_or_default();
        serde_json::from_str(last).unwrap_or_else(|error| panic!("{error} in {}", self.whole()))
    }
}

impl Answer {
    /// The envelope of `--json` below lines of other objects.
    pub(crate) fn last_line(&self) -> serde_json::Value {
        let last = self.stdout.lines().next_back().unwrap_or_default();
        serde_json::from_str(last).unwrap_or_else(|error| panic!("{error} in {}", self.whole()))
    }
}

impl Drop for TestEnv {
    /// Ends what a test left behind, by pid and only what lives in its folder: a worker that rests,
    /// and whoever would start the next one. It is looked for until there is nobody, since a folder
    /// that is gone must not be made again.
    fn drop(&mut self) {
        for _ in 0..100 {
            let left = processes_with(self.folder.path());
            for process in &left {
                let _ = kill_process(*process, Signal::KILL);
            }
            if left.is_empty() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Processes whose environment names this folder, or one in it, and those in jails that show it: what
/// runs in a jail knows none of our paths, but its mounts tell where they come from.
pub(crate) fn processes_with(folder: &Path) -> Vec<Pid> {
    let wanted = folder.display().to_string();
    let mounted = in_mounts(folder);
    let our_mounts = std::fs::read_link("/proc/self/ns/mnt").ok();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("a proc folder").flatten() {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        let names = |file: &str, wanted: &str| {
            let bytes = std::fs::read(entry.path().join(file)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).contains(wanted)
        };
        let is_jailed = || std::fs::read_link(entry.path().join("ns/mnt")).ok() != our_mounts;
        // A list of mounts takes long to make, so it is asked for last.
        if (names("environ", &wanted) || is_jailed() && names("mountinfo", &mounted))
            && let Some(pid) = Pid::from_raw(pid)
        {
            found.push(pid);
        }
    }
    found
}

/// A folder as a mount of it is listed: from the root of its own file system. Layers are listed with
/// whole paths, which end with the same words.
fn in_mounts(folder: &Path) -> String {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").expect("mounts");
    let points = mounts.lines().filter_map(|line| line.split(' ').nth(4));
    let inside = points.filter_map(|point| folder.strip_prefix(point).ok());
    let shortest = inside.min_by_key(|rest| rest.components().count());
    format!("/{}", shortest.expect("a mount").display())
}

impl TestEnv {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a scratch folder"),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text).expect("written");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("read")
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_loopwright"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .env("HOME", self.folder.path());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        // Scripted agents count their starts in files outside of their checkouts, which no jail lets
        // them write. Tests of the jail take this away.
        command.env("LOOPWRIGHT_SANDBOX_KIND", "host");
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Answer {
        self.run_with_input(arguments, b"")
    }

    /// What a command printed until it ended.
    pub(crate) fn output(&self, command: &mut Command) -> Output {
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        self.end_of(command.stdin(Stdio::null()).spawn().expect("started"))
    }

    fn end_of(&self, child: Child) -> Output {
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || sender.send(child.wait_with_output()));
        // A soak plays a whole gallery as one loop.
        let patience = PATIENCE * if crate::sample::is_soak() { 20 } else { 1 };
        let Ok(output) = receiver.recv_timeout(patience) else {
            let mut status = self.command(&["status", "--json"]);
            let said = status.stdin(Stdio::null()).output().map(|all| all.stdout);
            let said = String::from_utf8_lossy(&said.unwrap_or_default()).into_owned();
            panic!("it does not end; where everything stands:\n{said}");
        };
        output.expect("ended")
    }

    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> Answer {
        let mut command = self.command(arguments);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("started");
        // The command may end without reading: that is not this helper's business.
        let _ = child.stdin.take().expect("a pipe").write_all(input);
        let output = self.end_of(child);
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8 output");
        Answer {
            exit: output.status.code().unwrap_or(-1),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

/// The project's own folder.
pub(crate) fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
