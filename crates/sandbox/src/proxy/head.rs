//! Reads the head of an HTTP/1 message strictly, and knows how long its body is.
//!
//! Whatever two parsers could read differently is refused.

use std::io::{self, Read, Write};

use super::refusal::Denied;
use crate::Refusal;

/// The length of a head.
const HEAD_BYTES_MAX: usize = 64 * 1024;

/// The length of the line with a chunk's size.
const CHUNK_LINE_BYTES_MAX: usize = 1024;

const BUFFER_BYTES: usize = 16 * 1024;

/// A stream with what was read of it too early.
pub(super) struct Buffered<S> {
    pub(super) stream: S,
    ahead: Vec<u8>,
}

impl<S: Read> Buffered<S> {
    pub(super) fn new(stream: S) -> Self {
        Self {
            stream,
            ahead: Vec::new(),
        }
    }

    /// Takes what was read too early.
    pub(super) fn take_ahead(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.ahead)
    }

    /// Reads up to and including the empty line. `None` if the stream ends before its first byte.
    pub(super) fn head(&mut self) -> Result<Option<Vec<u8>>, Denied> {
        loop {
            let end = self.ahead.windows(4).position(|part| part == b"\r\n\r\n");
            if let Some(end) = end.filter(|end| end + 4 <= HEAD_BYTES_MAX) {
                return Ok(Some(self.ahead.drain(..end + 4).collect()));
            }
            if self.ahead.len() >= HEAD_BYTES_MAX {
                return Err(Denied::new(431, Refusal::BadRequest));
            }
            let mut chunk = [0; 8 * 1024];
            match self.stream.read(&mut chunk)? {
                0 if self.ahead.is_empty() => return Ok(None),
                0 => return Err(Denied::new(400, Refusal::BadRequest)),
                n_read => self.ahead.extend_from_slice(&chunk[..n_read]),
            }
        }
    }

    /// Reads one line of at most a bounded length.
    fn line(&mut self) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        let mut byte = [0];
        while !line.ends_with(b"\r\n") {
            self.read_exact(&mut byte)?;
            line.push(byte[0]);
            if line.len() > CHUNK_LINE_BYTES_MAX {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
        Ok(line)
    }
}

impl<S: Read> Read for Buffered<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ahead.is_empty() {
            return self.stream.read(buffer);
        }
        let n_read = buffer.len().min(self.ahead.len());
        buffer[..n_read].copy_from_slice(&self.ahead[..n_read]);
        self.ahead.drain(..n_read);
        Ok(n_read)
    }
}

/// The head of a request or a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    /// The three words of its first line.
    pub(super) first: [String; 3],
    pub(super) headers: Vec<(String, String)>,
}

/// How long a body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    /// Neither header says; a request has none then, and a response goes on to the end.
    Unsaid,
    Bytes(u64),
    Chunked,
}

impl Head {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, Denied> {
        let bad = || Denied::new(400, Refusal::BadRequest);
        if bytes.contains(&0) {
            return Err(bad());
        }
        // Latin-1, as HTTP has it: every byte is a character.
        let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
        let text = text.strip_suffix("\r\n\r\n").ok_or_else(bad)?;
        let mut lines = text.split("\r\n");
        let first = lines.next().ok_or_else(bad)?;
        let is_bare = |line: &str| line.contains(['\r', '\n']);
        if is_bare(first) {
            return Err(bad());
        }
        let mut words = first.splitn(3, ' ').map(str::to_owned);
        let mut word = || words.next().ok_or_else(bad);
        let first = [word()?, word()?, word().unwrap_or_default()];
        let header = |line: &str| {
            let (name, value) = line.split_once(':').ok_or_else(bad)?;
            if is_bare(line) || name.is_empty() || !name.bytes().all(is_name_byte) {
                return Err(bad());
            }
            Ok((name.to_owned(), value.trim_matches([' ', '\t']).to_owned()))
        };
        let headers = lines.map(header).collect::<Result<_, Denied>>()?;
        Ok(Self { first, headers })
    }

