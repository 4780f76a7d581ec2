//! Whole loops on four real ecosystems with their real runners: small repositories that the tests
//! make, scripted agents that do the work well or cheat, and what must come of it. The agents are
//! played; compilers, linters and tests are not.

mod make;
mod python;
mod rust;
pub(crate) mod toolbox;
mod typescript;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::sample::thrifty_sample;
use crate::support::TestEnv;

/// They install everything anew in every tree, which takes long: CI plays one of them. Projects of both kinds
/// that install nothing are among the verdict cases.
#[test]
fn a_project_that_installs_packages() {
    let all: [(&str, fn()); 2] = [
        ("python", python::a_python_project),
        ("typescript", typescript::a_typescript_project),
    ];
    // npm, tsc and vitest start a dozen programs that take as long as all of pip's.
    let is_cheap = |(name, _): &(&str, fn())| *name == "python";
    for (_, play) in thrifty_sample("projects that install packages", &all, is_cheap) {
        play();
    }
}

const ANY: &str = r#"ROUND=1
while [ -f "$SCENE/prompts/$LOOPWRIGHT_STORY_ID-$LOOPWRIGHT_STAGE-$ROUND" ]; do ROUND=$((ROUND + 1)); done
cat > "$SCENE/prompts/$LOOPWRIGHT_STORY_ID-$LOOPWRIGHT_STAGE-$ROUND"
script="$SCENE/agents/$LOOPWRIGHT_STORY_ID.$LOOPWRIGHT_STAGE.sh"
[ -f "$script" ] || script="$SCENE/agents/$LOOPWRIGHT_STAGE.sh"
. "$script"
"#;

const REVIEW: &str = r#"echo '{"summary": "seen", "criteria": [], "findings": []}'"#;

/// Whatever the facts are, this judge says yes: only they can keep a story from passing.
const JUDGE: &str = concat!(
    testkit::criteria_of_prompt!(
        r#""$SCENE/prompts/$LOOPWRIGHT_STORY_ID-$LOOPWRIGHT_STAGE-$ROUND""#
    ),
    r#"echo "{\"verdict\": \"PASS\", \"commit\": \"$LOOPWRIGHT_CANDIDATE\", \"reason\": \"scripted\", \"criteria\": [$CRITERIA]}""#
);

/// One story: its criterion, and what implementor and test writer do about it.
#[derive(Clone)]
pub(crate) struct Story {
    pub(crate) id: &'static str,
    pub(crate) criterion: &'static str,
    pub(crate) implement: String,
    pub(crate) write_tests: String,
    /// The tests that the writer says it wrote.
    pub(crate) tests: &'static [&'static str],
}

/// A project on which loops are played.
pub(crate) struct Project {
    pub(crate) env: TestEnv,
    name: &'static str,
    programs: Vec<PathBuf>,
}

impl Project {
    /// A committed project of these files, with a `[checks]` table, and nothing that git ignores
    /// unless a file says so.
    pub(crate) fn new(name: &'static str, files: &[(&str, &str)], checks: &str) -> Self {
        let env = TestEnv::new();
        for (path, text) in files {
            env.write(&format!("project/{path}"), text);
        }
        let project = Self {
            env,
            name,
            programs: Vec::new(),
        };
        project.configure(checks);
        project
    }

    /// A project that is a copy of a folder.
    pub(crate) fn of_folder(name: &'static str, source: &Path, checks: &str) -> Self {
        let project = Self::new(name, &[], checks);
        let mut copy = std::process::Command::new("cp");
        toolbox::run(
            copy.arg("-R")
                .arg(source.join("."))
                .arg(project.env.path("project")),
        );
        project
    }

    /// Takes these checks, or without any those that detection proposes.
    fn configure(&self, checks: &str) {
        let folder = self.env.path("").display().to_string();
        for (stage, script) in [("any", ANY), ("review", REVIEW), ("judge", JUDGE)] {
            self.env.write(&format!("agents/{stage}.sh"), script);
        }
        let config = format!(
            "[agents.any]\ncommand = [\"sh\", \"{folder}/agents/any.sh\"]\nenv = {{ SCENE = \"{folder}\" }}\n\
             [roles.reviewer]\nagent = \"any\"\n[checks]\nmutants = 0\n{checks}\n"
        );
        self.env.write("project/loopwright.toml", config);
        self.env.write("prompts/.keep", "");
    }

