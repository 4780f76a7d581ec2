//! Requests that try to get past the proxy, as raw bytes, and what must come back; names and
//! connections are given, so that nothing leaves the machine and everything that would have been
//! dialled is seen.

mod asked;
mod table;

use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use tempfile::TempDir;

use table::{RAW, REQUESTS, TUNNELS};

use super::world::World;
use super::{Proxy, Traffic};
use crate::{Allowed, ProxySpec, Refusal, Refused, Route};

const PUBLIC: &str = "93.184.215.14";

/// Names with their addresses. Whatever is dialled leads to one server of the test.
#[derive(Clone)]
struct Names {
    addresses: BTreeMap<&'static str, Vec<IpAddr>>,
    server: SocketAddr,
    dialled: Arc<Mutex<Vec<SocketAddr>>>,
}

impl World for Names {
    fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        let found = self.addresses.get(host).ok_or(io::ErrorKind::NotFound)?;
        Ok(found
            .iter()
            .map(|address| (*address, port).into())
            .collect())
    }

    fn dial(&self, address: SocketAddr) -> io::Result<TcpStream> {
        self.dialled.lock().unwrap().push(address);
        TcpStream::connect(self.server)
    }
}

/// A proxy with its world.
struct Scene {
    proxy: Proxy,
    names: Names,
    folder: TempDir,
}

fn allowed(host: &str, port: u16, may_be_private: bool) -> Allowed {
    Allowed {
        host: host.to_owned(),
        port,
        may_be_private,
    }
}

fn spec() -> ProxySpec {
    let allow = [
        ("api.example", 80, false),
        ("api.example", 443, false),
        ("localhost", 80, false),
        ("inside.example", 80, false),
        ("cloud.example", 80, true),
        ("both.example", 80, false),
        ("mirror.corp.example", 80, true),
        ("gone.example", 80, false),
        ("xn--bcher-kva.example", 80, false),
    ];
    let route = Route {
        name: "m".to_owned(),
        upstream: "http://model.example/base/".to_owned(),
        header: "x-api-key".to_owned(),
        value_prefix: String::new(),
        key_variable: "REAL_KEY".to_owned(),
        extra_headers: BTreeMap::from([("anthropic-version".to_owned(), "1".to_owned())]),
        paths: ["v1/messages", "/v1/models*"].map(str::to_owned).to_vec(),
    };
    ProxySpec {
        allow: allow
            .map(|(host, port, private)| allowed(host, port, private))
            .to_vec(),
        routes: vec![route],
        ..ProxySpec::default()
    }
}

impl Scene {
    fn new(change: impl FnOnce(&mut ProxySpec)) -> Self {
        Self::at(echo(), change)
    }

    fn at(server: SocketAddr, change: impl FnOnce(&mut ProxySpec)) -> Self {
        let mut spec = spec();
        change(&mut spec);
        let addresses = [
            ("api.example", vec![PUBLIC]),
            ("xn--bcher-kva.example", vec![PUBLIC]),
            ("localhost", vec!["127.0.0.1", "::1"]),
            ("inside.example", vec!["10.0.0.7"]),
            (
                "cloud.example",
                vec!["169.254.169.254", "::ffff:169.254.169.254"],
            ),
            ("both.example", vec!["192.168.0.1", PUBLIC]),
            ("mirror.corp.example", vec!["10.0.0.8"]),
            ("model.example", vec!["10.0.0.9"]),
            ("proxy.corp.example", vec!["10.0.0.10"]),
        ];
        let parsed = |(name, list): (&'static str, Vec<&str>)| {
            (
                name,
                list.iter().map(|text| text.parse().unwrap()).collect(),
            )
        };
        let names = Names {
            addresses: addresses.into_iter().map(parsed).collect(),
            server,
            dialled: Arc::default(),
        };
        let folder = tempfile::tempdir().unwrap();
        let key = |name: &str| (name == "REAL_KEY").then(|| "the-real-key".to_owned());
        let log = folder.path().join("network.jsonl");
        let proxy = Proxy::new(&spec, key, Box::new(names.clone()), &log).unwrap();
        Self {
            proxy,
            names,
            folder,
        }
    }

    fn connect(&self) -> UnixStream {
        let (ours, theirs) = UnixStream::pair().unwrap();
        self.proxy.take(theirs);
        ours.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        ours
    }

