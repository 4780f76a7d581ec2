//! Journals of an older version are shown as that version showed them, and loops that were not over
//! go on. The journals lie in `tests/fixtures/journals` with a page on how they were made; they are
//! never made again, since a journal that this version wrote would prove nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use journal::{Journal, NewRecord};
use serde_json::Value;

use crate::scene::processes_with;
use crate::support::{Answer, TestEnv};

/// One test per case, so that they run beside each other; a case that has no test is found by
/// `every_case_has_its_test`.
macro_rules! tests_per_case {
    ($name:ident, $check:ident, $list:ident: $($case:ident)*) => {
        const $list: &[&str] = &[$(stringify!($case)),*];

        mod $name {
            $(
                #[test]
                fn $case() {
                    super::$check(&stringify!($case).replace('_', "-"));
                }
            )*
        }
    };
}

tests_per_case! { journals_of_the_first_version_are_shown_as_before, is_shown_as_before, SHOWN:
    asking asking_approval asking_free budget budget_tokens cancelled ended_max_iterations
    finished_judged finished_proof finished_quartet finished_solo finished_tdd
    mid_landing_candidate mid_landing_integrated mid_run mid_run_quartet paused resumed_session
    steered unpublished waiting waiting_limit_failover waiting_session
}

tests_per_case! { journals_of_the_first_version_go_on, goes_on, GO_ON:
    asking asking_approval asking_free mid_landing_candidate mid_landing_integrated mid_run
    mid_run_quartet paused waiting waiting_session
}

/// What a person does before the loop can go on, and what must be done again of the first story.
struct Help {
    /// A file that the agents look for.
    file: Option<&'static str>,
    /// The command, without the loop's id at its second place.
    command: &'static [&'static str],
    /// Every start of an agent for the first story, as stage and try. What was done before is not
    /// done again.
    starts: &'static [&'static str],
}

fn help(case: &str) -> Help {
    let (file, command, starts): (_, &[&str], &[&str]) = match case {
        "asking" => (
            Some("is-logged-in"),
            &["answer", "retry"],
            &["implement-2", "judge-1"],
        ),
        "asking-approval" => (None, &["answer", "approve"], &[]),
        "asking-free" => (None, &["answer", "in blue"], &["implement-2", "judge-1"]),
        "mid-landing-candidate" => (None, &[], &["judge-1"]),
        "mid-landing-integrated" => (None, &[], &[]),
        // Nothing but the recorded intent is left of the run, so it begins as the same try.
        "mid-run" => (None, &[], &["implement-1", "judge-1"]),
        "mid-run-quartet" => (
            None,
            &[],
            &["implement-1", "write-tests-1", "review-1", "judge-1"],
        ),
        "paused" => (None, &["resume"], &["judge-1"]),
        "waiting" | "waiting-session" => {
            (Some("is-free"), &["resume"], &["implement-2", "judge-1"])
        }
        other => unreachable!("{other} is over, or its help is missing"),
    };
    Help {
        file,
        command,
        starts,
    }
}

/// A case as it lay on the disk of the machine that wrote it, but for the place.
struct OldScene {
    env: TestEnv,
    case: PathBuf,
    loop_id: String,
}

impl OldScene {
    fn restore(case: &str) -> Self {
        let case = fixtures().join(case);
        let scene = Self {
            env: TestEnv::new(),
            loop_id: read(&case.join("loop-id")).trim().to_owned(),
            case,
        };
        scene.restore_project();
        scene.restore_loop_repository();
        scene.restore_agents();
        scene.restore_records();
        scene
    }