    /// The head of a request: method, target, and a version that we speak.
    pub(super) fn parse_request(bytes: &[u8]) -> Result<Self, Denied> {
        let head = Self::parse(bytes)?;
        let [method, target, version] = &head.first;
        let is_method = !method.is_empty() && method.bytes().all(is_name_byte);
        let is_target = !target.is_empty() && target.bytes().all(|byte| byte.is_ascii_graphic());
        let is_version = version == "HTTP/1.1" || version == "HTTP/1.0";
        if is_method && is_target && is_version {
            return Ok(head);
        }
        // A target in another alphabet is the attempt to name a host in it.
        Err(Denied::new(400, Refusal::BadRequest))
    }

    pub(super) fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let is_named = move |header: &&(String, String)| header.0.eq_ignore_ascii_case(name);
        self.headers
            .iter()
            .filter(is_named)
            .map(|header| header.1.as_str())
    }

    /// How long the body is.
    pub(super) fn body(&self) -> Result<Body, Denied> {
        let bad = || Denied::new(400, Refusal::BadRequest);
        let encodings: Vec<&str> = self.values("transfer-encoding").collect();
        let lengths: Vec<&str> = self.values("content-length").collect();
        // HTTP/1.0 has no chunks, so a server that speaks it would read them differently.
        let has_chunks = self.first[2] != "HTTP/1.0";
        match (encodings.as_slice(), lengths.as_slice()) {
            ([], []) => Ok(Body::Unsaid),
            ([encoding], []) if has_chunks && encoding.eq_ignore_ascii_case("chunked") => {
                Ok(Body::Chunked)
            }
            ([], [length]) => {
                let is_number =
                    (1..=15).contains(&length.len()) && length.bytes().all(|b| b.is_ascii_digit());
                let length = is_number.then(|| length.parse().ok()).flatten();
                length.map(Body::Bytes).ok_or_else(bad)
            }
            _ => Err(bad()),
        }
    }

    /// The head as bytes, with other headers in front and without those whose name is in `without`.
    pub(super) fn write(
        &self,
        first: &[&str; 3],
        front: &[(&str, &str)],
        without: &[&str],
    ) -> Vec<u8> {
        let is_kept = |header: &&(String, String)| {
            !without
                .iter()
                .any(|name| name.eq_ignore_ascii_case(&header.0))
        };
        let kept = self.headers.iter().filter(is_kept);
        let kept = kept.map(|(name, value)| (name.as_str(), value.as_str()));
        let mut text = first.join(" ") + "\r\n";
        for (name, value) in front.iter().copied().chain(kept) {
            text.push_str(name);
            text.push_str(": ");
            text.push_str(value);
            text.push_str("\r\n");
        }
        text.push_str("Connection: close\r\n\r\n");
        // Every character came from one byte.
        text.chars()
            .map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?'))
            .collect()
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Copies exactly one body.
pub(super) fn copy_body<S: Read>(
    from: &mut Buffered<S>,
    to: &mut impl Write,
    body: Body,
) -> io::Result<()> {
    match body {
        Body::Unsaid => Ok(()),
        Body::Bytes(n_bytes) => copy_exactly(from, to, n_bytes),
        Body::Chunked => loop {
            let line = from.line()?;
            let size = String::from_utf8_lossy(&line);
            let size = size.split(';').next().unwrap_or_default().trim().to_owned();
            let is_size = (1..=15).contains(&size.len());
            let n_bytes = u64::from_str_radix(&size, 16).ok().filter(|_| is_size);
            let n_bytes = n_bytes.ok_or(io::ErrorKind::InvalidData)?;
            to.write_all(&line)?;
            if n_bytes > 0 {
                copy_exactly(from, to, n_bytes + 2)?;
                continue;
            }
            // Trailers, up to an empty line.
            loop {
                let line = from.line()?;
                to.write_all(&line)?;
                if line == b"\r\n" {
                    return Ok(());
                }
            }
        },
    }
}

fn copy_exactly<S: Read>(
    from: &mut Buffered<S>,
    to: &mut impl Write,
    mut n_left: u64,
) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES];
    while n_left > 0 {
        let n_wanted = usize::try_from(n_left)
            .unwrap_or(BUFFER_BYTES)
            .min(BUFFER_BYTES);
        match from.read(&mut buffer[..n_wanted])? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n_read => {
                to.write_all(&buffer[..n_read])?;
                n_left -= n_read as u64;
            }
        }
    }
    Ok(())
}

/// Copies to the end of the stream.
pub(super) fn copy_all(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(n_read) => to.write_all(&buffer[..n_read])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
