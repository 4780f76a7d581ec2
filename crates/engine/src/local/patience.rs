//! How long waits have lasted, by a clock that nobody can set.
//!
//! A wait is recorded with the time at which it ends. If the machine's clock is set back meanwhile,
//! that time is further away than it was. So a worker also counts the time that was left when it saw
//! the wait first. What it counted is lost with it: the next worker counts anew.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use kernel::{RunKey, WaitOrder};

/// How long a wait that nobody asked about any more is remembered after its end.
const KEPT: Duration = Duration::from_mins(10);

/// The waits of one worker.
#[derive(Default)]
pub(crate) struct Patience(BTreeMap<(String, RunKey, i64), Instant>);

impl Patience {
    /// Whether a wait has lasted as long as was left of it when it was first seen.
    pub(crate) fn is_over(&mut self, loop_id: &str, wait: &WaitOrder, now_ms: i64) -> bool {
        let now = Instant::now();
        self.0.retain(|_, end| *end + KEPT > now);
        let left_ms = u64::try_from(wait.left_ms(now_ms)).unwrap_or_default();
        let key = (loop_id.to_owned(), wait.run.clone(), wait.until_ms);
        // A time beyond what the clock can count is never over.
        let Some(end) = now.checked_add(Duration::from_millis(left_ms)) else {
            return false;
        };
        *self.0.entry(key).or_insert(end) <= now
    }
}

#[cfg(test)]
mod tests {
    use kernel::Stage;

    use super::*;

    #[test]
    fn a_wait_is_over_when_its_time_has_passed_whatever_the_clock_says() {
        let wait = WaitOrder {
            run: RunKey {
                story: "one".into(),
                attempt: 1,
                stage: Stage::Implement,
                try_number: 1,
            },
            since_ms: 0,
            until_ms: 600_000,
            agent: None,
            others: Vec::new(),
            loop_until_ms: None,
        };
        let mut patience = Patience::default();
        // A millisecond is left when it is first seen.
        assert!(!patience.is_over("a", &wait, 599_999));
        std::thread::sleep(Duration::from_millis(2));
        // By then the clock was set back by five minutes.
        assert!(patience.is_over("a", &wait, 300_000));
        assert!(!patience.is_over("b", &wait, 300_000), "of another loop");
    }
}
