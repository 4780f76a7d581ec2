//! What every play of a gallery has: a folder, a home, the runners of its ecosystem, and nothing of the
//! operator's environment but the toolchains.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Answer, TestEnv};

const GIT_CONFIG: &str = "[user]\n name = Op\n email = op@example.com\n[init]\n defaultBranch = main\n\
                          [protocol \"file\"]\n allow = always\n";

/// Time for a command of a case itself, such as its truth.
pub(super) const SHELL_SECS: u64 = 120;

pub(super) struct Stage<'a> {
    runners: &'a Path,
    pub(super) env: TestEnv,
    /// Variables that the case adds.
    more: BTreeMap<String, String>,
}

impl<'a> Stage<'a> {
    pub(super) fn new(runners: &'a Path, more: &BTreeMap<String, String>) -> Self {
        let env = TestEnv::new();
        env.write("home/.gitconfig", GIT_CONFIG);
        // Where agents put their prompts.
        std::fs::create_dir_all(env.path("said")).expect("a folder");
        let more = more.clone();
        Self { runners, env, more }
    }

    /// Runs a script in the repository that cannot fail in a sound case.
    pub(super) fn must(&self, script: &str) -> String {
        let mut command = self.shell(script, &self.env.path("proj"));
        let answer = run_within(&mut command, SHELL_SECS)
            .unwrap_or_else(|| panic!("`{script}` did not end"));
        assert_eq!(answer.exit, 0, "`{script}`\n{}", answer.whole());
        answer.stdout
    }

    pub(super) fn shell(&self, script: &str, folder: &Path) -> Command {
        let mut command = Command::new("bash");
        command.args(["-c", script]).env_clear().current_dir(folder);
        self.dress(&mut command);
        command
    }

    /// Gives a command the environment of this play and of nobody else, but for the toolchains.
    pub(super) fn dress<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        let machine = |name: &str| std::env::var_os(name).unwrap_or_default();
        let path = machine("PATH");
        let folders = std::iter::once(self.runners.join("venv/bin"));
        let folders = folders.chain(std::env::split_paths(&path));
        for (name, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            let usual = || Path::new(&machine("HOME")).join(folder);
            let place = std::env::var_os(name).map_or_else(usual, PathBuf::from);
            command.env(name, place);
        }
        command
            .env("HOME", self.env.path("home"))
            .env("LOOPWRIGHT_HOME", self.env.path("state"))
            .env("LOOPWRIGHT_SANDBOX_KIND", "host")
            .env("PATH", std::env::join_paths(folders).expect("a path"))
            .env("LANG", "C.UTF-8")
            .env("NO_COLOR", "1")
            .env("SCENE", self.folder())
            .env("GIT_CONFIG_GLOBAL", self.env.path("home/.gitconfig"))
            .envs(&self.more)
    }

    /// The folder of this play, without a slash at its end.
    pub(super) fn folder(&self) -> PathBuf {
        self.env.path("home").parent().expect("a parent").to_owned()
    }
}

/// Runs a command for at most so many seconds. What it prints goes to files: a process that it
/// leaves behind would keep a pipe open.
pub(super) fn run_within(command: &mut Command, secs: u64) -> Option<Answer> {
    run_beside(command, secs, || {})
}

/// The same; meanwhile something is done again and again.
pub(super) fn run_beside(
    command: &mut Command,
    secs: u64,
    mut beside: impl FnMut(),
) -> Option<Answer> {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let [stdout, stderr] = ["stdout", "stderr"].map(|name| folder.path().join(name));
    let file = |path: &Path| std::fs::File::create(path).expect("a file");
    let mut child: Child = command
        .stdin(Stdio::null())
        .stdout(file(&stdout))
        .stderr(file(&stderr))
        .spawn()
        .expect("started");
    let (start, limit) = (Instant::now(), Duration::from_secs(secs));
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status;
        }
        if start.elapsed() > limit {
            child.kill().expect("killed");
            child.wait().expect("ended");
            return None;
        }
        beside();
        std::thread::sleep(Duration::from_millis(20));
    };
    let text = |path: &Path| {
        let bytes = std::fs::read(path).expect("readable");
        String::from_utf8_lossy(&bytes).into_owned()
    };
    Some(Answer {
        exit: status.code().unwrap_or(-1),
        stdout: text(&stdout),
        stderr: text(&stderr),
    })
}
