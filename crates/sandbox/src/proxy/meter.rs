//! Counts the tokens that a model's answer tells of while the answer goes by.
//!
//! It knows the names that the makers' interfaces have for counts, and nothing else of them. An answer
//! repeats its counts as they grow, so the largest of each name is the right one. Text inside of an
//! answer cannot lower a count, since quotes are escaped there and nothing makes a maximum smaller.

use std::io::{self, Write};

use crate::{Balance, Rates, TokensUsed};

/// The names of counts, in the order of [`Count`].
const NAMES: [&str; 12] = [
    "\"input_tokens\"",
    "\"prompt_tokens\"",
    "\"promptTokenCount\"",
    "\"cache_creation_input_tokens\"",
    "\"cache_read_input_tokens\"",
    "\"cached_tokens\"",
    "\"cachedContentTokenCount\"",
    "\"output_tokens\"",
    "\"completion_tokens\"",
    "\"candidatesTokenCount\"",
    "\"thoughtsTokenCount\"",
    "\"cached_input_tokens\"",
];

/// Bytes that are looked at again with the next piece: a name, a colon, blanks and a number.
const OVERLAP_BYTES: usize = 80;

const MILLION: u128 = 1_000_000;

/// What one answer has told so far.
#[derive(Debug, Default)]
pub(super) struct Meter {
    counts: [u64; NAMES.len()],
    tail: Vec<u8>,
}

impl Meter {
    /// A writer that counts what goes through it.
    pub(super) fn beside<'a, W: Write>(&'a mut self, to: &'a mut W) -> Metered<'a, W> {
        Metered { to, meter: self }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.tail.extend_from_slice(bytes);
        for (name, count) in NAMES.iter().zip(&mut self.counts) {
            let mut rest = self.tail.as_slice();
            while let Some(at) = find(rest, name.as_bytes()) {
                let is_escaped = at > 0 && rest[at - 1] == b'\\';
                rest = &rest[at + name.len()..];
                let told = number_after_colon(rest).filter(|_| !is_escaped);
                *count = (*count).max(told.unwrap_or_default());
            }
        }
        let seen = self.tail.len().saturating_sub(OVERLAP_BYTES);
        self.tail.drain(..seen);
    }

    /// What the answer cost in tokens.
    pub(super) fn used(&self) -> TokensUsed {
        let [
            input,
            prompt,
            prompt_count,
            created,
            read,
            cached,
            cached_content,
            output,
            completion,
            candidates,
            thoughts,
            cached_input,
        ] = self.counts;
        // One maker counts the cached part beside the input, the others inside of it.
        let inside = cached.max(cached_content).max(cached_input);
        TokensUsed {
            input: (input.max(prompt).max(prompt_count))
                .saturating_sub(inside)
                .saturating_add(created),
            cached: inside.saturating_add(read),
            output: output
                .max(completion)
                .max(candidates.saturating_add(thoughts)),
        }
    }
}

/// Writes on, and counts.
pub(super) struct Metered<'a, W> {
    to: &'a mut W,
    meter: &'a mut Meter,
}

impl<W: Write> Write for Metered<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n_written = self.to.write(bytes)?;
        self.meter.push(&bytes[..n_written]);
        Ok(n_written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Both together.
pub(super) fn sum(one: TokensUsed, other: TokensUsed) -> TokensUsed {
    TokensUsed {
        input: one.input.saturating_add(other.input),
        cached: one.cached.saturating_add(other.cached),
        output: one.output.saturating_add(other.output),
    }
}

/// Whether nothing is left of a balance.
pub(super) fn is_spent(balance: &Balance, used: TokensUsed) -> bool {
    let tokens = [used.input, used.cached, used.output];
    let tokens = tokens.into_iter().fold(0, u64::saturating_add);
    let has_no_tokens = balance.tokens.is_some_and(|max| tokens >= max);
    let has_no_money = balance
        .money
        .is_some_and(|(max, rates)| cost(&rates, used) >= u128::from(max));
    has_no_tokens || has_no_money
}

fn cost(rates: &Rates, used: TokensUsed) -> u128 {
    let part = |count: u64, rate: u64| u128::from(count).saturating_mul(u128::from(rate));
    let sum = part(used.input, rates.input)
        .saturating_add(part(used.cached, rates.cached))
        .saturating_add(part(used.output, rates.output));
    sum.div_ceil(MILLION)
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|part| part == wanted)
}

/// The number behind `:`, as far as it is there.
fn number_after_colon(bytes: &[u8]) -> Option<u64> {
    let text = bytes.iter().copied();
    let mut text = text.skip_while(u8::is_ascii_whitespace).peekable();
    text.next_if_eq(&b':')?;
    let digits = text
        .skip_while(u8::is_ascii_whitespace)
        .take_while(u8::is_ascii_digit)
        .take(15);
    let digits: String = digits.map(char::from).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, piece: usize) -> TokensUsed {
        let mut meter = Meter::default();
        let mut sink = Vec::new();
        for bytes in text.as_bytes().chunks(piece) {
            meter.beside(&mut sink).write_all(bytes).unwrap();
        }
        assert_eq!(sink, text.as_bytes());
        meter.used()
    }

    #[test]
    fn every_makers_answer_is_counted_in_whatever_pieces_it_comes() {
        for (text, expected) in [
            (
                r#"data: {"message":{"usage":{"input_tokens":100,"cache_creation_input_tokens":7,"cache_read_input_tokens":50,"output_tokens":1}}}
data: {"delta":{"text":"say \"output_tokens\": 99999"}}
data: {"usage":{"output_tokens":42}}"#,
                (107, 50, 42),
            ),
            (
                r#"data: {"response":{"usage":{"input_tokens": 1200,"input_tokens_details":{"cached_tokens":200},"output_tokens":30}}}"#,
                (1000, 200, 30),
            ),
            (
                r#"{"usage":{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":4}}}"#,
                (6, 4, 5),
            ),
            (
                r#"{"usageMetadata":{"promptTokenCount":80,"cachedContentTokenCount":30,"candidatesTokenCount":9,"thoughtsTokenCount":2}}"#,
                (50, 30, 11),
            ),
            ("no counts at all", (0, 0, 0)),
        ] {
            for piece in [1, 7, 16, 1000] {
                let used = read(text, piece);
                assert_eq!((used.input, used.cached, used.output), expected, "{text}");
            }
        }
    }

    #[test]
    fn a_balance_is_spent_by_tokens_or_by_money() {
        let used = TokensUsed {
            input: 1_000_000,
            cached: 1_000_000,
            output: 100_000,
        };
        let rates = Rates {
            input: 3,
            cached: 1,
            output: 15,
        };
        for (tokens, money, expected) in [
            (None, None, false),
            (Some(2_100_000), None, true),
            (Some(2_100_001), None, false),
            (None, Some(6), true),
            (None, Some(7), false),
            (Some(9_000_000), Some(5), true),
        ] {
            let balance = Balance {
                tokens,
                money: money.map(|money| (money, rates)),
            };
            assert_eq!(is_spent(&balance, used), expected, "{balance:?}");
        }
    }
}
