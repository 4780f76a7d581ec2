//! What measurements prove: the candidate beside its base (I8).
//!
//! What was red on the base cannot fail a candidate; what was green must stay green; the new tests
//! must be red on the base and green on the candidate. Nothing here trusts an agent's word, and
//! nothing here passes a story: facts are what the judge starts from and cannot overrule.

mod again;
mod align;
mod check;
mod combine;
mod draft;
mod evidence;
mod facts;
mod families;
mod feedback;
mod measure;
mod names;

pub use again::{RedLook, moment_looks, red_looks};
pub use combine::compare;
pub use evidence::{
    BASE_RERUNS_MAX, ChangedFiles, Evidence, Measured, Measurement, RED_RERUNS_MAX, RERUNS_MAX,
};
pub use facts::{Comparison, Failing, NAMES_MAX, SetupFailed, Wanted};

pub use feedback::{FEEDBACK_BYTES_MAX, feedback, spread_over_files};
