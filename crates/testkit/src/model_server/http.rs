//! As much of HTTP as the clients need: one request and one answer per connection.

use std::io::{self, BufRead, Read, Write};
use std::net::{Shutdown, TcpStream};

use serde_json::Value;

/// The longest head of a request; no client needs more.
const HEAD_BYTES_MAX: u64 = 64 * 1024;
/// The longest body of a request; no client needs more.
const BODY_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// A request from a client.
pub(super) struct Incoming {
    pub(super) method: String,
    /// The path, without the query.
    pub(super) path: String,
    /// The keys that it came with, as they stand in its headers.
    pub(super) keys: Vec<String>,
    /// The body; null if it was not JSON.
    pub(super) body: Value,
}

/// Reads a request; `None` if the client closed the connection without sending one.
pub(super) fn read(stream: &mut impl BufRead) -> io::Result<Option<Incoming>> {
    let mut head = stream.by_ref().take(HEAD_BYTES_MAX);
    let mut first = String::new();
    head.read_line(&mut first)?;
    let mut words = first.split_whitespace();
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return Ok(None);
    };
    let mut length = 0;
    let mut is_chunked = false;
    let mut keys = Vec::new();
    loop {
        let mut line = String::new();
        head.read_line(&mut line)?;
        // The empty line at the end of the head has no colon.
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        let value = value.trim();
        match name.to_lowercase().as_str() {
            "content-length" => length = value.parse().unwrap_or(0),
            "transfer-encoding" => is_chunked = value.to_lowercase().contains("chunked"),
            "authorization" | "x-api-key" | "x-goog-api-key" => keys.push(value.to_owned()),
            _ => {}
        }
    }
    let body = if is_chunked {
        read_chunks(stream)?
    } else {
        read_exactly(stream, length)?
    };
    let path = target.split('?').next().unwrap_or_default().to_owned();
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Ok(Some(Incoming {
        method: method.to_owned(),
        path,
        keys,
        body,
    }))
}

fn read_exactly(stream: &mut impl BufRead, length: u64) -> io::Result<Vec<u8>> {
    if length > BODY_BYTES_MAX {
        return Err(io::Error::other("the body is too long"));
    }
    let mut body = Vec::new();
    stream.by_ref().take(length).read_to_end(&mut body)?;
    Ok(body)
}

fn read_chunks(stream: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        // Extensions may follow the length after a semicolon.
        let digits = line.split(';').next().unwrap_or_default().trim();
        let length = u64::from_str_radix(digits, 16).map_err(io::Error::other)?;
        body.extend(read_exactly(stream, length)?);
        // Every chunk ends in a line break of its own.
        stream.read_line(&mut String::new())?;
        if length == 0 || body.len() as u64 > BODY_BYTES_MAX {
            return Ok(body);
        }
    }
}

/// Writes the answer. Dropping it closes the connection.
pub(super) struct Answer<'a> {
    stream: &'a TcpStream,
}

impl<'a> Answer<'a> {
    pub(super) fn new(stream: &'a TcpStream) -> Self {
        Self { stream }
    }

    pub(super) fn json(&mut self, status: u16, body: &Value) -> io::Result<()> {
        self.raw(status, &[], &body.to_string())
    }

    pub(super) fn raw(
        &mut self,
        status: u16,
        headers: &[(String, String)],
        body: &str,
    ) -> io::Result<()> {
        let mut head = format!(
            "HTTP/1.1 {status} {}\r\ncontent-type: application/json\r\n",
            reason(status)
        );
        head.extend(
            headers
                .iter()
                .map(|(name, value)| format!("{name}: {value}\r\n")),
        );
        head.push_str(&format!(
            "content-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        ));
        self.stream.write_all(head.as_bytes())?;
        self.stream.write_all(body.as_bytes())
    }

    /// Starts a stream of events. It has no length: the end of the connection ends it.
    pub(super) fn begin_stream(&mut self) -> io::Result<()> {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\nconnection: close\r\n\r\n";
        self.stream.write_all(head.as_bytes())
    }

    pub(super) fn event(&mut self, name: Option<&str>, data: &Value) -> io::Result<()> {
        let name = name
            .map(|name| format!("event: {name}\n"))
            .unwrap_or_default();
        self.stream
            .write_all(format!("{name}data: {data}\n\n").as_bytes())
    }

    /// The last event of a Chat Completions stream.
    pub(super) fn end_mark(&mut self) -> io::Result<()> {
        self.stream.write_all(b"data: [DONE]\n\n")
    }

    /// Writes a comment into the stream, which fails once the client is gone.
    pub(super) fn ping(&mut self) -> io::Result<()> {
        self.stream.write_all(b": ping\n\n")
    }
}

impl Drop for Answer<'_> {
    fn drop(&mut self) {
        // It fails if the connection is closed already, which is fine.
        drop(self.stream.shutdown(Shutdown::Both));
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Scripted",
    }
}
