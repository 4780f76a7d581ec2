//! Patterns over paths, as people write them in other tools: `**` is any folders, `*` anything within
//! a name, `?` one character, `[a-z]` one of these, `{a,b}` either.

use std::fmt;

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

/// Longest pattern that is read.
const PATTERN_BYTES_MAX: usize = 1_000;

/// A pattern that was understood. One without `/` is about a name at any depth; one that begins with
/// `/` or `./` is about a path from the top; one that ends with `/` is about everything in that
/// folder.
#[derive(Clone, Debug)]
pub struct Pattern {
    written: String,
    globs: GlobSet,
}

/// Why a pattern cannot be used, in words that fit after the pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadPattern(String);

impl fmt::Display for BadPattern {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for BadPattern {}

/// The same words are the same pattern.
impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.written == other.written
    }
}

impl Eq for Pattern {}

impl Pattern {
    /// Reads a pattern.
    pub fn parse(written: &str) -> Result<Self, BadPattern> {
        let globs = GlobSet::new(globs(written)?);
        Ok(Self {
            written: written.to_owned(),
            globs: globs.map_err(|error| BadPattern(error.kind().to_string()))?,
        })
    }

    /// Whether a path, relative to the top and with `/`, is meant.
    pub fn matches(&self, path: &str) -> bool {
        self.globs.is_match(path)
    }
}

/// Many patterns of ours as one. They are constants, and a test reads each of them; one that could
/// not be read would match nothing.
pub(crate) fn set(patterns: &[&str]) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for glob in patterns
        .iter()
        .flat_map(|written| globs(written).unwrap_or_default())
    {
        set.add(glob);
    }
    set.build().unwrap_or_default()
}

/// A pattern as globs over the whole path. What is about everything in a folder is about the folder
/// too: a link in its place leads to everything that is in it.
fn globs(written: &str) -> Result<Vec<Glob>, BadPattern> {
    let whole = whole(written)?;
    let folder = whole
        .strip_suffix("/**")
        .filter(|folder| !folder.is_empty());
    let all = [Some(whole.as_str()), folder].into_iter().flatten();
    all.map(|glob| {
        let built = GlobBuilder::new(glob)
            .literal_separator(true)
            .backslash_escape(true)
            .build();
        built.map_err(|error| BadPattern(error.kind().to_string()))
    })
    .collect()
}

/// The pattern as one over the whole path.
fn whole(written: &str) -> Result<String, BadPattern> {
    let inner = written.trim_start_matches("./").trim_start_matches('/');
    if inner.is_empty() {
        return Err(BadPattern("it is empty".to_owned()));
    }
    if inner.len() > PATTERN_BYTES_MAX {
        let message = format!("it is longer than {PATTERN_BYTES_MAX} bytes");
        return Err(BadPattern(message));
    }
    let is_from_top = inner.len() < written.len();
    Ok(match inner.strip_suffix('/') {
        Some(folder) => format!("{folder}/**"),
        None if is_from_top || inner.contains('/') => inner.to_owned(),
        None => format!("**/{inner}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match() {
        for (pattern, path, expected) in [
            ("*.rs", "src/a.rs", true),
            ("a?.rs", "ab.rs", true),
            ("a?.rs", "a.rs", false),
            ("tests/**", "tests/a/b.rs", true),
            ("tests/", "tests/a/b.rs", true),
            ("tests/**", "x/tests/a.rs", false),
            ("tests/**", "tests", true),
            ("tests/**", "tests.rs", false),
            ("**/tests/**", "x/tests/a.rs", true),
            ("**/tests/**", "tests/a.rs", true),
            ("a/**/b", "a/b", true),
            ("a/**/b", "a/x/y/b", true),
            ("a/*/b", "a/x/y/b", false),
            ("./a/b", "a/b", true),
            ("**", "a/b", true),
            ("**/*", "a/b", true),
            // Braces, as people have them from other tools.
            ("**/*.{test,spec}.ts", "src/a.test.ts", true),
            ("**/*.{test,spec}.ts", "a.spec.ts", true),
            ("**/*.{test,spec}.ts", "src/a.ts", false),
            ("*.{test,spec}.{ts,tsx}", "src/deep/a.spec.tsx", true),
            ("{tests,specs}/**", "specs/a/b.py", true),
            ("{tests,specs}/**", "src/specs/a.py", false),
            // Classes.
            ("test_[0-9].py", "test_7.py", true),
            ("test_[0-9].py", "test_a.py", false),
            ("test_[!0-9].py", "test_a.py", true),
            // From the top.
            ("/a.rs", "a.rs", true),
            ("/a.rs", "src/a.rs", false),
            ("./a.rs", "src/a.rs", false),
            ("/tests/", "tests/a.rs", true),
            ("/tests/", "x/tests/a.rs", false),
            // A name is not a path, and case counts.
            ("a*b", "a/b", false),
            ("A.rs", "a.rs", false),
            (".env*", "x/.env.test", true),
        ] {
            let read = Pattern::parse(pattern).unwrap();
            assert_eq!(read.matches(path), expected, "{pattern} {path}");
            assert_eq!(set(&[pattern]).is_match(path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn a_pattern_is_refused_for() {
        let long = "a".repeat(PATTERN_BYTES_MAX + 1);
        for (pattern, expected) in [
            ("", "it is empty"),
            ("/", "it is empty"),
            ("a[b", "unclosed character class; missing ']'"),
            (
                "*.{test,spec",
                "unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)",
            ),
            ("a[z-a]", "invalid range; 'z' > 'a'"),
            (long.as_str(), "it is longer than 1000 bytes"),
        ] {
            let refused = Pattern::parse(pattern).map_err(|error| error.to_string());
            assert_eq!(refused, Err(expected.to_owned()), "{pattern}");
        }
    }

    /// A pattern of a person must not be able to stop the program.
    #[test]
    fn no_pattern_is_slow() {
        let pattern = Pattern::parse(&"*a".repeat(400)).unwrap();
        assert!(!pattern.matches(&"a".repeat(5_000).replace("aaaa", "aaab")));
    }
}
