//! What the words of a heading or a box begin with: a box, signs, an id; and the title behind it.

use std::ops::Range;

use super::boxes::{self, CheckBox, is_done_sign};
use super::words::{GROUP_WORDS, STORY_WORDS, TASK_WORDS, starts_with_word};

/// What an id looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum IdKind {
    /// `US-001`, `US-TK-001`.
    UserStoryCode,
    /// `User Story 1`, in several languages.
    UserStory,
    /// `T001`, `T-001`.
    Task,
    /// `Task 1.1`, in several languages.
    TaskWord,
    /// `P0-1`, `FIX-01`: letters, a dash, a number.
    Code,
    /// `H1`, `D2-fix`: letters and digits in front of a separator.
    Short,
    /// `1`, `1.2`, `7.1a`.
    Number,
    /// `#12`.
    Hash,
}

/// The words of a heading or a box, taken apart.
#[derive(Debug, Clone, Default)]
pub(super) struct Label {
    pub(super) id: Option<(IdKind, String)>,
    /// `Phase 1`, `Sprint 2`: a group of stories.
    pub(super) is_group: bool,
    /// The box in front of the words or behind them.
    pub(super) boxed: Option<CheckBox>,
    /// The sign for done, with its place.
    pub(super) sign: Option<Range<usize>>,
    /// Where the title begins, behind the id and its separators.
    pub(super) title_start: usize,
    pub(super) title: String,
}

impl Label {
    pub(super) fn kind(&self) -> Option<IdKind> {
        self.id.as_ref().map(|(kind, _)| *kind)
    }
}

/// Takes the words of a heading apart. Places are counted from `base`, the offset of the words in
/// the file.
pub(super) fn heading_label(words: &str, base: usize) -> Label {
    let mut out = Label::default();
    let mut at = skip_decoration(words, &mut out, Boxes::Taken);
    out.is_group = starts_with_word(&words[at..], GROUP_WORDS).is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_digit() || c.is_ascii_uppercase())
    });
    at = take_id(words, at, &mut out);
    if out.boxed.is_none() {
        out.boxed = boxes::trailing(&words[at..]).map(|boxed| boxed.moved(at));
    }
    let end = match &out.boxed {
        Some(boxed) if boxed.mark.start > at => words[..boxed.mark.start].rfind('[').unwrap_or(at),
        _ => words.len(),
    };
    out.sign = out.sign.or_else(|| done_sign(&words[at..end], at));
    out.title = title(words, at..end.max(at), out.sign.as_ref());
    out.title_start = base + at;
    out.boxed = out.boxed.map(|boxed| boxed.moved(base));
    out.sign = out.sign.map(|sign| sign.start + base..sign.end + base);
    out
}

/// Takes the words of an item or a cell apart. A box in them is a part of the title.
pub(super) fn item_label(words: &str) -> Label {
    let mut out = Label::default();
    let at = skip_decoration(words, &mut out, Boxes::Left);
    let at = take_id(words, at, &mut out);
    out.title = title(words, at..words.len(), None);
    out.title_start = at;
    out
}

fn take_id(words: &str, at: usize, out: &mut Label) -> usize {
    let (found, length) = id(&words[at..]);
    out.id = found;
    if out.id.is_none() {
        return at;
    }
    let rest = skip_separators(&words[at + length..]);
    words.len() - rest.len()
}

/// Whether a box in the words is taken for a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Boxes {
    Taken,
    Left,
}

/// Passes over what may stand before an id: bullets, emphasis, a box, emoji.
fn skip_decoration(words: &str, out: &mut Label, inner: Boxes) -> usize {
    let mut at = 0;
    loop {
        let rest = &words[at..];
        let Some(letter) = rest.chars().next() else {
            return at;
        };
        if inner == Boxes::Taken
            && out.boxed.is_none()
            && let Some(boxed) = boxes::leading(rest)
        {
            let found = boxed.moved(at);
            at = found.end;
            out.boxed = Some(found);
            continue;
        }
        if is_done_sign(letter) && out.sign.is_none() {
            out.sign = Some(sign_range(words, at, letter));
        }
        let is_bullet = rest.starts_with("- ") || rest.starts_with("* ");
        let is_decoration = matches!(letter, '*' | '_' | '~' | ' ' | '\t' | '\u{FE0F}')
            || is_symbol(letter)
            || is_bullet;
        if !is_decoration {
            return at;
        }
        at += letter.len_utf8();
    }
}

/// Says whether a letter is an emoji or another sign, and no letter, digit or quotation mark.
fn is_symbol(letter: char) -> bool {
    matches!(letter, '\u{2190}'..='\u{2BFF}' | '\u{1F000}'..='\u{1FAFF}')
}

fn sign_range(words: &str, at: usize, letter: char) -> Range<usize> {
    let after = at + letter.len_utf8();
    let selector = if words[after..].starts_with('\u{FE0F}') {
        '\u{FE0F}'.len_utf8()
    } else {
        0
    };
    at..after + selector
}

fn done_sign(words: &str, offset: usize) -> Option<Range<usize>> {
    let (at, letter) = words.char_indices().find(|(_, c)| is_done_sign(*c))?;
    let sign = sign_range(words, at, letter);
    Some(sign.start + offset..sign.end + offset)
}

/// The title: one line without the sign for done and without half a pair of stars.
fn title(words: &str, range: Range<usize>, sign: Option<&Range<usize>>) -> String {
    let mut text = match sign {
        Some(sign) if range.contains(&sign.start) => {
            format!(
                "{}{}",
                &words[range.start..sign.start],
                &words[sign.end..range.end]
            )
        }
        _ => words[range].to_owned(),
    };
    for pair in ["**", "~~", "__"] {
        if text.matches(pair).count() % 2 == 1 {
            text = text.replacen(pair, "", 1);
        }
    }
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.trim_end_matches(['-', '–', '—', ':', ' ']).to_owned()
}

