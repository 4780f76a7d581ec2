//! Runs the program of a spec until its whole process tree is gone, and reports how it ended.
//!
//! It writes the output files and nothing else; the caller writes the records.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::process::Pid;

use super::capture::{Capture, Captured};
use super::jailed::{Jailed, NoJail};
use super::keeping::Keeping;
use super::secrets::Secrets;
use super::tree::Tree;
use super::watcher::Watcher;
use crate::files::RunFolder;
use crate::moments::moment;
use crate::ports::{PORT_BASE_VARIABLE, PortRange};
use crate::room::has_room;
use crate::{
    ExitCause, ExitRecord, JailSpec, Network, RUN_DIR_VARIABLE, RunSpec, TokensUsed, Watch,
};

/// How often the program, its limits and the stop file are checked. A request to stop is a file, so
/// that it outlives the worker that made it; there is no channel on which to wait for it.
const POLL: Duration = Duration::from_millis(20);

/// Once in how many checks the process that waits for the run is looked for.
const OWNER_LOOKS: u32 = 16;

/// How long the streams may stay open after the last process of the tree has ended.
const STREAMS_SECS_MAX: u64 = 5;

/// Creates the files for both streams, so that a full disk is noticed before anything has started.
pub(super) fn keep_streams(folder: &RunFolder, spec: &RunSpec) -> io::Result<[Keeping; 2]> {
    let start = |name| Keeping::start(folder, name, spec.output_bytes_max);
    Ok([start("stdout")?, start("stderr")?])
}

/// Runs the program and returns when its whole tree is gone.
pub(super) fn run(
    folder: &RunFolder,
    spec: &RunSpec,
    streams: [Keeping; 2],
    watch: Option<Watch>,
) -> ExitRecord {
    let begun = Exit::begin(spec);
    // The stop may have been requested before any keeper existed.
    if must_stop(folder) {
        return begun.without_program(ExitCause::Stopped);
    }
    match Running::start(folder, spec, streams) {
        Ok(mut running) => {
            let cause = running.watch(Watcher::new(watch));
            running.end(cause, begun)
        }
        Err(Refusal { why, is_passing }) => {
            begun.without_program(ExitCause::CannotStart { why, is_passing })
        }
    }
}

/// Why the program was not started.
struct Refusal {
    why: String,
    is_passing: bool,
}

impl From<String> for Refusal {
    fn from(why: String) -> Self {
        Self {
            why,
            is_passing: false,
        }
    }
}

impl From<NoJail> for Refusal {
    fn from(NoJail(why): NoJail) -> Self {
        why.into()
    }
}

/// Milliseconds since 1970.
pub(super) fn now_ms() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Whether the run must stop. A run folder that was removed counts as a request too: without it
/// nobody could ever stop or adopt the run.
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
    jailed: Option<Jailed>,
    /// Held until the whole tree is gone.
    _ports: Option<PortRange>,
}

