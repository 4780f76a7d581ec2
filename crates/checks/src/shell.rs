//! Just enough of the shell's grammar to see which programs a command line calls. It expands
//! nothing, and what it does not understand it reports as not understood.

/// One program call within a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    /// The words without quotes. Assignments before the program are in `assignments`.
    pub(crate) words: Vec<String>,
    /// `NAME=value` before the program.
    pub(crate) assignments: Vec<String>,
    /// Where each word ends in the line, in bytes.
    pub(crate) ends: Vec<usize>,
}

/// A command line, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) calls: Vec<Call>,
    /// All calls are joined by `&&` or `;` alone: no pipes, redirections, groups, expansions or
    /// background.
    pub(crate) is_plain: bool,
}

/// Longest line that is looked at.
const LINE_BYTES_MAX: usize = 16 << 10;

/// What the shell does itself, or what says nothing about a program that must be there.
const OF_THE_SHELL: [&str; 32] = [
    ".", ":", "!", "[", "{", "case", "cd", "command", "do", "echo", "eval", "exec", "exit",
    "export", "false", "for", "if", "printf", "read", "set", "shift", "source", "test", "then",
    "time", "trap", "true", "type", "ulimit", "umask", "unset", "while",
];

/// The program that a command line calls first, where that can be seen. A relative path behind a
/// change of folder cannot: nobody knows what it is relative to.
pub fn program_of(line: &str) -> Option<String> {
    let line = parse(line);
    let first = line.calls.first()?.words.first()?;
    let is_known = !first.contains(['$', '*', '?', '~']) && !OF_THE_SHELL.contains(&first.as_str());
    is_known.then(|| first.clone())
}

/// Takes a command line apart.
pub(crate) fn parse(line: &str) -> Line {
    if line.len() > LINE_BYTES_MAX {
        return Line::default();
    }
    let mut parser = Parser {
        rest: line.char_indices().peekable(),
        line: Line {
            is_plain: true,
            ..Line::default()
        },
        words: Vec::new(),
        word: None,
    };
    parser.run();
    parser.end_word(line.len());
    parser.end_call();
    parser.line
}

struct Parser<'a> {
    rest: std::iter::Peekable<std::str::CharIndices<'a>>,
    line: Line,
    words: Vec<(String, usize)>,
    word: Option<String>,
}

impl Parser<'_> {
    fn run(&mut self) {
        while let Some((at, character)) = self.rest.next() {
            match character {
                '\'' => self.quoted('\''),
                '"' => self.quoted('"'),
                '\\' => {
                    if let Some((_, next)) = self.rest.next().filter(|(_, next)| *next != '\n') {
                        self.push(next);
                    }
                }
                ' ' | '\t' => self.end_word(at),
                '\n' | ';' => {
                    self.end_word(at);
                    self.end_call();
                }
                '&' | '|' => self.operator(at, character),
                '#' if self.word.is_none() => self.skip_comment(),
                '<' | '>' | '(' | ')' | '`' => {
                    self.line.is_plain = false;
                    self.end_word(at);
                    if character == '(' || character == ')' || character == '`' {
                        self.end_call();
                    }
                }
                '$' => {
                    self.line.is_plain = false;
                    self.push('$');
                }
                other => self.push(other),
            }
        }
    }

    fn quoted(&mut self, quote: char) {
        let word = self.word.get_or_insert_default();
        while let Some((_, character)) = self.rest.next() {
            if character == quote {
                return;
            }
            if quote == '"' && (character == '$' || character == '`') {
                self.line.is_plain = false;
            }
            if quote == '"' && character == '\\' {
                if let Some((_, next)) = self.rest.next() {
                    word.push(next);
                }
                continue;
            }
            word.push(character);
        }
        // A quote that is never closed.
        self.line.is_plain = false;
    }

    fn push(&mut self, character: char) {
        self.word.get_or_insert_default().push(character);
    }

    fn operator(&mut self, at: usize, character: char) {
        self.end_word(at);
        self.end_call();
        let is_double = self.rest.peek().is_some_and(|(_, next)| *next == character);
        if is_double {
            self.rest.next();
        }
        if character == '|' || !is_double {
            self.line.is_plain = false;
        }
    }

    fn skip_comment(&mut self) {
        while self.rest.peek().is_some_and(|(_, next)| *next != '\n') {
            self.rest.next();
        }
    }

    fn end_word(&mut self, at: usize) {
        if let Some(word) = self.word.take() {
            self.words.push((word, at));
        }
    }

    fn end_call(&mut self) {
        let words = std::mem::take(&mut self.words);
        let n_assignments = words
            .iter()
            .take_while(|(word, _)| is_assignment(word))
            .count();
        let (assignments, words) = words.split_at(n_assignments);
        let (words, ends): (Vec<String>, Vec<usize>) = words.iter().cloned().unzip();
        if !words.is_empty() {
            let assignments = assignments.iter().map(|(word, _)| word.clone()).collect();
            self.line.calls.push(Call {
                words,
                assignments,
                ends,
            });
        }
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// A word as the shell must be given it.
pub(crate) fn quote(word: &str) -> String {
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-=+:,@%".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_safe) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_apart() {
        for (line, is_plain, expected) in [
            ("cargo test", true, "cargo,test"),
            ("cd a && npm  test", true, "cd,a / npm,test"),
            ("A=1 B= pytest -k 'a b'", true, "pytest,-k,a b"),
            ("a; b\nc", true, "a / b / c"),
            ("a | b", false, "a / b"),
            ("a || b", false, "a / b"),
            ("a & b", false, "a / b"),
            ("(cd x; y)", false, "cd,x / y"),
            ("a > out.txt", false, "a,out.txt"),
            ("a \"$(b)\"", false, "a,$(b)"),
            ("a $X", false, "a,$X"),
            ("a 'open", false, "a,open"),
            ("a \\\n b # not c", true, "a,b"),
            ("", true, ""),
        ] {
            let parsed = parse(line);
            let shown: Vec<String> = parsed
                .calls
                .iter()
                .map(|call| call.words.join(","))
                .collect();
            assert_eq!(
                (parsed.is_plain, shown.join(" / ").as_str()),
                (is_plain, expected),
                "{line}"
            );
        }
    }

    #[test]
    fn quoting_is_undone_by_parsing() {
        for word in ["a", "a b", "it's", "", "$x", "é"] {
            let line = format!("x {}", quote(word));
            assert_eq!(parse(&line).calls[0].words[1], word);
        }
    }
}
