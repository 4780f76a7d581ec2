//! Which signal asked a process of ours to end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag::register_usize;

use crate::failure::Failure;

/// Notes the last signal that asks to end.
#[derive(Debug, Clone)]
pub struct Signals(Arc<AtomicUsize>);

impl Signals {
    /// Watches from now on.
    pub fn watch() -> Result<Self, Failure> {
        let noted = Arc::new(AtomicUsize::new(0));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let number = usize::try_from(signal).unwrap_or_default();
            register_usize(signal, Arc::clone(&noted), number)
                .map_err(|error| Failure::environment("cannot watch for signals", &error))?;
        }
        Ok(Self(noted))
    }

    /// The signal, if one came.
    pub fn seen(&self) -> Option<i32> {
        match self.0.load(Ordering::Acquire) {
            0 => None,
            signal => i32::try_from(signal).ok(),
        }
    }
}