impl<'a> Running<'a> {
    /// Starts the program. The error goes into the exit record.
    fn start(
        folder: &'a RunFolder,
        spec: &'a RunSpec,
        streams: [Keeping; 2],
    ) -> Result<Self, Refusal> {
        // Checked here, because `spawn` reports a missing folder as if the program were missing. A
        // jail's folder is not one of this machine.
        if spec.jail.is_none() && !spec.cwd.is_dir() {
            let why = format!("there is no folder `{}` to start it in", spec.cwd.display());
            return Err(why.into());
        }
        let stdin = open_stdin(spec)?;
        let refused = |error: io::Error| Refusal {
            why: format!("cannot start `{}`: {error}", spec.program),
            is_passing: matches!(
                error.kind(),
                io::ErrorKind::WouldBlock | io::ErrorKind::OutOfMemory
            ),
        };
        let secrets = Secrets::read(spec).map_err(refused)?;
        let mut env = secrets.passed(spec);
        let ports = spec.takes_ports.then(PortRange::take).flatten();
        if let Some(ports) = &ports {
            let base = OsString::from(ports.base().to_string());
            env.insert(PORT_BASE_VARIABLE.to_owned(), base);
        }
        let jailed = spec.jail.as_ref();
        let jailed = jailed.map(|jail| {
            let env = inside(spec, jail, env.clone());
            Jailed::prepare(folder, spec, jail, env, &secrets)
        });
        let jailed = jailed.transpose()?;
        let [stdout, stderr] = streams;
        let (stdout, stdout_end) = capture(stdout).map_err(refused)?;
        let (stderr, stderr_end) = capture(stderr).map_err(refused)?;
        let streams = [stdin, stdout_end, stderr_end];
        let program = match &jailed {
            Some(jailed) => jailed.spawn(folder, streams)?,
            None => spawn(folder, spec, env, streams).map_err(refused)?,
        };
        moment("after", "the start");
        Ok(Self {
            folder,
            spec,
            tree: Tree::new(program),
            stdout,
            stderr,
            started: Instant::now(),
            jailed,
            _ports: ports,
        })
    }

    /// Waits until the program has ended or must be ended, and returns why.
    ///
    /// It waits for the exit, never for the end of a stream: a grandchild may hold a stream open
    /// forever.
    fn watch(&mut self, mut watcher: Watcher) -> ExitCause {
        let wall = Duration::from_secs(self.spec.wall_secs);
        let mut silence = Silence {
            limit: self.spec.idle_secs.map(Duration::from_secs),
            seen_bytes: 0,
            since: self.started,
        };
        let mut n_looks = 0_u32;
        loop {
            n_looks = n_looks.wrapping_add(1);
            self.tree.reap();
            // The exit comes first: a program that has ended by itself was not stopped by us, even
            // if a limit passes in the same moment.
            if self.tree.program_ended() {
                return ExitCause::Exited;
            }
            if must_stop(self.folder)
                || (n_looks.is_multiple_of(OWNER_LOOKS) && self.is_abandoned())
            {
                return ExitCause::Stopped;
            }
            if self.started.elapsed() >= wall {
                return ExitCause::WallTimeout;
            }
            if silence.is_too_long(self.seen_bytes(), Instant::now()) {
                return ExitCause::IdleTimeout;
            }
            if watcher.must_end(self.folder) {
                return ExitCause::WentRound;
            }
            if self.jailed.as_mut().is_some_and(Jailed::must_end) {
                // As the kernel does at its own limits; a program that is beyond them gets no grace.
                self.tree.kill_all();
                return ExitCause::Exited;
            }
            self.tree.wait_for_end(POLL);
        }
    }

    /// Whether the process that waits for this run is gone.
    fn is_abandoned(&self) -> bool {
        let waits = self.spec.ends_with.as_ref();
        waits.is_some_and(|waits| !super::mark::is_alive(waits))
    }

    /// The output so far, dropped bytes included: they too show that the program is not idle.
    fn seen_bytes(&self) -> u64 {
        self.stdout.seen_bytes() + self.stderr.seen_bytes()
    }

    fn end(mut self, cause: ExitCause, begun: Exit<'_>) -> ExitRecord {
        if !self.tree.program_ended() {
            let (signal, grace) = (self.spec.stop_signal, self.spec.grace_secs);
            let grace = Duration::from_secs(grace);
            match &self.jailed {
                Some(jailed) => jailed.ask_to_end(&mut self.tree, signal, grace),
                None => self.tree.ask_to_end(signal, grace),
            }
        }
        // Also after a normal exit, because the program may have left children behind.
        let swept = self.tree.kill_all();
        // Asked before the streams are waited for: by then the disk may have room again, and the
        // record must tell whether the program met a full disk.
        let has_room = has_room(self.folder.path());
        let wait_max = Duration::from_secs(STREAMS_SECS_MAX);
        let streams = [self.stdout.finish(wait_max), self.stderr.finish(wait_max)];
        let found_full = !has_room || streams.iter().any(|stream| stream.found_full);
        let status = self.tree.exit_status();
        let record = match &self.jailed {
            Some(jailed) => {
                jailed_record(self.folder, jailed, begun, (cause, status, streams, swept))
            }
            None => begun.record(cause, status, streams, swept),
        };
        ExitRecord {
            found_full,
            ..record
        }
    }
}

