//! Starts a keeper that does not depend on who started it.
//!
//! The started process starts itself once more and ends. So the keeper is a child of init (or of
//! the nearest subreaper), the caller has nothing to wait for but the process in between, and no
//! zombie is left with it. Whether the keeper then does its work is not waited for:
//! [`look`](crate::look) tells.

use std::env;
use std::ffi::OsStr;
use std::path::{self, Path};
use std::process::{Command, Stdio};

use rustix::process::setsid;

use crate::KeeperError;
use crate::files::RunFolder;

/// Set for the process in between, and taken away for the keeper.
const RELAUNCH_VARIABLE: &str = "LOOPWRIGHT_KEEPER_RELAUNCH";

/// Starts `loopwright keeper RUN_DIR`, detached: own session, nothing of ours as input or output.
///
/// Doing it again is harmless at any time: a folder is kept once, and a second keeper ends at once.
pub fn launch(loopwright: &Path, run_dir: &Path) -> Result<(), KeeperError> {
    let folder = RunFolder::open(run_dir)?;
    // A keeper that cannot read its spec has nobody to tell; so what it would find is looked at
    // here.
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

/// Whether we are the process in between.
pub(super) fn is_in_between() -> bool {
    env::var_os(RELAUNCH_VARIABLE).is_some()
}

/// Starts the keeper proper and does not wait for it; the caller is the process in between and must
/// end now.
pub(super) fn relaunch(folder: &RunFolder) -> Result<(), KeeperError> {
    // From here on the terminal of whoever called us cannot reach the keeper, not even before it
    // has a session.
    setsid().map_err(KeeperError::process("leave the session"))?;
    let program = env::current_exe().map_err(KeeperError::process("find our own program"))?;
    keeper_command(&program, folder)
        .env_remove(RELAUNCH_VARIABLE)
        .spawn()
        .map(drop)
        .map_err(|source| KeeperError::Launch { program, source })
}

fn keeper_command(program: &Path, folder: &RunFolder) -> Command {
    let mut command = Command::new(program);
    command.args([OsStr::new("keeper"), folder.path().as_os_str()]);
    // It may live for hours and must not keep a file system busy.
    command.current_dir("/");
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}
