//! Where a run's files are: its folder, its checkout, the config home of its agent.

use std::path::{Path, PathBuf};

use home::{Home, RunName};
use kernel::{AgentName, Order, RunKey, RunPlace};

use crate::fault::Fault;

/// The files of one run.
#[derive(Debug, Clone)]
pub(crate) struct RunFiles {
    /// The run's id, unique over all loops.
    pub(crate) run_id: String,
    /// What its keeper reads and writes.
    pub(crate) folder: PathBuf,
    /// What it works in.
    pub(crate) checkout: PathBuf,
    /// Where its checkout may go when it is not needed any more.
    pub(crate) rack: PathBuf,
    /// Where an agent without a jail puts temporary files. It goes when the run ends.
    pub(crate) scratch: PathBuf,
}

impl RunFiles {
    pub(crate) fn of(home: &Home, loop_id: &str, place: &RunPlace) -> Self {
        let name = RunName::numbered(place.story_number, &place.run);
        // A run that resumes a session works in the checkout of the try that began it.
        let first = RunKey {
            try_number: place.checkout_try,
            ..place.run.clone()
        };
        let checkout = RunName::numbered(place.story_number, &first);
        Self {
            run_id: name.full(loop_id),
            folder: home.run_folder(loop_id, &name),
            checkout: home.checkout(loop_id, &checkout),
            rack: home.rack(loop_id),
            scratch: home.scratch(loop_id).join(name.as_str()),
        }
    }

    /// Writes one of the run's files.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, Fault> {
        let path = self.folder.join(name);
        std::fs::write(&path, bytes).map_err(|error| Fault::io("write", &path, error))?;
        Ok(path)
    }

    /// Makes the run's folder.
    pub(crate) fn make_folder(&self) -> Result<(), Fault> {
        std::fs::create_dir_all(&self.folder)
            .map_err(|error| Fault::io("make", &self.folder, error))
    }
}

/// The config home of an agent in one story of a loop. Stories that are worked on at the same time
/// share none: a CLI rewrites its login and its settings there.
pub(crate) fn config_home(
    home: &Home,
    order: &Order,
    place: &RunPlace,
    agent: &AgentName,
) -> PathBuf {
    let homes = home.agent_homes(&order.loop_id);
    let story = format!("{:04}", place.story_number);
    homes.join(story).join(workspace::ref_component(agent))
}

/// Moves a folder out of the way and leaves its removal to the sweeper: a checkout may hold a
/// hundred thousand files, and whoever ends a run should not wait for that.
pub(crate) fn discard(home: &Home, folder: &Path) {
    if !folder.exists() {
        return;
    }
    let trash = home.trash();
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    for number in 0..100_u32 {
        let unique = format!("{name}-{}-{number}", std::process::id());
        let target = trash.join(unique);
        let moved = std::fs::create_dir_all(&trash).and_then(|()| {
            if target.exists() {
                Ok(false)
            } else {
                std::fs::rename(folder, &target).map(|()| true)
            }
        });
        match moved {
            Ok(true) => return,
            Ok(false) => {}
            Err(_) => break,
        }
    }
    // What cannot be removed now is removed with the loop.
    let _ = home::remove_folder(folder);
}
