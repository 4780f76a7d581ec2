//! What a run is given: its files, its prompt, its environment, its limits.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agents::{Session, SessionId};
use home::{AgentSettings, NetworkPolicy, SandboxKind, Warm};
use kernel::{Base, Stage, Writes};
use sandbox::{RunSpec, StopSignal};
use workspace::CommitId;

use crate::fault::Fault;
use crate::ports::TreeFiles;
use crate::run::agent_cli::{AgentHome, Turn, equip, put_command};
use crate::run::cell::Cell;
use crate::run::check_plan::check_plan;
use crate::run::context::context;
use crate::run::credentials::PersonsVariables;
use crate::run::downloads::Downloads;
use crate::run::files::config_home;
use crate::run::former::former_work;
use crate::run::jail::Ground;
use crate::run::layered::{Layered, can_layer};
use crate::run::measurement::PLAN_FILE;
use crate::run::preparing::Preparing;
use crate::run::renewal::{LOGIN_ENDS, Renewing};
use crate::run::roots::{Root, downloads_beside, is_ignored, loop_root};
use crate::run::shown_tests::shown_tree;
use crate::run::trees::commit_id;
use crate::run::untracked::{copy_untracked, is_plain};

/// Environment variables that every run may see.
const ENVIRONMENT: &[&str] = &["PATH", "HOME", "USER", "LANG", "TERM", "TZ", "TMPDIR"];

/// Where toolchains and certificates lie, where that is not where their programs would look. All are
/// places, none is a secret, and without them nothing can be installed or built on such a machine.
const PLACES: &[&str] = &[
    "CARGO_HOME",
    "RUSTUP_HOME",
    "PYENV_ROOT",
    "NVM_DIR",
    "VOLTA_HOME",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "CODEX_CA_CERTIFICATE",
    "PIP_CERT",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "CARGO_HTTP_CAINFO",
];

/// Commands that one check's run may start, over all trees.
const COMMANDS_MAX: u64 = 200;

/// Bytes of each output stream that are kept.
const OUTPUT_BYTES_MAX: u64 = 4 * 1024 * 1024;

