//! The progress of a loop, a line per story that ended: for people to read, and on demand in the
//! project's `progress.txt`, below a heading of the loop's own. Every other byte of that file stays
//! as it is.

use std::fs::OpenOptions;
use std::path::Path;

use kernel::{State, StoryStatus};
use workspace::operator_file::{self, FileError};

use crate::utc::utc;

/// A file larger than this is nobody's notes.
const FILE_BYTES_MAX: usize = 8 * 1024 * 1024;

const REASON_CHARS_MAX: usize = 200;

/// One story that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Which.
    pub story: String,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// `passed` or `skipped`.
    pub how: &'static str,
    /// The attempt that made what passed; else how many there were.
    pub attempt: u32,
    /// The accepted commit.
    pub commit: Option<String>,
    /// Why it was set aside; else its title.
    pub reason: String,
    /// What it taught.
    pub taught: Vec<String>,
}

/// The stories that ended in this loop, in the order of their ends.
pub fn progress(state: &State) -> Vec<Ended> {
    let one = |story: &kernel::StoryProgress| {
        let (how, attempt, commit, reason) = match &story.status {
            StoryStatus::Passed(commit) => {
                let title = &story.spec.title;
                ("passed", story.made_in, commit.as_ref(), title)
            }
            StoryStatus::Skipped { reason, .. } => ("skipped", story.n_worked(), None, reason),
            StoryStatus::Pending
            | StoryStatus::Active(_)
            | StoryStatus::Blocked { .. }
            | StoryStatus::SetAside
            | StoryStatus::Taken { .. } => return None,
        };
        Some(Ended {
            story: story.spec.id.to_string(),
            at_ms: story.ended_at_ms?,
            how,
            attempt,
            commit: commit.map(ToString::to_string),
            reason: one_line(reason),
            taught: Vec::new(),
        })
    };
    let mut ended: Vec<Ended> = state.stories().iter().filter_map(one).collect();
    ended.sort_by_key(|ended| ended.at_ms);
    ended
}

impl Ended {
    /// The line without its date, which is the same whenever it is written.
    fn key(&self) -> String {
        format!("[{}] {}, attempt {}", self.story, self.how, self.attempt)
    }

    /// The line as a file has it, which people of several zones read.
    fn line(&self) -> String {
        self.line_at(&utc(self.at_ms))
    }

    /// The line with its moment in these words.
    pub fn line_at(&self, at: &str) -> String {
        let commit = self
            .commit
            .as_ref()
            .map(|commit| format!(", {}", commit.get(..12).unwrap_or(commit)));
        format!(
            "{at} {}{}: {}",
            self.key(),
            commit.unwrap_or_default(),
            self.reason
        )
    }
}

/// A story's lines in the file: how it ended, and below it what it taught.
fn lines(ended: &Ended) -> String {
    let taught = ended.taught.iter().map(|line| one_line(line));
    let taught = taught.filter(|line| !line.is_empty());
    let taught = taught.map(|line| format!("  - {line}\n"));
    format!("- {}\n{}", ended.line(), taught.collect::<String>())
}

/// The first line of a text, short and without what a terminal would obey.
pub fn one_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let line = line.chars().filter(|letter| !letter.is_control());
    line.take(REASON_CHARS_MAX).collect()
}

/// Puts a line into the project's `progress.txt`, once, however often it is asked to.
pub fn append_progress(project: &Path, loop_id: &str, ended: &Ended) -> Result<(), FileError> {
    const TRIES: usize = 3;
    let path = project.join("progress.txt");
    for _ in 0..TRIES {
        match try_append(&path, loop_id, ended) {
            Err(FileError::Changed) => {}
            done => return done,
        }
    }
    Err(FileError::Changed)
}

fn try_append(path: &Path, loop_id: &str, ended: &Ended) -> Result<(), FileError> {
    let snapshot = match operator_file::read(path, FILE_BYTES_MAX) {
        Err(FileError::Missing) => {
            let made = OpenOptions::new().write(true).create_new(true).open(path);
            made.map_err(|source| FileError::Io {
                attempt: "make",
                path: path.to_owned(),
                source,
            })?;
            operator_file::read(path, FILE_BYTES_MAX)?
        }
        read => read?,
    };
    if snapshot.bytes().len() > FILE_BYTES_MAX {
        let source = std::io::Error::other("it is too large");
        return Err(FileError::Io {
            attempt: "add to",
            path: path.to_owned(),
            source,
        });
    }
    match with_line(snapshot.bytes(), loop_id, ended) {
        Some(new) => operator_file::replace(&snapshot, &new),
        None => Ok(()),
    }
}