    /// Sends bytes, and reads everything that comes back.
    fn ask(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        // The proxy may have answered and gone before everything was sent.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn dialled(&self) -> Vec<String> {
        let dialled = self.names.dialled.lock().unwrap();
        dialled.iter().map(ToString::to_string).collect()
    }

    fn traffic(&self) -> Traffic {
        self.proxy.traffic()
    }
}

/// A server that answers with the request that it got.
fn echo() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || answer(stream));
        }
    });
    address
}

/// Reads one request and answers with it.
fn answer(mut stream: impl io::Read + io::Write) {
    let mut request = Vec::new();
    let mut byte = [0];
    let is_whole = |request: &[u8]| {
        let text = String::from_utf8_lossy(request).to_ascii_lowercase();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            return false;
        };
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        match length {
            Some(length) => body.len() >= length.parse::<usize>().unwrap(),
            None => !head.contains("transfer-encoding") || body.ends_with("\r\n\r\n"),
        }
    };
    while !is_whole(&request) && matches!(stream.read(&mut byte), Ok(1)) {
        request.push(byte[0]);
    }
    let text = String::from_utf8_lossy(&request).into_owned();
    let reply = if text.contains("/redirect") {
        "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
            .to_owned()
    } else if text.contains("/keeps") {
        // It says that the connection stays open, and keeps it open.
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nConnection: keep-alive\r\n\
         Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
            .to_owned()
    } else {
        format!(
            "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{text}",
            text.len()
        )
    };
    let _ = stream.write_all(reply.as_bytes());
    let _ = stream.flush();
    if text.contains("/keeps") {
        let _ = stream.read(&mut byte);
    }
}

fn connect(target: &str) -> Vec<u8> {
    format!("CONNECT {target} HTTP/1.1\r\nHost: x\r\n\r\n").into_bytes()
}

fn get(target: &str, headers: &str) -> Vec<u8> {
    format!("GET {target} HTTP/1.1\r\nHost: evil.example\r\n{headers}\r\n").into_bytes()
}

#[test]
fn a_request_is_answered_with() {
    let long = connect(&format!("{}:443", "a".repeat(300)));
    let big = get(
        "http://api.example/a",
        &format!("X: {}\r\n", "a".repeat(100_000)),
    );
    let tunnels = TUNNELS
        .iter()
        .map(|(name, target, status)| (*name, connect(target), *status));
    let requests = REQUESTS
        .iter()
        .map(|(name, target, headers, status)| (*name, get(target, headers), *status));
    let raw = RAW
        .iter()
        .map(|(name, bytes, status)| (*name, bytes.to_vec(), *status));
    let sizes = [("a long name", long, 400), ("a head of 100 KB", big, 431)];
    let rows: Vec<_> = tunnels.chain(requests).chain(raw).chain(sizes).collect();
    assert!(rows.len() >= 100, "{}", rows.len());
    let mut faults = Vec::new();
    for (name, bytes, expected) in rows {
        let scene = Scene::new(|_| {});
        let answer = scene.ask(&bytes);
        let status = answer.split(' ').nth(1).unwrap_or_default();
        let is_through = matches!(expected, 200 | 302);
        let is_dialled = !scene.dialled().is_empty();
        let is_logged = !scene.traffic().refused.is_empty();
        let is_refused = !is_through && expected != 502;
        if (status, is_dialled, is_logged) != (&expected.to_string(), is_through, is_refused) {
            faults.push(format!(
                "{name}: {status}, dialled {is_dialled}, logged {is_logged}"
            ));
        }
    }
    assert_eq!(faults, Vec::<String>::new());
}

#[test]
fn what_goes_upstream_is_ours() {
    let scene = Scene::new(|_| {});
    let plain = scene.ask(&get(
        "http://API.example/a?b",
        "Proxy-Authorization: x\r\nConnection: keep-alive\r\nUpgrade: websocket\r\nAccept: */*\r\n",
    ));
    let (_, seen) = plain.split_once("\r\n\r\n").unwrap();
    let expected =
        "GET /a?b HTTP/1.1\r\nHost: api.example\r\nAccept: */*\r\nConnection: close\r\n\r\n";
    assert_eq!(seen, expected);
    assert_eq!(scene.dialled(), [format!("{PUBLIC}:80")]);
    let keys = "X-Api-Key: fake\r\nAuthorization: Bearer fake\r\nCookie: a=b\r\nAnthropic-Version: 0\r\nAccept: */*\r\n";
    let routed = scene.ask(&get("/~m/v1/messages?a=/../b", keys));
    let (_, seen) = routed.split_once("\r\n\r\n").unwrap();
    let expected = "GET /base/v1/messages?a=/../b HTTP/1.1\r\nHost: model.example\r\n\
                    x-api-key: the-real-key\r\nanthropic-version: 1\r\nAccept: */*\r\n\
                    Connection: close\r\n\r\n";
    assert_eq!(seen, expected);
    assert_eq!(scene.traffic().n_requests, 1);
}

