//! The secrets that a loop is known to have: the person's variables that were kept for it, and the
//! tokens in the files by which its agents are logged in.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde_json::Value;

use super::secret::Secret;
use super::seen::{note_spent, seen, spent};
use super::tokens::is_random;
use crate::folder::Home;
use crate::keys::{Keys, read_keys};

/// A shorter value would be found in ordinary text.
const VALUE_BYTES_MIN: usize = 8;

/// A shorter text in a file of credentials is no token.
const TOKEN_BYTES_MIN: usize = 20;

/// Far more than any CLI writes into a file of credentials.
const CREDENTIALS_BYTES_MAX: u64 = 1024 * 1024;

/// How variables end that say where something is, and are no secret unless their value looks like one.
const PLACES: &[&str] = &[
    "_URL",
    "_HOST",
    "_PORT",
    "_REGION",
    "_LOCATION",
    "_PROJECT",
    "_MODEL",
    "_HOME",
    "_DIR",
    "_PATH",
    "_PROFILE",
];

/// Secrets by their names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known(BTreeMap<String, Vec<Secret>>);

impl Known {
    /// What is known of a loop. A file of keys that cannot be read is a fault: without it, nobody
    /// knows what must not be shown.
    pub fn of_loop(home: &Home, loop_id: &str) -> io::Result<Self> {
        let keys = read_keys(home, loop_id)?.unwrap_or_default();
        let mut known = Self::default();
        known.add_keys(&keys);
        known.add_credentials(&keys);
        Ok(known)
    }

    /// What is known of all loops that are not over. What cannot be read is passed over: this is for
    /// showing, and there is nothing else to be done about it.
    pub fn of_all(home: &Home) -> Self {
        let mut known = Self::default();
        known.add_credentials(&Keys::new());
        for entry in fs::read_dir(home.loops()).into_iter().flatten().flatten() {
            if let Some(loop_id) = entry.file_name().to_str()
                && let Ok(of_loop) = Self::of_loop(home, loop_id)
            {
                known.merge(of_loop);
            }
        }
        known
    }

    /// A value by its name.
    #[must_use]
    pub fn with(mut self, name: &str, secret: Secret) -> Self {
        self.add(name, secret);
        self
    }

    /// Every value with its name.
    pub fn all(&self) -> impl Iterator<Item = (&String, &Secret)> {
        let each = self.0.iter();
        each.flat_map(|(name, secrets)| secrets.iter().map(move |secret| (name, secret)))
    }

    fn add(&mut self, name: &str, secret: Secret) {
        let secrets = self.0.entry(name.to_owned()).or_default();
        if !secrets.contains(&secret) {
            secrets.push(secret);
        }
    }

    fn merge(&mut self, other: Self) {
        for (name, secrets) in other.0 {
            for secret in secrets {
                self.add(&name, secret);
            }
        }
    }

    fn add_keys(&mut self, keys: &Keys) {
        for (name, secret) in keys {
            if is_secret(name, secret.expose()) {
                self.add(name, secret.clone());
            }
        }
    }

    fn add_credentials(&mut self, keys: &Keys) {
        for path in credential_files(keys) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            for token in tokens_in(&path) {
                self.add(&name, token);
            }
        }
        for (name, token) in spent() {
            self.add(&name, token);
        }
    }
}

/// Keeps the tokens in mind that a login has now, before new ones take their place.
pub fn keep_tokens_in_mind(login: &Path) {
    let name = login.file_name().unwrap_or_default().to_string_lossy();
    note_spent(&name, tokens_in(login));
}

/// Whether a variable's value is to be hidden.
fn is_secret(name: &str, value: &str) -> bool {
    let names_a_place = PLACES.iter().any(|place| name.ends_with(place))
        || (value.starts_with('/') && Path::new(value).exists());
    let has_password = value
        .split_once("://")
        .is_some_and(|(_, rest)| rest.contains('@'));
    // A hook's address is a secret by one long part of its path.
    let mut parts = value.split(|letter: char| !letter.is_ascii_alphanumeric());
    let has_random_part = parts.any(|part| part.len() >= 16 && is_random(part.as_bytes()));
    value.len() >= VALUE_BYTES_MIN && (!names_a_place || has_password || has_random_part)
}

/// Where known CLIs keep their logins. Every record is looked through for what lies there, and the whole
/// command of each CLI has to be made to know it: so it is made once.
static LINKS: LazyLock<Vec<agents::HomeLink>> = LazyLock::new(|| {
    let kinds = agents::Kind::ALL.into_iter();
    kinds
        .flat_map(|kind| kind.command(&agents::Task::default()).links)
        .collect()
});

