//! `loopwright service`, with a service manager of our own: the machine's is never touched.

#![cfg(target_os = "linux")]

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::support::{Answer, TestEnv};

/// Puts programs on the path that write down how they were called.
fn with_manager(env: &TestEnv, systemctl: &str, loginctl: &str) {
    for (name, body) in [("systemctl", systemctl), ("loginctl", loginctl)] {
        let log = env.path("calls").display().to_string();
        env.write(
            &format!("bin/{name}"),
            format!("#!/bin/sh\necho \"{name} $*\" >> {log}\n{body}\n"),
        );
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(env.path(&format!("bin/{name}")), mode).expect("mode set");
    }
}

fn run(env: &TestEnv, arguments: &[&str]) -> Answer {
    let mut command = env.command(&[&["service"][..], arguments].concat());
    let path = format!(
        "{}:{}",
        env.path("bin").display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let output = command
        .env("PATH", path)
        .env("USER", "somebody")
        .output()
        .expect("ran");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8 output");
    Answer {
        exit: output.status.code().unwrap_or(-1),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

const FILE: &str = ".config/systemd/user/loopwright.service";

#[test]
fn a_service_is_installed_looked_at_and_removed() {
    let env = TestEnv::new();
    with_manager(&env, "exit 0", "echo no");
    let before = run(&env, &["status"]);
    assert!(
        before.exit == 1 && before.stdout.starts_with("not installed: "),
        "{}",
        before.whole()
    );
    let dry = run(&env, &["install", "--print"]);
    assert!(
        dry.exit == 0 && dry.stdout.contains("KillMode=process\n"),
        "{}",
        dry.whole()
    );
    assert!(
        !env.path(FILE).exists() && !env.path("calls").exists(),
        "a dry run changes nothing"
    );
    let installed = run(&env, &["install"]);
    assert_eq!(installed.exit, 0, "{}", installed.whole());
    assert_eq!(
        env.read(FILE),
        dry.stdout,
        "what was shown is what is installed"
    );
    let path = format!("Environment=\"PATH={}:", env.path("bin").display());
    assert!(env.read(FILE).contains(&path), "the path is written out");
    let status = run(&env, &["status", "--json"]);
    assert_eq!(
        (
            status.exit,
            &status.json()["result"]["active"],
            &status.json()["result"]["lingers"]
        ),
        (0, &true.into(), &false.into()),
        "{}",
        status.whole()
    );
    assert_eq!(run(&env, &["uninstall"]).exit, 0);
    assert!(!env.path(FILE).exists());
    assert_eq!(
        run(&env, &["uninstall"]).exit,
        0,
        "removing what is not there is no fault"
    );
    let calls = env.read("calls");
    let calls: Vec<&str> = calls.lines().collect();
    assert_eq!(
        calls,
        [
            "systemctl --user show-environment",
            "systemctl --user daemon-reload",
            "systemctl --user enable loopwright.service",
            "systemctl --user restart loopwright.service",
            "loginctl enable-linger",
            "systemctl --user show-environment",
            "systemctl --user is-active loopwright.service",
            "loginctl show-user somebody --property=Linger --value",
            "systemctl --user show-environment",
            "systemctl --user disable --now loopwright.service",
            "systemctl --user daemon-reload",
        ]
    );
}

#[test]
fn without_a_service_manager_it_is_said_what_to_do() {
    let env = TestEnv::new();
    with_manager(
        &env,
        "echo 'Failed to connect to bus' >&2; exit 1",
        "exit 1",
    );
    let refused = run(&env, &["install"]);
    assert_eq!(refused.exit, 3, "{}", refused.whole());
    assert!(
        refused.stderr.starts_with("error: no systemd listens to this session: Failed to connect to bus\nhelp: in a container, let `loopwright serve` be the main process"),
        "{}",
        refused.whole()
    );
    assert!(!env.path(FILE).exists(), "nothing was written");
    let json = run(&env, &["install", "--json"]).json();
    assert_eq!(
        (&json["ok"], &json["error"]["kind"]),
        (&false.into(), &"environment".into())
    );
}

#[test]
fn a_person_who_may_not_linger_is_told_whom_to_ask() {
    let env = TestEnv::new();
    with_manager(&env, "exit 0", "echo 'Access denied' >&2; exit 1");
    let installed = run(&env, &["install"]);
    assert_eq!(installed.exit, 0, "{}", installed.whole());
    assert!(
        installed.stderr.contains(
            "ask an administrator to run `loginctl enable-linger somebody`: Access denied"
        ),
        "{}",
        installed.whole()
    );
}

/// Where the real one is installed, it agrees with the unit; the worker of the unit is not started.
#[test]
fn systemd_takes_the_unit() {
    let env = TestEnv::new();
    let unit = run(&env, &["install", "--print"]).stdout;
    env.write("loopwright.service", &unit);
    let verify = |file: &str| {
        let mut command = Command::new("systemd-analyze");
        command
            .args(["--user", "verify", "--man=no", file])
            .current_dir(env.path(""));
        command
            .env("HOME", env.path(""))
            .env("XDG_RUNTIME_DIR", env.path(""))
            .output()
    };
    let Ok(verified) = verify("./loopwright.service") else {
        return;
    };
    let said = String::from_utf8_lossy(&verified.stderr).into_owned();
    if said.contains("Failed to initialize manager") {
        return;
    }
    assert_eq!((verified.status.success(), said.as_str()), (true, ""));
    env.write("broken.service", unit.replace("KillMode", "KillMod"));
    let broken = verify("./broken.service").expect("ran");
    assert!(
        String::from_utf8_lossy(&broken.stderr).contains("KillMod"),
        "a slip would have been seen"
    );
}
