//! Tab completion: `loopwright completions SHELL` prints a short script, which asks `loopwright
//! complete` for everything. So a script never gets old, and knows loops and stories.

mod script;
mod words;

pub(crate) use self::script::run as script;
pub(crate) use self::words::run;