#[test]
fn one_connection_has_one_request() {
    let scene = Scene::new(|_| {});
    let two = [
        get("http://api.example/a", ""),
        get("http://evil.example/b", ""),
    ]
    .concat();
    let answer = scene.ask(&two);
    assert_eq!(answer.matches("HTTP/1.1 200").count(), 1, "{answer}");
    assert!(!answer.contains("evil.example/b"), "{answer}");
    assert_eq!(scene.dialled().len(), 1);
}

#[test]
fn bodies_go_through_whole_and_not_beyond() {
    for (name, headers, body, seen) in [
        (
            "length",
            "Content-Length: 5\r\n",
            "hello, and more",
            "hello",
        ),
        (
            "chunks",
            "Transfer-Encoding: chunked\r\n",
            "5;x=y\r\nhello\r\n0\r\nT: 1\r\n\r\nmore",
            "5;x=y\r\nhello\r\n0\r\nT: 1\r\n\r\n",
        ),
        (
            "expect",
            "Expect: 100-continue\r\nContent-Length: 5\r\n",
            "hello",
            "hello",
        ),
    ] {
        let scene = Scene::new(|_| {});
        let request = format!("POST http://api.example/a HTTP/1.1\r\n{headers}\r\n{body}");
        let answer = scene.ask(request.as_bytes());
        assert!(
            answer.ends_with(&format!("Connection: close\r\n\r\n{seen}")),
            "{name}: {answer}"
        );
        assert_eq!(
            answer.contains("100 Continue"),
            name == "expect",
            "{answer}"
        );
    }
}

/// A server that keeps its connection open does not keep the program waiting.
#[test]
fn a_response_ends_where_it_says() {
    let scene = Scene::new(|_| {});
    let answer = scene.ask(&get("http://api.example/keeps", ""));
    let expected = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n\
                    3\r\nabc\r\n0\r\n\r\n";
    assert_eq!(answer, expected);
}

