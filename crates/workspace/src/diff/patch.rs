//! The patch of one file: what git says, and how much of it is shown.

use super::visible::{Escapes, n_text_bytes, visible};

/// A longer line is cut if the patch does not fit, so that it does not hide all others.
const LINE_BYTES_MAX: usize = 1000;

/// How the lines of a file differ.
#[derive(Debug, Default)]
pub(crate) struct Patch {
    pub(crate) n_added: usize,
    pub(crate) n_removed: usize,
    /// What has to be written as escapes.
    pub(crate) escapes: Escapes,
    /// The bytes of the patch as it is shown.
    pub(crate) shown_bytes: usize,
    /// The bytes of all lines, and those that are text among them.
    n_bytes: usize,
    n_text_bytes: usize,
    /// The hunks as git writes them.
    hunks: Vec<u8>,
}

impl Patch {
    /// Adds what git says of one file. A file that became a link is said twice, as removed and as
    /// new.
    pub(crate) fn add(&mut self, section: &[u8]) {
        let hunks = hunks(section);
        for line in lines(hunks) {
            self.n_added += usize::from(line.starts_with(b"+"));
            self.n_removed += usize::from(line.starts_with(b"-"));
            self.shown_bytes += visible(line, &mut self.escapes).len() + 1;
            if let [b'+' | b'-' | b' ', content @ ..] = line {
                self.n_bytes += content.len();
                self.n_text_bytes += n_text_bytes(content);
            }
        }
        self.hunks.extend_from_slice(hunks);
    }

    /// Whether at least half of it can be shown as it is.
    pub(crate) fn is_mostly_text(&self) -> bool {
        self.n_text_bytes * 2 >= self.n_bytes
    }

    /// The patch in at most so many bytes, and a note if that is not all.
    pub(crate) fn shown(&self, bytes_max: usize) -> String {
        let n_lines = lines(&self.hunks).count();
        let is_whole = self.shown_bytes <= bytes_max;
        let line_bytes_max = LINE_BYTES_MAX.max(bytes_max / n_lines.max(1));
        let mut shown = String::new();
        for (index, line) in lines(&self.hunks).enumerate() {
            let mut line = visible(line, &mut Escapes::new());
            if !is_whole {
                line = cut(line, line_bytes_max.min(bytes_max / 2));
                let note = left_out(n_lines - index);
                if shown.len() + line.len() + note.len() > bytes_max {
                    return shown + &note;
                }
            }
            shown.push_str(&line);
            shown.push('\n');
        }
        shown
    }
}

/// What git says of each file, in order.
pub(crate) fn sections(output: &[u8]) -> Vec<&[u8]> {
    // Every line of a file begins with a mark in a patch, so only git itself can begin one so.
    const START: &[u8] = b"diff --git ";
    let is_start =
        |at: &usize| (*at == 0 || output[*at - 1] == b'\n') && output[*at..].starts_with(START);
    let mut starts: Vec<_> = (0..output.len()).filter(is_start).collect();
    starts.push(output.len());
    starts
        .windows(2)
        .map(|ends| &output[ends[0]..ends[1]])
        .collect()
}

/// The hunks of a section, which has none if only a mode differs.
fn hunks(section: &[u8]) -> &[u8] {
    const START: &[u8] = b"\n@@ ";
    let at = section
        .windows(START.len())
        .position(|window| window == START);
    at.map_or(&[], |at| &section[at + 1..])
}

fn lines(hunks: &[u8]) -> impl Iterator<Item = &[u8]> {
    // Even an empty line of a file has its mark.
    hunks
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
}

fn left_out(n_lines: usize) -> String {
    let lines = if n_lines == 1 { "line" } else { "lines" };
    format!("… {n_lines} more {lines} of this file are not shown\n")
}

/// Cuts a line that is too long; a note says how much is missing.
pub(crate) fn cut(mut line: String, bytes_max: usize) -> String {
    if line.len() <= bytes_max {
        return line;
    }
    let end = line.floor_char_boundary(bytes_max);
    let note = format!(
        "… {} more bytes of this line are not shown",
        line.len() - end
    );
    line.truncate(end);
    line + &note
}
