//! The keeper's side of one jail: its sockets, its command, what it says, and its limits.
//!
//! The shim is recorded in `jail.json` before the program starts, so that a sweep finds it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Seek as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::Pid;

use super::cgroup::{self, Cgroup, Groups};
use super::container;
use super::lifeline::{Lifeline, Said, listen};
use super::limits::LimitWatch;
use super::processes;
use super::secrets::Secrets;
use super::tree::Tree;
use super::words::Order;
use crate::files::RunFolder;
use crate::jail::{self, FILTER_FD, Jail, LAYERS_COMMAND, OPTIONS_FD};
use crate::proxy::{self, Proxy, Traffic};
use crate::{
    CommandSpec, JailKind, JailRecord, JailSpec, Layers, LimitHit, Network, ProxySpec,
    RUN_DIR_VARIABLE, RunSpec, StopSignal,
};

const ALIVE_NAME: &str = "alive.sock";

const NET_NAME: &str = "net.sock";

const PAUSE: Duration = Duration::from_millis(5);

/// How much is shown of what a jail's program said when it failed.
const SAID_BYTES_MAX: usize = 1_000;

/// One jail, from before its start to after its end.
#[derive(Debug)]
pub(super) struct Jailed {
    kind: JailKind,
    command: CommandSpec,
    layers: Option<Layers>,
    lifeline: Lifeline,
    limits: LimitWatch,
    cgroup: Arc<OnceLock<Cgroup>>,
    proxy: Option<Proxy>,
}

/// Why a jail was not made.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoJail(pub(super) String);

impl From<String> for NoJail {
    fn from(why: String) -> Self {
        Self(why)
    }
}

impl Jailed {
    /// Makes everything ready: the command, the line to the shim, and the watch over the limits.
    pub(super) fn prepare(
        folder: &RunFolder,
        run: &RunSpec,
        spec: &JailSpec,
        env: BTreeMap<String, OsString>,
        secrets: &Secrets,
    ) -> Result<Self, NoJail> {
        let cgroup = Arc::new(OnceLock::new());
        let failed = |error: io::Error| format!("cannot prepare the jail: {error}");
        let proxy = match &spec.network {
            Network::Proxy(rules) => Some(open_proxy(folder, rules, secrets).map_err(failed)?),
            Network::None | Network::Open => None,
        };
        let command = command(folder, run, spec, env)?;
        let admit = {
            let (folder, spec, cgroup) = (folder.clone(), spec.clone(), Arc::clone(&cgroup));
            let env = command.inside_env.clone();
            move |shim| admit(&folder, &spec, shim, &cgroup).map(|()| env)
        };
        let last = Arc::new(OnceLock::new());
        let at_end = {
            let (cgroup, last) = (Arc::clone(&cgroup), Arc::clone(&last));
            move || {
                if let Some(hit) = cgroup.get().and_then(Cgroup::hit) {
                    let _ = last.set(hit);
                }
            }
        };
        let socket = folder.file(ALIVE_NAME);
        let lifeline = Lifeline::open(&socket, admit, at_end).map_err(failed)?;
        let limits = LimitWatch::start(spec, Arc::clone(&cgroup), last).map_err(failed)?;
        Ok(Self {
            kind: spec.kind,
            command,
            layers: spec.layers.clone(),
            lifeline,
            limits,
            cgroup,
            proxy,
        })
    }

    /// Starts the jail's program.
    pub(super) fn spawn(
        &self,
        folder: &RunFolder,
        [stdin, stdout, stderr]: [Stdio; 3],
    ) -> Result<Pid, NoJail> {
        let command = &self.command;
        let failed = |error: io::Error| format!("cannot start `{}`: {error}", self.kind.program());
        let filter = command
            .filter
            .as_deref()
            .map(given)
            .transpose()
            .map_err(failed)?;
        let filter_number = filter.as_ref().map(|file| file.as_raw_fd().to_string());
        let numbered = |args: &[String], options_number: &str| -> Vec<String> {
            let number = |arg: &String| match arg.as_str() {
                FILTER_FD => filter_number.clone().unwrap_or_default(),
                OPTIONS_FD => options_number.to_owned(),
                _ => arg.clone(),
            };
            args.iter().map(number).collect()
        };
        let options = command.options.as_deref().map(|options| {
            let words = numbered(options, "").into_iter();
            given(
                &words
                    .flat_map(|word| [word.as_bytes(), b"\0"].concat())
                    .collect::<Vec<u8>>(),
            )
        });
        let options = options.transpose().map_err(failed)?;
        let options_number = options.as_ref().map(|file| file.as_raw_fd().to_string());
        let mut process = self.process().map_err(failed)?;
        if self.kind == JailKind::Bwrap {
            process.arg0(mark(folder));
        }
        process
            .args(numbered(&command.args, &options_number.unwrap_or_default()))
            .env_clear()
            .envs(&command.env)
            .current_dir(&command.cwd)
            .process_group(0)
            .stdin(stdin)
            .stdout(stdout)
            .stderr(stderr);
        let child = process.spawn().map_err(failed)?;
        Ok(Pid::from_child(&child))
    }

