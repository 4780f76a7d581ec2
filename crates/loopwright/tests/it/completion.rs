//! Tab completion as a real bash has it, and what it asks the program.

use std::path::Path;
use std::process::Command;

use crate::ids::Still;
use crate::support::TestEnv;

/// What bash offers after these words, the last of which is being typed.
fn offered(still: &Still, folder: &str, words: &[&str]) -> Vec<String> {
    let program = Path::new(env!("CARGO_BIN_EXE_loopwright"));
    let script = still.scene.env.run(&["completions", "bash"]).stdout;
    still.scene.env.write("loopwright.bash", script);
    let typed: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let play = format!(
        "source '{}'\nCOMP_WORDS=(loopwright {})\nCOMP_CWORD={}\n_loopwright loopwright\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"",
        still.scene.env.path("loopwright.bash").display(),
        typed.join(" "),
        words.len()
    );
    let mut command = Command::new("bash");
    let path = std::env::var("PATH").unwrap_or_default();
    let folder_of_program = program.parent().expect("a folder").display();
    command
        .args(["--norc", "-c", &play])
        .env_clear()
        .env("HOME", still.scene.env.path(""))
        .env("PATH", format!("{folder_of_program}:{path}"))
        .current_dir(still.scene.env.path(folder));
    let output = still.scene.env.output(&mut command);
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{output:?}"
    );
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.lines()
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn bash_completes_verbs_flags_loops_and_stories() {
    let still = Still::new(&["US-1", "US-2", "other"]);
    let first = still.start();
    let second = still.start();
    let here = |words: &[&str]| offered(&still, "project", words);
    assert_eq!(here(&["stat"]), ["status"]);
    assert_eq!(here(&["prd", "or"]), ["order"]);
    assert_eq!(here(&["nuke", "--fo"]), ["--force"]);
    // The newest first.
    assert_eq!(here(&["status", ""]), [second.as_str(), &first]);
    assert_eq!(
        here(&["pause", &first[..first.len() - 1].to_lowercase()]),
        [first.as_str()]
    );
    assert_eq!(here(&["nuke", "d"]), ["dead"]);
    assert_eq!(here(&["story", "us"]), ["US-1", "US-2"]);
    assert_eq!(here(&["story", &first, ""]), ["US-1", "US-2", "other"]);
    assert_eq!(here(&["diff", "o"]), ["other"]);
    assert_eq!(here(&["logs", "--story", "o"]), ["other"]);
    // Names of files are the shell's own business.
    assert_eq!(here(&["prd", "check", ""]), [""; 0]);

    // Loops of another project come after those of this one.
    let other = Still::new(&["x"]);
    std::fs::rename(other.scene.project(), still.scene.env.path("other")).expect("moved");
    let words = [
        "start",
        "prd.json",
        "--flow",
        "judged",
        "--json",
        "--no-preflight",
    ];
    let third = still.run_in("other", &words);
    let third = third.json()["result"]["loopId"]
        .as_str()
        .expect("an id")
        .to_owned();
    assert_eq!(here(&["status", ""]), [second.as_str(), &first, &third]);
    let there = offered(&still, "other", &["status", ""]);
    assert_eq!(there, [third.as_str(), &second, &first]);
}

#[test]
fn nothing_is_made_and_nothing_is_wrong_where_there_is_nothing_to_say() {
    let env = TestEnv::new();
    for words in [
        &["complete"][..],
        &["complete", "--", "status", ""],
        &["complete", "--", "nonsense", "--more", "x"],
        &["complete", "--", "story", "--json", "u"],
    ] {
        let answer = env.run(words);
        assert!(
            answer.exit == 0 && answer.stderr.is_empty(),
            "{}",
            answer.whole()
        );
    }
    assert!(!env.path(".local").exists(), "whoever types makes no files");
    let said =
        env.run(&["complete", "--", "whe"]).stdout + &env.run(&["complete", "--", "wat"]).stdout;
    assert_eq!(
        said,
        "watch\tFollow a loop in this terminal until it is over or asks; Ctrl-C leaves it running\n"
    );
}

#[test]
fn every_script_asks_the_program() {
    let env = TestEnv::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = env.run(&["completions", shell]).stdout;
        assert!(script.contains(" complete -- "), "{shell}: {script}");
    }
}
