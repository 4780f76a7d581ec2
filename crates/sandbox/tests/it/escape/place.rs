//! A machine with something to steal: an operator's folder, a state folder, another checkout, and
//! services on the loopback. One for each case, so that nothing of a case is left for the next.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{Read as _, Write};
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{SocketAddr as UnixAddress, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Command, id};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

use tempfile::TempDir;

use crate::scene::KEEPER;

/// Abstract sockets have one namespace for all places of this process.
static NAMES: AtomicU64 = AtomicU64::new(0);

pub(super) const ALLOWED_HOST: &str = "registry.example";

pub(super) struct Place {
    pub(super) folder: TempDir,
    pub(super) host_port: u16,
    pub(super) upstream_port: u16,
    /// What the server behind the allowed host was asked.
    pub(super) upstream: Arc<Mutex<Vec<String>>>,
    shm: Option<String>,
    abstract_name: String,
    _sockets: UnixListener,
}

impl Place {
    pub(super) fn new() -> Self {
        let folder = tempfile::Builder::new()
            .prefix("esc")
            .tempdir_in(base())
            .unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let at = |path: &str| folder.path().join(path);
        for path in [
            "op/canary",
            "state/run1",
            "state/run2/checkout",
            "state/run1/checkout",
            "state/run1/home",
            "cache",
        ] {
            fs::create_dir_all(at(path)).unwrap();
        }
        for (path, text) in [
            ("op/secret", "CANARY-SECRET refresh_token=abcdefgh1234\n"),
            ("op/canary/kept", "CANARY-KEPT\n"),
            ("state/journal.db", "CANARY-JOURNAL\n"),
            ("state/run2/checkout/secret", "CANARY-OTHER\n"),
            ("state/run1/prompt.md", "the prompt\n"),
            ("cache/crate", "clean\n"),
        ] {
            fs::write(at(path), text).unwrap();
        }
        for path in [
            "op/canary/repo",
            "state/run2/checkout",
            "state/run1/checkout",
        ] {
            let made = Command::new("git")
                .args(["init", "-q"])
                .arg(at(path))
                .status()
                .unwrap();
            assert!(made.success());
        }
        let shared = Path::new("/dev/shm").join(folder.path().file_name().unwrap());
        fs::write(&shared, "CANARY-SHM\n").unwrap();
        let sockets = UnixListener::bind(at("state/host.sock")).unwrap();
        let accepting = sockets.try_clone().unwrap();
        serve(move || accepting.accept().ok().map(|(stream, _)| stream));
        let abstract_name = format!("escape-{}-{}", id(), NAMES.fetch_add(1, Ordering::Relaxed));
        let address = UnixAddress::from_abstract_name(&abstract_name).unwrap();
        let listener = UnixListener::bind_addr(&address).unwrap();
        serve(move || listener.accept().ok().map(|(stream, _)| stream));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host_port = listener.local_addr().unwrap().port();
        serve(move || listener.accept().ok().map(|(stream, _)| stream));
        let (upstream_port, upstream) = upstream();
        Self {
            folder,
            host_port,
            upstream_port,
            upstream,
            shm: shared_memory(),
            abstract_name,
            _sockets: sockets,
        }
    }

