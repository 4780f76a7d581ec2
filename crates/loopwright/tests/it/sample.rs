//! Which cases of a gallery are played: see `testkit`.

pub(crate) use testkit::{is_soak, sample, sample_of, thrifty_sample};
