//! The hosts without which an agent cannot do its work: those of its makers, and those that its
//! configuration names as the address of a model.

use std::fs;

use home::AgentSettings;
use sandbox::RunSpec;

use crate::run::held_keys::host_of;
use crate::run::jail::Ground;

/// How configurations call the address of a model, without case and separators.
const ADDRESS: &str = "baseurl";

/// The hosts that an agent needs.
pub(crate) fn needed(agent: &AgentSettings, spec: &RunSpec) -> Vec<String> {
    let makers = agent.cli().facts().hosts.iter();
    let mut hosts: Vec<String> = makers.map(|host| (*host).to_owned()).collect();
    let named = addresses(agent, spec, str::to_owned);
    let named = named.iter().filter_map(|url| host_of(url));
    hosts.extend(named.map(|(host, _)| host));
    hosts.sort();
    hosts.dedup();
    // What is on a loopback is never asked of the proxy.
    hosts.retain(|host| !is_loopback(host));
    hosts
}

/// A service of this machine that the agent takes for its model, and that nobody allows it to reach: as
/// `allow` would name it. In the jail the address leads to a loopback of its own, where nobody answers,
/// and some CLIs would ask there for ever.
pub(crate) fn unreachable_service(
    agent: &AgentSettings,
    spec: &RunSpec,
    ground: &Ground<'_>,
) -> Option<String> {
    let named = addresses(agent, spec, |text| ground.bridged(text));
    // Only plain HTTP can be led out of a jail, so that only there an entry of `allow` helps.
    let named = named.iter().filter(|url| url.starts_with("http://"));
    let mut services = named.filter_map(|url| host_of(url));
    services
        .find(|(host, port)| is_loopback(host) && *port != sandbox::PROXY_PORT)
        .map(|(host, port)| format!("{host}:{port}"))
}

fn is_loopback(host: &str) -> bool {
    let address = host.parse::<std::net::Ipv4Addr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// Every address of a model that the configuration names. `seen` makes of a file's text what the agent
/// sees of it.
fn addresses(agent: &AgentSettings, spec: &RunSpec, seen: impl Fn(&str) -> String) -> Vec<String> {
    let is_address = |name: &str| plain(name).ends_with(ADDRESS);
    let variables = spec.env.iter().filter(|(name, _)| is_address(name));
    let mut found: Vec<String> = variables.map(|(_, value)| value.clone()).collect();
    let files = agent.files.values();
    let files = files.filter_map(|file| fs::read_to_string(file).ok());
    let files = files.map(|text| seen(&text));
    for text in spec.args.iter().cloned().chain(files) {
        found.extend(named_in(&text));
    }
    found
}

/// The addresses in a text: `base_url="https://host/v1"`, `"baseURL": "https://host"`.
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
        is_told(before).then_some(url)
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
            let hosts: Vec<String> = named_in(text)
                .iter()
                .filter_map(|url| host_of(url).map(|(host, _)| host))
                .collect();
            assert_eq!(hosts, expected, "{text}");
        }
    }
}