impl Preparing<'_> {
    /// Makes checkout, prompt and plan; what it gives is the keeper's spec. A half-made earlier try
    /// is made anew.
    pub(crate) fn run_spec(&self) -> Result<RunSpec, Fault> {
        self.files.make_folder()?;
        let mut spec = if self.run.place.run.stage.is_check() {
            self.check_spec()?
        } else {
            self.agent_spec()?
        };
        self.put_role(&mut spec);
        self.put_ports(&mut spec);
        spec.env.extend(self.environment());
        spec.run_id.clone_from(&self.files.run_id);
        Ok(spec)
    }

    fn agent_spec(&self) -> Result<RunSpec, Fault> {
        let session = self.session()?;
        if session == Session::Fresh {
            self.make_checkout()?;
        }
        let checkout = &self.files.checkout;
        let folder = checkout.join(&self.settings.subdir);
        let layered = self.files.layered();
        self.check_subdir(layered.as_ref())?;
        let stage = self.run.place.run.stage;
        let mut context = context(self)?;
        context.goes_on = session != Session::Fresh;
        let prompt = roles::prompt(stage, &self.run.story, &context, &self.settings.prompts);
        let prompt_file = self.files.write("prompt.md", prompt.text.as_bytes())?;
        if !prompt.cut.is_empty() {
            self.files
                .write("cut.txt", prompt.cut.join("\n").as_bytes())?;
        }
        let agent = self.agent()?;
        let mut spec = plain_spec(&agent, prompt_file)?;
        self.put_scratch(&mut spec)?;
        let turn = Turn {
            prompt: &prompt.text,
            schema: roles::schema(stage),
            session,
        };
        let agent_home = AgentHome {
            host: config_home(
                &self.ports.home,
                self.order,
                &self.run.place,
                self.agent_name()?,
            ),
            ground: self.ground(),
        };
        let seen = agent_home.seen(checkout, &folder, &self.ports.program)?;
        let keys = self.keys()?;
        self.renew_login(&agent, &keys)?;
        let command = equip(&agent, &turn, &agent_home, &seen, &keys)?;
        if let Some(command) = command {
            put_command(&command, &agent, &mut spec);
            self.files.write("prompt.md", command.stdin.as_bytes())?;
        }
        spec.pass_env_file = Some(self.ports.home.keys_file(&self.order.loop_id));
        self.remove_what_runs_by_itself(&agent, layered.as_ref())?;
        spec.cwd.clone_from(&seen.folder);
        if let Some(ground) = &agent_home.ground {
            let loop_folder = self.ports.home.loop_folder(&self.order.loop_id);
            let root = layered.as_ref().and_then(|layered| layered.root.as_deref());
            let fetched = root.and_then(downloads_beside);
            let project = match &layered {
                Some(layered) => [&layered.lower[..], &[self.files.upper()]].concat(),
                None => vec![checkout.clone()],
            };
            let downloads = Downloads::of(&loop_folder);
            downloads.fill(&agent_home.host, fetched.as_deref(), &project);
            let cell = Cell {
                ground,
                agent: &agent,
                role: self.run.row.role.word(),
                writes: self.run.row.writes,
                checkout,
                layers: layered.map(|layered| self.files.mounted(&layered, self.writes())),
                home: &agent_home.host,
                client: &self.ports.program,
                keys: &keys,
                balance: self.balance(&agent),
            };
            cell.confine(&mut spec)?;
        }
        Ok(spec)
    }

    /// Renews the operator's login, of which the run is about to get a copy. When that copy ends is
    /// remembered: a run that ends with it is not at fault.
    fn renew_login(&self, agent: &AgentSettings, keys: &PersonsVariables) -> Result<(), Fault> {
        let role = self.settings.roles.get(self.run.row.role.word());
        let renewing = Renewing {
            home: &self.ports.home,
            agent,
            variables: keys,
            wall_secs: role
                .and_then(|role| role.timeout_secs)
                .unwrap_or(agent.timeout_secs),
        };
        let name = self.agent_name()?;
        let ends_ms = renewing
            .renew()
            .map_err(|why| why.fault(name.as_str(), agent, keys))?;
        if let Some(ends_ms) = ends_ms {
            self.files
                .write(LOGIN_ENDS, ends_ms.to_string().as_bytes())?;
        }
        Ok(())
    }

    /// Gives an agent a folder for temporary files that no other run has. A jail has its own `/tmp`.
    fn put_scratch(&self, spec: &mut RunSpec) -> Result<(), Fault> {
        if self.settings.jail().is_some() {
            return Ok(());
        }
        let scratch = &self.files.scratch;
        std::fs::create_dir_all(scratch).map_err(|error| Fault::io("make", scratch, error))?;
        let path = scratch.to_string_lossy().into_owned();
        spec.env.insert("TMPDIR".to_owned(), path);
        Ok(())
    }

    /// Ports for the servers of a run: a range of its own where it shares this machine's network, and
    /// the same range in every network of its own. A check's commands get that of their run.
    fn put_ports(&self, spec: &mut RunSpec) {
        let policy = |jail: &home::SandboxSettings| jail.network_of(self.run.row.role.word());
        let policy = self.settings.jail().map(policy);
        if policy.is_none_or(|policy| policy == NetworkPolicy::Open) {
            spec.takes_ports = true;
            return;
        }
        let own = spec.env.entry(sandbox::PORT_BASE_VARIABLE.to_owned());
        own.or_insert_with(|| sandbox::OWN_NETWORK_PORT_BASE.to_string());
    }

    /// The jail that the loop's runs are put into, if they are put into one.
    fn ground(&self) -> Option<Ground<'_>> {
        let jail = self.settings.jail()?;
        Some(Ground::of(jail, self.ports.home.root()))
    }

    /// What the person's shells gave this loop.
    fn keys(&self) -> Result<PersonsVariables, Fault> {
        let home = &self.ports.home;
        let kept = home::read_keys(home, &self.order.loop_id);
        let path = home.keys_file(&self.order.loop_id);
        Ok(PersonsVariables(
            kept.map_err(|error| Fault::io("read", &path, error))?,
        ))
    }

    /// What the run may still use, with what its model's tokens cost. Money without a price cannot be
    /// counted as it is spent.
    fn balance(&self, agent: &AgentSettings) -> Option<sandbox::Balance> {
        let left = self.run.balance?;
        let prices = agents::Prices::new(self.settings.prices.clone());
        let price = agent.model.as_deref().and_then(|model| prices.of(model));
        let money = left.micro_usd.zip(price).map(|(left, price)| {
            let rates = sandbox::Rates {
                input: price.input,
                cached: price.cached.unwrap_or(price.input),
                output: price.output,
            };
            (left, rates)
        });
        Some(sandbox::Balance {
            tokens: left.tokens,
            money,
        })
    }

    fn agent_name(&self) -> Result<&kernel::AgentName, Fault> {
        self.run.agent.as_ref().ok_or_else(|| Fault::NeedsPerson {
            what: format!("the stage {} has no agent", self.run.place.run.stage.word()),
            remedy: "name one in `[roles]`, then `loopwright resume --reload`".to_owned(),
        })
    }

    /// The agent's settings, with what its role says.
    fn agent(&self) -> Result<AgentSettings, Fault> {
        let name = self.agent_name()?;
        let role_agent = self.run.role_agent.as_ref();
        self.settings
            .agent_in_role(self.run.row.role, role_agent, name, &self.run.story)
            .ok_or_else(|| Fault::NeedsPerson {
                what: format!("there is no agent `{name}`"),
                remedy: "add it to `[agents]` of loopwright.toml".to_owned(),
            })
    }

    /// Makes the files that a fresh try works on.
    fn make_checkout(&self) -> Result<(), Fault> {
        let checkout = &self.files.checkout;
        home::remove_folder(checkout).map_err(|error| Fault::io("remove", checkout, error))?;
        let commit = self.shown(commit_id(&self.run.checkout)?)?;
        let former = former_work(self)?;
        if self.make_layers(&commit, former.as_ref())? {
            return Ok(());
        }
        if self.settings.keep_checkouts {
            self.repository.checkout(&commit, checkout)?;
        } else {
            self.files
                .make_checkout(&self.ports.home, self.repository, &commit)?;
        }
        self.repository
            .make_agent_repo(&commit, former.as_ref(), checkout)?;
        let project = Path::new(&self.order.project);
        copy_untracked(
            &self.settings.copy,
            project,
            checkout,
            &self.settings.subdir,
        );
        Ok(())
    }

    /// Makes layers instead of a checkout, where they can be had.
    fn make_layers(&self, commit: &CommitId, former: Option<&CommitId>) -> Result<bool, Fault> {
        self.files.remove_layers()?;
        if !can_layer(self.settings, self.ports) {
            return Ok(false);
        }
        let Some(lower) = self.written_out(commit)? else {
            return Ok(false);
        };
        self.files.begin_layers()?;
        let (upper, project) = (self.files.upper(), Path::new(&self.order.project));
        if let Some(former) = former {
            self.repository.show_former(commit, former, &upper)?;
        }
        let tree = self.repository.reader(&self.repository.tree_of(commit)?)?;
        let subdir = Path::new(&self.settings.subdir);
        let is_missing = |name: &&String| {
            let path = subdir.join(name);
            tree.entry(&path).is_none() && tree.list(&path).is_empty()
        };
        let missing: Vec<String> = self
            .settings
            .copy
            .iter()
            .filter(is_missing)
            .cloned()
            .collect();
        copy_untracked(&missing, project, &upper, &self.settings.subdir);
        let commit = commit.to_string();
        let root = self.root_below(&*tree).map(|root| root.tree());
        self.files.finish_layers(&Layered {
            commit,
            lower,
            root,
        })?;
        Ok(true)
    }

    /// What was built of third-party code, for an author who would build it first of all. Nothing of it
    /// is proof, so that it need not fit in every way.
    fn root_below(&self, tree: &dyn TreeFiles) -> Option<Root> {
        if !self.writes() || self.settings.warm == Warm::Off {
            return None;
        }
        let root = loop_root(&self.ports.home, self.order)?;
        let is_free = |folder: &String| {
            let path = Path::new(folder);
            tree.entry(path).is_none() && tree.list(path).is_empty() && is_ignored(tree, path)
        };
        root.note.folders.iter().all(is_free).then_some(root)
    }

    fn written_out(&self, commit: &CommitId) -> Result<Option<Vec<PathBuf>>, Fault> {
        let store = self.ports.home.trees(&self.order.loop_id);
        self.repository.write_out_for_agent(commit, &store)
    }

    /// Whether the run may write into its checkout.
    fn writes(&self) -> bool {
        self.run.row.writes != Writes::Nothing
    }

    /// An agent is started in the project's folder, which a commit may lack.
    fn check_subdir(&self, layered: Option<&Layered>) -> Result<(), Fault> {
        let subdir = self.settings.subdir.as_str();
        let checkout = &self.files.checkout;
        let folder = checkout.join(subdir);
        let is_there = match layered {
            Some(layered) => {
                let tree = self
                    .repository
                    .tree_of(&CommitId::parse(&layered.commit)?)?;
                let files = self.repository.reader(&tree)?;
                subdir.is_empty() || !files.list(Path::new(subdir)).is_empty()
            }
            None => is_plain(checkout, &folder) && folder.is_dir(),
        };
        if is_there {
            return Ok(());
        }
        let name = if subdir.is_empty() { "." } else { subdir };
        Err(Fault::BadTree {
            why: format!("the project's folder `{name}` is gone, or a link"),
        })
    }

    /// Some CLIs run what they find in certain folders of a repository, whatever they are told. Those
    /// folders are not the agent's to see; what the base has there stays in the candidate.
    fn remove_what_runs_by_itself(
        &self,
        agent: &AgentSettings,
        layered: Option<&Layered>,
    ) -> Result<(), Fault> {
        for folder in agent.cli().facts().executes {
            let Some(layered) = layered else {
                let _ = home::remove_folder(&self.files.checkout.join(folder));
                continue;
            };
            let tree = self
                .repository
                .tree_of(&CommitId::parse(&layered.commit)?)?;
            let files = self.repository.reader(&tree)?;
            let is_below = !files.list(Path::new(folder)).is_empty();
            self.files.hide(folder, is_below)?;
        }
        Ok(())
    }

    /// The commit whose files a run sees: an implementor who is shown tests does not see those that
    /// are held back, in no file and in no commit.
    fn shown(&self, commit: CommitId) -> Result<CommitId, Fault> {
        let is_implementor = self.run.place.run.stage == Stage::Implement;
        let sees_tests = self.run.row.base == Base::StoryWithTests;
        let tests = self
            .run
            .tests
            .as_ref()
            .filter(|_| is_implementor && sees_tests);
        let shown = match tests {
            Some(tests) => shown_tree(self.repository, tests)?,
            None => None,
        };
        match shown {
            Some(tree) if tree != self.repository.tree_of(&commit)? => {
                let base = commit_id(&self.run.base)?;
                self.repository
                    .commit(&tree, &base, "tests that are shown\n", 0)
            }
            Some(_) | None => Ok(commit),
        }
    }

    /// The session that the try resumes, while the files that it worked on are still there. Once it
    /// was decided to begin anew that stands: a crash in the middle of it must not take half-made
    /// files for an agent's work.
    fn session(&self) -> Result<Session, Fault> {
        let Some(resume) = &self.run.resume else {
            return Ok(Session::Fresh);
        };
        let began_anew = self.files.folder.join("anew").exists();
        if self.has_its_files()?
            && !began_anew
            && let Some(session) = SessionId::parse(&resume.session)
        {
            return Ok(Session::Resume(session));
        }
        self.files.write("anew", b"")?;
        Ok(Session::Fresh)
    }

    /// Whether what the session worked on is still there. Layers lie over trees that a power cut may
    /// have taken; they are made again at the same place.
    fn has_its_files(&self) -> Result<bool, Fault> {
        match self.files.layered() {
            Some(layered) => {
                let commit = CommitId::parse(&layered.commit)?;
                let has_root = layered.root.is_none_or(|root| root.is_dir());
                Ok(has_root && self.written_out(&commit)? == Some(layered.lower))
            }
            None => Ok(self.files.checkout.is_dir()),
        }
    }

    fn check_spec(&self) -> Result<RunSpec, Fault> {
        // Nothing in a command's environment names us: code under test must not be able to tell that
        // it is being checked.
        let plan = check_plan(self, base_environment())?;
        self.files
            .write(PLAN_FILE, &serde_json::to_vec_pretty(&plan)?)?;
        let mut spec = empty_spec();
        spec.program = self.ports.program.to_string_lossy().into_owned();
        let folder = self.files.folder.to_string_lossy().into_owned();
        spec.args = vec!["measure".to_owned(), folder];
        spec.cwd.clone_from(&self.files.folder);
        // The limit is each command's own, on each tree.
        spec.wall_secs = self
            .settings
            .check_timeout_secs
            .saturating_mul(COMMANDS_MAX);
        if cfg!(debug_assertions) {
            // Crash tests may kill this process too; the commands that it runs do not inherit it.
            spec.pass_env
                .push("LOOPWRIGHT_CRASH_SWITCH_OF_CHECKS".to_owned());
        }
        if matches!(
            self.settings.sandbox.as_ref().map(|sandbox| sandbox.kind),
            Some(SandboxKind::Podman | SandboxKind::Docker)
        ) {
            // The keepers of the commands start the engine's program, and it finds its service by these.
            let variables = sandbox::ENGINE_VARIABLES.map(str::to_owned);
            spec.pass_env.extend(variables);
        }
        let mark = |lane: &PathBuf| format!("TMPDIR={}", lane.display());
        spec.marks = plan.lanes.iter().map(mark).collect();
        Ok(spec)
    }

    /// Gives a run what its story and its role say. An agent's own `env` wins over model and effort:
    /// it knows its program.
    fn put_role(&self, spec: &mut RunSpec) {
        let (role_agent, story) = (self.run.role_agent.as_ref(), &*self.run.story);
        let model = self.run.agent.as_ref().and_then(|name| {
            self.settings
                .story_model(self.run.row.role, role_agent, name, story)
        });
        if let Some(model) = model {
            let own = spec.env.entry("LOOPWRIGHT_MODEL".to_owned());
            own.or_insert_with(|| model.to_owned());
        }
        let Some(role) = self.settings.roles.get(self.run.row.role.word()) else {
            return;
        };
        if let Some(timeout_secs) = role.timeout_secs {
            spec.wall_secs = timeout_secs;
        }
        let words = [
            ("LOOPWRIGHT_MODEL", &role.model),
            ("LOOPWRIGHT_EFFORT", &role.effort),
        ];
        for (name, value) in words {
            if let Some(value) = value {
                let own = spec.env.entry(name.to_owned());
                own.or_insert_with(|| value.clone());
            }
        }
    }

    fn environment(&self) -> Vec<(String, String)> {
        let run = &self.run.place.run;
        let row = self.run.row;
        let mut pairs = vec![
            ("LOOPWRIGHT_LOOP_ID", self.order.loop_id.clone()),
            ("LOOPWRIGHT_STORY_ID", run.story.to_string()),
            ("LOOPWRIGHT_ATTEMPT", run.attempt.to_string()),
            ("LOOPWRIGHT_ROLE", row.role.word().to_owned()),
            ("LOOPWRIGHT_STAGE", run.stage.word().to_owned()),
            ("LOOPWRIGHT_RUN_ID", self.files.run_id.clone()),
            ("LOOPWRIGHT_BASE", self.run.base.to_string()),
        ];
        // Whoever does not stand on the candidate does not learn its name either.
        if row.base == Base::Candidate
            && let Some(candidate) = &self.run.candidate
        {
            pairs.push(("LOOPWRIGHT_CANDIDATE", candidate.to_string()));
        }
        pairs
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }
}

