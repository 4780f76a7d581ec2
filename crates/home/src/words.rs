//! Errors in the words that people read. Logs keep the system's numbers.

use std::error::Error;

/// An error with all its causes in one line, without the system's numbers.
pub fn words_of(error: &dyn Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        words = format!("{words}: {source}");
        cause = source.source();
    }
    plain(&words)
}

/// A message in one line, without the numbers that the system's errors end with: `No such file or
/// directory (os error 2)`.
pub fn plain(text: &str) -> String {
    const BEFORE: &str = " (os error ";
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines.collect::<Vec<_>>().join(" ");
    let mut parts = line.split(BEFORE);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(')') {
            Some((number, rest)) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
                out.push_str(rest);
            }
            _ => out.extend([BEFORE, part]),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_the_system_are_left_out_and_nothing_else() {
        for (text, expected) in [
            ("no file (os error 2)", "no file"),
            ("a (os error 2): b (os error 13) c", "a: b c"),
            (
                "an (os error) of (os error x) kind",
                "an (os error) of (os error x) kind",
            ),
            ("cut (os error 2", "cut (os error 2"),
            ("two\n\n  lines\n", "two lines"),
            ("", ""),
        ] {
            assert_eq!(plain(text), expected);
        }
    }

    #[test]
    fn an_error_is_told_with_its_causes() {
        #[derive(Debug, thiserror::Error)]
        #[error("cannot read `x`")]
        struct Outer(#[source] std::io::Error);
        let error = Outer(std::io::Error::from_raw_os_error(2));
        assert_eq!(
            words_of(&error),
            "cannot read `x`: No such file or directory"
        );
    }
}
