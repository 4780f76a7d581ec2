//! The hosts without which an agent cannot do its work: those of its makers, and those that its
//! configuration names as the address of a model.

use std::fs;

use home::AgentSettings;
use sandbox::RunSpec;

use crate::run::held_keys::host_of;

/// How configurations call the address of a model, without case and separators.
const ADDRESS: &str = "baseurl";

/// The hosts that an agent needs.
pub(crate) fn needed(agent: &AgentSettings, spec: &RunSpec) -> Vec<String> {
    let makers = agent.cli().facts().hosts.iter();
    let mut hosts: Vec<String> = makers.map(|host| (*host).to_owned()).collect();
    for (name, value) in &spec.env {
        if plain(name).ends_with(ADDRESS) {
            hosts.extend(host_of(value).map(|(host, _)| host));
        }
    }
    let files = agent.files.values();
    let files = files.filter_map(|file| fs::read_to_string(file).ok());
    for text in spec.args.iter().cloned().chain(files) {
        hosts.extend(named_in(&text));
    }
    hosts.sort();
    hosts.dedup();
    // The proxy itself is no host of a model.
    hosts.retain(|host| host != "127.0.0.1" && host != "localhost");
    hosts
}

/// The hosts of the addresses in a text: `base_url="https://host/v1"`, `"baseURL": "https://host"`.
fn named_in(text: &str) -> Vec<String> {
    let is_told = |before: &str| {
        let end = before.trim_end_matches([' ', '"', '\'', ':', '=', '\\']);
        let word = end.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        word.take(1).any(|word| plain(word).ends_with(ADDRESS))
    };
    let starts = text.match_indices("://");
    let found = starts.filter_map(|(at, _)| {
        let scheme = ["https", "http"]
            .into_iter()
            .find(|scheme| text[..at].ends_with(scheme))?;
        let before = &text[..at - scheme.len()];
        let rest = &text[at..];
        let end = rest.find(['"', '\'', ' ', '\\', ',', '}', '\n']);
        let url = format!("{scheme}{}", &rest[..end.unwrap_or(rest.len())]);
        is_told(before).then(|| host_of(&url).map(|(host, _)| host))?
    });
    found.collect()
}

fn plain(name: &str) -> String {
    name.to_ascii_lowercase().replace('_', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_model_is_found_in_a_configuration() {
        for (text, expected) in [
            (
                r#"model_providers.own={name="own",base_url="https://Models.Corp:8443/v1",env_key="K"}"#,
                vec!["models.corp"],
            ),
            (
                r#"{"providers":{"a":{"baseUrl": "http://10.0.0.5:80/v1"},"b":{"baseURL":"https://b.example"}}}"#,
                vec!["10.0.0.5", "b.example"],
            ),
            ("read https://docs.example/base_url first", vec![]),
            ("--homepage=https://docs.example", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(named_in(text), expected, "{text}");
        }
    }
}
