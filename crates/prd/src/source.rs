//! The texts that a PRD was read from, and places in them.
//!
//! A place is a byte range of one file, so that `mark` can change exactly those bytes. Lines and
//! columns are computed only when a person is shown one. Nothing here touches the disk.

use std::sync::OnceLock;

/// A byte range in one of the [`Sources`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// Index of the file in [`Sources`].
    pub file: u32,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// The range `start..end` of file number `file`. Files are bounded well below 4 GiB, so the
    /// cast is exact.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "FILE_BYTES_MAX is far below u32::MAX"
    )]
    pub(crate) fn new(file: u32, start: usize, end: usize) -> Self {
        Self {
            file,
            start: start as u32,
            end: end as u32,
        }
    }

    /// The byte range, for slicing.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A line and a column as people count them, starting at 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line number, starting at 1.
    pub line_number: usize,
    /// Column in characters, starting at 1.
    pub column_number: usize,
}

/// One text with the name that people know it by.
#[derive(Debug, Clone)]
pub struct Source {
    name: String,
    text: String,
    /// Offsets of all line starts. Computed on first use: a PRD without diagnostics needs none.
    line_starts: OnceLock<Vec<u32>>,
    char_marks: OnceLock<Vec<u32>>,
}

impl Source {
    /// Makes a source from a name that people know and a text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            text: text.into(),
            line_starts: OnceLock::new(),
            char_marks: OnceLock::new(),
        }
    }

    /// The file's name as the person gave it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The line and column of a byte offset.
    pub fn position(&self, offset: usize) -> Position {
        let starts = self.line_starts();
        let line_index = starts
            .partition_point(|&start| start as usize <= offset)
            .saturating_sub(1);
        let start = starts.get(line_index).map_or(0, |&start| start as usize);
        let column_index = self
            .chars_before(offset)
            .saturating_sub(self.chars_before(start));
        Position {
            line_number: line_index + 1,
            column_number: column_index + 1,
        }
    }

    /// How many characters come before a byte offset. They are counted once per block, because a
    /// minified PRD is one line of megabytes and may have thousands of places to show.
    fn chars_before(&self, offset: usize) -> usize {
        let offset = self.text.floor_char_boundary(offset);
        let block = offset / Self::BLOCK_BYTES;
        let counted = self.char_marks().get(block).copied().unwrap_or_default();
        let from = self.text.floor_char_boundary(block * Self::BLOCK_BYTES);
        counted as usize + self.text[from..offset].chars().count()
    }

    const BLOCK_BYTES: usize = 4096;

    /// For every block, how many characters come before the one that its first byte belongs to.
    fn char_marks(&self) -> &[u32] {
        self.char_marks.get_or_init(|| {
            let starts_character = |byte: &u8| (*byte & 0xC0) != 0x80;
            let mut marks = Vec::with_capacity(self.text.len() / Self::BLOCK_BYTES + 1);
            let mut count: u32 = 0;
            for (index, block) in self.text.as_bytes().chunks(Self::BLOCK_BYTES).enumerate() {
                // A block that starts inside a character counts from that character's first byte.
                let inside = !self.text.is_char_boundary(index * Self::BLOCK_BYTES);
                marks.push(count - u32::from(inside));
                for _ in block.iter().filter(|byte| starts_character(byte)) {
                    count += 1;
                }
            }
            marks
        })
    }

    /// The line that holds a byte offset, without its line end, and the offset of its first byte.
    pub(crate) fn line_at(&self, offset: usize) -> (usize, &str) {
        let starts = self.line_starts();
        let line_index = starts
            .partition_point(|&start| start as usize <= offset)
            .saturating_sub(1);
        let start = starts.get(line_index).map_or(0, |&start| start as usize);
        let end = starts
            .get(line_index + 1)
            .map_or(self.text.len(), |&start| start as usize);
        (start, self.text[start..end].trim_end_matches(['\n', '\r']))
    }

    fn line_starts(&self) -> &[u32] {
        self.line_starts.get_or_init(|| {
            let after_each_end = self
                .text
                .bytes()
                .zip(1..)
                .filter(|(byte, _)| *byte == b'\n')
                .map(|(_, next)| next);
            std::iter::once(0).chain(after_each_end).collect()
        })
    }
}

/// All texts of one PRD: one file, or one per ticket of a folder.
#[derive(Debug, Clone, Default)]
pub struct Sources(Vec<Source>);

impl Sources {
    pub(crate) fn new(files: Vec<Source>) -> Self {
        Self(files)
    }

    /// Every file, in reading order.
    pub fn files(&self) -> &[Source] {
        &self.0
    }

    /// The file that a span is in.
    pub fn file(&self, span: Span) -> Option<&Source> {
        self.0.get(span.file as usize)
    }

    /// The text of a span, empty if the span is not in these sources.
    pub fn text(&self, span: Span) -> &str {
        self.file(span)
            .and_then(|source| source.text().get(span.range()))
            // `get` also covers a span of other sources that happens to cut a character.
            .unwrap_or_default()
    }

    /// The start of a span as `name:line:column`.
    pub fn place(&self, span: Span) -> String {
        let Some(source) = self.file(span) else {
            return String::new();
        };
        let Position {
            line_number,
            column_number,
        } = source.position(span.start as usize);
        format!("{}:{line_number}:{column_number}", source.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_counts_lines_and_characters_from_one() {
        let source = Source::new("x", "ab\r\ncé\nd");
        for (offset, expected) in [
            (0, (1, 1)),
            (1, (1, 2)),
            (4, (2, 1)),
            (7, (2, 3)),
            (8, (3, 1)),
            (9, (3, 2)),
        ] {
            let found = source.position(offset);
            assert_eq!(
                (found.line_number, found.column_number),
                expected,
                "offset {offset}"
            );
        }
        assert_eq!(source.line_at(5), (4, "cé"));
    }

    #[test]
    fn a_position_in_a_very_long_line_is_counted_right_across_blocks() {
        for filler in ["a", "é", "漢", "🚀"] {
            let text = format!("x\n{}", filler.repeat(5_000));
            let source = Source::new("x", text.clone());
            for index in [
                0, 1, 1_000, 1_365, 1_366, 2_047, 2_048, 4_094, 4_095, 4_096, 4_999,
            ] {
                let found = source.position(2 + index * filler.len());
                assert_eq!(
                    (found.line_number, found.column_number),
                    (2, index + 1),
                    "{filler} {index}"
                );
            }
        }
    }
}
