//! `loopwright service install|status|uninstall`: a worker that the system keeps alive, so that a
//! reboot resumes every loop and a restart of the service ends no agent.

mod manager;
mod run;
mod texts;

pub(crate) use self::run::run;
