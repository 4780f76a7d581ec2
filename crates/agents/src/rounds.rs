//! Notices an agent that goes round: it makes the same call with the same result, or meets the same
//! failure, again and again. Such a run would go on until its time limit, and pay for all of it.

use std::hash::{DefaultHasher, Hash, Hasher as _};

/// How often in a row the same may happen. An agent that waits for something asks again too, but
/// not that often without getting another answer.
const ROUNDS_MAX: u32 = 30;

/// What happened last, and how often in a row.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    last: Option<u64>,
    n_same: u32,
}

impl Rounds {
    /// Takes a call that ended. What is not known of its result may have differed.
    pub(crate) fn called(&mut self, call: u64, result: Option<u64>) {
        self.happened(result.map(|result| digest(&("call", call, result))));
    }

    /// Takes a failed request.
    pub(crate) fn troubled(&mut self, why: &str) {
        self.happened(Some(digest(&("trouble", why))));
    }

    pub(crate) fn is_too_many(&self) -> bool {
        self.n_same >= ROUNDS_MAX
    }

    fn happened(&mut self, what: Option<u64>) {
        // Who went round once has done so, whatever comes before its end.
        if self.is_too_many() {
            return;
        }
        let is_same = what.is_some() && what == self.last;
        self.n_same = if is_same { self.n_same + 1 } else { 1 };
        self.last = what;
    }
}

/// A number that stands for a value. Two values with the same number are taken for the same.
pub(crate) fn digest(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_thirty_times_in_a_row_is_too_many() {
        let many = |times: u32, again: &dyn Fn(&mut Rounds, u32)| {
            let mut rounds = Rounds::default();
            (0..times).for_each(|n| again(&mut rounds, n));
            rounds.is_too_many()
        };
        let same = |rounds: &mut Rounds, _| rounds.called(1, Some(2));
        assert!(!many(29, &same) && many(30, &same));
        assert!(many(30, &|rounds, _| rounds.troubled("no")));
        // Another result, another call, an unknown result, or something else in between.
        assert!(!many(90, &|rounds, n| rounds.called(1, Some(n.into()))));
        assert!(!many(90, &|rounds, n| rounds.called(n.into(), Some(2))));
        assert!(!many(90, &|rounds, _| rounds.called(1, None)));
        assert!(!many(90, &|rounds, n| match n % 9 {
            0 => rounds.troubled("no"),
            _ => rounds.called(1, Some(2)),
        }));
    }
}
