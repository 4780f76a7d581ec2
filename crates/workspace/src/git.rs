//! Runs the `git` program in a fixed environment, whatever the machine, the operator or an agent
//! has set.
//!
//! Only `PATH` is inherited: no system or user configuration, no hooks, no prompts, no network. A
//! git process that exceeds the time limit is killed. This module does not interpret git's output.

use std::env;
use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use rustix::fs::{Access, access};

use crate::error::{GitError, failed};
use crate::heard::Heard;
use crate::signature::{OUR_EMAIL, OUR_NAME};
use crate::watchdog::Watchdog;

/// Enough for every output that we read in full; a listing of a million paths fits.
const OUTPUT_BYTES_MAX: usize = 512 * 1024 * 1024;
/// No call of ours takes this long, so one that does is hanging: on a dead network disk, on a lock
/// or in a bug of its own.
const TIME_MAX: Duration = Duration::from_mins(10);
/// Only the end of standard error is kept, because that is where git puts the reason.
const STDERR_BYTES_MAX: usize = 4096;

/// The whole environment of every call, except `PATH`.
const ENVIRONMENT: &[(&str, &str)] = &[
    // No home and no configuration files: a setting of the user or the machine must not change
    // what a call does.
    ("HOME", "/nonexistent"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    // `git status` would otherwise take the lock of the operator's index in order to refresh it.
    ("GIT_OPTIONAL_LOCKS", "0"),
    // A replace ref would make an id stand for another object.
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    // A partial clone must fail on a missing object instead of fetching it over the network.
    ("GIT_NO_LAZY_FETCH", "1"),
    // A commit's id depends on its author and committer, so they are the same on every machine.
    ("GIT_AUTHOR_NAME", OUR_NAME),
    ("GIT_AUTHOR_EMAIL", OUR_EMAIL),
    ("GIT_COMMITTER_NAME", OUR_NAME),
    ("GIT_COMMITTER_EMAIL", OUR_EMAIL),
    ("LC_ALL", "C"),
    ("TZ", "UTC"),
    // Git frees what it unpacked after each object. glibc would give the memory back to the kernel and
    // get it again for the next one: twenty thousand calls for five thousand files.
    ("MALLOC_TRIM_THRESHOLD_", "268435456"),
    ("MALLOC_TOP_PAD_", "4194304"),
    ("MALLOC_MMAP_THRESHOLD_", "33554432"),
];

/// Settings for every repository, including the operator's.
const ALWAYS: &[&str] = &[
    // Either can make git run a program.
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.logAllRefUpdates=false",
    // What we record as done must survive a power cut. By default git does not flush loose objects
    // and refs.
    "core.fsync=all",
    // No garbage collection in the background: it would outlive the call.
    "gc.auto=0",
    "maintenance.auto=false",
    // Only local paths may be fetched from.
    "protocol.allow=never",
    "protocol.ext.allow=never",
    "protocol.file.allow=always",
    // Version 2 serves any commit by its id, even if no ref points to it.
    "protocol.version=2",
    "submodule.recurse=false",
];

/// Settings for our own repositories, where bytes go in and come out unchanged.
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
    // Keep what is fetched as a pack: `fast-import` looks for existing objects in packs only, and
    // stores again what it does not find there.
    "fetch.unpackLimit=1",
];

/// The content of `info/attributes`, which overrides every `.gitattributes` in a tree: no filter,
/// no conversion, no hidden diff.
pub(crate) const ATTRIBUTES: &str =
    "* -text !eol !crlf !ident !filter !working-tree-encoding !diff\n";

/// One call of the `git` program, built up argument by argument.
#[derive(Debug)]
pub(crate) struct Git {
    command: Command,
    /// The arguments as error messages show them, without the fixed options.
    words: Vec<String>,
    folder: PathBuf,
    output_bytes_max: usize,
    time_max: Duration,
}

/// The result of a call that ran to its end.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
    /// There was more output than `output_bytes_max`; git was stopped at that point.
    pub(crate) cut: bool,
}

