//! Starts a keeper that does not depend on the process that started it.
//!
//! The started process starts itself once more and exits. So the keeper becomes a child of init (or
//! of the nearest subreaper), and the caller waits only for the short-lived intermediate process
//! and is left with no zombie. Nobody waits for the keeper to succeed: [`look`](crate::look) tells.

use std::env;
use std::ffi::OsStr;
use std::path::{self, Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::setsid;

use crate::KeeperError;
use crate::files::RunFolder;

/// Set for the intermediate process, and removed for the keeper.
const RELAUNCH_VARIABLE: &str = "LOOPWRIGHT_KEEPER_RELAUNCH";

/// Starts `loopwright keeper RUN_DIR`, detached: it has its own session and inherits none of our
/// streams.
///
/// Repeating the call is harmless at any time: a folder has one keeper, and a second one ends at
/// once.
pub fn launch(loopwright: &Path, run_dir: &Path) -> Result<(), KeeperError> {
    let folder = RunFolder::open(run_dir)?;
    // A detached keeper that cannot read its spec could tell nobody, so the spec is read here
    // first.
    folder.required_spec()?;
    let failed = |source| KeeperError::Launch {
        program: loopwright.to_owned(),
        source,
    };
    let program = path::absolute(loopwright).map_err(failed)?;
    let status = keeper_command(&program, &folder)
        .env(RELAUNCH_VARIABLE, "1")
        .status()
        .map_err(failed)?;
    if status.success() {
        Ok(())
    } else {
        Err(KeeperError::LaunchEnded { program, status })
    }
}

/// Whether we are the intermediate process.
pub(super) fn is_intermediate() -> bool {
    env::var_os(RELAUNCH_VARIABLE).is_some()
}

/// Starts the real keeper without waiting for it. The caller is the intermediate process and must
/// exit afterwards.
pub(super) fn relaunch(folder: &RunFolder) -> Result<(), KeeperError> {
    // The keeper starts its own session too, but only later. Leaving the caller's session here
    // closes the gap in which its terminal could still signal the keeper.
    setsid().map_err(KeeperError::process("leave the session"))?;
    let path = env::current_exe().map_err(KeeperError::process("find our own program"))?;
    // An upgrade may have taken our file's name away; the file itself can still be started.
    let program = if path.exists() {
        path
    } else {
        PathBuf::from("/proc/self/exe")
    };
    keeper_command(&program, folder)
        .env_remove(RELAUNCH_VARIABLE)
        .spawn()
        .map(drop)
        .map_err(|source| KeeperError::Launch { program, source })
}

fn keeper_command(program: &Path, folder: &RunFolder) -> Command {
    let mut command = Command::new(program);
    command.args([OsStr::new("keeper"), folder.path().as_os_str()]);
    // The keeper may live for hours. In another folder it would keep that file system from being
    // unmounted.
    command.current_dir("/");
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}
