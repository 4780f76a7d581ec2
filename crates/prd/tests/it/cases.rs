//! Whole files and the output for them: `cases/NAME` and `cases/NAME.snap`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use prd::{Input, Options, Reading, Syntax, read};

use crate::support::drawn;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).expect("a readable case")
}

/// The diagnostics, then the PRD as it was understood, then everything that was normalised.
fn told(reading: &Reading) -> String {
    let mut out = drawn(reading);
    if let Some(prd) = &reading.prd {
        out += "\n---- understood as\n";
        out += &prd::canonical(prd, Syntax::Yaml);
    }
    if !reading.changes.is_empty() {
        out += "---- normalised\n";
    }
    for change in &reading.changes {
        let _ = writeln!(
            out,
            "{}: {}",
            reading.sources.place(change.at),
            change.describe(&reading.sources)
        );
    }
    out
}

#[test]
fn every_case_is_told_as_expected() {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder())
        .expect("cases")
        .map(|entry| entry.expect("a case").path())
        .collect();
    entries.retain(|path| path.extension().is_none_or(|ending| ending != "snap"));
    // `plans.rs` reads these.
    entries.retain(|path| !path.ends_with("plans"));
    entries.sort();
    assert!(entries.len() >= 20, "the cases are there");
    for path in entries {
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let input = if path.is_dir() {
            let mut files: Vec<PathBuf> = std::fs::read_dir(&path)
                .expect("tickets")
                .map(|entry| entry.expect("a ticket").path())
                .collect();
            files.sort();
            let named = |file: &PathBuf| {
                (
                    format!(
                        "{name}/{}",
                        file.file_name().expect("a name").to_string_lossy()
                    ),
                    bytes(file),
                )
            };
            Input::Tickets {
                name: name.clone(),
                files: files.iter().map(named).collect(),
            }
        } else {
            Input::File {
                name: name.clone(),
                bytes: bytes(&path),
            }
        };
        let reading = read(
            input,
            &Options {
                tools: vec!["house-agent".to_owned()],
                ..Options::default()
            },
        );
        insta::with_settings!({ snapshot_path => folder(), prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(name.as_str(), told(&reading));
        });
    }
}
