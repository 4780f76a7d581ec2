//! `loopwright prd …`.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use crate::support::TestEnv;

const SOUND: &str = r#"{
  "project": "Shelf",
  "userStories": [
    { "id": 1, "title": "Add books", "acceptanceCriteria": ["A book can be added"], "passes": true },
    { "id": 2, "title": "Find books", "acceptanceCriteria": ["A book is found"], "dependsOn": [1], "passes": false },
    { "id": 3, "title": "Lend books", "acceptanceCriteria": ["A book is lent"], "dependsOn": [2], "status": "blocked" },
    { "id": 4, "title": "Return books", "acceptanceCriteria": ["A book is back"], "dependsOn": [3] }
  ]
}
"#;

const BROKEN: &str = r#"{
  "stories": [
    { "id": "login-1", "title": "Sign in", "acceptance_criteria": ["One signs in"], },
    { "id": "login-2", "title": "Sign out", "acceptance_criteria": ["One signs out"], "depends_on": ["login-l"] },
    { "id": "login-2", "title": "Again" }
  ]
}
"#;

fn with(name: &str, text: &str) -> TestEnv {
    let env = TestEnv::new();
    env.write(name, text);
    env
}

#[test]
fn check_says_all_that_is_wrong_at_once() {
    insta::assert_snapshot!(
        with("prd.json", BROKEN)
            .run(&["prd", "check", "prd.json"])
            .whole()
    );
}

#[test]
fn check_of_a_sound_prd() {
    insta::assert_snapshot!(
        with("prd.json", SOUND)
            .run(&["prd", "check", "prd.json"])
            .whole()
    );
}

#[test]
fn check_in_json() {
    insta::assert_snapshot!(
        with("prd.json", BROKEN)
            .run(&["prd", "check", "prd.json", "--json"])
            .whole()
    );
}

