//! What the documents show is what one really sees. `LOOPWRIGHT_UPDATE_DOCS=1` writes the real
//! output into them.

use std::fmt::Write as _;
use std::path::Path;

use crate::support::{TestEnv, project};

/// Compares a document with what was played, or brings it up to date when asked to.
fn settle(path: &Path, played: &str) {
    let written = std::fs::read_to_string(path).expect("a document");
    if std::env::var_os("LOOPWRIGHT_UPDATE_DOCS").is_some() {
        std::fs::write(path, played).expect("written");
    } else {
        assert_eq!(
            written,
            played,
            "{} shows something else than the program prints",
            path.display()
        );
    }
}

/// Runs the `$ loopwright …` lines of one block.
fn play(block: &str, env: &TestEnv) -> String {
    let mut out = String::new();
    for command in block.lines().filter(|line| line.starts_with("$ ")) {
        let words: Vec<&str> = command
            .trim_start_matches("$ ")
            .split_whitespace()
            .collect();
        assert_eq!(
            words.first(),
            Some(&"loopwright"),
            "the tour only runs our own program: {command}"
        );
        let answer = env.run(&words[1..]);
        // In a terminal both come together; talk first, as the program writes it.
        let _ = write!(out, "{command}\n{}{}", answer.stderr, answer.stdout);
    }
    out
}

#[test]
fn the_tour_of_the_readme_is_real() {
    let path = project().join("README.md");
    let readme = std::fs::read_to_string(&path).expect("a README");
    let env = TestEnv::new();
    for name in ["messy.json", "prd.json"] {
        env.write(
            name,
            std::fs::read(project().join("crates/cli/demo/tour").join(name)).expect("a demo file"),
        );
    }
    let mut parts = readme.split("```console\n");
    let mut played = parts
        .next()
        .expect("words before the first block")
        .to_owned();
    let mut blocks = 0;
    for part in parts {
        let (block, rest) = part.split_once("```").expect("a closed block");
        let _ = write!(played, "```console\n{}```{rest}", play(block, &env));
        blocks += 1;
    }
    assert!(blocks >= 3, "the tour has its blocks");
    settle(&path, &played);
}

/// Plays a page whose example is a PRD followed by what `prd check` says of it; nothing for other
/// pages.
fn play_page(page: &str) -> Option<String> {
    let (syntax, at) = ["json", "yaml"]
        .iter()
        .find_map(|syntax| Some((*syntax, page.find(&format!("```{syntax}\n"))?)))?;
    let (before, example) = page.split_at(at);
    let (input, rest) = example.split_once('\n')?.1.split_once("```\n")?;
    let (between, told) = rest.split_once("```text\n")?;
    if !between.trim().is_empty() {
        return None;
    }
    let (_, after) = told.split_once("```")?;
    let (env, name) = (TestEnv::new(), format!("prd.{syntax}"));
    env.write(&name, input);
    let answer = env.run(&["prd", "check", &name]).stderr;
    Some(format!(
        "{before}```{syntax}\n{input}```\n{between}```text\n{}\n```{after}",
        answer.trim_end()
    ))
}

#[test]
fn the_error_pages_show_real_complaints() {
    let mut played = 0;
    for entry in std::fs::read_dir(project().join("docs/errors")).expect("pages") {
        let path = entry.expect("a page").path();
        let page = std::fs::read_to_string(&path).expect("a page");
        let code = path
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        if let Some(real) = play_page(&page) {
            assert!(
                real.contains(&format!("[{code}]: ")),
                "{code}: the example does not show the complaint\n{real}"
            );
            settle(&path, &real);
            played += 1;
        }
    }
    assert!(
        played >= 14,
        "most pages have an example that can be played: {played}"
    );
}

/// Plays every `sh` block of the quickstart in one shell, as somebody would who has never seen the
/// program: a home without anything in it, and nothing but what the page says.
#[test]
fn the_quickstart_leads_to_a_first_loop() {
    let page = std::fs::read_to_string(project().join("docs/quickstart.md")).expect("a page");
    let mut script = "set -eux\n".to_owned();
    for block in page.split("```sh\n").skip(1) {
        script += block.split_once("```").expect("a closed block").0;
    }
    let env = TestEnv::new();
    let bin = Path::new(env!("CARGO_BIN_EXE_loopwright")).parent();
    let mut path = bin.expect("a folder").as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &script]).current_dir(env.path("."));
    shell
        .env_clear()
        .env("HOME", env.path("."))
        .env("PATH", path);
    let output = env.output(&mut shell);
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{stdout}\n{stderr}");
    // The demonstration, the loop, and what the merged program says.
    assert!(stderr.contains("2 passed, 1 skipped"), "{stderr}");
    assert!(stderr.contains("1 passed, 0 skipped"), "{stderr}");
    assert!(stdout.ends_with("Hello, world\n"), "{stdout}");
    let prd = env.read("greeter/prd.json");
    assert!(prd.contains("\"passes\": true"), "{prd}");
}
