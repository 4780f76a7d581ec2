//! What faces may do: write a request into the journal. The kernel answers it like any other event.

use journal::{AppendError, Journal, NewRecord};
use kernel::{Event, IllegalMove, LoopSpec, Stamped, State};

use crate::load::{LoadError, load};
use crate::utc::now_ms;

/// Why a request was not taken.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// The loop cannot be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// It makes no sense for the loop as it stands.
    #[error(transparent)]
    Illegal(#[from] IllegalMove),
    /// The journal did not take it.
    #[error("cannot write to the journal")]
    Append(#[source] AppendError),
    /// The event cannot be written as text.
    #[error("cannot write the request")]
    Json(#[source] serde_json::Error),
}

/// Records a new loop.
pub fn start(journal: &Journal, spec: LoopSpec) -> Result<(), RequestError> {
    let loop_id = spec.loop_id.clone();
    let event = Event::LoopStarted {
        spec: Box::new(spec),
    };
    kernel::State::begin(&Stamped {
        at_ms: now_ms(),
        event: event.clone(),
    })?;
    append(journal, &loop_id, 0, event.kind(), &event)
}

/// Says whether a loop that stands like this would take a request.
pub fn takes(state: &State, event: &Event) -> bool {
    let stamped = Stamped {
        at_ms: now_ms(),
        event: event.clone(),
    };
    state.clone().after(&stamped).is_ok()
}

/// Records a request for a loop that is there; tries again when the worker was quicker.
pub fn request(journal: &Journal, loop_id: &str, event: &Event) -> Result<(), RequestError> {
    loop {
        let mut loaded = load(journal, loop_id)?;
        loaded.state.apply(&Stamped {
            at_ms: now_ms(),
            event: event.clone(),
        })?;
        let kind = kernel::record_kind(event, &loaded.state);
        match append(journal, loop_id, loaded.last, kind, event) {
            Err(RequestError::Append(AppendError::Conflict { .. })) => {}
            done => return done,
        }
    }
}

fn append(
    journal: &Journal,
    loop_id: &str,
    expected: u64,
    kind: &'static str,
    event: &Event,
) -> Result<(), RequestError> {
    let body = serde_json::to_string(event).map_err(RequestError::Json)?;
    let record = NewRecord {
        at_ms: now_ms(),
        kind,
        body: &body,
    };
    journal
        .append(loop_id, expected, None, &[record])
        .map(drop)
        .map_err(RequestError::Append)
}
