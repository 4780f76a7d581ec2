//! The escape gallery: every attempt must be held, and every honest program must work.
//!
//! The cases in `tests/escape` were written by somebody who had not seen the code, but for `kit-*`,
//! which repeat the attempts that were made on a prototype. Each is a script that says itself whether
//! it got through; the host checks that nothing outside its checkout has changed and that nothing of
//! it is left. `controls.rs` shows that the same scripts get through without a jail.

mod case;
mod controls;
mod place;

use case::{Case, Who};
use place::Place;

/// Plays all cases of some classes, and reports every fault.
fn play(classes: &[&str], who: Who) {
    let mut cases = Case::all(classes);
    // The toolchain is in the home of who runs the tests, which a plain user cannot enter.
    cases.retain(|case| who == Who::Us || case.said("needs") != Some("rust"));
    assert!(!cases.is_empty(), "{classes:?}");
    let mut faults = Vec::new();
    for case in cases {
        let place = Place::new();
        let before = place.digest();
        let played = case.play(&place, who);
        let mut found = case.judge(&played);
        if place.digest() != before && who == Who::Us {
            found.push("something of the host has changed".to_owned());
        }
        found.extend(upstream_faults(&place));
        if n_left(&place) > 0 {
            found.push("processes are left".to_owned());
        }
        faults.extend(
            found
                .into_iter()
                .map(|fault| format!("{}: {fault}", case.name)),
        );
    }
    assert_eq!(faults, Vec::<String>::new(), "as {who:?}");
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
    play(&["filesystem", "ipc", "kit"], Who::PlainUser);
}

#[test]
fn further_attempts_of_a_plain_user_are_held() {
    play(
        &["limits", "namespaces", "processes", "stdio", "secrets"],
        Who::PlainUser,
    );
}

#[test]
fn honest_programs_of_a_plain_user_work() {
    play(&["honest"], Who::PlainUser);
}
