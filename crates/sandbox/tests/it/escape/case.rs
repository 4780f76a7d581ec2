//! One case: a script with a head that says what must come out, and its run in a jail.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use sandbox::{
    Access, Allowed, ExitCause, ExitRecord, HOME, JailKind, JailSpec, LimitHit, Limits, Mount,
    Network, ProxySpec, RunSpec, RunView, StopSignal, WORKSPACE,
};
use serde_json::json;

use super::place::{ALLOWED_HOST, Place, shared_keeper};
use crate::engines::{Engine, IMAGE};
use crate::scene::wait_for;

/// What small limits make the cases about limits cheap.
const LIMITS: Limits = Limits {
    memory_bytes: Some(256 << 20),
    processes: Some(200),
    cpu_secs: Some(2),
    open_files: Some(600),
    disk_bytes: Some(64 << 20),
    disk_files: Some(3_000),
};

/// The secrets that the keeper has, and that no jailed program may see.
const KEEPER_SECRETS: [(&str, &str); 3] = [
    ("KEEPER_SECRET", "CANARY-ENV"),
    ("ANTHROPIC_API_KEY", "sk-ant-api03-CANARYCANARYCANARY"),
    ("DATABASE_URL", "postgres://u:CANARY@h.invalid/d"),
];

/// Who runs the keeper, and what makes its jail.
#[derive(Debug, Clone, Copy)]
pub(super) enum Who<'a> {
    Us,
    PlainUser,
    With(&'a Engine),
}

impl Who<'_> {
    pub(super) fn is_plain(self) -> bool {
        matches!(self, Self::PlainUser)
    }
}

#[derive(Debug, Clone)]
pub(super) struct Case {
    pub(super) name: String,
    path: PathBuf,
    head: BTreeMap<String, String>,
}

/// What came of a case.
pub(super) struct Played {
    pub(super) exit: ExitRecord,
    pub(super) stdout: String,
}

