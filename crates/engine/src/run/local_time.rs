//! The time of this machine, as CLIs name it when they say when a limit ends.

use std::fs;
use std::sync::{Mutex, PoisonError};

use agents::Clock;
use home::local_offset_secs;

/// How long an offset is taken for known: clocks change at full hours.
const KNOWN_SECS: u64 = 15 * 60;

/// The last offset that was asked for, and when.
static OFFSET: Mutex<Option<(u64, i32)>> = Mutex::new(None);

/// The time here, as CLIs name it.
pub(crate) fn clock(now_ms: i64) -> Clock {
    let now_ms = u64::try_from(now_ms).unwrap_or_default();
    let offset = known_offset_secs(now_ms / 1000);
    let zones = zone_name().map(|name| (name, offset)).into_iter().collect();
    Clock {
        now_ms,
        local_offset_secs: offset,
        zones,
    }
}

/// The zone's name, as the environment or the system has it.
fn zone_name() -> Option<String> {
    if let Ok(name) = std::env::var("TZ") {
        return Some(name.trim_start_matches(':').to_owned());
    }
    let link = fs::read_link("/etc/localtime").ok()?;
    let (_, name) = link.to_str()?.split_once("zoneinfo/")?;
    Some(name.to_owned())
}

fn known_offset_secs(secs: u64) -> i32 {
    let mut known = OFFSET.lock().unwrap_or_else(PoisonError::into_inner);
    match *known {
        Some((asked, offset)) if asked / KNOWN_SECS == secs / KNOWN_SECS => offset,
        _ => {
            let offset = local_offset_secs(secs);
            *known = Some((secs, offset));
            offset
        }
    }
}
