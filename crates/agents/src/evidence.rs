//! Gathers what a CLI reported about its own failure, before it is classified.

use serde_json::Value;

use crate::exit::Clock;
use crate::json;
use crate::record::prefix;
use crate::reset::{self, Passed, When};

/// How many bytes of an error text are examined.
const TEXT_BYTES_MAX: usize = 8 * 1024;
/// How many error codes are kept.
const CODES_MAX: usize = 16;

/// What a CLI reported about its own failure: a terminal error or a retry notice. Tool output and
/// model text must never get here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Evidence {
    /// The HTTP status of the last request.
    pub(crate) status: Option<u16>,
    /// Error codes in lower case, such as `rate_limit_error` or `context_length_exceeded`.
    codes: Vec<String>,
    /// The error text as the CLI wrote it, cut to [`TEXT_BYTES_MAX`].
    text: String,
    /// The same text, normalised for comparison.
    plain: String,
    /// When an allowance resets, in milliseconds since 1970.
    pub(crate) resets_at_ms: Option<u64>,
    /// How long the server asks to wait.
    pub(crate) retry_after_ms: Option<u64>,
    /// How to read a time of day in the text that has already passed.
    pub(crate) passed: Passed,
}

impl Evidence {
    /// Reads an error text, and the body of the failed request if the text quotes it.
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

    /// Reads an error text whose status the CLI reports in a field of its own.
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

    /// Sets the reset time from an epoch in seconds or milliseconds. A missing or zero epoch leaves
    /// an earlier value alone.
    pub(crate) fn set_reset(&mut self, epoch: Option<u64>) {
        // As seconds this lies in the year 5138, as milliseconds in 1973: any sensible epoch below
        // it is in seconds and any above it in milliseconds.
        const MILLISECONDS_FROM: u64 = 100_000_000_000;
        match epoch {
            None | Some(0) => {}
            Some(secs) if secs < MILLISECONDS_FROM => {
                self.resets_at_ms = Some(secs.saturating_mul(1000));
            }
            Some(ms) => self.resets_at_ms = Some(ms),
        }
    }

    /// Reads the body of a failed request that the CLI reports beside the text.
    pub(crate) fn add_body(&mut self, body: &str) {
        if let Some(body) = json::object_inside(body) {
            self.read_body(&body);
        }
    }

    /// Reads a header of a failed request that says when to try again.
    pub(crate) fn add_header(&mut self, name: &str, value: &str) {
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "retry-after-ms" => self.retry_after_ms = value.parse().ok().or(self.retry_after_ms),
            // Either a number of seconds or a full date. Neither needs a clock.
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
            // Anthropic sends these with a subscription login: the plan's own limit, not a rate.
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
        // Some gateways put the HTTP status into `code` or `status` as a number.
        let number = json::number(error, &["code"]).or_else(|| json::number(error, &["status"]));
        self.status = self.status.or(number.and_then(as_status));
        self.set_reset(json::number(error, &["resets_at"]));
        let secs = json::number(error, &["resets_in_seconds"])
            .or_else(|| json::number(error, &["retry_after"]));
        self.retry_after_ms = secs
            .map(|secs| secs.saturating_mul(1000))
            .or(self.retry_after_ms);
        // Google's errors put the reason and the delay (`"retryDelay": "8.5s"`) into a list.
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

/// Normalises a text for comparison: lower case, plain quotes, single spaces. codex writes
/// typographic quotes (`You’ve`), claude plain ones.
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

/// Text after which a three-digit number is an HTTP status.
const STATUS_PREFIXES: [&str; 7] = [
    "status: ",
    "status ",
    "status code ",
    "status code: ",
    "error code: ",
    "api error: ",
    "(",
];

/// Finds an HTTP status in an error text: at its start, or after a prefix that announces one. A
/// bare number elsewhere may be anything, such as a count of tokens.
fn status_in(text: &str) -> Option<u16> {
    let text = plain(prefix(text, TEXT_BYTES_MAX));
    leading_status(&text).or_else(|| {
        STATUS_PREFIXES.iter().find_map(|prefix| {
            text.match_indices(prefix)
                .find_map(|(at, _)| leading_status(&text[at + prefix.len()..]))
        })
    })
}

fn leading_status(text: &str) -> Option<u16> {
    let status = text.get(..3)?.parse().ok().and_then(as_status)?;
    let is_whole = !text[3..].starts_with(|c: char| c.is_ascii_alphanumeric());
    is_whole.then_some(status)
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