impl Case {
    /// The cases whose names begin with one of these words.
    pub(super) fn all(classes: &[&str]) -> Vec<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/escape");
        let mut cases: Vec<Self> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| {
                path.extension()
                    .is_some_and(|end| end == "py" || end == "sh")
            })
            .map(Self::read)
            .filter(|case| classes.iter().any(|class| case.name.starts_with(class)))
            .collect();
        cases.sort_by(|a, b| a.name.cmp(&b.name));
        cases
    }

    fn read(path: PathBuf) -> Self {
        let text = fs::read_to_string(&path).unwrap();
        let line = |line: &str| {
            let (name, value) = line.strip_prefix("# ")?.split_once(": ")?;
            Some((name.to_owned(), value.trim().to_owned()))
        };
        Self {
            name: path.file_stem().unwrap().to_str().unwrap().to_owned(),
            head: text.lines().take(14).filter_map(line).collect(),
            path,
        }
    }

    pub(super) fn said(&self, name: &str) -> Option<&str> {
        self.head.get(name).map(String::as_str)
    }

    /// The program that plays it.
    pub(super) fn interpreter(&self) -> &'static str {
        match self.path.extension().and_then(|end| end.to_str()) {
            Some("py") => "/usr/bin/python3",
            _ => "/bin/bash",
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Plays it in a jail, from beginning to end.
    pub(super) fn play(&self, place: &Place, who: Who<'_>) -> Played {
        let run_dir = place.at("state/run1/run");
        let case = place.at("case");
        fs::copy(&self.path, &case).unwrap();
        sandbox::prepare(&run_dir, &self.spec(place, &case, who)).unwrap();
        let mut keeper = self.keeper(place, who, &run_dir);
        if self
            .said("harness")
            .is_some_and(|harness| harness.starts_with("cancel"))
        {
            let ready = run_dir.join("jail.json");
            wait_for("the jail", || ready.exists().then_some(()));
            // The program must have begun to ignore us.
            let stdout = run_dir.join("stdout");
            let started = Instant::now();
            wait_for("the program", || {
                let is_late = started.elapsed() > Duration::from_secs(2);
                (is_late || fs::metadata(&stdout).is_ok_and(|data| data.len() > 0)).then_some(())
            });
            sandbox::request_stop(&run_dir, "cancelled").unwrap();
        }
        let status = keeper.wait().unwrap();
        assert!(status.success(), "{}: {status}", self.name);
        let RunView::Ended(exit) = sandbox::look(&run_dir).unwrap() else {
            panic!("{}: it has not ended", self.name);
        };
        let stdout = sandbox::output(&run_dir, sandbox::Stream::Stdout).unwrap();
        let stdout = String::from_utf8_lossy(stdout.tail(1 << 16)).into_owned();
        Played { exit, stdout }
    }

    /// Starts a keeper with secrets in its environment and an open folder of the operator.
    fn keeper(&self, place: &Place, who: Who<'_>, run_dir: &Path) -> Child {
        let inner = "exec 9< \"$CANARY_DIR\"; exec \"$KEEPER\" keeper \"$RUN\"";
        let with_terminal = self.name.starts_with("terminal");
        let mut command = Command::new("sh");
        if with_terminal {
            command = Command::new("script");
            command.args(["-qec", "\"$KEEPER\" keeper \"$RUN\" & wait", "/dev/null"]);
        } else if who.is_plain() && rustix::process::geteuid().is_root() {
            let owned = Command::new("chown")
                .args(["-R", "4242:4242"])
                .arg(place.folder.path())
                .status();
            assert!(owned.unwrap().success());
            command = Command::new("setpriv");
            command.args([
                "--reuid=4242",
                "--regid=4242",
                "--clear-groups",
                "--",
                "sh",
                "-c",
                inner,
            ]);
        } else {
            command.args(["-c", inner]);
        }
        let hosts = [80, 443].map(|port| {
            json!({
                "host": ALLOWED_HOST,
                "port": port,
                "address": "93.184.215.14",
                "leads_to": format!("127.0.0.1:{}", place.upstream_port),
            })
        });
        command
            .env("KEEPER", shared_keeper())
            .env("RUN", run_dir)
            .env("CANARY_DIR", place.at("op/canary"))
            .env("TEST_HOSTS", json!(hosts).to_string())
            .envs(KEEPER_SECRETS);
        if let Who::With(engine) = who {
            command.envs(&engine.env);
        }
        command.spawn().unwrap()
    }

    fn spec(&self, place: &Place, case: &Path, who: Who<'_>) -> RunSpec {
        let mut env = place.variables();
        env.extend(environment(who));
        let limits = if self.name.starts_with("limits") {
            LIMITS
        } else {
            // As a real run has them.
            Limits {
                memory_bytes: Some(4 << 30),
                processes: Some(512),
                open_files: Some(4096),
                ..Limits::default()
            }
        };
        RunSpec {
            run_id: self.name.clone(),
            program: self.interpreter().to_owned(),
            args: vec!["/opt/case".to_owned()],
            cwd: WORKSPACE.into(),
            env,
            pass_env: Vec::new(),
            pass_env_file: None,
            marks: Vec::new(),
            unnamed: false,
            stdin: Some(place.at("state/run1/prompt.md")),
            wall_secs: 60,
            idle_secs: None,
            grace_secs: 1,
            output_bytes_max: 1 << 20,
            stop_signal: StopSignal::Term,
            ends_with: None,
            stream: None,
            takes_ports: false,
            unflushed: false,
            jail: Some(JailSpec {
                kind: match who {
                    Who::Us | Who::PlainUser => JailKind::Bwrap,
                    Who::With(engine) => engine.kind,
                },
                mounts: mounts(place, case, who),
                layers: None,
                network: Network::Proxy(ProxySpec {
                    allow: [80, 443]
                        .map(|port| Allowed {
                            host: ALLOWED_HOST.to_owned(),
                            port,
                            may_be_private: false,
                        })
                        .to_vec(),
                    ..ProxySpec::default()
                }),
                limits,
                image: Some(IMAGE.to_owned()),
                version: None,
            }),
        }
    }

    /// What is wrong with what came of it.
    pub(super) fn judge(&self, played: &Played) -> Vec<String> {
        let Played { exit, stdout } = played;
        let last = stdout
            .lines()
            .rev()
            .find(|line| !line.trim().is_empty())
            .unwrap_or_default();
        let is_honest = self.name.starts_with("honest");
        let is_good = if is_honest {
            last.starts_with("WORKS: ")
        } else {
            last.starts_with("HELD: ") && !last.contains("VACUOUS")
        };
        let is_ended = self.said("ends").is_some()
            && !last.starts_with("ESCAPED")
            && (exit.limit.is_some() || exit.cause == ExitCause::Stopped || exit.signal.is_some());
        let mut faults = Vec::new();
        if !is_good && !is_ended {
            faults.push(format!("it says `{last}`, {:?}", exit.cause));
        }
        let code = self.said("exit").map_or(0, |code| code.parse().unwrap());
        if !is_ended && exit.exit_code != Some(code) {
            faults.push(format!(
                "exit code {:?}, signal {:?}",
                exit.exit_code, exit.signal
            ));
        }
        if is_honest && (exit.limit.is_some() || !exit.refused.is_empty()) {
            faults.push(format!(
                "limit {:?}, refused {:?}",
                exit.limit, exit.refused
            ));
        }
        let (limit, amount) = match self.name.as_str() {
            "limits-cpu" => (Some(LimitHit::Cpu), 2.0),
            "limits-memory" => (Some(LimitHit::Memory), 0.0),
            "limits-processes" => (Some(LimitHit::Processes), 150.0),
            "limits-disk" => (Some(LimitHit::Disk), 64.0),
            "limits-inodes-and-names" => (Some(LimitHit::Disk), 3_000.0),
            _ => (None, 0.0),
        };
        // On a busy machine a case may run out of its own time before it has taken so much.
        if limit.is_some() && exit.limit != limit && !is_below(last, amount) {
            faults.push(format!("limit {:?}, it says `{last}`", exit.limit));
        }
        if self.name.starts_with("network-proxy") && exit.refused.is_empty() {
            faults.push("the proxy has noted no refusal".to_owned());
        }
        faults
    }
}

