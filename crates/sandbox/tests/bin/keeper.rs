//! The hidden command `keeper RUN_DIR` as a program of its own, for the tests.
//!
//! `launch RUN_DIR` launches a keeper and then stays alive, so that a test can kill the process
//! that launched it. `probe FILE` writes what a probe of bwrap found. There is no output.
//! `TEST_HOSTS` names the hosts that its proxy knows.

use std::path::Path;
use std::process::ExitCode;
use std::{env, thread};

use sandbox::{ExitOutcome, RunSpec, Watch};

fn main() -> ExitCode {
    let mut given = env::args_os().skip(1);
    if given
        .next()
        .is_some_and(|command| command == sandbox::SHIM_COMMAND)
    {
        return sandbox::shim(given);
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
        _ => ExitCode::from(2),
    }
}

/// Writes what the probe of bwrap found, in a process whose `PATH` a test chose.
fn probe(file: &Path) -> ExitCode {
    let found = format!("{:?}", sandbox::probe(sandbox::JailKind::Bwrap));
    match std::fs::write(file, found) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(70),
    }
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
