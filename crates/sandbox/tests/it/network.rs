//! What a jailed program reaches: its own loopback, and the list of the proxy.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;

use sandbox::{Allowed, Balance, ExitCause, LimitHit, Network, ProxySpec, Refusal, Route};

use crate::jailed::jailed_with;

/// A server on this machine's loopback that answers every request with its head.
fn echo() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = Vec::new();
            let mut byte = [0];
            while !request.ends_with(b"\r\n\r\n") && matches!(stream.read(&mut byte), Ok(1)) {
                request.push(byte[0]);
            }
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
            let _ = stream.write_all(&request);
        }
    });
    port
}

/// Asks the bridge inside a jail for each target in turn.
fn asking(targets: &[String]) -> String {
    let ask = |target: &String| {
        format!(
            "exec 3<>/dev/tcp/127.0.0.1/8119; printf 'GET {target} HTTP/1.1\\r\\n\\r\\n' >&3; cat <&3; echo;"
        )
    };
    targets.iter().map(ask).collect()
}

#[test]
fn the_only_way_out_is_the_list() {
    let port = echo();
    let targets = [
        format!("http://localhost:{port}/listed"),
        format!("http://127.0.0.1:{port}/address"),
        "http://evil.example/".to_owned(),
        "/~model/v1/messages".to_owned(),
        "/~model/v1/messages".to_owned(),
    ];
    let direct =
        format!("exec 4<>/dev/tcp/127.0.0.1/{port} && echo ESCAPED; env; cat /run/lw/net;");
    let script = format!("{} {direct}", asking(&targets));
    let scene = jailed_with("", |jail| {
        let route = Route {
            name: "model".to_owned(),
            upstream: format!("http://127.0.0.1:{port}"),
            header: "authorization".to_owned(),
            value_prefix: "Bearer ".to_owned(),
            key_variable: "MODEL_KEY".to_owned(),
            extra_headers: BTreeMap::new(),
            paths: vec!["v1/messages".to_owned()],
        };
        jail.network = Network::Proxy(ProxySpec {
            allow: vec![Allowed {
                host: "localhost".to_owned(),
                port,
                may_be_private: true,
            }],
            routes: vec![route],
            requests_max: Some(1),
            ..ProxySpec::default()
        });
    });
    let keys = scene.folder().join("keys.json");
    fs::write(&keys, r#"{"MODEL_KEY":"the-real-key","OTHER":"passed"}"#).unwrap();
    let scene = scene.with(|spec| {
        spec.program = "bash".to_owned();
        spec.args[1] = script;
        spec.pass_env = vec!["MODEL_KEY".to_owned(), "OTHER".to_owned()];
        spec.pass_env_file = Some(keys);
    });
    let scene = scene.launch();
    let exit = scene.exit();
    let said = scene.captured("stdout");
    assert!(said.contains("GET /listed HTTP/1.1"), "{said}");
    assert!(
        said.contains("authorization: Bearer the-real-key"),
        "{said}"
    );
    assert_eq!(said.matches("HTTP/1.1 403").count(), 3, "{said}");
    assert!(
        said.contains("OTHER=passed") && !said.contains("MODEL_KEY"),
        "{said}"
    );
    assert!(!said.contains("ESCAPED"), "{said}");
    assert_eq!((exit.requests, exit.limit), (1, Some(LimitHit::Requests)));
    let whys: Vec<Refusal> = exit.refused.iter().map(|refused| refused.why).collect();
    assert_eq!(
        whys,
        [
            Refusal::RequestsUsedUp,
            Refusal::NotListed,
            Refusal::IpLiteral
        ]
        .map(|why| why),
        "{:?}",
        exit.refused
    );
    assert_eq!(scene.captured("network.jsonl").lines().count(), 3);
    assert!(!scene.captured("spec.json").contains("the-real-key"));
    assert!(!scene.run_dir().join("net.sock").exists());
}

/// A model server whose every answer tells of 60 tokens.
fn model() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = Vec::new();
            let mut byte = [0];
            while !request.ends_with(b"\r\n\r\n") && matches!(stream.read(&mut byte), Ok(1)) {
                request.push(byte[0]);
            }
            let body = r#"{"usage":{"input_tokens":50,"output_tokens":10}}"#;
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
            let _ = stream.write_all(format!("{head}{body}").as_bytes());
        }
    });
    port
}

