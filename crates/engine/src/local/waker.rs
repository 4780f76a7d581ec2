//! A wait must end by itself even if the worker is killed in the middle of it: no agent runs then
//! whose keeper could start another worker. So one small process waits beside each worker that has
//! anything to wait for, and starts the next one when the time has come.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use home::Home;

/// The waker of one worker.
#[derive(Default)]
pub(crate) struct Waker(Option<Child>);

impl Waker {
    /// Sees to it that there is one. Where it cannot be started the wait goes on without.
    pub(crate) fn see_to(&mut self, program: &Path, home: &Home) {
        if let Some(child) = &mut self.0
            && matches!(child.try_wait(), Ok(None))
        {
            return;
        }
        let mut command = Command::new(program);
        command.arg("wake").env("LOOPWRIGHT_HOME", home.root());
        command
            .env_remove(sandbox::RUN_DIR_VARIABLE)
            .current_dir("/");
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        self.0 = command.spawn().ok();
    }
}