impl Git {
    /// A call that looks for its repository in a folder and above it, as the operator's git does.
    pub(crate) fn found_from(folder: &Path) -> Self {
        Self::by(&find_program("git"), folder)
    }

    fn by(program: &Path, folder: &Path) -> Self {
        let mut command = Command::new(program);
        command
            .env_clear()
            .envs(ENVIRONMENT.iter().copied())
            .current_dir(folder);
        if let Some(path) = env::var_os("PATH") {
            command.env("PATH", path);
        }
        // Its own process group, so that a git that hangs can be killed together with the programs
        // that it started.
        command.process_group(0);
        let git = Self {
            command,
            words: Vec::new(),
            folder: folder.to_owned(),
            output_bytes_max: OUTPUT_BYTES_MAX,
            time_max: TIME_MAX,
        };
        git.configured(ALWAYS)
    }

    /// A call on the operator's repository, given its common git folder.
    pub(crate) fn of_operator(git_dir: &Path) -> Self {
        Self::found_from(git_dir).env("GIT_DIR", git_dir)
    }

    /// A call on one of our own repositories.
    pub(crate) fn of_ours(git_dir: &Path) -> Self {
        Self::of_operator(git_dir).configured(OURS)
    }

    /// A call that reads the configuration of the person who runs us, as their own git does.
    pub(crate) fn of_its_user(mut self) -> Self {
        for name in ["GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_GLOBAL", "HOME"] {
            self.command.env_remove(name);
        }
        for name in [
            "HOME",
            "XDG_CONFIG_HOME",
            "GIT_CONFIG_GLOBAL",
            "GIT_CONFIG_SYSTEM",
            "GIT_CONFIG_NOSYSTEM",
        ] {
            if let Some(value) = env::var_os(name) {
                self.command.env(name, value);
            }
        }
        self
    }

    /// A call of a filter's program instead of git, in the environment of the person who runs us:
    /// that is where it was installed and configured.
    pub(crate) fn filter(command_line: &[u8], folder: &Path) -> Self {
        let mut command = Command::new("sh");
        command
            .arg("-c")
            .arg(OsStr::from_bytes(command_line))
            .current_dir(folder)
            .process_group(0);
        for (name, _) in env::vars_os() {
            // What concerns another repository, or tells LFS to leave pointers.
            if name.as_bytes().starts_with(b"GIT_") && !name.as_bytes().starts_with(b"GIT_CONFIG") {
                command.env_remove(name);
            }
        }
        Self {
            command,
            words: vec![String::from_utf8_lossy(command_line).into_owned()],
            folder: folder.to_owned(),
            output_bytes_max: OUTPUT_BYTES_MAX,
            time_max: TIME_MAX,
        }
    }

    /// A call that needs no repository, and does not find one by accident.
    pub(crate) fn without_repository() -> Self {
        Self::found_from(Path::new("/")).env("GIT_DIR", "/dev/null")
    }

    fn configured(mut self, settings: &[&str]) -> Self {
        for setting in settings {
            self.command.args(["-c", setting]);
        }
        self
    }

    /// Turns `fsync` off, for data that is recreated after a power cut: a private index, an agent's
    /// repository.
    pub(crate) fn without_fsync(self) -> Self {
        self.configured(&["core.fsync=none"])
    }

    /// Uses `folder` as the work tree.
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

    /// Adds a path that git takes literally and not as a pattern; it must come after `--`.
    pub(crate) fn literal_path(self, path: &[u8]) -> Self {
        self.env("GIT_LITERAL_PATHSPECS", "1")
            .arg(OsStr::from_bytes(path))
    }

    /// Stops git after this many bytes of output.
    pub(crate) fn output_bytes_max(mut self, bytes_max: usize) -> Self {
        self.output_bytes_max = bytes_max;
        self
    }

    /// Runs git; any exit code but zero is an error.
    pub(crate) fn run(self) -> Result<Vec<u8>, GitError> {
        let command = self.command_line();
        whole(command, self.outcome()?)
    }

