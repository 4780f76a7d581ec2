//! A program in a bwrap jail: what it gets, how it ends, and that nothing of it is left.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use sandbox::{
    Access, Changes, ExitCause, HOME, JailKind, JailRecord, JailSpec, Layers, LimitHit, Limits,
    Mount, Network, RunView, StopSignal, WORKSPACE,
};

use crate::scene::{KEEPER, Scene, is_alive, kill_nine, wait_for};

/// A script in a jail whose checkout is the scene's work folder.
pub(crate) fn jailed(script: &str) -> Scene {
    jailed_with(script, |_| {})
}

pub(crate) fn jailed_with(script: &str, change: impl FnOnce(&mut JailSpec)) -> Scene {
    let scene = Scene::script(script);
    // Shared by all tests: making the folder for `/etc` takes longer than a run.
    let state = Path::new(env!("CARGO_TARGET_TMPDIR")).join("state");
    fs::create_dir_all(&state).unwrap();
    let path = OsStr::new("/usr/local/bin:/usr/bin:/bin");
    let mut mounts = sandbox::system_mounts(path, &BTreeMap::new(), &state).unwrap();
    let work = scene.spec.cwd.clone();
    scene.with(|spec| {
        mounts.push(Mount {
            host: work,
            inside: WORKSPACE.into(),
            access: Access::Writable,
        });
        let mut jail = JailSpec {
            kind: JailKind::Bwrap,
            mounts,
            layers: None,
            network: Network::None,
            limits: Limits::default(),
            image: None,
            version: None,
        };
        change(&mut jail);
        spec.cwd = WORKSPACE.into();
        spec.env.insert("HOME".to_owned(), HOME.to_owned());
        spec.jail = Some(jail);
    })
}

#[test]
fn a_jailed_program_runs_at_the_workspace() {
    let scene = jailed("pwd; id -u; hostname; echo kept > file; echo oops >&2; exit 7").launch();
    let exit = scene.exit();
    assert_eq!(
        (&exit.cause, exit.exit_code, exit.signal),
        (&ExitCause::Exited, Some(7), None),
        "{}",
        scene.captured("stderr")
    );
    assert_eq!(scene.captured("stdout"), "/workspace\n1000\njail\n");
    assert_eq!(scene.captured("stderr"), "oops\n");
    assert_eq!(fs::read_to_string(scene.work("file")).unwrap(), "kept\n");
    assert_eq!((exit.swept, exit.limit), (0, None));
}

/// Cause, exit code and signal of each end, the same as without a jail.
#[test]
fn a_jailed_program_ends_as_it_would_outside() {
    for (script, expected) in [
        ("exit 0", (ExitCause::Exited, Some(0), None)),
        ("exit 137", (ExitCause::Exited, Some(137), None)),
        ("kill -9 $$", (ExitCause::Exited, None, Some(9))),
        ("kill -11 $$", (ExitCause::Exited, None, Some(11))),
    ] {
        let exit = jailed(script).launch().exit();
        assert_eq!(
            (exit.cause, exit.exit_code, exit.signal),
            expected,
            "{script}"
        );
    }
}

#[test]
fn the_input_comes_from_a_file_that_stays_as_it_is() {
    let scene = jailed("cat; echo forged > /proc/self/fd/0");
    let prompt = scene.folder().join("prompt.md");
    fs::write(&prompt, "do this\n").unwrap();
    let scene = scene
        .with(|spec| spec.stdin = Some(prompt.clone()))
        .launch();
    scene.exit();
    assert_eq!(scene.captured("stdout"), "do this\n");
    assert_eq!(fs::read_to_string(prompt).unwrap(), "do this\n");
}

#[test]
fn the_environment_is_the_given_one_alone() {
    let scene = jailed("").with(|spec| {
        spec.program = "env".to_owned();
        spec.args = vec![];
    });
    let scene = scene.launch();
    scene.exit();
    let text = scene.captured("stdout");
    let mut seen: Vec<&str> = text.lines().collect();
    seen.sort_unstable();
    // bwrap itself adds where it starts.
    assert_eq!(
        seen,
        [
            "HOME=/home/agent",
            "PATH=/usr/local/bin:/usr/bin:/bin",
            "PWD=/workspace"
        ]
    );
}

