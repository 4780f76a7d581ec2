//! The escape gallery: every attempt must be held, and every honest program must work.
//!
//! The cases in `tests/escape` were written by somebody who had not seen the code, but for `kit-*`,
//! which repeat the attempts that were made on a prototype. Each is a script that says itself whether
//! it got through; the host checks that nothing outside its checkout has changed and that nothing of
//! it is left. `controls.rs` shows that the same scripts get through without a jail.

mod case;
mod controls;
mod place;

use std::sync::Mutex;
use std::thread;

use case::{Case, Who};
use place::{Place, shared_keeper};
use sandbox::JailKind;
use testkit::sample;

use crate::engines::Engine;

/// Plays all cases of some classes.
fn play(classes: &[&str], who: Who<'_>) {
    play_cases(possible(classes, who), who);
}

/// Plays one case of each class, chosen by a seed; the soak plays all. Other tests make every
/// attempt on the usual jail, so these only look for what differs in another one.
fn play_sample(classes: &[&str], who: Who<'_>) {
    let of_class = |class: &&str| sample(class, &possible(&[class], who));
    play_cases(classes.iter().flat_map(of_class).collect(), who);
}

/// The cases of some classes that can be played there.
fn possible(classes: &[&str], who: Who<'_>) -> Vec<Case> {
    let mut cases = Case::all(classes);
    // The toolchain is in the home of who runs the tests, which a plain user cannot enter; and without
    // control groups memory and processes are polled, so that a moment of them may not be noticed
    // (`a_jail_works_for_a_plain_user` takes its time). A container shows its own `/sys`, read-only;
    // other cases try to use it.
    cases.retain(|case| match who {
        Who::Us => true,
        Who::PlainUser => {
            let is_momentary = ["limits-memory", "limits-processes"].contains(&case.name.as_str());
            case.said("needs") != Some("rust") && !is_momentary
        }
        Who::With(_) => case.name != "kit-sys-and-cgroupfs",
    });
    assert!(!cases.is_empty(), "{classes:?}");
    cases
}

/// Plays cases, several at a time, and reports every fault.
fn play_cases(cases: Vec<Case>, who: Who<'_>) {
    let (waiting, faults) = (Mutex::new(cases), Mutex::new(Vec::new()));
    shared_keeper();
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while let Some(case) = next(&waiting) {
                    let found = faults_of(&case, who);
                    let found = found
                        .into_iter()
                        .map(|fault| format!("{}: {fault}", case.name));
                    faults.lock().unwrap().extend(found);
                }
            });
        }
    });
    assert_eq!(faults.into_inner().unwrap(), Vec::<String>::new());
}

fn next(waiting: &Mutex<Vec<Case>>) -> Option<Case> {
    waiting.lock().unwrap().pop()
}

/// Plays one case on a machine of its own.
fn faults_of(case: &Case, who: Who<'_>) -> Vec<String> {
    let place = Place::new();
    let before = place.digest();
    let played = case.play(&place, who);
    let mut found = case.judge(&played);
    if place.digest() != before {
        found.push("something of the host has changed".to_owned());
    }
    found.extend(upstream_faults(&place));
    if n_left(&place) > 0 {
        found.push("processes are left".to_owned());
    }
    found
}

/// What reached the allowed host must be meant for it.
fn upstream_faults(place: &Place) -> Vec<String> {
    let heads = place.upstream.lock().unwrap();
    let is_bad = |head: &&String| {
        let plain = head.to_ascii_lowercase();
        let is_http = plain.contains("http/1");
        is_http
            && (!plain.contains("\r\nhost: registry.example\r\n")
                || plain.contains("smuggled")
                || plain.contains("evil"))
    };
    heads
        .iter()
        .filter(is_bad)
        .map(|head| format!("upstream saw {head}"))
        .collect()
}

/// Processes that still see the checkout of a case as their workspace.
fn n_left(place: &Place) -> usize {
    let name = place
        .folder
        .path()
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    let is_left = |entry: &std::fs::DirEntry| {
        let mounts = std::fs::read_to_string(entry.path().join("mountinfo")).unwrap_or_default();
        mounts
            .lines()
            .any(|line| line.contains(&name) && line.contains(" /workspace "))
    };
    let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    entries.filter(is_left).count()
}

#[test]
fn files_and_mounts_are_held() {
    play(&["filesystem"], Who::Us);
}

#[test]
fn sockets_memory_and_namespaces_are_held() {
    play(&["ipc", "namespaces"], Who::Us);
}

#[test]
fn limits_are_held() {
    play(&["limits"], Who::Us);
}

#[test]
fn the_network_is_held() {
    play(&["network"], Who::Us);
}

#[test]
fn processes_and_streams_are_held() {
    play(&["processes", "stdio", "terminal"], Who::Us);
}

#[test]
fn secrets_are_held() {
    play(&["secrets"], Who::Us);
}

#[test]
fn the_attempts_on_the_prototype_are_held() {
    play(&["kit"], Who::Us);
}

#[test]
fn honest_programs_work() {
    play(&["honest"], Who::Us);
}

#[test]
fn attempts_of_a_plain_user_are_held() {
    play_sample(&["filesystem", "ipc", "kit"], Who::PlainUser);
}

#[test]
fn further_attempts_of_a_plain_user_are_held() {
    play_sample(
        &["limits", "namespaces", "processes", "stdio", "secrets"],
        Who::PlainUser,
    );
}

#[test]
fn honest_programs_of_a_plain_user_work() {
    play_sample(&["honest"], Who::PlainUser);
}

/// The proxy is the same in every kind of jail, so that attempts on it are not repeated.
const IN_CONTAINERS: [&str; 12] = [
    "filesystem",
    "honest",
    "ipc",
    "kit",
    "limits",
    "namespaces",
    "network-host",
    "network-outside",
    "network-raw",
    "processes",
    "secrets",
    "stdio",
];

#[test]
fn attempts_in_podman_are_held() {
    play_sample(&IN_CONTAINERS, Who::With(&Engine::start(JailKind::Podman)));
}

#[test]
fn attempts_in_docker_are_held() {
    play_sample(&IN_CONTAINERS, Who::With(&Engine::start(JailKind::Docker)));
}