pub(crate) fn empty_spec() -> RunSpec {
    RunSpec {
        run_id: String::new(),
        program: String::new(),
        args: Vec::new(),
        cwd: PathBuf::new(),
        env: base_environment(),
        pass_env: Vec::new(),
        pass_env_file: None,
        marks: Vec::new(),
        unnamed: false,
        stdin: None,
        wall_secs: 0,
        idle_secs: None,
        grace_secs: 10,
        output_bytes_max: OUTPUT_BYTES_MAX,
        stop_signal: StopSignal::Term,
        ends_with: None,
        stream: None,
        takes_ports: false,
        unflushed: false,
        jail: None,
    }
}

/// The spec of an agent that is any program; a known CLI's command comes on top of it.
pub(crate) fn plain_spec(agent: &AgentSettings, prompt: PathBuf) -> Result<RunSpec, Fault> {
    let mut spec = empty_spec();
    spec.stdin = Some(prompt);
    spec.wall_secs = agent.timeout_secs;
    spec.idle_secs = agent.idle_secs;
    if agent.cli() != agents::Kind::Command {
        return Ok(spec);
    }
    let Some((program, args)) = agent.command.split_first() else {
        return Err(Fault::NeedsPerson {
            what: "an agent has no command".to_owned(),
            remedy: "give it one in `[agents]` of loopwright.toml".to_owned(),
        });
    };
    spec.program.clone_from(program);
    spec.args = args.to_vec();
    // By name only: a spec is kept with the run's logs.
    spec.pass_env.clone_from(&agent.pass_env);
    spec.env.extend(agent.env.clone());
    Ok(spec)
}

fn base_environment() -> BTreeMap<String, String> {
    let mut kept = BTreeMap::new();
    for (name, value) in std::env::vars_os() {
        if let (Ok(name), Ok(value)) = (name.into_string(), value.into_string())
            && (ENVIRONMENT.contains(&name.as_str())
                || PLACES.contains(&name.as_str())
                || name.starts_with("LC_"))
        {
            kept.insert(name, value);
        }
    }
    kept
}
