//! From evidence to an outcome: what machines said first, then the status, then the words.

use crate::evidence::Evidence;
use crate::exit::Clock;
use crate::outcome::Outcome;
use crate::phrases;
use crate::reset::{When, find};

/// A reset that lies further ahead is a misreading: no plan has a longer period than a month.
const RESET_DAYS_MAX: u64 = 62;
const DAY_MS: u64 = 24 * 60 * 60 * 1000;
const MINUTE_MS: u64 = 60 * 1000;

/// Says what a failure was, if the evidence tells.
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

    /// Words of machines that have one meaning only.
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

    /// A status says the kind of trouble; where it stands for several, the words choose among
    /// those.
    fn by_status(&self) -> Option<Outcome> {
        let text = self.evidence.plain();
        match self.evidence.status? {
            401 => Some(Outcome::NotLoggedIn),
            402 => Some(Outcome::Billing),
            403 if phrases::is_billing(text) => Some(Outcome::Billing),
            403 if phrases::is_login(text) => Some(Outcome::NotLoggedIn),
            403 => Some(Outcome::PermissionDenied),
            407 => Some(Outcome::Network),
            413 => Some(Outcome::ContextOverflow),
            429 => Some(self.too_many()),
            408 | 409 | 500..=599 => Some(Outcome::Overloaded),
            _ => None,
        }
    }

    fn too_many(&self) -> Outcome {
        let text = self.evidence.plain();
        if phrases::is_spend_limit(text) && self.reset().is_none() {
            Outcome::Billing
        } else if phrases::is_usage_limit(text) {
            self.usage_limit()
        } else if phrases::is_billing(text) && self.reset().is_none() {
            // Google says `check your plan and billing details` of a limit per minute too, and then
            // tells how long to wait.
            Outcome::Billing
        } else {
            self.rate_limited()
        }
    }

    /// Words of machines that are used for many things.
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

    /// When things are well again, if that was told and makes sense.
    fn reset(&self) -> Option<u64> {
        let now = self.clock.now_ms;
        let told = self
            .evidence
            .resets_at_ms
            .or_else(|| Some(now.saturating_add(self.evidence.retry_after_ms?)));
        let said = || match find(self.evidence.text(), self.evidence.passed, self.clock)? {
            // Seconds are cut off in writing, so that only at the end of the minute one can be
            // sure.
            When::At(ms) if ms % MINUTE_MS == 0 => Some(ms + MINUTE_MS),
            When::At(ms) => Some(ms),
            When::After(ms) => Some(now.saturating_add(ms)),
        };
        told.or_else(said)
            .filter(|&at| at > now && at - now <= RESET_DAYS_MAX * DAY_MS)
    }
}