#[test]
fn what_cannot_start_in_a_jail_says_why() {
    let gone = |jail: &mut JailSpec| {
        jail.mounts.push(Mount {
            host: "/no/such/place".into(),
            inside: "/place".into(),
            access: Access::ReadOnly,
        });
    };
    for (scene, expected) in [
        (
            jailed("").with(|spec| spec.program = "no-such-program".to_owned()),
            "cannot start `no-such-program`: No such file",
        ),
        (
            jailed("").with(|spec| spec.program = "/etc/passwd".to_owned()),
            "cannot start `/etc/passwd`: Permission denied",
        ),
        (
            jailed("").with(|spec| spec.cwd = "/no/such/folder".into()),
            "`bwrap` could not make the jail: bwrap: Can't chdir to /no/such/folder",
        ),
        (
            jailed_with("", gone),
            "`bwrap` could not make the jail: bwrap: Can't find source path /no/such/place",
        ),
    ] {
        let exit = scene.launch().exit();
        let ExitCause::CannotStart { why, .. } = exit.cause else {
            panic!("{expected}: {:?}", exit.cause)
        };
        assert!(why.starts_with(expected), "{why}");
        assert_eq!((exit.exit_code, exit.signal), (None, None), "{expected}");
    }
}

/// An agent's next run goes on with the files of the one before it.
#[test]
fn changes_in_layers_are_there_for_the_next_run() {
    let scratch = tempfile::tempdir().unwrap();
    let place = |name: &str| scratch.path().join(name);
    for name in ["at", "lower", "upper", "work"] {
        fs::create_dir(place(name)).unwrap();
    }
    fs::write(place("lower/said"), "below\n").unwrap();
    let layers = Layers {
        at: place("at"),
        lower: vec![place("lower")],
        changes: Some(Changes {
            upper: place("upper"),
            work: place("work"),
        }),
    };
    for n in 1..=3 {
        let scene = jailed_with("echo changed >> said; wc -l < said", |jail| {
            for mount in &mut jail.mounts {
                if mount.inside == Path::new(WORKSPACE) {
                    mount.host.clone_from(&layers.at);
                }
            }
            jail.layers = Some(layers.clone());
        });
        let scene = scene.launch();
        let exit = scene.exit();
        assert_eq!(exit.exit_code, Some(0), "run {n}: {:?}", exit.cause);
        assert_eq!(scene.captured("stdout"), format!("{}\n", n + 1));
    }
    let below = fs::read_to_string(place("lower/said")).unwrap();
    assert_eq!(below, "below\n");
}

#[test]
fn a_jailed_program_is_asked_before_it_is_killed() {
    let tidy = "trap 'exit 3' TERM; echo ready > ready; while :; do sleep 0.02; done";
    let deaf = "trap '' TERM; echo ready > ready; while :; do sleep 0.02; done";
    let plain = "echo ready > ready; exec sleep 300";
    for (script, stop_signal, grace_secs, expected) in [
        (
            tidy,
            StopSignal::Term,
            60,
            (ExitCause::Stopped, Some(3), None),
        ),
        (
            plain,
            StopSignal::Int,
            60,
            (ExitCause::Stopped, None, Some(2)),
        ),
        (
            deaf,
            StopSignal::Term,
            1,
            (ExitCause::Stopped, None, Some(9)),
        ),
    ] {
        let scene = jailed(script).with(|spec| {
            spec.stop_signal = stop_signal;
            spec.grace_secs = grace_secs;
        });
        let scene = scene.launch();
        scene.lines("ready", 1);
        sandbox::request_stop(&scene.run_dir(), "cancelled").unwrap();
        let exit = scene.exit();
        assert_eq!(
            (exit.cause, exit.exit_code, exit.signal),
            expected,
            "{script}"
        );
        assert_eq!(scene.n_jailed(), 0, "{script}");
    }
}

#[test]
fn a_daemon_in_a_jail_ends_with_its_program() {
    let script = "setsid sh -c 'trap \"\" TERM HUP; echo x > daemon; sleep 300' & \
                  until [ -s daemon ]; do sleep 0.02; done";
    let scene = jailed(script).launch();
    let exit = scene.exit();
    assert_eq!((exit.cause, exit.exit_code), (ExitCause::Exited, Some(0)));
    assert!(exit.swept >= 1, "{}", exit.swept);
    assert_eq!(scene.n_jailed(), 0);
}

