//! The texts that a PRD was read from, and places in them.
//!
//! A place is a byte range of one file, so that writing back can change exactly those bytes. Lines and columns
//! are worked out only when a person is shown one. Nothing here touches the disk.

use std::sync::OnceLock;

/// A byte range in one of the [`Sources`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// Index of the file in [`Sources`].
    pub file: u32,
    /// First byte.
    pub start: u32,
    /// Byte after the last.
    pub end: u32,
}

impl Span {
    /// The range `start..end` of file number `file`. Files are bounded well below 4 GiB, so the cast is exact.
    #[expect(clippy::cast_possible_truncation, reason = "FILE_BYTES_MAX is far below u32::MAX")]
    pub(crate) fn new(file: u32, start: usize, end: usize) -> Self {
        Self { file, start: start as u32, end: end as u32 }
    }

    /// The byte range, for slicing.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A line and a column as people count them, from 1; the column counts characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line_number: usize,
    /// Column in characters, from 1.
    pub column_number: usize,
}

/// One text with the name that people know it by.
#[derive(Debug, Clone)]
pub struct Source {
    name: String,
    text: String,
    line_starts: OnceLock<Vec<u32>>,
}

impl Source {
    /// A text under the name that people know it by.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into(), line_starts: OnceLock::new() }
    }

    /// The file's name as the person gave it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where a byte offset stands, as people count.
    pub fn position(&self, offset: usize) -> Position {
        let starts = self.line_starts();
        let line_index = starts.partition_point(|&start| start as usize <= offset).saturating_sub(1);
        let start = starts.get(line_index).map_or(0, |&start| start as usize);
        let before = self.text.get(start..offset).unwrap_or_default();
        Position { line_number: line_index + 1, column_number: before.chars().count() + 1 }
    }

    /// The line that holds a byte offset, without its line end, and the offset of its first byte.
    pub(crate) fn line_at(&self, offset: usize) -> (usize, &str) {
        let starts = self.line_starts();
        let line_index = starts.partition_point(|&start| start as usize <= offset).saturating_sub(1);
        let start = starts.get(line_index).map_or(0, |&start| start as usize);
        let end = starts.get(line_index + 1).map_or(self.text.len(), |&start| start as usize);
        (start, self.text[start..end].trim_end_matches(['\n', '\r']))
    }

    fn line_starts(&self) -> &[u32] {
        self.line_starts.get_or_init(|| {
            let after_each_end =
                self.text.bytes().zip(1..).filter(|(byte, _)| *byte == b'\n').map(|(_, next)| next);
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

    /// The bytes of a span as text; empty when the span is not of these sources.
    pub fn text(&self, span: Span) -> &str {
        self.file(span).and_then(|source| source.text().get(span.range())).unwrap_or_default()
    }

    /// `name:line:column` of a span's start.
    pub fn place(&self, span: Span) -> String {
        let Some(source) = self.file(span) else { return String::new() };
        let Position { line_number, column_number } = source.position(span.start as usize);
        format!("{}:{line_number}:{column_number}", source.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_counts_lines_and_characters_from_one() {
        let source = Source::new("x", "ab\r\ncé\nd");
        for (offset, expected) in
            [(0, (1, 1)), (1, (1, 2)), (4, (2, 1)), (7, (2, 3)), (8, (3, 1)), (9, (3, 2))]
        {
            let found = source.position(offset);
            assert_eq!((found.line_number, found.column_number), expected, "offset {offset}");
        }
        assert_eq!(source.line_at(5), (4, "cé"));
    }
}