/// The record of a jailed program, whose end the jail's own program does not tell.
fn jailed_record(
    folder: &RunFolder,
    jailed: &Jailed,
    begun: Exit<'_>,
    (cause, status, streams, swept): (ExitCause, Option<ExitStatus>, [Captured; 2], u32),
) -> ExitRecord {
    let ended = jailed.ended(status);
    jailed.clean(folder);
    if cause == ExitCause::Exited && !ended.has_started {
        let (why, is_passing) = jailed.why_not_started(&ended, &folder.file("stderr"));
        let cause = ExitCause::CannotStart { why, is_passing };
        return begun.record(cause, None, streams, swept);
    }
    let swept = swept.saturating_add(ended.n_left);
    ExitRecord {
        limit: ended.limit,
        refused: ended.traffic.refused,
        requests: ended.traffic.n_requests,
        tokens: (ended.traffic.used != TokensUsed::default()).then_some(ended.traffic.used),
        refused_need: ended.traffic.refused_need,
        ..begun.record(cause, ended.status, streams, swept)
    }
}

/// Notices when there has been no output for too long.
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

/// An exit record under construction.
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
            limit: None,
            refused: Vec::new(),
            requests: 0,
            tokens: None,
            refused_need: None,
        }
    }
}

/// Opens the program's input. Only a regular file is accepted: opening a pipe could block, and no
/// time limit is running yet.
fn open_stdin(spec: &RunSpec) -> Result<Stdio, String> {
    let Some(path) = &spec.stdin else {
        // Never inherited: some agents wait forever on a standard input that stays open.
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

/// Starts capturing one stream. The second value is the program's end of the pipe.
fn capture(keeping: Keeping) -> io::Result<(Capture, Stdio)> {
    let (ours, theirs) = io::pipe()?;
    Ok((Capture::start(ours, keeping)?, theirs.into()))
}

/// Starts the program and returns its process id.
///
/// On return the command is dropped, and with it our copies of the program's pipe ends; if we kept
/// them, the streams would never end. We do not wait for the child here: [`Tree`] waits for all
/// children of this process.
fn spawn(
    folder: &RunFolder,
    spec: &RunSpec,
    passed: BTreeMap<String, OsString>,
    [stdin, stdout, stderr]: [Stdio; 3],
) -> io::Result<Pid> {
    let mut command = Command::new(&spec.program);
    // Its own process group, so that a stop signal reaches the program and its helpers, but not us.
    command
        .args(&spec.args)
        .current_dir(&spec.cwd)
        .process_group(0);
    // Nothing else is inherited. The order decides who wins: `env` over `pass_env`, and our mark
    // over both.
    command.env_clear().envs(passed).envs(&spec.env);
    if !spec.unnamed {
        command.env(RUN_DIR_VARIABLE, folder.path());
    }
    command.stdin(stdin).stdout(stdout).stderr(stderr);
    let child = command.spawn()?;
    Ok(Pid::from_child(&child))
}

/// The environment of a jailed program. It does not have our mark: the path would say where on this
/// machine it runs. Nor does it have a key that the proxy holds, unless `env` gives it a placeholder.
fn inside(
    spec: &RunSpec,
    jail: &JailSpec,
    mut passed: BTreeMap<String, OsString>,
) -> BTreeMap<String, OsString> {
    if let Network::Proxy(proxy) = &jail.network {
        for route in &proxy.routes {
            passed.remove(&route.key_variable);
        }
    }
    let given = spec.env.iter();
    passed.extend(given.map(|(name, value)| (name.clone(), OsString::from(value))));
    passed
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
