//! What a CLI said of its own failure, gathered before it is judged.

use serde_json::Value;

use crate::exit::Clock;
use crate::json;
use crate::record::prefix;
use crate::reset::{self, Passed, When};

/// Bytes of an error text that are looked at.
const TEXT_BYTES_MAX: usize = 8 * 1024;
/// Words of machines that are kept.
const CODES_MAX: usize = 16;

/// What a CLI said of its own failure: a terminal error or a notice of its own, never what a tool
/// or a model said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Evidence {
    /// The HTTP status of the last request.
    pub(crate) status: Option<u16>,
    /// Words of machines, in lower case: `rate_limit_error`, `context_length_exceeded`.
    codes: Vec<String>,
    /// The text, as it came, cut.
    text: String,
    /// The same, made easy to compare.
    plain: String,
    /// When an allowance is there again.
    pub(crate) resets_at_ms: Option<u64>,
    /// How long to wait.
    pub(crate) retry_after_ms: Option<u64>,
    /// What a time of day in the text means that has passed.
    pub(crate) passed: Passed,
}

impl Evidence {
    /// Reads the text of an error, and the failed request's body where it is inside.
    pub(crate) fn of_text(text: &str) -> Self {
        let mut evidence = Self {
            status: status_in(text),
            ..Self::default()
        };
        evidence.set_text(text);
        if let Some(body) = json::object_inside(text) {
            evidence.read_body(&body);
        }
        evidence
    }

    /// Evidence by a status alone.
    pub(crate) fn of_status(status: Option<u16>, text: &str) -> Self {
        let mut evidence = Self::of_text(text);
        evidence.status = status.or(evidence.status);
        evidence
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The text in lower case, with plain quotes and single spaces.
    pub(crate) fn plain(&self) -> &str {
        &self.plain
    }

    pub(crate) fn codes(&self) -> impl Iterator<Item = &str> {
        self.codes.iter().map(String::as_str)
    }

    pub(crate) fn add_code(&mut self, code: Option<&str>) {
        if let Some(code) = code.filter(|code| !code.is_empty() && self.codes.len() < CODES_MAX) {
            self.codes.push(prefix(code, 100).to_lowercase());
        }
    }

    /// A moment that a machine gave, in seconds or milliseconds since 1970.
    pub(crate) fn set_reset(&mut self, epoch: Option<u64>) {
        const MILLISECONDS_FROM: u64 = 100_000_000_000;
        let ms = |epoch: u64| {
            if epoch < MILLISECONDS_FROM {
                epoch.saturating_mul(1000)
            } else {
                epoch
            }
        };
        self.resets_at_ms = epoch
            .filter(|&epoch| epoch > 0)
            .map(ms)
            .or(self.resets_at_ms);
    }

    /// Reads the body of a failed request that is told beside the text.
    pub(crate) fn add_body(&mut self, body: &str) {
        if let Some(body) = json::object_inside(body) {
            self.read_body(&body);
        }
    }

    /// Reads a header of a failed request that tells when to come back.
    pub(crate) fn add_header(&mut self, name: &str, value: &str) {
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "retry-after-ms" => self.retry_after_ms = value.parse().ok().or(self.retry_after_ms),
            // Seconds or a date; neither needs a clock to be read.
            "retry-after" => {
                match reset::find(
                    &format!("retry-after: {value}"),
                    self.passed,
                    &Clock::default(),
                ) {
                    Some(When::After(ms)) => self.retry_after_ms = self.retry_after_ms.or(Some(ms)),
                    Some(When::At(ms)) => self.resets_at_ms = self.resets_at_ms.or(Some(ms)),
                    None => {}
                }
            }
            "anthropic-ratelimit-unified-status" if value == "rejected" => {
                self.add_code(Some("usage_limit_reached"));
            }
            "anthropic-ratelimit-unified-reset" => self.set_reset(value.parse().ok()),
            _ => {}
        }
    }

    fn set_text(&mut self, text: &str) {
        prefix(text, TEXT_BYTES_MAX).clone_into(&mut self.text);
        self.plain = plain(&self.text);
    }