    /// Runs git with this input.
    pub(crate) fn run_with(self, input: &[u8]) -> Result<Vec<u8>, GitError> {
        self.run_fed(|pipe| pipe.write_all(input).map_err(pipe_broke))
    }

    /// Runs git and returns its output as one line of text.
    pub(crate) fn line(self) -> Result<String, GitError> {
        let command = self.command_line();
        let text = String::from_utf8(self.run()?).map_err(|_| GitError::Garbled { command })?;
        Ok(text.trim_end_matches('\n').to_owned())
    }

    /// Runs git with input that `feed` produces while git runs.
    pub(crate) fn run_fed(
        self,
        feed: impl FnOnce(&mut dyn Write) -> Result<(), GitError>,
    ) -> Result<Vec<u8>, GitError> {
        let command = self.command_line();
        whole(command, self.outcome_fed(feed)?)
    }

    /// Runs it for callers to whom some exit codes are answers.
    pub(crate) fn outcome(mut self) -> Result<Output, GitError> {
        let mut child = self.spawn_fed_by(Stdio::null())?;
        let watchdog = Watchdog::new(&child);
        let mut pipes = [
            Heard::start(child.stdout.take(), self.output_bytes_max),
            Heard::end(child.stderr.take(), STDERR_BYTES_MAX),
        ];
        watchdog.listen(&mut pipes, self.time_max);
        let [stdout, stderr] = pipes.map(Heard::into_kept);
        let said = Said {
            status: child.wait(),
            written: Ok(()),
            stdout,
            stderr,
        };
        self.ended(&watchdog, said)
    }

    /// Threads read both output pipes while we write: git may answer before it has read everything,
    /// and would then wait for us while we wait for it.
    pub(crate) fn outcome_fed(
        mut self,
        feed: impl FnOnce(&mut dyn Write) -> Result<(), GitError>,
    ) -> Result<Output, GitError> {
        let mut child = self.spawn()?;
        let bytes_max = self.output_bytes_max;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take();
        let stderr = child.stderr.take();
        let watchdog = Watchdog::new(&child);
        let (written, stdout, stderr) = thread::scope(|scope| {
            // A machine may have no thread left. Then git is ended: its pipes would block it.
            let watch = watchdog.watch(scope, self.time_max);
            let read = move || stdout.map_or(Ok(Vec::new()), |pipe| read_start(pipe, bytes_max));
            let stdout = thread::Builder::new().spawn_scoped(scope, read);
            let read = move || stderr.map_or(Ok(Vec::new()), read_end);
            let stderr = thread::Builder::new().spawn_scoped(scope, read);
            if watch.is_err() || stdout.is_err() || stderr.is_err() {
                watchdog.kill();
            }
            let written = feed_all(stdin, feed);
            let (stdout, stderr) = (joined(stdout), joined(stderr));
            // The watchdog must be off before `child.wait` below: from then on the kernel may give
            // the process id to somebody else.
            watchdog.wait_for_exit();
            let stdout = watch.and(stdout);
            (written, stdout, stderr)
        });
        let said = Said {
            status: child.wait(),
            written,
            stdout,
            stderr,
        };
        self.ended(&watchdog, said)
    }

    fn ended(&self, watchdog: &Watchdog, said: Said) -> Result<Output, GitError> {
        if watchdog.was_aborted() {
            return Err(GitError::Aborted {
                command: self.command_line(),
            });
        }
        if watchdog.has_fired() {
            return Err(GitError::TooSlow {
                command: self.command_line(),
                waited_secs: self.time_max.as_secs(),
            });
        }
        let broke = |source| GitError::Run {
            command: self.command_line(),
            source,
        };
        let status = said.status.map_err(broke)?;
        let mut stdout = said.stdout.map_err(broke)?;
        let stderr = said.stderr.map_err(broke)?;
        match said.written {
            // A git that exited before it had read all its input breaks our pipe too. Then its exit
            // code and its words say more than the broken pipe does.
            Err(GitError::Run { source, .. }) if status.success() => return Err(broke(source)),
            Err(GitError::Run { .. }) | Ok(()) => {}
            Err(ours) => return Err(ours),
        }
        let cut = stdout.len() > self.output_bytes_max;
        stdout.truncate(self.output_bytes_max);
        let stderr = String::from_utf8_lossy(&stderr).trim().to_owned();
        Ok(Output {
            code: status.code(),
            stdout,
            stderr,
            cut,
        })
    }

