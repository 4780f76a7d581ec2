//! The keys of an agent that stay with the proxy of its keeper: inside of the jail there is a
//! placeholder, and the CLI is told another address for its model.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use agents::Gateway;
use home::AgentSettings;
use sandbox::{ProxySpec, Route, RunSpec};

use crate::fault::Fault;
use crate::run::beneath::write_beneath;
use crate::run::credentials::PersonsVariables;
use crate::run::jail::Ground;

/// The proxy's way to the model of a CLI that has one at a time.
const MODEL_ROUTE: &str = "model";

/// Everything that holding keys looks at.
pub(crate) struct HeldKeys<'a> {
    pub(crate) ground: &'a Ground<'a>,
    pub(crate) agent: &'a AgentSettings,
    pub(crate) home: &'a Path,
    pub(crate) keys: &'a PersonsVariables,
}

impl HeldKeys<'_> {
    /// Leaves with the proxy what can be left there.
    pub(crate) fn hold(&self, spec: &mut RunSpec, proxy: &mut ProxySpec) -> Result<(), Fault> {
        if !self.ground.injects_keys() {
            return Ok(());
        }
        let gateways = self.agent.cli().facts().gateways;
        let chosen = self.chosen(gateways, spec);
        let mut files = BTreeMap::new();
        for gateway in &chosen {
            self.place(gateway, spec, proxy, &mut files)?;
        }
        for (name, text) in files {
            write_beneath(self.home, Path::new(name), text.as_bytes())
                .map_err(|error| Fault::io("write", &self.home.join(name), error))?;
        }
        let is_replaced = |name: &String| {
            gateways.iter().any(|gateway| {
                let stands_in = |other: &&Gateway| other.provider() == gateway.provider();
                let is_named =
                    gateway.key_variable == name || gateway.url_variable() == Some(name.as_str());
                is_named && chosen.iter().any(stands_in)
            })
        };
        spec.pass_env.retain(|name| !is_replaced(name));
        Ok(())
    }

    /// One key for each provider of the CLI: the first that the CLI would use itself.
    fn chosen<'g>(&self, gateways: &'g [Gateway], spec: &RunSpec) -> Vec<&'g Gateway> {
        // Whoever names a provider of their own on the command line knows where their key goes.
        if spec.args.iter().any(|word| word.contains("model_provider")) {
            return Vec::new();
        }
        // A variable that the configuration sets is no secret: it stands in a file.
        let is_held = |gateway: &&Gateway| {
            let is_given = self.keys.get(gateway.key_variable).is_some();
            let is_free = self
                .persons_file(gateway)
                .is_none_or(|text| gateway.is_free(&text));
            is_given && is_free && !spec.env.contains_key(gateway.key_variable)
        };
        let mut seen = BTreeSet::new();
        let held = gateways.iter().filter(is_held);
        held.filter(|gateway| seen.insert(gateway.provider()))
            .collect()
    }

    /// The person's own file in which they may have named an address. What lies in the agent's home
    /// proves nothing: the agent can write there.
    fn persons_file(&self, gateway: &Gateway) -> Option<String> {
        let from = self.agent.files.get(gateway.config_file()?)?;
        let text = fs::read_to_string(from).unwrap_or_default();
        Some(self.ground.bridged(&text))
    }

    fn place(
        &self,
        gateway: &Gateway,
        spec: &mut RunSpec,
        proxy: &mut ProxySpec,
        files: &mut BTreeMap<&'static str, String>,
    ) -> Result<(), Fault> {
        let name = gateway.provider().unwrap_or(MODEL_ROUTE);
        proxy.routes.push(Route {
            name: name.to_owned(),
            upstream: self.upstream(gateway, spec)?,
            header: gateway.header.to_owned(),
            value_prefix: gateway.value_prefix.to_owned(),
            key_variable: gateway.key_variable.to_owned(),
            extra_headers: BTreeMap::new(),
            paths: Vec::new(),
        });
        let inside = format!("{}/~{name}", sandbox::PROXY_URL);
        let key = gateway.key_variable.to_owned();
        spec.env.insert(key, gateway.placeholder().to_owned());
        // Behind the subcommand, where every flag may stand.
        let place = spec.args.len().min(1);
        spec.args.splice(place..place, gateway.arguments(&inside));
        if let Some(name) = gateway.config_variable() {
            let config = spec.env.entry(name.to_owned()).or_default();
            *config = gateway.configured(config, &inside);
        } else if let Some(file) = gateway.config_file() {
            let own = || self.persons_file(gateway).unwrap_or_default();
            let config = files.entry(file).or_insert_with(own);
            *config = gateway.configured(config, &inside);
        }
        if let Some(name) = gateway.url_variable() {
            spec.env.insert(name.to_owned(), inside);
        }
        Ok(())
    }

    /// Where a key is sent to: the person's own gateway, or the maker's. A configuration that may be
    /// the repository's must not send the key elsewhere.
    fn upstream(&self, gateway: &Gateway, spec: &RunSpec) -> Result<String, Fault> {
        let Some(variable) = gateway.url_variable() else {
            return Ok(gateway.upstream.to_owned());
        };
        let persons = self.keys.get(variable);
        if let Some(url) = persons.and_then(|url| url.into_string().ok()) {
            return Ok(url);
        }
        let Some(configured) = spec.env.get(variable) else {
            return Ok(gateway.upstream.to_owned());
        };
        let (host, port) = host_of(configured).unwrap_or_default();
        if self.ground.allows(&host, port) {
            return Ok(configured.clone());
        }
        Err(Fault::NeedsPerson {
            what: format!(
                "the configuration sends the key {} to `{host}`, which the sandbox does not allow",
                gateway.key_variable
            ),
            remedy: format!(
                "add it to your own configuration, `[sandbox] allow = [\"{host}:{port}\"]`, \
                 then `loopwright resume --reload`"
            ),
        })
    }
}

/// Host and port of an address.
pub(crate) fn host_of(url: &str) -> Option<(String, u16)> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let authority = authority.rsplit('@').next()?;
    let usual = if scheme == "http" { 80 } else { 443 };
    Some(match authority.rsplit_once(':') {
        Some((host, port)) => (host.to_ascii_lowercase(), port.parse().ok()?),
        None => (authority.to_ascii_lowercase(), usual),
    })
}
