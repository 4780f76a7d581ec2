//! One agent's place in its jail: its checkout and home at the paths that are the same in every run,
//! the hosts of its models, and the keys that stay outside.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agents::Gateway;
use home::AgentSettings;
use kernel::Writes;
use sandbox::{Access, Mount, Network, ProxySpec, Route, RunSpec};

use crate::fault::Fault;
use crate::run::credentials::PersonsVariables;
use crate::run::jail::{CLIENT, Ground, program_mounts};

/// Stands for a key inside of a jail.
const PLACEHOLDER: &str = "sk-held-by-loopwright";

/// The proxy's way to an agent's model.
const MODEL_ROUTE: &str = "model";

/// Everything that confining an agent's run looks at.
pub(crate) struct Cell<'a> {
    pub(crate) ground: &'a Ground<'a>,
    pub(crate) agent: &'a AgentSettings,
    pub(crate) role: &'a str,
    pub(crate) writes: Writes,
    pub(crate) checkout: &'a Path,
    pub(crate) home: &'a Path,
    pub(crate) client: &'a Path,
    pub(crate) keys: &'a PersonsVariables,
}

impl Cell<'_> {
    /// Puts a run into its jail. Its program, arguments and folder are in the jail's terms already.
    pub(crate) fn confine(&self, spec: &mut RunSpec) -> Result<(), Fault> {
        self.ground.environment(&mut spec.env);
        let policy = self.ground.policy(self.role);
        let hosts = self.agent.cli().facts().hosts;
        let mut network = self.ground.network(policy, hosts);
        if let Network::Proxy(proxy) = &mut network {
            self.hold_keys(spec, proxy)?;
            spec.env.extend(sandbox::proxy_environment());
        }
        self.bridge(spec);
        let mut mounts = self.ground.mounts(&spec.env)?;
        mounts.extend(program_mounts(&spec.program));
        mounts.extend(self.own_mounts());
        // An agent over a protocol is started by our own program.
        if spec.program == CLIENT {
            mounts.push(read_only(self.client, CLIENT));
            let inner = self.agent.program.as_deref().unwrap_or_default();
            mounts.extend(program_mounts(inner));
        }
        spec.jail = self.ground.jail(mounts, network);
        Ok(())
    }

    /// Whoever only looks gets nothing to write to but its home.
    fn own_mounts(&self) -> [Mount; 2] {
        let access = match self.writes {
            Writes::Code | Writes::Tests => Access::Writable,
            Writes::Nothing => Access::ReadOnly,
        };
        [
            Mount {
                host: self.home.to_owned(),
                inside: PathBuf::from(sandbox::HOME),
                access: Access::Writable,
            },
            Mount {
                host: self.checkout.to_owned(),
                inside: PathBuf::from(sandbox::WORKSPACE),
                access,
            },
        ]
    }

    /// Leads the addresses of services that the person allows to the bridge.
    fn bridge(&self, spec: &mut RunSpec) {
        for value in spec.env.values_mut().chain(&mut spec.args) {
            *value = self.ground.bridged(value);
        }
    }

    /// Leaves keys with the proxy, where the CLI can be told another address for its model: inside there
    /// is a placeholder only.
    fn hold_keys(&self, spec: &mut RunSpec, proxy: &mut ProxySpec) -> Result<(), Fault> {
        if !self.ground.injects_keys() {
            return Ok(());
        }
        let gateways = self.agent.cli().facts().gateways;
        // A variable that the configuration sets is no secret: it stands in a file.
        let held = |gateway: &&Gateway| {
            let is_given = self.keys.get(gateway.key_variable).is_some();
            is_given && !spec.env.contains_key(gateway.key_variable)
        };
        // A CLI uses one key, the first that it knows of.
        let Some(gateway) = gateways.iter().find(held) else {
            return Ok(());
        };
        // Whoever names a provider of their own knows where their key goes.
        if spec.args.iter().any(|word| word.contains("model_provider")) {
            return Ok(());
        }
        let upstream = self.upstream(gateway, spec)?;
        let inside = format!("{}/~{MODEL_ROUTE}", sandbox::PROXY_URL);
        proxy.routes.push(Route {
            name: MODEL_ROUTE.to_owned(),
            upstream,
            header: gateway.header.to_owned(),
            value_prefix: gateway.value_prefix.to_owned(),
            key_variable: gateway.key_variable.to_owned(),
            extra_headers: BTreeMap::new(),
            paths: Vec::new(),
        });
        let is_held = |name: &String| {
            gateways
                .iter()
                .any(|gateway| gateway.key_variable == name || gateway.url_variable() == Some(name))
        };
        spec.pass_env.retain(|name| !is_held(name));
        let key = gateway.key_variable.to_owned();
        spec.env.insert(key, PLACEHOLDER.to_owned());
        // Behind the subcommand, where every flag may stand.
        let place = spec.args.len().min(1);
        spec.args.splice(place..place, gateway.arguments(&inside));
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
fn host_of(url: &str) -> Option<(String, u16)> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let authority = authority.rsplit('@').next()?;
    let usual = if scheme == "http" { 80 } else { 443 };
    Some(match authority.rsplit_once(':') {
        Some((host, port)) => (host.to_ascii_lowercase(), port.parse().ok()?),
        None => (authority.to_ascii_lowercase(), usual),
    })
}

fn read_only(host: &Path, inside: &str) -> Mount {
    Mount {
        host: host.to_owned(),
        inside: PathBuf::from(inside),
        access: Access::ReadOnly,
    }
}
