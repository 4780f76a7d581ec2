//! The list of files and crates that may break a rule, and the ratchet on it: an entry never allows more
//! than is there, so what was once made smaller cannot grow back.

use super::complaint::{Complaint, Rule};

/// Where the list lies.
pub(super) const LIST: &str = "xtask/tidy-exceptions.txt";

/// What an entry can be about.
const KINDS: [(&str, Rule); 3] = [
    ("file-size", Rule::FileSize),
    ("function-size", Rule::FunctionSize),
    ("module-cycle", Rule::Modules),
];

const UNREADABLE: &str =
    "the line is none of `file-size PATH N`, `function-size PATH N`, `module-cycle CRATE N`";

/// One entry: this file may break this rule up to this count. About modules it names a crate.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Exception {
    pub(super) line_number: usize,
    pub(super) rule: Rule,
    pub(super) path: String,
    pub(super) allowed: usize,
}

/// Reads the list; each line that cannot be read is a complaint.
pub(super) fn parse(text: &str) -> (Vec<Exception>, Vec<Complaint>) {
    let lines = (1..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let (mut exceptions, mut complaints) = (Vec::new(), Vec::new());
    for (line_number, line) in lines {
        match parse_line(line_number, line) {
            Some(exception) => exceptions.push(exception),
            None => complaints.push(Complaint::new(
                Rule::FileSize,
                LIST,
                line_number,
                UNREADABLE,
            )),
        }
    }
    (exceptions, complaints)
}

fn parse_line(line_number: usize, line: &str) -> Option<Exception> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [name, path, allowed] = words[..] else {
        return None;
    };
    let (_, rule) = KINDS.into_iter().find(|(kind, _)| *kind == name)?;
    Some(Exception {
        line_number,
        rule,
        path: path.to_owned(),
        allowed: allowed.parse().ok()?,
    })
}

/// Complains about an entry that is larger than it need be. `count` is what the file has now, if it
/// is there.
pub(super) fn ratchet(
    exception: &Exception,
    count: Option<usize>,
    limit: usize,
) -> Option<Complaint> {
    let message = match count {
        None => format!(
            "`{}` is gone or not measured: remove the entry",
            exception.path
        ),
        Some(count) if count <= limit => {
            format!(
                "`{}` keeps the general limit of {limit}: remove the entry",
                exception.path
            )
        }
        Some(count) if count < exception.allowed => {
            format!(
                "`{}` has {count} where {} are allowed: shrink it to {count}",
                exception.path, exception.allowed
            )
        }
        Some(_) => return None,
    };
    Some(Complaint::new(
        exception.rule,
        LIST,
        exception.line_number,
        message,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::complaint::shown;

    #[test]
    fn a_line_of_the_list_reads_as() {
        let bad = format!("{LIST}:1: {UNREADABLE} (file-size)");
        let exception = |rule, allowed| Exception {
            line_number: 1,
            rule,
            path: "a.rs".to_owned(),
            allowed,
        };
        for (line, expected) in [
            ("# a comment", Ok(None)),
            ("", Ok(None)),
            (
                "file-size a.rs 700",
                Ok(Some(exception(Rule::FileSize, 700))),
            ),
            (
                "function-size a.rs 2",
                Ok(Some(exception(Rule::FunctionSize, 2))),
            ),
            ("module-cycle a.rs 2", Ok(Some(exception(Rule::Modules, 2)))),
            ("words a.rs 2", Err(&bad)),
            ("file-size a.rs", Err(&bad)),
            ("file-size a.rs many", Err(&bad)),
        ] {
            let (exceptions, complaints) = parse(line);
            let (expected, complaint) = match expected {
                Ok(exception) => (Vec::from_iter(exception), None),
                Err(complaint) => (Vec::new(), Some(complaint.clone())),
            };
            assert_eq!(
                (exceptions, shown(&complaints)),
                (expected, Vec::from_iter(complaint)),
                "{line}"
            );
        }
    }

    #[test]
    fn the_list_only_shrinks() {
        let exception = Exception {
            line_number: 3,
            rule: Rule::FileSize,
            path: "a.rs".to_owned(),
            allowed: 700,
        };
        for (count, expected) in [
            (Some(700), None),
            (Some(701), None),
            (
                Some(650),
                Some("`a.rs` has 650 where 700 are allowed: shrink it to 650"),
            ),
            (
                Some(600),
                Some("`a.rs` keeps the general limit of 600: remove the entry"),
            ),
            (
                None,
                Some("`a.rs` is gone or not measured: remove the entry"),
            ),
        ] {
            let seen = ratchet(&exception, count, 600).map(|complaint| complaint.to_string());
            let expected = expected.map(|message| format!("{LIST}:3: {message} (file-size)"));
            assert_eq!(seen, expected, "{count:?}");
        }
    }
}