    pub(super) fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// What a case is told about the machine.
    pub(super) fn variables(&self) -> BTreeMap<String, String> {
        let path = |path: &str| self.at(path).to_str().unwrap().to_owned();
        [
            ("CANARY_DIR", path("op/canary")),
            ("CANARY_SECRET_FILE", path("op/secret")),
            ("HOST_PID", id().to_string()),
            ("HOST_PORT", self.host_port.to_string()),
            ("HOST_SOCKET", path("state/host.sock")),
            ("HOST_ABSTRACT", self.abstract_name.clone()),
            ("STATE_DIR", path("state")),
            ("OTHER_CHECKOUT", path("state/run2/checkout")),
            ("CACHE", path("cache/crate")),
            ("ALLOWED_HOST", ALLOWED_HOST.to_owned()),
            ("HOST_SHM_ID", self.shm.clone().unwrap_or_default()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }

    /// Everything that no case may change, with modes, owners and contents.
    pub(super) fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for part in [
            "op",
            "cache",
            "state/journal.db",
            "state/run2",
            "state/run1/prompt.md",
        ] {
            walk(&self.at(part), &mut hasher);
        }
        let mut names: Vec<_> = fs::read_dir(self.at("state"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        names.hash(&mut hasher);
        hasher.finish()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(shm) = &self.shm {
            let _ = Command::new("ipcrm").args(["-m", shm]).status();
        }
        let _ =
            fs::remove_file(Path::new("/dev/shm").join(self.folder.path().file_name().unwrap()));
        // Cases leave folders that nobody may enter.
        let _ = Command::new("chmod")
            .args(["-R", "u+rwX"])
            .arg(self.folder.path())
            .output();
    }
}

/// A folder that a plain user can reach and that no jail replaces with its own, as it does with
/// `/tmp` and `/var/tmp`.
fn base() -> &'static Path {
    let is_open = |folder: &Path| {
        folder
            .ancestors()
            .all(|above| fs::metadata(above).is_ok_and(|data| data.mode() & 0o005 == 0o005))
    };
    let is_replaced = |folder: &Path| {
        ["/tmp", "/var/tmp", "/dev"]
            .iter()
            .any(|place| folder.starts_with(place))
    };
    let ours = Path::new(env!("CARGO_TARGET_TMPDIR"));
    if is_open(ours) && !is_replaced(ours) {
        ours
    } else {
        Path::new("/opt")
    }
}

/// The keeper's program where a plain user can start it. It is copied once, before anything is started:
/// a program that is still open for writing somewhere cannot be.
pub(super) fn shared_keeper() -> &'static Path {
    static COPY: OnceLock<TempDir> = OnceLock::new();
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    FILE.get_or_init(|| {
        let folder = COPY.get_or_init(|| {
            let folder = tempfile::Builder::new()
                .prefix("kee")
                .tempdir_in(base())
                .unwrap();
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
            folder
        });
        let file = folder.path().join("keeper");
        fs::copy(KEEPER, &file).unwrap();
        file
    })
}

fn walk(path: &Path, hasher: &mut DefaultHasher) {
    let data = fs::symlink_metadata(path).unwrap();
    (path, data.mode(), data.size() * u64::from(data.is_file())).hash(hasher);
    if data.is_dir() {
        let mut below: Vec<_> = fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        below.sort();
        for path in below {
            walk(&path, hasher);
        }
    } else if data.is_file() {
        fs::read(path).unwrap().hash(hasher);
    } else if data.is_symlink() {
        fs::read_link(path).unwrap().hash(hasher);
    }
}

/// Answers everybody with a canary, as a service of the host would.
fn serve<S: Write>(accept: impl Fn() -> Option<S> + Send + 'static) {
    thread::spawn(move || {
        while let Some(mut stream) = accept() {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nCANARY\n");
        }
    });
}

/// The server behind the allowed host. It keeps the head of every request.
fn upstream() -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let heads: Arc<Mutex<Vec<String>>> = Arc::default();
    let kept = Arc::clone(&heads);
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let kept = Arc::clone(&kept);
            thread::spawn(move || {
                let mut head = Vec::new();
                let mut byte = [0];
                while !head.ends_with(b"\r\n\r\n") && matches!(stream.read(&mut byte), Ok(1)) {
                    head.push(byte[0]);
                }
                let head = String::from_utf8_lossy(&head).into_owned();
                let to = head
                    .split_once("?to=")
                    .and_then(|(_, rest)| rest.split(' ').next());
                let path = head.split(' ').nth(1).unwrap_or_default();
                let is_known = path == "/" || path == "/first";
                let answer = match to {
                    None if !is_known => {
                        "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_owned()
                    }
                    Some(to) => {
                        format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n")
                    }
                    None => "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n".to_owned(),
                };
                kept.lock().unwrap().push(head);
                let _ = stream.write_all(answer.as_bytes());
            });
        }
    });
    (port, heads)
}

/// The id of shared memory of the host.
fn shared_memory() -> Option<String> {
    let made = Command::new("ipcmk").args(["-M", "4096"]).output().ok()?;
    let text = String::from_utf8_lossy(&made.stdout).into_owned();
    text.split_whitespace().last().map(str::to_owned)
}