/// The variables of the program itself.
fn environment(who: Who<'_>) -> BTreeMap<String, String> {
    let rustup = std::env::var("RUSTUP_HOME")
        .unwrap_or_else(|_| format!("{}/.rustup", std::env::var("HOME").unwrap_or_default()));
    [
        ("PATH", search_path(who)),
        ("HOME", HOME.to_owned()),
        ("LANG", "C.UTF-8".to_owned()),
        ("TMPDIR", "/tmp".to_owned()),
        ("RUSTUP_HOME", rustup),
        ("LIMIT_MEM_MB", "256".to_owned()),
        ("LIMIT_PROCS", "200".to_owned()),
        ("LIMIT_CPU_S", "2".to_owned()),
        ("LIMIT_NOFILE", "600".to_owned()),
        ("LIMIT_DISK_MB", "64".to_owned()),
        ("LIMIT_INODES", "3000".to_owned()),
        ("LIMIT_OUTPUT_MB", "8".to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

/// Whether a case says that it got less than this.
fn is_below(last: &str, amount: f64) -> bool {
    let said = last
        .strip_prefix("HELD: ")
        .and_then(|rest| rest.split(' ').next());
    said.and_then(|number| number.parse::<f64>().ok())
        .is_some_and(|number| number < amount)
}

/// The programs that honest cases need, as this machine has them.
fn search_path(who: Who<'_>) -> String {
    let cargo = std::env::var("CARGO_HOME")
        .unwrap_or_else(|_| format!("{}/.cargo", std::env::var("HOME").unwrap_or_default()));
    let system = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";
    match who {
        Who::Us | Who::With(_) => format!("{cargo}/bin:{system}"),
        // The toolchain is in our home, which it cannot enter.
        Who::PlainUser => system.to_owned(),
    }
}

fn mounts(place: &Place, case: &Path, who: Who<'_>) -> Vec<Mount> {
    let state = Path::new(env!("CARGO_TARGET_TMPDIR")).join("state");
    fs::create_dir_all(&state).unwrap();
    let mut mounts =
        sandbox::system_mounts(search_path(who).as_ref(), &BTreeMap::new(), &state).unwrap();
    let mut mount = |host: PathBuf, inside: &str, access: Access| {
        mounts.push(Mount {
            host,
            inside: inside.into(),
            access,
        });
    };
    mount(case.to_owned(), "/opt/case", Access::ReadOnly);
    mount(place.at("cache"), "/opt/cache", Access::ReadOnly);
    mount(place.at("state/run1/home"), HOME, Access::Writable);
    mount(place.at("state/run1/checkout"), WORKSPACE, Access::Writable);
    mounts
}
