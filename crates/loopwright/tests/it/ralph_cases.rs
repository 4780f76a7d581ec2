//! The cases of `ralph/cases`: scripts that a tester wrote from the outside, without having seen the
//! code. CI plays some of each class, the soak all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

use crate::sample::sample;
use crate::support::project;

#[test]
fn every_class_of_cases_holds() {
    let folder = project().join("ralph/cases");
    let known_wrong = std::fs::read_to_string(project().join("ralph/known-wrong.txt"));
    let known_wrong: BTreeSet<String> = known_wrong
        .expect("a list")
        .lines()
        .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
        .collect();
    let mut classes: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for entry in std::fs::read_dir(&folder).expect("cases").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_wrong = known_wrong.contains(name.trim_end_matches(".sh"));
        if let Some((class, _)) = name.split_once('_').filter(|_| !is_wrong) {
            classes
                .entry(class.to_owned())
                .or_default()
                .push(entry.path());
        }
    }
    assert!(classes.len() >= 10, "{:?}", classes.keys());
    let mut faults = Vec::new();
    for (class, mut cases) in classes {
        cases.sort();
        faults.extend(sample(&class, &cases).iter().filter_map(fault_of));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Plays a case, and tells what was wrong.
fn fault_of(case: &PathBuf) -> Option<String> {
    let scene = tempfile::tempdir().expect("a folder");
    let output = Command::new("bash")
        .arg(case)
        .env("LOOPWRIGHT", env!("CARGO_BIN_EXE_loopwright"))
        .env("SCENE", scene.path())
        .output()
        .expect("bash");
    let said = String::from_utf8_lossy(&output.stdout);
    let why = String::from_utf8_lossy(&output.stderr);
    let is_right = output.status.success() && said.lines().last() == Some("PASS");
    (!is_right).then(|| format!("{}: {said}\n{why}", case.display()))
}
