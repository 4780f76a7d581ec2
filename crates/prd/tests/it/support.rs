//! Helpers that the tests share: reading a text, marking and comparing.

use std::path::PathBuf;

use prd::{Input, Mark, Marked, Options, Reading, StoryId, StoryState, read};

/// Reads one file's text with the default options.
pub(crate) fn read_text(name: &str, text: impl Into<Vec<u8>>) -> Reading {
    read(
        Input::File {
            name: name.to_owned(),
            bytes: text.into(),
        },
        &Options::default(),
    )
}

/// All diagnostics of a reading, rendered.
pub(crate) fn drawn(reading: &Reading) -> String {
    let draw = |diagnostic| prd::render(diagnostic, &reading.sources, prd::Paint::Plain);
    reading
        .diagnostics
        .iter()
        .map(draw)
        .collect::<Vec<_>>()
        .join("\n")
}

/// The codes of all diagnostics, in order.
pub(crate) fn codes(reading: &Reading) -> Vec<&'static str> {
    reading
        .diagnostics
        .iter()
        .map(|diagnostic| diagnostic.code)
        .collect()
}

/// The state that a mark leads to.
pub(crate) fn state_of(mark: Mark) -> StoryState {
    match mark {
        Mark::Passed => StoryState::Passed,
        Mark::Skipped => StoryState::Skipped,
        Mark::Open => StoryState::Open,
    }
}

/// Compares bytes and meaning: every line that differs names a state field, and reading again shows
/// that one change.
pub(crate) fn assert_only_state_changed(
    reading: &Reading,
    marked: &Marked,
    id: &StoryId,
    mark: Mark,
) {
    let file = &reading.sources.files()[marked.file];
    assert_only_state_bytes(file.text(), &marked.text, file.name());
    assert_reads_as_marked(reading, marked, id, mark);
}

/// Reading the new text must give the old PRD except for that one state.
pub(crate) fn assert_reads_as_marked(reading: &Reading, marked: &Marked, id: &StoryId, mark: Mark) {
    let name = reading.sources.files()[marked.file].name();
    let mut files: Vec<(String, Vec<u8>)> = reading
        .sources
        .files()
        .iter()
        .map(|file| (file.name().to_owned(), file.text().into()))
        .collect();
    files[marked.file].1 = marked.text.clone().into();
    let again = match reading.format {
        prd::Format::Json | prd::Format::Yaml | prd::Format::JsonLines | prd::Format::Markdown => {
            read_text(name, files.remove(0).1)
        }
        prd::Format::Tickets => read(
            Input::Tickets {
                name: String::new(),
                files,
            },
            &Options::default(),
        ),
    };
    let mut expected = reading.prd.clone().expect("stories before");
    for story in expected.stories.iter_mut().filter(|story| story.id == *id) {
        story.state = state_of(mark);
    }
    assert_eq!(
        again.prd,
        Some(expected),
        "{name}: marking {id} as {mark:?}"
    );
}

const STATE_KEYS: &[&str] = &[
    "passes", "passed", "complete", "done", "skip", "status", "state",
];

/// Two texts may differ only in a few bytes, each on a line that names a state field.
fn assert_only_state_bytes(old: &str, new: &str, name: &str) {
    // The line ends themselves are compared below.
    let (mut old_lines, mut new_lines) = (old.lines().peekable(), new.lines().peekable());
    while let Some(line) = new_lines.next() {
        if old_lines.peek() == Some(&line) {
            old_lines.next();
            continue;
        }
        let named = |line: &str| {
            STATE_KEYS
                .iter()
                .any(|key| line.to_lowercase().contains(key))
        };
        let comma_only = old_lines
            .peek()
            .is_some_and(|before| line == format!("{before},"));
        assert!(
            named(line) || comma_only,
            "{name}: a line changed that names no state field: {line:?}"
        );
        let inserted = old_lines.peek() == new_lines.peek()
            && !comma_only
            && old.lines().count() < new.lines().count();
        if !inserted {
            old_lines.next();
        }
    }
    assert_eq!(
        old.ends_with('\n'),
        new.ends_with('\n'),
        "{name}: the final line end"
    );
    assert_eq!(
        old.starts_with('\u{FEFF}'),
        new.starts_with('\u{FEFF}'),
        "{name}: the byte order mark"
    );
    assert_eq!(
        lone_feeds(old) == 0,
        lone_feeds(new) == 0,
        "{name}: the line ends"
    );
}

/// Counts line feeds without a carriage return before them.
fn lone_feeds(text: &str) -> usize {
    text.matches('\n').count() - text.matches("\r\n").count()
}

/// The folder of real PRD files beside the project. Tests that need it say so, and pass if it is
/// missing.
pub(crate) fn real_files() -> Option<Vec<(String, Vec<u8>)>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/prds");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&folder).ok()? {
        let path = entry.expect("a folder entry").path();
        if path.extension().is_some_and(|ending| ending == "json") {
            let name = path
                .file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            files.push((name, std::fs::read(&path).expect("a readable file")));
        }
    }
    files.sort();
    Some(files)
}