#[test]
fn refusals_are_written_down_as_they_happen() {
    let scene = Scene::new(|_| {});
    for target in [
        "evil.example:443",
        "127.0.0.1:80",
        "evil.example:443",
        "localhost:80",
    ] {
        scene.ask(&connect(target));
    }
    let refused = |host: &str, port: u16, why: Refusal| Refused {
        host: host.to_owned(),
        port,
        why,
    };
    assert_eq!(
        scene.traffic().refused,
        [
            refused("127.0.0.1:80", 0, Refusal::IpLiteral),
            refused("evil.example", 443, Refusal::NotListed),
            refused("localhost", 80, Refusal::PrivateAddress),
        ]
    );
    let lines = std::fs::read_to_string(scene.folder.path().join("network.jsonl")).unwrap();
    assert_eq!(lines.lines().count(), 4, "{lines}");
    assert!(
        lines.contains(r#""host":"evil.example","port":443,"why":"not_listed"}"#),
        "{lines}"
    );
    for n in 0..1_200 {
        scene.ask(&connect(&format!("h{n}.example:1")));
    }
    let lines = std::fs::read_to_string(scene.folder.path().join("network.jsonl")).unwrap();
    assert_eq!(
        (lines.lines().count(), scene.traffic().refused.len()),
        (1_000, 64)
    );
}

#[test]
fn requests_end_when_they_are_used_up() {
    let scene = Scene::new(|spec| spec.requests_max = Some(2));
    let statuses = [(); 4].map(|()| scene.ask(&get("/~m/v1/messages", ""))[9..12].to_owned());
    assert_eq!(statuses, ["200", "200", "403", "403"]);
    let traffic = scene.traffic();
    assert_eq!((traffic.n_requests, traffic.is_used_up), (2, true));
    assert_eq!(scene.dialled().len(), 2);
    let answer = scene.ask(&get("/~m/v1/messages", ""));
    assert!(answer.contains("application/json"), "{answer}");
    assert!(
        answer.contains("the requests of this run, or its budget, are used up"),
        "{answer}"
    );
    // Other hosts are no requests to a model.
    assert!(
        scene
            .ask(&get("http://api.example/", ""))
            .starts_with("HTTP/1.1 200")
    );
}

#[test]
fn an_upstream_proxy_is_asked_for_everything_but_its_exceptions() {
    let scene = Scene::new(|spec| {
        spec.upstream_proxy = Some("http://ada:secret@proxy.corp.example:3128".to_owned());
        spec.direct = vec!["corp.example".to_owned()];
    });
    let seen = scene.ask(&get(
        "http://api.example/a",
        "Proxy-Authorization: mine\r\n",
    ));
    assert!(
        seen.contains("GET http://api.example/a HTTP/1.1\r\nHost: api.example\r\n"),
        "{seen}"
    );
    assert!(
        seen.contains("Proxy-Authorization: Basic YWRhOnNlY3JldA==\r\n"),
        "{seen}"
    );
    assert!(!seen.contains("mine"), "{seen}");
    assert_eq!(scene.dialled(), ["10.0.0.10:3128"]);
    scene.ask(&get("http://mirror.corp.example/a", ""));
    assert_eq!(scene.dialled()[1..], ["10.0.0.8:80"]);
    let refused = scene.ask(&get("http://evil.example/a", ""));
    assert!(refused.starts_with("HTTP/1.1 403"), "{refused}");
    assert_eq!(scene.dialled().len(), 2);
    // The server of this test answers a CONNECT with 200 and a body, which is no tunnel.
    let broken = scene.ask(&connect("api.example:443"));
    assert!(broken.starts_with("HTTP/1.1 502"), "{broken}");
    assert_eq!(scene.dialled()[2..], ["10.0.0.10:3128"]);
}

/// A proxy of the person: it opens tunnels, and what comes through one is answered in capitals.
fn tunnelling() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r\n") && matches!(stream.read(&mut byte), Ok(1)) {
                head.push(byte[0]);
            }
            let text = String::from_utf8_lossy(&head).into_owned();
            let is_known = text.contains("Proxy-Authorization: Basic YWRhOnNlY3JldA==\r\n");
            let status = if is_known {
                "200 OK"
            } else {
                "407 Who are you"
            };
            let _ = stream.write_all(format!("HTTP/1.1 {status}\r\n\r\n").as_bytes());
            let mut buffer = [0; 64];
            while let Ok(n_read @ 1..) = stream.read(&mut buffer) {
                let _ = stream.write_all(&buffer[..n_read].to_ascii_uppercase());
            }
        }
    });
    address
}

#[test]
fn a_tunnel_goes_through_an_upstream_proxy() {
    for (user, expected) in [("ada:secret@", "HELLO"), ("", "HTTP/1.1 502")] {
        let scene = Scene::at(tunnelling(), |spec| {
            spec.upstream_proxy = Some(format!("http://{user}proxy.corp.example:3128"));
        });
        let mut stream = scene.connect();
        stream.write_all(&connect("api.example:80")).unwrap();
        let _ = stream.write_all(b"hello");
        let _ = stream.shutdown(Shutdown::Write);
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        assert!(answer.contains(expected), "{user}: {answer}");
        assert_eq!(scene.dialled(), ["10.0.0.10:3128"]);
    }
}

/// An upstream that needs no key of ours gets what the program sends.
#[test]
fn a_route_without_a_key_leaves_the_program_its_own() {
    let scene = Scene::new(|spec| {
        spec.routes[0].key_variable = String::new();
    });
    let seen = scene.ask(&get("/~m/v1/messages", "authorization: Bearer mine\r\n"));
    assert!(seen.contains("authorization: Bearer mine\r\n"), "{seen}");
    assert!(!seen.contains("the-real-key"), "{seen}");
}

fn tls_folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tls"))
}

/// The echo server behind TLS.
fn tls_echo() -> SocketAddr {
    let certificates = CertificateDer::pem_file_iter(tls_folder().join("server.pem")).unwrap();
    let certificates = certificates.map(Result::unwrap).collect();
    let key = PrivateKeyDer::from_pem_file(tls_folder().join("server.key")).unwrap();
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider);
    let builder = builder.with_safe_default_protocol_versions().unwrap();
    let config = builder
        .with_no_client_auth()
        .with_single_cert(certificates, key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            thread::spawn(move || answer(StreamOwned::new(connection, stream)));
        }
    });
    address
}