    /// Programs that checks and agents find before the machine's own.
    pub(crate) fn with_programs(mut self, folder: PathBuf) -> Self {
        self.programs.push(folder);
        self
    }

    /// Plays one loop over these stories, each with one attempt, and gives what came out.
    pub(crate) fn play(self, stories: &[Story]) -> Played {
        let each: Vec<Value> = stories.iter().map(|story| self.take(story)).collect();
        let prd = json!({ "stories": each });
        self.env.write(
            "project/prd.json",
            serde_json::to_string_pretty(&prd).expect("JSON"),
        );
        let folder = self.env.path("project");
        testkit::git(&folder, &["init", "--quiet", "--initial-branch=main", "."]);
        testkit::git(&folder, &["add", "--all", "--", ":!loopwright.toml"]);
        testkit::git(&folder, &["commit", "--quiet", "-m", "start"]);
        let start = [
            "start",
            "--project",
            "project",
            "--prd",
            "project/prd.json",
            "--foreground",
            "--json",
        ];
        let said = self.run(&[&start[..], &["--max-retries", "0", "--flow", "quartet"]].concat());
        let loops = self.run(&["list", "--json"]);
        let list: Value =
            serde_json::from_str(&loops).unwrap_or_else(|_| panic!("{said}\n{loops}"));
        let view = list["result"]["loops"][0].clone();
        let loop_id = view["loopId"]
            .as_str()
            .unwrap_or_else(|| panic!("{said}\n{loops}"))
            .to_owned();
        Played {
            project: self,
            loop_id,
        }
    }

    fn take(&self, story: &Story) -> Value {
        let Story { id, criterion, .. } = story;
        let answer = json!({ "summary": "written", "findings": [],
            "criteria": [{ "criterion": criterion, "tests": story.tests }] });
        self.env
            .write(&format!("agents/{id}.implement.sh"), &story.implement);
        let writes = format!("{}\ncat <<'ANSWER'\n{answer}\nANSWER\n", story.write_tests);
        self.env
            .write(&format!("agents/{id}.write-tests.sh"), writes);
        json!({ "id": id, "title": criterion, "acceptance_criteria": [criterion], "passes": false })
    }

    /// Runs the program with the machine's toolchains, wherever they are.
    fn run(&self, arguments: &[&str]) -> String {
        let mut command = self.env.command(arguments);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = self
            .programs
            .iter()
            .cloned()
            .chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(folders).expect("a path"));
        let home = std::env::var_os("HOME").unwrap_or_default();
        for (name, folder) in [
            ("CARGO_HOME", ".cargo"),
            ("RUSTUP_HOME", ".rustup"),
            ("PYENV_ROOT", ".pyenv"),
        ] {
            let place =
                std::env::var_os(name).map_or_else(|| Path::new(&home).join(folder), PathBuf::from);
            if place.is_dir() {
                command.env(name, place);
            }
        }
        let output = self.env.output(&mut command);
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    }
}

/// What a loop left.
pub(crate) struct Played {
    pub(crate) project: Project,
    loop_id: String,
}

impl Played {
    /// The story's whole report, with what must be known when something is not as expected.
    pub(crate) fn story(&self, id: &str) -> Report {
        let text = self.project.run(&["story", &self.loop_id, id, "--all"]);
        let data = self.project.run(&["story", &self.loop_id, id, "--json"]);
        let data: Value =
            serde_json::from_str(&data).unwrap_or_else(|error| panic!("{error}: {data}"));
        let report = Report {
            id: id.to_owned(),
            text,
            data: data["result"].clone(),
        };
        report.print(self.project.name);
        report
    }

    /// What an agent was told.
    pub(crate) fn prompt(&self, story: &str, stage: &str, round: u32) -> String {
        self.project
            .env
            .read(&format!("prompts/{story}-{stage}-{round}"))
    }

    /// The files of the loop's branch.
    pub(crate) fn files(&self) -> Vec<String> {
        let names = self.git(&["ls-tree", "-r", "--name-only", &self.branch()]);
        names.lines().map(str::to_owned).collect()
    }

    /// A file as it is on the loop's branch.
    pub(crate) fn file(&self, path: &str) -> String {
        self.git(&["show", &format!("{}:{path}", self.branch())])
    }

    /// The stories whose commits are on the branch, oldest first.
    pub(crate) fn landed(&self) -> Vec<String> {
        let range = format!("main..{}", self.branch());
        let ids = self.git(&[
            "log",
            "--reverse",
            "--format=%(trailers:key=Story-Id,valueonly,separator=)",
            &range,
        ]);
        ids.lines().map(str::to_owned).collect()
    }

