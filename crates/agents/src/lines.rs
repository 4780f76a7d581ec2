//! Cuts a byte stream into lines within bounded memory, whatever arrives: no newline at all, binary
//! data, gigabytes.

/// Longer lines are not read. The longest line that matters is a final answer. The transcripts that
/// some CLIs repeat at the end may be longer, but they hold nothing new.
pub(crate) const LINE_BYTES_MAX: usize = 2 * 1024 * 1024;

/// How much of a line that is too long is kept, to show to people.
const HEAD_BYTES: usize = 512;

/// Cuts a stream into lines.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    /// The line so far, or only its head while it is skipped.
    partial: Vec<u8>,
    /// Whether the current line is too long, so that the rest of it is dropped.
    is_skipping: bool,
}

/// One line of a stream, without its newline.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    Whole(&'a [u8]),
    /// The head of a line that was too long to be read.
    TooLong(&'a [u8]),
}

impl Lines {
    /// Adds the next bytes and passes on each line that they complete.
    pub(crate) fn push(&mut self, bytes: &[u8], mut take: impl FnMut(Line<'_>)) {
        let mut rest = bytes;
        while let Some(at) = rest.iter().position(|&byte| byte == b'\n') {
            let line = &rest[..at];
            // A line that lies whole in these bytes needs no copy.
            if self.partial.is_empty() && !self.is_skipping && line.len() <= LINE_BYTES_MAX {
                take(Line::Whole(line));
            } else {
                self.keep(line);
                self.end_line(&mut take);
            }
            rest = &rest[at + 1..];
        }
        self.keep(rest);
    }

    /// Passes on the last line if the stream ended without a newline.
    pub(crate) fn finish(&mut self, mut take: impl FnMut(Line<'_>)) {
        if !self.partial.is_empty() {
            self.end_line(&mut take);
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.is_skipping {
            return;
        }
        let room = LINE_BYTES_MAX - self.partial.len();
        if bytes.len() <= room {
            self.partial.extend_from_slice(bytes);
            return;
        }
        let head = HEAD_BYTES
            .saturating_sub(self.partial.len())
            .min(bytes.len());
        self.partial.extend_from_slice(&bytes[..head]);
        self.partial.truncate(HEAD_BYTES);
        // Give the memory back: the skipped line may go on for as long as the run lasts.
        self.partial.shrink_to_fit();
        self.is_skipping = true;
    }

    fn end_line(&mut self, take: &mut impl FnMut(Line<'_>)) {
        let line = std::mem::take(&mut self.partial);
        take(if self.is_skipping {
            Line::TooLong(&line)
        } else {
            Line::Whole(&line)
        });
        self.is_skipping = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(chunks: &[&[u8]]) -> Vec<String> {
        let mut lines = Lines::default();
        let mut seen = Vec::new();
        let mut take = |line: Line<'_>| {
            seen.push(match line {
                Line::Whole(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                Line::TooLong(bytes) => format!("too long: {} bytes", bytes.len()),
            });
        };
        for chunk in chunks {
            lines.push(chunk, &mut take);
        }
        lines.finish(&mut take);
        seen
    }

    #[test]
    fn a_stream_is_cut_into_lines() {
        let long = vec![b'x'; LINE_BYTES_MAX + 1];
        let fits = vec![b'x'; LINE_BYTES_MAX];
        let short = |text: &str| text.as_bytes().to_vec();
        let told = "too long: 512 bytes".to_owned();
        for (chunks, expected) in [
            (vec![short("a\nb\n")], vec!["a".to_owned(), "b".to_owned()]),
            (
                vec![short("a"), short("b\r\nc")],
                vec!["ab\r".to_owned(), "c".to_owned()],
            ),
            (vec![short("\n\n")], vec![String::new(), String::new()]),
            (vec![], vec![]),
            (
                vec![long.clone(), short("\nb\n")],
                vec![told.clone(), "b".to_owned()],
            ),
            (
                vec![fits, short("y"), short("\nb")],
                vec![told.clone(), "b".to_owned()],
            ),
            (vec![long.clone(), long.clone(), long], vec![told]),
        ] {
            let chunks: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
            assert_eq!(cut(&chunks), expected);
        }
    }
}
