//! Reads what was kept of a run's output streams: the beginning, the end, and how much is missing
//! between them.
//!
//! A stream is kept in pieces. The file with the stream's name has the beginning. Every further
//! piece has the offset of its first byte in its file name, such as `stdout.1048576`. So at every
//! instant, even after `kill -9` of the keeper, a reader knows exactly which bytes it has. A single
//! file used as a ring buffer would need a second record of where it begins. Nothing here writes.

use std::fs;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

/// One of a program's two output streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl Stream {
    /// The name of the file with the stream's beginning.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

/// A contiguous part of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The offset of its first byte in the stream.
    pub from: u64,
    /// The content.
    pub bytes: Vec<u8>,
}

impl Piece {
    fn end(&self) -> u64 {
        self.from + self.bytes.len() as u64
    }
}

/// The kept parts of one stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    /// The pieces in order, with at least one missing byte between any two.
    pub pieces: Vec<Piece>,
}

/// Reads the kept parts of a stream. While the run has no output yet, there are no pieces.
pub fn output(run_dir: &Path, stream: Stream) -> io::Result<Output> {
    let mut found = Vec::new();
    for entry in fs::read_dir(run_dir)? {
        let entry = entry?;
        let from = entry
            .file_name()
            .to_str()
            .and_then(|name| offset_of(name, stream));
        match from.map(|from| (from, fs::read(entry.path()))) {
            Some((from, Ok(bytes))) if !bytes.is_empty() => found.push(Piece { from, bytes }),
            // A running keeper may have removed the piece just now, to make room for newer bytes.
            Some((_, Err(error))) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Some(_) | None => {}
        }
    }
    found.sort_by_key(|piece| piece.from);
    Ok(Output {
        pieces: joined(found),
    })
}

