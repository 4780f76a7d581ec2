//! The cases of `ralph/cases`: scripts that a tester wrote from the outside, without having seen the
//! code. CI plays some of each class, the soak all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::sample::thrifty_sample;
use crate::support::project;

/// Cases that cost as much as all of another class: most runs of CI take others of their class.
const COSTLY: [&str; 8] = [
    "claim_50_at_once_10_tasks",
    "claim_b2_50_at_once_one_wins",
    "graph_alias_bomb_and_size",
    "graph_cycle",
    "jail_parallel_runs_nothing_of_the_agents_git",
    "lease_owner_killed_between_tasks",
    "names_hostile",
    "names_unicode_and_spaces",
];

fn is_cheap(case: &Path) -> bool {
    let name = case.file_stem().unwrap_or_default().to_string_lossy();
    !COSTLY.contains(&name.as_ref())
}

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
        faults.extend(
            thrifty_sample(&class, &cases, |case| is_cheap(case))
                .iter()
                .filter_map(fault_of),
        );
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
        // Their limits are those of a quiet machine.
        .env("CASE_SLOW", "15")
        .output()
        .expect("bash");
    let said = String::from_utf8_lossy(&output.stdout);
    let why = String::from_utf8_lossy(&output.stderr);
    let is_right = output.status.success() && said.lines().last() == Some("PASS");
    (!is_right).then(|| format!("{}: {said}\n{why}", case.display()))
}
