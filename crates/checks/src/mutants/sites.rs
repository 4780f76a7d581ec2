//! Where faults can be put in languages that have operators, numbers and strings.

use super::site::{LINE_BYTES_MAX, Rank, Site};
use super::words::{is_declaration, is_message, is_operand, is_type, stands_free};
use crate::lex::{Kind, Language, Token, code, pairs};

/// What a string becomes.
const OTHER: &str = "mutant";
/// Most places of one file.
const SITES_MAX: usize = 20_000;

/// All places in a text, line by line.
pub(super) fn sites(text: &str, language: Language) -> Vec<Site> {
    let mut tokens = code(text, language);
    if language == Language::Rust {
        tokens = without_attributes(&tokens);
    }
    let mut found = Vec::new();
    let mut start = 0;
    while start < tokens.len() && found.len() < SITES_MAX {
        let mut end = start + 1;
        // A string of several lines ends the line that it starts on.
        while end < tokens.len() && !text[tokens[end - 1].end()..tokens[end].at].contains('\n') {
            end += 1;
        }
        line(&tokens, start, end, language, &mut found);
        start = end;
    }
    found
}

/// The pieces of Rust outside of attributes.
fn without_attributes<'a>(tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    let Some(partners) = pairs(tokens) else {
        return tokens.to_vec();
    };
    let mut kept = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let is_mark = |at: usize, mark: &str| tokens.get(at).is_some_and(|next| next.is_mark(mark));
        let open = at + 1 + usize::from(is_mark(at + 1, "!"));
        if token.is_mark("#") && is_mark(open, "[") {
            at = partners[open] + 1;
            continue;
        }
        kept.push(*token);
        at += 1;
    }
    kept
}

/// The places on one line, whose pieces are given by their range.
fn line(tokens: &[Token<'_>], start: usize, end: usize, language: Language, found: &mut Vec<Site>) {
    let pieces = &tokens[start..end];
    // Each piece looks at its whole line, so lines have a limit.
    let is_long = tokens[end - 1].at - tokens[start].at > LINE_BYTES_MAX;
    let is_lone_text = pieces
        .iter()
        .all(|token| token.kind == Kind::Text || [",", ";"].contains(&token.text));
    if is_long || is_declaration(pieces, language) || is_lone_text {
        return;
    }
    for at in start..end {
        let near = Near {
            language,
            line: pieces,
            before: at.checked_sub(1).map(|before| &tokens[before]),
            token: &tokens[at],
            after: tokens.get(at + 1),
        };
        let site = match near.token.kind {
            Kind::Mark => near.operator(),
            Kind::Word => near.word(),
            Kind::Number => near.number(),
            Kind::Text => near.text(),
            Kind::Comment => None,
        };
        found.extend(site.map(|(becomes, rank)| Site {
            at: near.token.at..near.token.end(),
            becomes,
            rank,
        }));
    }
    found.extend(returned(pieces, language));
}

/// A piece with its neighbours.
struct Near<'t, 'a> {
    language: Language,
    line: &'t [Token<'a>],
    before: Option<&'t Token<'a>>,
    token: &'t Token<'a>,
    after: Option<&'t Token<'a>>,
}

fn is_text(token: Option<&Token<'_>>) -> bool {
    token.is_some_and(|token| token.kind == Kind::Text)
}

type Fault = Option<(String, Rank)>;

impl Near<'_, '_> {
    fn has_word(&self, word: &str) -> bool {
        self.line.iter().any(|token| token.is_word(word))
    }

    fn operator(&self) -> Fault {
        let after = self.after?;
        if !is_operand(self.before) || is_text(self.after) || is_text(self.before) {
            return self.equality(after);
        }
        let has_types =
            [Language::Rust, Language::Script, Language::Braces].contains(&self.language);
        let is_free = stands_free(self.before, self.token, after);
        let is_bound =
            self.language == Language::Rust && (is_type(self.after) || is_type(self.before));
        let is_counting =
            after.text == "1" || (self.language == Language::Rust && after.kind != Kind::Number);
        let is_doubled =
            after.text.starts_with('/') || self.before.is_some_and(|before| before.is_mark("/"));
        // A pointer is written with the same mark.
        let may_point = self.language == Language::Braces && after.kind != Kind::Number;
        let is_loop = ["while", "until", "for", "loop"]
            .iter()
            .any(|word| self.has_word(word));
        let becomes = match self.token.text {
            "+" if !is_bound => "-",
            "-" => "+",
            "*" if !may_point && (is_free || !has_types) => "+",
            "/" if !is_doubled => "*",
            "%" => "*",
            "+=" if !is_counting => "-=",
            "-=" if !is_counting => "+=",
            "*=" => "+=",
            // A border that moves by one is more than most tests of a story look at. In a loop it is all
            // that may move: what turns around may never end.
            "<" if (is_free || !has_types) && is_loop => "<=",
            ">" if (is_free || !has_types) && is_loop => ">=",
            "<=" if is_loop => "<",
            ">=" if is_loop => ">",
            "<" if is_free || !has_types => ">=",
            ">" if is_free || !has_types => "<=",
            "<=" => ">",
            ">=" => "<",
            _ => return self.equality(after),
        };
        Some((becomes.to_owned(), Rank::Operator))
    }

