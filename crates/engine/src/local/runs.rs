//! Runs as keepers own them: each in its folder, found again by whoever looks there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use sandbox::{Output, RunSpec, RunView, Stream};

use crate::fault::Fault;
use crate::ports::{Look, Runs};

/// How long a keeper that was launched may need until it can be seen.
const LAUNCH_TIME: Duration = Duration::from_secs(2);

/// The runs of one worker.
pub struct KeptRuns {
    program: PathBuf,
    /// When this process launched each run that it has not seen under way yet.
    launched: Mutex<BTreeMap<PathBuf, Instant>>,
}

impl KeptRuns {
    /// Runs whose keepers are this program.
    pub fn new(program: PathBuf) -> Self {
        Self {
            program,
            launched: Mutex::default(),
        }
    }

    fn was_just_launched(&self, folder: &Path) -> bool {
        let launched = self.launched.lock().unwrap_or_else(PoisonError::into_inner);
        launched
            .get(folder)
            .is_some_and(|at| at.elapsed() < LAUNCH_TIME)
    }
}

impl Runs for KeptRuns {
    fn prepare(&self, folder: &Path, spec: &RunSpec) -> Result<(), Fault> {
        sandbox::prepare(folder, spec).map_err(|error| Fault::keeper(folder, error))
    }

    fn launch(&self, folder: &Path) -> Result<(), Fault> {
        let mut launched = self.launched.lock().unwrap_or_else(PoisonError::into_inner);
        launched.retain(|_, at| at.elapsed() < LAUNCH_TIME);
        launched.insert(folder.to_owned(), Instant::now());
        drop(launched);
        sandbox::launch(&self.program, folder).map_err(|error| Fault::keeper(folder, error))
    }

    fn look(&self, folder: &Path) -> Result<Look, Fault> {
        // The spec is written last: where it is, all else is there, and a keeper of an earlier
        // worker may be about to use it.
        if !folder.join("spec.json").exists() {
            return Ok(Look::Unprepared);
        }
        let view = sandbox::look(folder).map_err(|error| Fault::keeper(folder, error))?;
        Ok(match view {
            RunView::NotStarted if self.was_just_launched(folder) => Look::Running,
            RunView::NotStarted => Look::Prepared,
            RunView::Running(_) => Look::Running,
            RunView::Ended(exit) => Look::Ended(Box::new(exit)),
            RunView::Lost(_) => Look::Lost,
            RunView::Rebooted(_) => Look::Rebooted,
        })
    }

    fn stop(&self, folder: &Path, reason: &str) -> Result<(), Fault> {
        sandbox::request_stop(folder, reason).map_err(|error| Fault::keeper(folder, error))
    }

    fn sweep(&self, folder: &Path) -> Result<(), Fault> {
        sandbox::sweep(folder)
            .map(drop)
            .map_err(|error| Fault::keeper(folder, error))
    }

    fn output(&self, folder: &Path, stream: Stream) -> Output {
        sandbox::output(folder, stream).unwrap_or_default()
    }
}
