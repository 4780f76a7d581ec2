//! A project with a PRD and scripted agents, and a state folder of its own: the stage for tests of
//! whole loops.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use journal::Journal;
use serde_json::{Value, json};

pub(crate) use crate::support::processes_with;
use crate::support::{Answer, TestEnv};

/// What the scripted implementor does unless a test says otherwise: one new file per story and
/// attempt.
pub(crate) const IMPLEMENT: &str = "cat > prompt-seen\nrm prompt-seen\necho \"work of $LOOPWRIGHT_STORY_ID attempt $LOOPWRIGHT_ATTEMPT\" > \"$LOOPWRIGHT_STORY_ID.txt\"\n";

/// A project's own test runner: every file in `tests/` is a test, and TAP says how each went.
pub(crate) const TAP_RUNNER: &str = r#"n=0; code=0
for test in tests/*.sh; do
  n=$((n + 1)); name=$(basename "$test" .sh)
  if sh "$test" > /dev/null 2>&1; then echo "ok $n - $name"; else echo "not ok $n - $name"; code=1; fi
done
echo "1..$n"; exit $code
"#;

/// Passes everything, except stories whose id says otherwise: `retry-…` at the first attempt,
/// `never-…` always.
pub(crate) const JUDGE: &str = concat!(
    testkit::criteria_of_prompt!(),
    r#"verdict=PASS
case "$LOOPWRIGHT_STORY_ID-$LOOPWRIGHT_ATTEMPT" in
  retry-*-1|never-*) verdict=FAIL ;;
esac
echo "{\"verdict\": \"$verdict\", \"commit\": \"$LOOPWRIGHT_CANDIDATE\", \"reason\": \"scripted\", \"criteria\": [$CRITERIA], \"guidance\": [\"do better\"]}"
"#
);

pub(crate) struct Scene {
    pub(crate) env: TestEnv,
}

impl Scene {
    /// A committed project whose PRD has these stories, each depending on nothing.
    pub(crate) fn new(stories: &[&str]) -> Self {
        Self::with_agents(stories, IMPLEMENT, JUDGE)
    }

    pub(crate) fn with_agents(stories: &[&str], implement: &str, judge: &str) -> Self {
        let scene = Self {
            env: TestEnv::new(),
        };
        let each: Vec<String> = stories
            .iter()
            .map(|id| format!("    {{ \"id\": \"{id}\", \"title\": \"Story {id}\", \"acceptance_criteria\": [\"it is there\"], \"passes\": false }}"))
            .collect();
        scene.env.write(
            "project/prd.json",
            format!("{{\n  \"stories\": [\n{}\n  ]\n}}\n", each.join(",\n")),
        );
        scene.env.write("project/README", "a project\n");
        // Every start of an agent is counted from outside.
        let counted = |body: &str| format!("echo \"$LOOPWRIGHT_RUN_ID\" >> \"$STARTS\"\n{body}");
        scene.env.write("agents/implement.sh", counted(implement));
        scene.env.write("agents/judge.sh", counted(judge));
        scene.configure("");
        // The configuration holds paths of this test; it may be untracked, and so all tests share
        // one base commit.
        testkit::init(&scene.project(), &["README", "prd.json"]);
        scene
    }

    /// Lets one story wait for another: a run that was cut short waits a moment, and whoever else may
    /// go on meanwhile does.
    pub(crate) fn one_after_the_other(&self, first: &str, then: &str) {
        let prd = self.env.read("project/prd.json");
        let id = format!("\"id\": \"{then}\",");
        let chained = format!("{id} \"depends_on\": [\"{first}\"],");
        self.env
            .write("project/prd.json", prd.replace(&id, &chained));
    }

    /// Writes the configuration anew, with more of it at the end.
    pub(crate) fn configure(&self, more: &str) {
        let path = |name: &str| self.env.path(name).display().to_string();
        let (implement, judge, starts) = (
            path("agents/implement.sh"),
            path("agents/judge.sh"),
            path("starts"),
        );
        let config = format!(
            "[agents.builder]\ncommand = [\"sh\", \"{implement}\"]\nenv = {{ STARTS = \"{starts}\" }}\n\n\
             [agents.judge]\ncommand = [\"sh\", \"{judge}\"]\nenv = {{ STARTS = \"{starts}\" }}\n\n\
             [roles.implementor]\nagent = \"builder\"\n\n[roles.judge]\nagent = \"judge\"\n\n{more}"
        );
        let has_checks = more.contains("[checks]");
        let checks = if has_checks {
            ""
        } else {
            "\n[checks]\ntest = \"test -f README\"\n"
        };
        self.env.write("project/loopwright.toml", config + checks);
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        testkit::git(&self.project(), arguments)
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.env.path("project")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.env.path(".local/state/loopwright")
    }

    pub(crate) fn start(&self, more: &[&str]) -> Answer {
        self.env.run(
            &[
                &["start", "--project", "project", "--prd", "project/prd.json"][..],
                more,
            ]
            .concat(),
        )
    }

    /// The newest loop's view, as `status --json` gives it.
    pub(crate) fn status(&self) -> Value {
        let loops = self.env.run(&["list", "--json"]).json();
        loops["result"]["loops"]
            .as_array()
            .and_then(|all| all.last())
            .cloned()
            .unwrap_or_default()
    }

    /// Waits until the newest loop has one of these statuses.
    pub(crate) fn wait_for(&self, statuses: &[&str]) -> Value {
        self.wait_for_view(&format!("{statuses:?}"), |view| {
            statuses.iter().any(|status| view["status"] == **status)
        })
    }

    /// Waits until the newest loop looks like this.
    pub(crate) fn wait_for_view(&self, what: &str, is_right: impl Fn(&Value) -> bool) -> Value {
        wait_for_view(&self.home(), what, is_right)
    }

    /// How often agents were started, counted by themselves.
    pub(crate) fn starts(&self) -> Vec<String> {
        std::fs::read_to_string(self.env.path("starts"))
            .unwrap_or_default()
            .lines()
            .map(str::to_owned)
            .collect()
    }
}

impl Drop for Scene {
    /// Shows the worker's log of a test that failed.
    fn drop(&mut self) {
        if std::thread::panicking() {
            show_log(&self.home());
        }
    }
}

/// The end of the worker's log.
#[expect(clippy::print_stderr, reason = "it is what one looks at first")]
pub(crate) fn show_log(home: &Path) {
    const LINES_MAX: usize = 200;
    let log = std::fs::read_to_string(home.join("worker.log")).unwrap_or_default();
    let lines: Vec<&str> = log.lines().collect();
    let shown = &lines[lines.len().saturating_sub(LINES_MAX)..];
    eprintln!("the worker's log:\n{}", shown.join("\n"));
}

/// Waits until the newest loop of a state folder looks like this. It reads the journal itself: a
/// program that is started for every look would cost more than the loop.
pub(crate) fn wait_for_view(home: &Path, what: &str, is_right: impl Fn(&Value) -> bool) -> Value {
    let journal = Journal::open(home).expect("a journal");
    let (mut mark, mut view) = (None, Value::Null);
    wait_until(what, || {
        let now = journal.change_mark().expect("a journal");
        if mark != Some(now) {
            mark = Some(now);
            view = newest_view(&journal);
        }
        is_right(&view).then(|| view.clone())
    })
}

/// The newest loop as `list --json` gives it, but for what it takes on the disk.
pub(crate) fn newest_view(journal: &Journal) -> Value {
    let Some(row) = journal.loops().expect("a journal").pop() else {
        return Value::Null;
    };
    match (row.quarantine, home::load(journal, &row.loop_id)) {
        (None, Ok(loaded)) => json!(views::loop_view(&loaded.state)),
        _ => json!({ "loopId": row.loop_id, "status": "failed" }),
    }
}

/// Polls until something is there; the long deadline is for a machine that is very busy.
pub(crate) fn wait_until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    const DEADLINE: Duration = Duration::from_mins(10);
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < DEADLINE, "never came: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
