//! A run that is about to be started, with everything that getting it ready looks at.

use home::Settings;
use kernel::{Order, RunOrder};

use crate::ports::{Ports, Repository};
use crate::run::files::RunFiles;

/// Everything that making a run ready looks at.
pub(crate) struct Preparing<'a> {
    pub(crate) order: &'a Order,
    pub(crate) run: &'a RunOrder,
    pub(crate) files: &'a RunFiles,
    pub(crate) settings: &'a Settings,
    pub(crate) repository: &'a dyn Repository,
    pub(crate) ports: &'a Ports,
}