fn skip_separators(text: &str) -> &str {
    text.trim_start_matches(|c: char| {
        c.is_whitespace()
            || matches!(
                c,
                ':' | '：' | '-' | '–' | '—' | '.' | ')' | '、' | '|' | '*' | ']' | '_'
            )
    })
}

/// The id that words begin with, and its length.
pub(super) fn id(words: &str) -> (Option<(IdKind, String)>, usize) {
    let some = |kind, id: &str, length| (Some((kind, id.to_owned())), length);
    if let Some(rest) = starts_with_word(words, STORY_WORDS)
        && let Some(number) = number(rest)
    {
        let id = format!("US{number}");
        return some(
            IdKind::UserStory,
            &id,
            words.len() - rest.len() + number.len(),
        );
    }
    // The older template of spec-kit has one story, and does not number it.
    if words.trim().eq_ignore_ascii_case("primary user story") {
        return some(IdKind::UserStory, "US1", 0);
    }
    if let Some(rest) = starts_with_word(words, TASK_WORDS)
        && let Some(number) = number(rest)
    {
        let length = words.len() - rest.len() + number.len();
        return some(IdKind::TaskWord, number, length);
    }
    if let Some(number) = words.strip_prefix('#').and_then(number)
        && !number.contains('.')
    {
        return some(IdKind::Hash, number, number.len() + 1);
    }
    if let Some(inner) = words.strip_prefix('[') {
        let word = token(inner);
        let closed = inner[word.len()..].starts_with(']');
        return match coded(word).filter(|_| closed) {
            Some(kind) => some(kind, word, word.len() + 2),
            None => (None, 0),
        };
    }
    let word = token(words);
    let after = &words[word.len()..];
    if let Some(kind) = coded(word) {
        return some(kind, word, word.len());
    }
    if let Some(number) = number(word)
        && number.len() == word.len()
        && is_numbering(number, after)
    {
        return some(IdKind::Number, number, word.len());
    }
    // `H1 — Add …`: only a separator tells that this is no word of the title.
    let is_short = word.starts_with(|c: char| c.is_ascii_uppercase())
        && word.contains(|c: char| c.is_ascii_digit())
        && word.len() <= 16;
    if is_short && is_separator(after) {
        return some(IdKind::Short, word, word.len());
    }
    (None, 0)
}

fn is_separator(after: &str) -> bool {
    let after = after.trim_start_matches(['*', '_']);
    [":", "：", " —", " –", " - ", ") ", ". "]
        .iter()
        .any(|separator| after.starts_with(separator))
}

/// Says whether a number in front of words counts them: `1.2 words`, `3. words`, `**4** words`.
fn is_numbering(number: &str, after: &str) -> bool {
    let ends = after.starts_with(|c: char| c.is_whitespace()) || after.is_empty();
    if number.contains('.') || number.ends_with(|c: char| c.is_ascii_alphabetic()) {
        return ends || after.starts_with(['.', ':', ')', '*', '：', '、', '-']);
    }
    after.starts_with(['.', ')', ':', '*', '：', '、'])
}

/// Letters, digits, dots, dashes and underscores, without punctuation at the end.
pub(super) fn token(text: &str) -> &str {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    text[..end].trim_end_matches(['.', '-', '_'])
}

/// The kind of an id made of letters and a number: `US-001`, `T012`, `P0-1`.
fn coded(word: &str) -> Option<IdKind> {
    let digit_at = word.find(|c: char| c.is_ascii_digit())?;
    let (letters, _) = word.split_at(digit_at);
    // `T1.1` counts on within `T1`.
    let is_task = matches!(letters, "T" | "T-") && number(&word[digit_at..]).is_some();
    if is_task {
        return Some(IdKind::Task);
    }
    if !letters.starts_with(|c: char| c.is_ascii_uppercase()) || word.contains('.') {
        return None;
    }
    let last = word.rsplit('-').next().unwrap_or_default();
    let dashed = word.contains('-')
        && last.starts_with(|c: char| c.is_ascii_digit())
        && last.trim_start_matches(|c: char| c.is_ascii_digit()).len() <= 1;
    let is_capital = letters
        .bytes()
        .all(|c| c.is_ascii_uppercase() || matches!(c, b'-' | b'_'));
    match letters {
        "US-" | "US_" if last.len() <= 8 => Some(IdKind::UserStoryCode),
        "US" if !word.contains('-') => Some(IdKind::UserStoryCode),
        _ if letters.starts_with("US-") && dashed => Some(IdKind::UserStoryCode),
        _ if dashed && is_capital && letters.len() <= 12 => Some(IdKind::Code),
        _ => None,
    }
}

/// The number that a text begins with: `1`, `1.2`, `7.1a`.
fn number(text: &str) -> Option<&str> {
    let digits_end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let digits = text[..digits_end].trim_end_matches('.');
    if !digits.starts_with(|c: char| c.is_ascii_digit()) || digits.contains("..") {
        return None;
    }
    // One letter may follow: `7.1a`, `3b`.
    let mut rest = text[digits.len()..].chars();
    let letter = rest.next().filter(char::is_ascii_lowercase);
    let alone = rest.next().is_none_or(|c| !c.is_alphanumeric());
    match letter {
        Some(_) if alone => Some(&text[..=digits.len()]),
        Some(_) => None,
        None => Some(digits),
    }
}
