//! `loopwright explain`, and that nothing else sends people to files which they may not have.

use std::path::Path;

use crate::support::{TestEnv, project};

#[test]
fn every_topic_and_code_has_a_page() {
    let env = TestEnv::new();
    let listed = env.run(&["explain"]).stdout;
    let names: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(
        names.iter().filter(|name| name.starts_with("PRD0")).count(),
        21
    );
    assert!(names.starts_with(&["quickstart", "install"]), "{listed}");
    for name in names {
        let page = env.run(&["explain", &name.to_lowercase()]);
        assert!(
            page.exit == 0 && page.stdout.starts_with("# "),
            "{}",
            page.whole()
        );
        assert!(page.stdout.lines().count() > 5, "{name} has a real page");
        assert!(!page.stdout.contains(".md)"), "{name} leads to a file");
    }
}

#[test]
fn a_page_that_there_is_not_is_refused_with_what_was_meant() {
    let env = TestEnv::new();
    for (wanted, help) in [
        ("PRD999", "`loopwright explain` lists all topics and codes"),
        (
            "configuration",
            "did you mean `config`? `loopwright explain` lists everything",
        ),
    ] {
        let unknown = env.run(&["explain", wanted]);
        assert_eq!(
            unknown.whole(),
            format!(
                "exit 2\n----- stdout\n----- stderr\nerror: there is no page on `{wanted}`\nhelp: {help}\n"
            )
        );
    }
}

/// Lines of a source that may end up in front of a person: neither comments nor tests nor what is
/// read at build time.
fn shown_lines(text: &str) -> impl Iterator<Item = &str> {
    let program = text.split("#[cfg(test)]").next().unwrap_or_default();
    program
        .lines()
        .filter(|line| !line.trim_start().starts_with("//") && !line.contains("include_str!"))
        .filter(|line| !line.contains("concat!("))
}

fn mentions(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            mentions(&path, found);
            continue;
        }
        // What cannot be read as text is not shown to people.
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let lines =
            shown_lines(&text).filter(|line| line.contains("docs/") && line.contains(".md"));
        found.extend(lines.map(|line| format!("{}: {}", path.display(), line.trim())));
    }
}

#[test]
fn no_message_points_to_a_file_that_is_not_installed() {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(project().join("crates")).expect("crates") {
        let folder = entry.expect("a crate").path();
        for part in ["src", "demo"] {
            let folder = folder.join(part);
            if folder.is_dir() {
                mentions(&folder, &mut found);
            }
        }
    }
    // The shipped defaults are read by those who have the sources.
    found.retain(|line| !line.contains("defaults.toml"));
    assert!(
        found.is_empty(),
        "say `loopwright explain TOPIC` instead:\n{}",
        found.join("\n")
    );
}