    /// The jail's program; where files are seen in layers, by way of our own.
    fn process(&self) -> io::Result<Command> {
        let Some(layers) = &self.layers else {
            return Ok(Command::new(&self.command.program));
        };
        let mut process = Command::new(our_program()?);
        process
            .arg(LAYERS_COMMAND)
            .arg(serde_json::to_string(layers)?);
        process.arg(&self.command.program);
        Ok(process)
    }

    /// Whether the run must be ended because of a limit, or because it cannot do its work.
    pub(super) fn must_end(&mut self) -> bool {
        if self.proxy.as_ref().is_some_and(Proxy::has_refused_need) {
            return true;
        }
        let shim = self.lifeline.said().shim;
        self.limits.must_end(shim)
    }

    /// Asks the program to end, and waits for at most `grace`.
    ///
    /// It goes through the shim: a signal to bwrap or its group kills everything at once.
    pub(super) fn ask_to_end(&self, tree: &mut Tree, stop_signal: StopSignal, grace: Duration) {
        let order = match stop_signal {
            StopSignal::Term => Order::Term,
            StopSignal::Int => Order::Int,
        };
        if !self.lifeline.order(&order) {
            return;
        }
        let asked = Instant::now();
        while asked.elapsed() < grace && !tree.program_ended() {
            thread::sleep(PAUSE);
            tree.reap();
        }
    }

    /// How it ended, once nothing is left of it. `status` is that of the jail's own program.
    pub(super) fn ended(&self, status: Option<ExitStatus>) -> Ended {
        let Said {
            has_started,
            refusal,
            ended,
            ..
        } = self.lifeline.last_words();
        let status = match ended {
            Some((status, ..)) => Some(status),
            None => status.map(unwrap_status),
        };
        let limit = self.limits.hit(
            status.and_then(|status| status.signal()),
            ended.map_or(0, |(.., n_tasks)| n_tasks),
        );
        let traffic = self.proxy.as_ref().map(Proxy::traffic).unwrap_or_default();
        Ended {
            has_started: has_started || ended.is_some(),
            refusal,
            status,
            n_left: ended.map_or(0, |(_, n_left, _)| n_left),
            limit: limit.or(traffic.is_used_up.then_some(LimitHit::Requests)),
            traffic,
        }
    }

    /// Why the program never ran, and whether a later try may succeed. `stderr` is all that the
    /// jail's own program said.
    pub(super) fn why_not_started(&self, ended: &Ended, stderr: &Path) -> (String, bool) {
        if let Some(refusal) = &ended.refusal {
            return refusal.clone();
        }
        let said = fs::read(stderr).unwrap_or_default();
        let said = String::from_utf8_lossy(&said[..said.len().min(SAID_BYTES_MAX)]);
        let said = said.trim();
        let program = self.kind.program();
        let why = if said.is_empty() {
            format!("`{program}` ended before the program started")
        } else {
            format!("`{program}` could not make the jail: {said}")
        };
        let is_passing = ["Resource temporarily unavailable", "Cannot allocate memory"];
        (why, is_passing.iter().any(|words| said.contains(words)))
    }

    /// Removes what the jail leaves on the host.
    pub(super) fn clean(&self, folder: &RunFolder) {
        if let Some(cgroup) = self.cgroup.get().filter(|_| self.kind == JailKind::Bwrap) {
            cgroup::remove(&cgroup.folders());
        }
        remove_sockets(folder);
        if self.kind != JailKind::Bwrap {
            // `--rm` has removed it already, unless the program that does so was killed.
            let _ = container::remove(self.kind, folder);
        }
    }
}

/// Removes the sockets of a jail, whose keeper may have been killed.
pub(super) fn remove_sockets(folder: &RunFolder) {
    for name in [ALIVE_NAME, NET_NAME] {
        let _ = fs::remove_file(folder.file(name));
    }
}

/// Opens the proxy and its socket.
fn open_proxy(folder: &RunFolder, rules: &ProxySpec, secrets: &Secrets) -> io::Result<Proxy> {
    let key = |name: &str| secrets.value(name)?.into_string().ok();
    let log = folder.file("network.jsonl");
    let ours = Proxy::new(rules, key, proxy::world(), &log)?;
    ours.listen(listen(&folder.file(NET_NAME))?)?;
    Ok(ours)
}

