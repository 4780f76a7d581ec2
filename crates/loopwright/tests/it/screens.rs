//! What people see: aligned tables as wide as the terminal, with and without colours. The page
//! `docs/screens.md` is played; `LOOPWRIGHT_UPDATE_DOCS=1` writes what is really seen into it.

use std::fmt::Write as _;

use crate::prepared::prepared_as;
use crate::scene::Scene;
use crate::support::{Answer, TestEnv, project};

/// Eleven loops of an older version, which nobody goes on with: their projects are elsewhere.
fn old_loops() -> TestEnv {
    let env = TestEnv::new();
    std::fs::create_dir_all(env.path("home")).expect("a folder");
    let fixture = "crates/loopwright/tests/fixtures/journals/journal.db";
    std::fs::copy(project().join(fixture), env.path("home/journal.db")).expect("copied");
    env
}

/// What is seen on a terminal of so many columns, somewhere an hour ahead of UTC.
fn seen(env: &TestEnv, columns: &str, words: &[&str]) -> Answer {
    let mut command = env.command(words);
    command.env("TZ", "CET-1").env("LOOPWRIGHT_WAKE", "off");
    if env.path("home").exists() {
        command.env("LOOPWRIGHT_HOME", env.path("home"));
    }
    if !columns.is_empty() {
        command.env("COLUMNS", columns);
    }
    let output = env.output(&mut command);
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8 output");
    Answer {
        exit: output.status.code().unwrap_or(-1),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

#[test]
fn the_page_of_screens_is_real() {
    let path = project().join("docs/screens.md");
    let page = std::fs::read_to_string(&path).expect("a page");
    let env = old_loops();
    let mut parts = page.split("```console ");
    let mut played = parts.next().expect("words before the first").to_owned();
    let mut n_screens = 0;
    for part in parts {
        let (block, rest) = part.split_once("```").expect("a closed block");
        let (columns, block) = block.split_once('\n').expect("a width");
        let line = block.lines().next().expect("a command");
        let words: Vec<&str> = line.split_whitespace().skip(2).collect();
        let answer = seen(&env, columns, &words);
        assert_eq!(answer.exit, 0, "{}", answer.whole());
        // Lines of progress are not part of a table, and are whole.
        let tables = answer
            .stdout
            .lines()
            .filter(|line| !line.starts_with("  20"));
        let widest = tables.map(|line| line.chars().count()).max();
        let most = columns.parse().expect("a number");
        assert!(widest <= Some(most), "{line}: {widest:?} of {most}");
        let _ = write!(
            played,
            "```console {columns}\n{line}\n{}```{rest}",
            answer.stdout
        );
        n_screens += 1;
    }
    assert!(n_screens >= 7, "the page has its screens");
    if std::env::var_os("LOOPWRIGHT_UPDATE_DOCS").is_some() {
        std::fs::write(&path, &played).expect("written");
    }
    let written = std::fs::read_to_string(&path).expect("a page");
    assert_eq!(written, played, "docs/screens.md shows something else");
}

/// Escapes in a form that a snapshot can show.
fn visible(text: &str) -> String {
    text.replace('\u{1b}', "^")
}

#[test]
fn states_are_coloured_where_that_is_wanted() {
    let env = old_loops();
    let coloured = |words: &[&str]| seen(&env, "80", &[words, &["--color", "always"]].concat());
    let lists = [
        &["list"][..],
        &["runs", "bkh41p", "--role", "judge"],
        &["status", "bkh41p"],
    ];
    let shown = lists.map(|words| visible(&coloured(words).stdout));
    insta::assert_snapshot!(shown.join("\n==========\n"));
    // Taken away, the colours leave what is seen without them.
    for words in lists {
        let plain = seen(&env, "80", words).stdout;
        assert!(!plain.contains('\u{1b}'), "{plain}");
        let mut bare = coloured(words).stdout;
        for code in ["0", "2", "31", "32", "33", "36"] {
            bare = bare.replace(&format!("\u{1b}[{code}m"), "");
        }
        assert_eq!(bare, plain, "{words:?}");
    }
}

#[test]
fn a_pipe_has_whole_records_and_no_headings() {
    let env = old_loops();
    let list = seen(&env, "", &["list"]).stdout;
    assert_eq!(list.lines().count(), 11, "{list}");
    assert!(
        list.lines().all(|line| line.contains("/fixture/all/")),
        "{list}"
    );
    assert!(
        list.contains("2026-11-16 15:48 +01:00"),
        "local times with their zone: {list}"
    );
}

#[test]
fn loops_that_need_a_person_come_first_and_say_how_much_they_ask() {
    let env = old_loops();
    for words in [&["list"][..], &["status"]] {
        let list = seen(&env, "", words).stdout;
        let lines: Vec<&str> = list.lines().collect();
        for line in &lines[..2] {
            assert!(
                line.contains("needs_human") && line.contains("0/2 passed, asks: 1"),
                "{list}"
            );
        }
        assert_eq!(list.matches("asks: ").count(), 2, "{list}");
        let rest: Vec<&str> = lines[2..].iter().map(|line| &line[..26]).collect();
        assert!(rest.is_sorted(), "the others stay in order: {list}");
    }
}

/// A loop that goes on beside a question is found too.
#[test]
fn a_running_loop_that_asks_comes_before_an_older_one() {
    let scene = Scene::new(&["done"]);
    assert_eq!(scene.start(&["--foreground"]).exit, 0);
    let older = scene.status()["loopId"].clone();
    scene.env.write(
        "agents/implement.sh",
        r#"cat > /dev/null
if [ "$LOOPWRIGHT_STORY_ID" = one ]; then echo '{"question": "which?"}'; exit; fi
while [ ! -e "$STARTS-go" ]; do sleep 0.05; done
echo x > x
"#,
    );
    scene.env.write(
        "project/more.json",
        r#"{ "stories": [
            { "id": "one", "title": "One", "acceptance_criteria": ["it is there"] },
            { "id": "two", "title": "Two", "acceptance_criteria": ["it is there"] }
        ] }"#,
    );
    let words = [
        "start",
        "--project",
        "project",
        "--prd",
        "project/more.json",
    ];
    let started = scene.env.run(&[&words[..], &["--parallel", "2"]].concat());
    assert_eq!(started.exit, 0, "{}", started.whole());
    let view = scene.wait_for_view("a question", |view| view["questions"][0].is_object());
    assert_eq!(view["status"], "running", "{view}");
    let list = scene.env.run(&["list"]).stdout;
    let first = list.lines().next().unwrap_or_default();
    let id = view["loopId"].as_str().expect("an id");
    assert!(
        first.starts_with(id) && first.contains("running") && first.contains("asks: 1"),
        "{list}"
    );
    assert!(list.contains(older.as_str().expect("an id")), "{list}");
    scene.env.write("starts-go", "");
    scene.wait_for(&["needs_human"]);
}