    /// The loop's branch in the operator's repository, where there is one.
    pub(crate) fn branches(&self) -> String {
        self.git(&["for-each-ref", "refs/heads/agent-loop"])
    }

    fn branch(&self) -> String {
        format!("agent-loop/{}", self.loop_id)
    }

    fn git(&self, words: &[&str]) -> String {
        testkit::git(&self.project.env.path("project"), words)
    }
}

/// One story's evidence.
pub(crate) struct Report {
    id: String,
    pub(crate) text: String,
    data: Value,
}

impl Report {
    pub(crate) fn evidence(&self) -> &Value {
        let mut attempts = self.data["attempts"].as_array().into_iter().flatten();
        // The second look at the end of a loop has evidence of its own, about another tree.
        let tried = attempts.find(|attempt| attempt["recheck"] == false);
        tried.map_or(&Value::Null, |attempt| &attempt["evidence"])
    }

    fn facts(&self) -> &Value {
        &self.evidence()["facts"]
    }

    /// The story passed with exactly this proof, and nothing was owed for it.
    pub(crate) fn passed(&self, fail_to_pass: &[&str], weak: bool, pass_to_pass: usize) -> &Self {
        let seen = (
            &self.data["status"],
            &self.facts()["failToPass"],
            &self.facts()["weak"],
            &self.facts()["passToPass"],
            &self.facts()["obligations"],
        );
        let expected = (
            &json!("passed"),
            &json!(fail_to_pass),
            &json!(weak),
            &json!(pass_to_pass),
            &json!([]),
        );
        assert_eq!(seen, expected, "{}:\n{}", self.id, self.text);
        assert_eq!(
            self.data["attempts"].as_array().map(Vec::len),
            Some(1),
            "{}:\n{}",
            self.id,
            self.text
        );
        self
    }

    /// The story passed with this proof, and at least so many older tests stayed green.
    pub(crate) fn proven(&self, fail_to_pass: &[&str], weak: bool, pass_to_pass_min: u64) -> &Self {
        let seen = (
            &self.data["status"],
            &self.facts()["failToPass"],
            &self.facts()["weak"],
        );
        assert_eq!(
            seen,
            (&json!("passed"), &json!(fail_to_pass), &json!(weak)),
            "{}:\n{}",
            self.id,
            self.text
        );
        let stayed = self.facts()["passToPass"].as_u64().unwrap_or_default();
        assert!(
            stayed >= pass_to_pass_min,
            "{}: {stayed} stayed green\n{}",
            self.id,
            self.text
        );
        self
    }

    /// Something is owed for these older tests or files and for nothing else, and no criterion asks
    /// for it.
    pub(crate) fn obliged(&self, subjects: &[&str]) -> &Self {
        let all = self.facts()["obligations"].as_array().into_iter().flatten();
        let seen: BTreeSet<&str> = all.filter_map(|owed| owed["subject"].as_str()).collect();
        assert!(seen.iter().eq(subjects), "{}:\n{}", self.id, self.text);
        self.says(&["names no criterion of the story"])
    }

    /// The story was not taken, although its judge says yes.
    pub(crate) fn refused(&self, says: &[&str]) -> &Self {
        assert_eq!(
            self.data["status"], "skipped",
            "{}:\n{}",
            self.id, self.text
        );
        self.says(says)
    }

    pub(crate) fn says(&self, says: &[&str]) -> &Self {
        for words in says {
            assert!(
                self.text.contains(words),
                "{}: `{words}` is not in\n{}",
                self.id,
                self.text
            );
        }
        self
    }

    #[expect(
        clippy::print_stdout,
        reason = "a table that people read: what the checks of real projects cost"
    )]
    fn print(&self, project: &str) {
        let evidence = self.evidence();
        println!(
            "{project:<12} {:<10} {:<8} base: {} | f2p {} p2p {} weak {} broken {} obliged {} | baseline {} ms, others {}",
            self.id,
            self.data["status"].as_str().unwrap_or_default(),
            evidence["base"].as_str().unwrap_or_default(),
            self.facts()["failToPass"],
            self.facts()["passToPass"],
            self.facts()["weak"],
            self.facts()["broken"].as_array().map_or(0, Vec::len),
            self.facts()["obligations"],
            evidence["baselineMs"],
            evidence["tookMs"],
        );
    }
}
