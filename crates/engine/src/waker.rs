//! A wait must end by itself even if the worker is killed in the middle of it: no agent runs then
//! whose keeper could start another worker. So a small process of its own waits beside the worker,
//! and starts one when the time has come.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use journal::Journal;

use crate::home::Home;
use crate::loops::load;
use crate::worker::now_ms;

/// How often a waker looks whether anybody still waits.
const LOOK: Duration = Duration::from_secs(1);

/// The wakers of one worker, by loop and time; one that has ended is not started again.
#[derive(Default)]
pub(crate) struct Wakers(BTreeMap<(String, i64), Option<Child>>);

impl Wakers {
    /// Sees to it that there is one for a wait. Where it cannot be started the wait goes on
    /// without.
    pub(crate) fn see_to(&mut self, program: &Path, home: &Home, loop_id: &str, until_ms: i64) {
        for child in self.0.values_mut() {
            child.take_if(|child| !matches!(child.try_wait(), Ok(None)));
        }
        let key = (loop_id.to_owned(), until_ms);
        if self.0.contains_key(&key) {
            return;
        }
        let mut command = Command::new(program);
        command
            .arg("wake")
            .arg(loop_id)
            .arg(until_ms.to_string())
            .env("LOOPWRIGHT_HOME", home.root());
        command
            .env_remove(sandbox::RUN_DIR_VARIABLE)
            .current_dir("/");
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        self.0.insert(key, command.spawn().ok());
    }
}

/// Waits until the time has come, as long as the loop waits for it; says whether a worker is wanted
/// then.
pub fn wait_beside(home: &Home, loop_id: &str, until_ms: i64) -> bool {
    loop {
        let waits = Journal::open(home.root())
            .ok()
            .and_then(|journal| load(&journal, loop_id).ok())
            .is_some_and(|loaded| {
                loaded.state.ended().is_none() && loaded.state.waits_until_ms() == Some(until_ms)
            });
        if !waits {
            return false;
        }
        if now_ms() >= until_ms {
            return true;
        }
        std::thread::sleep(LOOK);
    }
}
