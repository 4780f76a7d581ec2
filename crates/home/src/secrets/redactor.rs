//! Takes secrets out of text: the values that a loop is known to have, and whatever looks like one.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

use super::known::Known;
use super::tokens::{Token, token_at};

/// A secret that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// A value of the loop: the name of its variable, or where else it is kept.
    Known(Arc<str>),
    /// Something that looks like a secret.
    Token(Token),
}

impl Found {
    /// What it is called where it was taken out.
    pub fn words(&self) -> String {
        match self {
            Self::Known(name) => format!("the value of {name}"),
            Self::Token(token) => token.words().to_owned(),
        }
    }
}

/// A form in which a known value may be written.
struct Needle {
    bytes: Vec<u8>,
    name: Arc<str>,
}

/// Finds secrets in text and takes them out.
#[derive(Clone)]
pub struct Redactor(Arc<Inner>);

struct Inner {
    /// The longest first, so that a value which begins with another one is taken out whole.
    needles: Vec<Needle>,
    /// The bytes that a needle begins with.
    first: [bool; 256],
    longest: usize,
    /// Texts that look like secrets and are none.
    spared: Vec<Vec<u8>>,
}

/// Shows the names of what it knows.
impl fmt::Debug for Redactor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: BTreeSet<&Arc<str>> = self.0.needles.iter().map(|needle| &needle.name).collect();
        out.debug_tuple("Redactor").field(&names).finish()
    }
}

impl Redactor {
    /// Knows these values.
    pub fn new(known: &Known) -> Self {
        Self::sparing(known, "")
    }

    /// Knows these values, and leaves alone whatever looks like a secret in a text that everybody may
    /// read, such as a PRD: what a person wrote there is no secret, and must be the same everywhere.
    pub fn sparing(known: &Known, text: &str) -> Self {
        let mut needles: Vec<Needle> = Vec::new();
        for (name, secret) in known.all() {
            let name: Arc<str> = name.as_str().into();
            let forms = forms_of(secret.expose());
            needles.extend(forms.into_iter().map(|bytes| Needle {
                bytes,
                name: Arc::clone(&name),
            }));
        }
        needles.sort_by_key(|needle| std::cmp::Reverse(needle.bytes.len()));
        let mut first = [false; 256];
        for needle in &needles {
            first[usize::from(needle.bytes[0])] = true;
        }
        let longest = needles.first().map_or(0, |needle| needle.bytes.len());
        let mut inner = Inner {
            needles,
            first,
            longest,
            spared: Vec::new(),
        };
        let spared = inner.find(text.as_bytes()).into_iter();
        let spared = spared.filter(|(_, found)| matches!(found, Found::Token(_)));
        inner.spared = spared
            .map(|(range, _)| text.as_bytes()[range].to_vec())
            .collect();
        Self(Arc::new(inner))
    }

