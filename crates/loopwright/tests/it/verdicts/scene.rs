//! The stage of a verdict case: its project under git, its scripted agents, its own home and state
//! folder, and the loop that is played there.

use std::path::Path;

use serde_json::{Value, json};

use super::case::Case;
use super::stage::{SHELL_SECS, Stage, run_within};
use crate::support::Answer;

const AGENT: &str = "cat > \"$SCENE/said/prompt-$LOOPWRIGHT_STAGE-$LOOPWRIGHT_STORY_ID-$LOOPWRIGHT_ATTEMPT\"\n\
                     . \"$SCENE/agents/$LOOPWRIGHT_STAGE.sh\"\n";
const JUDGE: &str = include_str!("judge.py");
const REVIEW: &str = r#"echo '{"summary": "seen", "criteria": [], "findings": []}'"#;
const RULING: &str = r#"echo '{"fresh_tests": false, "reason": "they stand"}'"#;

/// Time for one loop, unless the case says otherwise; long, since a busy machine is no fault of a case.
const LOOP_SECS: u64 = 600;

pub(super) struct Scene<'a> {
    case: &'a Case,
    stage: Stage<'a>,
    /// What the configuration says of jails; nothing where everything runs on the host.
    jail: String,
}

impl<'a> Scene<'a> {
    /// A project that is ready to start.
    pub(super) fn new(case: &'a Case, runners: &'a Path) -> Self {
        Self::with(case, Stage::new(runners, &case.env), String::new())
    }

    /// The same with every run in a jail, where built outputs are reused however quick a build is.
    pub(super) fn jailed(case: &'a Case, runners: &'a Path) -> Self {
        let mut env = case.env.clone();
        env.insert("LOOPWRIGHT_SANDBOX_KIND".to_owned(), "bwrap".to_owned());
        env.insert("LOOPWRIGHT_WARM_LEAST_MS".to_owned(), "0".to_owned());
        let stage = Stage::new(runners, &env);
        let folder = stage.folder().display().to_string();
        let jail = format!(
            "[sandbox]\nread = [\"{}\", \"{folder}/agents\", \"{folder}/criteria.json\"]\n\
             write = [\"{folder}/said\"]\n",
            runners.display()
        );
        Self::with(case, stage, jail)
    }

    fn with(case: &'a Case, stage: Stage<'a>, jail: String) -> Self {
        let scene = Self { case, stage, jail };
        for (path, text) in &case.files {
            scene.stage.env.write(&format!("proj/{path}"), text);
        }
        let prd = json!({ "title": "t", "stories": case.stories() });
        scene
            .stage
            .env
            .write(&scene.in_project("prd.json"), pretty(&prd));
        scene.write_agents();
        scene.configure();
        // What a jailed case prepares is part of its base.
        let is_part_of_base = !scene.jail.is_empty();
        let pre = || {
            case.pre
                .iter()
                .for_each(|script| drop(scene.stage.must(script)));
        };
        if is_part_of_base {
            pre();
        }
        if !case.gitless {
            scene.commit();
        }
        if !is_part_of_base {
            pre();
        }
        scene
    }

    /// A path in the project, whose folder need not be the repository's top.
    fn in_project(&self, name: &str) -> String {
        let folder = Path::new("proj").join(&self.case.subdir);
        folder.join(name).display().to_string()
    }

    fn write_agents(&self) {
        let case = self.case;
        let criteria = pretty(&json!(case.criteria()));
        self.stage.env.write("criteria.json", criteria);
        self.stage.env.write("agents/any.sh", AGENT);
        self.stage.env.write("agents/judge.py", JUDGE);
        let explains = if case.judge_explains() { "yes" } else { "no" };
        let judge = format!("EXPLAINS={explains} python3 \"$SCENE/agents/judge.py\"");
        let script = |own: &Option<String>, usual: &str| own.as_deref().unwrap_or(usual).to_owned();
        for (stage, body) in [
            ("implement", script(&case.implement, "true")),
            ("write-tests", script(&case.write, "true")),
            ("review", script(&case.review, REVIEW)),
            ("judge", case.own_judge().unwrap_or(&judge).to_owned()),
            ("prove", script(&case.prove, "true")),
            ("arbitrate", script(&case.arbitrate, RULING)),
        ] {
            self.stage.env.write(&format!("agents/{stage}.sh"), body);
        }
    }

