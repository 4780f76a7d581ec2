//! Every environment variable that we read or give, in one place.
//!
//! A key of the configuration is `LOOPWRIGHT_` and its path in capitals, underscores for dots:
//! `loop.max_retries` is `LOOPWRIGHT_LOOP_MAX_RETRIES`. Tables whose names anybody may choose
//! (`[agents.NAME]`) have no variables.

use super::keys::{KEYS, Key, probably_meant};

pub(crate) const PREFIX: &str = "LOOPWRIGHT_";

/// Variables that are no keys: ours with a meaning of their own, and those that agents and checks
/// are given.
///
/// An agent may run `loopwright` itself, so what it was given must not look like a mistake.
const NO_KEYS: &[&str] = &[
    // Where the state lies.
    "LOOPWRIGHT_HOME",
    // `off`: a keeper that ends starts no worker.
    "LOOPWRIGHT_WAKE",
    // The level of the worker's log.
    "LOOPWRIGHT_LOG",
    // Between a worker and its keepers.
    "LOOPWRIGHT_RUN_DIR",
    "LOOPWRIGHT_KEEPER_RELAUNCH",
    // Given to agents and checks.
    "LOOPWRIGHT_LOOP_ID",
    "LOOPWRIGHT_STORY_ID",
    "LOOPWRIGHT_ATTEMPT",
    "LOOPWRIGHT_ROLE",
    "LOOPWRIGHT_STAGE",
    "LOOPWRIGHT_RUN_ID",
    "LOOPWRIGHT_BASE",
    "LOOPWRIGHT_CANDIDATE",
    "LOOPWRIGHT_MODEL",
    "LOOPWRIGHT_EFFORT",
    // Where an agent that speaks ACP finds a folder of its own.
    "LOOPWRIGHT_CONFIG_HOME",
];

/// What a variable's name means to the configuration.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// It sets this key.
    Key(&'static str),
    /// It looks like a key and is none; the nearest that is one.
    Misspelt(Option<String>),
    /// It is not the configuration's.
    Other,
}

/// Reads a variable's name.
pub(crate) fn meaning(name: &str) -> Meaning {
    let Some(rest) = name
        .strip_prefix(PREFIX)
        .filter(|_| !NO_KEYS.contains(&name))
    else {
        return Meaning::Other;
    };
    if let Some(key) = settable().find(|key| variable(key) == name) {
        return Meaning::Key(key.path);
    }
    let table = |key: &Key| {
        key.path
            .split('.')
            .next()
            .unwrap_or_default()
            .to_uppercase()
            + "_"
    };
    if !settable().any(|key| rest.starts_with(&table(key))) {
        return Meaning::Other;
    }
    let names: Vec<String> = settable().map(variable).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Meaning::Misspelt(probably_meant(name, &names).map(str::to_owned))
}

/// The variable that sets a key.
pub(crate) fn variable(key: &Key) -> String {
    format!("{PREFIX}{}", key.path.replace('.', "_").to_uppercase())
}

/// Keys that have a variable.
pub(crate) fn settable() -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(|key| !key.path.contains('*'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_means() {
        let misspelt = |near: &str| Meaning::Misspelt(Some(near.to_owned()));
        for (name, expected) in [
            (
                "LOOPWRIGHT_LOOP_MAX_RETRIES",
                Meaning::Key("loop.max_retries"),
            ),
            (
                "LOOPWRIGHT_ROLES_JUDGE_AGENT",
                Meaning::Key("roles.judge.agent"),
            ),
            (
                "LOOPWRIGHT_LOOP_MAX_RETRY",
                misspelt("LOOPWRIGHT_LOOP_MAX_RETRIES"),
            ),
            (
                "LOOPWRIGHT_WORKER_AGENTS_MAX",
                misspelt("LOOPWRIGHT_WORKER_MAX_CHECKS"),
            ),
            ("LOOPWRIGHT_LOOP_ID", Meaning::Other),
            ("LOOPWRIGHT_HOME", Meaning::Other),
            ("LOOPWRIGHT_SOMETHING", Meaning::Other),
            ("HOME", Meaning::Other),
        ] {
            assert_eq!(meaning(name), expected, "{name}");
        }
    }

    #[test]
    fn every_variable_is_in_the_documentation() {
        let text = include_str!("../../docs/config.md");
        for name in settable()
            .map(variable)
            .chain(NO_KEYS[..3].iter().map(|name| (*name).to_owned()))
        {
            assert!(text.contains(&name), "docs/config.md does not name {name}");
        }
    }
}
