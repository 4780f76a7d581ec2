//! Serves the connections of one run's proxy, one thread each.
//!
//! One request per connection: there is no second head to smuggle in. A tunnel carries whatever the
//! program says, but on port 443 only TLS with the host that was asked for.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use super::head::{Body, Buffered, Head, copy_all, copy_body};
use super::hello::{HELLO_BYTES_MAX, server_name};
use super::log::{Log, Traffic};
use super::meter::Meter;
use super::name::{authority, canonical};
use super::reach::{Reach, unreachable_by};
use super::refusal::{Denied, answer};
use super::rules::Rules;
use super::tls::Upstream;
use super::world::World;
use crate::{ProxySpec, Refusal};

/// Connections at the same time. Further ones are closed.
const CONNECTIONS_MAX: usize = 256;

/// How long a head, or the first bytes of a tunnel, may take.
const FIRST_BYTES_SECS_MAX: u64 = 30;

/// Headers that are between us and the program only.
const HOP: [&str; 10] = [
    "connection",
    "proxy-connection",
    "keep-alive",
    "te",
    "trailer",
    "upgrade",
    "proxy-authorization",
    "proxy-authenticate",
    "host",
    "expect",
];

/// The proxy of one run.
#[derive(Clone)]
pub(crate) struct Proxy(Arc<Inner>);

struct Inner {
    reach: Reach,
    log: Log,
    n_open: AtomicUsize,
}

impl std::fmt::Debug for Proxy {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The rules have keys in them.
        formatter.write_str("Proxy")
    }
}

impl Proxy {
    /// Reads the rules and opens the log. `key` looks the key of a route up.
    pub(crate) fn new(
        spec: &ProxySpec,
        key: impl Fn(&str) -> Option<String>,
        world: Box<dyn World>,
        log: &Path,
    ) -> io::Result<Self> {
        Ok(Self(Arc::new(Inner {
            reach: Reach {
                rules: Rules::new(spec, key)?,
                world,
                patience: None,
            },
            log: Log::open(log)?,
            n_open: AtomicUsize::new(0),
        })))
    }

    /// Serves everybody who connects, in a thread of its own.
    pub(crate) fn listen(&self, listener: UnixListener) -> io::Result<()> {
        let proxy = self.clone();
        let listening = thread::Builder::new().spawn(move || {
            for stream in listener.incoming().flatten() {
                proxy.take(stream);
            }
        });
        listening.map(drop)
    }

    /// Whether the run was refused a host without which it cannot do its work.
    pub(crate) fn has_refused_need(&self) -> bool {
        self.0.log.has_refused_need()
    }

    /// What came of it so far.
    pub(crate) fn traffic(&self) -> Traffic {
        self.0.log.traffic()
    }