#[test]
fn a_route_speaks_tls_with_whom_it_trusts() {
    let ca = tls_folder().join("ca.pem");
    for (upstream, extra_ca, expected) in [
        ("https://model.example/v1", Some(&ca), "200"),
        ("https://model.example/v1", None, "502"),
        ("https://proxy.corp.example/v1", Some(&ca), "502"),
    ] {
        let scene = Scene::at(tls_echo(), |spec| {
            spec.routes[0].upstream = upstream.to_owned();
            spec.routes[0].header = "authorization".to_owned();
            spec.routes[0].value_prefix = "Bearer ".to_owned();
            spec.extra_ca = extra_ca.cloned();
        });
        let answer = scene.ask(&get("/~m/v1/messages", "authorization: fake\r\n"));
        assert_eq!(&answer[9..12], expected, "{upstream}: {answer}");
        let is_keyed = answer.contains("authorization: Bearer the-real-key\r\n");
        assert_eq!(is_keyed, expected == "200", "{answer}");
    }
}

/// What a tunnel to port 443 is used for.
#[test]
fn a_tunnel_is_for_the_host_that_it_was_opened_for() {
    let provider = Arc::new(ring::default_provider());
    let hello = |name: &str| {
        let builder = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider));
        let builder = builder.with_safe_default_protocol_versions().unwrap();
        let roots = rustls::RootCertStore::empty();
        let config = builder.with_root_certificates(roots).with_no_client_auth();
        let name = name.to_owned().try_into().unwrap();
        let mut client = rustls::ClientConnection::new(Arc::new(config), name).unwrap();
        let mut bytes = Vec::new();
        client.write_tls(&mut bytes).unwrap();
        bytes
    };
    for (name, bytes, is_through) in [
        ("the host", hello("api.example"), true),
        ("the host in capitals", hello("API.Example"), true),
        ("another host", hello("evil.example"), false),
        ("an address", hello("10.0.0.1"), false),
        ("SSH", b"SSH-2.0-x\r\n".to_vec(), false),
        ("HTTP", get("http://evil.example/", ""), false),
    ] {
        let scene = Scene::at(tls_echo(), |_| {});
        let mut stream = scene.connect();
        stream.write_all(&connect("api.example:443")).unwrap();
        let mut established = [0; 39];
        stream.read_exact(&mut established).unwrap();
        assert!(established.starts_with(b"HTTP/1.1 200"));
        // In two pieces, as networks do it.
        let (first, second) = bytes.split_at(3);
        stream.write_all(first).unwrap();
        let _ = stream.write_all(second);
        let mut byte = [0];
        let answered = matches!(stream.read(&mut byte), Ok(1));
        assert_eq!(answered, is_through, "{name}");
        let whys: Vec<Refusal> = scene
            .traffic()
            .refused
            .iter()
            .map(|entry| entry.why)
            .collect();
        let expected: &[Refusal] = if is_through {
            &[]
        } else {
            &[Refusal::OtherTlsName]
        };
        assert_eq!(whys, expected, "{name}");
    }
}

#[test]
fn a_spec_that_cannot_be_meant_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |change: fn(&mut ProxySpec)| {
        let mut spec = spec();
        change(&mut spec);
        let key = |name: &str| (name == "REAL_KEY").then(|| "key".to_owned());
        let log = folder.path().join("log");
        let made = Proxy::new(&spec, key, super::world(), &log);
        made.err().map(|error| error.to_string())
    };
    assert_eq!(refused(|_| {}), None);
    for (change, expected) in [
        (
            (|spec: &mut ProxySpec| spec.allow[0].host = "10.0.0.1".to_owned())
                as fn(&mut ProxySpec),
            "`10.0.0.1` is not the name of a host",
        ),
        (
            |spec: &mut ProxySpec| spec.routes[0].key_variable = "NO_SUCH".to_owned(),
            "the variable `NO_SUCH` has no value",
        ),
        (
            |spec: &mut ProxySpec| spec.routes[0].upstream = "model.example".to_owned(),
            "the upstream of route `m` is not a URL",
        ),
        (
            |spec: &mut ProxySpec| spec.upstream_proxy = Some("socks5://h:1".to_owned()),
            "the upstream proxy is not of the form http://host:port",
        ),
    ] {
        assert_eq!(refused(change).as_deref(), Some(expected));
    }
}
