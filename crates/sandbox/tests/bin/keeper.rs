//! The hidden command `keeper RUN_DIR` as a program of its own, for the tests.
//!
//! `launch RUN_DIR` launches a keeper and then stays alive, so that a test can kill the process
//! that launched it. `probe FILE` writes what a probe of bwrap found, and
//! `strays KIND STATE FILE` removes stray containers. There is no output.
//! `TEST_HOSTS` names the hosts that its proxy knows.

use std::path::Path;
use std::process::ExitCode;
use std::{env, thread};

use sandbox::{ExitOutcome, JailKind, RunSpec, Watch};

fn main() -> ExitCode {
    let mut given = env::args_os();
    let name = given.next().unwrap_or_default();
    match given.next() {
        Some(command) if command == sandbox::SHIM_COMMAND => return sandbox::shim(given),
        Some(command) if command == sandbox::LAYERS_COMMAND => {
            return sandbox::layers_command(&name, given);
        }
        Some(_) | None => {}
    }
    if let Ok(hosts) = env::var("TEST_HOSTS") {
        match serde_json::from_str(&hosts) {
            Ok(hosts) => sandbox::use_test_hosts(hosts),
            Err(_) => return ExitCode::from(70),
        }
    }
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["keeper", run_dir] => keep(Path::new(run_dir)),
        ["launch", run_dir] => launch_and_stay(Path::new(run_dir)),
        ["probe", file] => probe(Path::new(file)),
        ["strays", kind, state, file] => strays(kind, Path::new(state), Path::new(file)),
        _ => ExitCode::from(2),
    }
}

/// Writes what the probe of bwrap found, in a process whose `PATH` a test chose.
fn probe(file: &Path) -> ExitCode {
    let found = format!("{:?}", sandbox::probe(JailKind::Bwrap));
    match std::fs::write(file, found) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(70),
    }
}

/// Removes the strays of an engine, and writes their run folders.
fn strays(kind: &str, state: &Path, file: &Path) -> ExitCode {
    let kind = match kind {
        "podman" => JailKind::Podman,
        _ => JailKind::Docker,
    };
    let removed = sandbox::strays(kind, state).and_then(|found| {
        let mut text = String::new();
        for stray in found {
            sandbox::remove_stray(&stray)?;
            text += &format!("{}\n", stray.run_dir.display());
        }
        std::fs::write(file, text)
    });
    removed.map_or(ExitCode::from(70), |()| ExitCode::SUCCESS)
}

fn keep(run_dir: &Path) -> ExitCode {
    match sandbox::keep(run_dir, watch) {
        ExitOutcome::Relaunched | ExitOutcome::AlreadyKept | ExitOutcome::Ended(_) => {
            ExitCode::SUCCESS
        }
        ExitOutcome::Failed(_) => ExitCode::from(70),
    }
}

/// Ends a program whose output says that it should be, in bytes that may come in several pieces.
fn watch(spec: &RunSpec) -> Option<Watch> {
    let word = spec.stream.clone()?.into_bytes();
    let mut seen: Vec<u8> = Vec::new();
    Some(Box::new(move |bytes| {
        seen.extend_from_slice(bytes);
        seen.windows(word.len()).any(|part| part == word)
    }))
}

fn launch_and_stay(run_dir: &Path) -> ExitCode {
    let launched =
        env::current_exe().is_ok_and(|program| sandbox::launch(&program, run_dir).is_ok());
    if !launched {
        return ExitCode::from(70);
    }
    loop {
        thread::park();
    }
}
