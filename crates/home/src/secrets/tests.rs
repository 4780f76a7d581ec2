//! What is taken out of a text, and what stays.

use super::*;
use crate::secrets::Secret;

const KEY: &str = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW\nQyNTUxOQAAACDk\n-----END OPENSSH PRIVATE KEY-----";
const JWT: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI5ODc2NTQzMjEwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P";

/// Texts with secrets, and what is left of them.
const TAKEN_OUT: &[(&str, &str)] = &[
    ("it is hunter-start.", "it is [redacted: TOKEN]."),
    ("xhunter-start-and-morex", "x[redacted: LONGER]x"),
    // As JSON, an address and base64 write it: `user:hunter-start` is a Basic credential. What
    // its neighbours share of base64 stays.
    (
        r#"{"a": "say \"it\" & go"}"#,
        r#"{"a": "[redacted: QUOTED]"}"#,
    ),
    ("?q=say%20%22it%22%20%26%20go", "?q=[redacted: QUOTED]"),
    ("aHVudGVyLXN0YXJ0", "[redacted: TOKEN]"),
    ("dXNlcjpodW50ZXItc3RhcnQ=", "dXNlcjpo[redacted: TOKEN]cnQ="),
    // What looks like a token, whoever's it is.
    (
        "key=sk-ant-api03-Zk3vQ9xLp2Rt7Wm4Yb8Nc1Hd6Js5Gf0 end",
        "key=[redacted: an API key] end",
    ),
    (
        "sk-proj-Zk3vQ9xLp2Rt7Wm4Yb8Nc1Hd6Js5Gf0",
        "[redacted: an API key]",
    ),
    (
        "ghp_Zk3vQ9xLp2Rt7Wm4Yb8Nc1Hd6Js5Gf0TuXa2",
        "[redacted: a GitHub or GitLab token]",
    ),
    (
        r#""out\nghp_Zk3vQ9xLp2Rt7Wm4Yb8Nc1Hd6Js5Gf0TuXa2\n""#,
        r#""out\n[redacted: a GitHub or GitLab token]\n""#,
    ),
    (
        "\u{1b}[32mghp_Zk3vQ9xLp2Rt7Wm4Yb8Nc1Hd6Js5Gf0TuXa2\u{1b}[0m",
        "\u{1b}[32m[redacted: a GitHub or GitLab token]\u{1b}[0m",
    ),
    ("AKIAQ3EGR7T2LMXW5ZPB", "[redacted: an AWS key id]"),
    (
        "xoxb-2938475610-5647382910-Zk3vQ9xLp2Rt7Wm4",
        "[redacted: a Slack token]",
    ),
    (
        "AIzaSyZk3vQ9xLp2Rt7Wm4Yb8Nc1Hd6Js5Gf0Tu",
        "[redacted: a Google API key]",
    ),
    (KEY, "[redacted: a private key]"),
    (JWT, "[redacted: a JSON Web Token]"),
    (
        "Authorization: Bearer q8Zt5Kf2Lm\r\n",
        "Authorization: Bearer [redacted: a credential of a header]\r\n",
    ),
    (
        r#"{"authorization":"Basic dXNlcjpwNHNzdzByZA=="}"#,
        r#"{"authorization":"Basic [redacted: a credential of a header]"}"#,
    ),
    (
        "curl -H 'x-api-key: q8Zt5Kf2Lm0Vb7Xc3N'",
        "curl -H 'x-api-key: [redacted: a credential of a header]'",
    ),
    (
        "bearer q8Zt5Kf2Lm0Vb7Xc3Nw9Rj",
        "bearer [redacted: a credential of a header]",
    ),
    (
        "git clone https://me:q8Zt5Kf2@git.test/x.git",
        "git clone https://me:[redacted: a password of an address]@git.test/x.git",
    ),
    (
        "https://hunter-start:q8Zt5Kf2@git.test",
        "https://[redacted: TOKEN]:[redacted: a password of an address]@git.test",
    ),
];

fn redactor() -> Redactor {
    let known = Known::default()
        .with("TOKEN", Secret::new("hunter-start"))
        .with("LONGER", Secret::new("hunter-start-and-more"))
        .with("QUOTED", Secret::new("say \"it\" & go"));
    Redactor::new(&known)
}

#[test]
fn secrets_are_taken_out() {
    let redactor = redactor();
    for (text, expected) in TAKEN_OUT {
        assert_eq!(redactor.text(text), *expected);
        let again = redactor.text(expected).into_owned();
        assert_eq!(again, *expected, "what was taken out stays as it is");
    }
    let in_json = serde_json::to_string(KEY).expect("JSON");
    assert_eq!(redactor.text(&in_json), "\"[redacted: a private key]\"");
}

