//! The cases of `ralph/cases`: scripts that a tester wrote from the outside, without having seen the
//! code. CI plays some of each class, the soak all of them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use crate::sample::sample;
use crate::support::project;

#[test]
fn every_class_of_cases_holds() {
    let folder = project().join("ralph/cases");
    let mut classes: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for entry in std::fs::read_dir(&folder).expect("cases").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some((class, _)) = name.split_once('_') {
            classes
                .entry(class.to_owned())
                .or_default()
                .push(entry.path());
        }
    }
    assert!(classes.len() >= 10, "{:?}", classes.keys());
    for (class, mut cases) in classes {
        cases.sort();
        for case in sample(&class, &cases) {
            play(&case);
        }
    }
}

fn play(case: &PathBuf) {
    let scene = tempfile::tempdir().expect("a folder");
    let output = Command::new("bash")
        .arg(case)
        .env("LOOPWRIGHT", env!("CARGO_BIN_EXE_loopwright"))
        .env("SCENE", scene.path())
        .output()
        .expect("bash");
    let said = String::from_utf8_lossy(&output.stdout);
    let why = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && said.lines().last() == Some("PASS"),
        "{}: {said}\n{why}",
        case.display()
    );
}
