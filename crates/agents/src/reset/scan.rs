//! A cursor over a lower-case text that reads numbers, words and durations.
//!
//! It is `Copy`: a caller that may have to give up reads with a copy and assigns it back on
//! success.

/// A position in a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scan<'a> {
    rest: &'a str,
}

/// Seconds per unit. A plural `s` is removed before the lookup.
const UNITS: [(&str, f64); 14] = [
    ("ms", 0.001),
    ("millisecond", 0.001),
    ("s", 1.0),
    ("sec", 1.0),
    ("second", 1.0),
    ("m", 60.0),
    ("min", 60.0),
    ("minute", 60.0),
    ("h", 3600.0),
    ("hr", 3600.0),
    ("hour", 3600.0),
    ("d", 86_400.0),
    ("day", 86_400.0),
    ("week", 604_800.0),
];

/// A wait longer than this is a misreading.
const DURATION_SECS_MAX: f64 = 400.0 * 86_400.0;

impl<'a> Scan<'a> {
    pub(super) fn new(rest: &'a str) -> Self {
        Self { rest }
    }

    /// Skips what stands between a sign and its time, such as `: `, ` in `, ` at ` or `_at`.
    pub(super) fn skip_fillers(&mut self) {
        loop {
            self.rest = self
                .rest
                .trim_start_matches(|c: char| c.is_whitespace() || ":=\"'·~_,(".contains(c));
            let before = self.rest.len();
            for filler in [
                "in",
                "at",
                "after",
                "on",
                "by",
                "about",
                "approximately",
                "again",
                "the",
                "and",
            ] {
                if self.peek_word() == Some(filler) {
                    self.word();
                }
            }
            if self.rest.len() == before {
                return;
            }
        }
    }

    pub(super) fn skip_blanks(&mut self) {
        self.rest = self
            .rest
            .trim_start_matches(|c: char| c.is_whitespace() || c == ',');
    }

    pub(super) fn rest(&self) -> &'a str {
        self.rest
    }

    /// Reads the word here, if there is one.
    pub(super) fn word(&mut self) -> Option<&'a str> {
        let word = self.peek_word()?;
        self.rest = &self.rest[word.len()..];
        Some(word)
    }

    pub(super) fn peek_word(&self) -> Option<&'a str> {
        let end = self
            .rest
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(self.rest.len());
        (end > 0).then(|| &self.rest[..end])
    }

    /// Reads the digits here, if there are any.
    pub(super) fn digits(&mut self) -> Option<&'a str> {
        let end = self
            .rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(self.rest.len());
        let digits = &self.rest[..end];
        self.rest = &self.rest[end..];
        (end > 0).then_some(digits)
    }

    /// Reads a whole number of at most `digits_max` digits. Does not move if there is none.
    pub(super) fn number(&mut self, digits_max: usize) -> Option<u32> {
        let mut ahead = *self;
        let number = ahead
            .digits()
            .filter(|digits| digits.len() <= digits_max)?
            .parse()
            .ok()?;
        *self = ahead;
        Some(number)
    }

    /// Skips a character if it is the next one, and says whether it was.
    pub(super) fn take(&mut self, wanted: char) -> bool {
        let after = self.rest.strip_prefix(wanted);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    /// Reads an epoch in seconds (10 digits) or milliseconds (13 digits).
    pub(super) fn epoch_ms(&mut self) -> Option<u64> {
        let mut ahead = *self;
        let digits = ahead.digits()?;
        let number: u64 = digits.parse().ok()?;
        let ms = match digits.len() {
            10 => number.checked_mul(1000)?,
            13 => number,
            _ => return None,
        };
        *self = ahead;
        Some(ms)
    }

    /// Reads a duration: `8s`, `1.5s`, `3 hours 20 minutes`, `3h20m`, or a bare number if the sign
    /// before it gives it a meaning.
    pub(super) fn duration_ms(&mut self, is_bare_seconds: bool) -> Option<u64> {
        let mut ahead = *self;
        let mut secs = 0.0;
        let mut n_parts = 0;
        while let Some(part) = ahead.duration_part(is_bare_seconds && n_parts == 0) {
            secs += part;
            n_parts += 1;
            let mut beyond = ahead;
            beyond.skip_blanks();
            if beyond.peek_word() == Some("and") {
                beyond.word();
                beyond.skip_blanks();
            }
            if !beyond.rest.starts_with(|c: char| c.is_ascii_digit()) {
                break;
            }
            ahead = beyond;
        }
        if n_parts == 0 || !(0.0..=DURATION_SECS_MAX).contains(&secs) {
            return None;
        }
        *self = ahead;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range was checked in the lines above"
        )]
        Some((secs * 1000.0).round() as u64)
    }

    fn duration_part(&mut self, is_bare_seconds: bool) -> Option<f64> {
        let mut ahead = *self;
        let whole = ahead.digits()?;
        let mut beyond = ahead;
        let fraction = if beyond.take('.') {
            beyond.digits()
        } else {
            None
        };
        if fraction.is_some() {
            ahead = beyond;
        }
        let number: f64 = format!("{whole}.{}", fraction.unwrap_or("0"))
            .parse()
            .ok()?;
        let mut spaced = ahead;
        spaced.skip_blanks();
        let unit = spaced.word().and_then(|word| {
            // `s` and `ms` are units themselves.
            let singular = if word.len() > 2 {
                word.trim_end_matches('s')
            } else {
                word
            };
            UNITS.iter().find(|(unit, _)| singular == *unit)
        });
        match unit {
            Some((_, secs)) => {
                *self = spaced;
                Some(number * secs)
            }
            // Dates and times begin with a number too (`15 Nov`, `9:26`), so nothing may follow.
            None if is_bare_seconds && ahead.is_at_end() => {
                *self = ahead;
                Some(number)
            }
            None => None,
        }
    }

    fn is_at_end(&self) -> bool {
        let rest = self.rest.trim_start();
        rest.is_empty() || rest.starts_with(['.', ',', ';', ')', '}', ']', '"', '\''])
    }
}
