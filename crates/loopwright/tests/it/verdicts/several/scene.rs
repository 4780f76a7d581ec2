//! The stage of a case with several stories: its project under git, an agent for each stage of each
//! story, and the loop that is played there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::case::{Case, Needs, Story};
use super::turnstile::Turnstile;
use crate::sample::is_soak;
use crate::support::Answer;
use crate::verdicts::stage::{SHELL_SECS, Stage, run_beside, run_within};

/// An implementor works at once, and then waits until it is its turn to end.
const AGENT: &str = r#"prompt="$SCENE/said/prompt-$LOOPWRIGHT_STAGE-$LOOPWRIGHT_STORY_ID-$LOOPWRIGHT_ATTEMPT"
cat > "$prompt"
script="$SCENE/agents/$LOOPWRIGHT_STORY_ID/$LOOPWRIGHT_STAGE"
if [ "$LOOPWRIGHT_ATTEMPT" -gt 1 ] && [ -e "$script-again.sh" ]; then script="$script-again"; fi
. "$script.sh" < "$prompt"
code=$?
if [ "$LOOPWRIGHT_STAGE" = implement ]; then
  turn="$SCENE/turns/$LOOPWRIGHT_STORY_ID#$LOOPWRIGHT_ATTEMPT"
  touch "$turn.begun"
  if [ -e "$turn.listed" ]; then
    while [ ! -e "$turn.may-end" ]; do sleep 0.05; done
  fi
fi
exit $code
"#;
const JUDGE: &str = include_str!("../judge.py");
const REVIEW: &str = r#"echo '{"summary": "seen", "criteria": [], "findings": []}'"#;
const RULING: &str = r#"echo '{"fresh_tests": false, "reason": "they stand"}'"#;

/// Time for one loop.
const LOOP_SECS: u64 = 400;

pub(super) struct Scene<'a> {
    case: &'a Case,
    runners: &'a Path,
    stage: Stage<'a>,
}

impl<'a> Scene<'a> {
    /// A project that is ready to start.
    pub(super) fn new(case: &'a Case, runners: &'a Path) -> Self {
        let stage = Stage::new(runners, &BTreeMap::new());
        let scene = Self {
            case,
            runners,
            stage,
        };
        for (path, text) in &case.files {
            scene.stage.env.write(&format!("proj/{path}"), text);
        }
        if let Some(script) = &case.pre {
            scene.stage.must(script);
        }
        let stories: Vec<Value> = (1..).zip(&case.stories).map(in_prd).collect();
        let prd = json!({ "title": "t", "stories": stories });
        scene.stage.env.write("prd.json", prd.to_string());
        scene.stage.env.write("agents/any.sh", AGENT);
        scene.stage.env.write("agents/judge.py", JUDGE);
        case.stories
            .iter()
            .for_each(|story| scene.write_agents(story));
        scene
            .stage
            .env
            .write("proj/loopwright.toml", scene.config());
        scene.stage.must(
            "git init -q && printf 'loopwright.toml\\n' >> .git/info/exclude && \
             git add -A && git commit -q --allow-empty -m base",
        );
        scene
    }

    fn write_agents(&self, story: &Story) {
        let id = &story.id;
        let criteria = json!(story.criteria).to_string();
        let env = &self.stage.env;
        env.write(&format!("criteria-{id}.json"), criteria);
        let ours =
            |explains: &str| format!("EXPLAINS={explains} python3 \"$SCENE/agents/judge.py\"");
        let judge = match story.judge.as_deref() {
            Some("pass") => ours("no"),
            Some("honest") | None => ours("yes"),
            Some(own) => own.to_owned(),
        };
        let write = story.write.as_deref().unwrap_or("true");
        let again = story.implement_again.as_deref();
        for (stage, body) in [
            ("implement", Some(story.implement.as_str())),
            ("implement-again", again),
            ("write-tests", Some(write)),
            ("review", Some(REVIEW)),
            ("judge", Some(&judge)),
            ("prove", Some("true")),
            ("arbitrate", Some(RULING)),
        ] {
            if let Some(body) = body {
                env.write(&format!("agents/{id}/{stage}.sh"), body);
            }
        }
    }