    fn restore_project(&self) {
        let project = self.project();
        fs::create_dir(&project).expect("a folder");
        testkit::init(&project, &[]);
        import(&project, &self.case.join("project.fast-export"));
        testkit::git(&project, &["reset", "--quiet", "--hard", "main"]);
        let head = read(&self.case.join("project-head"));
        testkit::git(&project, &["checkout", "--quiet", head.trim()]);
        let untracked = self.case.join("untracked");
        if !untracked.join("prd.json").exists() {
            fs::remove_file(project.join("prd.json")).expect("the PRD was removed");
        }
        for file in files_below(&untracked) {
            let inside = file.strip_prefix(&untracked).expect("below it");
            let name = Path::new("project").join(inside);
            let text = self.placed(&read(&file));
            self.env.write(name.to_str().expect("UTF-8"), text);
        }
    }

    fn restore_loop_repository(&self) {
        let repository = self
            .home()
            .join("loops")
            .join(&self.loop_id)
            .join("repo.git");
        fs::create_dir_all(&repository).expect("a folder");
        let init = ["init", "--quiet", "--bare", "--initial-branch=main"];
        testkit::git(&repository, &init);
        import(&repository, &self.case.join("loop.fast-export"));
        fs::copy(
            self.case.join("loop-info-attributes"),
            repository.join("info/attributes"),
        )
        .expect("copied");
    }

    fn restore_agents(&self) {
        for file in files_below(&self.case.join("agents")) {
            let name = file.file_name().expect("a name").to_str().expect("UTF-8");
            // The agents are not part of what was recorded: a judge of today names every criterion.
            let script = read(&file).replace(
                r#"\"reason\": \"scripted\", \"guidance\""#,
                r#"\"reason\": \"scripted\", \"criteria\": [{\"criterion\": \"it doubles\", \"pass\": true, \"evidence\": \"seen\"}], \"guidance\""#,
            );
            self.env.write(&format!("agents/{name}"), script);
            let path = self.env.path("agents").join(name);
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("mode set");
        }
    }

    /// The paths in the records change with the place, and so do the checksums: the journal's own
    /// code makes them.
    fn restore_records(&self) {
        let journal = Journal::open(&self.home()).expect("a journal");
        for line in read(&self.case.join("records.jsonl")).lines() {
            let record: Value = serde_json::from_str(line).expect("a record");
            let text = |name: &str| record[name].as_str().expect("a text").to_owned();
            let number = record["number"].as_u64().expect("a number");
            let (kind, body) = (text("kind"), self.placed(&text("body")));
            let new = NewRecord {
                at_ms: record["at_ms"].as_i64().expect("a time"),
                kind: &kind,
                body: &body,
            };
            let appended = journal.append(&self.loop_id, number - 1, None, &[new]);
            assert_eq!(appended.expect("appended"), number);
        }
    }

    fn project(&self) -> PathBuf {
        self.env.path("project")
    }

    fn home(&self) -> PathBuf {
        self.env.path("home")
    }

    /// A text of the fixture with this scene's folder in it.
    fn placed(&self, text: &str) -> String {
        let folder = self.env.path("");
        let folder = folder.to_str().expect("UTF-8").trim_end_matches('/');
        text.replace("@SCENE@", folder)
    }

    fn run(&self, words: &[&str]) -> Answer {
        run_in(&self.env, &self.home(), words)
    }
}

impl Drop for OldScene {
    /// Ends the worker that a command left behind.
    fn drop(&mut self) {
        for process in processes_with(&self.home()) {
            let _ = rustix::process::kill_process(process, rustix::process::Signal::KILL);
        }
    }
}