/// The file with the line at the end of the loop's own section; nothing when it is there already.
fn with_line(old: &[u8], loop_id: &str, ended: &Ended) -> Option<Vec<u8>> {
    let heading = format!("## Loop {loop_id}\n");
    let line = lines(ended);
    let Some(start) = find(old, heading.as_bytes()) else {
        let gap = match old {
            [] | [.., b'\n', b'\n'] => "",
            [.., b'\n'] => "\n",
            _ => "\n\n",
        };
        return Some([old, gap.as_bytes(), heading.as_bytes(), line.as_bytes()].concat());
    };
    let body = start + heading.len();
    let end = find(&old[body..], b"\n## ").map_or(old.len(), |at| body + at + 1);
    if find(&old[body..end], ended.key().as_bytes()).is_some() {
        return None;
    }
    // Empty lines before the next section stay below the new line.
    let kept = old[..end].trim_ascii_end().len();
    let newline: &[u8] = b"\n";
    let rest = old[kept..].strip_prefix(newline).unwrap_or(&old[kept..]);
    Some([&old[..kept], newline, line.as_bytes(), rest].concat())
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len())
        .position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(story: &str) -> Ended {
        let reason = "A title".to_owned();
        Ended {
            story: story.to_owned(),
            at_ms: 0,
            how: "passed",
            attempt: 1,
            commit: None,
            reason,
            taught: Vec::new(),
        }
    }

    #[test]
    fn what_a_story_taught_is_below_its_line() {
        let taught = [
            "rejected: a test is red",
            "learned: use tabs\n## Loop X",
            "\n",
            "\u{1b}[2J",
        ];
        let ended = Ended {
            taught: taught.map(str::to_owned).to_vec(),
            ..ended("one")
        };
        let old = "## Loop L\n- before\n\n## Codebase Patterns\n- mine\n";
        let new = with_line(old.as_bytes(), "L", &ended).expect("a line");
        assert_eq!(
            String::from_utf8(new).expect("text"),
            "## Loop L\n- before\n- 1970-01-01 00:00 UTC [one] passed, attempt 1: A title\n  \
             - rejected: a test is red\n  - learned: use tabs\n  - [2J\n\n## Codebase Patterns\n- mine\n"
        );
    }

    #[test]
    fn a_line_goes_below_the_loops_heading_and_nothing_else_changes() {
        let line =
            |story: &str| format!("- 1970-01-01 00:00 UTC [{story}] passed, attempt 1: A title\n");
        let (one, two) = (line("one"), line("two"));
        let patterns = "## Codebase Patterns\n- use tabs\n";
        for (old, expected) in [
            (String::new(), Some(format!("## Loop L\n{two}"))),
            (
                patterns.to_owned(),
                Some(format!("{patterns}\n## Loop L\n{two}")),
            ),
            (
                patterns.trim_end().to_owned(),
                Some(format!("{patterns}\n## Loop L\n{two}")),
            ),
            (
                format!("## Loop L\n{one}"),
                Some(format!("## Loop L\n{one}{two}")),
            ),
            (
                format!("## Loop L\n{one}\n{patterns}"),
                Some(format!("## Loop L\n{one}{two}\n{patterns}")),
            ),
            (
                format!("## Loop L\n\n{patterns}"),
                Some(format!("## Loop L\n{two}\n{patterns}")),
            ),
            (format!("## Loop L\n{two}"), None),
            (
                format!("## Loop OTHER\n{two}"),
                Some(format!("## Loop OTHER\n{two}\n## Loop L\n{two}")),
            ),
        ] {
            let found = with_line(old.as_bytes(), "L", &ended("two"));
            assert_eq!(
                found.map(|bytes| String::from_utf8(bytes).expect("text")),
                expected,
                "{old}"
            );
        }
    }

    #[test]
    fn a_missing_file_is_made_and_a_line_comes_once() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        for _ in 0..2 {
            append_progress(folder.path(), "L", &ended("one")).expect("written");
        }
        let text = std::fs::read_to_string(folder.path().join("progress.txt")).expect("read");
        assert_eq!(
            text,
            "## Loop L\n- 1970-01-01 00:00 UTC [one] passed, attempt 1: A title\n"
        );
        std::fs::create_dir(folder.path().join("sub")).expect("made");
        std::fs::create_dir(folder.path().join("sub/progress.txt")).expect("made");
        let refused = append_progress(&folder.path().join("sub"), "L", &ended("one"));
        assert!(matches!(refused, Err(FileError::Folder)), "{refused:?}");
    }
}