/// The jail's processes have cleared their environments and left their groups.
#[test]
fn a_jail_ends_with_its_keeper() {
    let script =
        "setsid env -i /bin/sh -c 'trap \"\" TERM HUP; sleep 300' & echo x > ready; sleep 300";
    let scene = jailed(script).launch();
    scene.lines("ready", 1);
    assert!(scene.n_jailed() >= 3);
    let keeper = scene.keeper();
    kill_nine(keeper.pid);
    assert_eq!(scene.look(), RunView::Lost(keeper));
    wait_for("the end of the jail", || {
        (scene.n_jailed() == 0).then_some(())
    });
    assert_eq!(sandbox::sweep(&scene.run_dir()).unwrap(), 0);
}

/// A keeper that is stopped cannot close its line, so only the sweep ends the jail.
#[test]
fn a_sweep_finds_a_jail_by_its_first_process() {
    let scene = jailed("echo x > ready; exec env -i sleep 300").launch();
    scene.lines("ready", 1);
    let record = fs::read(scene.run_dir().join("jail.json")).unwrap();
    let record: JailRecord = serde_json::from_slice(&record).unwrap();
    assert!(is_alive(record.pid));
    let line = fs::read(format!("/proc/{}/cmdline", record.pid)).unwrap();
    assert!(
        line.starts_with(b"/run/lw/shim\0"),
        "{}",
        String::from_utf8_lossy(&line)
    );
    let other = Scene::script("true").prepare();
    // Another folder with the record of this jail stands for a keeper that is lost.
    fs::copy(
        scene.run_dir().join("jail.json"),
        other.run_dir().join("jail.json"),
    )
    .unwrap();
    assert!(sandbox::sweep(&other.run_dir()).unwrap() >= 1);
    assert_eq!(scene.n_jailed(), 0);
    assert_eq!(scene.exit().signal, Some(9));
}

#[test]
fn a_jail_may_lose_its_keeper_at_any_moment() {
    let script = "echo started >> starts; setsid env -i sleep 300 & exec sleep 300";
    for moment in [
        "run/keeper.json",
        "run/alive.sock",
        "run/jail.json",
        "work/starts",
    ]
    .repeat(3)
    {
        let scene = jailed(script).launch();
        crate::scene::spin_until(moment, || {
            scene.folder().join(moment).exists() || scene.folder().join("run/jail.json").exists()
        });
        let keeper = scene.keeper();
        kill_nine(keeper.pid);
        sandbox::sweep(&scene.run_dir()).unwrap();
        wait_for("the end of the jail", || {
            (scene.n_jailed() == 0).then_some(())
        });
        for socket in ["alive.sock", "net.sock"] {
            let is_left = scene.run_dir().join(socket).exists();
            assert!(!is_left, "i11: {socket} after a kill at {moment}");
        }
        let starts = fs::read_to_string(scene.work("starts")).unwrap_or_default();
        assert!(
            starts.is_empty() || starts == "started\n",
            "{moment}: {starts}"
        );
    }
}

#[test]
fn a_limit_is_told() {
    let limits = Limits {
        memory_bytes: Some(64 << 20),
        processes: Some(40),
        cpu_secs: Some(2),
        open_files: Some(64),
        disk_bytes: Some(8 << 20),
        disk_files: Some(200),
    };
    let hungry = "head -c 300000000 /dev/zero | tail > /dev/null";
    let forks = "for i in $(seq 200); do sleep 60 & done; sleep 2; exit 3";
    let spins = "while :; do :; done";
    // Not faster than they are counted: where files are kept in memory, they would fill that first.
    let many = "i=0; while :; do i=$((i+1)); : > f$i; [ $((i%100)) != 0 ] || sleep 0.1; done";
    let parts = "for i in 1 2 3; do head -c 6000000 /dev/zero > part$i; done; sleep 60";
    for (script, expected) in [
        (hungry, Some(LimitHit::Memory)),
        (forks, Some(LimitHit::Processes)),
        (spins, Some(LimitHit::Cpu)),
        (many, Some(LimitHit::Disk)),
        (parts, Some(LimitHit::Disk)),
        ("echo fine", None),
    ] {
        let scene = jailed_with(script, |jail| jail.limits = limits).launch();
        let exit = scene.exit();
        assert_eq!(
            exit.limit,
            expected,
            "{script}: {exit:?} {}",
            scene.captured("stderr")
        );
        assert_eq!(exit.cause, ExitCause::Exited, "{script}");
        assert_eq!(scene.n_jailed(), 0, "{script}");
        let record = fs::read(scene.run_dir().join("jail.json")).unwrap();
        let record: JailRecord = serde_json::from_slice(&record).unwrap();
        assert!(
            !record.cgroups.iter().any(|group| group.exists()),
            "{record:?}"
        );
    }
}