#[test]
fn ordinary_text_stays() {
    let redactor = redactor();
    for text in [
        "",
        "hunter-star",
        "6bab0e3f1c20db874a6d75b73a946d2d01cccf10",
        "01JCXW3M8Q2R4T6V8XAZBYCXDW",
        "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
        "eyJuYW1lIjoib3JkaW5hcnkgdGVzdCBkYXRhIn0=",
        "550e8400-e29b-41d4-a716-446655440000",
        ".sk-spinner-container-large-with-4-parts-and-more { }",
        "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "sk-your-key-here-0000000000000000000",
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "ghp_1234567890abcdefghijklmnopqrstuvwxyz",
        "task-Zk3vQ9xLp2Rt7Wm4Yb8Nc1Hd6Js5Gf0",
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer <token>",
        "Authorization: Bearer undefined",
        "the bearer of this letter2 is trusted",
        "postgres://postgres:postgres@localhost/test",
        "postgres://user:password@localhost/test",
        "https://${USER}:${PASSWORD}@host/",
        "ssh://git@github.com/a/b.git",
        "http://localhost:8080/a@b",
        "-----BEGIN PRIVATE KEY----- must not be committed",
        "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----",
        "AIza is a prefix",
        "npm_config_registry_and_many_other_things_2",
    ] {
        assert_eq!(redactor.text(text), text);
    }
}

#[test]
fn a_secret_in_two_pieces_is_found() {
    let redactor = redactor();
    let text = format!(
        "one hunter-start two\nAuthorization: Bearer q8Zt5Kf2Lm3\n{KEY}\nlast ghp_Zk3vQ9xLp2Rt7Wm4Yb8Nc1Hd6Js5Gf0TuXa2 say \"it\" & go {JWT}\nx-api-key: q8Zt5Kf2Lm0Vb7Xc3N end"
    );
    let whole = redactor.text(&text).into_owned();
    assert_eq!(whole.matches("[redacted").count(), 7, "{whole}");
    for at in 0..=text.len() {
        let mut stream = redactor.stream();
        let (first, second) = text.as_bytes().split_at(at);
        let mut seen = stream.push(first);
        seen.extend(stream.push(second));
        seen.extend(stream.finish());
        assert_eq!(String::from_utf8_lossy(&seen), whole, "cut at {at}");
    }
    for size in [1, 2, 3, 7, 64] {
        let mut stream = redactor.stream();
        let mut seen = Vec::new();
        for piece in text.as_bytes().chunks(size) {
            seen.extend(stream.push(piece));
        }
        seen.extend(stream.finish());
        assert_eq!(String::from_utf8_lossy(&seen), whole, "pieces of {size}");
    }
}

#[test]
fn what_cannot_be_a_secret_is_not_held_back() {
    let redactor = redactor();
    for (text, expected) in [
        ("all of it\n", "all of it\n"),
        ("a word is held back: wor", "a word is held back: "),
        ("hunter-start begun: say ", "[redacted: TOKEN] begun: "),
        ("\n-----BEGIN RSA PRIVATE KEY-----\nMII\n", "\n"),
    ] {
        assert_eq!(
            String::from_utf8_lossy(&redactor.stream().push(text.as_bytes())),
            expected
        );
    }
    // A word without an end is let go in time.
    let mut stream = redactor.stream();
    let long = vec![b'x'; 1024 * 1024];
    let seen = stream.push(&long).len();
    assert!(seen > long.len() / 2 && seen < long.len(), "{seen}");
}

#[test]
fn what_the_prd_says_is_no_secret_and_a_known_value_always_is() {
    let prd = "ghp_Zk3vQ9xLp2Rt7Wm4Yb8Nc1Hd6Js5Gf0TuXa2 and hunter-start";
    let known = Known::default().with("TOKEN", Secret::new("hunter-start"));
    let redactor = Redactor::sparing(&known, prd);
    assert_eq!(
        redactor.text(prd),
        "ghp_Zk3vQ9xLp2Rt7Wm4Yb8Nc1Hd6Js5Gf0TuXa2 and [redacted: TOKEN]"
    );
}

#[test]
fn every_text_of_a_value_is_looked_through() {
    let mut value = serde_json::json!({ "a": ["x hunter-start", 1, null], "hunter-start": { "b": "AKIAQ3EGR7T2LMXW5ZPB" } });
    redactor().value(&mut value);
    let expected = serde_json::json!({ "a": ["x [redacted: TOKEN]", 1, null], "hunter-start": { "b": "[redacted: an AWS key id]" } });
    assert_eq!(value, expected);
}