    /// Starts git with all three pipes, for callers that hold a conversation with it.
    pub(crate) fn spawn(&mut self) -> Result<Child, GitError> {
        self.spawn_fed_by(Stdio::piped())
    }

    fn spawn_fed_by(&mut self, stdin: Stdio) -> Result<Child, GitError> {
        self.command
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        self.command.spawn().map_err(|source| match source.kind() {
            // A missing working folder gives the same error as a missing program.
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

    /// The arguments as error messages show them, without our fixed options.
    pub(crate) fn command_line(&self) -> String {
        self.words.join(" ")
    }
}

/// How a process ended and what went through its pipes.
struct Said {
    status: io::Result<ExitStatus>,
    written: Result<(), GitError>,
    stdout: io::Result<Vec<u8>>,
    stderr: io::Result<Vec<u8>>,
}

/// The output of a call that has to succeed.
fn whole(command: String, output: Output) -> Result<Vec<u8>, GitError> {
    match output {
        // Half an answer may mean something else than the whole, so it is not used.
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

/// Looks a program up in `PATH`, where its folder does not depend on the one that it is run in.
///
/// With a bare name and an environment of its own, the standard library forks instead of using
/// `posix_spawn`, which copies the page tables of a large process for every call of git.
fn find_program(name: &str) -> PathBuf {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).filter(|folder| folder.is_absolute());
    let mut programs = folders.map(|folder| folder.join(name));
    let is_executable =
        |program: &PathBuf| program.is_file() && access(program, Access::EXEC_OK).is_ok();
    programs.find(is_executable).unwrap_or_else(|| name.into())
}

/// Wraps an error of the pipe to git. The call that owns the pipe fills in the command.
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

/// Reads at most one byte more than allowed, which tells the caller that there was more. Closing
/// the pipe afterwards ends git.
fn read_start(pipe: impl Read, bytes_max: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    pipe.take(bytes_max as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads everything and keeps the last [`STDERR_BYTES_MAX`] bytes.
fn read_end(mut pipe: impl Read) -> io::Result<Vec<u8>> {
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

fn joined(
    reader: io::Result<thread::ScopedJoinHandle<'_, io::Result<Vec<u8>>>>,
) -> io::Result<Vec<u8>> {
    reader?
        .join()
        .unwrap_or_else(|_| Err(io::Error::other("the reader of a pipe panicked")))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_missing_program_and_a_missing_folder_are_told_apart() {
        let missing = Git::by(Path::new("/nonexistent/git"), Path::new("/"))
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
        let Err(error) = Git::without_repository()
            .args(["cat-file", "-e", "x"])
            .run()
        else {
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
        let Output { code, stdout, .. } = Git::without_repository()
            .args(["stripspace"])
            .outcome_fed(|pipe| pipe.write_all(&many).map_err(pipe_broke))
            .expect("ran");
        assert_eq!((code, stdout.len()), (Some(0), many.len()));
        let early = Git::without_repository()
            .args(["no-such-command"])
            .run_with(&many);
        assert!(matches!(early, Err(GitError::Failed { .. })), "{early:?}");
    }

    /// The fake git hangs together with a child that holds our pipes; both must be killed.
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
        let mut git = Git::by(&fake, Path::new("/")).arg("version");
        git.time_max = Duration::from_millis(500);
        let Err(GitError::TooSlow { command, .. }) = git.run() else {
            panic!("it ended by itself")
        };
        assert_eq!(command, "version");
        let pids = std::fs::read_to_string(pids).expect("it ran");
        for pid in pids.split_whitespace() {
            // On a busy machine a killed process may take a while to disappear. One that was not
            // killed is still there after the deadline.
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
