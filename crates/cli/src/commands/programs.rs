//! Programs on this machine: where they are, and a short question to one of them.

use std::fs;
use std::io::{Read as _, Seek as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long a program may take to say something about itself. People wait for it, and a machine may
/// be busy.
const PROBE_LIMIT: Duration = Duration::from_secs(10);

/// Bytes of such an answer that are read.
const PROBE_BYTES_MAX: u64 = 64 * 1024;

/// The program that a command would run, found as the system finds it.
pub(crate) fn find_program(program: &str) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(|path| runs(path));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|path| runs(path))
}

/// Whether a path is a file that may be executed.
pub(crate) fn runs(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// What came of a question to a program.
pub(crate) enum Probe {
    /// Its exit code, and what it printed.
    Answered(Option<i32>, String),
    /// It cannot be started.
    Failed,
    /// It took too long.
    TimedOut,
}

/// Runs a program for a moment.
pub(crate) fn probe(command: &mut Command) -> Probe {
    match start_and_wait(command) {
        Ok(probe) => probe,
        Err(_) => Probe::Failed,
    }
}

fn start_and_wait(command: &mut Command) -> std::io::Result<Probe> {
    // A file and not a pipe: whoever inherits a pipe could keep us waiting after the end.
    let mut file = tempfile::tempfile()?;
    command
        .stdin(Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file.try_clone()?)
        .process_group(0);
    let mut child = command.spawn()?;
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if began.elapsed() > PROBE_LIMIT {
            let group = i32::try_from(child.id()).ok();
            if let Some(group) = group.and_then(rustix::process::Pid::from_raw) {
                let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            }
            child.wait()?;
            return Ok(Probe::TimedOut);
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let mut bytes = Vec::new();
    file.rewind()?;
    file.take(PROBE_BYTES_MAX).read_to_end(&mut bytes)?;
    let printed = String::from_utf8_lossy(&bytes).into_owned();
    Ok(Probe::Answered(status.code(), printed))
}
