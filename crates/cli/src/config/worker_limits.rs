//! How much may run at once, over all loops.

use super::typed::read_of_worker;
use crate::failure::Failure;

/// How much may run at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerLimits {
    /// Runs of agents.
    pub agents_max: usize,
    /// Runs of the projects' own commands.
    pub checks_max: usize,
}

impl Default for WorkerLimits {
    fn default() -> Self {
        Self {
            agents_max: 4,
            checks_max: 2,
        }
    }
}

/// The limits of this person. A project cannot set them, since one worker serves all projects.
pub fn read_worker_limits() -> Result<WorkerLimits, Failure> {
    let worker = read_of_worker()?.worker;
    let shipped = WorkerLimits::default();
    Ok(WorkerLimits {
        agents_max: worker.max_agents.unwrap_or(shipped.agents_max),
        checks_max: worker.max_checks.unwrap_or(shipped.checks_max),
    })
}
