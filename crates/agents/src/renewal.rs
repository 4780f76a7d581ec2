//! How a login that a CLI keeps in a file is renewed without the CLI: what its maker is sent, and what
//! the answer makes of the file. As everything here it is pure; somebody else sends and writes.
//!
//! The requests are those that the CLIs send themselves, measured with the versions in their facts.

use serde_json::{Map, Value, json};

use crate::web_token::web_token_ends;

/// What codex calls itself where it logs in.
const CODEX_CLIENT: &str = "app_EMoamEEZ73f0CkXaXp7hrann";

/// What claude calls itself where it logs in, unless the login says otherwise.
const CLAUDE_CLIENT: &str = "9d1c250a-e61b-44d9-88ed-5944d1962f5e";

/// The words by which makers say that a refresh token is good for nothing any more.
const REFUSALS: [&str; 4] = [
    "invalid_grant",
    "refresh_token_expired",
    "refresh_token_reused",
    "refresh_token_invalidated",
];

/// The maker's way to renew a login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renewal {
    /// `auth.json`.
    Codex,
    /// `.credentials.json`.
    Claude,
}

/// What a maker's answer says.
#[derive(Clone, PartialEq, Eq)]
pub enum TokenAnswer {
    /// New tokens, still as the maker writes them.
    Renewed(Map<String, Value>),
    /// The refresh token is spent, expired or taken back; a person has to log in again.
    Refused(&'static str),
    /// Anything else: a server in trouble, or somebody in between. It may pass.
    Unusable,
}

impl std::fmt::Debug for TokenAnswer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // It has tokens in it.
        formatter.write_str(match self {
            Self::Renewed(_) => "Renewed",
            Self::Refused(word) => word,
            Self::Unusable => "Unusable",
        })
    }
}

impl TokenAnswer {
    /// Reads an answer by its status and its body. A body is believed only where its status fits: a
    /// proxy in between answers with pages of its own.
    pub fn read(status: u16, body: &[u8]) -> Self {
        let fields = serde_json::from_slice::<Map<String, Value>>(body).unwrap_or_default();
        match status {
            200 if has_text(&fields, "access_token") => Self::Renewed(fields),
            400 | 401 => refusal(&fields).map_or(Self::Unusable, Self::Refused),
            _ => Self::Unusable,
        }
    }
}

/// The refusal in `{"error": "…"}`, `{"error": {"code": "…"}}` or `{"code": "…"}`. Only our own words for
/// it are passed on: what a server says may repeat what it was sent.
fn refusal(fields: &Map<String, Value>) -> Option<&'static str> {
    let error = fields.get("error");
    let said = [
        error,
        error.and_then(|error| error.get("code")),
        error.and_then(|error| error.get("type")),
        fields.get("code"),
    ];
    let said: Vec<&str> = said
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    REFUSALS.into_iter().find(|word| said.contains(word))
}

