//! Runs the `git` program, always in the same environment, whatever the machine, the operator or an
//! agent has set.
//!
//! Nothing is inherited but the PATH: no configuration of system or user, no hooks, no prompts, no
//! network. A git that takes longer than anything should is ended. It does not interpret answers
//! beyond splitting them.

use std::env;
use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::error::{GitError, failed};
use crate::patience::Patience;

/// No answer that we ask for in full is longer; a listing of a million paths fits.
const OUTPUT_BYTES_MAX: usize = 512 * 1024 * 1024;
/// No call of ours takes that long, so one that does hangs: on a dead network disk, on a lock, on
/// itself.
const TIME_MAX: Duration = Duration::from_mins(10);
/// The end of what git says is where the reason is.
const STDERR_BYTES_MAX: usize = 4096;

const ENVIRONMENT: &[(&str, &str)] = &[
    ("HOME", "/nonexistent"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    // A partial clone must fail for what it lacks, not go to the network.
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_AUTHOR_NAME", "Loopwright"),
    ("GIT_AUTHOR_EMAIL", "loopwright@localhost"),
    ("GIT_COMMITTER_NAME", "Loopwright"),
    ("GIT_COMMITTER_EMAIL", "loopwright@localhost"),
    ("LC_ALL", "C"),
    ("TZ", "UTC"),
];

/// Holds in every repository, also the operator's.
const ALWAYS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.logAllRefUpdates=false",
    // What we record as done must survive a power cut; git's default leaves loose objects and refs
    // unflushed.
    "core.fsync=all",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.allow=never",
    "protocol.ext.allow=never",
    "protocol.file.allow=always",
    // Version 2 serves a commit by its id, without a ref that points there.
    "protocol.version=2",
    "submodule.recurse=false",
];

/// Holds in our own repositories, where bytes go in and come out as they are.
const OURS: &[&str] = &[
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.autocrlf=false",
    "core.symlinks=true",
    "core.fileMode=true",
    "core.ignoreCase=false",
    "core.precomposeUnicode=false",
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "i18n.commitEncoding=UTF-8",
    // Packed objects are found by `fast-import`, which then does not store them again.
    "fetch.unpackLimit=1",
];

/// Stands above every `.gitattributes` of a tree: no filter, no conversion, no hidden diff.
pub(crate) const ATTRIBUTES: &str =
    "* -text !eol !crlf !ident !filter !working-tree-encoding !diff\n";

/// One call of the program.
#[derive(Debug)]
pub(crate) struct Git {
    command: Command,
    words: Vec<String>,
    folder: std::path::PathBuf,
    output_bytes_max: usize,
    time_max: Duration,
}

/// What came of a call that ran to its end.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
    /// There was more output than was asked for; git was stopped there.
    pub(crate) cut: bool,
}

impl Git {
    /// A call that finds its repository from a folder, as the operator's own git does.
    pub(crate) fn found_from(folder: &Path) -> Self {
        let mut command = Command::new("git");
        command
            .env_clear()
            .envs(ENVIRONMENT.iter().copied())
            .current_dir(folder);
        if let Some(path) = env::var_os("PATH") {
            command.env("PATH", path);
        }
        let folder = folder.to_owned();
        // A group of its own, so that a git that hangs can be ended with the programs that it
        // started.
        command.process_group(0);
        let (words, output_bytes_max) = (Vec::new(), OUTPUT_BYTES_MAX);
        let git = Self {
            command,
            words,
            folder,
            output_bytes_max,
            time_max: TIME_MAX,
        };
        git.configured(ALWAYS)
    }

    /// A call on the operator's repository, by its common git folder.
    pub(crate) fn of_operator(git_dir: &Path) -> Self {
        Self::found_from(git_dir).env("GIT_DIR", git_dir)
    }

    /// A call on a repository of ours.
    pub(crate) fn of_ours(git_dir: &Path) -> Self {
        Self::of_operator(git_dir).configured(OURS)
    }

    /// A call that needs no repository.
    pub(crate) fn alone() -> Self {
        Self::found_from(Path::new("/")).env("GIT_DIR", "/dev/null")
    }

    fn configured(mut self, settings: &[&str]) -> Self {
        for setting in settings {
            self.command.args(["-c", setting]);
        }
        self
    }

    /// For what is made anew after a power cut: a private index, a repository of the agent's.
    pub(crate) fn unflushed(self) -> Self {
        self.configured(&["core.fsync=none"])
    }

