//! What faces may do: write a request into the journal. The kernel answers it like any other event.

use journal::{AppendError, Journal, NewRecord};
use kernel::{Event, IllegalMove, LoopSpec, Stamped, State};

use crate::load::{LoadError, load};
use crate::secrets::{Redactor, secrets_seen};
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

/// Records a request for a loop that is there; tries again when the worker was quicker. What a person
/// says in it is recorded without secrets: it is told to agents and shown.
pub fn request(journal: &Journal, loop_id: &str, event: &Event) -> Result<(), RequestError> {
    let event = &without_secrets(event, &Redactor::new(&secrets_seen()));
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

/// A request without the secrets that a person put into their own words.
fn without_secrets(event: &Event, redactor: &Redactor) -> Event {
    let mut event = event.clone();
    if let Some(said) = event.words_of_a_person() {
        *said = redactor.text(said).into_owned();
    }
    event
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secrets::{Known, Secret};

    #[test]
    fn i09_what_a_person_says_is_recorded_without_secrets() {
        let known = Known::default().with("MODEL_KEY", Secret::new("hunter-of-the-snark"));
        let redactor = Redactor::new(&known);
        let words = "use hunter-of-the-snark, then retry".to_owned();
        let story = || kernel::StoryId::from("a");
        for event in [
            Event::RetryRequested {
                story: story(),
                hint: Some(words.clone()),
                agent: None,
                flow: None,
            },
            Event::SkipRequested {
                story: story(),
                reason: words.clone(),
            },
            Event::CancelRequested { reason: words },
        ] {
            let recorded = without_secrets(&event, &redactor);
            let text = serde_json::to_string(&recorded).unwrap();
            assert!(!text.contains("hunter"), "{text}");
            assert!(text.contains("[redacted: MODEL_KEY], then retry"), "{text}");
        }
        let plain = Event::CancelRequested {
            reason: "no more".to_owned(),
        };
        assert_eq!(without_secrets(&plain, &redactor), plain);
    }
}
