//! Container engines that a test or a measurement starts for itself: their own storage, their own
//! service, nothing of the machine's. Other packages include this file, so it uses nothing beside it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use sandbox::JailKind;
use tempfile::TempDir;

/// An image with folders and nothing in them: the tests mount the machine's own system there.
pub(crate) const IMAGE: &str = "localhost/loopwright-tests:1";

/// The folders that mounts need.
const FOLDERS: [&str; 17] = [
    "bin",
    "dev",
    "etc",
    "home/agent",
    "lib",
    "lib32",
    "lib64",
    "libx32",
    "opt",
    "proc",
    "root",
    "run",
    "sbin",
    "sys",
    "tmp",
    "usr",
    "workspace",
];

/// Works where the machine lets nobody raise limits, and with either version of control groups.
const CONTAINERS_CONF: &str = "[containers]\n\
    default_ulimits = [\"nofile=20000:20000\", \"nproc=32768:32768\"]\n\
    [engine]\nruntime = \"runc\"\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"file\"\n";

/// Long enough for any machine: a service that starts later is a fault.
const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) struct Engine {
    pub(crate) kind: JailKind,
    /// The variables by which the engine's program finds its storage or its service.
    pub(crate) env: BTreeMap<String, String>,
    service: Option<Child>,
    folder: TempDir,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.kind.program())
    }
}

impl Engine {
    pub(crate) fn start(kind: JailKind) -> Self {
        let folder = tempfile::Builder::new()
            .prefix("eng")
            .tempdir_in("/var/tmp")
            .unwrap();
        let mut engine = Self {
            kind,
            env: BTreeMap::new(),
            service: None,
            folder,
        };
        match kind {
            JailKind::Podman => engine.configure_podman(),
            JailKind::Docker => engine.start_docker(),
            JailKind::Bwrap => panic!("bwrap is no engine"),
        }
        engine.import();
        engine
    }

    /// The engine's own program, such as `podman ps`.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(self.kind.program());
        command.args(args).envs(&self.env).stdin(Stdio::null());
        command
    }

    fn at(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn configure_podman(&mut self) {
        let storage = format!(
            "[storage]\ndriver = \"overlay\"\ngraphroot = \"{}\"\nrunroot = \"{}\"\n",
            self.at("graph"),
            self.at("run")
        );
        fs::write(self.at("storage.conf"), storage).unwrap();
        fs::write(self.at("containers.conf"), CONTAINERS_CONF).unwrap();
        for (name, file) in [
            ("CONTAINERS_STORAGE_CONF", "storage.conf"),
            ("CONTAINERS_CONF", "containers.conf"),
        ] {
            self.env.insert(name.to_owned(), self.at(file));
        }
    }

    fn start_docker(&mut self) {
        let socket = format!("unix://{}", self.at("docker.sock"));
        let log = fs::File::create(self.at("log")).unwrap();
        let folders = [
            ("--data-root", "data"),
            ("--exec-root", "exec"),
            ("--pidfile", "pid"),
        ];
        let folders = folders.map(|(option, name)| [option.to_owned(), self.at(name)]);
        let service = Command::new("dockerd")
            .args(folders.iter().flatten())
            .args(["-H", &socket, "--oom-score-adjust", "0"])
            .args(["--iptables=false", "--ip6tables=false", "--bridge=none"])
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        self.service = Some(service);
        self.env.insert("DOCKER_HOST".to_owned(), socket);
        let started = Instant::now();
        let answers = || self.command(&["version"]).output().unwrap();
        while !answers().status.success() {
            assert!(started.elapsed() < PATIENCE, "dockerd: waited too long");
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn import(&self) {
        let root = self.folder.path().join("root");
        for folder in FOLDERS {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        let tar = self.at("image.tar");
        let made = Command::new("tar")
            .arg("-C")
            .arg(&root)
            .args(["-cf", &tar, "."])
            .status();
        assert!(made.unwrap().success());
        let imported = self.command(&["import", &tar, IMAGE]).output().unwrap();
        assert!(
            imported.status.success(),
            "{}",
            String::from_utf8_lossy(&imported.stderr)
        );
    }

    /// The names of all containers, running or not.
    pub(crate) fn containers(&self) -> Vec<String> {
        let listed = self
            .command(&["ps", "--all", "--format", "{{.Names}}"])
            .output()
            .unwrap();
        assert!(
            listed.status.success(),
            "{}",
            String::from_utf8_lossy(&listed.stderr)
        );
        String::from_utf8_lossy(&listed.stdout)
            .lines()
            .map(str::to_owned)
            .collect()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        for name in self.containers() {
            let _ = self.command(&["rm", "--force", &name]).output();
        }
        if let Some(service) = &mut self.service {
            // A kind signal: it unmounts what it has mounted.
            let pid = Pid::from_raw(i32::try_from(service.id()).unwrap());
            let _ = kill_process(pid.unwrap(), Signal::TERM);
            let _ = service.wait();
        }
        unmount_below(self.folder.path());
    }
}

/// Storage drivers keep their folder mounted.
fn unmount_below(folder: &Path) {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let points = mounts.lines().filter_map(|line| line.split(' ').nth(4));
    let mut below: Vec<&str> = points
        .filter(|point| Path::new(point).starts_with(folder))
        .collect();
    below.sort_unstable();
    for point in below.iter().rev() {
        let _ = Command::new("umount").args(["-l", point]).output();
    }
}
