//! One question to a host outside, asked by ourselves and not by a program in a jail: by the ways that
//! a jail's proxy has, so through the person's own proxy and with the authorities that they trust.

use std::io::{self, Read as _, Write as _};
use std::time::{Duration, Instant};

use super::head::{Body, Buffered, Head};
use super::reach::Reach;
use super::refusal::Denied;
use super::rules::Rules;
use super::tls::Upstream;
use super::world::{World, world};
use crate::{ProxySpec, Route};

/// How long a host may say nothing. Whoever gives up too early does not know what became of the
/// question.
const PATIENCE_SECS: u64 = 60;

/// The whole answer. What is asked for is small.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;

/// What a host answered.
#[derive(Clone, PartialEq, Eq)]
pub struct Answered {
    /// The status.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
}

impl std::fmt::Debug for Answered {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The body may be a secret.
        write!(formatter, "Answered({})", self.status)
    }
}

/// Posts JSON to an address, and gives back the answer. Of `ways` only those that lead out count: the
/// person's own proxy, the hosts beside it, and the authorities.
pub fn ask(ways: &ProxySpec, url: &str, body: &str) -> io::Result<Answered> {
    ask_in(world(), ways, url, body)
}

pub(super) fn ask_in(
    world: Box<dyn World>,
    ways: &ProxySpec,
    url: &str,
    body: &str,
) -> io::Result<Answered> {
    const NAME: &str = "asked";
    let (origin, path) = split(url).ok_or(io::ErrorKind::InvalidInput)?;
    let spec = ProxySpec {
        routes: vec![Route {
            name: NAME.to_owned(),
            upstream: origin.to_owned(),
            header: String::new(),
            value_prefix: String::new(),
            key_variable: String::new(),
            extra_headers: std::collections::BTreeMap::new(),
            paths: Vec::new(),
        }],
        upstream_proxy: ways.upstream_proxy.clone(),
        direct: ways.direct.clone(),
        extra_ca: ways.extra_ca.clone(),
        ..ProxySpec::default()
    };
    let reach = Reach {
        rules: Rules::new(&spec, |_| None)?,
        world,
        patience: Some(Duration::from_secs(PATIENCE_SECS)),
    };
    let target = format!("{NAME}{path}");
    let (lane, path) = reach.rules.route(&target).map_err(in_words)?;
    let mut upstream = reach.lane(lane).map_err(in_words)?;
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nAccept: application/json\r\n\
         Content-Length: {}\r\nUser-Agent: loopwright\r\nConnection: close\r\n\r\n",
        lane.authority,
        body.len()
    );
    upstream.write_all(head.as_bytes())?;
    upstream.write_all(body.as_bytes())?;
    upstream.flush()?;
    answer(upstream)
}

/// `https://host[:port]` and the path, which begins with a slash.
fn split(url: &str) -> Option<(&str, &str)> {
    let host = url.find("://")? + "://".len();
    let path = host + url[host..].find('/')?;
    Some(url.split_at(path))
}

fn answer(upstream: Upstream) -> io::Result<Answered> {
    let deadline = Instant::now() + Duration::from_secs(2 * PATIENCE_SECS);
    let mut response = Buffered::new(upstream);
    let head = loop {
        let bytes = response.head().map_err(in_words)?;
        let bytes = bytes.ok_or(io::ErrorKind::UnexpectedEof)?;
        let head = Head::parse(&bytes).map_err(in_words)?;
        // Interim answers are for us.
        if !head.first[1].starts_with('1') {
            break head;
        }
    };
    let status = head.first[1].parse();
    let status = status.map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
    let length = head.body().map_err(in_words)?;
    let raw = read_all(&mut response, length, deadline)?;
    let body = match length {
        Body::Chunked => unchunked(&raw).ok_or(io::ErrorKind::InvalidData)?,
        Body::Bytes(_) | Body::Unsaid => raw,
    };
    Ok(Answered { status, body })
}

/// Reads what a body is told to have, or to the end. Some servers never close, and some never end.
fn read_all(
    response: &mut Buffered<Upstream>,
    length: Body,
    deadline: Instant,
) -> io::Result<Vec<u8>> {
    let is_whole = |raw: &[u8]| match length {
        Body::Bytes(n_bytes) => raw.len() as u64 >= n_bytes,
        Body::Chunked => unchunked(raw).is_some(),
        Body::Unsaid => false,
    };
    let mut raw = Vec::new();
    while !is_whole(&raw) {
        let mut chunk = [0; 8 * 1024];
        match response.read(&mut chunk)? {
            0 if length == Body::Unsaid => break,
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n_read => raw.extend_from_slice(&chunk[..n_read]),
        }
        if raw.len() > ANSWER_BYTES_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        if Instant::now() > deadline {
            return Err(io::ErrorKind::TimedOut.into());
        }
    }
    Ok(raw)
}

/// A body without the lengths of its chunks; none while it is not whole.
fn unchunked(mut raw: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = raw.windows(2).position(|two| two == b"\r\n")?;
        let size = std::str::from_utf8(&raw[..end]).ok()?;
        let size = size.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16).ok()?;
        raw = &raw[end + 2..];
        if size == 0 {
            return Some(body);
        }
        body.extend_from_slice(raw.get(..size)?);
        raw = raw.get(size..)?.strip_prefix(b"\r\n")?;
    }
}

fn in_words(denied: Denied) -> io::Error {
    match denied {
        Denied::Broken(error) | Denied::Unreachable(error) => error,
        Denied::Refused { .. } => io::Error::other("what was answered is no HTTP"),
    }
}