#[test]
fn one_file_cannot_be_larger_than_the_disk_may_be() {
    let limits = Limits {
        disk_bytes: Some(8 << 20),
        ..Limits::default()
    };
    let script = "exec head -c 64000000 /dev/zero > big";
    let scene = jailed_with(script, |jail| jail.limits = limits).launch();
    let exit = scene.exit();
    assert_eq!((exit.signal, exit.limit), (Some(25), Some(LimitHit::Disk)));
    let at_most = (8 << 20) + (1 << 20);
    assert_eq!(fs::metadata(scene.work("big")).unwrap().len(), at_most);
}

/// Without privileges there are no control groups, so the use is watched.
#[test]
fn a_jail_works_for_a_plain_user() {
    let limits = Limits {
        memory_bytes: Some(64 << 20),
        processes: Some(40),
        cpu_secs: Some(60),
        open_files: Some(64),
        disk_bytes: Some(8 << 20),
        disk_files: Some(200),
    };
    let hungry = "x=$(head -c 300000000 /dev/zero | tr '\\0' x); sleep 60";
    let forks = "for i in $(seq 200); do sleep 60 & done; sleep 2; exit 3";
    let files = "exec 9>&1; python3 -c 'import time\nfor n in range(99):\n  try: open(\"/dev/null\").fileno; globals()[\"f%d\"%n]=open(\"/dev/null\")\n  except OSError: time.sleep(2); break'";
    let stays = "setsid env -i sleep 300 & echo kept > file; id -u; exit 7";
    for (script, exit_code, limit) in [
        (stays, Some(7), None),
        (hungry, None, Some(LimitHit::Memory)),
        (forks, None, Some(LimitHit::Processes)),
        (files, Some(0), Some(LimitHit::OpenFiles)),
    ] {
        let scene = jailed_with(script, |jail| jail.limits = limits);
        let scene = scene.keep_as_plain_user();
        let exit = scene.exit();
        let said = scene.captured("stderr");
        assert_eq!(exit.limit, limit, "{script}: {exit:?} {said}");
        assert_eq!(exit.cause, ExitCause::Exited, "{script}: {said}");
        assert_eq!(scene.n_jailed(), 0, "{script}");
        if exit_code.is_some() {
            assert_eq!(exit.exit_code, exit_code, "{script}: {said}");
        }
    }
}

/// What a probe says with the real bwrap, without one, and with one that fails as it does elsewhere.
#[test]
fn a_probe_tells_whether_jails_work() {
    let folder = tempfile::tempdir().unwrap();
    let fake = |name: &str, says: &str| {
        let bin = folder.path().join(name);
        fs::create_dir(&bin).unwrap();
        let script = format!("#!/bin/sh\n[ $1 = --version ] && exec echo bubblewrap 0.9.9\n{says}");
        fs::write(bin.join("bwrap"), script).unwrap();
        fs::set_permissions(bin.join("bwrap"), fs::Permissions::from_mode(0o755)).unwrap();
        bin.to_str().unwrap().to_owned()
    };
    let no_map = "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1";
    let no_proc =
        "echo \"bwrap: Can't mount proc on /newroot/proc: Operation not permitted\" >&2; exit 1";
    for (path, expected) in [
        (
            "/usr/local/bin:/usr/bin:/bin".to_owned(),
            "Ok(Probed { kind: Bwrap",
        ),
        (
            folder.path().to_str().unwrap().to_owned(),
            "Err(MissingProgram { kind: Bwrap })",
        ),
        (fake("ubuntu", no_map), "Err(AppArmor)"),
        (fake("masked", no_proc), "Err(MaskedProc)"),
        (fake("fine", "exit 0"), "Ok(Probed { kind: Bwrap"),
    ] {
        let file = folder.path().join("found");
        let mut command = Command::new(KEEPER);
        command
            .args([OsStr::new("probe"), file.as_os_str()])
            .env("PATH", &path);
        assert!(command.status().unwrap().success());
        let found = fs::read_to_string(file).unwrap();
        assert!(found.starts_with(expected), "{path}: {found}");
    }
}