/// The files by which known CLIs are logged in.
fn credential_files(keys: &Keys) -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let files = LINKS.iter().filter_map(|link| {
        let set = link.folder_variable.and_then(|name| keys.get(name));
        let set = set.map(|folder| PathBuf::from(folder.expose()));
        let folder = set.or_else(|| Some(home.as_ref()?.join(link.folder)))?;
        Some(folder.join(link.file))
    });
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    files.dedup();
    files
}

/// Every text in a file of credentials that somebody drew by lot.
fn tokens_in(path: &Path) -> Vec<Secret> {
    let is_small = fs::metadata(path)
        .is_ok_and(|found| found.is_file() && found.len() <= CREDENTIALS_BYTES_MAX);
    let text = fs::read(path).ok().filter(|_| is_small);
    let value = text.and_then(|text| serde_json::from_slice::<Value>(&text).ok());
    let mut tokens = Vec::new();
    if let Some(value) = value {
        collect(&value, &mut tokens);
    }
    tokens
}

fn collect(value: &Value, tokens: &mut Vec<Secret>) {
    match value {
        Value::String(text) => {
            let is_word = !text.contains(char::is_whitespace) && !text.contains("://");
            let bytes = text.as_bytes();
            if bytes.len() >= TOKEN_BYTES_MIN && is_word && is_random(bytes) {
                tokens.push(Secret::new(text.as_str()));
            }
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, tokens)),
        Value::Object(members) => members.values().for_each(|value| collect(value, tokens)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Every key that this process has read so far.
pub fn secrets_seen() -> Known {
    let mut known = Known::default();
    for (name, secret) in seen() {
        if is_secret(&name, secret.expose()) {
            known.add(&name, secret);
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_hidden_unless_it_says_where_something_is() {
        for (name, value, expected) in [
            ("TOKEN", "hunter-start", true),
            ("TOKEN", "short", false),
            ("OPENAI_BASE_URL", "https://api.openai.com/v1", false),
            ("PROXY_URL", "http://me:hunter22@proxy:3128", true),
            (
                "HOOK_URL",
                "https://hooks.test/T0/B0/a8Fk29sLq0ZxVb71QmTe",
                true,
            ),
            ("GOOGLE_CLOUD_PROJECT", "my-project-4711", false),
            ("AWS_REGION", "eu-central-1", false),
            ("CODEX_HOME", "/somewhere/else", false),
            ("WHERE", "/tmp", false),
            ("OPENAI_API_KEY", "/8Fk29sLq0ZxVb71QmTe+x", true),
        ] {
            assert_eq!(is_secret(name, value), expected, "{name}={value}");
        }
    }

    #[test]
    fn tokens_of_a_login_are_known() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("auth.json");
        let text = r#"{ "mode": "chatgpt", "tokens": { "access": "a8Fk29sLq0ZxVb71QmTeW3",
            "list": ["b8Fk29sLq0ZxVb71QmTeW3"] }, "url": "https://x.test/a8Fk29sLq0ZxVb71", "n": 12345678901234567890123 }"#;
        fs::write(&file, text).expect("written");
        let mut keys = Keys::new();
        keys.insert(
            "CODEX_HOME".to_owned(),
            Secret::new(folder.path().display().to_string()),
        );
        assert!(credential_files(&keys).contains(&file));
        let found: Vec<String> = tokens_in(&file)
            .iter()
            .map(|token| token.expose().to_owned())
            .collect();
        assert_eq!(found, ["a8Fk29sLq0ZxVb71QmTeW3", "b8Fk29sLq0ZxVb71QmTeW3"]);
        fs::write(&file, "no JSON").expect("written");
        assert_eq!(tokens_in(&file), []);
        assert_eq!(tokens_in(folder.path()), []);
    }

    /// Runs that began with them may still print them.
    #[test]
    fn tokens_that_were_replaced_stay_known() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("auth.json");
        fs::write(&file, r#"{"access":"z8Fk29sLq0ZxVb71QmTeW3"}"#).expect("written");
        let home = Home::at(folder.path());
        let is_known = || {
            let known = Known::of_loop(&home, "L").expect("known");
            known.all().any(|(name, token)| {
                name == "auth.json" && token.expose() == "z8Fk29sLq0ZxVb71QmTeW3"
            })
        };
        assert!(!is_known());
        keep_tokens_in_mind(&file);
        fs::remove_file(&file).expect("removed");
        assert!(is_known());
    }

    #[test]
    fn a_name_is_all_that_a_redactor_shows_of_what_it_knows() {
        let known = Known::default().with("TOKEN", Secret::new("hunter-start"));
        let shown = format!("{known:?} {:?}", crate::Redactor::new(&known));
        assert!(
            shown.contains("TOKEN") && !shown.contains("hunter-start"),
            "{shown}"
        );
        let bytes = format!("{:?}", b"hunter-start");
        assert!(!shown.contains(bytes.trim_matches(['[', ']'])), "{shown}");
    }
}
