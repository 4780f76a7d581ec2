//! Questions of our own to hosts outside.

use super::{Scene, echo, tls_echo, tls_folder, tunnelling};
use crate::ProxySpec;
use crate::proxy::ask::ask_in;

/// What a host is sent and what it answers, as the host itself saw it; else why it could not be asked.
fn asked(scene: &Scene, ways: &ProxySpec, url: &str) -> Result<(u16, String), String> {
    let answered = ask_in(Box::new(scene.names.clone()), ways, url, "{\"a\":1}");
    let answered = answered.map_err(|error| error.to_string())?;
    let body = String::from_utf8_lossy(&answered.body).into_owned();
    Ok((answered.status, body))
}

#[test]
fn a_question_is_asked_and_its_answer_read_to_its_end() {
    let scene = Scene::at(echo(), |_| {});
    let ways = ProxySpec::default();
    let (status, seen) = asked(&scene, &ways, "http://model.example/oauth/token").unwrap();
    assert_eq!(status, 200);
    assert!(seen.starts_with("POST /oauth/token HTTP/1.1\r\nHost: model.example\r\n"));
    assert!(
        seen.contains("Content-Type: application/json\r\n"),
        "{seen}"
    );
    assert!(seen.ends_with("\r\n\r\n{\"a\":1}"), "{seen}");
    // Chunks, behind an interim answer, on a connection that stays open.
    let chunked = asked(&scene, &ways, "http://model.example/keeps");
    assert_eq!(chunked, Ok((200, "abc".to_owned())));
    // Nobody is followed elsewhere.
    let moved = asked(&scene, &ways, "http://model.example/redirect");
    assert_eq!(moved, Ok((302, String::new())));
    assert_eq!(scene.dialled(), ["10.0.0.9:80"; 3]);
    assert!(asked(&scene, &ways, "http://nobody.example/x").is_err());
    assert!(asked(&scene, &ways, "model.example").is_err());
}

#[test]
fn a_question_trusts_whom_the_person_trusts() {
    let ca = tls_folder().join("ca.pem");
    for (url, extra_ca, is_answered) in [
        ("https://model.example/token", Some(&ca), true),
        ("https://model.example/token", None, false),
        ("https://proxy.corp.example/token", Some(&ca), false),
    ] {
        let scene = Scene::at(tls_echo(), |_| {});
        let ways = ProxySpec {
            extra_ca: extra_ca.cloned(),
            ..ProxySpec::default()
        };
        let answer = asked(&scene, &ways, url);
        assert_eq!(answer.is_ok(), is_answered, "{url}");
    }
}

#[test]
fn a_question_goes_through_the_persons_own_proxy() {
    for user in ["ada:secret@", ""] {
        let scene = Scene::at(tunnelling(), |_| {});
        let ways = ProxySpec {
            upstream_proxy: Some(format!("http://{user}proxy.corp.example:3128")),
            ..ProxySpec::default()
        };
        // What is behind that proxy speaks no HTTP, so that nothing can be answered.
        assert!(asked(&scene, &ways, "http://model.example/token").is_err());
        assert_eq!(scene.dialled(), ["10.0.0.10:3128"], "{user}");
    }
}