impl Renewal {
    /// Where the maker gives new tokens.
    pub fn url(self) -> &'static str {
        match self {
            Self::Codex => "https://auth.openai.com/oauth/token",
            Self::Claude => "https://platform.claude.com/v1/oauth/token",
        }
    }

    /// When the login's access token ends, in milliseconds since 1970, as far as it says so.
    pub fn ends_ms(self, login: &Value) -> Option<i64> {
        match self {
            Self::Codex => {
                let token = text(&login["tokens"]["access_token"])?;
                web_token_ends(token.as_bytes())?.checked_mul(1000)
            }
            Self::Claude => {
                text(&login["claudeAiOauth"]["accessToken"])?;
                login["claudeAiOauth"]["expiresAt"].as_i64()
            }
        }
    }

    /// What the maker is sent, as JSON; none where the login has nothing to renew it with.
    pub fn request(self, login: &Value) -> Option<Value> {
        let refresh_token = self.refresh_token(login)?;
        let mut request = json!({
            "client_id": self.client(login),
            "grant_type": "refresh_token",
            "refresh_token": refresh_token,
        });
        let (name, value) = match self {
            Self::Codex => ("refresh_reason", Some(Value::from("proactive_expiry"))),
            Self::Claude => ("scope", scopes(&login["claudeAiOauth"]["scopes"])),
        };
        put(&mut request, name, value);
        Some(request)
    }

    /// What a login can be renewed with.
    pub fn refresh_token(self, login: &Value) -> Option<&str> {
        match self {
            Self::Codex => text(&login["tokens"]["refresh_token"]),
            Self::Claude => text(&login["claudeAiOauth"]["refreshToken"]),
        }
    }

    fn client(self, login: &Value) -> &str {
        match self {
            Self::Codex => CODEX_CLIENT,
            Self::Claude => text(&login["claudeAiOauth"]["clientId"]).unwrap_or(CLAUDE_CLIENT),
        }
    }

    /// The login with the new tokens. Whatever else stands in it stays. `now_ms` and `now` are the same
    /// moment, in both forms that logins use.
    pub fn renewed(
        self,
        login: &Value,
        answer: &Map<String, Value>,
        now_ms: i64,
        now: &str,
    ) -> Value {
        let mut login = login.clone();
        let after = |seconds: &str| {
            let lasts = answer.get(seconds)?.as_i64()?;
            Some(Value::from(
                now_ms.saturating_add(lasts.saturating_mul(1000)),
            ))
        };
        match self {
            Self::Codex => {
                for name in ["id_token", "access_token", "refresh_token"] {
                    put(&mut login["tokens"], name, token(answer, name));
                }
                put(&mut login, "last_refresh", Some(Value::from(now)));
            }
            Self::Claude => {
                let own = &mut login["claudeAiOauth"];
                put(own, "accessToken", token(answer, "access_token"));
                put(own, "refreshToken", token(answer, "refresh_token"));
                put(own, "expiresAt", after("expires_in"));
                put(
                    own,
                    "refreshTokenExpiresAt",
                    after("refresh_token_expires_in"),
                );
                let scopes = answer.get("scope").and_then(text);
                let scopes = scopes.map(|scopes| scopes.split_whitespace().collect::<Vec<_>>());
                put(own, "scopes", scopes.map(Value::from));
            }
        }
        login
    }
}

/// The scopes of a login, as a request has them.
fn scopes(list: &Value) -> Option<Value> {
    let scopes = list.as_array()?.iter().filter_map(Value::as_str);
    let scopes: Vec<&str> = scopes.collect();
    (!scopes.is_empty()).then(|| Value::from(scopes.join(" ")))
}

/// Sets a field where there is something to set it to.
fn put(object: &mut Value, name: &str, value: Option<Value>) {
    if let Some(value) = value {
        object[name] = value;
    }
}

fn token(answer: &Map<String, Value>, name: &str) -> Option<Value> {
    answer
        .get(name)
        .filter(|value| text(value).is_some())
        .cloned()
}

fn has_text(fields: &Map<String, Value>, name: &str) -> bool {
    fields.get(name).and_then(text).is_some()
}

