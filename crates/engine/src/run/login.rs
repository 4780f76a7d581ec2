//! What a person is asked where an agent has no valid login: which agent, by which command, by which
//! variable.

use std::collections::BTreeSet;

use agents::Kind;
use home::Keys;

/// The question. `keys` is what the loop has of the person's variables, `said` are the agent's own
/// words.
pub(crate) fn question(
    agent: &str,
    kind: Kind,
    pass_env: &[String],
    keys: &Keys,
    said: Option<&str>,
) -> String {
    let facts = kind.facts();
    let cli = match kind {
        Kind::Command | Kind::Acp => String::new(),
        _ if facts.name == agent => String::new(),
        _ => format!(" ({})", facts.name),
    };
    let said = said.map(|said| format!(": {said}")).unwrap_or_default();
    let names = kind.key_variables().into_iter().chain(pass_env.to_vec());
    let names: BTreeSet<String> = names.collect();
    let (given, missing): (Vec<&String>, Vec<&String>) =
        names.iter().partition(|name| keys.contains_key(*name));
    let refused = match given.as_slice() {
        [] => String::new(),
        given => format!(
            "; it was given {}, which did not do",
            joined(given, " and ")
        ),
    };
    let log_in = match facts.log_in {
        "" => "log it in".to_owned(),
        log_in => format!("run: {log_in}"),
    };
    let wanted = if missing.is_empty() { given } else { missing };
    let or_set = match wanted.as_slice() {
        [] => String::new(),
        names => format!(
            ", or set {} in the shell that you answer from",
            joined(names, " or ")
        ),
    };
    format!(
        "the agent `{agent}`{cli} is not logged in{said}{refused}; {log_in}{or_set}; then answer `retry`"
    )
}

fn joined(names: &[&String], word: &str) -> String {
    let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
    names.join(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn not_logged_in_names_the_agent_and_the_variable() {
        let keys = |names: &[&str]| -> Keys {
            names
                .iter()
                .map(|name| ((*name).to_owned(), home::Secret::new("secret")))
                .collect()
        };
        let none: &[&str] = &[];
        for (agent, kind, pass_env, given, said, expected) in [
            (
                "codex",
                Kind::Codex,
                none,
                none,
                Some("401"),
                "the agent `codex` is not logged in: 401; run: codex login, or set CODEX_API_KEY or OPENAI_API_KEY in the shell that you answer from; then answer `retry`",
            ),
            (
                "builder",
                Kind::Codex,
                none,
                &["OPENAI_API_KEY"],
                None,
                "the agent `builder` (codex) is not logged in; it was given OPENAI_API_KEY, which did not do; run: codex login, or set CODEX_API_KEY in the shell that you answer from; then answer `retry`",
            ),
            (
                "mine",
                Kind::Command,
                &["MY_KEY"],
                none,
                None,
                "the agent `mine` is not logged in; log it in, or set MY_KEY in the shell that you answer from; then answer `retry`",
            ),
            (
                "mine",
                Kind::Command,
                &["MY_KEY"],
                &["MY_KEY"],
                None,
                "the agent `mine` is not logged in; it was given MY_KEY, which did not do; log it in, or set MY_KEY in the shell that you answer from; then answer `retry`",
            ),
            (
                "mine",
                Kind::Command,
                none,
                none,
                None,
                "the agent `mine` is not logged in; log it in; then answer `retry`",
            ),
        ] {
            let pass_env: Vec<String> = pass_env.iter().map(|name| (*name).to_owned()).collect();
            let asked = question(agent, kind, &pass_env, &keys(given), said);
            assert_eq!(asked, expected);
            assert!(!asked.contains("secret"));
        }
    }
}