#[test]
fn a_balance_ends_the_access_to_the_model() {
    let port = model();
    let target = "/~model/v1/messages".to_owned();
    let targets = [target.clone(), target.clone(), target];
    let scene = jailed_with("", |jail| {
        jail.network = Network::Proxy(ProxySpec {
            routes: vec![Route {
                name: "model".to_owned(),
                upstream: format!("http://127.0.0.1:{port}"),
                header: String::new(),
                value_prefix: String::new(),
                key_variable: String::new(),
                extra_headers: BTreeMap::new(),
                paths: Vec::new(),
            }],
            balance: Some(Box::new(Balance {
                tokens: Some(100),
                money: None,
            })),
            ..ProxySpec::default()
        });
    });
    let scene = scene.with(|spec| {
        spec.program = "bash".to_owned();
        spec.args[1] = asking(&targets);
    });
    let scene = scene.launch();
    let exit = scene.exit();
    let said = scene.captured("stdout");
    assert_eq!(said.matches("HTTP/1.1 200").count(), 2, "{said}");
    assert_eq!(said.matches("HTTP/1.1 403").count(), 1, "{said}");
    assert_eq!((exit.requests, exit.limit), (2, Some(LimitHit::Requests)));
    let used = exit.tokens.expect("tokens");
    assert_eq!((used.input, used.cached, used.output), (100, 0, 20));
}

/// A host that the run needs ends it when it is refused, by name or by address; another one does not.
#[test]
fn a_refused_host_that_is_needed_ends_the_run() {
    for (target, needed, ended_by) in [
        (
            "CONNECT models.example:443",
            "models.example",
            Some("models.example"),
        ),
        ("CONNECT 10.1.2.3:443", "10.1.2.3", Some("10.1.2.3")),
        ("GET http://10.1.2.3:8080/v1", "10.1.2.3", Some("10.1.2.3")),
        ("CONNECT other.example:443", "models.example", None),
    ] {
        let scene = jailed_with("", |jail| {
            jail.network = Network::Proxy(ProxySpec {
                needed: vec![needed.to_owned()],
                ..ProxySpec::default()
            });
        });
        let patience = if ended_by.is_some() { 100 } else { 0 };
        let scene = scene.with(|spec| {
            spec.program = "bash".to_owned();
            spec.args[1] = format!(
                "exec 3<>/dev/tcp/127.0.0.1/8119; printf '{target} HTTP/1.1\\r\\n\\r\\n' >&3; cat <&3; sleep {patience}"
            );
        });
        let exit = scene.launch().exit();
        assert_eq!(exit.refused_need.as_deref(), ended_by, "{target}");
        assert_eq!(exit.exit_code == Some(0), ended_by.is_none(), "{target}");
    }
}

#[test]
fn a_route_without_its_key_does_not_start() {
    let scene = jailed_with("true", |jail| {
        jail.network = Network::Proxy(ProxySpec {
            routes: vec![Route {
                name: "model".to_owned(),
                upstream: "https://model.example".to_owned(),
                header: "authorization".to_owned(),
                value_prefix: String::new(),
                key_variable: "NO_SUCH_KEY".to_owned(),
                extra_headers: BTreeMap::new(),
                paths: Vec::new(),
            }],
            ..ProxySpec::default()
        });
    });
    let exit = scene.launch().exit();
    let ExitCause::CannotStart { why, .. } = exit.cause else {
        panic!("{:?}", exit.cause)
    };
    assert!(
        why.ends_with("the variable `NO_SUCH_KEY` has no value"),
        "{why}"
    );
}

/// With the network of the machine the same attempt gets through that is held without it.
#[test]
fn a_network_is_what_the_spec_says() {
    for (network, is_reached) in [(Network::None, false), (Network::Open, true)] {
        let port = echo();
        let scene = jailed_with("", |jail| jail.network = network).with(|spec| {
            spec.program = "bash".to_owned();
            spec.args[1] = format!("exec 4<>/dev/tcp/127.0.0.1/{port} && echo reached");
        });
        let scene = scene.launch();
        scene.exit();
        assert_eq!(scene.captured("stdout") == "reached\n", is_reached);
    }
}
