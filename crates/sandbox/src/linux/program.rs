//! Runs the program of a spec from its start to the end of its tree, and says how that went.
//!
//! It writes the two output files and nothing else; the records are the caller's.

use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::process::Pid;

use super::capture::{Capture, Captured};
use super::keeping::Keeping;
use super::tree::Tree;
use crate::files::RunFolder;
use crate::moments::moment;
use crate::room::has_room;
use crate::{ExitCause, ExitRecord, RUN_DIR_VARIABLE, RunSpec};

const POLL: Duration = Duration::from_millis(20);

/// How long the streams may take to end after the last process of the tree has.
const STREAMS_SECS_MAX: u64 = 5;

/// Makes the files for both streams; a disk that is too full even for that is known before anything
/// has begun.
pub(super) fn keep_streams(folder: &RunFolder, spec: &RunSpec) -> io::Result<[Keeping; 2]> {
    let start = |name| Keeping::start(folder, name, spec.output_bytes_max);
    Ok([start("stdout")?, start("stderr")?])
}

/// Runs the program and returns when its whole tree is gone.
pub(super) fn run(folder: &RunFolder, spec: &RunSpec, streams: [Keeping; 2]) -> ExitRecord {
    let begun = Exit::begin(spec);
    if must_stop(folder) {
        return begun.without_program(ExitCause::Stopped);
    }
    match Running::start(folder, spec, streams) {
        Ok(mut running) => {
            let cause = running.watch();
            running.end(cause, begun)
        }
        Err(why) => begun.without_program(ExitCause::CannotStart { why }),
    }
}

/// Milliseconds since 1970.
pub(super) fn now_ms() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// A folder that was taken away is a wish to stop too: nobody could ever stop or adopt the run
/// through it again.
fn must_stop(folder: &RunFolder) -> bool {
    folder.stop_file().exists() || matches!(folder.path().try_exists(), Ok(false))
}

struct Running<'a> {
    folder: &'a RunFolder,
    spec: &'a RunSpec,
    tree: Tree,
    stdout: Capture,
    stderr: Capture,
    started: Instant,
}

impl<'a> Running<'a> {
    /// Starts the program; the error is the reason for people.
    fn start(
        folder: &'a RunFolder,
        spec: &'a RunSpec,
        streams: [Keeping; 2],
    ) -> Result<Self, String> {
        if !spec.cwd.is_dir() {
            return Err(format!(
                "there is no folder `{}` to start it in",
                spec.cwd.display()
            ));
        }
        let stdin = open_stdin(spec)?;
        let refused = |error: io::Error| format!("cannot start `{}`: {error}", spec.program);
        let [stdout, stderr] = streams;
        let (stdout, stdout_end) = capture(stdout).map_err(refused)?;
        let (stderr, stderr_end) = capture(stderr).map_err(refused)?;
        let program = spawn(folder, spec, [stdin, stdout_end, stderr_end]).map_err(refused)?;
        moment("after", "the start");
        Ok(Self {
            folder,
            spec,
            tree: Tree::new(program),
            stdout,
            stderr,
            started: Instant::now(),
        })
    }

    /// Waits until the program has ended or must end, and says why.
    ///
    /// It waits for the exit, never for the end of a stream: a process left behind may hold one
    /// open for ever.
    fn watch(&mut self) -> ExitCause {
        let wall = Duration::from_secs(self.spec.wall_secs);
        let mut silence = Silence {
            limit: self.spec.idle_secs.map(Duration::from_secs),
            seen_bytes: 0,
            since: self.started,
        };
        loop {
            self.tree.reap();
            if self.tree.program_ended() {
                return ExitCause::Exited;
            }
            if must_stop(self.folder) {
                return ExitCause::Stopped;
            }
            if self.started.elapsed() >= wall {
                return ExitCause::WallTimeout;
            }
            if silence.is_too_long(self.seen_bytes(), Instant::now()) {
                return ExitCause::IdleTimeout;
            }
            thread::sleep(POLL);
        }
    }

    /// Output that is dropped is talk too.
    fn seen_bytes(&self) -> u64 {
        self.stdout.seen_bytes() + self.stderr.seen_bytes()
    }

    fn end(mut self, cause: ExitCause, begun: Exit<'_>) -> ExitRecord {
        if !self.tree.program_ended() {
            self.tree.ask_to_end(
                self.spec.stop_signal,
                Duration::from_secs(self.spec.grace_secs),
            );
        }
        let swept = self.tree.kill_all();
        let has_room = has_room(self.folder.path());
        let wait_max = Duration::from_secs(STREAMS_SECS_MAX);
        let streams = [self.stdout.finish(wait_max), self.stderr.finish(wait_max)];
        let found_full = !has_room || streams.iter().any(|stream| stream.found_full);
        ExitRecord {
            found_full,
            ..begun.record(cause, self.tree.exit_status(), streams, swept)
        }
    }
}