    /// Reads the body of a failed request, with or without its outer `error`.
    fn read_body(&mut self, body: &Value) {
        let error = json::at(body, &["error"])
            .filter(|error| error.is_object())
            .unwrap_or(body);
        for key in ["code", "type", "status"] {
            self.add_code(json::text(error, &[key]));
        }
        let number = json::number(error, &["code"]).or_else(|| json::number(error, &["status"]));
        self.status = self.status.or(number.and_then(as_status));
        self.set_reset(json::number(error, &["resets_at"]));
        let secs = json::number(error, &["resets_in_seconds"])
            .or_else(|| json::number(error, &["retry_after"]));
        self.retry_after_ms = secs
            .map(|secs| secs.saturating_mul(1000))
            .or(self.retry_after_ms);
        for detail in json::list(error, &["details"]) {
            self.add_code(json::text(detail, &["reason"]));
            let delay =
                json::text(detail, &["retryDelay"]).and_then(|delay| delay.strip_suffix('s'));
            let secs = delay
                .and_then(|delay| delay.parse::<f64>().ok())
                .filter(|secs| (0.0..1e7).contains(secs));
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "the range was checked in the line above"
            )]
            let delay_ms = secs.map(|secs| (secs * 1000.0) as u64);
            self.retry_after_ms = delay_ms.or(self.retry_after_ms);
        }
    }
}

/// Makes a text easy to compare: lower case, plain quotes, single spaces.
fn plain(text: &str) -> String {
    let quotes = text
        .replace(['\u{2019}', '\u{2018}'], "'")
        .replace(['\u{201c}', '\u{201d}'], "\"");
    let words: Vec<&str> = quotes.split_whitespace().collect();
    words.join(" ").to_lowercase()
}

fn as_status(number: u64) -> Option<u16> {
    u16::try_from(number)
        .ok()
        .filter(|status| (400..600).contains(status))
}

/// Words before which a number of three digits is an HTTP status.
const STATUS_SIGNS: [&str; 7] = [
    "status: ",
    "status ",
    "status code ",
    "status code: ",
    "error code: ",
    "api error: ",
    "(",
];

/// Finds an HTTP status in an error text: at its beginning, or after a word that announces one. A
/// bare number elsewhere may be anything.
fn status_in(text: &str) -> Option<u16> {
    let text = plain(prefix(text, TEXT_BYTES_MAX));
    let number = |rest: &str| {
        let digits = rest.get(..3)?.parse().ok().and_then(as_status)?;
        let is_whole = !rest[3..].starts_with(|c: char| c.is_ascii_alphanumeric());
        is_whole.then_some(digits)
    };
    let after = |sign: &str| {
        text.match_indices(sign)
            .find_map(|(at, _)| number(&text[at + sign.len()..]))
    };
    number(&text).or_else(|| STATUS_SIGNS.iter().find_map(|sign| after(sign)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_found_in() {
        for (text, expected) in [
            (
                "exceeded retry limit, last status: 429 Too Many Requests",
                Some(429),
            ),
            ("unexpected status 401 Unauthorized: …", Some(401)),
            ("429: {\"message\":\"…\"}", Some(429)),
            ("529 Overloaded", Some(529)),
            ("API Error: 500 Internal server error.", Some(500)),
            ("API Error: Request rejected (429) · …", Some(429)),
            ("Limit 30000, Used 29000, Requested 500", None),
            ("500000 tokens", None),
            ("port 443", None),
            ("", None),
            ("é00", None),
        ] {
            assert_eq!(status_in(text), expected, "{text}");
        }
    }

    #[test]
    fn a_body_inside_a_text_is_read() {
        let text = "429: {\"error\":{\"type\":\"usage_limit_reached\",\"resets_at\":1794790000,\"resets_in_seconds\":7200}}";
        let evidence = Evidence::of_text(text);
        assert_eq!(evidence.status, Some(429));
        assert_eq!(
            evidence.codes().collect::<Vec<_>>(),
            ["usage_limit_reached"]
        );
        assert_eq!(evidence.resets_at_ms, Some(1_794_790_000_000));
        assert_eq!(evidence.retry_after_ms, Some(7_200_000));
    }
}