#[test]
fn check_can_be_strict_and_show_all() {
    let stories: Vec<String> = (0..6)
        .map(|index| format!(r#"{{"id":"s{index}","title":"T"}}"#))
        .collect();
    let env = with("prd.json", &format!("[{}]", stories.join(",")));
    for (arguments, exit, shown) in [
        (&[][..], 0, 3),
        (&["--all"], 0, 6),
        (&["--strict"], 2, 3),
        (&["--strict", "--json"], 2, 0),
    ] {
        let answer = env.run(&[&["prd", "check", "prd.json"][..], arguments].concat());
        assert_eq!(
            (
                answer.exit,
                answer.stderr.matches("warning[PRD007]").count()
            ),
            (exit, shown),
            "{arguments:?}"
        );
    }
}

#[test]
fn what_cannot_be_read_is_prd001() {
    let env = with("sub/notes.txt", "no tickets here");
    for (file, reason) in [
        ("none.json", "there is no such file"),
        ("sub", "the folder holds no Markdown tickets"),
        ("/dev/null", "it is not a regular file"),
    ] {
        let answer = env.run(&["prd", "check", file]);
        assert_eq!(answer.exit, 2, "{file}");
        assert!(
            answer.stderr.starts_with(&format!(
                "error[PRD001]: cannot read `{file}`: {reason}\nhelp: "
            )),
            "{}",
            answer.whole()
        );
        let json = env.run(&["prd", "check", file, "--json"]).json();
        assert_eq!(
            (
                json["ok"].as_bool(),
                json["result"]["diagnostics"][0]["code"].as_str()
            ),
            (Some(false), Some("PRD001"))
        );
    }
}

#[test]
fn show_says_how_a_prd_was_understood() {
    insta::assert_snapshot!(
        with("prd.json", SOUND)
            .run(&["prd", "show", "prd.json"])
            .whole()
    );
}

#[test]
fn show_in_json_holds_the_canonical_form() {
    let json = with("prd.json", SOUND)
        .run(&["prd", "show", "prd.json", "--json"])
        .json();
    assert_eq!(
        json["result"]["prd"]["stories"][1]["depends_on"],
        serde_json::json!(["1"])
    );
    assert_eq!(json["result"]["prd"]["stories"][2]["status"], "blocked");
    assert!(
        json["result"]["changes"]
            .as_array()
            .is_some_and(|changes| changes.len() > 5)
    );
}

#[test]
fn order_as_list_and_as_graphs() {
    let env = with("prd.json", SOUND);
    let answers = [&[][..], &["--format", "dot"], &["--format", "mermaid"]].map(|more| {
        env.run(&[&["prd", "order", "prd.json"], more].concat())
            .whole()
    });
    insta::assert_snapshot!(answers.join("\n==========\n"));
    let json = env.run(&["prd", "order", "prd.json", "--json"]).json();
    assert_eq!(json["result"]["runs"], serde_json::json!(["2"]));
    assert_eq!(
        json["result"]["held"][0],
        serde_json::json!({ "id": "4", "waitsFor": ["3"] })
    );
}

#[test]
fn order_and_fmt_refuse_a_prd_with_errors() {
    let env = with("prd.json", BROKEN);
    for verb in ["order", "fmt"] {
        let answer = env.run(&["prd", verb, "prd.json"]);
        assert_eq!((answer.exit, answer.stdout.as_str()), (2, ""), "{verb}");
        assert!(
            answer.stderr.contains("error[PRD004]") && answer.stderr.contains("error[PRD008]"),
            "{}",
            answer.whole()
        );
    }
}

#[test]
fn fmt_prints_compares_and_writes() {
    let env = with("prd.json", SOUND);
    let printed = env.run(&["prd", "fmt", "prd.json"]);
    insta::assert_snapshot!(printed.whole());
    assert_eq!(env.read("prd.json"), SOUND, "printing writes nothing");
    assert_eq!(env.run(&["prd", "fmt", "prd.json", "--check"]).exit, 1);
    assert_eq!(env.run(&["prd", "fmt", "prd.json", "--write"]).exit, 0);
    assert_eq!(env.read("prd.json"), printed.stdout);
    assert_eq!(env.run(&["prd", "fmt", "prd.json", "--check"]).exit, 0);
    let yaml = env.run(&["prd", "fmt", "prd.json", "--to", "yaml"]).stdout;
    assert!(
        yaml.starts_with("title: Shelf\nstories:\n  - id: \"1\"\n"),
        "{yaml}"
    );
}

#[test]
fn mark_changes_one_state_and_no_other_byte() {
    let env = with("prd.json", SOUND);
    std::fs::set_permissions(env.path("prd.json"), std::fs::Permissions::from_mode(0o640))
        .expect("mode set");
    symlink("prd.json", env.path("link.json")).expect("linked");
    let dry = env.run(&["prd", "mark", "link.json", "2", "--dry-run"]);
    assert_eq!(env.read("prd.json"), SOUND, "a dry run writes nothing");
    let answer = env.run(&["prd", "mark", "link.json", "2"]);
    assert_eq!(answer.whole(), dry.whole());
    insta::assert_snapshot!(answer.whole());
    assert_eq!(
        env.read("prd.json"),
        SOUND.replace("\"passes\": false", "\"passes\": true")
    );
    assert!(env.path("link.json").is_symlink());
    assert_eq!(
        std::fs::metadata(env.path("prd.json"))
            .expect("metadata")
            .permissions()
            .mode()
            & 0o7777,
        0o640
    );
    let again = env.run(&["prd", "mark", "prd.json", "2"]);
    assert_eq!(
        again.whole(),
        "exit 0\n----- stdout\n----- stderr\nprd.json: `2` is passed already\n"
    );
    env.run(&["prd", "mark", "prd.json", "4", "--as", "skipped"]);
    assert!(
        env.read("prd.json")
            .contains(r#""dependsOn": [3], "skipped": true }"#),
        "{}",
        env.read("prd.json")
    );
}

#[test]
fn mark_refuses_an_unknown_story() {
    let answer = with("prd.json", BROKEN).run(&["prd", "mark", "prd.json", "login-9"]);
    assert_eq!(
        answer.whole(),
        "exit 2\n----- stdout\n----- stderr\nerror[PRD020]: there is no story `login-9`\nhelp: a story with a similar id exists: `login-1`\n"
    );
}

#[test]
fn tickets_are_read_and_marked_in_their_folder() {
    let env = TestEnv::new();
    env.write(
        "tickets/a.md",
        "---\nid: T-1\nstatus: complete\n---\n# Ground\n## Acceptance Criteria\n- it lies\n",
    );
    env.write("tickets/b.md", "---\nid: T-2\nstatus: pending\ndepends_on: [T-1]\n---\n# Wall\n## Acceptance Criteria\n- it stands\n");
    assert_eq!(
        env.run(&["prd", "check", "tickets"]).stdout,
        "tickets: 2 stories (1 passed, 1 open), no errors, no warnings\n"
    );
    assert_eq!(
        env.run(&["prd", "mark", "tickets", "T-2"]).stdout,
        "tickets/b.md:3\n- status: pending\n+ status: complete\n"
    );
    assert_eq!(
        env.run(&["prd", "order", "tickets"]).stdout,
        "nothing would run\npassed already: T-1, T-2\n"
    );
}

#[test]
fn standard_input_is_read_and_never_written() {
    let env = TestEnv::new();
    let checked = env.run_with_input(&["prd", "check", "-"], SOUND.as_bytes());
    assert_eq!(
        checked.whole(),
        "exit 0\n----- stdout\n-: 4 stories (1 passed, 2 open, 1 blocked), no errors, no warnings\n----- stderr\n"
    );
    let marked = env.run_with_input(&["prd", "mark", "-", "2"], SOUND.as_bytes());
    assert_eq!(
        (
            marked.exit,
            marked
                .stderr
                .contains("standard input cannot be written back")
        ),
        (2, true),
        "{}",
        marked.whole()
    );
}

#[test]
fn schema_is_json_and_names_the_canonical_keys() {
    let schema: serde_json::Value =
        serde_json::from_str(&TestEnv::new().run(&["prd", "schema"]).stdout).expect("JSON");
    for key in [
        "id",
        "title",
        "description",
        "acceptance_criteria",
        "priority",
        "passes",
        "depends_on",
        "tool",
        "skipped",
    ] {
        assert!(
            schema["$defs"]["story"]["properties"][key].is_object(),
            "{key}"
        );
    }
}

#[test]
fn a_wrong_command_line_says_what_would_be_right() {
    let env = TestEnv::new();
    let answer = env.run(&["prd", "chekc", "x"]);
    assert_eq!(answer.exit, 2);
    assert!(answer.stderr.contains("check"), "{}", answer.whole());
    let json = env.run(&["prd", "check", "--json", "--frob", "x"]).json();
    assert_eq!(
        (json["ok"].as_bool(), json["error"]["kind"].as_str()),
        (Some(false), Some("bad_input"))
    );
    let nothing = env.run(&[]);
    assert!(
        nothing.exit == 2 && nothing.stderr.contains("Usage"),
        "{}",
        nothing.whole()
    );
}

#[test]
fn help_is_whole() {
    let env = TestEnv::new();
    let pages = [
        &["--help"][..],
        &["prd", "--help"],
        &["prd", "check", "--help"],
        &["prd", "mark", "--help"],
        &["prd", "fmt", "--help"],
        &["runs", "--help"],
        &["checkout", "--help"],
    ];
    insta::assert_snapshot!(
        pages
            .map(|page| env.run(page).whole())
            .join("\n==========\n")
    );
}

#[test]
fn help_is_as_wide_as_the_terminal() {
    let env = TestEnv::new();
    for columns in [60, 80, 100] {
        for page in [&["--help"][..], &["start", "--help"], &["runs", "--help"]] {
            let mut command = env.command(page);
            let output = env.output(command.env("COLUMNS", columns.to_string()));
            let text = String::from_utf8(output.stdout).expect("UTF-8");
            // An example is a line to copy.
            let (text, examples) = text.split_once("Examples:").unwrap_or((&text, ""));
            let widest = text.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(columns), "{page:?}: {widest:?}\n{text}");
            assert!(widest > Some(columns / 2), "{page:?}: {widest:?}\n{text}");
            assert_eq!(examples.is_empty(), page.len() == 1, "{page:?}");
        }
    }
}

#[test]
fn completions_exist_for_the_common_shells() {
    let env = TestEnv::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let answer = env.run(&["completions", shell]);
        assert!(
            answer.exit == 0 && answer.stdout.contains("loopwright"),
            "{shell}"
        );
    }
}

#[test]
fn colours_come_only_when_asked_for() {
    let env = with("prd.json", BROKEN);
    assert!(
        !env.run(&["prd", "check", "prd.json"])
            .stderr
            .contains('\u{1b}')
    );
    assert!(
        env.run(&["prd", "check", "prd.json", "--color", "always"])
            .stderr
            .contains("\u{1b}[1;31merror[PRD004]")
    );
}

#[test]
fn a_file_that_cannot_be_written_is_said_and_left_alone() {
    let env = with("closed/prd.json", SOUND);
    // Root may write everywhere; a folder in the place of the scratch file stops it too.
    env.write("closed/.prd.json.loopwright-new/x", "");
    let answer = env.run(&["prd", "mark", "closed/prd.json", "2"]);
    assert_eq!(answer.exit, 3, "{}", answer.whole());
    assert!(
        answer
            .stderr
            .contains("error: cannot write `closed/prd.json`: cannot clear away"),
        "{}",
        answer.whole()
    );
    assert_eq!(env.read("closed/prd.json"), SOUND);
}

/// Waits until the program has the file open without having read from it: then it waits for the
/// lock that we hold.
#[cfg(target_os = "linux")]
fn wait_until_it_waits(child: &std::process::Child, file: &std::path::Path) {
    let folder = format!("/proc/{}/fd", child.id());
    let holds_unread = || {
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        entries
            .filter(|entry| std::fs::read_link(entry.path()).is_ok_and(|target| target == file))
            .any(|entry| {
                let number = entry.file_name().to_string_lossy().into_owned();
                let info = std::fs::read_to_string(format!("/proc/{}/fdinfo/{number}", child.id()));
                info.is_ok_and(|info| info.starts_with("pos:\t0\n"))
            })
    };
    let mut seen = 0;
    while seen < 10 {
        seen = if holds_unread() { seen + 1 } else { 0 };
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

/// One round: the file changes between the program's reading and writing. Says what the program
/// answered.
#[cfg(target_os = "linux")]
fn change_under_its_hands(edited: &str) -> (Option<i32>, String, String) {
    let env = with("prd.json", SOUND);
    let path = env.path("prd.json").canonicalize().expect("the file");
    let held = std::fs::File::open(&path).expect("opened");
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).expect("locked");
    let mut command = env.command(&["prd", "mark", "prd.json", "2"]);
    let child = command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("started");
    wait_until_it_waits(&child, &path);
    env.write("prd.json", edited);
    drop(held);
    let output = child.wait_with_output().expect("ended");
    let told = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    (output.status.code(), told, env.read("prd.json"))
}

#[cfg(target_os = "linux")]
#[test]
fn mark_refuses_a_file_that_changed_meanwhile() {
    let edited = SOUND.replace("Find books", "Find many books");
    let told = "error[PRD019]: `prd.json` changed while it was being worked on; nothing was written\n\
                help: run the command again: it will read the file anew\n";
    // Should the machine stall between the program's first opening and reading, it reads the edit:
    // then once more.
    let rounds = (0..5).map(|_| change_under_its_hands(&edited));
    let refused = rounds.into_iter().find(|(exit, _, _)| *exit != Some(0));
    assert_eq!(refused, Some((Some(2), told.to_owned(), edited)));
}

#[test]
fn an_agent_that_is_configured_beside_the_prd_is_known() {
    let env = TestEnv::new();
    let prd = r#"{ "stories": [{ "id": "a", "title": "A", "tool": "builder", "acceptanceCriteria": ["it is there"] }] }"#;
    env.write("shop/prd.json", prd);
    let unknown = env.run(&["prd", "check", "shop/prd.json"]);
    assert!(unknown.whole().contains("PRD011"), "{}", unknown.whole());
    env.write(
        "shop/loopwright.toml",
        "[agents.builder]\ncommand = [\"sh\", \"build.sh\"]\n",
    );
    let known = env.run(&["prd", "check", "shop/prd.json"]);
    assert!(!known.whole().contains("PRD011"), "{}", known.whole());
    assert_eq!(known.exit, 0, "{}", known.whole());
}