    /// Works on the files of this folder.
    pub(crate) fn work_tree(mut self, folder: &Path) -> Self {
        self.command
            .env("GIT_WORK_TREE", folder)
            .current_dir(folder);
        folder.clone_into(&mut self.folder);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn arg(mut self, word: impl AsRef<OsStr>) -> Self {
        self.words
            .push(word.as_ref().to_string_lossy().into_owned());
        self.command.arg(word);
        self
    }

    pub(crate) fn args<S: AsRef<OsStr>>(self, words: impl IntoIterator<Item = S>) -> Self {
        words.into_iter().fold(self, Self::arg)
    }

    /// Names a path after `--` that is no pattern, whatever is in it.
    pub(crate) fn literal_path(self, path: &[u8]) -> Self {
        self.env("GIT_LITERAL_PATHSPECS", "1")
            .arg(OsStr::from_bytes(path))
    }

    /// Stops git after so many bytes of output.
    pub(crate) fn output_bytes_max(mut self, bytes_max: usize) -> Self {
        self.output_bytes_max = bytes_max;
        self
    }

    /// Runs it, and takes any exit code but zero for a failure.
    pub(crate) fn run(self) -> Result<Vec<u8>, GitError> {
        self.run_fed(|_| Ok(()))
    }

    /// Runs it with this input.
    pub(crate) fn run_with(self, input: &[u8]) -> Result<Vec<u8>, GitError> {
        self.run_fed(|pipe| pipe.write_all(input).map_err(pipe_broke))
    }

    /// Runs it, and reads its answer as one line of text.
    pub(crate) fn line(self) -> Result<String, GitError> {
        let command = self.command_line();
        let text = String::from_utf8(self.run()?).map_err(|_| GitError::Garbled { command })?;
        Ok(text.trim_end_matches('\n').to_owned())
    }

    /// Runs it with input that is made while it runs.
    pub(crate) fn run_fed(
        self,
        feed: impl FnOnce(&mut dyn Write) -> Result<(), GitError>,
    ) -> Result<Vec<u8>, GitError> {
        let command = self.command_line();
        let output = self.outcome_fed(feed)?;
        match output {
            Output { cut: true, .. } => Err(GitError::Garbled { command }),
            Output {
                code: Some(0),
                stdout,
                ..
            } => Ok(stdout),
            Output { code, stderr, .. } => Err(GitError::Failed {
                command,
                code,
                stderr,
            }),
        }
    }

    /// Runs it for callers to whom some exit codes are answers.
    pub(crate) fn outcome(self) -> Result<Output, GitError> {
        self.outcome_fed(|_| Ok(()))
    }

    /// Both pipes are emptied by threads while we write, for git may answer before it has read
    /// everything.
    pub(crate) fn outcome_fed(
        mut self,
        feed: impl FnOnce(&mut dyn Write) -> Result<(), GitError>,
    ) -> Result<Output, GitError> {
        let mut child = self.spawn()?;
        let bytes_max = self.output_bytes_max;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let patience = Patience::with(&child);
        let (written, stdout, stderr) = thread::scope(|scope| {
            let watch = patience.watch(scope, self.time_max);
            let stdout =
                scope.spawn(move || stdout.map_or(Ok(Vec::new()), |pipe| first(pipe, bytes_max)));
            let stderr = scope.spawn(move || stderr.map_or(Ok(Vec::new()), last));
            let all = (feed_all(stdin, feed), joined(stdout), joined(stderr));
            patience.wait_for_end();
            drop(watch);
            all
        });
        let status = child.wait();
        if patience.is_lost() {
            return Err(GitError::TooSlow {
                command: self.command_line(),
                waited_secs: self.time_max.as_secs(),
            });
        }
        let broke = |source| GitError::Run {
            command: self.command_line(),
            source,
        };
        let (status, mut stdout, stderr) = (
            status.map_err(broke)?,
            stdout.map_err(broke)?,
            stderr.map_err(broke)?,
        );
        match written {
            // Git that went away early says why by its exit code.
            Err(GitError::Run { source, .. }) if status.success() => return Err(broke(source)),
            Err(GitError::Run { .. }) | Ok(()) => {}
            Err(ours) => return Err(ours),
        }
        let cut = stdout.len() > bytes_max;
        stdout.truncate(bytes_max);
        let stderr = String::from_utf8_lossy(&stderr).trim().to_owned();
        Ok(Output {
            code: status.code(),
            stdout,
            stderr,
            cut,
        })
    }

    /// Starts it with all three pipes, for callers that talk with it.
    pub(crate) fn spawn(&mut self) -> Result<Child, GitError> {
        self.command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        self.command.spawn().map_err(|source| match source.kind() {
            // A folder that is gone gives the same error as a program that is.
            io::ErrorKind::NotFound if self.folder.is_dir() => GitError::GitMissing,
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                failed("enter", &self.folder)(source)
            }
            _ => GitError::Run {
                command: self.command_line(),
                source,
            },
        })
    }

