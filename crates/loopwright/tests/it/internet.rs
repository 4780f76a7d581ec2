//! An internet of a test's own: a network namespace in which the names of the models' makers lead to a
//! public address that the test's model server answers at, by TLS with a certificate of the test's own
//! authority. Nothing in it reaches any other network. It needs root, as making namespaces does.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use crate::support::TestEnv;

/// An address that counts as public. It exists in the namespace only.
const ADDRESS: &str = "11.22.33.44";

/// The makers' hosts, as the real CLIs know them: those of models, and those that give tokens.
const HOSTS: [&str; 5] = [
    "api.openai.com",
    "api.anthropic.com",
    "generativelanguage.googleapis.com",
    "auth.openai.com",
    "platform.claude.com",
];

/// Sets the network and the names up, and becomes the front.
const SETUP: &str = r#"set -e
ip link set lo up
ip addr add "$1/32" dev lo
mount --bind "$2" /etc/hosts
shift 2
exec "$@"
"#;

/// The namespaces, held by the process that speaks TLS in them.
pub(crate) struct Internet {
    front: Child,
    folder: PathBuf,
    authority: PathBuf,
}

impl Internet {
    /// Puts a model server that listens on this machine's loopback behind the makers' names.
    pub(crate) fn before(env: &TestEnv, server_url: &str) -> Self {
        let folder = env.path("internet");
        fs::create_dir(&folder).expect("made");
        make_certificates(&folder);
        let names = HOSTS.map(|host| format!("{ADDRESS} {host}\n")).concat();
        let file = |name: &str| folder.join(name);
        fs::write(file("hosts"), format!("127.0.0.1 localhost\n{names}")).expect("written");
        fs::write(file("front.py"), include_str!("tls_front.py")).expect("written");
        fs::write(file("names"), "").expect("written");
        let address = server_url.trim_start_matches("http://").to_owned();
        relay(&file("socket"), address);
        let mut front = Command::new("unshare")
            .args(["--net", "--mount", "--", "sh", "-c", SETUP, "sh", ADDRESS])
            .arg(file("hosts"))
            .arg("python3")
            .args([file("front.py"), file("leaf.pem"), file("leaf.key")])
            .arg(ADDRESS)
            .args([file("socket"), file("names")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("namespaces can be made");
        let mut said = String::new();
        let stdout = front.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut said).expect("read");
        assert_eq!(said, "ready\n");
        Self {
            front,
            authority: file("ca.pem"),
            folder,
        }
    }

    /// The file with the authority of its certificates.
    pub(crate) fn authority(&self) -> &Path {
        &self.authority
    }

    /// The command as it is run in this network.
    pub(crate) fn run_in(&self, command: &Command, folder: &Path) -> Command {
        let mut inside = Command::new("nsenter");
        inside
            .arg(format!("--target={}", self.front.id()))
            .args(["--net", "--mount"])
            .arg(format!("--wd={}", folder.display()))
            .arg("--")
            .arg(command.get_program())
            .args(command.get_args())
            .env_clear();
        for (name, value) in command.get_envs() {
            if let Some(value) = value {
                inside.env(name, value);
            }
        }
        inside
    }

    /// The names that were asked for by TLS, each once.
    pub(crate) fn asked(&self) -> Vec<String> {
        let text = fs::read_to_string(self.folder.join("names")).expect("read");
        let mut names: Vec<String> = text.lines().map(str::to_owned).collect();
        names.sort();
        names.dedup();
        names
    }
}

impl Drop for Internet {
    fn drop(&mut self) {
        let _ = self.front.kill();
        let _ = self.front.wait();
    }
}

/// Passes connections to a unix socket on to a server of this machine: a socket's path leads out of a
/// network namespace, an address does not.
fn relay(socket: &Path, address: String) {
    let listener = UnixListener::bind(socket).expect("a socket");
    thread::spawn(move || {
        for inside in listener.incoming().flatten() {
            let Ok(server) = TcpStream::connect(&address) else {
                continue;
            };
            let (from, to) = (inside.try_clone(), server.try_clone());
            thread::spawn(move || pass(from, server));
            thread::spawn(move || pass_back(to, inside));
        }
    });
}

fn pass(from: std::io::Result<UnixStream>, mut to: TcpStream) {
    let _ = std::io::copy(&mut from.expect("a stream"), &mut to);
    let _ = to.shutdown(std::net::Shutdown::Write);
}

fn pass_back(from: std::io::Result<TcpStream>, mut to: UnixStream) {
    let _ = std::io::copy(&mut from.expect("a stream"), &mut to);
    let _ = to.shutdown(std::net::Shutdown::Both);
}

/// An authority, and a certificate of it for all hosts.
fn make_certificates(folder: &Path) {
    let hosts = HOSTS.map(|host| format!("DNS:{host}")).join(",");
    let extensions = format!("subjectAltName={hosts}\nbasicConstraints=CA:FALSE\n");
    fs::write(folder.join("leaf.ext"), extensions).expect("written");
    let new_key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    for words in [
        format!("req -x509 {new_key} -days 2 -subj /CN=test-authority -keyout ca.key -out ca.pem"),
        format!("req {new_key} -subj /CN=models -keyout leaf.key -out leaf.csr"),
        "x509 -req -in leaf.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile leaf.ext -out leaf.pem"
            .to_owned(),
    ] {
        let output = Command::new("openssl")
            .args(words.split(' '))
            .current_dir(folder)
            .output()
            .expect("openssl");
        assert!(output.status.success(), "{output:?}");
    }
}