/// Notices when no byte came for too long.
struct Silence {
    limit: Option<Duration>,
    seen_bytes: u64,
    since: Instant,
}

impl Silence {
    fn is_too_long(&mut self, seen_bytes: u64, now: Instant) -> bool {
        if seen_bytes != self.seen_bytes {
            self.seen_bytes = seen_bytes;
            self.since = now;
        }
        self.limit
            .is_some_and(|limit| now.duration_since(self.since) >= limit)
    }
}

/// An exit record in the making.
struct Exit<'a> {
    spec: &'a RunSpec,
    started_at_ms: u64,
}

impl<'a> Exit<'a> {
    fn begin(spec: &'a RunSpec) -> Self {
        Self {
            spec,
            started_at_ms: now_ms(),
        }
    }

    fn without_program(self, cause: ExitCause) -> ExitRecord {
        self.record(cause, None, [Captured::default(); 2], 0)
    }

    fn record(
        self,
        cause: ExitCause,
        status: Option<ExitStatus>,
        streams: [Captured; 2],
        swept: u32,
    ) -> ExitRecord {
        let [stdout, stderr] = streams;
        ExitRecord {
            run_id: self.spec.run_id.clone(),
            cause,
            exit_code: status.and_then(|status| status.code()),
            signal: status.and_then(|status| status.signal()),
            started_at_ms: self.started_at_ms,
            ended_at_ms: now_ms(),
            stdout_bytes: stdout.kept_bytes,
            stderr_bytes: stderr.kept_bytes,
            stdout_dropped: stdout.dropped_bytes,
            stderr_dropped: stderr.dropped_bytes,
            swept,
            found_full: false,
        }
    }
}

/// Only a regular file is taken: opening a pipe could block us before any limit counts.
fn open_stdin(spec: &RunSpec) -> Result<Stdio, String> {
    let Some(path) = &spec.stdin else {
        return Ok(Stdio::null());
    };
    if !path.is_file() {
        return Err(format!(
            "there is no file `{}` to be its input",
            path.display()
        ));
    }
    let refused = |error| format!("cannot open its input `{}`: {error}", path.display());
    File::open(path).map(Stdio::from).map_err(refused)
}

/// Makes the pipe of one stream; the second half is the program's.
fn capture(keeping: Keeping) -> io::Result<(Capture, Stdio)> {
    let (ours, theirs) = io::pipe()?;
    Ok((Capture::start(ours, keeping)?, theirs.into()))
}

/// The command is dropped here, and with it our copies of the program's ends of the pipes. The
/// child is not: waiting for it is the tree's, which waits for all children of this process.
fn spawn(
    folder: &RunFolder,
    spec: &RunSpec,
    [stdin, stdout, stderr]: [Stdio; 3],
) -> io::Result<Pid> {
    let mut command = Command::new(&spec.program);
    command
        .args(&spec.args)
        .current_dir(&spec.cwd)
        .process_group(0);
    let passed = spec
        .pass_env
        .iter()
        .filter_map(|name| Some((name, std::env::var_os(name)?)));
    command
        .env_clear()
        .envs(passed)
        .envs(&spec.env)
        .env(RUN_DIR_VARIABLE, folder.path());
    command.stdin(stdin).stdout(stdout).stderr(stderr);
    let child = command.spawn()?;
    Ok(Pid::from_child(&child))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_too_long_when_no_byte_came_for_the_limit() {
        let start = Instant::now();
        for (limit_secs, looks, expected) in [
            (Some(10), vec![(9, 0)], false),
            (Some(10), vec![(10, 0)], true),
            (Some(10), vec![(9, 1), (18, 1)], false),
            (Some(10), vec![(9, 1), (19, 1)], true),
            (Some(10), vec![(9, 1), (18, 2), (27, 3)], false),
            (None, vec![(1_000_000, 0)], false),
        ] {
            let limit = limit_secs.map(Duration::from_secs);
            let mut silence = Silence {
                limit,
                seen_bytes: 0,
                since: start,
            };
            let answers = looks.iter().map(|(at_secs, seen_bytes)| {
                silence.is_too_long(*seen_bytes, start + Duration::from_secs(*at_secs))
            });
            assert_eq!(answers.last(), Some(expected), "{limit_secs:?}, {looks:?}");
        }
    }
}
