//! Says when the files of a loop that is over may go. The journal keeps what happened; only files
//! take room.

use kernel::State;

use crate::settings::Settings;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Whether the files of a loop may go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expiry {
    /// They may.
    Expired,
    /// The loop is not over.
    NotOver,
    /// Not yet.
    Young,
    /// Its repository holds accepted commits that are nowhere else.
    OnlyCopy {
        /// Why they are nowhere else.
        why: String,
    },
}

/// Looks at a loop; without `days` its own settings say how long its files are kept.
pub fn expiry(state: &State, days: Option<u32>, now_ms: i64) -> Expiry {
    if state.ended().is_none() {
        return Expiry::NotOver;
    }
    // Nothing happens after the end, so that the last thing is the end.
    let age_ms = now_ms.saturating_sub(state.last_at_ms());
    if age_ms < i64::from(days.unwrap_or_else(|| days_of(state))).saturating_mul(DAY_MS) {
        return Expiry::Young;
    }
    match state.unpublished() {
        Some(why) => Expiry::OnlyCopy {
            why: why.to_owned(),
        },
        None => Expiry::Expired,
    }
}

/// Settings that cannot be read keep what is there.
fn days_of(state: &State) -> u32 {
    serde_json::from_str(&state.spec().settings)
        .map_or(u32::MAX, |settings: Settings| settings.retention_days)
}
