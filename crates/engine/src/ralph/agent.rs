//! One agent's run for one claim: what it is given, and its keeper.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use agents::Session;
use kernel::Writes;
use sandbox::{Access, Mount, RunSpec};
use tasks::{Lease, Tasks};

use super::git_guard;
use super::plan::RalphPlan;
use crate::fault::Fault;
use crate::run::agent_cli::{AgentHome, Turn, equip, put_command};
use crate::run::cell::Cell;
use crate::run::credentials::PersonsVariables;
use crate::run::jail::{CLIENT, Ground};
use crate::run::renewal::Renewing;
use crate::run::run_spec::{empty_spec, plain_spec};

/// Where a jailed agent asks for its task to be completed.
const REQUESTS: &str = "/run/lw/requests";

/// How long an agent may keep running after it was asked to end.
const GRACE_SECS: u64 = 5;

/// Everything that a run needs.
pub(super) struct Run<'a> {
    pub(super) plan: &'a RalphPlan,
    pub(super) tasks: &'a Tasks,
    /// The work tree that it works in.
    pub(super) root: &'a Path,
    pub(super) task: &'a str,
    pub(super) lease: &'a Lease,
    /// The run's own files.
    pub(super) folder: &'a Path,
}

impl Run<'_> {
    /// Starts the agent below a keeper.
    pub(super) fn start(&self, prompt: &str) -> Result<Child, Fault> {
        let mut spec = self.spec(prompt)?;
        spec.ends_with.clone_from(&self.lease.owner.process);
        spec.grace_secs = GRACE_SECS;
        self.keep(&spec)
    }

    /// Starts one of the project's commands below a keeper.
    pub(super) fn start_check(&self, command: &str) -> Result<Child, Fault> {
        let mut spec = empty_spec();
        "/bin/sh".clone_into(&mut spec.program);
        spec.args = vec!["-c".to_owned(), format!("( {command}\n) 2>&1")];
        self.root.clone_into(&mut spec.cwd);
        spec.wall_secs = self.plan.check_timeout_secs;
        spec.ends_with.clone_from(&self.lease.owner.process);
        spec.grace_secs = GRACE_SECS;
        if let Some(settings) = &self.plan.sandbox {
            let ground = Ground::of(settings, self.plan.home.root());
            spec.cwd = PathBuf::from(sandbox::WORKSPACE);
            ground.environment(&mut spec.env);
            let mut mounts = ground.mounts(&mut spec.env)?;
            mounts.extend(self.tree_mounts()?);
            spec.jail = ground.jail(mounts, ground.registries());
        }
        self.keep(&spec)
    }

    /// The folder in which an agent's requests arrive.
    pub(super) fn requests(&self) -> PathBuf {
        self.folder.join("requests")
    }

    fn keep(&self, spec: &RunSpec) -> Result<Child, Fault> {
        sandbox::prepare(self.folder, spec).map_err(|error| Fault::keeper(self.folder, error))?;
        let mut keeper = Command::new(&self.plan.program);
        keeper.arg("keeper").arg(self.folder).current_dir("/");
        keeper
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        keeper
            .spawn()
            .map_err(|error| Fault::io("start", &self.plan.program, error))
    }

    fn spec(&self, prompt: &str) -> Result<RunSpec, Fault> {
        let (plan, root) = (self.plan, self.root);
        fs::create_dir_all(self.folder).map_err(|error| self.io("make", error))?;
        let prompt_file = self.folder.join("prompt.md");
        fs::write(&prompt_file, prompt).map_err(|error| self.io("write", error))?;
        let mut spec = plain_spec(&plan.agent, prompt_file.clone())?;
        let sandbox = plan.sandbox.as_ref();
        let agent_home = AgentHome {
            host: self.tasks.folder().join("agents").join(&plan.agent_name),
            ground: sandbox.map(|settings| Ground::of(settings, plan.home.root())),
        };
        let seen = agent_home.seen(root, root, &plan.program)?;
        let keys = PersonsVariables(None);
        let turn = Turn {
            prompt,
            schema: None,
            session: Session::Fresh,
        };
        let renewing = Renewing {
            home: &plan.home,
            agent: &plan.agent,
            variables: &keys,
            wall_secs: plan.task_timeout_secs.unwrap_or(plan.agent.timeout_secs),
        };
        let renewed = renewing.renew();
        renewed.map_err(|why| why.fault(&plan.agent_name, &plan.agent, &keys))?;
        if let Some(command) = equip(&plan.agent, &turn, &agent_home, &seen, &keys)? {
            put_command(&command, &plan.agent, &mut spec);
            fs::write(&prompt_file, &command.stdin).map_err(|error| self.io("write", error))?;
            if agent_home.ground.is_none() {
                pass_everything(&mut spec, &command.removed_env);
            }
        } else if agent_home.ground.is_none() {
            pass_everything(&mut spec, &[]);
        }
        if let Some(secs) = plan.task_timeout_secs {
            spec.wall_secs = secs;
        }
        spec.run_id = format!("ralph_{}", self.lease.number);
        spec.cwd.clone_from(&seen.folder);
        self.tell(&mut spec.env);
        if let Some(ground) = &agent_home.ground {
            let cell = Cell {
                ground,
                agent: &plan.agent,
                role: "implementor",
                writes: Writes::Code,
                checkout: root,
                home: &agent_home.host,
                client: &plan.program,
                keys: &keys,
                balance: None,
                layers: None,
            };
            cell.confine(&mut spec)?;
            self.open_door(&mut spec)?;
        }
        Ok(spec)
    }

    /// What an agent is told of its task, besides the prompt.
    fn tell(&self, env: &mut BTreeMap<String, String>) {
        let place = self.tasks.place();
        let told = [
            ("LOOPWRIGHT_TASK_ID", self.task.to_owned()),
            ("LOOPWRIGHT_TASK_CLAIM", self.lease.number.to_string()),
            ("LOOPWRIGHT_TASK_KEY", place.key.clone()),
            ("LOOPWRIGHT_TASK_COMMON", place.common.display().to_string()),
            ("LOOPWRIGHT_TASK_GRAPH", place.graph.display().to_string()),
        ];
        env.extend(told.map(|(name, value)| (name.to_owned(), value)));
        // `loopwright` in the prompt is this very program.
        if let Some(ours) = self.plan.program.parent() {
            let path = env.get("PATH").cloned();
            let path = path.or_else(|| std::env::var("PATH").ok());
            let path = path.unwrap_or_default();
            env.insert("PATH".to_owned(), format!("{path}:{}", ours.display()));
        }
    }

    /// Lets a jailed agent ask for its task to be completed, and lets it use git, without the files by
    /// which git would run something outside.
    fn open_door(&self, spec: &mut RunSpec) -> Result<(), Fault> {
        let requests = self.requests();
        fs::create_dir_all(&requests).map_err(|error| self.io("make", error))?;
        let (name, path) = ("LOOPWRIGHT_TASK_REQUESTS", spec.env.get("PATH").cloned());
        spec.env.insert(name.to_owned(), REQUESTS.to_owned());
        let path = format!("/run/lw:{}", path.unwrap_or_default());
        spec.env.insert("PATH".to_owned(), path);
        let outside = [
            "LOOPWRIGHT_TASK_CLAIM",
            "LOOPWRIGHT_TASK_KEY",
            "LOOPWRIGHT_TASK_COMMON",
        ];
        for name in outside {
            spec.env.remove(name);
        }
        let name = self.tasks.place().name();
        spec.env.insert("LOOPWRIGHT_TASK_GRAPH".to_owned(), name);
        let git = self.git_mounts()?;
        let Some(jail) = &mut spec.jail else {
            return Ok(());
        };
        if !jail
            .mounts
            .iter()
            .any(|mount| mount.inside == Path::new(CLIENT))
        {
            jail.mounts.push(Mount {
                host: self.plan.program.clone(),
                inside: PathBuf::from(CLIENT),
                access: Access::ReadOnly,
            });
        }
        jail.mounts.push(Mount {
            host: requests,
            inside: PathBuf::from(REQUESTS),
            access: Access::Writable,
        });
        jail.mounts.extend(git);
        Ok(())
    }

    /// The work tree for a command, with git's files as an agent sees them.
    fn tree_mounts(&self) -> Result<Vec<Mount>, Fault> {
        let tree = Mount {
            host: self.root.to_owned(),
            inside: PathBuf::from(sandbox::WORKSPACE),
            access: Access::Writable,
        };
        let mut mounts = vec![tree];
        mounts.extend(self.git_mounts()?);
        Ok(mounts)
    }

    /// The repository as an agent sees it.
    fn git_mounts(&self) -> Result<Vec<Mount>, Fault> {
        // The throw-away repository of a checkout of ours is the agent's own.
        if self.plan.parallel > 1 {
            return Ok(Vec::new());
        }
        git_guard::mounts(self.root, &self.tasks.place().common)
    }

    fn io(&self, attempt: &str, error: std::io::Error) -> Fault {
        Fault::io(attempt, self.folder, error)
    }
}

/// Without a jail an agent has what its person has. The values stay out of the run's files: the keeper
/// takes them from its own environment, which is ours.
fn pass_everything(spec: &mut RunSpec, removed: &[String]) {
    for (name, _) in std::env::vars_os() {
        let Ok(name) = name.into_string() else {
            continue;
        };
        let is_free = !removed.contains(&name) && !spec.env.contains_key(&name);
        if is_free && !spec.pass_env.contains(&name) {
            spec.pass_env.push(name);
        }
    }
}
