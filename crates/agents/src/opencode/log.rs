//! Reads opencode's log on standard error for what its stream leaves out: why its own server
//! failed, and why it retries a request.
//!
//! Only the log's own lines are read, and of those only the fields that name an error. Standard
//! error may also hold what other programs printed.

use jiff::Timestamp;

use crate::evidence::Evidence;

/// The error behind a reference, which the stream gives in place of a message.
pub(super) fn error_of(log: &str, reference: &str) -> Option<String> {
    let wanted = format!(" ref={reference} ");
    let line = log
        .lines()
        .rev()
        .find(|line| is_error(line) && line.contains(&wanted))?;
    field(line, "error")
}

/// The last failed request, unless the model made progress after it. Both times have milliseconds;
/// if they are equal, the failure counts.
pub(super) fn last_failed_request(log: &str, progress_ms: u64) -> Option<Evidence> {
    let is_failed = |line: &&str| is_error(line) && line.contains(" message=\"stream error\" ");
    let line = log.lines().rev().find(is_failed)?;
    let at_ms = iso_ms(line.strip_prefix("timestamp=")?)?;
    // A refused request is logged with one text. A stream that broke off is logged with the fields
    // of the error that arrived in it.
    let text = field(line, "error.error").or_else(|| field(line, "error.error.message"));
    let mut evidence = Evidence::of_text(&text.unwrap_or_default());
    for name in ["error.error.code", "error.error.type"] {
        evidence.add_code(field(line, name).as_deref());
    }
    (at_ms >= progress_ms).then_some(evidence)
}

fn is_error(line: &str) -> bool {
    line.starts_with("timestamp=") && line.contains(" level=ERROR ")
}

/// The value of a field, with or without quotes. Quoted values are escaped as in JSON.
fn field(line: &str, name: &str) -> Option<String> {
    let key = format!(" {name}=");
    let value = &line[line.find(&key)? + key.len()..];
    let mut strings = serde_json::Deserializer::from_str(value).into_iter::<String>();
    match strings.next() {
        Some(Ok(quoted)) => Some(quoted),
        Some(Err(_)) | None => value.split(' ').next().map(str::to_owned),
    }
}

/// Reads the moment `2026-11-16T03:42:12.705Z` that a line begins with, as milliseconds since 1970.
fn iso_ms(line: &str) -> Option<u64> {
    let moment: Timestamp = line.split(' ').next()?.parse().ok()?;
    u64::try_from(moment.as_millisecond()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "timestamp=2026-11-16T03:42:08.333Z level=ERROR run=1 message=\"stream error\" small=false \
        error.error=\"AI_APICallError: Rate limit reached. Please try again in 8s.\"\n\
        noise level=ERROR ref=err_1 error=\"none of its own\"\n\
        timestamp=2026-11-16T03:42:09.000Z level=ERROR run=1 message=failed ref=err_1 error=\"Model not found: \\\"x\\\"\" \
        cause=\"at <anonymous>\"\n";

    #[test]
    fn an_error_is_found_by_its_reference() {
        assert_eq!(
            error_of(LOG, "err_1").as_deref(),
            Some("Model not found: \"x\"")
        );
        assert_eq!(error_of(LOG, "err_2"), None);
    }

    #[test]
    fn a_failed_request_counts_until_the_model_goes_on() {
        const AT_MS: u64 = 1_794_800_528_333;
        let seen =
            |log: &str, ms| last_failed_request(log, ms).map(|evidence| evidence.text().to_owned());
        let said = "AI_APICallError: Rate limit reached. Please try again in 8s.";
        for (progress_ms, expected) in [(0, Some(said)), (AT_MS, Some(said)), (AT_MS + 1, None)] {
            assert_eq!(seen(LOG, progress_ms).as_deref(), expected, "{progress_ms}");
        }
        assert_eq!(
            seen(
                "timestamp=yesterday level=ERROR message=\"stream error\" x",
                0
            ),
            None
        );
        let broken = "timestamp=2026-11-16T03:54:49.184Z level=ERROR run=3 message=\"stream error\" small=false \
            error.error.message=\"Overloaded.\" error.error.type=server_error error.error.code=server_is_overloaded";
        let evidence = last_failed_request(broken, 0);
        assert_eq!(evidence.as_ref().map(Evidence::text), Some("Overloaded."));
        let codes = evidence
            .iter()
            .flat_map(Evidence::codes)
            .collect::<Vec<_>>();
        assert_eq!(codes, ["server_is_overloaded", "server_error"]);
    }
}