fn is_shown_as_before(case: &str) {
    let scene = OldScene::restore(case);
    let shown = scene.case.join("shown");
    // `status` gets a worker for a loop that is owed something, so it comes last.
    let mut files = files_below(&shown);
    files.sort_by_key(|file| file.ends_with("status.json"));
    for file in files {
        let name = file.file_name().expect("a name").to_str().expect("UTF-8");
        // The text for people may be worded anew; its content is in the JSON.
        let Some(stem) = name.strip_suffix(".json") else {
            continue;
        };
        let words = match stem.strip_prefix("story-") {
            Some(story) => vec!["story", &scene.loop_id, story, "--json"],
            None => vec![stem, &scene.loop_id, "--json"],
        };
        let mut before: Value = serde_json::from_str(&scene.placed(&read(&file))).expect("JSON");
        let mut now = scene.run(&words).json();
        if stem == "events" {
            tell_as_today(&mut before, &mut now);
        } else {
            // Keys have one case since, and moments are written as ISO 8601 does.
            before["result"] = views::public_form(before["result"].take());
        }
        assert_eq!(missing(&before, &now, ""), Vec::<String>::new(), "{name}");
    }
}

/// The public events were made a contract after these journals were written: a plan is told for each
/// story and not for the loop, paths are relative, results are data, and some things are told that
/// were not. Whatever else was told then is told now.
fn tell_as_today(before: &mut Value, now: &mut Value) {
    let events = |value: &mut Value| -> Vec<Value> {
        let list = value["result"]["events"].as_array_mut().expect("events");
        std::mem::take(list)
    };
    let project = |event: &Value| event["data"]["project"].as_str().map(str::to_owned);
    let mut old = events(before);
    old.retain(|event| event["name"] != "agent/loop.plan");
    for event in &mut old {
        let folder = project(event).unwrap_or_default();
        let data = &mut event["data"];
        // A budget is told in the words in which it is given.
        if let Some(data) = data.as_object_mut() {
            data.remove("budget");
        }
        if let Some(path) = data["prdPath"].as_str() {
            data["prdPath"] = path.trim_start_matches(&format!("{folder}/")).into();
        }
        if let Some(summary) = data["testResults"].as_str() {
            data["testResults"] = serde_json::json!({ "summary": summary });
        }
    }
    let is_old = |event: &Value| {
        let same =
            |known: &&Value| known["name"] == event["name"] && known["at_ms"] == event["at_ms"];
        old.iter().find(same).is_some()
    };
    let mut told = events(now);
    told.retain(is_old);
    now["result"]["events"] = told.into();
    before["result"]["events"] = old.into();
}

fn goes_on(case: &str) {
    let scene = OldScene::restore(case);
    let help = help(case);
    if let Some(file) = help.file {
        scene.env.write(file, "");
    }
    if let [verb, more @ ..] = help.command {
        let answer = scene.run(&[&[*verb, scene.loop_id.as_str()], more].concat());
        assert_eq!(answer.exit, 0, "{}", answer.whole());
    }
    let answer = scene.run(&["watch", &scene.loop_id, "--json"]);
    let view = &answer.last_json()["result"];
    let stories = view["stories"].as_array().expect("stories");
    for story in stories {
        let end = (&story["status"], &story["attempts"]);
        assert!(
            *end.0 == "passed" && *end.1 == 1,
            "{end:?} in {}",
            answer.whole()
        );
    }
    assert_eq!(
        (answer.exit, &view["status"]),
        (0, &Value::from("completed"))
    );

    // The operator has it all: the branch at the loop's head, and the states in the PRD.
    let branch = view["branch"].as_str().expect("a branch");
    let tip = testkit::git(&scene.project(), &["rev-parse", branch]);
    assert_eq!(view["headSha"], tip.as_str());
    let prd: Value = serde_json::from_str(&scene.env.read("project/prd.json")).expect("JSON");
    let written = prd["stories"].as_array().expect("stories");
    assert!(written.iter().all(|story| story["passes"] == true), "{prd}");

    let mut starts = starts_of_first_story(&scene);
    starts.sort();
    let mut wanted = help.starts.to_vec();
    wanted.sort_unstable();
    assert_eq!(starts, wanted);
}

/// The agents' starts for the first story since the fixture was made, as stage and try; the agents
/// count them themselves.
fn starts_of_first_story(scene: &OldScene) -> Vec<String> {
    let all = fs::read_to_string(scene.env.path("starts")).unwrap_or_default();
    let first = format!("run_{}_0001-1-", scene.loop_id);
    let starts = all.lines().filter_map(|run| run.strip_prefix(&first));
    starts.map(str::to_owned).collect()
}

