//! One agent's place in its jail: its checkout and home at the paths that are the same in every run,
//! and the hosts of its models. The keys that stay outside are `held_keys.rs`.

use std::path::{Path, PathBuf};

use home::AgentSettings;
use kernel::Writes;
use sandbox::{Access, Balance, Layers, Mount, Network, RunSpec};

use crate::fault::Fault;
use crate::run::credentials::PersonsVariables;
use crate::run::held_keys::HeldKeys;
use crate::run::jail::{CLIENT, Ground, program_mounts};
use crate::run::needed::{needed, unreachable_service};

/// Everything that confining an agent's run looks at.
pub(crate) struct Cell<'a> {
    pub(crate) ground: &'a Ground<'a>,
    pub(crate) agent: &'a AgentSettings,
    pub(crate) role: &'a str,
    pub(crate) writes: Writes,
    pub(crate) checkout: &'a Path,
    /// What the checkout is instead, where it is layers.
    pub(crate) layers: Option<Layers>,
    pub(crate) home: &'a Path,
    pub(crate) client: &'a Path,
    pub(crate) keys: &'a PersonsVariables,
    pub(crate) balance: Option<Balance>,
}

impl Cell<'_> {
    /// Puts a run into its jail. Its program, arguments and folder are in the jail's terms already.
    pub(crate) fn confine(&self, spec: &mut RunSpec) -> Result<(), Fault> {
        self.ground.environment(&mut spec.env);
        let policy = self.ground.policy(self.role);
        let hosts = self.agent.cli().facts().hosts;
        let mut network = self.ground.network(policy, hosts);
        if let Network::Proxy(proxy) = &mut network {
            let held = HeldKeys {
                ground: self.ground,
                agent: self.agent,
                home: self.home,
                keys: self.keys,
            };
            held.hold(spec, proxy)?;
            proxy.needed = needed(self.agent, spec);
            proxy.balance = self.balance.map(Box::new);
            spec.env.extend(sandbox::proxy_environment());
        }
        self.bridge(spec);
        if let Network::Proxy(_) = &network {
            self.check_service(spec)?;
        }
        let mut mounts = self.ground.mounts(&mut spec.env)?;
        mounts.extend(program_mounts(&spec.program));
        mounts.extend(self.own_mounts());
        // An agent over a protocol is started by our own program.
        if spec.program == CLIENT {
            mounts.push(read_only(self.client, CLIENT));
            let inner = self.agent.program.as_deref().unwrap_or_default();
            mounts.extend(program_mounts(inner));
        }
        spec.jail = self.ground.jail(mounts, network);
        if let Some(jail) = &mut spec.jail {
            jail.layers.clone_from(&self.layers);
        }
        Ok(())
    }

    /// An agent whose model is a service of this machine that nobody allows could not begin.
    fn check_service(&self, spec: &RunSpec) -> Result<(), Fault> {
        let Some(service) = unreachable_service(self.agent, spec, self.ground) else {
            return Ok(());
        };
        Err(Fault::NeedsPerson {
            what: format!("the sandbox does not let the agent reach its model at `{service}`"),
            remedy: format!(
                "add it to your own configuration (`[sandbox] allow = [\"{service}\"]`), run \
                 `loopwright resume --reload`"
            ),
        })
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
                host: self
                    .layers
                    .as_ref()
                    .map_or(self.checkout, |layers| &layers.at)
                    .to_owned(),
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
}

