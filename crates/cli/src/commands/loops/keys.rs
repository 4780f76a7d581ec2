//! The variables that agents get: taken from the shell in which a person starts, resumes or answers,
//! and kept for the worker.

use home::{Home, Settings};
use journal::Journal;
use kernel::LoopSpec;

use crate::failure::Failure;

/// Keeps what this shell has for a loop's agents.
pub(super) fn keep(home: &Home, spec: &LoopSpec) -> Result<(), Failure> {
    // Settings that cannot be read name no agent; whoever needs them says so.
    let Ok(settings) = serde_json::from_str::<Settings>(&spec.settings) else {
        return Ok(());
    };
    let variable = |name: &str| std::env::var(name).ok();
    home::keep_keys(home, &spec.loop_id, &settings, variable).map_err(|error| {
        let path = home.keys_file(&spec.loop_id);
        let full = error.kind() == std::io::ErrorKind::StorageFull;
        let what = if full {
            "the disk is full, so that the keys of its agents cannot be kept in"
        } else {
            "cannot keep the keys of its agents in"
        };
        Failure::environment(&format!("{what} `{}`", path.display()), &error)
    })
}

/// Takes them away again where the loop was not recorded after all.
pub(super) fn forget_if_unknown(home: &Home, journal: &Journal, loop_id: &str) {
    if matches!(journal.row(loop_id), Ok(None)) {
        let _ = home::remove_folder(&home.loop_folder(loop_id));
    }
}
