//! The crash switch: stops a program at a chosen moment, by counting and not by timing.
//!
//! [`Moments`] is for code in the test's own process, which is told to stop. [`CrashSwitch`] is for
//! real processes of the program: all of them count their moments in one folder, and the process
//! that reaches the chosen one kills itself with `SIGKILL`.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Counts moments across several restarts of the same code.
#[derive(Debug, Clone, Default)]
pub struct Moments {
    count: Rc<Cell<usize>>,
}

impl Moments {
    /// How many moments there were.
    pub fn count(&self) -> usize {
        self.count.get()
    }

    /// Makes a switch for one start of the code. `fails` gets the number of each moment, starting
    /// at 1, and its kind; if it returns true, the code must stop there.
    pub fn switch<M>(
        &self,
        fails: impl Fn(usize, M) -> bool + 'static,
    ) -> Box<dyn FnMut(M) -> bool> {
        let count = Rc::clone(&self.count);
        Box::new(move |moment| {
            count.set(count.get() + 1);
            fails(count.get(), moment)
        })
    }
}

/// A folder that tells processes of the program when to die.
///
/// Only a development build looks at it, and only if [`CrashSwitch::VARIABLE`] is set in its
/// environment.
#[derive(Debug)]
pub struct CrashSwitch {
    folder: PathBuf,
}

impl CrashSwitch {
    /// The environment variable that names the folder.
    pub const VARIABLE: &'static str = "LOOPWRIGHT_CRASH_SWITCH";

    /// The same for processes that measure trees; without it they count nothing.
    pub const OF_CHECKS: &'static str = "LOOPWRIGHT_CRASH_SWITCH_OF_CHECKS";

    /// Creates a switch in this folder.
    ///
    /// `at` is the name of a moment and its ordinal among moments of that name, starting at 1 and
    /// counted over all processes. The process that reaches it dies. The clock of all processes
    /// stands still at `clock_ms`.
    pub fn new(folder: &Path, at: Option<(&str, usize)>, clock_ms: i64) -> Self {
        fs::create_dir_all(folder).expect("a folder for the switch");
        // With an empty `at` no process dies, and the moments are only counted.
        let at = at
            .map(|(words, nth)| format!("{words} {nth}"))
            .unwrap_or_default();
        for (name, text) in [
            ("at", at),
            ("moments", String::new()),
            ("clock_ms", clock_ms.to_string()),
        ] {
            fs::write(folder.join(name), text).expect("written");
        }
        Self {
            folder: folder.to_owned(),
        }
    }

    /// The folder, for the program's environment.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The names of all moments so far, in order, over all processes.
    pub fn moments(&self) -> Vec<String> {
        let text = fs::read_to_string(self.folder.join("moments")).expect("read");
        text.lines().map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_count_over_several_lives() {
        let moments = Moments::default();
        let mut first = moments.switch(|count, kind: char| count == 2 && kind == 'b');
        assert_eq!((first('a'), first('b')), (false, true));
        let mut second = moments.switch(|count, _: char| count == 3);
        assert_eq!((second('a'), moments.count()), (true, 3));
    }
}