#[test]
fn wide_letters_leave_columns_aligned() {
    let scene = Scene::new(&["one"]);
    scene.env.write(
        "project/prd.json",
        r#"{ "stories": [
            { "id": "a", "title": "短い", "acceptance_criteria": ["it is there"] },
            { "id": "long-id", "title": "とても長いタイトルでどの端末にも入らないものがここにあります、本当に", "acceptance_criteria": ["it is there"] },
            { "id": "c", "title": "plain", "acceptance_criteria": ["it is there"], "depends_on": ["a"] }
        ] }"#,
    );
    let id = prepared_as(&scene, "01AAAAAAAAAAAAAAAAAAAAAAAA");
    let narrow = seen(&scene.env, "60", &["status", &id]).stdout;
    let lines: Vec<&str> = narrow
        .lines()
        .filter(|line| line.starts_with("  "))
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn runs_of_all_loops_are_filtered() {
    let env = old_loops();
    let runs = |words: &[&str]| {
        let answer = seen(&env, "", &[&["runs", "--json"], words].concat());
        assert_eq!(answer.exit, 0, "{}", answer.whole());
        let runs = answer.json()["result"]["runs"].clone();
        runs.as_array().expect("runs").clone()
    };
    let all = runs(&[]);
    assert_eq!(all.len(), 50, "the newest, and no more");
    let started: Vec<&str> = all
        .iter()
        .filter_map(|run| run["startedAt"].as_str())
        .collect();
    assert!(
        started.is_sorted_by(|one, other| one >= other),
        "the newest first: {started:?}"
    );
    let loops: std::collections::BTreeSet<&str> = all
        .iter()
        .filter_map(|run| run["loopId"].as_str())
        .collect();
    assert!(loops.len() > 5, "of all loops: {loops:?}");
    for (words, key, value) in [
        (&["--outcome", "rejected"][..], "state", "rejected"),
        (&["--outcome", "running"], "state", "running"),
        (&["--role", "implement"], "stage", "implement"),
        (&["--agent", "coder"], "agent", "coder"),
    ] {
        let some = runs(words);
        assert!(
            !some.is_empty() && some.iter().all(|run| run[key] == value),
            "{words:?}"
        );
    }
    let both = runs(&["--role", "judge", "--outcome", "ruled", "--agent", "any"]);
    assert!(
        !both.is_empty() && both.iter().all(|run| run["stage"] == "arbitrate"),
        "{both:?}"
    );
    let none = seen(&env, "", &["runs", "--agent", "nobody"]);
    assert_eq!((none.exit, none.stderr.as_str()), (0, "no run fits\n"));
    let wrong = seen(&env, "", &["runs", "--outcome", "wonderful"]);
    assert!(
        wrong.exit == 2 && wrong.stderr.contains("bad-answer"),
        "{}",
        wrong.whole()
    );
    // What a line begins with is enough for `run`.
    let line = seen(&env, "80", &["runs", "--outcome", "rejected"]).stdout;
    let name = line.lines().nth(1).and_then(|line| line.split(' ').next());
    let run = seen(&env, "", &["run", name.expect("a run")]);
    assert_eq!(run.exit, 0, "{}", run.whole());
}
