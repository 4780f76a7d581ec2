//! The gallery of cheats and faults: scripted agents that do wrong in every way that we know of,
//! each with what must come of it. A story here is real: a shell program, a runner that speaks TAP,
//! tests that are red and green for real.

mod cheats;
mod hostile;
mod runners;

use std::path::PathBuf;
use std::sync::Arc;

use journal::Journal;
use serde_json::Value;

use crate::sample::sample_of;
use crate::scene::{newest_view, wait_for_view};
use crate::support::TestEnv;

const CALC: &str = "case \"$1\" in\n  add) echo $(($2 + $3)) ;;\n  *) exit 2 ;;\nesac\n";

/// Runs every test on its own; a line `# SKIP` skips one, and what an ignored folder holds may
/// change everything.
const RUNNER: &str = r#"[ -f cache/override.sh ] && . ./cache/override.sh
n=0; code=0
for test in tests/*.sh; do
  n=$((n + 1)); name=$(basename "$test" .sh)
  if grep -q '^# SKIP' "$test"; then echo "ok $n - $name # SKIP"; continue; fi
  if sh "$test" > /dev/null 2>&1; then echo "ok $n - $name"; else echo "not ok $n - $name"; code=1; fi
done
echo "1..$n"; exit $code
"#;

const PRD: &str = r#"{ "stories": [ { "id": "double", "title": "Double a number", "acceptance_criteria": [
  "double 4 prints 8", "double of a negative number is right" ], "passes": false } ] }
"#;

const HONEST: &str = "sed -i 's/^  \\*) exit 2 ;;/  double) echo $(($2 * 2)) ;;\\n&/' calc.sh";
const LAZY: &str = "echo 'will do' > NOTES";

const TESTS: &str = r#"echo '[ "$(sh calc.sh double 4)" = 8 ]' > tests/double.sh
echo '[ "$(sh calc.sh double -3)" = -6 ]' > tests/negative.sh
echo '{"summary": "two tests", "criteria": [
  {"criterion": "double 4 prints 8", "tests": ["double"]},
  {"criterion": "double of a negative number is right", "tests": ["negative"], "held_back": ["negative"]}], "findings": []}'"#;

const REVIEW: &str = r#"echo '{"summary": "seen", "criteria": [], "findings": []}'"#;
const PROOF: &str = r#"echo '{"checked": ["double 4"], "found": ["it says 9"], "mended": ["it doubles"], "see": ["sh calc.sh double 4"]}'"#;
const RULING: &str = r#"echo '{"fresh_tests": false, "reason": "they stand"}'"#;

fn judge(word: &str) -> String {
    format!(
        r#"{CRITERIA}echo "{{\"verdict\": \"{word}\", \"commit\": \"$LOOPWRIGHT_CANDIDATE\", \"reason\": \"scripted\", \"criteria\": [$CRITERIA]}}""#
    )
}

/// A judge that says PASS and names one criterion for everything that a PASS must answer.
fn obliging(criterion: &str) -> String {
    let answers = format!(
        r#"OBLIGED=$(awk -v criterion="{criterion}" '/^- O[0-9]+ / {{ printf "%s{{\"id\": \"%s\", \"criterion\": \"%s\"}}", comma, $2, criterion; comma = ", " }}' "$SCENE/prompt-$LOOPWRIGHT_STAGE-$LOOPWRIGHT_ATTEMPT")
"#
    );
    answers + &answering("$OBLIGED")
}

/// A judge that says PASS with these answers to what it owes.
fn answering(obliged: &str) -> String {
    judge("PASS").replace(
        "[$CRITERIA]",
        &format!(r#"[$CRITERIA], \"obliged\": [{obliged}]"#),
    )
}

/// What a judge of ours says first: every criterion of its prompt is met.
const CRITERIA: &str =
    testkit::criteria_of_prompt!(r#""$SCENE/prompt-$LOOPWRIGHT_STAGE-$LOOPWRIGHT_ATTEMPT""#);

/// Stands for the scene's folder in a file of the base: the only place that one run of a check can
/// share with the next, since each has a fresh checkout and an empty home.
const SCENE: &str = "{scene}";

/// Pieces of one class: CI shows some of them, the soak all.
struct Gallery {
    class: &'static str,
    pieces: Vec<Piece>,
}

/// Pieces that CI shows of each class.
const SHOWN: usize = 1;

impl Gallery {
    fn new(class: &'static str) -> Self {
        Self {
            class,
            pieces: Vec::new(),
        }
    }

    fn show(&self) {
        for piece in sample_of(self.class, SHOWN, &self.pieces) {
            piece.show();
        }
    }
}

/// A further look at what a piece left behind.
type Look = Arc<dyn Fn(&Hung)>;

/// One piece of the gallery. What is not said is honest.
#[derive(Clone)]
struct Piece {
    what: &'static str,
    base: Vec<(&'static str, String)>,
    implement: String,
    write_tests: String,
    review: String,
    judge: String,
    arbitrate: String,
    prove: String,
    options: Vec<&'static str>,
    config: &'static str,
    test: String,
    prd: String,
    /// The project's folder in its repository: nothing, or a name and a slash.
    folder: &'static str,
    /// Status and attempts of the story.
    ends: &'static str,
    /// What `loopwright story` must say.
    says: Vec<&'static str>,
    /// What else must be seen.
    then: Option<Look>,
}

impl Piece {
    fn new(what: &'static str, ends: &'static str) -> Self {
        Self {
            what,
            base: Vec::new(),
            implement: HONEST.to_owned(),
            write_tests: TESTS.to_owned(),
            review: REVIEW.to_owned(),
            judge: judge("PASS"),
            arbitrate: RULING.to_owned(),
            prove: PROOF.to_owned(),
            options: vec!["--max-retries", "0"],
            config: "",
            test: "sh run-tests.sh".to_owned(),
            prd: PRD.to_owned(),
            folder: "",
            ends,
            says: Vec::new(),
            then: None,
        }
    }

    fn implement(mut self, script: impl Into<String>) -> Self {
        self.implement = script.into();
        self
    }

    fn write_tests(mut self, script: impl Into<String>) -> Self {
        self.write_tests = script.into();
        self
    }

    fn judge(mut self, script: impl Into<String>) -> Self {
        self.judge = script.into();
        self
    }

    fn base(mut self, path: &'static str, text: impl Into<String>) -> Self {
        self.base.push((path, text.into()));
        self
    }

    fn options(mut self, options: &[&'static str]) -> Self {
        self.options = options.to_vec();
        self
    }

    fn flow(self, flow: &'static str) -> Self {
        self.options(&["--max-retries", "0", "--flow", flow])
    }

    fn test(mut self, command: impl Into<String>) -> Self {
        self.test = command.into();
        self
    }

    fn says(mut self, words: &[&'static str]) -> Self {
        self.says = words.to_vec();
        self
    }

    fn then(mut self, look: impl Fn(&Hung) + 'static) -> Self {
        self.then = Some(Arc::new(look));
        self
    }

    fn hang_in(self, gallery: &mut Gallery) {
        gallery.pieces.push(self);
    }

    /// The project, committed, with all its agents.
    fn hang(&self) -> Hung {
        let env = TestEnv::new();
        let folder = env.path("").display().to_string();
        let files = [
            ("calc.sh", CALC.to_owned()),
            ("run-tests.sh", RUNNER.to_owned()),
            (
                "tests/add.sh",
                "[ \"$(sh calc.sh add 1 2)\" = 3 ]\n".to_owned(),
            ),
            (".gitignore", "cache/\n".to_owned()),
            ("prd.json", self.prd.clone()),
        ];
        let mut paths = Vec::new();
        for (path, text) in files.iter().chain(&self.base) {
            // A path that begins with a slash stands at the top of the repository.
            let path = path
                .strip_prefix('/')
                .map_or(format!("{}{path}", self.folder), str::to_owned);
            env.write(&format!("project/{path}"), text.replace(SCENE, &folder));
            paths.push(path);
        }
        paths.dedup();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        testkit::init(&env.path("project"), &paths);
        for (stage, body) in [
            ("implement", &self.implement),
            ("write-tests", &self.write_tests),
            ("review", &self.review),
            ("judge", &self.judge),
            ("arbitrate", &self.arbitrate),
            ("prove", &self.prove),
        ] {
            env.write(&format!("agents/{stage}.sh"), body);
        }
        env.write(
            "agents/any.sh",
            "echo \"$LOOPWRIGHT_STAGE $LOOPWRIGHT_ATTEMPT\" >> \"$SCENE/starts\"\n\
             cat > \"$SCENE/prompt-$LOOPWRIGHT_STAGE-$LOOPWRIGHT_ATTEMPT\"\n. \"$SCENE/agents/$LOOPWRIGHT_STAGE.sh\"\n",
        );
        let config = format!(
            "[agents.any]\ncommand = [\"sh\", \"{folder}/agents/any.sh\"]\nenv = {{ SCENE = \"{folder}\" }}\n{}\n\
             [roles.reviewer]\nagent = \"any\"\n[checks]\ntest = \"{}\"\n",
            self.config, self.test
        );
        env.write(&format!("project/{}loopwright.toml", self.folder), config);
        Hung {
            env,
            folder: self.folder,
        }
    }

    #[expect(
        clippy::print_stdout,
        reason = "the gallery is a table that people read"
    )]
    fn show(&self) -> Hung {
        let hung = self.hang();
        hung.start(&self.options);
        let story = hung.story();
        let seen = format!(
            "{} {}",
            story["status"].as_str().unwrap_or_default(),
            hung.attempts()
        );
        let report = hung.report();
        assert_eq!(seen, self.ends, "{}:\n{report}", self.what);
        for words in &self.says {
            assert!(
                report.contains(words),
                "{}: `{words}` is not in\n{report}",
                self.what
            );
        }
        hung.check_branch(story["status"] == "passed", self.what);
        if let Some(look) = &self.then {
            look(&hung);
        }
        println!("{:<70} {}", self.what, self.ends);
        hung
    }
}

struct Hung {
    env: TestEnv,
    folder: &'static str,
}

impl Hung {
    fn start(&self, options: &[&str]) {
        let (project, prd) = (
            format!("project/{}", self.folder),
            format!("project/{}prd.json", self.folder),
        );
        let start = [
            "start",
            "--project",
            &project,
            "--prd",
            &prd,
            "--foreground",
            "--json",
        ];
        self.env.run(&[&start[..], options].concat());
    }

    fn home(&self) -> PathBuf {
        self.env.path(".local/state/loopwright")
    }

    fn view(&self) -> Value {
        newest_view(&Journal::open(&self.home()).expect("a journal"))
    }

    fn wait_for(&self, status: &str) -> Value {
        wait_for_view(&self.home(), status, |view| view["status"] == status)
    }

    fn loop_id(&self) -> String {
        self.view()["loopId"].as_str().expect("a loop").to_owned()
    }

    fn story(&self) -> Value {
        self.env
            .run(&["story", &self.loop_id(), "double", "--json"])
            .json()["result"]
            .clone()
    }

    fn attempts(&self) -> u64 {
        self.view()["stories"][0]["attempts"]
            .as_u64()
            .unwrap_or_default()
    }

    fn report(&self) -> String {
        self.env
            .run(&["story", &self.loop_id(), "double", "--all"])
            .stdout
    }

    fn starts(&self) -> Vec<String> {
        self.env.read("starts").lines().map(str::to_owned).collect()
    }

    fn git(&self, words: &[&str]) -> String {
        testkit::git(&self.env.path("project"), words)
    }

    /// What landed is one commit that really does what the story asks for; what did not pass is
    /// nowhere to be seen.
    fn check_branch(&self, passed: bool, what: &str) {
        let branches = self.git(&[
            "for-each-ref",
            "--format=%(refname:short)",
            "refs/heads/agent-loop",
        ]);
        if !passed {
            assert_eq!(branches, "", "{what}: i01: rejected work is on a branch");
            return;
        }
        assert_eq!(
            self.git(&["rev-list", "--count", &format!("main..{branches}")]),
            "1",
            "{what}: one commit"
        );
        let calc = self.git(&["show", &format!("{branches}:{}calc.sh", self.folder)]);
        assert!(calc.contains("double"), "{what}: {calc}");
    }
}
