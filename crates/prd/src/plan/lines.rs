//! Sorts the lines of a Markdown text: headings, list items, check boxes, table rows, plain text, and
//! what must not be read at all (code, comments, front matter).
//!
//! This is no Markdown parser. A plan is written line by line, and a mark must be changed in its
//! line, so it is enough to know what each line is. Every byte is looked at a bounded number of
//! times: no nesting and no unclosed fence makes a text slow.

use std::ops::Range;

use super::boxes::{self, CheckBox};

/// One line of the text.
#[derive(Debug, Clone)]
pub(super) struct Line<'s> {
    /// Offset of the first byte in the text.
    pub(super) start: usize,
    /// The line without its line end.
    pub(super) text: &'s str,
    /// Columns of white space before the first visible character; a tab ends at a multiple of four.
    pub(super) indent: usize,
    pub(super) kind: Kind,
}

/// What a line is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Blank,
    /// Its level, and where its words are.
    Heading(usize, Range<usize>),
    /// A list item: where its words begin, and its check box.
    Item(usize, Option<CheckBox>),
    /// A row of a table.
    Row,
    /// A line of dashes, stars or underscores.
    Rule,
    /// Anything else, with block quotes: where its words begin.
    Text(usize),
    /// Code, comments and front matter.
    Opaque,
}

impl Line<'_> {
    pub(super) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// Where the words of a line begin.
    pub(super) fn words_start(&self) -> usize {
        let (from, words) = self.untrimmed();
        self.start + from + (words.len() - words.trim_start().len())
    }

    /// The words of a line, without bullet, box and hashes.
    pub(super) fn words(&self) -> &str {
        self.untrimmed().1.trim()
    }

    fn untrimmed(&self) -> (usize, &str) {
        let (from, to) = match &self.kind {
            Kind::Heading(_, words) => (words.start, words.end),
            Kind::Item(_, Some(boxed)) => (boxed.end, self.end()),
            Kind::Item(start, None) | Kind::Text(start) => (*start, self.end()),
            Kind::Blank | Kind::Row | Kind::Rule | Kind::Opaque => (self.start, self.end()),
        };
        let from = from - self.start;
        (from, &self.text[from..to - self.start])
    }

    pub(super) fn is_item(&self) -> bool {
        matches!(self.kind, Kind::Item(..))
    }
}

/// All lines of a text. `base` is its offset in the file.
pub(super) fn lines(text: &str, base: usize) -> Vec<Line<'_>> {
    let mut scanner = Scanner::default();
    let mut out: Vec<Line<'_>> = Vec::new();
    let mut start = base;
    let front_matter = front_matter_lines(text);
    for (index, whole) in text.split_inclusive('\n').enumerate() {
        let line = whole.trim_end_matches(['\n', '\r']);
        let indent = indent_of(line);
        let kind = if index < front_matter {
            Kind::Opaque
        } else {
            scanner.kind(line, indent, start)
        };
        underline(&kind, line, out.last_mut());
        out.push(Line {
            start,
            text: line,
            indent,
            kind,
        });
        start += whole.len();
    }
    out
}

/// How many lines the front matter takes at the beginning.
fn front_matter_lines(text: &str) -> usize {
    let mut lines = text.lines();
    let Some(fence @ ("---" | "+++")) = lines.next().map(str::trim_end) else {
        return 0;
    };
    lines
        .position(|line| line.trim_end() == fence)
        .map_or(0, |index| index + 2)
}

/// A text line over `===` or `---` is a heading.
fn underline(kind: &Kind, bare: &str, before: Option<&mut Line<'_>>) {
    let level = match bare.trim().as_bytes() {
        [b'=', rest @ ..] if rest.iter().all(|byte| *byte == b'=') => 1,
        [b'-', b'-', rest @ ..] if rest.iter().all(|byte| *byte == b'-') => 2,
        _ => return,
    };
    let Some(before) = before.filter(|_| *kind != Kind::Opaque) else {
        return;
    };
    if let Kind::Text(words) = before.kind
        && before.indent < 4
        && !before.text.trim_start().starts_with('>')
    {
        before.kind = Kind::Heading(level, words..before.end());
    }
}

fn indent_of(line: &str) -> usize {
    let mut columns = 0;
    for letter in line.chars() {
        match letter {
            ' ' => columns += 1,
            '\t' => columns += 4 - columns % 4,
            _ => break,
        }
    }
    columns
}

/// What a line means depends on the ones before it: an open fence, an open comment.
#[derive(Default)]
struct Scanner {
    fence: Option<(char, usize)>,
    in_comment: bool,
    /// Whether a list is open: four blanks are code only outside of one.
    in_list: bool,
    /// Whether indented code may stand here: after a blank line, and after other code.
    may_be_code: bool,
}

impl Scanner {
    fn kind(&mut self, line: &str, indent: usize, start: usize) -> Kind {
        let bare = line.trim();
        if self.in_comment {
            self.in_comment = !bare.contains("-->");
            return Kind::Opaque;
        }
        if let Some((letter, length)) = self.fence {
            let closing = bare.trim_start_matches(letter);
            if closing.is_empty() && bare.chars().count() >= length {
                self.fence = None;
            }
            return Kind::Opaque;
        }
        let kind = self.outside(line, bare, indent, start);
        self.may_be_code = match kind {
            Kind::Blank => true,
            Kind::Opaque => indent >= 4 && self.may_be_code,
            _ => false,
        };
        match kind {
            Kind::Item(..) => self.in_list = true,
            // A paragraph at the margin after a blank line ends a list, and so does a heading.
            Kind::Heading(..) => self.in_list = false,
            Kind::Text(_) | Kind::Row | Kind::Rule if indent == 0 => self.in_list = false,
            Kind::Text(_) | Kind::Row | Kind::Rule | Kind::Blank | Kind::Opaque => {}
        }
        kind
    }

