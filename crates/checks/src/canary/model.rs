//! A test file with its two tests more, and how it is put together.

/// A test file with two tests more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canary {
    /// The whole file.
    pub text: String,
    /// The test that must fail: its own name or title, without modules, classes and groups.
    pub red: String,
    /// The test that must pass.
    pub green: String,
}

/// A text with something put in.
pub(super) fn inserted(text: &str, at: usize, addition: &str) -> String {
    [&text[..at], addition, &text[at..]].concat()
}

/// The most used of some ways to write an assertion, by how often each occurs; the first of equals.
pub(super) fn most_used<T: Copy>(counts: impl IntoIterator<Item = (T, usize)>) -> Option<T> {
    let mut best = None;
    for (way, count) in counts {
        if count > best.map_or(0, |(_, most)| most) {
            best = Some((way, count));
        }
    }
    best.map(|(way, _)| way)
}