/// The command that makes the jail.
fn command(
    folder: &RunFolder,
    run: &RunSpec,
    spec: &JailSpec,
    env: BTreeMap<String, OsString>,
) -> Result<CommandSpec, NoJail> {
    let program = jail::find_program(spec.kind)
        .ok_or_else(|| format!("`{}` is not installed", spec.kind.program()))?;
    if jail::Machine::ours().is_none() {
        return Err("there is no system call filter for this processor"
            .to_owned()
            .into());
    }
    if folder.path().to_str().is_none() {
        return Err("the path of the run folder is not text".to_owned().into());
    }
    let failed = |error: io::Error| format!("cannot prepare the jail: {error}");
    let shim = our_program().map_err(failed)?;
    let (client_env, container_filter) = match spec.kind {
        JailKind::Bwrap => (BTreeMap::new(), None),
        JailKind::Podman | JailKind::Docker => {
            let file = folder.file("seccomp.json");
            fs::write(&file, jail::container_profile().to_string()).map_err(failed)?;
            (our_environment(), Some(file))
        }
    };
    let net = matches!(spec.network, Network::Proxy(_)).then(|| folder.file(NET_NAME));
    let (alive, name) = (folder.file(ALIVE_NAME), container::name(folder));
    let jail = Jail {
        spec,
        program: &program,
        abilities: jail::abilities(spec.kind, &program, spec.version),
        shim: &shim,
        alive: &alive,
        net: net.as_deref(),
        stdin: run.stdin.as_deref(),
        run_dir: folder.path(),
        name: &name,
        client_env,
        container_filter: container_filter.as_deref(),
    };
    Ok(jail.wrap(CommandSpec {
        program: run.program.clone(),
        args: run.args.clone(),
        env,
        cwd: run.cwd.clone(),
        ..CommandSpec::default()
    }))
}

/// The keeper's own environment: the program that makes containers finds its service by it. It does
/// not enter the container.
fn our_environment() -> BTreeMap<String, OsString> {
    let text = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value));
    std::env::vars_os().filter_map(text).collect()
}

/// How a jailed run ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) has_started: bool,
    /// Why the program never ran, and whether a later try may succeed.
    pub(super) refusal: Option<(String, bool)>,
    pub(super) status: Option<ExitStatus>,
    /// How many processes the program left behind.
    pub(super) n_left: u32,
    pub(super) limit: Option<LimitHit>,
    pub(super) traffic: Traffic,
}

/// A signal that killed the shim itself is an exit code of the jail's program.
fn unwrap_status(status: ExitStatus) -> ExitStatus {
    match status.code() {
        Some(code @ 129..=192) => ExitStatus::from_raw(code - 128),
        _ => status,
    }
}

/// The mark of a run, as the first word of the command line of its jail's program. The sweep finds it
/// there; inside the jail nobody sees it.
pub(super) fn mark(folder: &RunFolder) -> OsString {
    let mut mark = OsString::from(RUN_DIR_VARIABLE);
    mark.push("=");
    mark.push(folder.path());
    mark
}

/// Records the shim and bounds it, before the program starts.
fn admit(
    folder: &RunFolder,
    spec: &JailSpec,
    shim: Option<i32>,
    cgroup: &OnceLock<Cgroup>,
) -> Result<(), String> {
    let Some(shim) = shim.and_then(processes::read) else {
        return Err("cannot find the first process of the jail".to_owned());
    };
    // A container has groups of its own, made by its program.
    let plan = match spec.kind {
        JailKind::Bwrap => Groups::read()
            .ok()
            .and_then(|groups| Cgroup::plan(&groups, &container::name(folder), &spec.limits)),
        JailKind::Podman | JailKind::Docker => None,
    };
    let record = JailRecord {
        kind: spec.kind,
        pid: shim.id.pid,
        start_time: shim.id.start_time,
        cgroups: plan.as_ref().map(Cgroup::folders).unwrap_or_default(),
    };
    folder
        .write_jail(&record)
        .map_err(|error| format!("cannot record the jail: {error}"))?;
    let entered = match spec.kind {
        JailKind::Bwrap => plan.and_then(|plan| plan.enter(shim.id.pid, &spec.limits)),
        JailKind::Podman | JailKind::Docker => {
            let groups = Groups::of(&shim.id.pid.to_string()).ok();
            groups.map(|groups| Cgroup::found(&groups))
        }
    };
    if let Some(entered) = entered {
        let _ = cgroup.set(entered);
    }
    Ok(())
}

/// A file in memory that the next program inherits.
fn given(content: &[u8]) -> io::Result<File> {
    // Without the flag that closes it: nothing else is started meanwhile.
    let mut file = File::from(memfd_create("given", MemfdFlags::empty())?);
    file.write_all(content)?;
    file.rewind()?;
    Ok(file)
}

/// Our own program, also when an upgrade has taken its name away.
fn our_program() -> io::Result<PathBuf> {
    let path = std::env::current_exe()?;
    if path.exists() {
        return Ok(path);
    }
    // Opened by bwrap, which is our child: it cannot use `/proc/self`.
    Ok(PathBuf::from(format!("/proc/{}/exe", std::process::id())))
}