#[test]
fn a_journal_file_of_the_first_version_is_listed_as_before() {
    let env = TestEnv::new();
    let home = env.path("home");
    fs::create_dir(&home).expect("a folder");
    fs::copy(fixtures().join("journal.db"), home.join("journal.db")).expect("copied");
    let text = read(&fixtures().join("journal-shown.json"));
    let mut before: Value = serde_json::from_str(&text).expect("JSON");
    before["result"] = views::public_form(before["result"].take());
    let now = run_in(&env, &home, &["list", "--json"]).json();
    assert_eq!(missing(&before, &now, ""), Vec::<String>::new());
}

#[test]
fn every_case_has_its_test() {
    let mut cases: Vec<String> = fs::read_dir(fixtures())
        .expect("the fixtures")
        .map(|entry| entry.expect("an entry"))
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().expect("UTF-8"))
        .collect();
    cases.sort();
    let shown: Vec<String> = SHOWN.iter().map(|case| case.replace('_', "-")).collect();
    assert_eq!(shown, cases);
    let over = ["completed", "cancelled", "failed"];
    let live = cases.iter().filter(|case| {
        let shown = read(&fixtures().join(case).join("shown/status.json"));
        let view: Value = serde_json::from_str(&shown).expect("JSON");
        let status = view["result"]["status"].as_str().expect("a status");
        !over.contains(&status)
    });
    let live: Vec<String> = live.map(|case| case.replace('-', "_")).collect();
    assert_eq!(GO_ON, live);
}

/// What the older version showed and this one does not: every key must be there with its value, and
/// lists must be as long as they were. Keys may be added. How much room a loop takes depends on the
/// day and not on the journal, and Markdown is text for people whose content is in the other keys.
fn missing(before: &Value, now: &Value, at: &str) -> Vec<String> {
    match (before, now) {
        (Value::Object(before), Value::Object(now)) => before
            .iter()
            .filter(|(key, _)| *key != "diskBytes" && *key != "markdown")
            .flat_map(|(key, value)| {
                let found = now.get(key).unwrap_or(&Value::Null);
                missing(value, found, &format!("{at}/{key}"))
            })
            .collect(),
        // There may be more that one can do next than there was.
        (Value::Array(before), Value::Array(now))
            if before.len() == now.len() || (at == "/next_actions" && before.len() < now.len()) =>
        {
            before
                .iter()
                .zip(now)
                .enumerate()
                .flat_map(|(index, (value, found))| missing(value, found, &format!("{at}/{index}")))
                .collect()
        }
        (before, now) if before == now => Vec::new(),
        // An attempt that never ended because its loop did was shown without a word.
        (Value::String(before), Value::String(now))
            if at.ends_with("/ended") && before.is_empty() && now == "not finished" =>
        {
            Vec::new()
        }
        (before, now) => vec![format!("{at}: was {before}, is {now}")],
    }
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/journals")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{error}: {}", path.display()))
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => found.extend(files_below(&path)),
            path => found.push(path),
        }
    }
    found.sort();
    found
}

fn run_in(env: &TestEnv, home: &Path, words: &[&str]) -> Answer {
    let mut command = env.command(words);
    command.env("LOOPWRIGHT_HOME", home).stdin(Stdio::null());
    let output = command.output().expect("started");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8 output");
    Answer {
        exit: output.status.code().unwrap_or(-1),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// Fills a repository; the commits get the ids that they had.
fn import(repository: &Path, export: &Path) {
    let done = Command::new("git")
        .args(["fast-import", "--quiet"])
        .current_dir(repository)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(fs::File::open(export).expect("the fixture"))
        .output()
        .expect("git runs");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
}