    fn configure(&self) {
        let folder = self.stage.folder().display().to_string();
        let timeout = self.case.agent_timeout.as_deref().unwrap_or("60s");
        let checks = self.case.checks().into_iter().map(|(name, command)| {
            let command = toml::Value::String(command);
            format!("{name} = {command}\n")
        });
        let config = format!(
            "[agents.any]\ncommand = [\"bash\", \"{folder}/agents/any.sh\"]\nenv = {{ SCENE = \"{folder}\" }}\n\
             timeout = \"{timeout}\"\n[roles.reviewer]\nagent = \"any\"\n[checks]\n{}{}{}",
            checks.collect::<String>(),
            self.case.config,
            self.jail
        );
        let file = self.in_project("loopwright.toml");
        self.stage.env.write(&file, config);
    }

    /// Commits everything but the configuration, which names folders of this play.
    fn commit(&self) {
        let config = Path::new(&self.case.subdir).join("loopwright.toml");
        self.stage.must(&format!(
            "git init -q && git add -A && git reset -q -- {} && \
             printf 'loopwright.toml\\n' >> .git/info/exclude && git commit -qm base",
            config.display()
        ));
    }

    /// Runs the loop to its end; nothing where it did not end in time.
    pub(super) fn start(&self) -> Option<Answer> {
        let project = self.stage.env.path(&self.in_project(""));
        let prd = self.stage.env.path(&self.in_project("prd.json"));
        let (project, prd) = (project.display().to_string(), prd.display().to_string());
        let retries = format!("loop.max_retries={}", self.case.retries);
        let flow = self.case.flow.as_deref().unwrap_or("quartet");
        let start = ["start", "--project", &project, "--prd", &prd];
        let options = ["--foreground", "--json", "--flow", flow, "--set", &retries];
        let more: Vec<&str> = self.case.args.iter().map(String::as_str).collect();
        let mut command = self
            .stage
            .env
            .command(&[&start[..], &options, &more].concat());
        self.stage.dress(&mut command).current_dir(project);
        run_within(&mut command, self.case.timeout.unwrap_or(LOOP_SECS))
    }

    /// What the program answers to a question about the loop.
    pub(super) fn ask(&self, arguments: &[&str]) -> Option<Answer> {
        let mut command = self.stage.env.command(arguments);
        self.stage
            .dress(&mut command)
            .current_dir(self.stage.env.path("proj"));
        run_within(&mut command, SHELL_SECS)
    }

    /// What was seen to differ between a build that reuses outputs and one from nothing.
    pub(super) fn difference(&self) -> Option<String> {
        let roots = std::fs::read_dir(self.stage.env.path("state/warm"));
        let roots = roots.into_iter().flatten().flatten();
        let texts = roots.map(|root| std::fs::read_to_string(root.path().join("trust.json")));
        let mut trusts = texts.flatten().map(|text| -> Value {
            serde_json::from_str(&text).expect("what was learned of built outputs")
        });
        trusts.find_map(|trust| trust["off"].as_str().map(str::to_owned))
    }

    /// What the measurements of this play reused, or why nothing.
    pub(super) fn built(&self) -> Vec<String> {
        let state = self.stage.env.path("state/loops");
        let loops = std::fs::read_dir(state).into_iter().flatten().flatten();
        let runs = loops.flat_map(|of_loop| std::fs::read_dir(of_loop.path().join("runs")));
        let mut built: Vec<String> = runs
            .flatten()
            .flatten()
            .filter_map(|run| std::fs::read_to_string(run.path().join("measured.json")).ok())
            .filter_map(|text| serde_json::from_str::<Value>(&text).ok())
            .filter_map(|report| report["built"].as_str().map(str::to_owned))
            .collect();
        built.sort();
        built.dedup();
        built
    }

    /// The exit code of the case's truth on what landed. A truth that does not end is a failure.
    pub(super) fn truth(&self) -> Option<i32> {
        const FORMAT: &str = "--format='%(refname:short)'";
        let truth = self.case.truth.as_deref()?;
        let branches = self
            .stage
            .must(&format!("git for-each-ref {FORMAT} refs/heads/agent-loop"));
        let branch = branches.split_whitespace().next()?;
        let landed = self.stage.env.path("landed");
        let tree = landed.display();
        self.stage
            .must(&format!("git worktree add -q --detach {tree} {branch}"));
        let mut command = self.stage.shell(truth, &landed.join(&self.case.subdir));
        // What was left in the agents' home must not help.
        command
            .envs(&self.case.truth_env)
            .env("HOME", self.stage.env.path("agents"));
        Some(run_within(&mut command, SHELL_SECS).map_or(-1, |answer| answer.exit))
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).expect("JSON")
}