    fn outside(&mut self, line: &str, bare: &str, indent: usize, start: usize) -> Kind {
        if bare.is_empty() {
            return Kind::Blank;
        }
        if indent >= 4 && self.may_be_code && !self.in_list {
            return Kind::Opaque;
        }
        if let Some(fence) = opening_fence(bare) {
            self.fence = Some(fence);
            return Kind::Opaque;
        }
        if bare.starts_with("<!--") {
            self.in_comment = !bare.contains("-->");
            return Kind::Opaque;
        }
        if is_rule(bare) {
            return Kind::Rule;
        }
        let offset = line.len() - line.trim_start().len();
        if let Some((level, words)) = heading(bare) {
            let at = start + offset;
            return Kind::Heading(level, at + words.start..at + words.end);
        }
        if let Some(words) = item(bare) {
            let at = start + offset + words;
            let boxed = boxes::leading(&bare[words..]).map(|boxed| boxed.moved(at));
            return Kind::Item(at, boxed);
        }
        if bare.starts_with('|') {
            return Kind::Row;
        }
        let quoted = bare.trim_start_matches(['>', ' ', '\t']);
        Kind::Text(start + offset + (bare.len() - quoted.len()))
    }
}

fn opening_fence(bare: &str) -> Option<(char, usize)> {
    let letter = bare.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let rest = bare.trim_start_matches(letter);
    let length = bare.len() - rest.len();
    let is_code_span = letter == '`' && rest.contains('`');
    (length >= 3 && !is_code_span).then_some((letter, length))
}

fn is_rule(bare: &str) -> bool {
    ['-', '*', '_'].iter().any(|letter| {
        bare.matches(*letter).count() >= 3
            && bare.chars().all(|c| c == *letter || c == ' ' || c == '\t')
    })
}

/// The level of an ATX heading, and where its words are in the line.
fn heading(bare: &str) -> Option<(usize, Range<usize>)> {
    let rest = bare.trim_start_matches('#');
    let level = bare.len() - rest.len();
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let start = bare.len() - rest.trim_start().len();
    let closed = bare.trim_end_matches('#').trim_end();
    // `C#` at the end of a heading is no closing hash: that takes a blank before it.
    let end = match bare.strip_suffix('#') {
        Some(_) if bare.trim_end_matches('#').ends_with([' ', '\t']) => closed.len(),
        _ => bare.len(),
    };
    Some((level, start..end.max(start)))
}

/// Where the words of a list item begin.
fn item(bare: &str) -> Option<usize> {
    const DIGITS_MAX: usize = 9;
    let mut letters = bare.chars();
    let marker = match letters.next()? {
        bullet @ ('-' | '*' | '+' | '•') => bullet.len_utf8(),
        '0'..='9' => {
            let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
            let closed = matches!(bare.as_bytes().get(digits), Some(b'.' | b')'));
            if digits > DIGITS_MAX || !closed {
                return None;
            }
            digits + 1
        }
        _ => return None,
    };
    let rest = &bare[marker..];
    let blanks = rest.len() - rest.trim_start().len();
    (blanks > 0 || rest.is_empty()).then_some(marker + blanks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> String {
        let word = |line: &Line<'_>| match &line.kind {
            Kind::Blank => "blank".to_owned(),
            Kind::Heading(level, _) => format!("h{level} {}", line.words()),
            Kind::Item(_, None) => format!("item {}", line.words()),
            Kind::Item(_, Some(boxed)) => {
                format!("box <{}> {}", &text[boxed.mark.clone()], line.words())
            }
            Kind::Row => "row".to_owned(),
            Kind::Rule => "rule".to_owned(),
            Kind::Text(_) => format!("text {}", line.words()),
            Kind::Opaque => "opaque".to_owned(),
        };
        lines(text, 0)
            .iter()
            .map(word)
            .collect::<Vec<_>>()
            .join("|")
    }

    #[test]
    fn a_line_is() {
        for (text, expected) in [
            (
                "# A #\n## C#\n#no\n####### no",
                "h1 A|h2 C#|text #no|text ####### no",
            ),
            (
                "- [ ] a\n* [x] b\n1) [X]  c\n",
                "box < > a|box <x> b|box <X> c",
            ),
            (
                "- [ ]* 1.2 d\n- [✅] e\n- [✔️] f",
                "box < > * 1.2 d|box <✅> e|box <✔\u{fe0f}> f",
            ),
            (
                "- [P] no\n- [x](u) no\n-[ ] no\n- [ab] no",
                "item [P] no|item [x](u) no|text -[ ] no|item [ab] no",
            ),
            ("- \\[ \\] a\n- **[x]** b", "box < > a|box <x> ** b"),
            (
                "````\n```\n- [ ] a\n```\n````\n- b",
                "opaque|opaque|opaque|opaque|opaque|item b",
            ),
            (
                "~~~\n# a\n~~~\n<!-- x\n- [ ] a\n-->\n<!-- y -->\nz",
                "opaque|opaque|opaque|opaque|opaque|opaque|opaque|text z",
            ),
            (
                "---\na: 1\n---\n> b\n***\n| c |",
                "opaque|opaque|opaque|text b|rule|row",
            ),
            ("A\n===\nB\n---\n", "h1 A|text ===|h2 B|rule"),
            (
                "a\n\n    - [ ] code\n\n- b\n\n    - [ ] c",
                "text a|blank|opaque|blank|item b|blank|box < > c",
            ),
            ("\t- [ ] a\r\n", "box < > a"),
        ] {
            assert_eq!(kinds(text), expected, "{text:?}");
        }
    }
}