    /// Serves one connection in a thread of its own.
    pub(super) fn take(&self, stream: UnixStream) {
        let inner = Arc::clone(&self.0);
        if inner.n_open.fetch_add(1, Ordering::AcqRel) >= CONNECTIONS_MAX {
            inner.n_open.fetch_sub(1, Ordering::AcqRel);
            return;
        }
        let serving = thread::Builder::new().spawn(move || {
            inner.serve(stream);
            inner.n_open.fetch_sub(1, Ordering::AcqRel);
        });
        // Without a thread the connection is closed, and the program may try again.
        if serving.is_err() {
            self.0.n_open.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

/// What is known of a request when it is refused.
struct Asked {
    host: String,
    port: u16,
}

impl Inner {
    fn serve(&self, stream: UnixStream) {
        let mut asked = Asked {
            host: String::new(),
            port: 0,
        };
        let mut client = Buffered::new(stream);
        let Err(denied) = self.request(&mut client, &mut asked) else {
            return;
        };
        if let Denied::Refused { why, .. } = denied {
            self.log.refuse(&asked.host, asked.port, why);
            if let Some(need) = self.reach.rules.need(&asked.host, why) {
                self.log.refuse_need(need);
            }
        }
        if let Some(answer) = answer(&denied) {
            let _ = client.stream.write_all(&answer);
        }
        // What the program is still sending is read away: closing with unread bytes could take our
        // answer back.
        let _ = client.stream.shutdown(Shutdown::Write);
        let _ = client.stream.set_read_timeout(Some(Duration::from_secs(1)));
        let _ = io::copy(&mut client.stream.take(1 << 20), &mut io::sink());
    }

    fn request(&self, client: &mut Buffered<UnixStream>, asked: &mut Asked) -> Result<(), Denied> {
        let patience = Duration::from_secs(FIRST_BYTES_SECS_MAX);
        client.stream.set_read_timeout(Some(patience))?;
        let Some(head) = client.head()? else {
            return Ok(());
        };
        // Also of a head that cannot be read, the log shows what was asked for.
        let first = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
        asked.host = String::from_utf8_lossy(first).into_owned();
        let head = Head::parse_request(&head)?;
        let [method, target, _] = &head.first;
        asked.host.clone_from(target);
        if method == "CONNECT" {
            return self.tunnel(client, target, asked);
        }
        let body = head.body()?;
        client.stream.set_read_timeout(None)?;
        match target.strip_prefix("/~") {
            Some(target) => self.routed(client, &head, body, target, asked),
            None => self.plain(client, &head, body, asked),
        }
    }

    /// `CONNECT host:port`.
    fn tunnel(
        &self,
        client: &mut Buffered<UnixStream>,
        target: &str,
        asked: &mut Asked,
    ) -> Result<(), Denied> {
        let (host, port) = authority(target, None)?;
        *asked = Asked { host, port };
        let upstream = self.reach.tunnel(&asked.host, port)?;
        client
            .stream
            .write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
        let mut first = client.take_ahead();
        if port == 443 {
            first = Self::hello(client, first, &asked.host)?;
        }
        client.stream.set_read_timeout(None)?;
        (&upstream).write_all(&first)?;
        splice(&client.stream, &upstream);
        Ok(())
    }

    /// Reads until the `ClientHello` is complete, and checks its name.
    fn hello(
        client: &mut Buffered<UnixStream>,
        mut bytes: Vec<u8>,
        host: &str,
    ) -> Result<Vec<u8>, Denied> {
        let other = || Denied::new(0, Refusal::OtherTlsName);
        loop {
            if let Some(name) = server_name(&bytes)? {
                let is_same = canonical(&name).is_ok_and(|name| name == host);
                return if is_same { Ok(bytes) } else { Err(other()) };
            }
            if bytes.len() > HELLO_BYTES_MAX {
                return Err(other());
            }
            let mut chunk = [0; 4096];
            match client.stream.read(&mut chunk)? {
                0 if bytes.is_empty() => {
                    return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
                }
                0 => return Err(other()),
                n_read => bytes.extend_from_slice(&chunk[..n_read]),
            }
        }
    }

    /// `GET http://host/path`.
    fn plain(
        &self,
        client: &mut Buffered<UnixStream>,
        head: &Head,
        body: Body,
        asked: &mut Asked,
    ) -> Result<(), Denied> {
        let bad = || Denied::new(400, Refusal::BadRequest);
        let [method, target, _] = &head.first;
        let scheme = target
            .get(..7)
            .filter(|scheme| scheme.eq_ignore_ascii_case("http://"));
        let rest = scheme.map(|_| &target[7..]).ok_or_else(bad)?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (text, path) = rest.split_at(end);
        if path.contains('#') {
            return Err(bad());
        }
        let (host, port) = authority(text, Some(80))?;
        *asked = Asked { host, port };
        let stream = self.reach.plain(&asked.host, port)?;
        let name = if port == 80 {
            asked.host.clone()
        } else {
            format!("{}:{port}", asked.host)
        };
        let path = if path.starts_with('/') {
            path.to_owned()
        } else {
            format!("/{path}")
        };
        // The host header is ours, so that a listed name cannot be a front for another.
        let mut front = vec![("Host", name.as_str())];
        let mut whole = path.clone();
        if let Some(proxy) = stream.through {
            whole = format!("http://{name}{path}");
            front.extend(
                proxy
                    .credentials
                    .as_deref()
                    .map(|value| ("Proxy-Authorization", value)),
            );
        }
        let request = head.write(&[method, &whole, "HTTP/1.1"], &front, &HOP);
        let upstream = Upstream::Plain(stream.stream);
        exchange(
            client,
            upstream,
            head,
            &request,
            body,
            &mut Meter::default(),
        )
    }

    /// `POST /~route/path`.
    fn routed(
        &self,
        client: &mut Buffered<UnixStream>,
        head: &Head,
        body: Body,
        target: &str,
        asked: &mut Asked,
    ) -> Result<(), Denied> {
        let (lane, path) = self.reach.rules.route(target)?;
        *asked = Asked {
            host: lane.host.clone(),
            port: lane.port,
        };
        let (rules, log) = (&self.reach.rules, &self.log);
        if !log.count_request(rules.requests_max, rules.balance.as_ref()) {
            return Err(Denied::new(403, Refusal::RequestsUsedUp));
        }
        let upstream = self.reach.lane(lane)?;
        let mut front = vec![("Host", lane.authority.as_str())];
        front.extend(
            lane.headers
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str())),
        );
        let mut without = lane.stripped();
        without.extend(HOP);
        // What is compressed cannot be counted.
        without.extend(rules.balance.map(|_| "accept-encoding"));
        let request = head.write(&[&head.first[0], &path, "HTTP/1.1"], &front, &without);
        let mut meter = Meter::default();
        let done = exchange(client, upstream, head, &request, body, &mut meter);
        log.count_tokens(meter.used());
        done
    }
}

/// Sends one request and gives back its response.
fn exchange(
    client: &mut Buffered<UnixStream>,
    mut upstream: Upstream,
    head: &Head,
    request: &[u8],
    body: Body,
    meter: &mut Meter,
) -> Result<(), Denied> {
    upstream.write_all(request).map_err(Denied::Unreachable)?;
    if head.values("expect").next().is_some() {
        client.stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    // A server may answer before it has read everything, so the response is read in any case.
    let sent = copy_body(client, &mut upstream, body);
    let flushed = upstream.flush();
    let mut response = Buffered::new(upstream);
    let answer = loop {
        let Ok(Some(bytes)) = response.head() else {
            sent.and(flushed).map_err(Denied::Unreachable)?;
            return Err(unreachable_by("the host did not answer"));
        };
        let answer = Head::parse(&bytes).map_err(|_| unreachable_by("the answer is malformed"))?;
        // Interim answers are for us.
        if !answer.first[1].starts_with('1') {
            break answer;
        }
    };
    let [version, status, reason] = &answer.first;
    let first = [version.as_str(), status.as_str(), reason.as_str()];
    client
        .stream
        .write_all(&answer.write(&first, &[], &["connection", "keep-alive"]))?;
    let has_none = head.first[0] == "HEAD" || status == "204" || status == "304";
    let mut to = meter.beside(&mut client.stream);
    match answer.body() {
        _ if has_none => {}
        Ok(Body::Unsaid) => copy_all(&mut response, &mut to)?,
        Ok(length) => copy_body(&mut response, &mut to, length)?,
        Err(_) => return Err(io::Error::from(io::ErrorKind::InvalidData).into()),
    }
    Ok(())
}

/// Copies in both directions until both have ended.
fn splice(client: &UnixStream, upstream: &TcpStream) {
    let (mut from_client, mut to_client) = (client, client);
    let (mut from_upstream, mut to_upstream) = (upstream, upstream);
    thread::scope(|scope| {
        scope.spawn(move || {
            let copied = copy_all(&mut from_client, &mut to_upstream);
            let _ = to_upstream.shutdown(if copied.is_ok() {
                Shutdown::Write
            } else {
                Shutdown::Both
            });
        });
        let copied = copy_all(&mut from_upstream, &mut to_client);
        let _ = to_client.shutdown(if copied.is_ok() {
            Shutdown::Write
        } else {
            Shutdown::Both
        });
    });
}
