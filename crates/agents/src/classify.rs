//! Turns the evidence of a failure into an outcome: exact error codes first, then the HTTP status,
//! then ambiguous codes, then the wording.

use crate::evidence::Evidence;
use crate::exit::Clock;
use crate::outcome::Outcome;
use crate::phrases;
use crate::reset::{When, find};

/// A reset further ahead than this is a misreading: no plan has a period longer than a month, and
/// this is twice that.
const RESET_DAYS_MAX: u64 = 62;
const DAY_MS: u64 = 24 * 60 * 60 * 1000;
const MINUTE_MS: u64 = 60 * 1000;

/// Names the kind of failure, or gives `None` if the evidence does not show it.
pub(crate) fn classify(evidence: &Evidence, clock: &Clock) -> Option<Outcome> {
    let judge = Judge { evidence, clock };
    judge
        .by_exact_code()
        .or_else(|| judge.by_status())
        .or_else(|| judge.by_loose_code())
        .or_else(|| judge.by_words())
}

struct Judge<'a> {
    evidence: &'a Evidence,
    clock: &'a Clock,
}

impl Judge<'_> {
    fn has_code(&self, words: &[&str]) -> bool {
        self.evidence.codes().any(|code| words.contains(&code))
    }

    /// Error codes that have only one meaning. They come before the status because they are more
    /// exact: `insufficient_quota` arrives with a 429, `billing_error` with a 400.
    fn by_exact_code(&self) -> Option<Outcome> {
        const USAGE: [&str; 3] = [
            "usage_limit_reached",
            "usage_limit_exceeded",
            "quota_exhausted",
        ];
        const CONTEXT: [&str; 7] = [
            "context_length_exceeded",
            "context_window_exceeded",
            "prompt_too_long",
            "contextoverflowerror",
            "exceed_context_size_error",
            "model_context_window_exceeded",
            "request_too_large",
        ];
        const BILLING: [&str; 5] = [
            "insufficient_quota",
            "billing_error",
            "billing_not_active",
            "usage_not_included",
            "payment_required",
        ];
        const LOGIN: [&str; 8] = [
            "authentication_failed",
            "authentication_error",
            "invalid_api_key",
            "api_key_invalid",
            "unauthenticated",
            "unauthorized",
            "providerautherror",
            "token_expired",
        ];
        const OVERLOADED: [&str; 6] = [
            "overloaded",
            "overloaded_error",
            "server_overloaded",
            "server_is_overloaded",
            "slow_down",
            "unavailable",
        ];
        const NETWORK: [&str; 3] = [
            "connection_failed",
            "connection_error",
            "stream_disconnected",
        ];
        if self.has_code(&USAGE) {
            return Some(self.usage_limit());
        }
        [
            (&CONTEXT[..], Outcome::ContextOverflow),
            (&BILLING, Outcome::Billing),
            (&LOGIN, Outcome::NotLoggedIn),
            (
                &["permission_error", "permission_denied"],
                Outcome::PermissionDenied,
            ),
            (&OVERLOADED, Outcome::Overloaded),
            (&NETWORK, Outcome::Network),
            (&["messageabortederror"], Outcome::Interrupted),
        ]
        .into_iter()
        .find_map(|(words, outcome)| self.has_code(words).then_some(outcome))
    }

    /// Classifies by HTTP status. Where a status stands for several kinds of failure, the wording
    /// chooses among them.
    fn by_status(&self) -> Option<Outcome> {
        let text = self.evidence.plain();
        match self.evidence.status? {
            401 => Some(Outcome::NotLoggedIn),
            402 => Some(Outcome::Billing),
            403 if phrases::is_billing(text) => Some(Outcome::Billing),
            403 if phrases::is_login(text) => Some(Outcome::NotLoggedIn),
            403 => Some(Outcome::PermissionDenied),
            // A proxy wants credentials; the model's server was never reached.
            407 => Some(Outcome::Network),
            413 => Some(Outcome::ContextOverflow),
            429 => Some(self.too_many()),
            // Timeouts and conflicts are retried like server errors.
            408 | 409 | 500..=599 => Some(Outcome::Overloaded),
            _ => None,
        }
    }

    /// Tells the three meanings of "too many requests" apart: nothing left to spend, a plan's
    /// allowance used up, or a limit per minute.
    fn too_many(&self) -> Outcome {
        let text = self.evidence.plain();
        // A spend limit with a reset time ends by itself; without one a person must raise it.
        if phrases::is_spend_limit(text) && self.reset().is_none() {
            Outcome::Billing
        } else if phrases::is_usage_limit(text) {
            self.usage_limit()
        } else if phrases::is_billing(text) && self.reset().is_none() {
            // Google says `check your plan and billing details` about a limit per minute too, but
            // then it also says how long to wait.
            Outcome::Billing
        } else {
            self.rate_limited()
        }
    }

    /// Error codes that are used for several kinds of failure.
    fn by_loose_code(&self) -> Option<Outcome> {
        const RATE: [&str; 5] = [
            "rate_limit",
            "rate_limit_error",
            "rate_limit_exceeded",
            "resource_exhausted",
            "too_many_requests",
        ];
        const SERVER: [&str; 4] = ["server_error", "api_error", "internal", "internal_error"];
        if self.has_code(&RATE) {
            return Some(self.too_many());
        }
        if !self.has_code(&SERVER) {
            return None;
        }
        let is_network = phrases::is_network(self.evidence.plain());
        Some(if is_network {
            Outcome::Network
        } else {
            Outcome::Overloaded
        })
    }

    /// Classifies by wording alone. The order matters: specific phrases come before those that also
    /// occur inside other messages, such as `server error` and `forbidden`.
    fn by_words(&self) -> Option<Outcome> {
        let text = self.evidence.plain();
        if phrases::is_context(text) {
            Some(Outcome::ContextOverflow)
        } else if phrases::is_usage_limit(text) || phrases::is_billing(text) {
            Some(self.too_many())
        } else if phrases::is_login(text) {
            Some(Outcome::NotLoggedIn)
        } else if phrases::is_rate(text) {
            Some(self.rate_limited())
        } else if phrases::is_network(text) {
            Some(Outcome::Network)
        } else if phrases::is_overloaded(text) {
            Some(Outcome::Overloaded)
        } else if phrases::is_permission(text) {
            Some(Outcome::PermissionDenied)
        } else {
            None
        }
    }

    fn usage_limit(&self) -> Outcome {
        Outcome::UsageLimit {
            until_ms: self.reset(),
        }
    }

    fn rate_limited(&self) -> Outcome {
        Outcome::RateLimited {
            after_ms: self.reset().map(|at| at - self.clock.now_ms),
        }
    }

    /// When the limit ends, in milliseconds since 1970, if that was reported and is plausible. A
    /// structured field wins over the wording.
    fn reset(&self) -> Option<u64> {
        let now = self.clock.now_ms;
        self.evidence
            .resets_at_ms
            .or_else(|| Some(now.saturating_add(self.evidence.retry_after_ms?)))
            .or_else(|| self.reset_in_text())
            .filter(|&at| at > now && at - now <= RESET_DAYS_MAX * DAY_MS)
    }

    fn reset_in_text(&self) -> Option<u64> {
        match find(self.evidence.text(), self.evidence.passed, self.clock)? {
            // Messages leave the seconds out, so the limit surely ends only with that minute.
            When::At(ms) if ms % MINUTE_MS == 0 => Some(ms + MINUTE_MS),
            When::At(ms) => Some(ms),
            When::After(ms) => Some(self.clock.now_ms.saturating_add(ms)),
        }
    }
}
