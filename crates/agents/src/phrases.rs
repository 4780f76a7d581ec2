//! Phrases that show the cause of an error, in lower case with plain quotes.
//!
//! They are searched only in a terminal error text, and only after a run has failed by its CLI's
//! own rule. Searching the whole output would take a review that mentions rate limits for a rate
//! limit.
//!
//! The lists come from the wording of several CLIs, providers and gateways, which drifts: a phrase
//! stays even when the newest version of a CLI no longer uses it.

/// The allowance of a plan is used up. Other wordings are found by [`hits_a_limit`] and
/// [`reaches_a_limit`].
const USAGE_LIMIT: [&str; 14] = [
    "usage limit",
    "usage_limit",
    "out of extra usage",
    "daily quota",
    "exhausted your capacity",
    "quota will reset",
    "weekly limit",
    "5-hour limit",
    "session limit",
    "free usage exceeded",
    "out of usage",
    "usage cap",
    "limit will reset",
    "quota has been exhausted",
];

/// There is nothing left to spend, and only a person can change that.
const BILLING: [&str; 20] = [
    "insufficient_quota",
    "insufficient quota",
    "quota exceeded. check your plan",
    "exceeded your current quota",
    "credit balance",
    "out of credits",
    "no credits",
    "insufficient credits",
    "insufficient balance",
    "payment required",
    "billing_error",
    "billing hard limit",
    "spend limit",
    "spending limit",
    "subscription has expired",
    "spend cap",
    "spending cap",
    "key limit exceeded",
    "not included in your plan",
    "monthly included credits",
];

/// The session is too long for the model.
const CONTEXT: [&str; 13] = [
    "context_length_exceeded",
    "context window",
    "context length",
    "context limit",
    "context size",
    "ran out of room",
    "prompt is too long",
    "prompt too long",
    "input is too long",
    "input length and `max_tokens` exceed",
    "exceeds the maximum number of tokens",
    "too many input tokens",
    "request too large",
];

/// Credentials are missing, expired or rejected.
const LOGIN: [&str; 37] = [
    "not logged in",
    "please run /login",
    "/login",
    "log in again",
    "login required",
    "sign in again",
    "invalid api key",
    "incorrect api key",
    "invalid x-api-key",
    "api key not valid",
    "api_key_invalid",
    "no api key",
    "missing api key",
    "api key is missing",
    "api key not found",
    "missing environment variable",
    "missing bearer",
    "invalid bearer",
    "unauthorized",
    "authentication",
    "unauthenticated",
    "token has expired",
    "token expired",
    "token was revoked",
    "refresh token",
    "set an auth method",
    "invalid_grant",
    "oauth refresh failed",
    "not authenticated",
    "re-authenticate",
    "api key expired",
    "expired api key",
    "please log in",
    "please login",
    "session has expired",
    "invalid_token",
    "no credentials",
];

/// Too many requests in too short a time.
const RATE: [&str; 9] = [
    "rate limit",
    "rate_limit",
    "ratelimit",
    "too many requests",
    "resource_exhausted",
    "resource has been exhausted",
    "requests per minute",
    "tokens per min",
    "quota exceeded",
];

/// The model's servers failed or are overloaded.
const OVERLOADED: [&str; 18] = [
    "overloaded",
    "at capacity",
    "high demand",
    "service unavailable",
    "temporarily unavailable",
    "internal server error",
    "internal_server_error",
    "internal error",
    "server_error",
    "server error",
    "server had an error",
    "bad gateway",
    "gateway timeout",
    "try again later",
    "server-side issue",
    "model is unavailable",
    "no capacity",
    "upstream error",
];

/// The model's servers were not reached, or the connection broke.
const NETWORK: [&str; 50] = [
    "econnrefused",
    "econnreset",
    "enotfound",
    "etimedout",
    "ehostunreach",
    "enetunreach",
    "eai_again",
    "epipe",
    "connection refused",
    "connection reset",
    "connection error",
    "connection failed",
    "connection closed",
    "connection lost",
    "connection dropped",
    "connection timed out",
    "closed before message completed",
    "error sending request",
    "error decoding response body",
    "waiting for network",
    "network error",
    "network is unreachable",
    "fetch failed",
    "socket hang up",
    "socket connection",
    "stream disconnected",
    "stream ended",
    "stream closed",
    "stream error",
    "premature close",
    "unable to connect",
    "cannot connect",
    "dns error",
    "getaddrinfo",
    "request timed out",
    "timed out",
    "terminated",
    "socket disconnected",
    "other side closed",
    "und_err_",
    "timeout error",
    "deadline exceeded",
    "due to timeout",
    "broken pipe",
    "unexpected eof",
    "connection was closed",
    "connection aborted",
    "closed connection",
    "disconnect/reset before headers",
    "without sending any chunks",
];