    /// The text without secrets.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    /// The bytes without secrets.
    pub fn bytes<'t>(&self, bytes: &'t [u8]) -> Cow<'t, [u8]> {
        let found = self.find(bytes);
        if found.is_empty() {
            return Cow::Borrowed(bytes);
        }
        let mut out = Vec::with_capacity(bytes.len());
        let mut from = 0;
        for (range, found) in found {
            out.extend_from_slice(&bytes[from..range.start]);
            out.extend_from_slice(in_its_place(&found).as_bytes());
            from = range.end;
        }
        out.extend_from_slice(&bytes[from..]);
        Cow::Owned(out)
    }

    /// Takes secrets out of every text in a value; names of members stay.
    pub fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(redacted) = self.text(text) {
                    *text = redacted;
                }
            }
            Value::Array(values) => values.iter_mut().for_each(|value| self.value(value)),
            Value::Object(members) => members.values_mut().for_each(|value| self.value(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Where secrets are, in order, none of them overlapping.
    pub fn find(&self, text: &[u8]) -> Vec<(Range<usize>, Found)> {
        self.0.find(text)
    }

    /// Where known values are.
    pub fn find_known(&self, text: &[u8]) -> Vec<(Range<usize>, Found)> {
        self.0.scan(text, |_, _| None)
    }

    /// How many bytes at the end of a text may be the beginning of a known value.
    pub(super) fn begun(&self, text: &[u8]) -> usize {
        let longest = self.0.longest.saturating_sub(1).min(text.len());
        let tails = (1..=longest).rev();
        let is_begun = |tail: &[u8]| {
            let mut needles = self.0.needles.iter();
            needles.any(|needle| needle.bytes.len() > tail.len() && needle.bytes.starts_with(tail))
        };
        tails
            .into_iter()
            .find(|length| is_begun(&text[text.len() - length..]))
            .unwrap_or(0)
    }
}

impl Inner {
    fn find(&self, text: &[u8]) -> Vec<(Range<usize>, Found)> {
        self.scan(text, |text, at| {
            let seen = token_at(text, at)?;
            let is_spared = self
                .spared
                .iter()
                .any(|spared| **spared == text[seen.range.clone()]);
            (!is_spared).then_some((seen.range, Found::Token(seen.token)))
        })
    }

    fn scan(
        &self,
        text: &[u8],
        token: impl Fn(&[u8], usize) -> Option<(Range<usize>, Found)>,
    ) -> Vec<(Range<usize>, Found)> {
        let mut all = Vec::new();
        // A header says early that its credential comes; a known value may stand before that.
        let mut ahead: Option<(Range<usize>, Found)> = None;
        let mut at = 0;
        while at < text.len() {
            let known = self.known_at(text, at);
            let due = ahead.take_if(|(range, _)| range.start <= at);
            let due = due.filter(|(range, _)| range.start == at);
            let found = known.or(due).or_else(|| token(text, at));
            match found {
                Some((range, found)) if range.start == at => {
                    at = range.end;
                    all.push((range, found));
                }
                Some(later) => {
                    ahead.get_or_insert(later);
                    at += 1;
                }
                None => at += 1,
            }
        }
        all
    }

    fn known_at(&self, text: &[u8], at: usize) -> Option<(Range<usize>, Found)> {
        if !self.first[usize::from(text[at])] {
            return None;
        }
        let rest = &text[at..];
        let mut needles = self.needles.iter();
        let needle = needles.find(|needle| rest.starts_with(&needle.bytes))?;
        let range = at..at + needle.bytes.len();
        Some((range, Found::Known(Arc::clone(&needle.name))))
    }
}

fn in_its_place(found: &Found) -> String {
    match found {
        Found::Known(name) => format!("[redacted: {name}]"),
        Found::Token(token) => format!("[redacted: {}]", token.words()),
    }
}

/// A value as it is, as JSON writes it, as an address writes it, and as base64 at each of the three
/// places that it may have in a longer text.
fn forms_of(value: &str) -> Vec<Vec<u8>> {
    let mut forms = vec![value.as_bytes().to_vec()];
    let json = serde_json::to_string(value).unwrap_or_default();
    forms.push(json.trim_matches('"').as_bytes().to_vec());
    let percent = value.bytes().flat_map(|byte| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => vec![byte],
        byte => format!("%{byte:02X}").into_bytes(),
    });
    forms.push(percent.collect());
    for before in 0..3 {
        forms.extend(base64_inside(value.as_bytes(), before));
    }
    forms.sort();
    forms.dedup();
    forms.retain(|form| !form.is_empty());
    forms
}

/// The base64 of a value that stands after so many bytes of something else, without the characters
/// that depend on its neighbours. None if too little is left to be sure.
fn base64_inside(value: &[u8], before: usize) -> Option<Vec<u8>> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const CHARACTERS_MIN: usize = 12;
    let skipped = (3 - before) % 3;
    let inside = value.get(skipped..)?;
    let whole = inside.chunks_exact(3).flat_map(|three| {
        let number = three
            .iter()
            .fold(0, |number, byte| (number << 8) | usize::from(*byte));
        [18, 12, 6, 0].map(|shift| DIGITS[(number >> shift) & 63])
    });
    let whole: Vec<u8> = whole.collect();
    (whole.len() >= CHARACTERS_MIN).then_some(whole)
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