    /// Comparisons and connections, which stand between values of any kind.
    fn equality(&self, after: &Token<'_>) -> Fault {
        let is_after_value = is_operand(self.before) || is_text(self.before);
        // A loop that goes on for ever proves nothing.
        let is_loop = self.has_word("while") || self.has_word("until");
        let is_chain = self.language == Language::Rust && self.has_word("let");
        let is_free = stands_free(self.before, self.token, after);
        if !is_after_value || is_loop {
            return None;
        }
        let becomes = match self.token.text {
            "==" => "!=",
            "!=" => "==",
            "===" => "!==",
            "!==" => "===",
            "&&" if !is_chain && is_free => "||",
            "||" if !is_chain && is_free => "&&",
            _ => return None,
        };
        Some((becomes.to_owned(), Rank::Operator))
    }

    fn word(&self) -> Fault {
        let is_member = self.before.is_some_and(|before| before.is_mark("."));
        let is_key =
            self.after.is_some_and(|after| after.is_mark(":")) && self.language != Language::Python;
        if is_member || is_key || self.has_word("while") {
            return None;
        }
        let is_spoken = [Language::Python, Language::Ruby].contains(&self.language);
        let becomes = match self.token.text {
            "True" => "False",
            "False" => "True",
            "true" => "false",
            "false" => "true",
            "and" if is_spoken => "or",
            "or" if is_spoken => "and",
            _ => return None,
        };
        Some((becomes.to_owned(), Rank::Operator))
    }

    fn number(&self) -> Fault {
        let text = self.token.text;
        let is_member = self.before.is_some_and(|before| before.is_mark("."));
        // `[0; 4]` is a type as much as a value.
        let is_length = self.language == Language::Rust
            && self.before.is_some_and(|before| before.is_mark(";"));
        if is_member
            || is_length
            || text.starts_with("0x")
            || text.starts_with("0b")
            || text.starts_with("0o")
        {
            return None;
        }
        let end = text
            .find(|c: char| !c.is_ascii_digit() && c != '_')
            .unwrap_or(text.len());
        let (digits, rest) = text.split_at(end);
        let value: u64 = digits.replace('_', "").parse().ok()?;
        // What is the largest of its type must not grow.
        let next = value.checked_add(1)?;
        let is_largest = value >= 127 && (next.is_power_of_two() || value.is_power_of_two());
        let changed = if is_largest {
            value.checked_sub(1)?
        } else {
            next
        };
        Some((format!("{changed}{rest}"), Rank::Number))
    }

    fn text(&self) -> Fault {
        let text = self.token.text;
        let content = self.token.content();
        let quote = text.chars().next()?;
        let is_formatted = self.language == Language::Rust && content.contains('{');
        let is_tagged = quote == '`' && is_operand(self.before);
        let is_loaded = self.before.is_some_and(|before| before.is_mark("!"))
            || [
                "include_str",
                "include_bytes",
                "env",
                "option_env",
                "include",
            ]
            .iter()
            .any(|name| self.has_word(name));
        let is_character =
            quote == '\'' && [Language::Rust, Language::Braces].contains(&self.language);
        let has_prefix = !['"', '\'', '`'].contains(&quote) && self.language != Language::Python;
        if content.is_empty()
            || content == OTHER
            || content.contains('\n')
            || is_formatted
            || is_tagged
            || is_loaded
            || is_character
            || has_prefix
            || is_message(self.line)
        {
            return None;
        }
        let quote = if ['"', '\'', '`'].contains(&quote) {
            quote
        } else {
            '"'
        };
        let is_bytes = self.language == Language::Python
            && text
                .split(['"', '\''])
                .next()
                .is_some_and(|prefix| prefix.contains(['b', 'B']));
        let prefix = if is_bytes { "b" } else { "" };
        Some((format!("{prefix}{quote}{OTHER}{quote}"), Rank::Text))
    }
}

/// A line that returns a value returns none.
fn returned(pieces: &[Token<'_>], language: Language) -> Option<Site> {
    let none = match language {
        Language::Python => "None",
        Language::Script => "undefined",
        Language::Rust | Language::Ruby | Language::Braces | Language::Shell => return None,
    };
    let at = pieces.iter().position(|token| token.is_word("return"))?;
    let is_last = |token: &&Token<'_>| token.is_mark(";") || token.is_mark("}");
    let value = &pieces[at + 1..];
    let end = value
        .iter()
        .position(|token| is_last(&token))
        .unwrap_or(value.len());
    let value = &value[..end];
    let (first, last) = (value.first()?, value.last()?);
    let mut depth = 0_i32;
    for token in value {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
    }
    let is_open = depth != 0 || last.kind == Kind::Mark && ![")", "]"].contains(&last.text);
    let is_none = value.len() == 1 && [none, "null", "false", "False"].contains(&first.text);
    (!is_open && !is_none).then(|| Site {
        at: first.at..last.end(),
        becomes: none.to_owned(),
        rank: Rank::Return,
    })
}