/// Something was denied. The first two are claude's and codex's refusals to start.
const PERMISSION: [&str; 7] = [
    "cannot be used with root",
    "not inside a trusted directory",
    "permission_error",
    "permission denied",
    "does not have permission",
    "not allowed to",
    "forbidden",
];

/// The program does not know a flag of ours, or needs a newer version of node.
const TOO_OLD: [&str; 8] = [
    "unexpected argument",
    "unknown option",
    "unknown argument",
    "unrecognized option",
    "unrecognized subcommand",
    "unrecognized arguments",
    "requires node",
    "unsupported engine",
];

/// The session to resume no longer exists.
const SESSION_LOST: [&str; 8] = [
    "no rollout found",
    "no conversation found",
    "session not found",
    "no session found",
    "no sessions found",
    "no previous sessions found",
    "error resuming session",
    "invalid session identifier",
];

/// The program, or a part of it, is missing.
const NOT_INSTALLED: [&str; 3] = [
    "command not found",
    "no such file or directory",
    "cannot find module",
];

fn any(text: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| text.contains(phrase))
}

pub(crate) fn is_usage_limit(text: &str) -> bool {
    // claude says about a limit per minute what it is not: `Server is temporarily limiting requests
    // (not your usage limit)`.
    let text = text
        .replace("not your usage limit", "")
        .replace("not a usage limit", "");
    any(&text, &USAGE_LIMIT) || hits_a_limit(&text) || reaches_a_limit(&text)
}

/// Finds `You've hit your org's monthly limit`, whatever the limit is called, but not a rate limit.
/// The name of the limit has changed between versions more than once.
fn hits_a_limit(text: &str) -> bool {
    ["hit your", "reached your", "exceeded your"]
        .iter()
        .any(|verb| {
            let Some(at) = text.find(verb) else {
                return false;
            };
            // Stay within the clause: a `limit` further on may be in an unrelated hint.
            let clause: String = text[at + verb.len()..]
                .chars()
                .take(40)
                .take_while(|c| !".·;".contains(*c))
                .collect();
            clause.contains("limit") && !clause.contains("rate limit")
        })
}

/// Finds `5-hour limit reached`, but not `Rate limit reached for …`.
fn reaches_a_limit(text: &str) -> bool {
    text.match_indices("limit reached")
        .any(|(at, _)| !text[..at].ends_with("rate "))
}

/// Says whether the text names a limit on spending. These phrases are also in [`BILLING`], but a
/// monthly spend limit may come with a reset time.
pub(crate) fn is_spend_limit(text: &str) -> bool {
    any(text, &["spend limit", "spending limit"])
}

pub(crate) fn is_billing(text: &str) -> bool {
    any(text, &BILLING)
}

pub(crate) fn is_context(text: &str) -> bool {
    any(text, &CONTEXT)
}

pub(crate) fn is_login(text: &str) -> bool {
    any(text, &LOGIN)
}

pub(crate) fn is_rate(text: &str) -> bool {
    any(text, &RATE)
}

pub(crate) fn is_overloaded(text: &str) -> bool {
    any(text, &OVERLOADED)
}

pub(crate) fn is_network(text: &str) -> bool {
    any(text, &NETWORK)
}

pub(crate) fn is_permission(text: &str) -> bool {
    any(text, &PERMISSION)
}

pub(crate) fn is_too_old(text: &str) -> bool {
    any(text, &TOO_OLD)
}

pub(crate) fn is_session_lost(text: &str) -> bool {
    any(text, &SESSION_LOST)
}

pub(crate) fn is_not_installed(text: &str) -> bool {
    any(text, &NOT_INSTALLED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_usage_limit_is_told_from_a_rate_limit() {
        for (text, expected) in [
            ("you've hit your usage limit. try again at 9:26 pm", true),
            ("5-hour limit reached", true),
            ("rate limit reached for this model", false),
            (
                "api error: server is temporarily limiting requests (not your usage limit) · slow down",
                false,
            ),
            (
                "this is not your usage limit, but you've hit your weekly limit",
                true,
            ),
        ] {
            assert_eq!(is_usage_limit(text), expected, "{text}");
        }
    }
}