/// Reads at most `bytes_max` of the kept bytes from an offset on, for who follows a stream. Where the
/// bytes at the offset are missing, the piece begins later. None while nothing is there.
pub fn output_from(
    run_dir: &Path,
    stream: Stream,
    offset: u64,
    bytes_max: u64,
) -> io::Result<Option<Piece>> {
    let mut pieces = Vec::new();
    for entry in fs::read_dir(run_dir)? {
        let entry = entry?;
        let name = entry.file_name();
        let from = name.to_str().and_then(|name| offset_of(name, stream));
        pieces.extend(from.map(|from| (from, entry.path())));
    }
    pieces.sort();
    // All pieces but the last that begins before the offset, and those after it, end before it.
    let first = pieces
        .iter()
        .rposition(|(from, _)| *from <= offset)
        .unwrap_or(0);
    for (from, path) in pieces.into_iter().skip(first) {
        match read_piece(from, &path, offset, bytes_max) {
            Ok(piece) if piece.bytes.is_empty() => {}
            Ok(piece) => return Ok(Some(piece)),
            // The keeper made room for newer bytes.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

fn read_piece(from: u64, path: &Path, offset: u64, bytes_max: u64) -> io::Result<Piece> {
    let mut file = fs::File::open(path)?;
    file.seek(SeekFrom::Start(offset.saturating_sub(from)))?;
    let mut bytes = Vec::new();
    file.take(bytes_max).read_to_end(&mut bytes)?;
    let from = from.max(offset);
    Ok(Piece { from, bytes })
}

/// The file name of a piece.
#[cfg(target_os = "linux")]
pub(crate) fn piece_name(stream: &str, from: u64) -> String {
    if from == 0 {
        stream.to_owned()
    } else {
        format!("{stream}.{from}")
    }
}

fn offset_of(name: &str, stream: Stream) -> Option<u64> {
    match name.strip_prefix(stream.name())? {
        "" => Some(0),
        rest => rest.strip_prefix('.')?.parse().ok(),
    }
}

/// Joins pieces that are adjacent.
fn joined(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut all: Vec<Piece> = Vec::new();
    for piece in pieces {
        match all.last_mut() {
            Some(last) if last.end() == piece.from => last.bytes.extend(piece.bytes),
            _ => all.push(piece),
        }
    }
    all
}

impl Output {
    /// The end of the last piece, which is the length of the stream unless its end is missing.
    pub fn end(&self) -> u64 {
        self.pieces.last().map_or(0, Piece::end)
    }

    /// At most the last `bytes_max` bytes, without a gap in them.
    pub fn tail(&self, bytes_max: usize) -> &[u8] {
        let Some(last) = self.pieces.last() else {
            return &[];
        };
        &last.bytes[last.bytes.len().saturating_sub(bytes_max)..]
    }

    /// At most the last `bytes_max` bytes as text for people, with a line at every gap, and one at
    /// the top about what is not shown.
    ///
    /// `length` is the length of the stream, if it is known.
    pub fn text(&self, bytes_max: usize, length: Option<u64>) -> String {
        let mut left = bytes_max;
        // Collected from the end backwards, and reversed when it is complete.
        let mut shown: Vec<String> = Vec::new();
        let mut next_from = length.unwrap_or_else(|| self.end());
        for piece in self.pieces.iter().rev() {
            // The caller's `length` may be smaller than what is on disk by now.
            shown.extend(gap(next_from - piece.end().min(next_from)));
            let from = piece.bytes.len().saturating_sub(left);
            shown.push(String::from_utf8_lossy(&piece.bytes[from..]).into_owned());
            left -= piece.bytes.len() - from;
            next_from = piece.from;
            if left == 0 {
                shown.extend(self.unshown(piece.from + from as u64));
                return shown.into_iter().rev().collect();
            }
        }
        shown.extend(gap(next_from));
        shown.into_iter().rev().collect()
    }

    /// The line about the bytes before this offset.
    fn unshown(&self, before: u64) -> Option<String> {
        let kept = |piece: &Piece| piece.end().min(before).saturating_sub(piece.from);
        let n_missing = before - self.pieces.iter().map(kept).sum::<u64>();
        (before > 0).then(|| {
            format!("[{before} bytes before this are not shown, {n_missing} of them missing]\n")
        })
    }
}

fn gap(n_missing: u64) -> Option<String> {
    (n_missing > 0).then(|| format!("\n[{n_missing} bytes are missing here]\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(files: &[(&str, &str)]) -> Output {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        output(folder.path(), Stream::Stdout).unwrap()
    }

    #[test]
    fn pieces_are_read_in_order_and_gaps_are_shown() {
        for (files, length, tail, text) in [
            (&[][..], None, "", ""),
            (&[("stdout", "")], Some(0), "", ""),
            (
                &[("stdout", "abc"), ("stderr", "x"), ("stdout.x", "y")],
                Some(3),
                "abc",
                "abc",
            ),
            (
                &[("stdout", "abc"), ("stdout.3", "def")],
                Some(6),
                "abcdef",
                "abcdef",
            ),
            (
                &[("stdout", "abc"), ("stdout.100", "yz"), ("stdout.20", "x")],
                Some(102),
                "yz",
                "abc\n[17 bytes are missing here]\nx\n[79 bytes are missing here]\nyz",
            ),
            (
                &[("stdout", "abc")],
                Some(5),
                "abc",
                "abc\n[2 bytes are missing here]\n",
            ),
            (
                &[("stdout", ""), ("stdout.4", "abc")],
                None,
                "abc",
                "\n[4 bytes are missing here]\nabc",
            ),
        ] {
            let output = written(files);
            assert_eq!(output.tail(100), tail.as_bytes(), "{files:?}");
            assert_eq!(output.text(100, length), text, "{files:?}");
        }
    }

    #[test]
    fn a_stream_is_followed_over_its_pieces() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("stdout", "abc"), ("stdout.3", "def"), ("stdout.10", "xyz")] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        for (offset, expected) in [
            (0, Some((0, "ab"))),
            (2, Some((2, "c"))),
            (3, Some((3, "de"))),
            (6, Some((10, "xy"))),
            (12, Some((12, "z"))),
            (13, None),
        ] {
            let piece = output_from(folder.path(), Stream::Stdout, offset, 2).unwrap();
            let found = piece.map(|piece| (piece.from, String::from_utf8(piece.bytes).unwrap()));
            let expected = expected.map(|(from, text)| (from, text.to_owned()));
            assert_eq!(found, expected, "from {offset}");
        }
        let none = output_from(folder.path(), Stream::Stderr, 0, 2).unwrap();
        assert_eq!(none, None);
    }

    #[test]
    fn only_the_last_bytes_are_shown() {
        let output = written(&[("stdout", "abc"), ("stdout.10", "xyz")]);
        for (bytes_max, tail, text) in [
            (
                0,
                "",
                "[13 bytes before this are not shown, 7 of them missing]\n",
            ),
            (
                2,
                "yz",
                "[11 bytes before this are not shown, 7 of them missing]\nyz",
            ),
            (
                3,
                "xyz",
                "[10 bytes before this are not shown, 7 of them missing]\nxyz",
            ),
            (
                4,
                "xyz",
                "[2 bytes before this are not shown, 0 of them missing]\nc\n[7 bytes are missing here]\nxyz",
            ),
            (6, "xyz", "abc\n[7 bytes are missing here]\nxyz"),
        ] {
            assert_eq!(output.tail(bytes_max), tail.as_bytes(), "{bytes_max}");
            assert_eq!(output.text(bytes_max, None), text, "{bytes_max}");
        }
    }
}