fn read_only(host: &Path, inside: &str) -> Mount {
    Mount {
        host: host.to_owned(),
        inside: PathBuf::from(inside),
        access: Access::ReadOnly,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

    use home::{NetworkPolicy, SandboxKind, SandboxSettings, Secret};
    use sandbox::{Allowed, Route, StopSignal};

    use super::*;

    const KEY: &str = "the-real-key-of-the-person";

    /// A run of one agent, and what its jail is to be.
    struct Scene {
        folder: tempfile::TempDir,
        agent: AgentSettings,
        settings: SandboxSettings,
        writes: Writes,
        keys: Vec<&'static str>,
        /// The program that the run starts.
        program: String,
        layers: Option<Layers>,
        balance: Option<Balance>,
    }

    impl Scene {
        fn of(kind: &str) -> Self {
            let folder = tempfile::tempdir().expect("a folder");
            for name in ["state", "home", "checkout"] {
                fs::create_dir(folder.path().join(name)).expect("made");
            }
            Self {
                folder,
                agent: AgentSettings {
                    command: Vec::new(),
                    pass_env: Vec::new(),
                    env: BTreeMap::new(),
                    timeout_secs: 60,
                    idle_secs: None,
                    kind: Some(kind.to_owned()),
                    program: None,
                    args: Vec::new(),
                    model: None,
                    effort: None,
                    files: BTreeMap::new(),
                },
                settings: SandboxSettings {
                    kind: SandboxKind::Bwrap,
                    network: NetworkPolicy::Model,
                    inject_keys: true,
                    ..SandboxSettings::host()
                },
                writes: Writes::Code,
                keys: Vec::new(),
                program: "agent".to_owned(),
                layers: None,
                balance: None,
            }
        }

        fn at(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn confine(&self) -> Result<RunSpec, Fault> {
            let keys = self.keys.iter();
            let keys = keys.map(|name| ((*name).to_owned(), Secret::new(KEY)));
            let keys = PersonsVariables(Some(keys.collect()));
            let state = self.at("state");
            let ground = Ground::of(&self.settings, &state);
            let (checkout, home) = (self.at("checkout"), self.at("home"));
            let cell = Cell {
                ground: &ground,
                agent: &self.agent,
                role: "implementor",
                writes: self.writes,
                checkout: &checkout,
                layers: self.layers.clone(),
                home: &home,
                client: Path::new("/usr/bin/true"),
                keys: &keys,
                balance: self.balance,
            };
            let mut spec = spec_of(&self.agent, &self.keys);
            spec.program.clone_from(&self.program);
            cell.confine(&mut spec)?;
            Ok(spec)
        }
    }

    fn spec_of(agent: &AgentSettings, keys: &[&str]) -> RunSpec {
        RunSpec {
            run_id: "run".to_owned(),
            program: "agent".to_owned(),
            args: [vec!["exec".to_owned()], agent.args.clone()].concat(),
            cwd: PathBuf::from(sandbox::WORKSPACE),
            env: agent.env.clone(),
            pass_env: keys.iter().map(|name| (*name).to_owned()).collect(),
            pass_env_file: None,
            marks: Vec::new(),
            unnamed: false,
            takes_ports: false,
            unflushed: false,
            stdin: None,
            wall_secs: 60,
            idle_secs: None,
            grace_secs: 1,
            output_bytes_max: 1000,
            stop_signal: StopSignal::Term,
            ends_with: None,
            stream: None,
            jail: None,
        }
    }

    /// A program in a folder of its own, with something beside it.
    fn program_in(folder: &Path) -> String {
        use std::os::unix::fs::PermissionsExt as _;
        fs::create_dir_all(folder).expect("made");
        let program = folder.join("program");
        fs::write(&program, "#!/bin/sh\n").expect("written");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("set");
        fs::write(folder.join("beside"), "nobody's").expect("written");
        program.display().to_string()
    }

    /// What of this machine a jail shows at a path.
    fn shown_at(spec: &RunSpec, inside: &str) -> Option<PathBuf> {
        let mounts = &spec.jail.as_ref().expect("a jail").mounts;
        let mut found = mounts.iter();
        let found = found.find(|mount| mount.inside == Path::new(inside));
        found.map(|mount| mount.host.clone())
    }

    fn access_of(spec: &RunSpec, inside: &str) -> Option<Access> {
        let mounts = &spec.jail.as_ref().expect("a jail").mounts;
        let mut found = mounts
            .iter()
            .filter(|mount| mount.inside == Path::new(inside));
        found.next().map(|mount| mount.access)
    }

    fn routes(spec: &RunSpec) -> Vec<Route> {
        match &spec.jail.as_ref().expect("a jail").network {
            Network::Proxy(proxy) => proxy.routes.clone(),
            Network::None | Network::Open => Vec::new(),
        }
    }

    #[test]
    fn only_who_writes_can_write() {
        for (writes, expected) in [
            (Writes::Code, Access::Writable),
            (Writes::Tests, Access::Writable),
            (Writes::Nothing, Access::ReadOnly),
        ] {
            let scene = Scene {
                writes,
                ..Scene::of("codex")
            };
            let spec = scene.confine().expect("a spec");
            assert_eq!(access_of(&spec, sandbox::WORKSPACE), Some(expected));
            assert_eq!(access_of(&spec, sandbox::HOME), Some(Access::Writable));
            assert_eq!(spec.env["HOME"], sandbox::HOME);
        }
    }

    #[test]
    fn a_program_is_shown_at_its_path_and_nothing_beside_it() {
        let mut scene = Scene::of("codex");
        let folder = scene.at("tools");
        scene.program = program_in(&folder);
        let spec = scene.confine().expect("a spec");
        assert_eq!(access_of(&spec, &scene.program), Some(Access::ReadOnly));
        for hidden in [folder.clone(), folder.join("beside")] {
            assert_eq!(shown_at(&spec, &hidden.display().to_string()), None);
        }
    }

    #[test]
    fn an_agent_over_a_protocol_sees_our_program_and_its_own() {
        let mut scene = Scene::of("acp");
        let own = program_in(&scene.at("tools"));
        scene.agent.program = Some(own.clone());
        let spec = scene.confine().expect("a spec");
        assert_eq!(shown_at(&spec, CLIENT), None, "it is started by itself");
        scene.program = CLIENT.to_owned();
        let spec = scene.confine().expect("a spec");
        let client = Some(PathBuf::from("/usr/bin/true"));
        assert_eq!(shown_at(&spec, CLIENT), client);
        assert_eq!(access_of(&spec, CLIENT), Some(Access::ReadOnly));
        assert_eq!(access_of(&spec, &own), Some(Access::ReadOnly));
    }

    #[test]
    fn layers_are_seen_instead_of_the_checkout() {
        let mut scene = Scene::of("codex");
        let spec = scene.confine().expect("a spec");
        let checkout = Some(scene.at("checkout"));
        assert_eq!(shown_at(&spec, sandbox::WORKSPACE), checkout);
        assert_eq!(spec.jail.expect("a jail").layers, None);
        let layers = Layers {
            at: scene.at("at"),
            lower: vec![scene.at("lower")],
            changes: None,
        };
        scene.layers = Some(layers.clone());
        let spec = scene.confine().expect("a spec");
        assert_eq!(shown_at(&spec, sandbox::WORKSPACE), Some(scene.at("at")));
        assert_eq!(spec.jail.expect("a jail").layers, Some(layers));
    }

    #[test]
    fn i10_the_proxy_is_told_what_the_run_may_still_use() {
        let mut scene = Scene::of("codex");
        let balance = Balance {
            tokens: Some(700),
            money: None,
        };
        for told in [None, Some(balance)] {
            scene.balance = told;
            let jail = scene.confine().expect("a spec").jail.expect("a jail");
            let Network::Proxy(proxy) = jail.network else {
                panic!("{:?}", jail.network);
            };
            assert_eq!(proxy.balance.as_deref(), told.as_ref());
        }
    }

    #[test]
    fn a_network_is_what_the_role_has() {
        let mut scene = Scene::of("codex");
        scene.settings.allow = vec!["mirror.corp:8443".to_owned()];
        let spec = scene.confine().expect("a spec");
        let jail = spec.jail.as_ref().expect("a jail");
        let Network::Proxy(proxy) = &jail.network else {
            panic!("{jail:?}");
        };
        let allowed = |host: &str, port: u16, may_be_private: bool| Allowed {
            host: host.to_owned(),
            port,
            may_be_private,
        };
        assert!(proxy.allow.contains(&allowed("api.openai.com", 443, false)));
        assert!(proxy.allow.contains(&allowed("mirror.corp", 8443, true)));
        assert!(proxy.needed.contains(&"api.openai.com".to_owned()));
        assert!(spec.env.contains_key("https_proxy"));
        for (policy, expected) in [
            (NetworkPolicy::None, Network::None),
            (NetworkPolicy::Open, Network::Open),
        ] {
            let roles = &mut scene.settings.roles;
            roles.insert("implementor".to_owned(), policy);
            let spec = scene.confine().expect("a spec");
            assert_eq!(spec.jail.as_ref().expect("a jail").network, expected);
            assert!(!spec.env.contains_key("https_proxy"));
        }
    }

    #[test]
    fn i09_a_key_stays_with_the_proxy_whatever_the_cli() {
        for (kind, variable, host, header) in [
            (
                "claude",
                "ANTHROPIC_API_KEY",
                "https://api.anthropic.com",
                "x-api-key",
            ),
            (
                "claude",
                "CLAUDE_CODE_OAUTH_TOKEN",
                "https://api.anthropic.com",
                "authorization",
            ),
            (
                "codex",
                "OPENAI_API_KEY",
                "https://api.openai.com/v1",
                "authorization",
            ),
            (
                "gemini",
                "GEMINI_API_KEY",
                "https://generativelanguage.googleapis.com",
                "x-goog-api-key",
            ),
            (
                "pi",
                "ANTHROPIC_API_KEY",
                "https://api.anthropic.com",
                "x-api-key",
            ),
            (
                "pi",
                "OPENROUTER_API_KEY",
                "https://openrouter.ai/api/v1",
                "authorization",
            ),
            (
                "opencode",
                "ANTHROPIC_API_KEY",
                "https://api.anthropic.com/v1",
                "x-api-key",
            ),
        ] {
            let scene = Scene {
                keys: vec![variable],
                ..Scene::of(kind)
            };
            let spec = scene.confine().expect("a spec");
            let routes = routes(&spec);
            assert_eq!(routes.len(), 1, "{kind}");
            assert_eq!(
                (routes[0].upstream.as_str(), routes[0].header.as_str()),
                (host, header),
                "{kind}"
            );
            assert_eq!(routes[0].key_variable, variable, "{kind}");
            assert!(spec.pass_env.is_empty(), "{kind}: {:?}", spec.pass_env);
            assert!(spec.env[variable].contains("held-by-loopwright"), "{kind}");
            let address = format!("{}/~{}", sandbox::PROXY_URL, routes[0].name);
            let models = fs::read_to_string(scene.at("home/models.json")).unwrap_or_default();
            let told = format!("{:?} {:?} {models}", spec.env, spec.args);
            assert!(told.contains(&address), "{kind}: {told}");
            assert!(!serde_json::to_string(&spec).expect("JSON").contains(KEY));
            let mut open = scene;
            open.settings.inject_keys = false;
            let spec = open.confine().expect("a spec");
            assert_eq!(spec.pass_env, [variable], "{kind}");
        }
    }

    /// Both providers of one CLI have a way of their own, and one that the person leads elsewhere none.
    #[test]
    fn every_provider_has_its_own_key() {
        let mut scene = Scene::of("pi");
        scene.keys = vec![
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_OAUTH_TOKEN",
            "OPENAI_API_KEY",
        ];
        let spec = scene.confine().expect("a spec");
        let held: Vec<String> = routes(&spec)
            .into_iter()
            .map(|route| format!("{} {}", route.name, route.key_variable))
            .collect();
        assert_eq!(
            held,
            ["anthropic ANTHROPIC_OAUTH_TOKEN", "openai OPENAI_API_KEY"]
        );
        assert!(spec.pass_env.is_empty(), "{:?}", spec.pass_env);
        let own = r#"{"providers":{"openai":{"baseUrl":"https://models.corp/v1"}}}"#;
        fs::write(scene.at("models.json"), own).expect("written");
        let from = scene.at("models.json").display().to_string();
        scene.agent.files.insert("models.json".to_owned(), from);
        let spec = scene.confine().expect("a spec");
        assert_eq!(routes(&spec).len(), 1);
        assert_eq!(spec.pass_env, ["OPENAI_API_KEY"]);
        let made = fs::read_to_string(scene.at("home/models.json")).expect("read");
        assert!(made.contains("https://models.corp/v1"), "{made}");
    }

    #[test]
    fn a_model_on_this_machine_is_asked_about_unless_it_is_allowed() {
        let told = r#"model_providers.own={base_url="http://127.0.0.1:11434/v1"}"#;
        let in_args = |scene: &mut Scene, url: &str| {
            scene.agent.args = vec!["-c".to_owned(), told.replace("http://127.0.0.1:11434", url)];
        };
        for (url, allowed, expected) in [
            (
                "http://127.0.0.1:11434",
                "127.0.0.1:11434",
                "127.0.0.1:11434",
            ),
            (
                "http://localhost:11434",
                "127.0.0.1:11434",
                "localhost:11434",
            ),
            (
                "http://localhost:11434",
                "localhost:11434",
                "localhost:11434",
            ),
        ] {
            for place in ["env", "args", "files"] {
                let mut scene = Scene::of("codex");
                match place {
                    "env" => {
                        let name = "OPENAI_BASE_URL".to_owned();
                        scene.agent.env.insert(name, format!("{url}/v1"));
                    }
                    "args" => in_args(&mut scene, url),
                    _ => {
                        let text = format!("base_url = \"{url}/v1\"\n");
                        fs::write(scene.at("own.toml"), text).expect("written");
                        let from = scene.at("own.toml").display().to_string();
                        scene.agent.files.insert("config.toml".to_owned(), from);
                    }
                }
                let refused = scene.confine().expect_err("nobody allows it");
                let question = refused.question().expect("a question");
                let line = format!("[sandbox] allow = [\"{expected}\"]");
                assert!(question.contains(&line), "{place}: {question}");
                scene.settings.allow = vec![allowed.to_owned()];
                scene.confine().expect("it is allowed");
                scene.settings.allow.clear();
                scene.settings.network = NetworkPolicy::Open;
                scene.confine().expect("everything can be reached");
            }
        }
        let mut scene = Scene::of("codex");
        in_args(&mut scene, "https://models.example");
        scene.confine().expect("another host is the proxy's affair");
    }

    /// A configuration that may be the repository's must not send the key elsewhere.
    #[test]
    fn i09_a_key_is_not_sent_where_the_person_does_not_allow() {
        let mut scene = Scene::of("claude");
        scene.keys = vec!["ANTHROPIC_API_KEY"];
        let address = "https://evil.example".to_owned();
        let env = &mut scene.agent.env;
        env.insert("ANTHROPIC_BASE_URL".to_owned(), address);
        let refused = scene.confine();
        assert!(matches!(refused, Err(Fault::NeedsPerson { .. })));
        scene.settings.allow = vec!["evil.example".to_owned()];
        let spec = scene.confine().expect("a spec");
        assert_eq!(routes(&spec)[0].upstream, "https://evil.example");
    }
}
