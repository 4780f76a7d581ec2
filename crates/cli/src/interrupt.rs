//! Ctrl-C in a command that follows a loop: it is noted, so that the command can say what became of
//! the loop before it ends.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::SigId;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_shutdown};
use signal_hook::low_level::unregister;

use crate::failure::{Exit, Failure};

/// Whether somebody wants the command to end.
pub(crate) struct Interrupt {
    pressed: Arc<AtomicBool>,
    /// What ends the command at once when it is asked for the second time.
    impatience: Vec<SigId>,
}

impl Interrupt {
    /// Watches from now on.
    pub(crate) fn watch() -> Result<Self, Failure> {
        Self::try_watch().map_err(|error| Failure::environment("cannot watch for Ctrl-C", &error))
    }

    fn try_watch() -> io::Result<Self> {
        let pressed = Arc::new(AtomicBool::new(false));
        let mut impatience = Vec::new();
        for signal in [SIGINT, SIGTERM] {
            let exit = Exit::Interrupted.number();
            let again = register_conditional_shutdown(signal, exit, Arc::clone(&pressed))?;
            impatience.push(again);
            register(signal, Arc::clone(&pressed))?;
        }
        Ok(Self {
            pressed,
            impatience,
        })
    }

    /// From now on there is something to say, so that nobody ends without a word.
    pub(crate) fn has_something_to_say(&mut self) {
        for again in self.impatience.drain(..) {
            unregister(again);
        }
    }

    /// Watches where somebody will follow a loop.
    pub(crate) fn watch_if(is_followed: bool) -> Result<Option<Self>, Failure> {
        is_followed.then(Self::watch).transpose()
    }

    /// The last moment at which no loop was started.
    pub(crate) fn before_a_loop(interrupt: Option<&mut Self>) -> Result<(), Failure> {
        let Some(interrupt) = interrupt else {
            return Ok(());
        };
        interrupt.has_something_to_say();
        if !interrupt.is_wanted() {
            return Ok(());
        }
        Err(Failure {
            exit: Exit::Interrupted,
            message: "interrupted: no loop was started".to_owned(),
            hints: Vec::new(),
        })
    }

    pub(crate) fn is_wanted(&self) -> bool {
        self.pressed.load(Ordering::Acquire)
    }
}
