//! Whoever follows a loop sees to it that somebody works on it, and says so where nobody can.

use std::time::{Duration, Instant};

use home::Home;

use super::serve::ensure_worker;
use crate::failure::{Exit, Failure};

/// The first time without a worker after which one is started; it doubles.
const PATIENCE: Duration = Duration::from_millis(250);

/// How often one is started before we give up.
const STARTS_MAX: u32 = 5;

/// How a worker was missed since the loop's last news.
#[derive(Default)]
pub(super) struct Attendance {
    missed_since: Option<Instant>,
    n_starts: u32,
}

impl Attendance {
    /// Starts a worker where there is none for a while. One that ends at once every time cannot do its
    /// work, and nobody else would ever say so.
    pub(super) fn look(&mut self, home: &Home) -> Result<(), Failure> {
        if home::is_worker_there(home) {
            *self = Self::default();
            return Ok(());
        }
        // Whoever keeps workers by other means starts the next one as well.
        let since = *self.missed_since.get_or_insert_with(Instant::now);
        if home::is_waking_off() || since.elapsed() < PATIENCE * 2_u32.pow(self.n_starts) {
            return Ok(());
        }
        if self.n_starts == STARTS_MAX {
            return Err(nobody_works(home));
        }
        self.n_starts += 1;
        self.missed_since = Some(Instant::now());
        ensure_worker(home)
    }
}

fn nobody_works(home: &Home) -> Failure {
    let log = home.worker_log();
    let said = std::fs::read_to_string(&log).unwrap_or_default();
    let mut errors = said.lines().filter(|line| line.contains("error"));
    let last = errors.next_back().unwrap_or("it says nothing");
    Failure {
        exit: Exit::Environment,
        message: format!("every worker ends at once, so nothing happens: {last}"),
        hints: vec![
            "`loopwright serve` works in this terminal and says what is wrong".to_owned(),
            format!("the log is {}", log.display()),
        ],
    }
}
