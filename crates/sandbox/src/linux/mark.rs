//! Who a process is, so that others can tell later whether it still lives.

use std::io;

use super::processes::{self, Identity};
use crate::{KeeperError, ProcessMark};

/// The mark of this process.
pub fn our_mark() -> Result<ProcessMark, KeeperError> {
    let pid = rustix::process::getpid().as_raw_nonzero().get();
    let not_found = || KeeperError::process("find our own process")(io::ErrorKind::NotFound);
    let process = processes::read(pid).ok_or_else(not_found)?;
    let boot_id = processes::boot_id().map_err(KeeperError::process("read the boot id"))?;
    Ok(ProcessMark {
        pid,
        start_time: process.id.start_time,
        boot_id,
    })
}

/// Whether exactly this process still runs and was not stopped, as Ctrl-Z does. Who is stopped may be
/// so for ever, and nobody should wait for it.
pub fn is_at_work(mark: &ProcessMark) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", mark.pid)).unwrap_or_default();
    let state = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
    is_alive(mark) && !state.starts_with(['T', 't'])
}

/// Whether exactly this process still runs. One of an earlier boot does not, and where the table
/// cannot be read the answer is yes: nobody may take for dead what may be alive.
pub fn is_alive(mark: &ProcessMark) -> bool {
    let id = Identity {
        pid: mark.pid,
        start_time: mark.start_time,
    };
    processes::boot_id().map_or(true, |boot_id| boot_id == mark.boot_id)
        && processes::is_running(id)
}
