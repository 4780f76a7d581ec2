//! The same scripts without a jail: those that say that they have a control must get through, or
//! their being held would prove nothing.
//!
//! They really do those things, so they do them in namespaces of their own without a network, to
//! folders of the test. Attempts on the proxy are made against one that lets everything through.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::fd::AsRawFd as _;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;
use std::{env, fs, thread};

use testkit::sample_of;

use super::case::Case;
use super::next;
use super::place::Place;

/// Set in the process that is already inside its own namespaces.
const INSIDE: &str = "ESCAPE_CONTROLS_INSIDE";

/// Starts this very test again in namespaces of its own.
fn in_own_namespaces(test: &str) {
    let mut command = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        command.arg("--map-root-user");
    }
    let own = [
        "--mount",
        "--pid",
        "--fork",
        "--mount-proc",
        "--ipc",
        "--net",
        "--uts",
        "--cgroup",
    ];
    let status = command
        .args(own)
        .arg(env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(INSIDE, "1")
        .status()
        .unwrap();
    assert!(status.success(), "the controls failed inside: {status}");
}

fn is_inside() -> bool {
    env::var_os(INSIDE).is_some()
}

/// Runs a case bare and returns its last line.
fn bare(case: &Case, place: &Place, proxy: Option<u16>) -> String {
    let folder = fs::File::open(place.at("op/canary")).unwrap();
    // Given to the script, as a careless program would.
    rustix::io::fcntl_setfd(&folder, rustix::io::FdFlags::empty()).unwrap();
    let output = place.at("output");
    let words = [
        case.interpreter().to_owned(),
        case.path().display().to_string(),
    ];
    let mut command = Command::new(&words[0]);
    command.arg(&words[1]);
    if case.name.starts_with("terminal") {
        command = Command::new("script");
        command.args(["-qec", &words.join(" "), "/dev/null"]);
        command.stdin(Stdio::null());
    } else {
        command.stdin(fs::File::open(place.at("state/run1/prompt.md")).unwrap());
    }
    command
        .current_dir(place.at("state/run1/checkout"))
        .env_clear()
        .envs(place.variables())
        .env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
        .env("HOME", place.at("state/run1/home"))
        .env("CASE_OWN_TTY_ONLY", "1")
        .env("KEEPER_SECRET", "CANARY-ENV")
        .env("ANTHROPIC_API_KEY", "sk-ant-api03-CANARYCANARYCANARY")
        .env("DATABASE_URL", "postgres://u:CANARY@h.invalid/d")
        .envs(small_limits())
        .stdout(fs::File::create(&output).unwrap());
    if let Some(port) = proxy {
        command.env("PROXY", format!("http://127.0.0.1:{port}"));
    }
    // Somebody on the machine who shows the folder on its command line.
    let shown = place.at("state");
    let mut other = Command::new("sh")
        .args(["-c", "sleep 30; :"])
        .arg(shown)
        .spawn()
        .unwrap();
    // Its command line is there only some time after it was started.
    let line = format!("/proc/{}/cmdline", other.id());
    while fs::read(&line).unwrap().is_empty() {
        thread::sleep(Duration::from_millis(1));
    }
    command.status().unwrap();
    other.kill().unwrap();
    other.wait().unwrap();
    assert!(folder.as_raw_fd() > 2);
    let said = String::from_utf8_lossy(&fs::read(output).unwrap()).into_owned();
    let mut lines = said.lines().rev();
    lines
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default()
        .to_owned()
}

/// Small, so that a bare attempt at a limit costs little.
fn small_limits() -> [(&'static str, &'static str); 6] {
    [
        ("LIMIT_MEM_MB", "16"),
        ("LIMIT_PROCS", "20"),
        ("LIMIT_CPU_S", "1"),
        ("LIMIT_NOFILE", "100"),
        ("LIMIT_DISK_MB", "8"),
        ("LIMIT_INODES", "500"),
    ]
}

/// A proxy that answers everything as if it had been let through.
fn open_proxy() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            thread::spawn(move || {
                let mut buffer = [0; 8 * 1024];
                let _ = stream.set_read_timeout(Some(Duration::from_millis(300)));
                while matches!(stream.read(&mut buffer), Ok(1..)) {
                    let answer = b"HTTP/1.1 200 OK\r\n\r\nCANARY\n";
                    if stream.write_all(answer).is_err() {
                        return;
                    }
                }
            });
        }
    });
    port
}

#[test]
fn without_a_jail_the_same_attempts_get_through() {
    if !is_inside() {
        return in_own_namespaces("escape::controls::without_a_jail_the_same_attempts_get_through");
    }
    // A way out that leads nowhere: what goes to others over the loopback is dropped.
    for line in ["link set lo up", "route add default dev lo"] {
        let made = Command::new("ip").args(line.split(' ')).status().unwrap();
        assert!(made.success(), "ip {line}");
    }
    let open = open_proxy();
    // A busy machine may not give it the processor time that it wants to take.
    let is_idle_only = |case: &Case| case.name == "limits-cpu";
    let is_control = |case: &Case| {
        matches!(case.said("control"), Some("bare" | "open-proxy")) && !is_idle_only(case)
    };
    let cases: Vec<Case> = Case::all(&[""]).into_iter().filter(is_control).collect();
    assert!(cases.len() >= 60, "{}", cases.len());
    let waiting = Mutex::new(sample_of("controls", 20, &cases));
    let faults = Mutex::new(Vec::new());
    // Most of them wait for something.
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                while let Some(case) = next(&waiting) {
                    let proxy = (case.said("control") == Some("open-proxy")).then_some(open);
                    let last = bare(&case, &Place::new(), proxy);
                    // A terminal shows what was typed in front of it.
                    if !last.contains("ESCAPED: ") {
                        faults
                            .lock()
                            .unwrap()
                            .push(format!("{}: {last}", case.name));
                    }
                }
            });
        }
    });
    let faults = faults.into_inner().unwrap();
    assert_eq!(faults, Vec::<String>::new());
}