    /// What git was asked, without our fixed options.
    pub(crate) fn command_line(&self) -> String {
        self.words.join(" ")
    }
}

/// Marks an error of the pipe to git; the call that owns the pipe fills in the command.
pub(crate) fn pipe_broke(source: io::Error) -> GitError {
    GitError::Run {
        command: String::new(),
        source,
    }
}

fn feed_all(
    stdin: Option<ChildStdin>,
    feed: impl FnOnce(&mut dyn Write) -> Result<(), GitError>,
) -> Result<(), GitError> {
    let Some(stdin) = stdin else { return Ok(()) };
    let mut pipe = io::BufWriter::with_capacity(64 * 1024, stdin);
    let written = feed(&mut pipe);
    let flushed = pipe.flush().map_err(pipe_broke);
    written.and(flushed)
}

/// Reads one byte more than allowed at most; closing the pipe then ends git.
fn first(pipe: impl Read, bytes_max: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    pipe.take(bytes_max as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads everything and keeps the end.
fn last(mut pipe: impl Read) -> io::Result<Vec<u8>> {
    let mut kept = Vec::new();
    let mut chunk = [0; STDERR_BYTES_MAX];
    loop {
        let n_read = pipe.read(&mut chunk)?;
        if n_read == 0 {
            return Ok(kept);
        }
        kept.extend_from_slice(&chunk[..n_read]);
        let excess = kept.len().saturating_sub(STDERR_BYTES_MAX);
        kept.drain(..excess);
    }
}

fn joined(reader: thread::ScopedJoinHandle<'_, io::Result<Vec<u8>>>) -> io::Result<Vec<u8>> {
    reader
        .join()
        .unwrap_or_else(|_| Err(io::Error::other("the reader of a pipe panicked")))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_missing_program_and_a_missing_folder_are_told_apart() {
        let missing = Git::alone()
            .env("PATH", "/nonexistent")
            .arg("version")
            .run();
        assert!(matches!(missing, Err(GitError::GitMissing)), "{missing:?}");
        let missing = Git::found_from(Path::new("/nonexistent"))
            .arg("version")
            .run();
        assert!(matches!(missing, Err(GitError::Io { .. })), "{missing:?}");
    }

    #[test]
    fn a_failure_says_what_was_asked_and_what_git_said() {
        let Err(error) = Git::alone().args(["cat-file", "-e", "x"]).run() else {
            panic!("it succeeded")
        };
        let said = error.to_string();
        assert!(
            said.starts_with("`git cat-file -e x` failed with exit code 128: fatal: "),
            "{said}"
        );
    }

    #[test]
    fn input_is_written_while_output_is_read() {
        let many = b"refs/heads/x\n".repeat(200_000);
        let Output { code, stdout, .. } = Git::alone()
            .args(["stripspace"])
            .outcome_fed(|pipe| pipe.write_all(&many).map_err(pipe_broke))
            .expect("ran");
        assert_eq!((code, stdout.len()), (Some(0), many.len()));
        let early = Git::alone().args(["no-such-command"]).run_with(&many);
        assert!(matches!(early, Err(GitError::Failed { .. })), "{early:?}");
    }

    /// It hangs with a program of its own that holds our pipes; both must go.
    #[test]
    fn a_git_that_hangs_is_ended_with_what_it_started() {
        let folder = tempfile::tempdir().expect("a folder");
        let (fake, pids) = (folder.path().join("git"), folder.path().join("pids"));
        let script = format!(
            "#!/bin/sh\nsleep 300 &\necho $$ $! > {}\nwait\n",
            pids.display()
        );
        std::fs::write(&fake, script).expect("written");
        std::fs::set_permissions(&fake, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .expect("mode");
        let path = format!("{}:/usr/bin:/bin", folder.path().display());
        let mut git = Git::alone().env("PATH", path).arg("version");
        git.time_max = Duration::from_millis(500);
        let Err(GitError::TooSlow { command, .. }) = git.run() else {
            panic!("it ended by itself")
        };
        assert_eq!(command, "version");
        let pids = std::fs::read_to_string(pids).expect("it ran");
        for pid in pids.split_whitespace() {
            // A process that was killed may still be about to go on a busy machine; one that was
            // not sleeps on.
            let stat = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let is_alive = || {
                stat()
                    .rsplit_once(')')
                    .is_some_and(|(_, rest)| !rest.starts_with(" Z"))
            };
            let deadline = Instant::now() + Duration::from_mins(1);
            while is_alive() && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(10));
            }
            assert!(!is_alive(), "{pid} is left: {}", stat());
        }
    }
}
