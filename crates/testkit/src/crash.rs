//! The crash switch: cuts a program off at a chosen moment, by count and not by luck.
//!
//! [`Moments`] is for code in the test's own process, which is told to stop. [`CrashSwitch`] is for
//! real processes of the program: each counts its moments in one folder, and the one whose count is
//! named kills itself with `SIGKILL`.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Counts moments over several lives of the same code.
#[derive(Debug, Clone, Default)]
pub struct Moments {
    count: Rc<Cell<usize>>,
}

impl Moments {
    /// How many there were.
    pub fn count(&self) -> usize {
        self.count.get()
    }

    /// A switch for one life; `fails` is given the number of each moment, from 1, and what kind it
    /// is.
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

/// The folder by which processes of the program are told when to die.
///
/// Only a program built for development looks at it, and only if its environment has
/// [`CrashSwitch::VARIABLE`].
#[derive(Debug)]
pub struct CrashSwitch {
    folder: PathBuf,
}

impl CrashSwitch {
    /// The variable that names the folder.
    pub const VARIABLE: &'static str = "LOOPWRIGHT_CRASH_SWITCH";

    /// A switch in this folder, which it makes. The process that comes to the moment with these
    /// words for the given time, counted from 1 over all processes, dies there; time stands still
    /// at `clock_ms`.
    pub fn new(folder: &Path, at: Option<(&str, usize)>, clock_ms: i64) -> Self {
        fs::create_dir_all(folder).expect("a folder for the switch");
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

    /// Where it is, for the program's environment.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What each moment so far was, in order, over all processes.
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
