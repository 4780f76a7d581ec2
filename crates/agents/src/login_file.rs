//! Whether the file that a CLI left as its login still is one.
//!
//! CLIs rotate their tokens. A session whose refresh token was spent by another one is logged out, and
//! some CLIs then write a file without tokens in the place of the login. All known ones keep their
//! logins as JSON in which a token is a text under one of a few names, whatever lies around it.

use serde_json::Value;

/// The keys under which CLIs keep what logs them in: codex and gemini, claude, opencode and pi.
const TOKENS: &[&str] = &[
    "access_token",
    "refresh_token",
    "accessToken",
    "refreshToken",
    "access",
    "refresh",
    "key",
    "token",
    "OPENAI_API_KEY",
];

/// What stands in a jail in the place of a token that stays outside.
pub const HELD_BACK: &str = "held-back-by-loopwright";

/// Whether a login that a CLI wrote may take the place of the one before it: it has a token wherever
/// that one has one, at least one, and none that was held back. Texts that are no JSON object are no
/// login.
pub fn is_refreshed_login(before: &[u8], after: &[u8]) -> bool {
    let object = |text| serde_json::from_slice(text).ok().filter(Value::is_object);
    let Some(after) = object(after) else {
        return false;
    };
    let wanted = object(before).map(|before| tokens(&before));
    let (wanted, found) = (wanted.unwrap_or_default(), tokens(&after));
    let is_held_back = |token: &Token| token.value == HELD_BACK;
    let is_there = |token: &Token| found.iter().any(|found| found.place == token.place);
    !found.is_empty() && !found.iter().any(is_held_back) && wanted.iter().all(is_there)
}

/// A token that is not empty, and where it stands.
struct Token {
    place: String,
    value: String,
}

fn tokens(value: &Value) -> Vec<Token> {
    let mut found = Vec::new();
    collect(value, "", &mut found);
    found
}

fn collect(value: &Value, place: &str, found: &mut Vec<Token>) {
    let Value::Object(fields) = value else {
        return;
    };
    for (name, inner) in fields {
        let place = format!("{place}/{name}");
        match inner {
            Value::String(text) if TOKENS.contains(&name.as_str()) && !text.trim().is_empty() => {
                let value = text.clone();
                found.push(Token { place, value });
            }
            other => collect(other, &place, found),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODEX: &str = r#"{"OPENAI_API_KEY":null,"tokens":{"id_token":"i","access_token":"a1","refresh_token":"r1","account_id":"x"},"last_refresh":"2026-11-17"}"#;
    const CODEX_KEY: &str = r#"{"OPENAI_API_KEY":"sk-1"}"#;
    const CLAUDE: &str = r#"{"claudeAiOauth":{"accessToken":"a1","refreshToken":"r1","expiresAt":5,"scopes":["x"]}}"#;
    const GEMINI: &str = r#"{"access_token":"a1","refresh_token":"r1","scope":"x","token_type":"Bearer","expiry_date":5}"#;
    const OPENCODE: &str = r#"{"anthropic":{"type":"oauth","refresh":"r1","access":"a1","expires":5},"openai":{"type":"api","key":"k"}}"#;
    const PI: &str = r#"{"anthropic":{"type":"oauth","refresh":"r1","access":"a1","expires":5},"openai":{"type":"api_key","key":"k"}}"#;

    #[test]
    fn a_refreshed_login_of_each_cli_is_one() {
        for before in [CODEX, CODEX_KEY, CLAUDE, GEMINI, OPENCODE, PI] {
            let after = before.replace("a1", "a2").replace("r1", "r2");
            assert!(
                is_refreshed_login(before.as_bytes(), after.as_bytes()),
                "{before}"
            );
        }
        // A person who was logged out has logged in anew, in a run of an agent.
        assert!(is_refreshed_login(b"{}", CODEX.as_bytes()));
        assert!(is_refreshed_login(b"old", CLAUDE.as_bytes()));
    }

    #[test]
    fn a_stub_that_a_logged_out_cli_leaves_is_none() {
        for (before, stub) in [
            (CODEX, "{}"),
            (
                CODEX,
                r#"{"OPENAI_API_KEY":null,"tokens":null,"last_refresh":null}"#,
            ),
            (
                CODEX,
                r#"{"OPENAI_API_KEY":null,"tokens":{"id_token":"","access_token":"","refresh_token":"","account_id":"x"}}"#,
            ),
            (
                CODEX,
                r#"{"tokens":{"access_token":"a2","account_id":"x"}}"#,
            ),
            (CODEX_KEY, r#"{"OPENAI_API_KEY":""}"#),
            (CLAUDE, r#"{"claudeAiOauth":null}"#),
            (
                CLAUDE,
                r#"{"claudeAiOauth":{"accessToken":"","refreshToken":"","expiresAt":0}}"#,
            ),
            (CLAUDE, r#"{"mcpOAuth":{"server":{"accessToken":"m"}}}"#),
            (
                GEMINI,
                r#"{"access_token":"a2","scope":"x","token_type":"Bearer"}"#,
            ),
            (OPENCODE, r#"{"openai":{"type":"api","key":"k"}}"#),
            (
                PI,
                r#"{"anthropic":{"type":"oauth","refresh":"","access":"a2","expires":5},"openai":{"type":"api_key","key":"k"}}"#,
            ),
            ("old", r#"{"token": 2}"#),
            ("", "[1]"),
            ("", "{\"cut\": "),
            (
                CLAUDE,
                r#"{"claudeAiOauth":{"accessToken":"a2","refreshToken":"held-back-by-loopwright"}}"#,
            ),
        ] {
            assert!(
                !is_refreshed_login(before.as_bytes(), stub.as_bytes()),
                "{before} became {stub}"
            );
        }
    }
}
