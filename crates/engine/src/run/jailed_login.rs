//! The operator's logins in a jail: copies that can be used and not renewed.
//!
//! A refresh token is the login itself: whoever has it stays logged in, and a CLI that spends it in a
//! jail leaves the operator with a dead one. So it stays outside. What is copied is the access token,
//! which ends by itself.

use std::path::Path;

use agents::{HELD_BACK, HomeLink};
use serde_json::Value;

use crate::fault::Fault;
use crate::run::beneath::write_beneath;
use crate::run::credentials::{self, PersonsVariables};

/// Keys of a login that would let its holder renew it.
const RENEWING: [&str; 3] = ["refresh_token", "refreshToken", "refresh"];

/// Copies what is there of the operator's logins into an agent's home.
pub(crate) fn copy(
    home: &Path,
    links: &[HomeLink],
    variables: &PersonsVariables,
) -> Result<(), Fault> {
    // A list of copies from a run on the host would put what a jailed agent writes into the operator's
    // own file.
    credentials::forget_copies(home);
    for link in links {
        let Some(target) = credentials::operators_file(link, variables) else {
            continue;
        };
        let Some(text) = credentials::read_credentials(&target) else {
            continue;
        };
        let Ok(mut login) = serde_json::from_slice::<Value>(&text) else {
            continue;
        };
        hold_back(&mut login);
        write_beneath(home, Path::new(&link.at), &serde_json::to_vec(&login)?)
            .map_err(|error| Fault::io("write", &home.join(&link.at), error))?;
    }
    Ok(())
}

fn hold_back(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                if RENEWING.contains(&name.as_str()) && value.is_string() {
                    // CLIs want the key to be there.
                    *value = Value::from(HELD_BACK);
                } else {
                    hold_back(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(hold_back),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_renews_a_login_is_held_back() {
        for (login, expected) in [
            (
                r#"{"tokens":{"access_token":"a","refresh_token":"r","account_id":"x"},"OPENAI_API_KEY":null}"#,
                r#"{"tokens":{"access_token":"a","refresh_token":"held-back-by-loopwright","account_id":"x"},"OPENAI_API_KEY":null}"#,
            ),
            (
                r#"{"claudeAiOauth":{"accessToken":"a","refreshToken":"r","expiresAt":5}}"#,
                r#"{"claudeAiOauth":{"accessToken":"a","refreshToken":"held-back-by-loopwright","expiresAt":5}}"#,
            ),
            (
                r#"{"anthropic":{"type":"oauth","refresh":"r","access":"a","expires":5}}"#,
                r#"{"anthropic":{"type":"oauth","refresh":"held-back-by-loopwright","access":"a","expires":5}}"#,
            ),
        ] {
            let mut login: Value = serde_json::from_str(login).expect("JSON");
            hold_back(&mut login);
            assert_eq!(login.to_string(), expected);
        }
    }
}