/// A text with something in it.
fn text(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODEX: &str = r#"{"OPENAI_API_KEY":null,"mine":[1],"tokens":{"id_token":"i1","access_token":"h.eyJleHAiOjE3MDAwMDAwMDB9.s","refresh_token":"r1","account_id":"x"},"last_refresh":"then"}"#;
    const CLAUDE: &str = r#"{"mcpOAuth":{"a":1},"claudeAiOauth":{"accessToken":"a1","refreshToken":"r1","expiresAt":5000,"scopes":["user:a","user:b"],"subscriptionType":"max"}}"#;

    fn value(text: &str) -> Value {
        serde_json::from_str(text).expect("JSON")
    }

    #[test]
    fn a_login_says_when_it_ends_and_what_renews_it() {
        for (renewal, login, ends_ms, request) in [
            (
                Renewal::Codex,
                CODEX,
                Some(1_700_000_000_000),
                r#"{"client_id":"app_EMoamEEZ73f0CkXaXp7hrann","grant_type":"refresh_token","refresh_token":"r1","refresh_reason":"proactive_expiry"}"#,
            ),
            (
                Renewal::Claude,
                CLAUDE,
                Some(5000),
                r#"{"client_id":"9d1c250a-e61b-44d9-88ed-5944d1962f5e","grant_type":"refresh_token","refresh_token":"r1","scope":"user:a user:b"}"#,
            ),
            (
                Renewal::Claude,
                r#"{"claudeAiOauth":{"accessToken":"a","refreshToken":"r","clientId":"own"}}"#,
                None,
                r#"{"client_id":"own","grant_type":"refresh_token","refresh_token":"r"}"#,
            ),
            (Renewal::Codex, r#"{"OPENAI_API_KEY":"sk-1"}"#, None, ""),
            (
                Renewal::Codex,
                r#"{"OPENAI_API_KEY":null,"tokens":null}"#,
                None,
                "",
            ),
            (
                Renewal::Codex,
                r#"{"tokens":{"access_token":"opaque","refresh_token":""}}"#,
                None,
                "",
            ),
            (
                Renewal::Claude,
                r#"{"claudeAiOauth":{"accessToken":"","refreshToken":"","expiresAt":0}}"#,
                None,
                "",
            ),
            (Renewal::Claude, "[]", None, ""),
        ] {
            let login = value(login);
            assert_eq!(renewal.ends_ms(&login), ends_ms, "{login}");
            let sent = renewal.request(&login).map(|sent| sent.to_string());
            assert_eq!(sent.unwrap_or_default(), request, "{login}");
        }
    }

    #[test]
    fn new_tokens_take_the_place_of_the_old_ones_and_all_else_stays() {
        for (renewal, login, answer, expected) in [
            (
                Renewal::Codex,
                CODEX,
                r#"{"id_token":"i2","access_token":"a2","refresh_token":"r2","more":1}"#,
                r#"{"OPENAI_API_KEY":null,"mine":[1],"tokens":{"id_token":"i2","access_token":"a2","refresh_token":"r2","account_id":"x"},"last_refresh":"now"}"#,
            ),
            // A maker that does not rotate leaves out what stays.
            (
                Renewal::Codex,
                CODEX,
                r#"{"access_token":"a2","refresh_token":""}"#,
                r#"{"OPENAI_API_KEY":null,"mine":[1],"tokens":{"id_token":"i1","access_token":"a2","refresh_token":"r1","account_id":"x"},"last_refresh":"now"}"#,
            ),
            (
                Renewal::Claude,
                CLAUDE,
                r#"{"access_token":"a2","refresh_token":"r2","expires_in":60,"scope":"user:a"}"#,
                r#"{"mcpOAuth":{"a":1},"claudeAiOauth":{"accessToken":"a2","refreshToken":"r2","expiresAt":61000,"scopes":["user:a"],"subscriptionType":"max"}}"#,
            ),
            (
                Renewal::Claude,
                CLAUDE,
                r#"{"access_token":"a2","expires_in":1,"refresh_token_expires_in":2}"#,
                r#"{"mcpOAuth":{"a":1},"claudeAiOauth":{"accessToken":"a2","refreshToken":"r1","expiresAt":2000,"scopes":["user:a","user:b"],"subscriptionType":"max","refreshTokenExpiresAt":3000}}"#,
            ),
        ] {
            let answer = serde_json::from_str(answer).expect("JSON");
            let renewed = renewal.renewed(&value(login), &answer, 1000, "now");
            assert_eq!(renewed.to_string(), expected);
        }
    }

    #[test]
    fn an_answer_means() {
        let refused = |code: &'static str| TokenAnswer::Refused(code);
        for (status, body, expected) in [
            (
                400,
                r#"{"error":"invalid_grant"}"#,
                refused("invalid_grant"),
            ),
            (
                401,
                r#"{"error":{"code":"refresh_token_reused","message":"r1 was used"}}"#,
                refused("refresh_token_reused"),
            ),
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_grant","message":"no"}}"#,
                refused("invalid_grant"),
            ),
            (
                401,
                r#"{"code":"refresh_token_expired"}"#,
                refused("refresh_token_expired"),
            ),
            (400, r#"{"error":"invalid_request"}"#, TokenAnswer::Unusable),
            (401, "<html>a proxy</html>", TokenAnswer::Unusable),
            (403, r#"{"error":"invalid_grant"}"#, TokenAnswer::Unusable),
            (500, r#"{"error":"invalid_grant"}"#, TokenAnswer::Unusable),
            (429, "", TokenAnswer::Unusable),
            (200, "{}", TokenAnswer::Unusable),
            (200, r#"{"access_token":""}"#, TokenAnswer::Unusable),
            (200, "[1]", TokenAnswer::Unusable),
            (302, r#"{"access_token":"a"}"#, TokenAnswer::Unusable),
        ] {
            assert_eq!(
                TokenAnswer::read(status, body.as_bytes()),
                expected,
                "{status} {body}"
            );
        }
        let renewed = TokenAnswer::read(200, br#"{"access_token":"a"}"#);
        assert!(matches!(renewed, TokenAnswer::Renewed(fields) if fields["access_token"] == "a"));
    }
}
