//! The keeper on systems without `/proc` and without child subreapers: it refuses to work.
//!
//! It deliberately does not try to do half of the work: a process tree that cannot be ended must
//! not be started.

use std::path::Path;

use crate::{ExitOutcome, KeeperError, Layers, ProcessMark, ProxySpec, RunSpec, RunView, Watch};

/// What a host answered.
#[derive(Clone, PartialEq, Eq)]
pub struct Answered {
    /// The status.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
}

/// Refuses, because there are no jails on this system for which anything would have to be asked.
pub fn ask(_ways: &ProxySpec, _url: &str, _body: &str) -> std::io::Result<Answered> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Refuses, because a keeper could not end its process tree on this system.
pub fn launch(_loopwright: &Path, _run_dir: &Path) -> Result<(), KeeperError> {
    Err(KeeperError::Unsupported)
}

/// Refuses, because a keeper could not end its process tree on this system.
pub fn keep(_run_dir: &Path, _watch: impl FnOnce(&RunSpec) -> Option<Watch>) -> ExitOutcome {
    ExitOutcome::Failed(KeeperError::Unsupported)
}

/// Returns what the folder alone tells. Whether a keeper is alive cannot be known on this system.
pub fn look(run_dir: &Path) -> Result<RunView, KeeperError> {
    let folder = crate::files::RunFolder::open(run_dir)?;
    match (folder.exit()?, folder.keeper()?) {
        (Some(exit), _) => Ok(RunView::Ended(exit)),
        (None, None) => Ok(RunView::NotStarted),
        (None, Some(_)) => Err(KeeperError::Unsupported),
    }
}

/// Refuses, because orphaned processes cannot be found on this system.
pub fn sweep(_run_dir: &Path) -> Result<u32, KeeperError> {
    Err(KeeperError::Unsupported)
}

/// Refuses, because there are no jails on this system.
pub fn shim(_args: impl Iterator<Item = std::ffi::OsString>) -> std::process::ExitCode {
    std::process::ExitCode::FAILURE
}

/// Refuses, because there are no layers on this system.
pub fn enter_namespace() -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Refuses, because there are no layers on this system.
pub fn mount_layers(_layers: &Layers) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Refuses, because there are no layers on this system.
pub fn unmount_layers(_at: &Path) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Refuses, because there are no layers on this system.
pub fn try_layers(_loopwright: &Path, _folder: &Path) -> Result<(), String> {
    Err("this system has no layers".to_owned())
}

/// Refuses, because there are no layers on this system.
pub fn layers_command(
    _name: &std::ffi::OsStr,
    _args: impl Iterator<Item = std::ffi::OsString>,
) -> std::process::ExitCode {
    std::process::ExitCode::FAILURE
}

/// Refuses, because a process cannot be told from its successors on this system.
pub fn our_mark() -> Result<ProcessMark, KeeperError> {
    Err(KeeperError::Unsupported)
}

/// Nobody may take for dead what may be alive.
pub fn is_alive(_mark: &ProcessMark) -> bool {
    true
}

/// Nobody may take for dead what may be alive.
pub fn is_at_work(_mark: &ProcessMark) -> bool {
    true
}
