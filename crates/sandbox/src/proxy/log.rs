//! What the proxy refused and how much it let through: as it happens in `network.jsonl`, and in the
//! end for the exit record.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;

use super::meter;
use crate::{Balance, REFUSED_MAX, Refusal, Refused, TokensUsed};

/// Lines that the file may have.
const LINES_MAX: u64 = 1_000;

/// Characters of a host that are kept.
const HOST_CHARS_MAX: usize = 200;

/// What happened so far.
#[derive(Debug)]
pub(super) struct Log(Mutex<State>);

#[derive(Debug)]
struct State {
    file: File,
    n_lines: u64,
    refused: BTreeSet<Refused>,
    n_requests: u64,
    is_used_up: bool,
    used: TokensUsed,
    refused_need: Option<String>,
}

/// What came of a run's network.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Traffic {
    /// What was refused, each once.
    pub(crate) refused: Vec<Refused>,
    /// How many requests went through the routes.
    pub(crate) n_requests: u64,
    /// Whether a request was refused because they were used up.
    pub(crate) is_used_up: bool,
    /// The tokens that their answers told of.
    pub(crate) used: TokensUsed,
    /// The first host that the run needs and was refused.
    pub(crate) refused_need: Option<String>,
}

impl Log {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let file = options.append(true).create(true).mode(0o600).open(path)?;
        Ok(Self(Mutex::new(State {
            file,
            n_lines: 0,
            refused: BTreeSet::new(),
            n_requests: 0,
            is_used_up: false,
            used: TokensUsed::default(),
            refused_need: None,
        })))
    }

    /// Writes a refusal down.
    pub(super) fn refuse(&self, host: &str, port: u16, why: Refusal) {
        let host: String = host.chars().take(HOST_CHARS_MAX).collect();
        let mut state = self.state();
        state.is_used_up |= why == Refusal::RequestsUsedUp;
        if state.n_lines < LINES_MAX {
            state.n_lines += 1;
            let line = json!({ "at_ms": now_ms(), "host": host, "port": port, "why": why });
            // The exit record still has it if the disk is full.
            let _ = writeln!(state.file, "{line}");
        }
        if state.refused.len() < REFUSED_MAX {
            state.refused.insert(Refused { host, port, why });
        }
    }

    /// Remembers that the run was refused a host that it needs.
    pub(super) fn refuse_need(&self, host: &str) {
        self.state()
            .refused_need
            .get_or_insert_with(|| host.to_owned());
    }

    pub(super) fn has_refused_need(&self) -> bool {
        self.state().refused_need.is_some()
    }

    /// Counts what an answer told of.
    pub(super) fn count_tokens(&self, used: TokensUsed) {
        let mut state = self.state();
        state.used = meter::sum(state.used, used);
    }

    /// Counts one request through a route, and returns whether the run may still make it.
    pub(super) fn count_request(
        &self,
        requests_max: Option<u64>,
        balance: Option<&Balance>,
    ) -> bool {
        let mut state = self.state();
        let is_spent = balance.is_some_and(|balance| meter::is_spent(balance, state.used));
        if is_spent || requests_max.is_some_and(|max| state.n_requests >= max) {
            return false;
        }
        state.n_requests += 1;
        true
    }

    pub(super) fn traffic(&self) -> Traffic {
        let state = self.state();
        Traffic {
            refused: state.refused.iter().cloned().collect(),
            n_requests: state.n_requests,
            is_used_up: state.is_used_up,
            used: state.used,
            refused_need: state.refused_need.clone(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn now_ms() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
