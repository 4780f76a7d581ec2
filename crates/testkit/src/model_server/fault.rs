//! Failures in the form in which each provider really reports them.

use std::time::SystemTime;

use serde_json::{Value, json};

use super::Api;

/// A failure on the provider's side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The key is not accepted.
    Unauthorized,
    /// There were too many requests in a short time.
    RateLimit,
    /// The allowance of the plan is used up.
    UsageLimit {
        /// When the allowance is reset, in seconds since 1970.
        resets_at_secs: u64,
    },
    /// There is no credit left.
    Quota,
    /// The request exceeds the model's context window.
    ContextOverflow,
    /// The server has an internal error.
    ServerError,
    /// The server is overloaded.
    Overloaded,
}

/// A status, headers and a body.
pub(super) type FaultAnswer = (u16, Vec<(String, String)>, Value);

impl Fault {
    pub(super) fn answer(self, api: Api) -> FaultAnswer {
        let detail = self.detail(api);
        let body = match api {
            Api::Messages => {
                json!({"type": "error", "error": detail, "request_id": "req_scripted"})
            }
            Api::Responses | Api::Chat | Api::Gemini => json!({ "error": detail }),
        };
        (self.status(api), self.headers(api), body)
    }

    /// The HTTP status, which differs between the providers for the same failure.
    fn status(self, api: Api) -> u16 {
        match self {
            // Gemini reports a bad key as a bad request.
            Self::Unauthorized if api == Api::Gemini => 400,
            Self::Unauthorized => 401,
            // Anthropic reports an empty account as a bad request.
            Self::Quota if api == Api::Messages => 400,
            Self::RateLimit | Self::UsageLimit { .. } | Self::Quota => 429,
            Self::ContextOverflow => 400,
            Self::ServerError => 500,
            // Anthropic's own status, which is not in the standard.
            Self::Overloaded if api == Api::Messages => 529,
            Self::Overloaded => 503,
        }
    }

    /// The headers of a usage limit. Of these APIs, only Messages reports a subscription's limit in
    /// headers.
    fn headers(self, api: Api) -> Vec<(String, String)> {
        let Self::UsageLimit { resets_at_secs } = self else {
            return Vec::new();
        };
        if api != Api::Messages {
            return Vec::new();
        }
        let reset = resets_at_secs.to_string();
        [
            ("status", "rejected"),
            ("reset", &reset),
            ("representative-claim", "five_hour"),
            ("5h-status", "rejected"),
            ("5h-reset", &reset),
            ("5h-utilization", "1.0"),
        ]
        .map(|(name, value)| {
            (
                format!("anthropic-ratelimit-unified-{name}"),
                value.to_owned(),
            )
        })
        .into()
    }

    /// The error object, which is the same in a body and in a stream.
    pub(super) fn detail(self, api: Api) -> Value {
        match api {
            Api::Responses | Api::Chat => self.openai(),
            Api::Messages => self.anthropic(),
            Api::Gemini => self.gemini(),
        }
    }

    fn openai(self) -> Value {
        let error = |kind: &str, code: &str, message: &str| {
            let code = if code.is_empty() {
                Value::Null
            } else {
                Value::from(code)
            };
            json!({"type": kind, "code": code, "message": message, "param": null})
        };
        match self {
            Self::Unauthorized => error(
                "invalid_request_error",
                "invalid_api_key",
                "Incorrect API key provided: dummy.",
            ),
            Self::RateLimit => error(
                "tokens",
                "rate_limit_exceeded",
                "Rate limit reached for this model on tokens per min (TPM): Limit 30000, Used 29000. Please try again in 8s.",
            ),
            Self::UsageLimit { resets_at_secs } => json!({
                "type": "usage_limit_reached",
                "message": "The usage limit has been reached",
                "plan_type": "plus",
                "resets_at": resets_at_secs,
            }),
            Self::Quota => error(
                "insufficient_quota",
                "insufficient_quota",
                "You exceeded your current quota, please check your plan and billing details.",
            ),
            Self::ContextOverflow => error(
                "invalid_request_error",
                "context_length_exceeded",
                "Your input exceeds the context window of this model. Please adjust your input and try again.",
            ),
            Self::ServerError => error(
                "server_error",
                "",
                "The server had an error while processing your request. Sorry about that!",
            ),
            Self::Overloaded => error(
                "server_error",
                "server_is_overloaded",
                "Our servers are currently overloaded.",
            ),
        }
    }

    fn anthropic(self) -> Value {
        let (kind, message) = match self {
            Self::Unauthorized => ("authentication_error", "invalid x-api-key"),
            // The body is the same for both. Only the headers tell a usage limit from a rate limit.
            Self::RateLimit | Self::UsageLimit { .. } => (
                "rate_limit_error",
                "This request would exceed your organization's rate limit of 50,000 input tokens per minute.",
            ),
            Self::Quota => (
                "invalid_request_error",
                "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade.",
            ),
            Self::ContextOverflow => (
                "invalid_request_error",
                "prompt is too long: 208310 tokens > 200000 maximum",
            ),
            Self::ServerError => ("api_error", "Internal server error"),
            Self::Overloaded => ("overloaded_error", "Overloaded"),
        };
        json!({"type": kind, "message": message})
    }

    fn gemini(self) -> Value {
        let error = |code: u16, status: &str, message: &str| json!({"code": code, "status": status, "message": message});
        match self {
            Self::Unauthorized => {
                let mut error = error(
                    400,
                    "INVALID_ARGUMENT",
                    "API key not valid. Please pass a valid API key.",
                );
                error["details"] =
                    json!([{"reason": "API_KEY_INVALID", "domain": "googleapis.com"}]);
                error
            }
            Self::RateLimit => {
                let text = "You exceeded your current quota, please check your plan and billing details. Please retry in 5.0s.";
                let mut error = error(429, "RESOURCE_EXHAUSTED", text);
                let kind = "type.googleapis.com/google.rpc.RetryInfo";
                error["details"] = json!([{"@type": kind, "retryDelay": "5s"}]);
                error
            }
            Self::UsageLimit { resets_at_secs } => {
                // Gemini names a duration and not a moment, so this needs the current time.
                let now = SystemTime::now()
                    .duration_since(SystemTime::UNIX_EPOCH)
                    .unwrap_or_default();
                let secs = resets_at_secs.saturating_sub(now.as_secs());
                let text = format!(
                    "You have exhausted your daily quota on this model. Your quota will reset after {secs}s."
                );
                let mut error = error(429, "RESOURCE_EXHAUSTED", &text);
                let kind = "type.googleapis.com/google.rpc.ErrorInfo";
                error["details"] = json!([{"@type": kind, "reason": "QUOTA_EXHAUSTED", "domain": "cloudcode-pa.googleapis.com"}]);
                error
            }
            Self::Quota => error(
                429,
                "RESOURCE_EXHAUSTED",
                "You exceeded your current quota, please check your plan and billing details.",
            ),
            Self::ContextOverflow => error(
                400,
                "INVALID_ARGUMENT",
                "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            ),
            Self::ServerError => error(500, "INTERNAL", "An internal error has occurred."),
            Self::Overloaded => error(
                503,
                "UNAVAILABLE",
                "The model is overloaded. Please try again later.",
            ),
        }
    }
}