    fn config(&self) -> String {
        let folder = self.stage.folder().display().to_string();
        let value = |value: &Value| match value.as_str() {
            Some(text) => toml::Value::String(text.to_owned()).to_string(),
            None => value.to_string(),
        };
        let checks = self.case.checks.iter();
        let checks = checks.map(|(name, of)| format!("{name} = {}\n", value(of)));
        // How strong the tests are is looked at by the cases of single stories; CI spares itself that.
        let mutants = if is_soak() || self.case.checks.contains_key("mutants") {
            ""
        } else {
            "mutants = 0\n"
        };
        let sandbox = match self.case.needs {
            // Agents leave their prompts in the scene, and the turnstile's marks.
            Some(Needs::Jail) => format!(
                "[sandbox]\nkind = \"bwrap\"\nread = [\"{}\"]\nwrite = [\"{folder}\"]\n",
                self.runners.display()
            ),
            None => String::new(),
        };
        format!(
            "[agents.any]\ncommand = [\"bash\", \"{folder}/agents/any.sh\"]\nenv = {{ SCENE = \"{folder}\" }}\n\
             timeout = \"300s\"\n[roles.reviewer]\nagent = \"any\"\n[checks]\n{}{mutants}{sandbox}{}",
            checks.collect::<String>(),
            self.case.config
        )
    }

    /// Runs the loop to its end; nothing where it did not end in time.
    pub(super) fn start(&self) -> Option<Answer> {
        let place = |name: &str| self.stage.env.path(name).display().to_string();
        let (project, prd) = (place("proj"), place("prd.json"));
        let retries = format!("loop.max_retries={}", self.case.retries);
        let parallel = self.case.parallel.to_string();
        let start = ["start", "--project", &project, "--prd", &prd];
        let options = ["--foreground", "--json", "--flow", &self.case.flow];
        let more = ["--parallel", &parallel, "--set", &retries];
        let mut command = self
            .stage
            .env
            .command(&[&start[..], &options, &more].concat());
        self.stage.dress(&mut command).current_dir(project);
        // A waiting implementor holds its place, and test writers need one beside it.
        let agents = 2 * self.case.parallel + 2;
        command.env("LOOPWRIGHT_WORKER_MAX_AGENTS", agents.to_string());
        if self.case.needs == Some(Needs::Jail) {
            command.env_remove("LOOPWRIGHT_SANDBOX_KIND");
        }
        let (turns, state) = (self.stage.env.path("turns"), self.state_folder());
        let mut turnstile = Turnstile::new(&self.case.ends_order, &turns, &state);
        run_beside(&mut command, LOOP_SECS, || turnstile.look())
    }

    pub(super) fn state_folder(&self) -> PathBuf {
        self.stage.env.path("state")
    }

    /// What the program says of a story.
    pub(super) fn report(&self, story: &str) -> String {
        let mut command = self.stage.env.command(&["story", story, "--all"]);
        self.stage.dress(&mut command);
        let told = run_within(&mut command, SHELL_SECS);
        told.map(|answer| answer.whole()).unwrap_or_default()
    }

    /// Runs the project's own commands on a commit, in a place that nobody used before: the first one
    /// that fails and what it said, or nothing.
    pub(super) fn red(&self, commit: &str) -> Option<String> {
        let folder = self.checkout(commit, "cold");
        self.case.commands().find_map(|line| {
            let mut command = self.stage.shell(line, &folder);
            let answer = run_within(&mut command, SHELL_SECS);
            let words = answer
                .as_ref()
                .map_or("it did not end".to_owned(), Answer::whole);
            (answer.is_none_or(|answer| answer.exit != 0)).then(|| format!("{line}: {words}"))
        })
    }

    /// What the case's truth says against a commit.
    pub(super) fn untrue(&self, commit: &str) -> Option<String> {
        let folder = self.checkout(commit, "truth");
        if let Some(setup) = self.case.checks.get("setup").and_then(Value::as_str) {
            run_within(&mut self.stage.shell(setup, &folder), SHELL_SECS);
        }
        let mut command = self.stage.shell(&self.case.expect.truth, &folder);
        // What was left in the agents' home must not help.
        command.env("HOME", self.stage.env.path("agents"));
        match run_within(&mut command, SHELL_SECS) {
            Some(answer) if answer.exit == 0 => None,
            Some(answer) => Some(answer.whole()),
            None => Some("it did not end".to_owned()),
        }
    }

    fn checkout(&self, commit: &str, name: &str) -> PathBuf {
        let folder = self.stage.env.path(&format!("{name}-{commit}"));
        if folder.exists() {
            std::fs::remove_dir_all(&folder).expect("removed");
        }
        let tree = folder.display();
        self.stage.must(&format!(
            "git worktree prune && git worktree add -q --detach {tree} {commit}"
        ));
        folder
    }
}

fn in_prd((rank, story): (u32, &Story)) -> Value {
    json!({
        "id": story.id, "title": story.title, "acceptance_criteria": story.criteria, "priority": rank,
        "passes": false, "depends_on": story.depends_on, "files": story.files,
    })
}
